"""Shared variables with the states of streams, which functions advance by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.compile.shared import shared

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class StreamsWithStates:
    """A container of streams, each of which has a state of its own.

    Attributes
    ----------
    state_updates : list of pairs
        Each stream's shared variable, and the expression of its next state.
    """

    def __init__(self) -> None:
        self.state_updates: list[tuple[Any, Any]] = []

    def _new_state(self) -> Any:
        """Return the state at which the next stream begins."""
        raise NotImplementedError(f"{type(self).__name__} must define _new_state()")

    def updates(self) -> list[tuple[Variable, Variable]]:
        """Return the states' shared variables, each with its next state."""
        return list(self.state_updates)

    def gen(self, op: Callable[..., Any], *args: TensorLike, **kwargs: object) -> Tensor:
        """Return numbers that are drawn from a new stream.

        Parameters
        ----------
        op : callable
            An op, or a function that applies one: from a state and the other arguments to the next state and numbers.
        *args, **kwargs
            The other arguments.

        Returns
        -------
        Variable
            The numbers. Their attribute ``rng`` is the stream's shared variable, ``update`` that and its next state.
        """
        state = shared(self._new_state())
        state.tag.is_rng = True
        next_state, numbers = op(state, *args, **kwargs)
        numbers.rng = state
        numbers.update = (state, next_state)
        self.state_updates.append(numbers.update)
        state.default_update = next_state
        return numbers
