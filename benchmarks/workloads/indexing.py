"""i. Indexing: gathers, scatters, slices, joins."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, normal, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
WORDS, PICKED, WIDTH = 10000, 512, 128


def embedding(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    made = normal(v=(PICKED, WIDTH), x=(WORDS, WIDTH))(rng)
    return {**made, "index": rng.randint(0, 400, PICKED)}


def embedding_once(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    return {**embedding(rng), "index": rng.permutation(WORDS)[:PICKED]}


def add_rows_by_hand(v: np.ndarray, index: np.ndarray, x: np.ndarray) -> Any:
    np.add.at(x, index, 0.01 * v)
    return [], {"x": x}


def set_rows_by_hand(v: np.ndarray, index: np.ndarray, x: np.ndarray) -> Any:
    x[index] = v
    return [], {"x": x}


def without(name: str, make: Any) -> Any:
    """Return a maker of all but one array."""
    return lambda rng: {k: v for k, v in make(rng).items() if k != name}


add("i_gather_512x128", without("v", embedding), lambda xp, index, x: [xp.take(x, index)], dtypes=BOTH,
    reads=PICKED * WIDTH, writes=PICKED * WIDTH)  # fmt: skip
add("i_gather_1e6", lambda rng: {"index": rng.randint(0, 10**6, 10**6), "x": rng.standard_normal(10**6)},
    lambda xp, index, x: [xp.take(x, index)], reads=2e6, writes=1e6)  # fmt: skip
add("i_emb_inc_update", embedding, lambda xp, v, index, x: ([], {"x": xp.add_rows(x, index, 0.01 * v)}), by_hand=add_rows_by_hand,
    state=("x",), dtypes=BOTH, reads=2 * PICKED * WIDTH, writes=PICKED * WIDTH)  # fmt: skip
add("i_emb_set_update", embedding_once, lambda xp, v, index, x: ([], {"x": xp.set_rows(x, index, v)}), by_hand=set_rows_by_hand,
    state=("x",), reads=PICKED * WIDTH, writes=PICKED * WIDTH)  # fmt: skip
# All lines of memory of a row are read.
add("i_slice_stride", normal(x=(2000, 2000)), lambda xp, x: [x[10:1990:2, 5:1995:3] * 2.0], reads=990 * 1990, writes=990 * 664)

# Others of the same kinds, so that nothing is tuned to those above.


def pairs(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    return {"x": rng.standard_normal((1000, 1000)), "i": rng.randint(0, 1000, 10000), "j": rng.randint(0, 1000, 10000)}


def gather_gradient(xp: Any, index: Any, x: Any) -> list:
    cost, (g,) = xp.value_and_grad(lambda x: xp.sum(xp.take(x, index) ** 2), [x])
    return [cost, g]


def gather_gradient_by_hand(index: np.ndarray, x: np.ndarray) -> list:
    g = np.zeros_like(x)
    np.add.at(g, index, 2 * x[index])
    return [(x[index] ** 2).sum(), g]


add("i_pairs_1e4", pairs, lambda xp, x, i, j: [x[i, j]], dtypes=BOTH, reads=3e4, writes=1e4)
add("i_gather_small", lambda rng: {"index": rng.randint(0, 50, 20), "x": rng.standard_normal((50, 8))},
    lambda xp, index, x: [xp.take(x, index)], dtypes=BOTH)  # fmt: skip
add("i_gather_grad", lambda rng: {"index": rng.randint(0, 1000, 2000), "x": rng.standard_normal((1000, 32))}, gather_gradient,
    by_hand=gather_gradient_by_hand, dtypes=BOTH)  # fmt: skip
add("i_gather_fused", without("v", embedding), lambda xp, index, x: [xp.sum(xp.take(x, index) * 2 + 1, 1)],
    reads=PICKED * WIDTH)  # fmt: skip
add("i_slice_rows", normal(x=(2000, 500)), lambda xp, x: [x[100:1900] + 1.0], dtypes=BOTH, reads=9e5, writes=9e5)
add("i_differences", normal(x=10**6), lambda xp, x: [x[1:] - x[:-1]], dtypes=BOTH, reads=1e6, writes=1e6)
add("i_concat_rows", normal(x=(500, 1000), y=(500, 1000)), lambda xp, x, y: [xp.concatenate([x, y], 0)], dtypes=BOTH, reads=1e6,
    writes=1e6)  # fmt: skip
add("i_concat_columns", normal(x=(1000, 300), y=(1000, 700)), lambda xp, x, y: [xp.concatenate([x, y], 1)], dtypes=BOTH,
    reads=1e6, writes=1e6)  # fmt: skip
add("i_stack_three", normal(x=10**5, y=10**5, z=10**5), lambda xp, x, y, z: [xp.stack([x, y, z])], reads=3e5, writes=3e5)
add("i_set_block", normal(x=(1000, 1000), v=(500, 500)), lambda xp, x, v: [xp.set_block(x, (250, 750), v)], reads=1e6,
    writes=1e6)  # fmt: skip
# Reshaped, so that everybody has to turn the matrix around: of the next row, NumPy and PyTensor keep the order of axes in
# memory and read and write neighbours only.
add("i_transpose_copy", normal(x=(1000, 1000)), lambda xp, x: [xp.reshape(x.T, (10**6,))], dtypes=BOTH, reads=1e6,
    writes=1e6)  # fmt: skip
add("i_transpose_scaled", normal(x=(1000, 1000)), lambda xp, x: [x.T * 1.5], dtypes=BOTH, reads=1e6, writes=1e6)
add("i_reshape_sum", normal(x=10**6), lambda xp, x: [xp.sum(xp.reshape(x, (1000, 1000)), 0)], reads=1e6)

# Order.


def sorted_and_sought(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    return {"x": np.sort(rng.standard_normal(10**5)), "v": rng.standard_normal(10**5)}


add("i_sort_1e6", normal(x=10**6), lambda xp, x: [xp.sort(x)], dtypes=BOTH)
add("i_sort_rows", normal(x=(1000, 1000)), lambda xp, x: [xp.sort(x)], dtypes=BOTH)
add("i_argsort_1e5", normal(x=10**5), lambda xp, x: [xp.argsort(x)])
add("i_largest_10", normal(x=10**6), lambda xp, x: [xp.largest(x, 10)], dtypes=BOTH, reads=1e6)
add("i_largest_1000", normal(x=10**5), lambda xp, x: [xp.largest(x, 1000)])
add("i_searchsorted", sorted_and_sought, lambda xp, x, v: [xp.searchsorted(x, v)], dtypes=BOTH)
add("i_where_true", normal(x=10**6), lambda xp, x: [xp.where_true(x, x > 0)], reads=1e6, writes=5e5)
