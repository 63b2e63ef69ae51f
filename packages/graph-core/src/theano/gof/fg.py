"""``theano.gof.fg``: see :mod:`theano.graph.fgraph`."""

from __future__ import annotations

from theano.errors import InconsistencyError, MissingInputError
from theano.graph.fgraph import FunctionGraph

__all__ = ["FunctionGraph", "InconsistencyError", "MissingInputError"]
