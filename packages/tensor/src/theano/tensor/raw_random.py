"""``theano.tensor.raw_random``: see :mod:`theano.tensor.random.distributions`."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.random.distributions import (
    binomial,
    choice,
    choice_helper,
    multinomial,
    multinomial_helper,
    multinomial_wo_replacement,
    normal,
    permutation,
    permutation_helper,
    poisson,
    random_integers,
    random_integers_helper,
    uniform,
)
from theano.tensor.random.function import RandomFunction, random_function
from theano.tensor.random.size import size_of as _infer_ndim_bcast  # noqa: F401  (user-defined draws call it)
from theano.tensor.random.streams import RandomStreamsBase
from theano.tensor.random.type import RandomStateType, random_state_type

__all__ = [
    "RandomFunction", "RandomStateType", "RandomStreamsBase", "binomial", "choice", "choice_helper", "multinomial",
    "multinomial_helper", "multinomial_wo_replacement", "normal", "permutation", "permutation_helper", "poisson",
    "random_function", "random_integers", "random_integers_helper", "random_state_type", "uniform",
]  # fmt: skip

# The rule belongs to rewriting, which is loaded when something is compiled.
__getattr__, __dir__ = lazily(globals(), {"random_make_inplace": "theano.tensor.rules.draws:random_make_inplace"})
