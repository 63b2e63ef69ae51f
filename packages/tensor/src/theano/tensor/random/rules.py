"""Random numbers: the next state of a stream is written over the state, if that has no later use."""

from __future__ import annotations

from theano.graph import Apply, FunctionGraph, Op
from theano.rewriting import Context, phases
from theano.tensor.random.draw import Draw
from theano.tensor.rules.inplace import MayTake, work_in_place


def _drawn(node: Apply, may_take: MayTake) -> Op | None:
    """Return the op that advances the state itself."""
    op = node.op
    return op.in_place() if isinstance(op, Draw) and not op.inplace and may_take(0) else None


def random_make_inplace(fgraph: FunctionGraph, context: Context) -> None:
    """Let draws advance the states that they are given."""
    work_in_place(fgraph, context, "random_make_inplace", _drawn)


phases.register(
    "random_make_inplace", random_make_inplace, 99, "fast_run", "inplace", "random_make_inplace_mrg"
)  # fmt: skip
