"""The vector maths of theano/scalar/c: accuracy, special values, and that it is vectorised."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theano.scalar import c

mpmath = pytest.importorskip("mpmath")

FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p sinh cosh tanh sigmoid softplus erf".split()
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
TYPES = {"float64": ("f64", "double"), "float32": ("f32", "float")}
INCLUDES = "".join(f"#include <{name}.h>\n" for name in ("stdint", "stddef", "string", "math", "complex"))
BOUND = 2.0


def compiled(folder: Path, flags: list[str]) -> tuple[Any, str, int]:
    """Return the library of loops, what the compiler said, and the number of loops."""
    names = [f"{f}_{suffix}" for f in FUNCTIONS for suffix, _ in TYPES.values()]
    source = INCLUDES + "".join(c.support(names))
    for f in FUNCTIONS:
        for suffix, element in TYPES.values():
            source += (
                f"void loop_{f}_{suffix}(const {element} *restrict x, {element} *restrict y, long n)\n"
                f"{{\n    for (long i = 0; i < n; i++)\n        y[i] = th_{f}_{suffix}(x[i]); /* LOOP */\n}}\n"
            )
    path = folder / "maths.c"
    path.write_text(source)
    library = folder / "maths.so"
    command = [
        "gcc",
        *flags,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fopt-info-vec",
        "-shared",
        "-fPIC",
        "-o",
        library,
        path,
        "-lm",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    widened = {int(line) for line in re.findall(r"maths\.c:(\d+):\d+: optimized: loop vectorized", done.stderr)}
    lines = source.split("\n")
    in_loops = [n for n in widened if any("LOOP" in text or "for (long" in text for text in lines[n - 2 : n + 1])]
    return ctypes.CDLL(str(library)), done.stderr, len(in_loops)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    library, _, _ = compiled(tmp_path_factory.mktemp("maths"), FLAGS)
    return runner(library)


def runner(library: Any) -> Any:
    def call(function: str, x: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        loop = getattr(library, f"loop_{function}_{TYPES[x.dtype.name][0]}")
        loop(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(x.size))
        return y

    return call


def reference(function: str, x: np.ndarray) -> np.ndarray:
    """The function in extended precision: eleven bits more than a double has."""
    if function == "erf":  # NumPy has none
        with mpmath.workdps(30):
            values = [v if v == 0 else np.longdouble(mpmath.nstr(mpmath.erf(float(v)), 25)) for v in x]
        return np.array(values, np.longdouble)
    x = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        if function == "sigmoid":
            return np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))
        if function == "softplus":
            return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))
        return getattr(np, function)(x)


def exact(function: str, x: float) -> Any:
    """The function to forty digits."""
    x = mpmath.mpf(x)
    if function == "sigmoid":
        return 1 / (1 + mpmath.exp(-x))
    if function == "softplus":
        return mpmath.log1p(mpmath.exp(x)) if x < 40 else x + mpmath.exp(-x)
    if function in ("exp2", "log2"):
        return mpmath.power(2, x) if function == "exp2" else mpmath.log(x) / mpmath.log(2)
    return getattr(mpmath, function)(x)


def points(dtype: str, count: int, seed: int) -> np.ndarray:
    """Numbers of all sizes: dense near zero and one, uniform over the finite range of exp, all exponents."""
    rng, info = np.random.default_rng(seed), np.finfo(dtype)
    edge = float(np.log(float(info.max)))
    exponents = rng.uniform(info.minexp - info.nmant, info.maxexp, count)
    parts = [rng.uniform(-1, 1, count), rng.uniform(-1.06 * edge, 1.02 * edge, count), rng.normal(size=count) * 5,
             np.exp2(exponents), -np.exp2(exponents), 1 + 0.3 * rng.normal(size=count)]  # fmt: skip
    with np.errstate(over="ignore"):
        return np.concatenate(parts).astype(dtype)


def distance(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        rounded = wanted.astype(found.dtype)
        same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
        far = np.abs(found.astype(np.longdouble) - wanted) / np.spacing(np.abs(rounded))
    return np.where(same & ~np.isfinite(rounded), 0, np.where(np.isnan(far), np.inf, far)).astype(float)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision here")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_two_ulp(function: str, dtype: str, run: Any) -> None:
    x = points(dtype, 1_000 if function == "erf" else 20_000, seed=0)
    far = distance(run(function, x), reference(function, x))
    worst = int(np.argmax(far))
    assert far[worst] <= BOUND, f"{far[worst]} ulp at {x[worst]!r}"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_against_forty_digits(function: str, dtype: str, run: Any) -> None:
    x = points(dtype, 60, seed=1)
    check_exactly(function, x, run)


def check_exactly(function: str, x: np.ndarray, run: Any) -> None:
    found = run(function, x)
    info = np.finfo(x.dtype)
    with mpmath.workdps(40):
        for a, y in zip(x, found, strict=True):
            if function.startswith("log") and a <= (-1 if function == "log1p" else 0):
                continue
            wanted = exact(function, float(a))
            if abs(wanted) > float(info.max) or not np.isfinite(y):
                assert abs(wanted) > float(info.max) * (1 - float(info.eps)), (a, y)
                continue
            unit = float(np.spacing(np.abs(x.dtype.type(float(wanted)))))
            assert abs(wanted - mpmath.mpf(float(y))) <= BOUND * unit, (a, y, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_big_sweep(function: str, dtype: str, run: Any) -> None:
    for seed in range(10):
        x = points(dtype, 2_000 if function == "erf" else 200_000, seed=seed + 10)
        assert distance(run(function, x), reference(function, x)).max() <= BOUND
    check_exactly(function, points(dtype, 17_000, seed=99), run)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_special_values(function: str, dtype: str, run: Any) -> None:
    info = np.finfo(dtype)
    tiny, least = info.tiny, info.smallest_subnormal
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, least, -least, info.max, -info.max], dtype)
    found, wanted = run(function, x), reference(function, x).astype(dtype)
    landmarks = (wanted == 0) | ~np.isfinite(wanted)
    np.testing.assert_array_equal(found[landmarks], wanted[landmarks])
    assert distance(found, reference(function, x)).max() <= 1
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize("dtype", TYPES)
def test_results_between_overflow_and_underflow(dtype: str, run: Any) -> None:
    info = np.finfo(dtype)
    top, bottom = np.log(info.max.astype("f8")), np.log(np.float64(info.smallest_subnormal))
    with np.errstate(over="ignore", under="ignore"):
        for x in (top * (1 - 2e-7), top * (1 + 1e-6), bottom * (1 - 1e-3), bottom * (1 + 2e-2), bottom / 1.02):
            value = np.array([x], dtype)
            wanted = np.exp(value.astype(np.longdouble)).astype(dtype)
            assert distance(run("exp", value), wanted.astype(np.longdouble))[0] <= 1


@pytest.mark.parametrize("flags", [["-mno-fma"], ["-mavx2", "-mno-avx512f"], []])
def test_other_instruction_sets(flags: list[str], tmp_path: Path) -> None:
    base = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    library, _, _ = compiled(tmp_path, [*base, *flags])
    other = runner(library)
    for function in FUNCTIONS:
        for dtype in TYPES:
            x = points(dtype, 500, seed=3)
            assert distance(other(function, x), reference(function, x)).max() <= 3, function


def test_every_loop_is_vectorised(tmp_path: Path) -> None:
    _, said, count = compiled(tmp_path, FLAGS)
    assert count == 2 * len(FUNCTIONS), said


def test_only_what_is_used() -> None:
    text = "".join(c.support(["exp_f64"]))
    assert "th_exp_f64" in text and "log" not in text and "f32" not in text


def test_blocks_come_after_what_they_need() -> None:
    order = list(c.snippets())
    for name, snippet in c.snippets().items():
        assert all(order.index(need) < order.index(name) for need in snippet.needs)


def test_halves(tmp_path: Path) -> None:
    loop = "void {}(const {} *x, {} *y, long n) {{ for (long i = 0; i < n; i++) y[i] = {}(x[i]); }}\n"
    loops = [
        ("up", "uint16_t", "float", "th_load_f16"),
        ("down", "float", "uint16_t", "th_store_f16"),
        ("from", "double", "float", "th_round_f16"),
    ]
    source = INCLUDES + "".join(c.support(["round_f16"])) + "".join(loop.format(*parts) for parts in loops)
    (tmp_path / "half.c").write_text(source)
    subprocess.run(["gcc", *FLAGS, "-shared", "-fPIC", "-o", tmp_path / "h.so", tmp_path / "half.c"], check=True)
    library = ctypes.CDLL(str(tmp_path / "h.so"))

    def call(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        getattr(library, name)(
            x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(x.size)
        )
        return y

    every = np.arange(2**16, dtype=np.uint16)
    halves = every.view(np.float16)
    np.testing.assert_array_equal(call("up", every, np.empty(2**16, "f4")), halves.astype("f4"))
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        near = halves[np.isfinite(halves)].astype("f8")
        ties = (near[:-1] + near[1:]) / 2
        x = np.concatenate([near, ties, ties * (1 + 1e-12), ties * (1 - 1e-12), rng.normal(size=1000) * 70000,
                            [np.inf, -np.inf, 65519.99, 65520.0, 1e300, -0.0, 1e-300]])  # fmt: skip
        np.testing.assert_array_equal(call("from", x, np.empty(x.size, "f4")), x.astype("f2").astype("f4"))
        single = x.astype("f4")
        stored = call("down", single, np.empty(x.size, "u2")).view("f2")
        np.testing.assert_array_equal(stored, single.astype("f2"))
    assert np.isnan(call("down", np.array([np.nan], "f4"), np.empty(1, "u2")).view("f2"))[0]
