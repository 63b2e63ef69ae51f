"""``theano.compile.io``: see :mod:`theano.compile.inputs`."""

from __future__ import annotations

from theano.compile.inputs import In, Out, SymbolicInput, SymbolicOutput

__all__ = ["In", "Out", "SymbolicInput", "SymbolicOutput"]
