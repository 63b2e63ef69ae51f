"""f. Convolution, normalisation, and the networks that consist of them; images are (batch, channels, rows, columns)."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, normal, registry
from benchmarks.workloads.training import cross_entropy_by_hand

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
ONLY32 = ("float32",)
RATE, EPSILON = 0.01, 1e-4

# -- by hand -----------------------------------------------------------------------------------------------------------


def convolved(x: np.ndarray, w: np.ndarray, pad: int = 0, groups: int = 1) -> tuple[np.ndarray, Callable]:
    """Return the cross-correlation of images with filters, and what makes both gradients of that of the result."""
    batch, channels, rows, columns = x.shape
    filters, per_group, height, width = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad))).reshape(batch, groups, per_group, rows + 2 * pad, columns + 2 * pad)
    parts = w.reshape(groups, filters // groups, per_group, height, width)
    places = (padded.shape[-2] - height + 1, padded.shape[-1] - width + 1)

    def met(a: np.ndarray, i: int, j: int) -> np.ndarray:
        return a[..., i : i + places[0], j : j + places[1]].reshape(batch, groups, per_group, -1)

    elements = [(i, j) for i in range(height) for j in range(width)]
    out = sum(parts[:, :, :, i, j] @ met(padded, i, j) for i, j in elements)

    def gradients(top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        top = top.reshape(out.shape)
        gx, gw = np.zeros_like(padded), np.zeros_like(parts)
        for i, j in elements:
            gw[:, :, :, i, j] = (top @ met(padded, i, j).swapaxes(2, 3)).sum(0)
            part = parts[:, :, :, i, j].swapaxes(1, 2) @ top
            gx[..., i : i + places[0], j : j + places[1]] += part.reshape(batch, groups, per_group, *places)
        gx = gx.reshape(batch, channels, rows + 2 * pad, columns + 2 * pad)
        return gx[:, :, pad : pad + rows, pad : pad + columns], gw.reshape(w.shape)

    return out.reshape(batch, filters, *places), gradients


def pooled(x: np.ndarray) -> tuple[np.ndarray, Callable]:
    """Return the maxima of windows of 2 x 2, and what makes the gradient."""
    b, c, h, w = x.shape
    windows = x.reshape(b, c, h // 2, 2, w // 2, 2)
    m = windows.max((3, 5))
    return m, lambda top: ((windows == m[:, :, :, None, :, None]) * top[:, :, :, None, :, None]).reshape(x.shape)


def normalised(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, Callable]:
    """Return images with mean beta and deviation gamma in each channel, and what makes the three gradients."""
    axes = (0, 2, 3)

    def wide(v: np.ndarray) -> np.ndarray:
        return v[None, :, None, None]

    inverse = 1 / np.sqrt(x.var(axes) + EPSILON)
    z = (x - wide(x.mean(axes))) * wide(inverse)

    def gradients(top: np.ndarray) -> tuple[np.ndarray, ...]:
        along_z, along_1 = (top * z).mean(axes), top.mean(axes)
        gx = (top - wide(along_1) - z * wide(along_z)) * wide(gamma * inverse)
        count = x.size // x.shape[1]
        return gx, along_z * count, along_1 * count

    return z * wide(gamma) + wide(beta), gradients


# -- one layer ---------------------------------------------------------------------------------------------------------


def convolution(label: str, batch: int, channels: int, filters: int, k: int | tuple[int, int], size: int | tuple[int, int], *,
                pad: int = 0, groups: int = 1, dtypes: tuple[str, ...] = ONLY32) -> None:  # fmt: skip
    """Add a convolution, and its cost ``0.5 sum(out**2)`` with both gradients; one length is that of rows and columns."""
    kernel, image = ((n, n) if isinstance(n, int) else n for n in (k, size))
    inputs = normal(x=(batch, channels, *image), w=(filters, channels // groups, *kernel))
    places = [n + 2 * pad - m + 1 for n, m in zip(image, kernel, strict=True)]
    work = 2 * batch * channels // groups * filters * prod(kernel) * prod(places)

    def gradient(xp: Any, x: Any, w: Any) -> list:
        cost, slopes = xp.value_and_grad(lambda x, w: 0.5 * xp.sum(xp.conv2d(x, w, pad, groups) ** 2), [x, w])
        return [cost, *slopes]

    def gradient_by_hand(x: np.ndarray, w: np.ndarray) -> list:
        out, gradients = convolved(x, w, pad, groups)
        return [0.5 * (out * out).sum(), *gradients(out)]

    add(f"f_conv_{label}_fwd", inputs, lambda xp, x, w: [xp.conv2d(x, w, pad, groups)],
        by_hand=lambda x, w: [convolved(x, w, pad, groups)[0]], dtypes=dtypes, flops=work, tolerance={"float32": 1e-3})  # fmt: skip
    add(f"f_conv_{label}_fwdbwd", inputs, gradient, by_hand=gradient_by_hand, dtypes=dtypes, flops=3 * work,
        tolerance={"float32": 2e-3})  # fmt: skip


convolution("lenet", 32, 3, 32, 5, 32, dtypes=BOTH)
convolution("c64", 8, 64, 64, 3, 56)
convolution("pixels", 8, 128, 128, 1, 28, dtypes=BOTH)
convolution("lenet_padded", 32, 3, 32, 5, 32, pad=2, dtypes=BOTH)
convolution("c64_padded", 8, 64, 64, 3, 56, pad=1, dtypes=BOTH)
convolution("words", 50, 1, 100, (3, 300), (64, 300), dtypes=BOTH)
convolution("lines", 8, 32, 64, (40, 1), (40, 64))
convolution("depthwise", 8, 128, 128, 3, 28, pad=1, groups=128, dtypes=BOTH)


def squares(xp: Any, layer: Callable, *values: Any) -> list:
    cost, slopes = xp.value_and_grad(lambda *values: 0.5 * xp.sum(layer(*values) ** 2), list(values))
    return [cost, *slopes]


def squares_by_hand(out: np.ndarray, gradients: Callable) -> list:
    slopes = gradients(out)
    return [0.5 * (out * out).sum(), *(slopes if isinstance(slopes, tuple) else (slopes,))]


IMAGES = {"x": (32, 64, 28, 28)}
PIXELS = prod(IMAGES["x"])
CHANNELS = {"gamma": 64, "beta": 64}
add("f_pool_fwd", normal(**IMAGES), lambda xp, x: [xp.max_pool2(x)], by_hand=lambda x: [pooled(x)[0]], dtypes=ONLY32,
    reads=PIXELS, writes=PIXELS / 4)  # fmt: skip
add("f_pool_fwdbwd", normal(**IMAGES), lambda xp, x: squares(xp, xp.max_pool2, x),
    by_hand=lambda x: squares_by_hand(*pooled(x)), dtypes=ONLY32, reads=PIXELS, writes=PIXELS, tolerance={"float32": 2e-3})  # fmt: skip
add("f_batch_norm_fwd", normal(**IMAGES, **CHANNELS), lambda xp, x, gamma, beta: [xp.batch_norm(x, gamma, beta)],
    by_hand=lambda x, gamma, beta: [normalised(x, gamma, beta)[0]], dtypes=ONLY32, reads=PIXELS, writes=PIXELS)  # fmt: skip
add("f_batch_norm_fwdbwd", normal(**IMAGES, **CHANNELS),
    lambda xp, x, gamma, beta: squares(xp, lambda *v: xp.batch_norm(*v) - 0.5 * v[0], x, gamma, beta),
    by_hand=lambda x, gamma, beta: _less_half_by_hand(x, *normalised(x, gamma, beta)), dtypes=ONLY32, reads=PIXELS, writes=PIXELS,
    tolerance={"float32": 2e-3})  # fmt: skip


def _less_half_by_hand(x: np.ndarray, out: np.ndarray, gradients: Callable) -> list:
    """Without something that depends on the images the gradient by them would be nearly 0."""
    out = out - 0.5 * x
    gx, *others = gradients(out)
    return [0.5 * (out * out).sum(), gx - 0.5 * out, *others]


# -- networks ----------------------------------------------------------------------------------------------------------


def residual(xp: Any, x: Any, w0: Any, gamma0: Any, beta0: Any, w1: Any, gamma1: Any, beta1: Any) -> Any:
    h = xp.relu(xp.batch_norm(xp.conv2d(x, w0, 1), gamma0, beta0))
    return xp.relu(xp.batch_norm(xp.conv2d(h, w1, 1), gamma1, beta1) + x)


def residual_by_hand(x: Any, w0: Any, gamma0: Any, beta0: Any, w1: Any, gamma1: Any, beta1: Any) -> tuple[np.ndarray, Callable]:
    z0, back_conv0 = convolved(x, w0, 1)
    n0, back_norm0 = normalised(z0, gamma0, beta0)
    z1, back_conv1 = convolved(np.maximum(n0, 0), w1, 1)
    n1, back_norm1 = normalised(z1, gamma1, beta1)
    out = np.maximum(n1 + x, 0)

    def gradients(top: np.ndarray) -> tuple[np.ndarray, ...]:
        top = top * (out > 0)
        g1, ggamma1, gbeta1 = back_norm1(top)
        gh, gw1 = back_conv1(g1)
        g0, ggamma0, gbeta0 = back_norm0(gh * (n0 > 0))
        gx, gw0 = back_conv0(g0)
        return gx + top, gw0, ggamma0, gbeta0, gw1, ggamma1, gbeta1

    return out, gradients


def block(rng: np.random.RandomState, batch: int = 8, size: int = 28) -> dict[str, np.ndarray]:
    made = {"x": rng.standard_normal((batch, 64, size, size))}
    for i in range(2):
        made[f"w{i}"] = rng.standard_normal((64, 64, 3, 3)) / 24
        made[f"gamma{i}"], made[f"beta{i}"] = 1 + 0.1 * rng.standard_normal(64), 0.1 * rng.standard_normal(64)
    return made


def block_gradient(xp: Any, **v: Any) -> list:
    return squares(xp, lambda *values: residual(xp, *values), *v.values())


def block_gradient_by_hand(**v: Any) -> list:
    return squares_by_hand(*residual_by_hand(**v))


OF_BLOCK = 2 * 2 * 8 * 64 * 64 * 9 * 28 * 28
add("f_residual_fwd", block, lambda xp, **v: [residual(xp, **v)], by_hand=lambda **v: [residual_by_hand(**v)[0]],
    dtypes=ONLY32, flops=OF_BLOCK)  # fmt: skip
add("f_residual_fwdbwd", block, block_gradient, by_hand=block_gradient_by_hand, dtypes=ONLY32, flops=3 * OF_BLOCK,
    tolerance={"float32": 1e-2})  # fmt: skip

#: LeNet on images of 28 x 28: filters of both convolutions, units of the hidden layer, classes.
LENET = (20, 50, 500, 10)


def digits(rng: np.random.RandomState, batch: int = 32) -> dict[str, np.ndarray]:
    first, second, hidden, classes = LENET
    shapes = {"w0": (first, 1, 5, 5), "w1": (second, first, 5, 5), "w2": (second * 16, hidden), "w3": (hidden, classes)}
    made: dict[str, np.ndarray] = {"x": rng.standard_normal((batch, 1, 28, 28)), "y": rng.randint(0, classes, batch)}
    for i, (name, shape) in enumerate(shapes.items()):
        made[name] = rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) if len(shape) == 4 else shape[0])
        made[f"b{i}"] = 0.1 * rng.standard_normal(LENET[i])
    return made


def lenet(xp: Any, x: Any, y: Any, **params: Any) -> Any:
    names = list(params)

    def cost(*values: Any) -> Any:
        p, h = dict(zip(names, values)), x
        for i in range(2):
            h = xp.max_pool2(xp.relu(xp.conv2d(h, p[f"w{i}"]) + xp.reshape(p[f"b{i}"], (1, LENET[i], 1, 1))))
        h = xp.relu(xp.dot(xp.reshape(h, (h.shape[0], LENET[1] * 16)), p["w2"]) + p["b2"])
        return xp.cross_entropy(xp.dot(h, p["w3"]) + p["b3"], y)

    value, gradients = xp.value_and_grad(cost, list(params.values()))
    return [value], {name: params[name] - RATE * g for name, g in zip(names, gradients)}


def lenet_by_hand(x: Any, y: Any, **p: Any) -> Any:
    h, back = x, []
    for i in range(2):
        z, gradients = convolved(h, p[f"w{i}"])
        z = z + p[f"b{i}"][:, None, None]
        h, unpool = pooled(np.maximum(z, 0))
        back.append((z, gradients, unpool))
    flat = h.reshape(len(x), -1)
    z2 = flat @ p["w2"] + p["b2"]
    hidden = np.maximum(z2, 0)
    cost, d = cross_entropy_by_hand(hidden @ p["w3"] + p["b3"], y)
    slopes = {"w3": hidden.T @ d, "b3": d.sum(0)}
    d = (d @ p["w3"].T) * (z2 > 0)
    slopes |= {"w2": flat.T @ d, "b2": d.sum(0)}
    top = (d @ p["w2"].T).reshape(h.shape)
    for i in (1, 0):
        z, gradients, unpool = back[i]
        top = unpool(top) * (z > 0)
        slopes[f"b{i}"] = top.sum((0, 2, 3))
        top, slopes[f"w{i}"] = gradients(top)
    return [cost], {name: p[name] - RATE * slopes[name] for name in p}


STATE = tuple(f"{kind}{i}" for i in range(4) for kind in "wb")
OF_LENET = 2 * 32 * (20 * 25 * 24 * 24 + 20 * 50 * 25 * 64 + 800 * 500 + 5000)
add("f_lenet_step", digits, lenet, by_hand=lenet_by_hand, state=STATE, dtypes=BOTH, flops=3 * OF_LENET,
    tolerance={"float32": 1e-3}, compiled=True)  # fmt: skip
