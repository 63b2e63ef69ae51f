"""``theano.gof.utils``: see :mod:`theano.errors` and :mod:`theano.graph.variable`."""

from __future__ import annotations

from theano.errors import MethodNotDefined
from theano.graph.variable import Scratchpad as scratchpad

object2 = object

__all__ = ["MethodNotDefined", "object2", "scratchpad"]
