"""``theano.tensor.shared_randomstreams``: see :mod:`theano.tensor.random.streams`."""

from __future__ import annotations

from theano.compile.shared import SharedVariable, shared, shared_constructor
from theano.tensor import raw_random
from theano.tensor.random.streams import RandomStreams
from theano.tensor.random.var import RandomStateSharedVariable, randomstate_constructor

__all__ = [
    "RandomStateSharedVariable", "RandomStreams", "SharedVariable", "randomstate_constructor", "raw_random", "shared",
    "shared_constructor",
]  # fmt: skip
