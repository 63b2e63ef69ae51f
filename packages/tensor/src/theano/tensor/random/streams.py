"""Streams on NumPy's ``RandomState``: each draw has a state of its own, which functions advance by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.convert import as_tensor_variable
from theano.tensor.index.permutation import permute_row_elements
from theano.tensor.random import distributions
from theano.tensor.random.states import StreamsWithStates

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class RandomStreamsBase:
    """The methods that draw, for classes whose ``gen`` makes a stream for a draw."""

    def gen(self, op: Callable[..., Any], *args: Any, **kwargs: object) -> Any:
        """Return numbers that ``op(state, *args, **kwargs)`` draws from a state of their own."""
        raise NotImplementedError(f"{type(self).__name__} must define gen(op, *args, **kwargs)")

    def binomial(
        self, size: Any = None, n: TensorLike = 1, p: TensorLike = 0.5, ndim: int | None = None, dtype: str = "int64",
        prob: object = None,
    ) -> Tensor:  # fmt: skip
        """Return how many of ``n`` trials succeed, each with probability ``p``."""
        return self.gen(distributions.binomial, size, n, p, ndim=ndim, dtype=dtype, prob=prob)

    def uniform(
        self,
        size: object = None,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
    ) -> Any:
        """Return numbers between ``low`` and ``high``."""
        return self.gen(distributions.uniform, size, low, high, ndim=ndim, dtype=dtype)

    def normal(
        self,
        size: TensorLike | None = None,
        avg: TensorLike = 0.0,
        std: TensorLike = 1.0,
        ndim: int | None = None,
        dtype: str | None = None,
    ) -> Tensor:
        """Return numbers with a normal distribution of mean ``avg`` and standard deviation ``std``."""
        return self.gen(distributions.normal, size, avg, std, ndim=ndim, dtype=dtype)

    def random_integers(
        self, size: Any = None, low: TensorLike = 0, high: TensorLike = 1, ndim: int | None = None, dtype: str = "int64"
    ) -> Tensor:
        """Return whole numbers from ``low`` to ``high``, both of which may occur."""
        return self.gen(distributions.random_integers, size, low, high, ndim=ndim, dtype=dtype)

    def choice(
        self, size: TensorLike | None = None, a: object = 2, replace: bool = True, p: Any = None,
        ndim: int | None = None, dtype: str = "int64",
    ) -> Tensor:  # fmt: skip
        """Return elements of the vector ``a``, or of the numbers below ``a``, with probabilities ``p``."""
        return self.gen(distributions.choice, size, a, replace, p, ndim=ndim, dtype=dtype)

    def poisson(
        self,
        size: TensorLike | None = None,
        lam: TensorLike | None = None,
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> Tensor:
        """Return how often something happens that is expected to happen ``lam`` times (1, where it is not given)."""
        return self.gen(distributions.poisson, size, 1.0 if lam is None else lam, ndim=ndim, dtype=dtype)

    def permutation(self, size: Any = None, n: TensorLike = 1, ndim: int | None = None, dtype: str = "int64") -> Any:
        """Return the numbers below ``n`` in random order, along a last axis that is added to ``size``."""
        return self.gen(distributions.permutation, size, n, ndim=ndim, dtype=dtype)

    def multinomial(
        self,
        size: Any = None,
        n: TensorLike = 1,
        pvals: TensorLike = (0.5, 0.5),
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> Tensor:
        """Return how often each outcome comes up in ``n`` trials; the last axis of ``pvals`` has the probabilities."""
        return self.gen(distributions.multinomial, size, n, pvals, ndim=ndim, dtype=dtype)

    def multinomial_wo_replacement(
        self,
        size: TensorLike | None = None,
        n: int = 1,
        pvals: TensorLike = (0.5, 0.5),
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> Tensor:
        """Return ``n`` different outcomes of each row of ``pvals``."""
        return self.gen(distributions.multinomial_wo_replacement, size, n, pvals, ndim=ndim, dtype=dtype)

    def shuffle_row_elements(self, input: Any) -> Tensor:
        """Return a tensor with each row, along its last axis, in an order of its own.

        The attribute ``permutation`` of the result has the orders.
        """
        input = as_tensor_variable(input)
        order = self.permutation(size=input.shape[:-1], n=input.shape[-1], ndim=input.type.ndim - 1)
        shuffled: Any = permute_row_elements(input, order)
        shuffled.permutation = order
        return shuffled


class SeededStates(StreamsWithStates):
    """Streams that have a ``RandomState`` each, seeded by the next number of one with the given seed."""

    def __init__(self, seed: int | None = None):
        super().__init__()
        self.default_instance_seed = seed
        self.gen_seedgen = np.random.RandomState(seed)

    def _new_state(self) -> np.random.RandomState:
        return _next_state(self.gen_seedgen)

    def seed(self, seed: int | None = None) -> None:
        """Give each stream a new state, by the seed given here or else by that of the start."""
        self._reseed(np.random.RandomState(self.default_instance_seed if seed is None else seed))

    def _reseed(self, seeds: np.random.RandomState) -> None:
        for state, _ in self.state_updates:
            state.set_value(_next_state(seeds), borrow=True)


class RandomStreams(SeededStates, RandomStreamsBase):
    """Streams of the numbers that NumPy's ``RandomState`` draws.

    Each call of a method makes a stream: a shared variable with a state, seeded by the next number of a ``RandomState``
    with the seed given here. Functions advance the states of the streams that they use.

    Parameters
    ----------
    seed : int or None
        None: another one in each process.

    Attributes
    ----------
    state_updates : list of pairs
        Each stream's shared variable, and the expression of its next state.

    Examples
    --------
    >>> import theano
    >>> f = theano.function([], RandomStreams(seed=234).uniform((2, 2), dtype="float64"))
    >>> seed = np.random.RandomState(234).randint(2**30)
    >>> bool((f() == np.random.RandomState(seed).uniform(size=(2, 2))).all())
    True
    """

    def __getitem__(self, item: Any) -> np.random.RandomState:
        """Return the state of a stream itself, given its shared variable."""
        state: np.random.RandomState = item.get_value(borrow=True)
        return state

    def __setitem__(self, item: Any, val: np.random.RandomState) -> None:
        item.set_value(val, borrow=True)


def _next_state(seeds: np.random.RandomState) -> np.random.RandomState:
    return np.random.RandomState(int(seeds.randint(2**30)))
