"""``theano.gof.op``: see :mod:`theano.graph.op`."""

from __future__ import annotations

from theano.graph.op import Op

PureOp = Op

__all__ = ["Op", "PureOp"]
