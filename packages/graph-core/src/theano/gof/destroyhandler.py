"""``theano.gof.destroyhandler``: see :mod:`theano.graph.aliasing`."""

from __future__ import annotations

from theano.graph.aliasing import DestroyHandler

__all__ = ["DestroyHandler"]
