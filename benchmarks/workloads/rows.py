"""g. Rows of a matrix, softmax and cross entropy; pooling."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, normal, registry
from benchmarks.workloads.training import cross_entropy_by_hand

TABLE: dict[str, Workload] = {}
add = registry(TABLE)


def pooling_gradient(xp: Any, x: Any) -> Any:
    cost, (gx,) = xp.value_and_grad(lambda x: xp.sum(xp.max_pool2(x) ** 2), [x])
    return [cost, gx]


def in_windows(x: np.ndarray) -> np.ndarray:
    """Return images as windows of 2 x 2."""
    b, c, h, w = x.shape
    return x.reshape(b, c, h // 2, 2, w // 2, 2)


def pooling_gradient_by_hand(x: np.ndarray) -> list:
    windows = in_windows(x)
    m = windows.max((3, 5))
    g = (windows == m[:, :, :, None, :, None]) * (2 * m)[:, :, :, None, :, None]
    return [(m * m).sum(), g.reshape(x.shape)]


SHAPE = (32, 32, 28, 28)
IMAGES, PIXELS = normal(x=SHAPE), prod(SHAPE)
add("g_maxpool_fwd", IMAGES, lambda xp, x: [xp.max_pool2(x)], by_hand=lambda x: [in_windows(x).max((3, 5))], dtypes=("float32",),
    reads=PIXELS, writes=PIXELS / 4)  # fmt: skip
add("g_maxpool_fwdbwd", IMAGES, pooling_gradient, by_hand=pooling_gradient_by_hand, dtypes=("float32",), reads=PIXELS, writes=PIXELS,
    tolerance={"float32": 2e-3})  # fmt: skip


def entropy_gradient(xp: Any, x: Any, y: Any) -> Any:
    cost, (gx,) = xp.value_and_grad(lambda x: xp.cross_entropy(x, y), [x])
    return [cost, gx]


def scores(rows: int, classes: int) -> Any:
    """Return a maker of scores and labels."""
    return lambda rng: {"x": rng.standard_normal((rows, classes)), "y": rng.randint(0, classes, rows)}


add("g_softmax", normal(x=(128, 1000)), lambda xp, x: [xp.softmax(x)], dtypes=BOTH, reads=128e3, writes=128e3)
add("g_xent_fwdbwd", scores(128, 1000), entropy_gradient, by_hand=lambda x, y: [*cross_entropy_by_hand(x, y)], dtypes=BOTH,
    reads=128e3, writes=128e3)  # fmt: skip

# Others of the same kinds, so that nothing is tuned to those above.
for rows, classes in ((32, 10), (10000, 10), (1000, 100)):
    add(f"g_softmax_{rows}x{classes}", normal(x=(rows, classes)), lambda xp, x: [xp.softmax(x)], dtypes=BOTH, reads=rows * classes,
        writes=rows * classes)  # fmt: skip
add("g_log_softmax_1000x100", normal(x=(1000, 100)), lambda xp, x: [xp.log_softmax(x)], dtypes=BOTH, reads=1e5, writes=1e5)
for rows, classes in ((60, 10), (6000, 10), (64, 10000)):
    add(f"g_xent_{rows}x{classes}", scores(rows, classes), entropy_gradient, by_hand=lambda x, y: [*cross_entropy_by_hand(x, y)],
        dtypes=BOTH, reads=rows * classes, writes=rows * classes)  # fmt: skip
add("g_softmax_ax0", normal(x=(1000, 128)), lambda xp, x: [xp.softmax(x.T).T], dtypes=BOTH, reads=128e3, writes=128e3)
add("g_softmax_by_parts", normal(x=(256, 256)),
    lambda xp, x: [xp.exp(x - xp.max(x, 1)[:, None]) / xp.sum(xp.exp(x - xp.max(x, 1)[:, None]), 1)[:, None]], dtypes=BOTH, reads=256**2,
    writes=256**2)  # fmt: skip
