"""An expression of each row, as data for a process without Python: what `MapRows.perform` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.aot.exports import Loop
from theano.tensor.rows.op import MapRows

if TYPE_CHECKING:
    from theano.graph.annotations import Node


def loop_of(node: Node) -> Loop | None:
    """Return what a node of `MapRows` does, or None for other nodes."""
    op = node.op
    if not isinstance(op, MapRows):
        return None
    k = op.sequences
    return Loop(
        name=str(op),
        step=op.fn,
        taps=[(i, 0) for i in range(k)],
        needed=[],
        states=[],
        keep=[None] * len(op.outputs),
        lengths=[op.lengths_of_row(i) if v.type.ndim else None for i, v in enumerate(op.outputs)],
        carried=range(k, k),
        fixed=range(k, len(node.inputs)),
        until=False,
        count=None,
    )
