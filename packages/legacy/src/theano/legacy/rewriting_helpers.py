"""Small functions that old rewriting rules of tensors were written with."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.traverse import inputs
from theano.rewriting import phases
from theano.rewriting.userdefined import LocalOptGroup, Optimizer, in2out
from theano.settings import config
from theano.tensor.convert import NotScalarConstantError, as_tensor_variable, get_scalar_constant_value
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise.functions import cast
from theano.tensor.join.op import MakeVector
from theano.tensor.linalg.hints import Hint
from theano.tensor.rules.by_name import local_fill_sink, local_mul_canonizer
from theano.tensor.shape.basic import Shape_i, patternbroadcast
from theano.tensor.shape.rules.shapes import ShapeFeature
from theano.tensor.sharedvar import tensor_constructor

#: The op that joins numbers to a vector of int64.
make_vector = MakeVector()
#: The rule of products and quotients by itself, as a rewriter of whole graphs.
mul_canonizer = in2out(
    LocalOptGroup(local_mul_canonizer, local_fill_sink, apply_all_opts=True), name="mul_canonizer_groups"
)
#: Whether ``1 - sigmoid(x)`` is rewritten while graphs are brought into canonical form, and not only later.
register_local_1msigmoid = False
_KINDS = ("bool", "uint", "int", "float", "complex")


def encompasses_broadcastable(b1: Sequence[bool], b2: Sequence[bool]) -> bool:
    """Return whether a tensor of pattern ``b2`` is broadcast to the shape of one of pattern ``b1``, and not vice versa.

    Examples
    --------
    >>> encompasses_broadcastable((False, False), (True,)), encompasses_broadcastable((True,), (False,))
    (True, False)
    """
    return len(b1) >= len(b2) and not any(
        one and not other for one, other in zip(reversed(b1), reversed(b2), strict=False)
    )


def merge_broadcastables(broadcastables: Iterable[Sequence[bool]]) -> list[bool]:
    """Return which dimensions of an element-wise result have length 1: those where all operands do.

    Examples
    --------
    >>> merge_broadcastables([(True, False), (True, True)])
    [True, False]
    """
    return [all(pattern) for pattern in zip(*broadcastables, strict=False)]


def scalarconsts_rest(
    inputs: Iterable[Any], elemwise: bool = True, only_process_constants: bool = False
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the values of those inputs that are one constant number, these inputs, and the others.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.vector("x")
    >>> [len(part) for part in scalarconsts_rest([T.constant(2.0), x])]
    [1, 1, 1]
    """
    values, constants, others = [], [], []
    for v in inputs:
        try:
            value = get_scalar_constant_value(v, elemwise=elemwise, only_process_constants=only_process_constants)
        except NotScalarConstantError:
            others.append(v)
        else:
            values.append(value)
            constants.append(v)
    return values, constants, others


def is_dimshuffle_useless(new_order: Sequence[int | str], input: Any) -> bool:
    """Return whether a dimension pattern leaves ``input`` as it is: only dimensions of length 1 change places.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_dimshuffle_useless((0, 1), T.matrix()), is_dimshuffle_useless((1, 0), T.matrix())
    (True, False)
    """
    ones: set[int | str] = {"x", *(i for i, one in enumerate(input.type.broadcastable) if one)}
    return len(new_order) == input.type.ndim and all(
        new == i or (i in ones and new in ones) for i, new in enumerate(new_order)
    )


def is_an_upcast(type1: str, type2: str) -> bool:
    """Return whether a conversion from one dtype to another goes to no lower kind and no lower precision.

    Examples
    --------
    >>> is_an_upcast("int8", "float32"), is_an_upcast("float64", "float32"), is_an_upcast("int64", "float32")
    (True, False, False)
    """
    before, after = (_rank(name) for name in (type1, type2))
    return after[0] >= before[0] and after[1] >= before[1]


def _rank(dtype: str) -> tuple[int, float]:
    kind = dtype.rstrip("0123456789")
    bits = int(dtype.removeprefix(kind) or 0)
    # A complex number is as precise as its parts.
    return _KINDS.index(kind), bits / 2 if kind == "complex" else bits


def is_inverse_pair(node_op: Any, prev_op: Any, inv_pair: tuple[type, type]) -> bool:
    """Return whether two ops that follow each other are of two classes, in either order.

    Examples
    --------
    >>> is_inverse_pair(1, "a", (str, int)), is_inverse_pair(1, 2, (str, int))
    (True, False)
    """
    first, second = inv_pair
    pairs = ((node_op, prev_op), (prev_op, node_op))
    return any(isinstance(a, first) and isinstance(b, second) for a, b in pairs)


def get_clients(node: Apply[Any, Any]) -> list[Apply[Any, Any]]:
    """Return the nodes of a closed graph that use the first output of ``node``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> graph = theano.FunctionGraph([x], [T.exp(T.neg(x))], clone=False)
    >>> [client.op is T.exp for client in get_clients(graph.toposort()[0])]
    [True]
    """
    return [client for client, _ in node.outputs[0].clients if client != "output"]


def get_clients2(node: Apply[Any, Any]) -> list[Apply[Any, Any]]:
    """Return the nodes that use an output of those that use the first output of ``node``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> graph = theano.FunctionGraph([x], [T.exp(T.neg(x))], clone=False)
    >>> get_clients2(graph.toposort()[0])
    []
    """
    outputs = itertools.chain.from_iterable(client.outputs for client in get_clients(node))
    return [client for v in outputs for client, _ in v.clients if client != "output"]


def broadcast_like(value: Any, template: Any, fgraph: Any, dtype: str | None = None) -> Any:
    """Return ``value`` repeated to the shape of ``template``.

    Parameters
    ----------
    value : scalar or tensor
    template : tensor
    fgraph : FunctionGraph
        Taken for older programs.
    dtype : str, optional
        Of the result; by default that of ``template``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], broadcast_like(1, x, None))([5, 6])
    array([1., 1.])
    """
    lengths = (template.shape[i] for i in range(template.type.ndim))
    made = alloc(cast(as_tensor_variable(value), dtype or template.type.dtype), *lengths)
    return patternbroadcast(made, template.type.broadcastable)


def apply_local_dimshuffle_lift(var: Any) -> Any:
    """Return a variable whose dimension pattern is applied to the inputs of what it comes from, where that is possible.

    Examples
    --------
    >>> import theano.tensor as T
    >>> apply_local_dimshuffle_lift(T.exp(T.dvector("x")).dimshuffle("x", 0)).owner.op is T.exp
    True
    """
    return _apply("local_dimshuffle_lift", var)


def apply_rebroadcast_opt(rval: Any) -> Any:
    """Return a variable without the statement about its lengths of 1 that says nothing new.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> apply_rebroadcast_opt(T.Rebroadcast((0, False))(x)) is x
    True
    """
    return _apply("local_rebroadcast_lift", _apply("local_useless_rebroadcast", rval))


def _apply(rule: str, v: Any) -> Any:
    if v.owner is None:
        return v
    # Rules ask who else uses a variable, which only a closed graph knows.
    fgraph = FunctionGraph(inputs([v]), [v], clone=False) if getattr(v.owner, "fgraph", None) is None else None
    try:
        answer: Any = phases.all_rules()[rule].transform(v.owner)
    finally:
        if fgraph is not None:
            fgraph.disown()
    if not answer:
        return v
    return answer[v] if isinstance(answer, dict) else answer[v.owner.outputs.index(v)]


def res_is_a(node: Any, op: Any, maxclients: int | None = None) -> bool:
    """Return whether a variable is computed by an op, or one of a class, and is not used too often.

    Parameters
    ----------
    node : Variable
    op : Op or class of ops
    maxclients : int, optional
        How often it may be used.

    Examples
    --------
    >>> import theano.tensor as T
    >>> res_is_a(T.exp(T.scalar()), T.exp), res_is_a(T.scalar(), T.exp)
    (True, False)
    """
    if node.owner is None:
        return False
    few = maxclients is None or len(getattr(node, "clients", ())) <= maxclients
    return few and (isinstance(node.owner.op, op) if isinstance(op, type) else node.owner.op == op)


def ldflags(libs: bool = True, flags: bool = False, libs_dir: bool = False, include_dir: bool = False) -> list[str]:
    """Return what the flag ``blas.ldflags`` says, by kind, without the letters that say it.

    Parameters
    ----------
    libs, flags, libs_dir, include_dir : bool
        Which kinds: ``-l``, all others, ``-L``, ``-I``.

    Examples
    --------
    >>> isinstance(ldflags(), list)
    True
    """
    wanted = {"-l": libs, "-L": libs_dir, "-I": include_dir}
    words = str(config.blas.ldflags).split()
    found = [word[2:] for word in words if wanted.get(word[:2])]
    return found + ([word for word in words if word[:2] not in wanted] if flags else [])


class ShapeOptimizer(Optimizer):
    """Lets a graph know the lengths of its variables.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> graph = theano.FunctionGraph([x], [T.exp(x)])
    >>> ShapeOptimizer().optimize(graph)
    >>> graph.shape_feature is not None
    True
    """

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the feature that finds lengths."""
        fgraph.attach_feature(ShapeFeature())

    def apply(self, fgraph: FunctionGraph) -> None:
        """Change nothing."""


class UnShapeOptimizer(Optimizer):
    """Takes from a graph what it knows of lengths.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> graph = theano.FunctionGraph([x], [T.exp(x)])
    >>> ShapeOptimizer().optimize(graph)
    >>> UnShapeOptimizer().optimize(graph)
    >>> graph.shape_feature is None
    True
    """

    def apply(self, fgraph: FunctionGraph) -> None:
        """Remove the feature that finds lengths."""
        for feature in [f for f in fgraph.features if isinstance(f, ShapeFeature)]:
            fgraph.remove_feature(feature)


# -- of other old modules ------------------------------------------------------------------------------------------


def hints(variable: Any) -> dict[str, Any]:
    """Return the known properties of a matrix besides its type.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.sandbox.linalg import psd
    >>> hints(psd(T.dmatrix("A")))
    {'psd': True, 'symmetric': True}
    """
    return dict(variable.owner.op.hints) if is_hint_node(variable.owner) else {}


def is_hint_node(node: Any) -> bool:
    """Return whether a node states a property of a matrix.

    Examples
    --------
    >>> is_hint_node(None)
    False
    """
    return node is not None and isinstance(node.op, Hint)


def is_positive(v: Any) -> bool:
    """Return whether it is known that no element of ``v`` is negative.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_positive(T.scalar("x")), is_positive(T.scalar("x") ** 2)
    (False, True)
    """
    if hints(v).get("positive"):
        return True
    node = v.owner
    if node is None or not hasattr(node.op, "scalar_op") or node.op.scalar_op.name not in ("pow", "sqr"):
        return False
    powers = [2] if node.op.scalar_op.name == "sqr" else scalarconsts_rest(node.inputs[1:])[0]
    return bool(powers) and bool(powers[0] % 2 == 0)


def shape_i_op(i: int) -> Any:
    """Return the op that gives the length of dimension ``i``.

    Examples
    --------
    >>> shape_i_op(1)
    Shape_i{1}
    """
    return Shape_i(i)


def load_shared_variable(val: Any) -> Any:
    """Return a shared variable with a value: what old pickles call.

    Examples
    --------
    >>> load_shared_variable(np.array(3)).get_value()
    array(3)
    """
    return tensor_constructor(np.asarray(val))


def equal_slices(s1: slice, s2: slice) -> bool:
    """Return whether two slices are the same.

    Examples
    --------
    >>> equal_slices(slice(1, 2), slice(1, 2))
    True
    """
    return (s1.start, s1.stop, s1.step) == (s2.start, s2.stop, s2.step)
