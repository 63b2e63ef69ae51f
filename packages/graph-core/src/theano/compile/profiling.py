"""``theano.compile.profiling``: see :mod:`theano.runtime.profile`."""

from __future__ import annotations

from theano.runtime.profile import ProfileStats

__all__ = ["ProfileStats"]
