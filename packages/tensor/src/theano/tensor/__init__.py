"""Symbolic arrays, and what can be computed with them.

This module is the public module of the layer; programs write ``import theano.tensor as T``.

Examples
--------
>>> import theano.tensor as T
>>> x, y = T.dmatrices("x y")
>>> z = T.exp(x + y).sum(axis=0)
>>> z.type
TensorType(float64, vector)
"""

from __future__ import annotations

from types import ModuleType as _Module

from theano.tensor.basic import *  # noqa: F403  (the list of names is there)

from theano.tensor import utils  # noqa: F401  # isort: skip
from theano.layers import enter as _enter
from theano.layers import lazily, names_in_use
from theano.layers.tensor import LAYER as _LAYER
from theano.tensor import memory  # noqa: F401  (how the modes that check nodes look at its values)
from theano.tensor.basic import _LATER, _RARE
from theano.tensor.basic import _shared as _shared

_enter(_LAYER)
__getattr__ = lazily(globals(), _LATER)[0]

# ``from theano.tensor import *`` brings this module's names and these parts, which are loaded on access.
_PARTS = (
    "fft", "hessian", "inplace", "jacobian", "linalg", "nlinalg", "nnet", "numeric_grad", "opt", "slinalg", "subtensor",
    "verify_grad", "xlogx",
)  # fmt: skip
# Modules of old spellings that `from theano.tensor import *` brings, too.
_OLDER = ("extra_ops", "raw_random", "shared_randomstreams")

# What this module is written with is no name of it.
_WRITTEN_WITH = "annotations lazily names_in_use COUNTERPARTS FUNCTIONS SEVERAL TYPES document"

__all__ = [
    name
    for name in (*globals(), *_PARTS, *_OLDER)
    if not name.startswith("_") and name not in _WRITTEN_WITH.split()
]


def __dir__() -> list[str]:
    own = (name for name in __all__ if not isinstance(globals().get(name), _Module))
    return names_in_use(__name__, {*own, *_PARTS, *_LATER}, _RARE)
