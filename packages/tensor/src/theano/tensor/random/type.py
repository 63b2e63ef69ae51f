"""The type of NumPy's ``RandomState``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Type
from theano.graph.canonical import register_form

if TYPE_CHECKING:
    from theano.graph.annotations import Value


class RandomStateType(Type):
    """Values are instances of ``numpy.random.RandomState``.

    These do not compare by what they hold; the type does.

    Examples
    --------
    >>> a, b = np.random.RandomState(1), np.random.RandomState(1)
    >>> a == b, random_state_type.values_eq(a, b)
    (False, True)
    """

    __props__ = ()

    def filter(self, value: object, strict: bool = False, allow_downcast: bool | None = None) -> np.random.RandomState:
        """Return ``value``, which must be a ``RandomState``."""
        if type(value) is not np.random.RandomState:
            raise TypeError(
                f"a numpy.random.RandomState is wanted, not {value!r} of type {type(value).__name__}. "
                "Make one with numpy.random.RandomState(seed)."
            )
        return value

    def is_valid_value(self, value: object, strict: bool = True) -> bool:
        """Return whether ``value`` is a ``RandomState``."""
        return type(value) is np.random.RandomState

    def values_eq(self, a: Value, b: Value) -> bool:
        """Return whether the next numbers of both are the same."""
        return contents_of(a) == contents_of(b)

    def values_eq_approx(self, a: object, b: object, **tolerances: object) -> bool:
        """Return the same: states are alike or not."""
        return self.values_eq(a, b)

    def value_copy(self, value: Value) -> np.random.RandomState:
        """Return a state of its own with the same content."""
        return copy_of(value)

    @staticmethod
    def may_share_memory(a: object, b: object) -> bool:
        """Return whether two values are one."""
        return a is b

    def constant_signature(self, value: Any) -> Hashable:
        """Return what a state holds."""
        return contents_of(value)

    def get_shape_info(self, obj: object) -> None:
        """Return None: all values are of one size."""
        return

    def get_size(self, shape_info: object) -> int:
        """Return the bytes of a state."""
        return _SIZE

    def __str__(self) -> str:
        return "RandomStateType"


_SIZE = 624 * 4 + 3 * 8
"""Bytes of the Mersenne Twister's words, the place among them, and a second normal number that is kept."""


def copy_of(state: np.random.RandomState) -> np.random.RandomState:
    """Return a state of its own with the same content.

    Examples
    --------
    >>> state = np.random.RandomState(1)
    >>> bool(copy_of(state).uniform() == state.uniform())
    True
    """
    # To seed it costs more than all else, and copy.copy would share the words of the generator.
    fresh = np.random.RandomState(np.random.MT19937(_ANY_SEED))
    fresh.set_state(state.get_state(legacy=False))
    return fresh


_ANY_SEED = np.random.SeedSequence(0)


def contents_of(state: np.random.RandomState) -> tuple[Any, ...]:
    """Return what a state holds; the normal number that is kept means nothing unless there is one."""
    content = state.get_state(legacy=False)
    twister, kept = content["state"], bool(content["has_gauss"])
    words, place = twister["key"].tobytes(), int(twister["pos"])
    return (content["bit_generator"], words, place, kept, float(content["gauss"]) * kept)


def _of_contents(contents: tuple[Any, ...]) -> np.random.RandomState:
    name, words, place, kept, number = contents
    state = np.random.RandomState(0)
    state.set_state((name, np.frombuffer(words, np.uint32), place, int(kept), number))
    return state


register_form(np.random.RandomState, "random state", contents_of, _of_contents)

random_state_type = RandomStateType()
