"""Filters of 3 x 3 with fewer multiplications: the same as with more of them, but for how it is rounded."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from arrays import lay

import theano
import theano.tensor as T
from portion import portion
from theano.tensor.conv.op import AbstractConv2d

#: Relative to the largest of all results, measured: 2e-6 and 3e-15.
ROUNDING = {"float32": 2e-5, "float64": 3e-14}
DIRECT = {"conv.winograd": False}


def products(dtype: str = "float64", mode: Any = None, **geometry: Any) -> Any:
    """Return a function of images, filters and the gradient of results: results and both gradients."""
    kind = T.TensorType(dtype, (False,) * 4)
    x, w, g = kind("x"), kind("w"), kind("g")
    y = AbstractConv2d(**geometry)(x, w)
    return theano.function([x, w, g], [y, *T.grad(None, [x, w], known_grads={y: g})], mode=mode)


def both(dtype: str = "float64", **geometry: Any) -> tuple[Any, Any]:
    """Return it with fewer multiplications and with more."""
    fewer = products(dtype, **geometry)
    with theano.config.change_flags(**DIRECT):
        return fewer, products(dtype, **geometry)


def arrays(op: Any, x: tuple[int, ...], w: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = (x, w, (x[0], w[0], *op.geometry.output(x[2:], w[2:])))
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize(("border", "flip", "groups"), portion(itertools.product(
    ("valid", "full", "half", (2, 0), ((0, 1), (2, 1))), (True, False), (1, 2)), always=0), ids=str)  # fmt: skip
def test_values_and_gradients(border: Any, flip: bool, groups: int, dtype: str) -> None:
    """Numbers of channels and filters on both sides of those of a vector and of a tile; odd and even edges."""
    how = {"border_mode": border, "filter_flip": flip, "num_groups": groups}
    op, (fewer, more), otherwise = AbstractConv2d(**how), both(dtype, **how), [0, 0, 0]
    rng = np.random.default_rng(len(str(how)))
    for _ in range(5):
        channels, filters = rng.choice([47, 48, 49, 63, 64, 65], 2)
        x = (int(rng.integers(2, 4)), channels * groups, int(rng.integers(12, 30)), int(rng.integers(24, 44)))
        given = arrays(op, x, (filters * groups, channels, 3, 3), dtype)
        for i, (ours, wanted) in enumerate(zip(fewer(*given), more(*given), strict=True)):
            np.testing.assert_allclose(ours, wanted, rtol=0, atol=ROUNDING[dtype] * np.abs(wanted).max())
            otherwise[i] += not np.array_equal(ours, wanted)
    assert sum(otherwise) > 4, "it has been computed in the same way"


def test_against_numpy() -> None:
    op = AbstractConv2d(border_mode="half")
    given = arrays(op, (2, 40, 13, 18), (33, 40, 3, 3))
    fewer, slow = products(border_mode="half"), products(mode=theano.Mode("py", "fast_compile"), border_mode="half")
    for ours, wanted in zip(fewer(*given), slow(*given), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=ROUNDING["float64"] * np.abs(wanted).max())


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("what", [np.inf, -np.inf, np.nan, 1.6e308])
def test_what_is_not_finite_spoils_what_it_meets_and_nothing_else(which: int, what: float) -> None:
    op, (fewer, more) = AbstractConv2d(border_mode="half"), both(border_mode="half")
    given = arrays(op, (2, 40, 16, 17), (40, 40, 3, 3))
    given[which][1, 2, 1, 1] = what
    with np.errstate(all="ignore"):
        for ours, wanted in zip(fewer(*given), more(*given), strict=True):
            np.testing.assert_array_equal(np.isnan(ours), np.isnan(wanted))
            if not np.isfinite(wanted).all():
                np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("layout", ("C", "F", "transposed", "reversed", "step2", "offset", "unaligned"))
@pytest.mark.parametrize("which", [0, 1, 2])
def test_layouts(layout: str, which: int) -> None:
    op, fewer = AbstractConv2d(border_mode="half"), products(border_mode="half")
    given = arrays(op, (2, 40, 16, 17), (40, 40, 3, 3))
    wanted = fewer(*given)
    given[which] = lay(given[which], layout)
    for ours, plain in zip(fewer(*given), wanted, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=0, atol=ROUNDING["float64"] * np.abs(plain).max())


@pytest.mark.parametrize("dtype", ROUNDING)
def test_threads_change_nothing(dtype: str) -> None:
    how: dict[str, Any] = {"border_mode": "half", "num_groups": 2}
    given = arrays(AbstractConv2d(**how), (6, 64, 29, 30), (66, 32, 3, 3), dtype)
    found = []
    for threads in (1, 2, 3):
        with theano.config.change_flags(threads=threads):
            found.append(products(dtype, **how)(*given))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
