"""``theano.gof.optdb``: see :mod:`theano.rewriting.phases`."""

from __future__ import annotations

from theano.rewriting import Query

__all__ = ["Query"]
