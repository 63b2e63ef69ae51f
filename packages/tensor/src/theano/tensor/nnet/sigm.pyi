"""Old spelling; what ``theano.tensor.nnet.sigm`` shows is in :mod:`theano.tensor.nnet.activation`, :mod:`theano.legacy.rewriting_helpers`, :mod:`theano.legacy.tensor_values`, :mod:`theano.legacy.products_of_sigmoids`, :mod:`theano.legacy.gone_in_tensor`, :mod:`theano.tensor.elemwise.rules.approximations`, :mod:`theano.tensor.elemwise.rules.stable`, :mod:`theano.tensor.rules.by_name`, :mod:`theano.gof`, :mod:`theano.graph.source`, :mod:`theano.printing`, :mod:`theano.scalar`, :mod:`theano.settings`, :mod:`theano.tensor.basic`, :mod:`theano.tensor.convert`, :mod:`theano.tensor.elemwise`, :mod:`theano.tensor.opt`, :mod:`theano.tensor.closeness`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.annotations import TensorLike
from theano.tensor.nnet.activation import (
    ScalarSigmoid as ScalarSigmoid, ScalarSoftplus as ScalarSoftplus, UltraFastScalarSigmoid as UltraFastScalarSigmoid,
    hard_sigmoid as hard_sigmoid, scalar_sigmoid as scalar_sigmoid, scalar_softplus as scalar_softplus,
    scalar_ultra_fast_sigmoid as ultra_fast_scalar_sigmoid,
)
from theano.tensor.var import TensorVariable

def sigmoid(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logistic function, 1 / (1 + exp(-x)), from subnormals to one without overflow."""
def sigmoid_inplace(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logistic function, 1 / (1 + exp(-x)), from subnormals to one without overflow."""
def softplus(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logarithm of 1 + exp(x), without overflow."""
def ultra_fast_sigmoid(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """An approximation of the sigmoid by three pieces, within 0.07 of it."""
