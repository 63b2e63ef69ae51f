"""o. On a device: rows large enough for a card, and some so small that only asking for them costs anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workload import SAMPLED, Arrays, Workload, normal, registry
from benchmarks.workloads import loops, networks
from benchmarks.workloads.training import descent

TABLE: dict[str, Workload] = {}
_add = registry(TABLE)
N = 8192
ALL = float(N * N)
LOOSE = {"float32": 1e-3}


def add(name: str, inputs: Callable, body: Callable, **rest: Any) -> None:
    """Add a workload, of float32 if nothing else is said."""
    _add(f"o_{name}", inputs, body, **{"dtypes": ("float32",), **rest})


DRAWN = 2**20  # numbers of which arrays are made


def windows(**shapes: tuple[int, ...]) -> Callable[[np.random.RandomState], Arrays]:
    """Return a maker of arrays of which rows are windows of one random vector.

    To draw 67 million numbers takes seconds, and each process needs its own. The mean is not 0, so that no sum is
    nothing but rounding.
    """

    def window(vector: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        rows, columns = int(np.prod(shape[:-1])), shape[-1]
        apart = max(1, (DRAWN - columns) // rows) * vector.itemsize
        found = np.lib.stride_tricks.as_strided(vector, (rows, columns), (apart, vector.itemsize))
        return found.reshape(shape) if len(shape) != 2 else found

    return lambda rng: {name: window(rng.standard_normal(DRAWN) + 0.5, shape) for name, shape in shapes.items()}


def rows_of(*names: str) -> Callable[[Arrays], Arrays]:
    """Return what keeps every `SAMPLED`-th row of some arrays, and all of the others."""
    return lambda arrays: {name: v[::SAMPLED] if name in names else v for name, v in arrays.items()}


def columns_of(name: str) -> Callable[[Arrays], Arrays]:
    """Return what keeps the columns of one array that become rows, and rows of the others."""
    return lambda arrays: {k: v[:, ::SAMPLED] if k == name else v[::SAMPLED] for k, v in arrays.items()}


# -- element by element ------------------------------------------------------------------------------------------------


def chain(xp: Any, x: Any, y: Any) -> list:
    for k in range(5):
        x = x * y + (0.1 * k - 0.3)
    return [x]


X, XY = windows(x=(N, N)), windows(x=(N, N), y=(N, N))
add("scale", X, lambda xp, x: [x * 2], dtypes=("float32", "float16"), reads=ALL, writes=ALL, sample=rows_of("x"))
add("exp_fused", XY, lambda xp, x, y: [xp.exp(x) * y + 1], reads=2 * ALL, writes=ALL, sample=rows_of("x", "y"))
add("chain10", XY, chain, reads=2 * ALL, writes=ALL, sample=rows_of("x", "y"))
add("add_row", windows(x=(N, N), v=(N,)), lambda xp, x, v: [x + v], reads=ALL, writes=ALL, sample=rows_of("x"))
add("add_column", windows(x=(N, N), v=(N, 1)), lambda xp, x, v: [x + v], reads=ALL, writes=ALL, sample=rows_of("x", "v"),
    stretched=True)  # fmt: skip
add("add_transposed", XY, lambda xp, x, y: [x + y.T], reads=2 * ALL, writes=ALL, sample=columns_of("y"))

# -- reductions, and rows ----------------------------------------------------------------------------------------------


def reduction(name: str, body: Callable, inputs: Callable = X, **rest: Any) -> None:
    """Add a workload that reads as many numbers and writes few."""
    add(name, inputs, body, **{"reads": ALL, "tolerance": LOOSE, **rest})


reduction("sum", lambda xp, x: [xp.sum(x)])
reduction("sum_ax0", lambda xp, x: [xp.sum(x, 0)])
reduction("sum_ax1", lambda xp, x: [xp.sum(x, 1)], sample=rows_of("x"))
for axis in (0, 1):
    reduction(f"sum_narrow_ax{axis}", lambda xp, x, axis=axis: [xp.sum(x, axis)], windows(x=(524288, 128)))
reduction("sum_mid", lambda xp, x: [xp.sum(x, 1)], windows(x=(512, 512, 256)))
reduction("max", lambda xp, x: [xp.max(x)])
reduction("argmax_ax1", lambda xp, x: [xp.argmax(x, 1)], sample=rows_of("x"))
reduction("var_ax1", lambda xp, x: [xp.var(x, 1)], sample=rows_of("x"))
reduction("sum_exp", lambda xp, x: [xp.sum(xp.exp(x))], dtypes=("float32", "float64"))
reduction("logsumexp_ax1", lambda xp, x: [xp.logsumexp(x, 1)], sample=rows_of("x"))
reduction("softmax", lambda xp, x: [xp.softmax(x)], writes=ALL, sample=rows_of("x"))
reduction("log_softmax", lambda xp, x: [xp.log_softmax(x)], writes=ALL, sample=rows_of("x"))

# -- numbers that move -------------------------------------------------------------------------------------------------

add("take_rows", lambda rng: {**X(rng), "i": rng.permutation(N)}, lambda xp, x, i: [xp.take(x, i)], reads=ALL, writes=ALL,
    sample=rows_of("i"))  # fmt: skip
add("transpose", X, lambda xp, x: [xp.contiguous(x.T)], reads=ALL, writes=ALL, sample=columns_of("x"))
LONG = 2**24
add("cumsum", lambda rng: {"x": np.resize(rng.standard_normal(DRAWN) + 0.5, LONG)}, lambda xp, x: [xp.cumsum(x)], reads=LONG, writes=LONG,
    tolerance=LOOSE)  # fmt: skip

# -- products ----------------------------------------------------------------------------------------------------------

for n in (512, 1024, 4096):
    add(f"dot_{n}", windows(x=(n, n), y=(n, n)), lambda xp, x, y: [xp.dot(x, y)], dtypes=("float32", "float64")[: 1 + (n == 4096)],
        flops=2 * n**3, tolerance=LOOSE)  # fmt: skip
add("batched_dot", windows(x=(64, 512, 512), y=(64, 512, 512)), lambda xp, x, y: [xp.batched_dot(x, y)], flops=64 * 2 * 512**3,
    tolerance=LOOSE)  # fmt: skip

# -- what a launch costs -----------------------------------------------------------------------------------------------


def products_in_turn(xp: Any, h: Any, w: Any) -> list:
    for _ in range(10):
        h = xp.tanh(xp.dot(h, w))
    return [h]


add("tiny_add", normal(x=10), lambda xp, x: [x + 1])
add("tiny_chain", lambda rng: {name: v / 8 for name, v in normal(h=(64, 64), w=(64, 64))(rng).items()}, products_in_turn)

# -- training ----------------------------------------------------------------------------------------------------------

add("mlp_b600", **descent((784, 500, 10), 600))
add("mlp_b4096", **descent((1024, 2048, 2048, 1000), 4096, scale=0.03), tolerance=LOOSE)
add("lenet_b512", lambda rng: networks.digits(rng, 512), networks.lenet, by_hand=networks.lenet_by_hand, state=networks.STATE,
    flops=3 * 16 * networks.OF_LENET, tolerance=LOOSE)  # fmt: skip
add("residual_fwdbwd", lambda rng: networks.block(rng, 32, 56), networks.block_gradient, by_hand=networks.block_gradient_by_hand,
    flops=3 * 16 * networks.OF_BLOCK, tolerance=LOOSE, jumps=True)  # fmt: skip
add("lstm_step", loops.lstm_inputs(50, 64, 64, 256), loops.lstm_training(256), state=("w", "u", "b"), by_hand=loops.lstm_by_hand,
    flops=3 * 50 * 2 * 64 * (64 + 256) * 4 * 256, tolerance=LOOSE)  # fmt: skip
