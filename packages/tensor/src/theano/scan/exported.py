"""A scan that runs step after step, as data for a process without Python: what `theano.scan.run` does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.aot.exports import Loop, StateRows
from theano.scan.op import Scan
from theano.scan.run import layout_of, lengths_of_row

if TYPE_CHECKING:
    from theano.graph.annotations import Node


def loop_of(node: Node) -> Loop | None:
    """Return what a node of `Scan` does, or None for others, and where another process cannot run it."""
    op = node.op
    if not isinstance(op, Scan):
        return None
    layout = layout_of(op)
    if layout.copies is not None:  # a carried value that is no array
        return None
    mapped = range(len(op.spec.states), len(op.spec.states) + op.spec.mapped)
    rows: list[Any] = op.inner.outputs
    return Loop(
        name=str(op),
        step=layout.step,
        taps=layout.taps,
        needed=layout.needed,
        states=[StateRows(*each) for each in layout.states],
        keep=layout.mapped,
        lengths=[lengths_of_row(op, i) if rows[i].type.ndim else None for i in mapped],
        carried=range(len(node.inputs))[layout.carried],
        fixed=range(len(node.inputs))[layout.fixed],
        until=layout.until,
        count=0,
    )
