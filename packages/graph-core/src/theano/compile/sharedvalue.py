"""``theano.compile.sharedvalue``: see :mod:`theano.compile.shared`."""

from __future__ import annotations

from theano.compile.shared import SharedVariable, generic_constructor, shared, shared_constructor

__all__ = ["SharedVariable", "generic_constructor", "shared", "shared_constructor"]
