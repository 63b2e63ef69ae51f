"""f. and g. Convolution, pooling, softmax and cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, normal, registry
from benchmarks.workloads.training import cross_entropy_by_hand

TABLE: dict[str, Workload] = {}
add = registry(TABLE)


def convolved(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the valid cross-correlation of images with filters, and the windows that it saw."""
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.ascontiguousarray(np.tensordot(windows, w, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)), windows


def convolution_gradient(xp: Any, x: Any, w: Any) -> Any:
    cost, (gx, gw) = xp.value_and_grad(lambda x, w: 0.5 * xp.sum(xp.conv2d(x, w) ** 2), [x, w])
    return [cost, gx, gw]


def convolution_gradient_by_hand(x: np.ndarray, w: np.ndarray) -> list:
    out, windows = convolved(x, w)
    gw = np.tensordot(out, windows, ((0, 2, 3), (0, 2, 3)))
    gx = np.zeros_like(x)
    rows, columns = out.shape[2:]
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            part = np.tensordot(out, w[:, :, i, j], ((1,), (0,))).transpose(0, 3, 1, 2)
            gx[:, :, i : i + rows, j : j + columns] += part
    return [0.5 * (out * out).sum(), gx, gw]


CONVOLUTIONS = {"lenet": (32, 3, 32, 5, 32), "c64": (8, 64, 64, 3, 56), "pixels": (8, 128, 128, 1, 28)}
for label, (batch, channels, filters, k, size) in CONVOLUTIONS.items():
    inputs = normal(x=(batch, channels, size, size), w=(filters, channels, k, k))
    work = 2 * batch * channels * filters * k * k * (size - k + 1) ** 2
    dtypes = BOTH if label == "lenet" else ("float32",)
    add(f"f_conv_{label}_fwd", inputs, lambda xp, x, w: [xp.conv2d(x, w)], by_hand=lambda x, w: [convolved(x, w)[0]],
        dtypes=dtypes, flops=work, tolerance={"float32": 1e-3})  # fmt: skip
    add(f"f_conv_{label}_fwdbwd", inputs, convolution_gradient, by_hand=convolution_gradient_by_hand, dtypes=dtypes,
        flops=3 * work, tolerance={"float32": 2e-3})  # fmt: skip


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


IMAGES = normal(x=(32, 32, 28, 28))
add("g_maxpool_fwd", IMAGES, lambda xp, x: [xp.max_pool2(x)], by_hand=lambda x: [in_windows(x).max((3, 5))], dtypes=("float32",))
add("g_maxpool_fwdbwd", IMAGES, pooling_gradient, by_hand=pooling_gradient_by_hand, dtypes=("float32",),
    tolerance={"float32": 2e-3})  # fmt: skip


def entropy_gradient(xp: Any, x: Any, y: Any) -> Any:
    cost, (gx,) = xp.value_and_grad(lambda x: xp.cross_entropy(x, y), [x])
    return [cost, gx]


def scores(rows: int, classes: int) -> Any:
    """Return a maker of scores and labels."""
    return lambda rng: {"x": rng.standard_normal((rows, classes)), "y": rng.randint(0, classes, rows)}


add("g_softmax", normal(x=(128, 1000)), lambda xp, x: [xp.softmax(x)], dtypes=BOTH)
add("g_xent_fwdbwd", scores(128, 1000), entropy_gradient, by_hand=lambda x, y: [*cross_entropy_by_hand(x, y)], dtypes=BOTH)

# Others of the same kinds, so that nothing is tuned to those above.
for rows, classes in ((32, 10), (10000, 10), (1000, 100)):
    add(f"g_softmax_{rows}x{classes}", normal(x=(rows, classes)), lambda xp, x: [xp.softmax(x)], dtypes=BOTH)
add("g_log_softmax_1000x100", normal(x=(1000, 100)), lambda xp, x: [xp.log_softmax(x)], dtypes=BOTH)
for rows, classes in ((60, 10), (6000, 10), (64, 10000)):
    add(f"g_xent_{rows}x{classes}", scores(rows, classes), entropy_gradient, by_hand=lambda x, y: [*cross_entropy_by_hand(x, y)],
        dtypes=BOTH)  # fmt: skip
add("g_softmax_ax0", normal(x=(1000, 128)), lambda xp, x: [xp.softmax(x.T).T], dtypes=BOTH)
add("g_softmax_by_parts", normal(x=(256, 256)),
    lambda xp, x: [xp.exp(x - xp.max(x, 1)[:, None]) / xp.sum(xp.exp(x - xp.max(x, 1)[:, None]), 1)[:, None]], dtypes=BOTH)  # fmt: skip
