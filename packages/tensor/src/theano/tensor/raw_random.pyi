"""Old spelling; what ``theano.tensor.raw_random`` shows is in :mod:`theano.tensor.random.distributions`, :mod:`theano.tensor.random.function`, :mod:`theano.tensor.random.streams`, :mod:`theano.tensor.random.type`, :mod:`theano.tensor.random.rules`, :mod:`theano`, :mod:`theano.gof`, :mod:`theano.tensor`, :mod:`theano.tensor.random.size`, :mod:`theano.compile`, :mod:`theano.tensor.opt`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.random.distributions import (
    binomial as binomial, choice as choice, choice_helper as choice_helper, multinomial as multinomial,
    multinomial_helper as multinomial_helper, normal as normal, permutation as permutation, permutation_helper as
    permutation_helper, poisson as poisson, random_integers as random_integers, random_integers_helper as
    random_integers_helper, uniform as uniform,
)
from theano.tensor.random.function import RandomFunction as RandomFunction
from theano.tensor.random.rules import random_make_inplace as random_make_inplace
from theano.tensor.random.streams import RandomStreamsBase as RandomStreamsBase
from theano.tensor.random.type import RandomStateType as RandomStateType


