"""``theano.link.basic``: see :mod:`theano.runtime.link` and :mod:`theano.compile.shared`."""

from __future__ import annotations

from theano.compile.shared import Container
from theano.runtime.interpreter import WrapLinker, WrapLinkerMany
from theano.runtime.link import Linker, PerformLinker

LocalLinker = Linker

__all__ = ["Container", "Linker", "LocalLinker", "PerformLinker", "WrapLinker", "WrapLinkerMany"]
