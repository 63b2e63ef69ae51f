"""The generator MRG31k3p (P. L'Ecuyer and R. Touzin, Winter Simulation Conference 2000) as arithmetic on arrays.

Two linear recurrences run side by side, ::

    x[n] = (2^22 x[n-2] + (2^7 + 1) x[n-3])         mod M1 = 2^31 - 1
    y[n] = (2^15 y[n-1] + (2^15 + 1) y[n-3])        mod M2 = 2^31 - 21069

and the numbers drawn are ``x[n] - y[n] mod M1``, from 1 to M1. A state is ``(x[n], x[n-1], x[n-2], y[n], y[n-1],
y[n-2])``. As the recurrences are linear, a jump by any number of steps is the product with a power of their matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike

M1 = 2**31 - 1
M2 = 2**31 - 21069
NORM = 2.0**-31
"""What makes numbers from 0 to 1 of those drawn, in float64."""

NORM_FLOAT32 = np.float32(4.6566126e-10)
"""The same in float32: the largest such that M1 becomes less than 1."""

NORM_FLOAT16 = np.float16(3.0458e-05)
"""The same in float16, of numbers from 1 to 2^15: the low 15 bits, and 1."""

A1 = np.array([[0, 2**22, 2**7 + 1], [1, 0, 0], [0, 1, 0]], dtype="int64")
A2 = np.array([[2**15, 0, 2**15 + 1], [1, 0, 0], [0, 1, 0]], dtype="int64")


def mat_vec_mod(matrix: TensorLike, vector: TensorLike, modulus: int) -> np.ndarray:
    """Return ``matrix @ vector % modulus`` for numbers below 2^31, in the dtype of the vector.

    Examples
    --------
    >>> mat_vec_mod(A1, np.array([3, 2, 1]), M1)
    array([8388737,       3,       2])
    """
    vector = np.asarray(vector)
    terms = np.asarray(matrix, "int64") * vector.astype("int64")[..., None, :] % modulus
    found: np.ndarray = (terms.sum(axis=-1) % modulus).astype(vector.dtype)
    return found


def _product(a: np.ndarray, b: np.ndarray, modulus: int) -> np.ndarray:
    return mat_vec_mod(a, b.T, modulus).T


@cache
def jump(exponent: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices of both recurrences that jump 2^exponent steps.

    Examples
    --------
    >>> jump(72)[0][0]
    array([1516919229,  758510237,  499121365])
    """
    if exponent == 0:
        return A1, A2
    a, b = jump(exponent - 1)
    return _product(a, a, M1), _product(b, b, M2)


def jumped(states: TensorLike, matrices: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return states, along the last axis of an array, after a jump.

    Examples
    --------
    >>> jumped(np.full(6, 12345, "int32"), jump(72)).dtype
    dtype('int32')
    """
    states = np.asarray(states)
    halves = [mat_vec_mod(matrices[0], states[..., :3], M1), mat_vec_mod(matrices[1], states[..., 3:], M2)]
    return np.concatenate(halves, axis=-1)


def substreams(state: np.ndarray | Sequence[int], count: int) -> np.ndarray:
    """Return the states of ``count`` streams that begin 2^72 steps from each other, the first at ``state``.

    Examples
    --------
    >>> both = substreams(np.full(6, 12345, "int32"), 2)
    >>> bool((both[1] == jumped(both[0], jump(72))).all())
    True
    """
    states = np.asarray(state, "int32")[None]
    exponent = 72
    while len(states) < count:
        states = np.concatenate([states, jumped(states, jump(exponent))])
        exponent += 1
    return np.ascontiguousarray(states[:count])


def advance(states: np.ndarray) -> np.ndarray:
    """Advance states (streams by 6, int64) by one step where they are, and return the numbers drawn.

    Examples
    --------
    >>> advance(np.full((1, 6), 12345, "int64"))
    array([1579097239])
    """
    x = (2**22 * states[:, 1] + (2**7 + 1) * states[:, 2]) % M1
    y = (2**15 * states[:, 3] + (2**15 + 1) * states[:, 5]) % M2
    states[:, 1:3], states[:, 4:6] = states[:, 0:2].copy(), states[:, 3:5].copy()
    states[:, 0], states[:, 3] = x, y
    return np.where(x <= y, x - y + M1, x - y)


def converted(drawn: np.ndarray, dtype: str) -> np.ndarray:
    """Return numbers from 0 to 1, both excluded, of those drawn.

    Examples
    --------
    >>> converted(np.array([1, M1]), "float32")
    array([4.6566126e-10, 9.9999994e-01], dtype=float32)
    """
    if dtype == "float16":
        return (((drawn & 0x7FFF) + 1) * np.float64(NORM_FLOAT16)).astype("float16")
    if dtype == "float32":
        return drawn.astype("float32") * NORM_FLOAT32
    return drawn * NORM
