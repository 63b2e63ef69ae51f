"""States that follow from another one: where several draw from one stream, each from a part of its own.

A new state is seeded by all that the old one holds and by a number, hashed by NumPy's ``SeedSequence``, which promises
that such parts are independent. The old state is not changed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.random.mrg31k3p import M1, M2
from theano.tensor.random.type import contents_of

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike

_PART, _NEXT = 0, 1


def substate(state: object, number: int) -> Any:
    """Return the state from which part ``number`` of a stream is drawn.

    Parameters
    ----------
    state : RandomState or ndarray
        NumPy's, that of a stream of Philox (3 of uint64), or those of MRG31k3p (rows of 6 of int32).
    number : int
        0 or more.

    Returns
    -------
    RandomState or ndarray
        Of the same kind and shape.

    Examples
    --------
    >>> state = np.random.RandomState(1)
    >>> [round(substate(state, part).uniform(), 3) for part in (0, 1, 0)]
    [0.231, 0.764, 0.231]
    """
    return _spawned(state, _PART, number)


def next_state(state: TensorLike) -> Any:
    """Return the state from which a stream goes on whose parts have been drawn.

    Examples
    --------
    >>> next_state(np.array([7, 0, 3], "uint64")).tolist()[1:]
    [0, 0]
    """
    return _spawned(state, _NEXT)


def _spawned(state: Any, *place: int) -> Any:
    is_numpys = isinstance(state, np.random.RandomState)
    held = repr(contents_of(state)).encode() if is_numpys else np.ascontiguousarray(state).tobytes()
    words = np.frombuffer(hashlib.sha256(held).digest(), "<u4")
    seeds = np.random.SeedSequence(words.tolist(), spawn_key=place)
    if is_numpys:
        return np.random.RandomState(np.random.MT19937(seeds))
    if state.dtype == np.uint64:
        return np.array([seeds.generate_state(1, np.uint64)[0], state[1], 0], "uint64")
    # Neither of the two halves of a state of MRG31k3p may be zero, and each is below its modulus.
    below = np.array([[M1 - 1], [M2 - 1]], "uint64")
    halves = seeds.generate_state(state.size, np.uint64).reshape(-1, 2, 3) % below + np.uint64(1)
    return halves.reshape(state.shape).astype(state.dtype)
