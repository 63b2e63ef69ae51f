"""The vector maths of theano/scalar/c: accuracy, special values, and that it is vectorised.

The functions are taken from the registry. ``nox -s sweep`` has fifty times as many points, and instructions whose
results are those of ones that are tried anyway; tools/measure_maths.py does the same at a million points.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import accuracy
import numpy as np
import pytest
from accuracy import BOUND, REFERENCES
from loops import INCLUDES, Loops

from portion import everything, portion
from theano.scalar import c
from theano.scalar.c import widths
from theano.scalar.cbody import calls_c_library
from theano.toolchain import flags

pytest.importorskip("mpmath")

FLAGS = [*flags.OPTIMISATION, "-march=native", *flags.NUMERIC]
DTYPES = ("float64", "float32")
MEASURED = {dtype: accuracy.measured_ops(dtype) for dtype in DTYPES}
OWN = [(name, dtype) for dtype in DTYPES for name, op in MEASURED[dtype].items() if accuracy.is_own(op, dtype)]
SWEEP = os.environ.get("SIZES") == "sweep"
POINTS = 2_000 if everything() else 800


def make_run(folder: Path, options: list[str], Case_: Any, chosen: list[tuple[str, str]]) -> Any:
    """Return a function that computes what was compiled: of a name and arrays."""
    cases = {(name, dtype): Case_(op, (dtype,) * op.nin, (dtype,)) for name, dtype in chosen for op in [MEASURED[dtype][name]]}
    loops = Loops(folder, list(cases.values()), options)
    return lambda name, *x: loops(cases[name, x[0].dtype.name], *x)[0]


@pytest.fixture(scope="module")
def run(folder_of_loops: Path, Case_: Any) -> Any:
    return make_run(folder_of_loops, FLAGS, Case_, OWN)


@cache
def known(name: str, dtype: str, count: int) -> Any:
    """Return arguments, and the exact values there."""
    op = MEASURED[dtype][name]
    x = accuracy.points(op, dtype, count, seed=0)
    return x, accuracy.exact(op, dtype, *x), accuracy.floor(op, *x)


def check(run: Any, name: str, dtype: str, bound: float = BOUND, count: int = POINTS) -> None:
    x, (high, rest), floor = known(name, dtype, count)
    far = accuracy.distance(run(name, *x), high, rest, floor)
    assert np.isnan(rest).mean() < 0.01
    far[np.isnan(rest)] = 0
    worst = int(np.argmax(far))
    assert far[worst] <= bound, f"{far[worst]} ulp at {[a[worst] for a in x]}"


def test_every_operation_has_a_reference() -> None:
    assert set(MEASURED["float64"]) <= set(REFERENCES)
    assert len(OWN) >= 26


@pytest.mark.parametrize("name, dtype", OWN)
def test_two_ulp(name: str, dtype: str, run: Any) -> None:
    check(run, name, dtype, count=100_000 if SWEEP else POINTS)


@pytest.mark.parametrize("name, dtype", OWN)
def test_special_values(name: str, dtype: str, run: Any) -> None:
    assert accuracy.wrong_landmarks(MEASURED[dtype][name], dtype, lambda *x: run(name, *x)) == []


#: Arguments at which the NumPy forms have a series, since SciPy overflows, or gives 0 too early, and such beside them.
SERIES = {
    "iv": ([0.0, 1.0, 2.0, -1.0, -2.0, 0.5, 0.25, -0.5, -1.5], [0.0, 1e-200, -1e-200, 3e-160, 1e-140, -1e-140, 1e-60, 1e-20, 1e-19]),
    "gammal": ([150.0, 171.5, 172.0, 180.0, 250.0, 300.0], [0.0, 1e-3, 0.5, 3.0, 20.0, 90.0, 170.0]),
}


@pytest.mark.parametrize("name", SERIES)
def test_numpy_forms_where_scipy_has_no_number(name: str) -> None:
    op = MEASURED["float64"][name]
    x = [grid.ravel() for grid in np.meshgrid(*map(np.array, SERIES[name]))]
    with np.errstate(all="ignore"):
        found, (high, _) = op.numpy_form(["float64"])(*x), accuracy.exact(op, "float64", *x)
    assert np.count_nonzero(np.isfinite(high) & (high != 0)) > 20
    np.testing.assert_allclose(found, high, rtol=1e-12)


@pytest.mark.skipif(accuracy.flint is None, reason="there is only one reference here")
@pytest.mark.parametrize("name", MEASURED["float64"])
def test_the_references_agree(name: str) -> None:
    op = MEASURED["float64"][name]
    x = [rng.uniform(low, high, 20) for low, high in op.domains(op.nin) for rng in [np.random.default_rng(5)]]
    for point in zip(*[a.tolist() for a in x], strict=True):
        by_arb = accuracy._by_arb(REFERENCES[name], *point)
        assert by_arb == pytest.approx(accuracy._by_mpmath(REFERENCES[name], *point), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("options", [["-mno-fma"], ["-mavx2", "-mfma"], ["-mavx"]][: 3 if SWEEP else 1])
def test_other_instruction_sets(options: list[str], tmp_path: Path, Case_: Any) -> None:
    chosen = portion(OWN, 3)
    other = make_run(tmp_path, [*flags.OPTIMISATION, *flags.NUMERIC, *options], Case_, chosen)
    for name, dtype in chosen:
        check(other, name, dtype, bound=3)


def test_every_loop_is_vectorised(tmp_path: Path) -> None:
    wide = [(name, dtype) for name, dtype in OWN if not calls_c_library(accuracy.statement(MEASURED[dtype][name], dtype))]
    assert len(OWN) - len(wide) == 38  # of the incomplete gamma and beta functions, their inverses, two of the normal distribution, Bessel functions of any order
    wide = portion(wide, 2)
    source = INCLUDES + "".join(dict.fromkeys(block for name, dtype in wide for block in blocks(name, dtype)))
    for number, (name, dtype) in enumerate(wide):
        kind = {"float64": "double", "float32": "float"}[dtype]
        names = [f"x{i}" for i in range(MEASURED[dtype][name].nin)]
        pointers = ", ".join(f"const {kind} *restrict p_{n}" for n in names)
        loads = " ".join(f"{kind} {n} = p_{n}[i];" for n in names)
        source += (
            f"void loop_{number}({pointers}, {kind} *restrict q, long n)\n{{\n"
            f"for (long i = 0; i < n; i++) {{ {loads} {kind} y; {accuracy.statement(MEASURED[dtype][name], dtype)} q[i] = y; }}\n}}\n"
        )
    (tmp_path / "maths.c").write_text(source)
    command = ["gcc", *FLAGS, "-Wall", "-Wextra", "-fopt-info-vec", "-shared", "-fPIC", "-o", tmp_path / "maths.so"]
    said = subprocess.run([*command, tmp_path / "maths.c", "-lm"], capture_output=True, text=True, check=True).stderr
    widened = {int(line) for line in re.findall(r"maths\.c:(\d+):\d+: optimized: loop vectorized", said)}
    loops = [n for n, line in enumerate(source.split("\n"), 1) if line.startswith("for (long")]
    assert {wide[i] for i, n in enumerate(loops) if n not in widened} == set()


def blocks(name: str, dtype: str) -> tuple[str, ...]:
    op = MEASURED[dtype][name]
    return op.c_statements([f"x{i}" for i in range(op.nin)], [dtype] * op.nin, ["y"], [dtype]).support


def test_only_what_is_used() -> None:
    text = "".join(c.support(["exp_f64"]))
    assert "th_exp_f64" in text and "th_log" not in text and not re.search(r"\bth_\w*_f32\b", text)


def test_blocks_come_after_what_they_need() -> None:
    order = list(c.snippets())
    for name, snippet in c.snippets().items():
        assert all(order.index(need) < order.index(name) for need in snippet.needs)


def test_tables_have_what_blocks_of_their_file_use() -> None:
    for path in Path(c.__file__).parent.glob("*.h"):
        text = path.read_text("ascii")
        names = [row[0] for table in widths._TABLE.findall(text) for row in widths._ROW.findall(table)]
        code = re.sub(r"/\*(?! @snippet).*?\*/", "", text, flags=re.DOTALL)
        assert len(names) == len(set(names)) and set(names) <= set(re.findall(r"\w+", code)), path
    for snippet in c.snippets().values():
        assert not re.search(r"floatN|uintN_t|_[fc]2?N|@where", snippet.text), snippet.name


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
