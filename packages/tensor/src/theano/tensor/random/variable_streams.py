"""Streams of random variables: each that is applied draws from a state of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from theano.tensor.random import basic
from theano.tensor.random.op import RandomVariable
from theano.tensor.random.streams import SeededStates

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class RandomStream(SeededStates):
    """Streams on which random variables are methods.

    Each call makes a stream: a shared variable with a state, seeded by the next number of a ``RandomState`` with the
    seed given here. Functions advance the states of the streams that they use.

    Parameters
    ----------
    seed : int or None
        None: another one in each process.
    namespace : module or object, optional
        Where random variables are looked up by their names: those of `theano.tensor.random.basic`, if None.

    Attributes
    ----------
    state_updates : list of pairs
        Each stream's shared variable, and the expression of its next state.

    Examples
    --------
    >>> import numpy as np
    >>> import theano
    >>> numbers = RandomStream(seed=234).normal(0.0, [1.0, 10.0], size=(3, 2))
    >>> seed = np.random.RandomState(234).randint(2**30)
    >>> draw = theano.function([], numbers)
    >>> bool((draw() == np.random.RandomState(seed).normal(0.0, [1.0, 10.0], (3, 2))).all())
    True
    """

    def __init__(self, seed: int | None = None, namespace: Any = None):
        super().__init__(seed)
        self.namespaces = [basic if namespace is None else namespace]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        for namespace in self.__dict__.get("namespaces", ()):
            op = getattr(namespace, name, None)
            if isinstance(op, RandomVariable):
                return wraps(op)(partial(self.gen, op))
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}, and no namespace of it a random variable of this name"
        )

    def gen(self, op: Callable[..., Any], *args: TensorLike, **kwargs: object) -> Tensor:
        """Return what a random variable draws from a new stream.

        Parameters
        ----------
        op : RandomVariable
        *args, **kwargs
            As for the op, but for ``rng``.

        Returns
        -------
        Variable
            The numbers. Their attribute ``rng`` is the stream's shared variable, ``update`` that and its next state.
        """
        if "rng" in kwargs:
            raise TypeError(f"{op}: the rng option cannot be used with a variate in a RandomStream, which has its own")

        def draw(state: Variable) -> list[Variable]:
            return op(*args, rng=state, **kwargs).owner.outputs

        return super().gen(draw)

    def seed(self, seed: int | None = None) -> None:
        """Give each stream a new state, and those that follow; by the seed given here or else by that of the start."""
        self.gen_seedgen.seed(self.default_instance_seed if seed is None else seed)
        self._reseed(self.gen_seedgen)
