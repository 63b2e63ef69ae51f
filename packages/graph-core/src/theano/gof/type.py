"""``theano.gof.type``: see :mod:`theano.graph.type`."""

from __future__ import annotations

from theano.graph.type import Generic, Type, generic

__all__ = ["Generic", "Type", "generic"]
