"""Symbolic arrays, and what can be computed with them.

This module is the public door of the layer; programs write ``import theano.tensor as T``.

Examples
--------
>>> import theano.tensor as T
>>> x, y = T.dmatrices("x y")
>>> z = T.exp(x + y).sum(axis=0)
>>> z.type
TensorType(float64, vector)
"""

from __future__ import annotations

from theano.tensor.basic import *  # noqa: F403  (the list of names is there)

from theano.tensor import fft, nlinalg, opt, rules, slinalg, subtensor, utils  # noqa: F401  # isort: skip  (rules: functions are compiled by them)
from theano.layers import lazily
from theano.tensor import lowering, memory  # noqa: F401  (where its kernels are; how its values are looked at)
from theano.tensor.basic import _LATER
from theano.tensor.basic import _shared as _shared

__getattr__, __dir__ = lazily(globals(), _LATER)
