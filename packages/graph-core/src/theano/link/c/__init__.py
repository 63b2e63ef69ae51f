"""``theano.link.c``: see :mod:`theano.codegen.blocks` and :mod:`theano.runtime.blocks`."""

from __future__ import annotations

from theano.link.c import basic, interface

__all__ = ["basic", "interface"]
