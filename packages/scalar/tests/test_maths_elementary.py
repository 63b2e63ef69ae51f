"""What is particular to trigonometric functions and pow, beyond what test_maths asks of every function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import accuracy
import numpy as np
import pytest
from loops import Loops

import theano.scalar as ts
from theano.toolchain import flags

mpmath = pytest.importorskip("mpmath")

DTYPES = ("float64", "float32")
OPS = {op.op_name: op for op in (ts.sin, ts.cos, ts.tan, ts.pow)}
TRIGONOMETRIC = ("sin", "cos", "tan")
WIDTHS = [["-march=native", "-mprefer-vector-width=512"], ["-march=native", "-mprefer-vector-width=256"],
          ["-march=native", "-mprefer-vector-width=128"], ["-mavx2", "-mfma"], ["-mavx"], []]  # fmt: skip


def make_run(folder: Path, options: list[str], Case_: Any) -> Any:
    cases = {(name, dtype): Case_(op, (dtype,) * op.nin, (dtype,)) for name, op in OPS.items() for dtype in DTYPES}
    loops = Loops(folder, list(cases.values()), [*flags.OPTIMISATION, *flags.NUMERIC, *options])
    return lambda name, *x: loops(cases[name, x[0].dtype.name], *x)[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, Case_: Any) -> Any:
    return make_run(tmp_path_factory.mktemp("elementary"), WIDTHS[0], Case_)


def far(run: Any, name: str, x: np.ndarray) -> np.ndarray:
    """Return the errors of a function of one argument, in units of the last place."""
    return accuracy.distance(run(name, x), *accuracy.exact(OPS[name], x.dtype.name, x))


@pytest.mark.parametrize("options", WIDTHS, ids=" ".join)
def test_far_arguments_beside_near_ones(options: list[str], tmp_path: Path, Case_: Any) -> None:
    """One lane is left to the C library: in each place of a vector and in the remainder of the loop, for each width."""
    other = make_run(tmp_path, options, Case_)
    for name in TRIGONOMETRIC:
        for dtype, limit in (("float64", 2.0**44), ("float32", 2.0**16)):
            for n in (1, 2, 3, 7, 8, 9, 16, 33):
                distant = [limit, np.nextafter(np.dtype(dtype).type(limit), np.inf), 3e37, np.inf, np.nan]
                x = np.tile(np.linspace(-7, 7, n).astype(dtype), (n * len(distant), 1))
                for row, value in enumerate(distant * n):
                    x[row, row // len(distant)] = value * (-1) ** row
                found = np.array([other(name, line) for line in x])
                assert accuracy.distance(found.ravel(), *accuracy.exact(OPS[name], dtype, x.ravel())).max() <= 2


@pytest.mark.parametrize("name", TRIGONOMETRIC)
def test_hardest_reductions(name: str, run: Any) -> None:
    """Numbers as near to a multiple of pi/2 as there are (J.-M. Muller, Elementary Functions, chapter 11)."""
    hardest = np.array([6381956970095103.0 * 2.0**797, 6381956970095103.0 * 2.0**-30, 16367173.0 * 2.0**72])
    assert far(run, name, hardest).max() <= 2
    multiples = np.array([*range(1, 2000), *np.unique(np.exp2(np.linspace(11, 44, 500)).astype(np.int64)).tolist()])
    with mpmath.workdps(40):
        close = np.array([float(int(k) * mpmath.pi / 2) for k in multiples])
    assert far(run, name, close).max() <= 2
    assert far(run, name, close.astype("f4")).max() <= 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_that_are_exact(dtype: str, run: Any) -> None:
    """Whole powers whose digits fit come out to the last one, as do square roots of squares."""
    limit = 2 ** (np.finfo(dtype).nmant + 1)
    pairs = [(a, n) for a in range(-40, 3000) for n in range(54) if abs(a) ** n <= limit]
    x, y = np.array(pairs, dtype).T.copy()
    np.testing.assert_array_equal(run("pow", x, y), np.array([float(a**n) for a, n in pairs], dtype))
    roots = np.arange(1, int(limit**0.5), 1 + int(limit**0.5) // 50_000).astype(dtype)
    np.testing.assert_array_equal(run("pow", roots * roots, np.full_like(roots, 0.5)), roots)


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_negative_numbers(dtype: str, run: Any) -> None:
    """The exponent is odd, even or no whole number, up to where all numbers are whole and then all even."""
    digits = np.finfo(dtype).nmant
    whole = [2.0**digits + k for k in (-1, 0, 1, 2)] + [2.0 ** (digits + 1) + k for k in (-2, -1, 0, 2)]
    y = np.array([*whole, 2.0 ** (digits - 1) + 0.5, 1.5, 2.5, 1e30, np.inf], dtype)
    y = np.concatenate([y, -y])
    for base in (-1.0, -np.inf, -0.0):
        x = np.full_like(y, base)
        with np.errstate(all="ignore"):
            wanted = np.power(x, y)
        found = run("pow", x, y)
        np.testing.assert_array_equal(found, wanted)
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(wanted[known]))
