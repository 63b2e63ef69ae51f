"""Loops in expressions. The module can be called: ``theano.scan(fn, ...)`` is :func:`theano.scan.scan`."""

# The modules:
#
# basic      scan: what it is called with
# arguments  its arguments in one form, and what a step may return
# build      from a step as it was written to a loop: types, and what is the same in each step
# spec       what a loop is given and hands back: the description that all others read
# op         Scan: the op
# lengths    how long the results of a step are
# gradient   the loops that are its derivatives
# views      map, reduce, foldl, foldr
# checkpoints scan_checkpoints

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from theano.scan.basic import scan
from theano.scan.checkpoints import scan_checkpoints
from theano.scan.utils import clone, until
from theano.scan.views import foldl, foldr, map, reduce

__all__ = ["clone", "foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "until"]


class _Callable(ModuleType):
    """A module that is also the function which it is named after."""

    __signature__: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return ``theano.scan.scan`` of the arguments."""
        return scan(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
# What help() and editors show is the function.
vars(sys.modules[__name__]).update(__wrapped__=scan, __doc__=scan.__doc__)
