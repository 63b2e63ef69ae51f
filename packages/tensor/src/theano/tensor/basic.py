"""``theano.tensor.basic``: the public names of :mod:`theano.tensor`, under the module that once defined them."""

from __future__ import annotations

from theano.tensor import *  # noqa: F403
from theano.tensor import _shared as _shared
from theano.tensor.operators import transfers as _transfers  # noqa: F401
