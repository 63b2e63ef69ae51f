"""``OpFromGraph``: an op of an expression, with optional derivatives of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from theano.compile.expression import ExpressionOp, InnerGraph
from theano.compile.shared import SharedVariable
from theano.gradient.absent import DisconnectedType, NullType, is_disconnected, is_null, still, zeros_like
from theano.graph.apply import Apply
from theano.graph.traverse import ancestors
from theano.graph.traverse import inputs as inputs_of
from theano.graph.variable import Constant, Variable
from theano.layers import lazily
from theano.rewriting import local_rule

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Value, Values


class OpFromGraph(ExpressionOp):
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
        other. The inputs are those of the node: shared variables come last. Either returns a list; or one variable,
        where it stands in a list, which has an element for each input (for each output in ``rop_overrides``); shared
        variables may be left out. A variable must be of ``DisconnectedType`` or ``NullType``.
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
    (fma{inline=False}(x, fma{inline=False}.0), [array(15.), array(13.)])

    The gradient of one input, in place of its own:

    >>> op = OpFromGraph([x, y], [x * y], grad_overrides=[lambda inputs, gs: gs[0] * 100, "default"])
    >>> theano.function([x, y], T.grad(op(x, y), [x, y]))(2, 3)
    [array(100.), array(2.)]
    """

    inner: InnerGraph

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
        **kwargs: object,
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
        self.inner = InnerGraph("OpFromGraph", [*inputs, *self.shared_inputs], outputs)

    def __setstate__(self, state: dict[str, Value]) -> None:
        self.__dict__.update(state)
        if "local_inputs" in state:  # as pickles may have it
            variables = [self.__dict__.pop(name) for name in ("local_inputs", "local_outputs")]
            self.inner = InnerGraph("OpFromGraph", *variables)
            self._pattern = state["_connection_pattern"]
            self.overrides = {"lop": "default", "grad": "default", "rop": state["_rop_op"]}
            self.overrides[state["_lop_type"]] = state["_lop_op"]

    def __str__(self) -> str:
        return f"{self.name or type(self).__name__}{{inline={self.is_inline}}}"

    @property
    def local_inputs(self) -> list[Variable]:
        """The inputs of the expression, those for shared variables last."""
        return self.inner.inputs

    @property
    def local_outputs(self) -> list[Variable]:
        """The outputs of the expression."""
        return self.inner.outputs

    @property
    def is_overridden(self) -> bool:
        """Whether derivatives were given."""
        return not all(map(_is_default, self.overrides.values()))

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs; nodes that are made anew also say which variables stand for the shared ones."""
        few = len(self.local_inputs) - len(self.shared_inputs)
        if len(inputs) not in (few, len(self.local_inputs)):
            raise ValueError(f"{self} takes {few} inputs, got {len(inputs)}: {list(inputs)}")
        return super().convert(*inputs, *self.shared_inputs[len(inputs) - few :])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Call the function."""
        for cell, value in zip(output_storage, self.fn(*inputs), strict=True):
            cell[0] = value

    def batch(self, node: Apply, inputs: Sequence[Variable], batched: Sequence[bool]) -> Sequence[Variable] | None:
        """Return the expression for many rows; None if derivatives were given, which are those of one row."""
        if self._pattern is not None or self.is_overridden:
            return None
        return super().batch(node, inputs, batched)

    # -- derivatives ---------------------------------------------------------------------------------

    def set_grad_overrides(self, grad_overrides: Any) -> None:
        """Give gradients in place of those given before."""
        self.overrides = {**self.overrides, "lop": "default", "grad": grad_overrides}
        self.inner.forget("pattern")

    def set_lop_overrides(self, lop_overrides: Any) -> None:
        """Give gradients, of outputs as well, in place of those given before."""
        self.overrides = {**self.overrides, "lop": lop_overrides, "grad": "default"}
        self.inner.forget("pattern")

    def set_rop_overrides(self, rop_overrides: Any) -> None:
        """Give directions in place of those given before."""
        self.overrides = {**self.overrides, "rop": rop_overrides}

    def get_lop_op(self) -> OpFromGraph:
        """Return an op of the gradients: of inputs, outputs and gradients of outputs; zeros if disconnected."""
        outputs, grads, terms = self._terms()
        inputs = self.local_inputs
        pairs = zip(inputs, terms, strict=True)
        terms = [zeros_like(v) if is_disconnected(g) or is_null(g) else g for v, g in pairs]
        return OpFromGraph([*inputs, *outputs, *grads], terms, inline=self.is_inline, on_unused_input="ignore")

    def get_rop_op(self) -> OpFromGraph:
        """Return an op of the directions: of inputs and directions of inputs; zeros if disconnected."""
        points = [v.type() for v in self.local_inputs]
        pairs = zip(self.local_outputs, self.R_op(self.local_inputs, points), strict=True)
        moved = [zeros_like(v) if d is None or is_null(d) else d for v, d in pairs]
        return OpFromGraph([*self.local_inputs, *points], moved, inline=self.is_inline, on_unused_input="ignore")

    def _terms(self) -> tuple[list[Variable], list[Variable], list[Variable]]:
        """Return variables for outputs and for their gradients, and what is then the gradient of each inner input."""
        outputs, grads = [v.type() for v in self.local_outputs], [v.type() for v in self.local_outputs]
        return outputs, grads, self.L_op(self.local_inputs, outputs, grads)

    def connection_pattern(self, node: Apply) -> Sequence[Sequence[bool]]:
        """Return the given derivative, or that of the expression."""
        if self._pattern is not None:
            missing = len(self.local_inputs) - len(self._pattern)
            return [*self._pattern, *[[True] * len(self.local_outputs)] * missing]
        rows = super().connection_pattern(node)
        if all(_is_default(self.overrides[which]) for which in ("grad", "lop")):
            return rows
        pattern: list[list[bool]] = self.inner.derived("pattern", partial(self._reached, rows))
        return pattern

    def _reached(self, rows: Sequence[Sequence[bool]]) -> list[list[bool]]:
        """Return what the expression connects, and what the derivatives that were given do."""
        _, grads, terms = self._terms()
        below = [set() if is_disconnected(term) else {term, *ancestors([term])} for term in terms]
        return [
            [not is_disconnected(term) and (own or g in reached) for own, g in zip(row, grads, strict=True)]
            for row, term, reached in zip(rows, terms, below, strict=True)
        ]

    def L_op(self, inputs: Operands, outputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradients: those given, or those of the expression."""
        own = partial(super().L_op, inputs, outputs, output_grads)
        # A user's own gradient function computes with the gradients of all outputs.
        grads = [zeros_like(v) if is_disconnected(g) else g for v, g in zip(outputs, output_grads, strict=True)]
        if not _is_default(self.overrides["grad"]):
            return self._overridden("grad", len(inputs), (inputs, grads), own)
        return self._overridden("lop", len(inputs), (inputs, outputs, grads), own)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the directions: those given, or those of the expression."""
        own = partial(super().R_op, inputs, eval_points)
        pairs = zip(inputs, eval_points, strict=True)
        points = [still(v) if d is None else d for v, d in pairs]
        moved = self._overridden("rop", len(self.local_outputs), (inputs, points), own)
        # A direction has no way to say that it is disconnected.
        shaped = self.inner.on(inputs)
        return [zeros_like(v) if is_disconnected(d) else d for v, d in zip(shaped, moved, strict=True)]

    def _overridden(
        self, which: str, count: int, arguments: tuple[Sequence[Any], ...], own: Callable[[], list[Any]]
    ) -> list[Variable]:
        """Return the derivatives that are given for ``count`` variables.

        Where they are given for what users pass alone, those for the shared variables are the expression's own.
        """
        given = self.overrides[which]
        if _is_default(given):
            return own()
        each = isinstance(given, (list, tuple))
        said = given if each else _result(given, arguments)
        if isinstance(said, Variable):
            said = [said] * (count if isinstance(given, Variable) else 1)
        elif not isinstance(said, (list, tuple)):
            raise TypeError(f"{self}: {which}_overrides must return a list of {count} variables, not {said!r}")
        few = count if which == "rop" else count - len(self.shared_inputs)
        if len(said) not in (few, count):
            problem = f"has {len(said)} elements" if each else f"returned {len(said)} variables"
            raise ValueError(f"{self}: {which}_overrides {problem}, but {count} are needed")
        rest = own() if len(said) < count or any(map(_is_default, said)) else []
        if each:
            said = [rest[k] if _is_default(g) else _result(g, arguments) for k, g in enumerate(said)]
        return [*said, *rest[len(said) :]]


def _is_default(given: Any) -> bool:
    return isinstance(given, str) and given == "default"


def _result(given: Any, arguments: tuple[Sequence[Any], ...]) -> Any:
    if isinstance(given, Variable):
        if not isinstance(given.type, (DisconnectedType, NullType)):
            raise ValueError(
                f"a variable in place of a derivative must be of DisconnectedType or NullType, not {given}"
            )
        return given
    if isinstance(given, OpFromGraph):
        return given(*[v for part in arguments for v in part])
    if callable(given):
        return given(*[list(part) for part in arguments])
    raise TypeError(f"a derivative is given as 'default', a callable, an OpFromGraph or a variable, not {given!r}")


# Its inner function is rewritten on its own: other roundings than those of the whole.
@local_rule(
    [OpFromGraph], name="inline_ofg_expansion", keeps="close", tags=("fast_run", "fast_compile"),
    phases=("canonicalize",),
)  # fmt: skip
def inline_ofg_expansion(node: Apply[OpFromGraph]) -> Any:
    """The expression in place of an op that is to be inline."""
    return node.op.inlined(node)


#: Ops that hold a function, and the attribute that has it: what looks into them asks here.
ops_with_inner_function = {OpFromGraph: "fn"}

__all__ = ["OpFromGraph", "ops_with_inner_function"]


__getattr__, __dir__ = lazily(globals())
