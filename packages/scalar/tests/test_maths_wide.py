"""The forms of functions for 512-bit registers, and expressions that must be widened as their parts are."""

from __future__ import annotations

import re
import subprocess
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

pytest.importorskip("mpmath")

DTYPES = ("float64", "float32")
NATIVE = [*flags.OPTIMISATION, *flags.NUMERIC, "-march=native"]
WIDTHS = [512, 256, 128]
#: Those with a form of their own for 512 bits, by dtype.
WIDE = [(name, dtype) for dtype in DTYPES for name, op in accuracy.measured_ops(dtype).items()
        if f"{name}_wide_{'f64' if dtype == 'float64' else 'f32'}" in c.snippets()]  # fmt: skip


@pytest.fixture(scope="module")
def runs(folder_of_loops: Path, Case_: Any) -> dict[int, Any]:
    return {width: make_run(folder_of_loops, width, Case_) for width in WIDTHS}


def make_run(folder: Path, width: int, Case_: Any) -> Any:
    cases = {
        (name, dtype): Case_(getattr(ts, name), (dtype,) * getattr(ts, name).nin, (dtype,)) for name, dtype in WIDE
    }
    loops = Loops(folder, list(cases.values()), [*NATIVE, f"-mprefer-vector-width={width}"])
    return lambda name, *x: loops(cases[name, x[0].dtype.name], *x)[0]


def arguments(name: str, dtype: str) -> list[np.ndarray]:
    """Return ordinary numbers with special ones between them."""
    op = getattr(ts, name)
    usual = accuracy.points(op, dtype, 600)
    marks = accuracy.landmarks(op, dtype)
    rng = np.random.default_rng(1)
    order = rng.permutation(usual[0].size + marks[0].size)
    return [np.concatenate(pair)[order] for pair in zip(usual, marks, strict=True)]


def bits(x: np.ndarray) -> np.ndarray:
    """Return the bits of an array, those of all nan alike."""
    return np.where(np.isnan(x), np.array(np.nan, x.dtype), x).view(f"u{x.itemsize}")


def test_there_are_some() -> None:
    assert ("pow", "float64") in WIDE and ("pow", "float32") in WIDE


@pytest.mark.parametrize("name, dtype", WIDE)
def test_neighbours_do_not_matter(name: str, dtype: str, runs: dict[int, Any]) -> None:
    """A result is the same alone, in every lane, in vectors of every width and in what is left of a loop."""
    x = arguments(name, dtype)
    whole = runs[512](name, *x)
    alone = np.concatenate([runs[512](name, *[a[i : i + 1] for a in x]) for i in range(whole.size)])
    np.testing.assert_array_equal(bits(whole), bits(alone))
    for width in WIDTHS:
        for start in range(17):
            np.testing.assert_array_equal(bits(runs[width](name, *[a[start:] for a in x])), bits(whole[start:]))
        for size in (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33):
            np.testing.assert_array_equal(bits(runs[width](name, *[a[:size] for a in x])), bits(whole[:size]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_numbers_near_one(dtype: str, runs: dict[int, Any]) -> None:
    """Where the logarithm comes from its polynomial alone and the exponent makes the most of its error."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0.968, 1.063, 4000).astype(dtype)
    edge = np.log(float(np.finfo(dtype).max))
    y = (rng.choice([-1, 1], x.size) * edge * rng.uniform(0.9, 1, x.size) / np.log(x.astype(float))).astype(dtype)
    far = accuracy.distance(runs[512]("pow", x, y), *accuracy.exact(ts.pow, dtype, x, y))
    assert far.max() <= accuracy.BOUND


def test_mixed_inputs(tmp_path: Path, Case_: Any) -> None:
    """A loop over several dtypes has vectors of fewer numbers than fit."""
    inputs = [("int8", "float64"), ("float32", "float64"), ("float16", "float16"), ("int16", "float32")]
    cases = [
        Case_(ts.pow, ins, (ts.pow.output_types([ts.get_scalar_type(d) for d in ins])[0].dtype,)) for ins in inputs
    ]
    rng = np.random.default_rng(0)
    for width in WIDTHS:
        loops = Loops(tmp_path, cases, [*NATIVE, f"-mprefer-vector-width={width}"])
        for case in cases:
            x, y = (rng.uniform(1, 5, 1003).astype(dtype) for dtype in case.ins)
            wanted = case.op.numpy_form(case.outs)(x.astype(case.outs[0]), y.astype(case.outs[0]))
            np.testing.assert_allclose(loops(case, x, y)[0], wanted, rtol=4 * np.finfo(wanted.dtype).eps)


FAMILIES = ["sin cos tan", "exp expm1 sigmoid tanh softplus", "sinh cosh", "log log1p log2", "erf erfc erfcx",
            "arcsin arccos arctan", "j0 j1", "i0 i1"]  # fmt: skip


@pytest.mark.parametrize("names", portion(FAMILIES, 4))
def test_products_of_relatives_are_vectorised(names: str, tmp_path: Path, Case_: Any) -> None:
    """What two functions of one number decide alike, the compiler would decide once, by a branch, which stays scalar."""
    cases = []
    for dtype in DTYPES:
        x = ts.get_scalar_type(dtype)()
        ops = [getattr(ts, name) for name in names.split()]
        pairs = [(f, g) for i, f in enumerate(ops) for g in ops[i + 1 :]]
        cases += [Case_(ts.Composite([x], [f(x) * g(x)]), (dtype,), (dtype,)) for f, g in pairs]
        cases.append(Case_(ts.Composite([x], [ts.add(*[f(x) for f in ops])]), (dtype,), (dtype,)))
    (tmp_path / "loops.c").write_text(Loops(tmp_path, cases).source)
    command = ["gcc", *NATIVE, "-fopt-info-vec", "-c", "-o", "/dev/null", tmp_path / "loops.c"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    widened = {int(line) for line in re.findall(r"loops\.c:(\d+):\d+: optimized: loop vectorized", said)}
    lines = (tmp_path / "loops.c").read_text().split("\n")
    loops = [n for n, line in enumerate(lines, 1) if line.strip() == "for (int64_t i = 0; i < n; i++) {"]
    assert len(loops) == len(cases)
    assert [str(case.op) for case, n in zip(cases, loops, strict=True) if n not in widened] == []


def inverse_root(dtype: str) -> Any:
    x = ts.get_scalar_type(dtype)()
    return ts.Composite([x], [ts.inv(ts.sqrt(x))])


@pytest.mark.parametrize("dtype", DTYPES)
def test_inverse_root(tmp_path: Path, Case_: Any, dtype: str) -> None:
    """It is one function, as exact as the others, with NumPy's special values, the same in every lane."""
    assert "rsqrt" in "".join(inverse_root(dtype).c_statements(["x"], [dtype], ["y"], [dtype]).lines)
    case = Case_(inverse_root(dtype), (dtype,), (dtype,))
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    x = np.concatenate(
        [np.exp(rng.uniform(np.log(info.smallest_subnormal), np.log(info.max), 3000)), rng.uniform(0.1, 3, 3000), *accuracy.landmarks(ts.sqrt, dtype)]
    )
    x = rng.permutation(np.concatenate([x, [info.tiny * 1.5, info.smallest_subnormal * 3, info.max]]).astype(dtype))
    with np.errstate(all="ignore"):
        root = np.sqrt(x.astype(np.longdouble))
        wanted = (1 / root).astype(dtype)
    whole = None
    for width in WIDTHS:
        loops = Loops(tmp_path, [case], [*NATIVE, f"-mprefer-vector-width={width}"])
        found = loops(case, x)[0]
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
        np.testing.assert_array_equal(found[~np.isfinite(wanted)], wanted[~np.isfinite(wanted)])
        near = np.isfinite(wanted)
        assert (np.abs(found - wanted)[near] <= 2 * np.spacing(np.abs(wanted[near]))).all()
        whole = found if whole is None else whole
        alone = np.concatenate([loops(case, x[i : i + 1])[0] for i in range(200)])
        np.testing.assert_array_equal(bits(found), bits(whole))
        np.testing.assert_array_equal(bits(alone), bits(whole[:200]))


def test_a_root_used_twice_stays(Case_: Any, tmp_path: Path) -> None:
    x = ts.float64()
    root = ts.sqrt(x)
    case = Case_(ts.Composite([x], [ts.inv(root), root]), ("float64",), ("float64",) * 2)
    found = Loops(tmp_path, [case])(case, np.array([4.0, 0.25]))
    np.testing.assert_array_equal(found, [[0.5, 2.0], [2.0, 0.5]])
