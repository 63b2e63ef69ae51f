"""Products that are rounded together with the sums that they go into: against exact fractions, and only where asked for."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T

#: Expressions of x, y and z in which one product is not rounded.
ONE_PRODUCT: dict[str, Callable[..., Any]] = {
    "x*y + z": lambda x, y, z: x * y + z,
    "z + x*y": lambda x, y, z: z + x * y,
    "x*y - z": lambda x, y, z: x * y - z,
    "z - x*y": lambda x, y, z: z - x * y,
    "x*x + z": lambda x, y, z: x * x + z,
    "z - x*x": lambda x, y, z: z - x * x,
    "x*y + 3": lambda x, y, z: x * y + 3,
    "5 - x*y": lambda x, y, z: 5 - x * y,
    "z - x*(-7)": lambda x, y, z: z - x * (-7),
    "x*7 + z": lambda x, y, z: x * 7 + z,
}
#: Those in which none is: two of one kind, a product that something else needs, other dtypes.
NO_PRODUCT: dict[str, Callable[..., Any]] = {
    "x*y + x*z": lambda x, y, z: x * y + x * z,
    "x*x - y*y": lambda x, y, z: x * x - y * y,
    "several outputs": lambda x, y, z: (x * y) / (x * y + z),
    "wider sum": lambda x, y, z: T.cast(x * y, "float64") + T.cast(z, "float64") if x.dtype == "float32" else x + y * 0 + z,
    "no sum": lambda x, y, z: x * y * z,
}
rng = np.random.default_rng(7)
VALUES = [rng.normal(size=1000) for _ in range(3)]


@cache
def has_instruction() -> bool:
    """Tell whether this CPU rounds once, as the compiler knows it."""
    command = [*shlex.split(theano.config.cxx), "-march=native", "-dM", "-E", "-x", "c", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.search(r"\b(__FMA__|__ARM_FEATURE_FMA|__aarch64__)\b", said) is not None


def made(expression: Callable[..., Any], dtype: str, fused: bool) -> Any:
    v = [T.vector(name, dtype) for name in "xyz"]
    with theano.config.change_flags(fused_multiply_add=fused):
        return theano.function(v, expression(*v), on_unused_input="ignore")


def rounded(exact: Fraction, dtype: str) -> Any:
    return np.dtype(dtype).type(float(exact))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE_PRODUCT)
def test_rounds_once(name: str, dtype: str) -> None:
    if not has_instruction():
        pytest.skip("this CPU has no fused multiply-add")
    given = [v.astype(dtype) for v in VALUES]
    got = made(ONE_PRODUCT[name], dtype, True)(*given)
    wanted = [rounded(ONE_PRODUCT[name](*map(Fraction, map(float, row))), dtype) for row in zip(*given, strict=True)]
    assert got.dtype == dtype
    # A float32 is rounded from a float64 here, which is another number once in some hundred million times.
    np.testing.assert_array_equal(got, wanted)
    plain = made(ONE_PRODUCT[name], dtype, False)(*given)
    assert 0 < np.count_nonzero(plain != got) < 700
    np.testing.assert_allclose(plain, got, rtol=0, atol=4 * np.finfo(dtype).eps * np.abs(got).max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NO_PRODUCT)
def test_what_is_rounded_as_before(name: str, dtype: str) -> None:
    given = [v.astype(dtype) for v in VALUES]
    fused, plain = (made(NO_PRODUCT[name], dtype, flag)(*given) for flag in (True, False))
    np.testing.assert_array_equal(fused, plain)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE_PRODUCT)
def test_unless_asked_for_bits_are_those_of_numpy(name: str, dtype: str) -> None:
    given = [v.astype(dtype) for v in VALUES]
    np.testing.assert_array_equal(made(ONE_PRODUCT[name], dtype, False)(*given), ONE_PRODUCT[name](*given))


def test_chains_and_sums_of_several() -> None:
    """A polynomial step by step, and products that are added to a sum one after the other."""
    def horner(x: Any, y: Any, z: Any) -> Any:
        total = x * 0.1
        for k in range(1, 9):
            total = (total + 1.0 / k) * x
        return total

    for expression in (horner, lambda x, y, z: x * y + z + x * z, lambda x, y, z: z + x * y + y * y + 0.1):
        fused, plain = (made(expression, "float64", flag)(*VALUES) for flag in (True, False))
        np.testing.assert_allclose(fused, plain, rtol=0, atol=1e-14 * np.abs(plain).max())
        assert not has_instruction() or (fused != plain).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, 5e-324])
def test_special_numbers(value: float) -> None:
    given = [np.array([value, 1.0, value, 2.0]), np.array([2.0, value, value, 3.0]), np.array([1.0, 1.0, 1.0, value])]
    with np.errstate(all="ignore"):
        for expression in ONE_PRODUCT.values():
            fused, plain = (made(expression, "float64", flag)(*given) for flag in (True, False))
            np.testing.assert_allclose(fused, plain, rtol=1e-15)
