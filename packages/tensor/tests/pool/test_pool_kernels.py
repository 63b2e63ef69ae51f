"""Compiled pooling against NumPy's form (``perform``), over windows that are drawn at random.

``SIZES=sweep`` (``nox -s sweep``) draws a hundred times as many.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.pool.op import AveragePoolGrad, DownsampleFactorMaxGradGrad, MaxPoolGrad, MaxPoolRop, Pool

COUNT = 30_000 if os.environ.get("SIZES") == "sweep" else 300
PARTS = 6


@cache
def compiled(op, dtype, ndim, linker):
    arrays = [T.TensorType(dtype, (False,) * ndim)() for _ in op.arrays]
    sizes = [T.lvector() for _ in range(3)]
    return theano.function([*arrays, *sizes], op(*arrays, *sizes), mode=theano.Mode(linker, None))


def agree(op, *given):
    """Return what NumPy computes, having seen that C computes the same."""
    x = given[0]
    expected, found = (compiled(op, x.dtype.name, x.ndim, linker)(*given) for linker in ("py", "vm"))
    assert found.dtype == expected.dtype and found.shape == expected.shape
    close = 1e-5 if x.dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, expected, close, close, err_msg=f"{op} of {x.shape} by {given[-3:]}")
    return expected


def drawn(rng):
    """Return what is pooled, and an op with its sizes."""
    nd, kept, ignore_border = int(rng.integers(1, 4)), int(rng.integers(0, 3)), bool(rng.integers(2))
    ws, stride = rng.integers(1, 5, nd), rng.integers(1, 5, nd)
    mode = str(rng.choice(["max", "sum", "average_inc_pad", "average_exc_pad"]))
    most = ws + 4 * (mode in ("sum", "average_inc_pad") and rng.random() < 0.3)
    pad = rng.integers(0, most) if ignore_border else np.zeros(nd, int)
    least = 0 if rng.random() < 0.1 else 1
    shape = (*rng.integers(1, 4, kept), *rng.integers(least, 12 if nd > 1 else 70, nd))
    x = (rng.integers(-3, 4, shape) if rng.random() < 0.5 else rng.normal(size=shape)).astype(
        rng.choice(["float32", "float64"])
    )
    if x.size and rng.random() < 0.2:
        x.flat[rng.integers(x.size)] = np.nan
    if rng.random() < 0.3:
        x = np.asfortranarray(x)
    return x, Pool(ignore_border, mode, nd), (ws, stride, pad)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_c_against_numpy(part):
    rng = np.random.default_rng(part)
    for _ in range(COUNT // PARTS):
        x, op, sizes = drawn(rng)
        y = agree(op, x, *sizes)
        g, direction = (rng.normal(size=like.shape).astype(x.dtype) for like in (y, x))
        if op.mode == "max":
            agree(MaxPoolGrad(op.ignore_border, op.ndim), x, y, g, *sizes)
            agree(DownsampleFactorMaxGradGrad(op.ignore_border, "max", op.ndim), x, y, direction, *sizes)
            agree(MaxPoolRop(op.ignore_border, "max", op.ndim), x, direction, *sizes)
        else:
            agree(AveragePoolGrad(op.ignore_border, op.mode, op.ndim), x, g, *sizes)


@pytest.mark.parametrize("mode", ["max", "sum", "average_exc_pad"])
def test_threads_change_nothing(mode):
    """Planes are shared out among threads; each is computed as before."""
    x, g = np.random.default_rng(0).normal(size=(2, 40, 6, 64, 33)).astype("float32")[:, :, 0]
    v, w = T.ftensor3(), T.ftensor3()
    y = Pool(True, mode)(v, (3, 2), (2, 2), (1, 0))
    f = theano.function([v, w], [y, T.Lop(y, v, w)])
    w_value = np.resize(g, (40, 32, 16))
    whole = f(x, w_value)
    one_by_one = [f(x[i : i + 1], w_value[i : i + 1]) for i in range(40)]
    for k in range(2):
        np.testing.assert_array_equal(whole[k], np.concatenate([each[k] for each in one_by_one]))
