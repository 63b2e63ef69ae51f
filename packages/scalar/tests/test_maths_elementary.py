"""What is particular to trigonometric functions, pow and remainders, beyond what test_maths asks of every function."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import accuracy
import numpy as np
import pytest
from loops import Loops

import theano.scalar as ts
from portion import portion
from theano.scalar import c
from theano.toolchain import flags

mpmath = pytest.importorskip("mpmath")

DTYPES = ("float64", "float32")
OPS = {op.op_name: op for op in (ts.sin, ts.cos, ts.tan, ts.pow, ts.mod, ts.int_div, ts.maximum, ts.minimum)}
TRIGONOMETRIC = ("sin", "cos", "tan")
WIDTHS = [["-march=native", "-mprefer-vector-width=512"], ["-march=native", "-mprefer-vector-width=256"],
          ["-march=native", "-mprefer-vector-width=128"], ["-mavx2", "-mfma"], ["-mavx"], []]  # fmt: skip
ON_X86 = platform.machine() == "x86_64"
if not ON_X86:
    WIDTHS = [["-march=native"], []]


def make_run(folder: Path, options: list[str], Case_: Any, names: Iterable[str] = OPS) -> Any:
    cases = {(name, dtype): Case_(OPS[name], (dtype,) * OPS[name].nin, (dtype,)) for name in names for dtype in DTYPES}
    loops = Loops(folder, list(cases.values()), [*flags.OPTIMISATION, *flags.NUMERIC, *options])
    return lambda name, *x: loops(cases[name, x[0].dtype.name], *x)[0]


@pytest.fixture(scope="module")
def run(folder_of_loops: Path, Case_: Any) -> Any:
    return make_run(folder_of_loops, WIDTHS[0], Case_)


def far(run: Any, name: str, x: np.ndarray) -> np.ndarray:
    """Return the errors of a function of one argument, in units of the last place."""
    return accuracy.distance(run(name, x), *accuracy.exact(OPS[name], x.dtype.name, x))


@pytest.mark.parametrize("options", portion(WIDTHS, 2), ids=" ".join)
def test_far_arguments_beside_near_ones(options: list[str], tmp_path: Path, Case_: Any) -> None:
    """One lane is left to the C library: in each place of a vector and in the remainder of the loop, for each width."""
    other = make_run(tmp_path, options, Case_, TRIGONOMETRIC)
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


@pytest.mark.parametrize("name", ["mod", "int_div"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_quotients_of_all_sizes(dtype: str, name: str, run: Any) -> None:
    """Exactly NumPy's, for small quotients and those left to the C library, multiples and their neighbours."""
    rng, info = np.random.default_rng(0), np.finfo(dtype)
    y = (rng.choice([-1, 1], 30_000) * np.exp2(rng.uniform(-30, 30, 30_000))).astype(dtype)
    quotients = rng.choice([-1, 1], y.size) * np.exp2(rng.uniform(-5, info.nmant + 6, y.size))
    near = (np.rint(quotients) * y).astype(dtype)
    infinity = np.dtype(dtype).type(np.inf)
    some = np.array([0.0, 1.0, 3.0, info.tiny, info.smallest_subnormal, info.max, infinity, 1e10, 0.1], dtype)
    grid = np.meshgrid(*[np.concatenate([some, -some, [np.nan]]).astype(dtype)] * 2)
    x = np.concatenate([(quotients * y).astype(dtype), near, np.nextafter(near, infinity), np.nextafter(near, -infinity),
                        grid[0].ravel()])  # fmt: skip
    y = np.concatenate([y, y, y, y, grid[1].ravel()])
    with np.errstate(all="ignore"):
        wanted = OPS[name].numpy_form([dtype])(x, y)
    found = run(name, x, y)
    np.testing.assert_array_equal(found, wanted)
    known = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(wanted[known]))


@pytest.mark.parametrize("options", portion([*WIDTHS, *([["-mno-fma"]] if ON_X86 else [])], 2), ids=" ".join)
def test_large_quotients_beside_small_ones(options: list[str], tmp_path: Path, Case_: Any) -> None:
    other = make_run(tmp_path, options, Case_, ("mod", "int_div"))
    for name in ("mod", "int_div"):
        for dtype in DTYPES:
            for n in (1, 7, 8, 16, 33):
                for place in range(n):
                    x, y = np.linspace(-7, 7, n).astype(dtype), np.linspace(0.3, 2, n).astype(dtype)
                    x[place] = 3e30 * (-1) ** place
                    wanted = OPS[name].numpy_form([dtype])(x, y)
                    np.testing.assert_array_equal(other(name, x, y), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_with_nan(dtype: str, run: Any) -> None:
    values = np.array([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max, -2.5], dtype)
    x, y = (np.tile(g.ravel(), 3) for g in np.meshgrid(values, values))
    np.testing.assert_array_equal(run("maximum", x, y), np.maximum(x, y))
    np.testing.assert_array_equal(run("minimum", x, y), np.minimum(x, y))


@pytest.mark.skipif(not ON_X86, reason="the names of instructions")
def test_extremes_are_one_instruction(tmp_path: Path) -> None:
    source = "".join(c.support(["max_f64", "min_f32"])) + (
        "void most(const double *restrict x, const double *restrict y, double *restrict z, long n)\n"
        "{ for (long i = 0; i < n; i++) z[i] = th_max_f64(x[i], y[i]); }\n"
        "void least(const float *restrict x, const float *restrict y, float *restrict z, long n)\n"
        "{ for (long i = 0; i < n; i++) z[i] = th_min_f32(x[i], y[i]); }\n"
    )
    (tmp_path / "extremes.c").write_text(source)
    command = ["gcc", *flags.OPTIMISATION, *flags.NUMERIC, "-march=x86-64-v3", "-S", "-o", "-", tmp_path / "extremes.c"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "vmaxpd" in text and "vminps" in text


def test_remainders_and_extremes_are_vectorised(tmp_path: Path, Case_: Any) -> None:
    # What leaves rare elements to a function asks all lanes at once, which only x86-64 does in one instruction (rare.h).
    names = ("mod", "int_div", "maximum", "minimum") if ON_X86 else ("maximum", "minimum")
    cases = [Case_(OPS[name], (dtype,) * 2, (dtype,)) for name in names for dtype in DTYPES]
    (tmp_path / "loops.c").write_text(Loops(tmp_path, cases).source)
    command = ["gcc", *flags.OPTIMISATION, *flags.NUMERIC, "-march=native", "-fopt-info-vec", "-c", "-o", "/dev/null"]
    said = subprocess.run([*command, tmp_path / "loops.c"], capture_output=True, text=True, check=True).stderr
    assert len(set(re.findall(r"loops\.c:(\d+):\d+: optimized: loop vectorized", said))) == len(cases), said


def test_rare_lanes_of_narrow_and_mixed_inputs(tmp_path: Path, Case_: Any) -> None:
    """Vectors of small integers and halves become several of floats, each with a call of its own."""
    inputs = [("int8",), ("int16",), ("int64",), ("float16",), ("bool",), ("int8", "float64"), ("float32", "float64")]
    ops = {1: ts.sin, 2: ts.mod}
    cases = [Case_(ops[len(ins)], ins, (ops[len(ins)].output_types([ts.get_scalar_type(d) for d in ins])[0].dtype,))
             for ins in inputs]  # fmt: skip
    loops = Loops(tmp_path, cases, [*flags.OPTIMISATION, *flags.NUMERIC, *WIDTHS[0]])
    rng = np.random.default_rng(0)
    for case in cases:
        x = [(rng.normal(size=1003) * 30 + 0.5).astype(dtype) for dtype in case.ins]
        wanted = case.op.numpy_form(case.outs)(*x)
        exponent = np.log2(np.finfo(wanted.dtype).eps) + 2
        np.testing.assert_allclose(loops(case, *x)[0], wanted, rtol=2.0**exponent, atol=2.0 ** (exponent - 10))
