"""Lists: an op that changes a list works in place, if the list has no later use."""

from __future__ import annotations

from theano.graph import Apply, FunctionGraph, Op
from theano.rewriting import Context, families, phases
from theano.tensor.rules.inplace import MayTake, work_in_place
from theano.typed_list.op import Changer

families.in_order(__name__)


def _changed(node: Apply, may_take: MayTake) -> Op | None:
    """Return the op that changes the list itself."""
    op = node.op
    return type(op)(inplace=True) if isinstance(op, Changer) and not op.inplace and may_take(0) else None


def typed_list_inplace_opt(fgraph: FunctionGraph, context: Context) -> None:
    """Let lists be changed in place if they have no later use."""
    # A list that is made of another one counts as reading that for ever, since it has the same items.
    work_in_place(fgraph, context, "typed_list_inplace_opt", _changed, readers=False)


phases.register("typed_list_inplace_opt", typed_list_inplace_opt, 60, "fast_run", "inplace")
