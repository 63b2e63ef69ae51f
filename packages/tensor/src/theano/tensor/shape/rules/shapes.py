"""Shapes without computing the values: the feature that infers them, and the rules that use it.

The lengths of a variable are expressions, worked out from ``infer_shape`` of the ops on the way, on request.
A length that nothing tells is :class:`Shape_i` of the variable. Answers are kept, and dropped again when
something that they speak of has left the graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Apply, Constant, FunctionGraph, Variable
from theano.graph.features import AlreadyThere, Feature
from theano.graph.op_contract import answers
from theano.graph.signals import let_signals_through
from theano.graph.text import text_of
from theano.graph.traverse import toposort
from theano.messages import logger
from theano.rewriting import Context, P, Var, phases, rule
from theano.rewriting.merge import evaluate, foreseen_bytes
from theano.settings import config
from theano.tensor.control.checks import same_length, unchecked
from theano.tensor.convert import NotScalarConstantError, as_tensor_variable, is_tensor
from theano.tensor.elemwise import functions as F
from theano.tensor.join.op import MakeVector
from theano.tensor.shape.basic import Shape, Shape_i
from theano.tensor.shape.scalars import ScalarFromTensor

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

Lengths = tuple[Any, ...]

#: The messages about each ``infer_shape`` that raised: rules ask repeatedly, and one message is enough.
_complained: set[str] = set()


class _ShapeOf(Mapping[Any, Any]):
    """The lengths of each variable of a graph, worked out when asked for."""

    def __init__(self, feature: ShapeFeature):
        self._feature = feature

    def __contains__(self, variable: object) -> bool:
        return is_tensor(variable)

    def __getitem__(self, variable: Tensor) -> tuple[Tensor, ...]:
        return self._feature.lengths(variable)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._feature.known)

    def __len__(self) -> int:
        return len(self._feature.known)


class ShapeFeature(Feature):
    """Tells the lengths of variables as expressions that do not compute the variables.

    Attributes
    ----------
    shape_of : mapping from Variable to tuple of Variable
    known : dict
        The answers so far.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> fgraph = FunctionGraph([x], [T.exp(x) + 1])
    >>> feature = ShapeFeature()
    >>> fgraph.attach_feature(feature)
    >>> [n.owner for n in feature.shape_of[fgraph.outputs[0]]]
    [Shape_i{0}(x), Shape_i{1}(x)]
    """

    def __init__(self) -> None:
        #: For each variable, its lengths and the variables that these speak of.
        self.known: dict[Variable, tuple[Lengths, frozenset[Variable]]] = {}
        self.shape_of = _ShapeOf(self)
        self._graph: FunctionGraph | None = None

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Refuse to be there twice."""
        if getattr(fgraph, "shape_feature", None) is not None:
            raise AlreadyThere()
        fgraph.shape_feature = self
        self._graph = fgraph

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Forget."""
        fgraph.shape_feature = None
        self._graph = None
        self.known.clear()

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: str) -> None:
        """Forget what has left the graph."""
        for v in node.outputs:
            self.known.pop(v, None)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Let a replacement inherit the known lengths: it has the same shape."""
        entry = self.known.get(r)
        if entry is not None and new_r not in self.known and self._alive(entry):
            self.known[new_r] = entry

    def _alive(self, entry: tuple[Lengths, frozenset[Variable]]) -> bool:
        """Return whether all that an answer speaks of is still computed."""
        assert self._graph is not None
        return all(v in self._graph.variables for v in entry[1])

    # -- answers -----------------------------------------------------------------------------------------

    def lengths(self, variable: Variable) -> Lengths:
        """Return the lengths of ``variable``."""
        todo = [variable]
        while todo:
            v = todo[-1]
            entry = self.known.get(v)
            if entry is not None and self._alive(entry):
                todo.pop()
                continue
            node = v.owner
            if node is None or not answers(node.op, "infer_shape"):
                self.known[v] = self._leaf(v)
                continue
            waiting = [x for x in node.inputs if is_tensor(x) and not self._has(x)]
            if waiting:
                todo.extend(waiting)
                continue
            self._infer(node)
        return self.known[variable][0]

    def _has(self, v: Variable) -> bool:
        entry = self.known.get(v)
        return entry is not None and self._alive(entry)

    def _leaf(self, v: Any) -> tuple[Lengths, frozenset[Variable]]:
        """Return lengths that only the value itself can tell."""
        if isinstance(v, Constant):
            return tuple(as_tensor_variable(np.int64(n)) for n in np.shape(v.data)), frozenset()
        one = as_tensor_variable(np.int64(1))
        lengths = tuple(one if b else Shape_i(i)(v) for i, b in enumerate(v.type.broadcastable))
        return lengths, frozenset((v,)) if not all(v.type.broadcastable) else frozenset()

    def _infer(self, node: Apply) -> None:
        """Ask the op for the lengths of the outputs of ``node``."""
        given = [self.known[x][0] if is_tensor(x) else () for x in node.inputs]
        about = frozenset().union(*(self.known[x][1] for x in node.inputs if is_tensor(x)))
        for v, answer in zip(node.outputs, _ask(node, given), strict=True):
            if not is_tensor(v):
                continue
            if answer is None or len(answer) != v.type.ndim:
                self.known[v] = self._leaf(v)
                continue
            own = self._leaf(v)[0]
            lengths = tuple(
                o if one and unchecked(a) is a else _as_length(a)
                for a, o, one in zip(map(as_tensor_variable, answer), own, v.type.broadcastable, strict=True)
            )
            # An answer may also speak of inputs by their value (a new shape, a slice).
            self.known[v] = lengths, about | frozenset(_spoken_of(lengths, node))

    def same_shape(self, x: Tensor, y: Tensor, dim_x: int | None = None, dim_y: int | None = None) -> bool:
        """Return whether two variables (or one length of each) are certain to be as long.

        False means that it is not known.
        """
        a, b = self.lengths(x), self.lengths(y)
        if dim_x is not None:
            a, b = (a[dim_x],), (b[dim_x if dim_y is None else dim_y],)
        return len(a) == len(b) and all(same_length(m, n) for m, n in zip(a, b, strict=True))

    def get_shape(self, variable: Tensor, i: int) -> Tensor:
        """Return one length of ``variable``."""
        return self.lengths(variable)[i]


def _ask(node: Apply, given: Sequence[Lengths]) -> Sequence[Lengths | None]:
    infer: Any = node.op.infer_shape
    try:
        arguments = (node.fgraph, node, given) if _takes_graph(infer) else (node, given)
        said: Sequence[Lengths | None] = infer(*arguments)
        if len(said) != len(node.outputs):
            raise ValueError(f"{node.op}.infer_shape gave {len(said)} shapes for {len(node.outputs)} outputs")
    except NotImplementedError:
        return [None] * len(node.outputs)
    except Exception as error:  # noqa: BLE001  (the boundary to ops that anybody may have written)
        let_signals_through(error)
        _failed(node, error)
        return [None] * len(node.outputs)
    return said


@foreseen_bytes.register
def _foreseen_bytes(node: Apply) -> int | None:
    """Return how many bytes the outputs of a node of constants will have, if ``infer_shape`` can tell."""
    outputs = [v for v in node.outputs if is_tensor(v)]
    if len(outputs) < len(node.outputs):
        return None
    shapes: Sequence[Any] = [(1,) * v.type.ndim for v in outputs]
    if not all(all(v.type.broadcastable) for v in outputs):
        constants: Sequence[Any] = node.inputs
        given: list[tuple[np.generic, ...]] = [tuple(map(np.int64, np.shape(v.data))) for v in constants]
        shapes = _ask(node, [tuple(map(as_tensor_variable, lengths)) for lengths in given])
    try:
        return sum(
            v.type.get_size([_worth(n, node) for n in lengths]) for v, lengths in zip(outputs, shapes, strict=True)
        )
    except (NotScalarConstantError, TypeError):  # a shape, or a length in it, is None
        return None


def _worth(length: TensorLike, node: Apply) -> int:
    """Return what a length is worth that is computed from constants by few numbers, without ``node`` itself."""
    length = as_tensor_variable(length)
    known: dict[Any, Any] = {}
    for step in toposort([length]):
        large = any(v.type.ndim > 0 for v in step.outputs if is_tensor(v))
        if step is node or (large and not isinstance(step.op, Shape)):
            raise NotScalarConstantError(f"{length} needs more than numbers")
        values = [v.data if isinstance(v, Constant) else known[v] for v in step.inputs]
        known.update(zip(step.outputs, evaluate(step, values), strict=True))
    return int(length.data if isinstance(length, Constant) else known[length])


def _takes_graph(infer: Callable[..., object]) -> bool:
    """Return whether a method is written as (fgraph, node, shapes), not as (node, shapes): both are about."""
    function = getattr(infer, "__func__", None)
    if function is None:
        return len(inspect.signature(infer).parameters) == 3
    return _count_of_parameters(function) == 4  # it itself is one


@lru_cache(maxsize=1024)
def _count_of_parameters(function: Callable[..., object]) -> int:
    return len(inspect.signature(function).parameters)


def _failed(node: Apply, error: Exception) -> None:
    """Do what the flag ``on_shape_error`` says about an ``infer_shape`` that raised."""
    message = (
        f"{node.op}.infer_shape failed on inputs of types {', '.join(str(v.type) for v in node.inputs)}: "
        f"{type(error).__name__}: {text_of(error)}."
    )
    if config.on_shape_error == "raise":
        error.add_note(f"{message} With the flag on_shape_error=warn the shape is taken from the computed value.")
        raise error
    if message not in _complained:
        _complained.add(message)
        logger.warning(
            "theano: %s The shape is taken from the computed value, which has to be computed for it. "
            "With the flag on_shape_error=raise this is an error.", message,
        )  # fmt: skip


def _as_length(n: TensorLike) -> Tensor:
    n = as_tensor_variable(n)
    return n if n.type.dtype == "int64" else F.cast(n, "int64")


def _spoken_of(lengths: Lengths, node: Apply) -> set[Variable]:
    """Return the inputs of ``node`` that an answer needs the value of."""
    # Slices and indices are scalars, of which answers speak as the tensors that they were.
    owners = [v.owner for v in node.inputs if v.owner is not None]
    inputs = {*node.inputs, *(o.inputs[0] for o in owners if isinstance(o.op, ScalarFromTensor))}
    found = {n for n in lengths if n in inputs and not isinstance(n, Constant)}
    todo = [n for n in lengths if n.owner is not None]
    seen: set[Tensor] = set(todo)
    for _ in range(200):
        if not todo:
            return found
        for v in todo.pop().owner.inputs:
            if v in inputs and not isinstance(v, Constant):
                found.add(v)
            elif v.owner is not None and v not in seen:
                seen.add(v)
                todo.append(v)
    return inputs  # a long answer: be careful


def add_shape_feature(fgraph: FunctionGraph, context: Context) -> None:
    """Let the graph answer questions about shapes from here on."""
    feature = ShapeFeature()
    fgraph.attach_feature(feature)
    if config.on_shape_error == "raise":
        # An error in a rule would only switch that rule off: ask all ops here, needed or not.
        for node in fgraph.toposort():
            for v in node.outputs:
                if is_tensor(v):
                    feature.lengths(v)


def remove_shape_feature(fgraph: FunctionGraph, context: Context) -> None:
    """Let the graph forget shapes: nothing else changes them from here on."""
    for feature in [f for f in fgraph.features if isinstance(f, ShapeFeature)]:
        fgraph.remove_feature(feature)


phases.register("ShapeOpt", add_shape_feature, 0.1, "fast_run", "fast_compile", "ShapeOptimizer")
phases.register("UnShapeOpt", remove_shape_feature, 10, "UnShapeOptimizer")


def _lengths_of(x: Tensor, out: Tensor, fgraph: FunctionGraph) -> Tensor:
    if not x.type.ndim:
        return out.type.make_constant(np.zeros(0, "int64"))
    return MakeVector("int64")(*fgraph.shape_feature.lengths(x))


def _is_tracked(x: Tensor, fgraph: FunctionGraph) -> bool:
    return getattr(fgraph, "shape_feature", None) is not None and is_tensor(x)


local_shape_to_shape_i = rule(
    "local_shape_to_shape_i", P(Shape)(Var("x")), _lengths_of, when=_is_tracked, phases=("canonicalize", "specialize"),
    doc="A shape is the vector of its lengths, none of which needs the value.",
)  # fmt: skip


local_track_shape_i = rule(
    "local_track_shape_i", P(Shape_i, "op")(Var("x")), lambda op, x, fgraph: fgraph.shape_feature.lengths(x)[op.i],
    when=_is_tracked, phases=("canonicalize", "specialize"),
    doc="A length is worked out from the inputs of what has it.",
)  # fmt: skip
