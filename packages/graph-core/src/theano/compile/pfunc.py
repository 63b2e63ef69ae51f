"""``theano.compile.pfunc``: see :mod:`theano.compile.pack` and :mod:`theano.compile.inputs`."""

from __future__ import annotations

from theano.compile.function import function as pfunc
from theano.compile.inputs import Param

__all__ = ["Param", "pfunc"]
