"""A loop for many rows at once: one loop, each step of which is for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.batching import NoRuleError, batch, has_batch_axis
from theano.graph.variable import Variable
from theano.scan.spec import InnerInputs, InnerOutputs, OuterInputs
from theano.tensor.convert import is_tensor
from theano.tensor.create.alloc import alloc
from theano.tensor.shape.basic import shape_tuple
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.scan.op import Scan


def many_rows(op: Scan, node: Node, inputs: Sequence[Any], batched: Sequence[bool]) -> list[Variable] | None:
    """Return the outputs of a loop for many rows at once, or None where rows may have different numbers of steps.

    The parameters are those of ``Op.batch``.
    """
    spec = op.spec
    if spec.until or batched[0]:
        return None
    own, given, many = (
        spec.inner_inputs(op.inner.inputs), spec.outer_inputs(inputs), spec.outer_inputs(batched),
    )  # fmt: skip
    past, old = [*own.states, *([v] for v in own.carried)], spec.inner_outputs(op.inner.outputs)
    step = _step_for_many(op, own, many, past)
    if step is None:
        return None
    replace, made = step
    n = next(v.shape[0] for v, yes in zip(inputs, batched, strict=True) if yes)

    def with_axis(new: Any, row: Variable, want: bool) -> Any:
        if not want or has_batch_axis(new, row):
            return new
        return alloc(new, n, *shape_tuple(new))

    def time_first(v: Any, yes: bool) -> Any:
        return v.dimshuffle(1, 0, *range(2, v.type.ndim)) if yes else v

    is_wide = [replace[inside[0]] is not inside[0] for inside in past]
    k = len(spec.states)
    outer = given._replace(
        sequences=[time_first(v, yes) for v, yes in zip(given.sequences, many.sequences, strict=True)],
        states=[
            time_first(with_axis(v, old_v, want), want)
            for v, old_v, want in zip(given.states, spec.outer_inputs(node.inputs).states, is_wide[:k], strict=True)
        ],
        carried=[
            with_axis(v, own_v, want) for v, own_v, want in zip(given.carried, own.carried, is_wide[k:], strict=True)
        ],
    )
    results = made._replace(
        states=[with_axis(*each) for each in zip(made.states, old.states, is_wide[:k], strict=True)],
        carried=[with_axis(*each) for each in zip(made.carried, old.carried, is_wide[k:], strict=True)],
    )
    inputs = [replace[v] for v in own.flat()]
    loop = type(op)(spec, inputs, results.flat(), op.name, truncate=op.truncate, **op.options)
    found = spec.outer_outputs(loop(*outer.flat(), return_list=True))
    stacked = [
        time_first(v, has_batch_axis(v, out))
        for v, out in zip([*found.states, *found.mapped], node.outputs, strict=False)
    ]
    return [*stacked, *found.carried]


def _step_for_many(
    op: Scan, own: InnerInputs, many: OuterInputs, past: Sequence[Sequence[Variable]]
) -> tuple[dict[Variable, Variable], InnerOutputs] | None:
    """Return the replacements of the step's inputs, and its outputs for all rows; None without a rule.

    A state gets a batch axis where what replaces it has one, which shows when the step has been made.
    """
    spec, old = op.spec, op.spec.inner_outputs(op.inner.outputs)
    taps = zip((*own.sequences, *own.states), (*many.sequences, *many.states), strict=True)
    wide = {v for group, yes in taps if yes for v in group}
    wide |= {v for v, yes in zip((*own.carried, *own.fixed), (*many.carried, *many.fixed), strict=True) if yes}
    while True:
        replace = {v: _wide(v) if v in wide else v for v in own.flat()}
        try:
            made = spec.inner_outputs(batch(op.inner.outputs, replace, by_loop=False))
        except NoRuleError:
            return None
        rows = zip((*made.states, *made.carried), (*old.states, *old.carried), past, strict=True)
        more = {v for new, v_old, inside in rows if has_batch_axis(new, v_old) for v in inside} - wide
        if not more:
            return replace, made
        if not all(is_tensor(v) for v in more):
            return None
        wide |= more


def _wide(v: Any) -> Any:
    return TensorType(v.type.dtype, (False, *v.type.broadcastable))()
