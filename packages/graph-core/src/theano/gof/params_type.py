"""``theano.gof.params_type``: see :mod:`theano.graph.params_type`."""

from __future__ import annotations

from theano.graph.params_type import Params, ParamsType

__all__ = ["Params", "ParamsType"]
