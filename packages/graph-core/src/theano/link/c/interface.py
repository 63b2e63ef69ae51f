"""``theano.link.c.interface``: see :mod:`theano.graph.c_contract`."""

from __future__ import annotations

from theano.graph.c_contract import CLinkerObject, CLinkerOp, CLinkerType

__all__ = ["CLinkerObject", "CLinkerOp", "CLinkerType"]
