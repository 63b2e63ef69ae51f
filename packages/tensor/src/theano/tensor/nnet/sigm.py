"""``theano.tensor.nnet.sigm``: sigmoids and softplus."""

from __future__ import annotations

from theano.tensor.nnet.activation import (
    hard_sigmoid,
    scalar_sigmoid,
    scalar_softplus,
    sigmoid,
    sigmoid_inplace,
    softplus,
    ultra_fast_sigmoid,
)

__all__ = [
    "hard_sigmoid", "scalar_sigmoid", "scalar_softplus", "sigmoid", "sigmoid_inplace", "softplus", "ultra_fast_sigmoid",
]  # fmt: skip
