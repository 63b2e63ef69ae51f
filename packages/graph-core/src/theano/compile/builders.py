"""``OpFromGraph``: an op of an expression, with derivatives of its own where somebody gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.compile.function import function
from theano.compile.shared import SharedVariable
from theano.extensions import Slot
from theano.gradient.absent import DisconnectedType, NullType
from theano.gradient.through import backward, connections, forward
from theano.graph.apply import Apply
from theano.graph.clone import clone_replace
from theano.graph.op import Op
from theano.graph.traverse import inputs as inputs_of
from theano.graph.variable import Constant, Variable
from theano.rewriting import families, local_rule

#: From a variable and the number of an axis to the variable's length along it.
length: Slot[Callable[[Variable, int], Variable]] = Slot("compile.builders.length", "how long a variable is")


class OpFromGraph(Op):
    """An op that computes an expression.

    Parameters
    ----------
    inputs, outputs : list of Variable
        The expression. Shared variables in it are further inputs of each node, by themselves.
    inline : bool
        Put the expression in place of the op when a function is compiled, to be rewritten with what is around it.
        Otherwise it is a function of its own.
    lop_overrides, grad_overrides, rop_overrides : "default", callable, OpFromGraph, Variable, or list of these
        In place of the derivatives that follow from the expression. A callable takes lists: ``(inputs, outputs,
        output_grads)``, ``(inputs, output_grads)``, ``(inputs, eval_points)``; an op takes the same, one after the
        other. Either returns a list; or one variable, where it stands in a list, which has an element for each input
        (for each output in ``rop_overrides``). A variable must be of ``DisconnectedType`` or ``NullType``.
    connection_pattern : list of list of bool, optional
        For each input and each output, whether the one influences the other; by default as the expression says.
    name : str, optional
    **kwargs
        For :func:`theano.function`, where the op is not inline.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, y = T.dscalars("x", "y")
    >>> op = OpFromGraph([x, y], [x * y + 1], name="fma")
    >>> out = op(x, op(x, y))
    >>> out.owner, theano.function([x, y], [out, T.grad(out, x)])(2, 3)
    (OpFromGraph{fma}(x, OpFromGraph{fma}.0), [array(15.), array(13.)])

    The gradient of one input, in place of its own:

    >>> op = OpFromGraph([x, y], [x * y], grad_overrides=[lambda inputs, gs: gs[0] * 100, "default"])
    >>> theano.function([x, y], T.grad(op(x, y), [x, y]))(2, 3)
    [array(100.), array(2.)]
    """

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        inline: bool = False,
        lop_overrides: Any = "default",
        grad_overrides: Any = "default",
        rop_overrides: Any = "default",
        connection_pattern: Sequence[Sequence[bool]] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        for what, variables in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(variables, (list, tuple)):
                raise TypeError(f"OpFromGraph: {what} must be a list of variables, not {variables!r}")
            for v in variables:
                if not isinstance(v, Variable):
                    raise TypeError(f"OpFromGraph: {what} must be variables, but there is {v!r}")
        for v in inputs:
            if isinstance(v, (Constant, SharedVariable)):
                raise TypeError(f"OpFromGraph: {v} has a value, so it cannot be an input; it is found by itself")
        if {"updates", "givens"} & set(kwargs):
            raise TypeError("OpFromGraph: an op has no updates and no givens; put them into the expression")
        if not _is_default(lop_overrides) and not _is_default(grad_overrides):
            raise ValueError("OpFromGraph: lop_overrides and grad_overrides say the same thing; give one of them")
        self.is_inline, self.name, self.kwargs = bool(inline), name, kwargs
        self.overrides = {"lop": lop_overrides, "grad": grad_overrides, "rop": rop_overrides}
        self._pattern = connection_pattern
        self.shared_inputs = [v for v in inputs_of(outputs) if isinstance(v, SharedVariable)]
        fresh = [v.type() for v in (*inputs, *self.shared_inputs)]
        for new, old in zip(fresh, (*inputs, *self.shared_inputs), strict=True):
            new.name = old.name
        self.local_inputs: list[Variable] = fresh
        pairs = zip((*inputs, *self.shared_inputs), fresh, strict=True)
        self.local_outputs = clone_replace(outputs, dict(pairs))
        unknown = [v for v in inputs_of(self.local_outputs) if not isinstance(v, Constant) and v not in fresh]
        if unknown:
            raise TypeError(f"OpFromGraph: the outputs depend on {unknown[0]}, which is not among the inputs")
        self._function: Any = None

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.name or ('inline' if self.is_inline else 'no name')}}}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_function": None}

    @property
    def fn(self) -> Any:
        """The function that computes the expression, compiled when it is first asked for."""
        if self._function is None:
            self._function = function(self.local_inputs, self.local_outputs, on_unused_input="ignore", **self.kwargs)
        return self._function

    def expand(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the expression on given variables."""
        return clone_replace(self.local_outputs, dict(zip(self.local_inputs, inputs, strict=True)), strict=False)

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node; nodes that are made anew also say which variables stand for the shared ones."""
        few = len(self.local_inputs) - len(self.shared_inputs)
        if len(inputs) not in (few, len(self.local_inputs)):
            raise ValueError(f"{self} takes {few} inputs, got {len(inputs)}: {list(inputs)}")
        given = [*inputs, *self.shared_inputs] if len(inputs) == few else list(inputs)
        variables = [own.type.filter_variable(v) for own, v in zip(self.local_inputs, given, strict=True)]
        return Apply(self, variables, [v.type() for v in self.local_outputs])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Call the function."""
        for cell, value in zip(output_storage, self.fn(*inputs), strict=True):
            cell[0] = value

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the lengths of the expression."""
        length_of = length.required()
        return [
            tuple(length_of(v, i) for i in range(v.type.ndim)) if hasattr(v.type, "ndim") else None
            for v in self.expand(node.inputs)
        ]

    # -- derivatives ---------------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> Sequence[Sequence[bool]]:
        """Return what was given, or what the expression and the overrides say."""
        if self._pattern is not None:
            shared = len(self.local_inputs) - len(self._pattern)
            return [*self._pattern, *[[True] * len(self.local_outputs)] * shared]
        return connections(self.expand, node.inputs)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradients: those given, or those of the expression."""
        if not _is_default(self.overrides["grad"]):
            return self._overridden("grad", len(inputs), (inputs, output_grads), (inputs, output_grads))
        return self._overridden("lop", len(inputs), (inputs, outputs, output_grads), (inputs, output_grads))

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the directions: those given, or those of the expression."""
        return self._overridden("rop", len(self.local_outputs), (inputs, eval_points), (inputs, eval_points))

    def _overridden(
        self, which: str, count: int, arguments: tuple[Sequence[Any], ...], own: tuple[Sequence[Any], Sequence[Any]]
    ) -> list[Any]:
        given = self.overrides[which]
        few = count - len(self.shared_inputs) if which != "rop" else count
        # What is given speaks of the inputs that people pass.
        seen = tuple(a[: len(a) - len(self.shared_inputs)] if a is own[0] else a for a in arguments)
        if which == "rop":
            seen = (seen[0], arguments[1][: len(seen[0])])
        if _is_default(given):
            return self._own(which, own)
        if isinstance(given, (list, tuple)):
            if len(given) != few:
                raise ValueError(f"{self}: {which}_overrides has {len(given)} elements, but {few} are needed")
            rest = self._own(which, own) if count != few or any(_is_default(g) for g in given) else []
            said = [rest[k] if _is_default(g) else _result(g, seen) for k, g in enumerate(given)]
            return [*said, *rest[few:]]
        if isinstance(given, Variable):
            said = [_result(given, seen)] * few
        else:
            said = _result(given, seen)
            said = list(said) if isinstance(said, (list, tuple)) else [said]
        if len(said) != few:
            raise ValueError(f"{self}: {which}_overrides returned {len(said)} variables, but {few} are needed")
        return [*said, *(self._own(which, own)[few:] if count != few else [])]

    def _own(self, which: str, own: tuple[Sequence[Any], Sequence[Any]]) -> list[Any]:
        return forward(self.expand, *own) if which == "rop" else backward(self.expand, *own)


def _is_default(given: Any) -> bool:
    return isinstance(given, str) and given == "default"


def _result(given: Any, arguments: tuple[Sequence[Any], ...]) -> Any:
    if isinstance(given, Variable):
        if not isinstance(given.type, (DisconnectedType, NullType)):
            raise TypeError(f"a variable in place of a derivative must be of DisconnectedType or NullType, not {given}")
        return given
    if isinstance(given, OpFromGraph):
        return given(*[v for part in arguments for v in part])
    if callable(given):
        return given(*[list(part) for part in arguments])
    raise TypeError(f"a derivative is given as 'default', a callable, an OpFromGraph or a variable, not {given!r}")


families.in_order(__name__)


# Its inner function is rewritten on its own: other roundings than those of the whole.
@local_rule(
    [OpFromGraph], name="inline_ofg_expansion", keeps="close", tags=("fast_run", "fast_compile"),
    phases=("canonicalize",),
)  # fmt: skip
def inline_ofg_expansion(node: Apply[OpFromGraph]) -> Any:
    """The expression in place of an op that is to be inline."""
    return node.op.expand(node.inputs) if node.op.is_inline else None


#: Ops that hold a function, and the attribute that has it: what looks into them asks here.
ops_with_inner_function = {OpFromGraph: "fn"}

__all__ = ["OpFromGraph", "ops_with_inner_function"]
