"""``theano.link.c.basic``: see :mod:`theano.runtime.link` and :mod:`theano.runtime.dual`."""

from __future__ import annotations

from theano.runtime.dual import DualLinker
from theano.runtime.link import CLinker, OpWiseCLinker

__all__ = ["CLinker", "DualLinker", "OpWiseCLinker"]
