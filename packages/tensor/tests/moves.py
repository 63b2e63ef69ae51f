"""Programs that move elements and compute nothing: what they do is the same on every device.

They read ``x`` of shape (4, 3, 5), ``v`` of shape (5,), ``w`` of shape (3, 5), whole numbers ``i`` and ``k`` (vectors of 6 and of
4, in [-3, 3) and [-5, 5)), and a whole number ``n``, 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import theano.tensor as T

MOVES = {
    "reshape of a part": lambda x, v, w, i, k, n: x[:, ::2].reshape((n * 2, 10)),
    "reshape that copies": lambda x, v, w, i, k, n: x.dimshuffle(2, 0, 1).reshape((n, -1)),
    "reshape to a vector": lambda x, v, w, i, k, n: x.flatten(),
    "reshape with ones": lambda x, v, w, i, k, n: w.reshape((3, 1, 5, 1)),
    "reversed": lambda x, v, w, i, k, n: x[::-1, :, ::-2],
    "parts": lambda x, v, w, i, k, n: x[n:, 1, -4:-1],
    "a part of a part": lambda x, v, w, i, k, n: x[n - 1 :][:n, ::-1],
    "an element": lambda x, v, w, i, k, n: x[n, 1, -1],
    "nothing left": lambda x, v, w, i, k, n: x[n:n, :, 4:1],
    "join": lambda x, v, w, i, k, n: T.concatenate([x, x[:, ::-1], x[:, :1]], axis=1),
    "join along the last axis": lambda x, v, w, i, k, n: T.concatenate([w, w[:, ::2]], axis=-1),
    "stack": lambda x, v, w, i, k, n: T.stack([w, w[::-1], x[0]], axis=1),
    "split": lambda x, v, w, i, k, n: T.split(x, [1, 0, 4], 3, axis=2),
    "set a part": lambda x, v, w, i, k, n: T.set_subtensor(x[n:, ::2], x[:n, :2]),
    "set a part to a vector": lambda x, v, w, i, k, n: T.set_subtensor(x[1:3, 1:], v),
    "set an element": lambda x, v, w, i, k, n: T.set_subtensor(x[n, 0, 1], v[0]),
    "add to a part": lambda x, v, w, i, k, n: T.inc_subtensor(x[::-2, 1], x[:2, 0]),
    "add a vector to a part": lambda x, v, w, i, k, n: T.inc_subtensor(x[n:, :, ::-1], v),
    "add to all": lambda x, v, w, i, k, n: T.inc_subtensor(x[:], w),
    "diagonal": lambda x, v, w, i, k, n: T.diagonal(x, 1, 0, 2),
    "matrices with a diagonal": lambda x, v, w, i, k, n: T.nlinalg.alloc_diag(v),
    "a diagonal set": lambda x, v, w, i, k, n: T.fill_diagonal(w[:, 1:4], v[0]),
    "rows": lambda x, v, w, i, k, n: w[i],
    "rows by a matrix": lambda x, v, w, i, k, n: w[i.reshape((2, 3))],
    "columns": lambda x, v, w, i, k, n: x[:, :, k],
    "places between": lambda x, v, w, i, k, n: x[:, i, 1:4],
    "pairs": lambda x, v, w, i, k, n: w[i[:4], k],
    "a group in the middle": lambda x, v, w, i, k, n: x[:, i[:4], k],
    "a group in front": lambda x, v, w, i, k, n: x[i[:4], :, k],
    "a mask": lambda x, v, w, i, k, n: x[:, T.eq(T.arange(3) % 2, 0)],
    "no rows": lambda x, v, w, i, k, n: w[i[:0]],
    "set rows": lambda x, v, w, i, k, n: T.set_subtensor(w[i], x[0, 0]),
    "set rows, some twice": lambda x, v, w, i, k, n: T.set_subtensor(w[i], T.concatenate([w, w[::-1]])),
    "set pairs": lambda x, v, w, i, k, n: T.set_subtensor(w[i[:4], k], v[:4]),
    "add rows, some twice": lambda x, v, w, i, k, n: T.inc_subtensor(w[i], T.concatenate([w, w[::-1]])),
    "add one row to many": lambda x, v, w, i, k, n: T.inc_subtensor(w[i], v),
    "add columns": lambda x, v, w, i, k, n: T.inc_subtensor(x[:, :, k], x[:, :, :4]),
    "add to a group of two axes": lambda x, v, w, i, k, n: T.inc_subtensor(w[i.reshape((2, 3))], w[:2].dimshuffle(0, "x", 1)),
    "add to pairs": lambda x, v, w, i, k, n: T.inc_subtensor(x[1:, i[:4], k], v[:4]),
    "set rows of another dtype": lambda x, v, w, i, k, n: T.set_subtensor(w[i], T.neq(v, 0)),
    "add numbers of another dtype": lambda x, v, w, i, k, n: T.inc_subtensor(w[1:], T.neq(v, 0)),
    "add a constant of another dtype": lambda x, v, w, i, k, n: T.inc_subtensor(w[i], np.bool_(True)),
    "a diagonal of another dtype": lambda x, v, w, i, k, n: T.fill_diagonal(w, T.neq(v[0], 0)),
    "alloc": lambda x, v, w, i, k, n: T.alloc(v, n, 3, 5),
    "alloc of nothing": lambda x, v, w, i, k, n: T.alloc(v, 0, 5),
    "alloc of a column": lambda x, v, w, i, k, n: T.alloc(w[:, 0].dimshuffle(0, "x"), 3, n),
    "tile": lambda x, v, w, i, k, n: T.tile(w, (2, 3)),
    "stretched": lambda x, v, w, i, k, n: T.patternbroadcast(x[:1], (True, False, False)) + T.zeros_like(x),
}
#: What has one dtype of its own.
CREATIONS = {
    "eye": lambda n: T.eye(n + 1, n + 3, -1, dtype="float32"),
    "eye beyond": lambda n: T.eye(n, n, 4, dtype="int8"),
    "zeros": lambda n: T.zeros((n, 3), dtype="float64"),
    "a number": lambda n: T.alloc(np.float32(2.5), n, n),
}
DTYPES = ["float64", "float32", "float16", "int8", "uint16", "int32", "int64", "bool", "complex64", "complex128"]
SIZES = {"x": (4, 3, 5), "v": (5,), "w": (3, 5)}


def values_of(dtype: str, seed: int = 0) -> list[Any]:
    """Return the arrays that the programs read."""
    rng = np.random.default_rng(seed)
    numbers = {name: rng.integers(0, 5, shape) for name, shape in SIZES.items()}
    given = [(a + 1j * a[::-1]) if dtype.startswith("complex") else a for a in numbers.values()]
    return [*(a.astype(dtype) for a in given), rng.integers(-3, 3, 6), rng.integers(-5, 5, 4), 2]


def program(name: str, dtype: str, there: Any) -> tuple[list[Any], Any]:
    """Return inputs and the result of a program; ``there`` puts a tensor on a device and says it came from there."""
    x, v, w = (T.TensorType(dtype, (False,) * len(shape))(key) for key, shape in SIZES.items())
    inputs = [x, v, w, T.lvector("i"), T.lvector("k"), T.lscalar("n")]
    return inputs, MOVES[name](*(there(u) for u in (x, v, w)), *inputs[3:])

