"""Measure the C of the scalar operations: how exact, how fast, how long to compile.

``python3 tools/measure_maths.py`` takes every operation of floats whose C form is an approximation, from the registry,
evaluates it at a million points per dtype, compares with proven digits (packages/scalar/tests/accuracy.py), times it
beside the NumPy or SciPy form and the C library, and writes docs/library/maths.json, from which docs/generate.py makes
the page. With names it measures only these and prints them; ``--points 3000`` is a quick look.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import importlib
import json
import multiprocessing
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packages" / "scalar" / "tests"))

import accuracy  # noqa: E402
from loops import INCLUDES, Case, Loops  # noqa: E402

from theano.scalar import c  # noqa: E402
from theano.toolchain import flags  # noqa: E402

RESULTS = ROOT / "docs" / "library" / "maths.json"
FLAGS = (*flags.OPTIMISATION, "-march=native", *flags.wishes(()).optional())
SIZE = 16 * 1024  # elements of a timed array: in the second-level cache
CHUNK = 50_000


def machine() -> dict[str, str]:
    """Return what the figures depend on, in words."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("ascii", "replace"), re.M)
    vectors = "AVX-512" if "avx512f" in flags.cpu_description().split() else "the vectors that it has"
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    libraries = [f"{module.__name__} {module.__version__}" for module in (np, importlib.import_module("scipy"))]
    return {
        "processor": f"{model.group(1) if model else platform.machine()}, one thread, with {vectors}",
        "software": ", ".join([f"gcc {compiler}", " ".join(platform.libc_ver()), *libraries]),
        "date": datetime.date.today().isoformat(),
    }


# -- exactness ---------------------------------------------------------------------------------------


def _part(job: tuple[str, str, int, int]) -> dict[str, Any]:
    """Measure one chunk of one function's points; the chunks run in several processes."""
    name, dtype, count, seed = job
    op = accuracy.measured_ops(dtype)[name]
    x = accuracy.points(op, dtype, count, seed)
    high, rest = accuracy.exact(op, dtype, *x)
    far = accuracy.distance(_loops(name, dtype)(_case(op, dtype), *x)[0], high, rest, accuracy.floor(op, *x))
    known = ~np.isnan(rest)
    far[~known] = 0
    worst = int(np.argmax(far))
    return {"max": float(far[worst]), "at": [float(a[worst]).hex() for a in x], "sum": float(far.sum()),
            "points": int(known.sum())}  # fmt: skip


def exactness(pool: Any, name: str, dtype: str, count: int) -> dict[str, Any]:
    """Return the greatest and the mean error, where the greatest is, and which special values are wrong."""
    size = min(CHUNK, count)
    parts = pool.map(_part, [(name, dtype, size, seed) for seed in range(-(-count // size))], chunksize=1)
    worst = max(parts, key=lambda part: part["max"])
    total = sum(part["points"] for part in parts)
    return {"max": round(worst["max"], 3), "mean": round(sum(part["sum"] for part in parts) / total, 4),
            "at": worst["at"], "points": total, "wrong": wrong_landmarks(name, dtype)}  # fmt: skip


def wrong_landmarks(name: str, dtype: str) -> list[list[str]]:
    """Return the special values at which the C form gives something else than it should."""
    op = accuracy.measured_ops(dtype)[name]
    return accuracy.wrong_landmarks(op, dtype, lambda *x: _loops(name, dtype)(_case(op, dtype), *x)[0])


_FOLDER = tempfile.TemporaryDirectory(prefix="measure-maths-")
_COMPILED: dict[tuple[str, str], Loops] = {}


def _case(op: Any, dtype: str) -> Case:
    return Case(op, (dtype,) * op.nin, (dtype,))


def _loops(name: str, dtype: str) -> Loops:
    if (name, dtype) not in _COMPILED:
        folder = Path(tempfile.mkdtemp(dir=_FOLDER.name))
        op = accuracy.measured_ops(dtype)[name]
        _COMPILED[name, dtype] = Loops(folder, [_case(op, dtype)], FLAGS)
    return _COMPILED[name, dtype]


# -- speed -------------------------------------------------------------------------------------------


def best(work: Any, at_least: float = 0.05) -> float:
    """Return the best time of one call, in nanoseconds of the processor."""
    once = time.process_time_ns()
    work()
    once = max(time.process_time_ns() - once, 1000)
    inner = max(1, int(2e6 / once))
    found, spent = float("inf"), 0.0
    while spent < at_least * 1e9:
        start = time.process_time_ns()
        for _ in range(inner):
            work()
        took = time.process_time_ns() - start
        found, spent = min(found, took / inner), spent + took
    return found


def speed(name: str, dtype: str) -> dict[str, float | None]:
    """Return nanoseconds per element: ours, the NumPy form, the C library's function where it has it."""
    op = accuracy.measured_ops(dtype)[name]
    rng = np.random.default_rng(0)
    x = [rng.uniform(low, high, SIZE).astype(dtype) for low, high in op.domains(op.nin)]
    y = np.empty(SIZE, dtype)
    loops = _loops(name, dtype)
    pointers = (ctypes.c_void_p * (op.nin + 1))(*[a.ctypes.data for a in (*x, y)])
    ours = getattr(loops.library, loops.symbols[_case(op, dtype)])
    form = op.numpy_form([dtype])
    times: dict[str, float | None] = {
        "ours": best(lambda: ours(ctypes.c_int64(SIZE), pointers)) / SIZE,
        "numpy": best(lambda: form(*x)) / SIZE,
        "libm": None,
    }
    library = _libm_loop(op, dtype)
    if library is not None:
        times["libm"] = best(lambda: library(ctypes.c_int64(SIZE), pointers)) / SIZE
    return {key: None if value is None else round(value, 2) for key, value in times.items()}


def _libm_loop(op: Any, dtype: str) -> Any:
    """Return a loop over the C library's own function, one number at a time."""
    name = {"gamma": "tgamma", "gammaln": "lgamma"}.get(op.op_name, op.op_name)
    spelled = c.libm(name, dtype)
    if spelled is None:
        return None
    kind = {"float64": "double", "float32": "float"}[dtype]
    arguments = ", ".join(f"(({kind} *)args[{i}])[i]" for i in range(op.nin))
    folder = Path(tempfile.mkdtemp(dir=_FOLDER.name))
    (folder / "libm.c").write_text(
        f"{INCLUDES}void loop(int64_t n, char **args)\n{{\n    for (int64_t i = 0; i < n; i++)\n"
        f"        (({kind} *)args[{op.nin}])[i] = {spelled}({arguments});\n}}\n"
    )
    command = ["gcc", *FLAGS, "-fno-tree-vectorize", "-shared", "-fPIC", folder / "libm.c", "-o", folder / "libm.so"]
    subprocess.run([*command, "-lm"], check=True)
    return ctypes.CDLL(str(folder / "libm.so")).loop


def compiler_ms(name: str, dtype: str) -> float:
    """Return the milliseconds that the compiler takes for a loop over the function, above one over a copy."""
    op = accuracy.measured_ops(dtype)[name]
    source = _loops(name, dtype).source
    body = re.sub(r"^ +y\w* = .*|^ +z0 = .*", "        z0 = a0;", source[source.index("void loop_") :], flags=re.M)
    empty = INCLUDES + body
    return round(_gcc_time(source, op) - _gcc_time(empty, op), 1)


def _gcc_time(source: str, op: Any) -> float:
    folder = Path(tempfile.mkdtemp(dir=_FOLDER.name))
    (folder / "unit.c").write_text(source)
    command = ["gcc", *FLAGS, "-shared", "-fPIC", folder / "unit.c", "-o", folder / "unit.so", "-lm"]
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1e3 * min(times)


# -- all of it ---------------------------------------------------------------------------------------


def measure(names: list[str], count: int) -> dict[str, Any]:
    """Measure operations (all if there are no names) in both dtypes, printing each as it comes."""
    rows: dict[str, Any] = {}
    with multiprocessing.get_context("spawn").Pool() as pool:
        for name in names or accuracy.measured_ops():
            for dtype in ("float64", "float32"):
                row = exactness(pool, name, dtype, count)
                row |= {"ns": speed(name, dtype), "gcc_ms": compiler_ms(name, dtype)}
                row["own"] = accuracy.is_own(accuracy.measured_ops(dtype)[name], dtype)
                rows.setdefault(name, {})[dtype] = row
                print(line(name, dtype, row), flush=True)
    return rows


def line(name: str, dtype: str, row: dict[str, Any]) -> str:
    """Return one result as one line."""
    ns, at = row["ns"], ", ".join(f"{float.fromhex(a):.17g}" for a in row["at"])
    speeds = "  ".join(f"{key} {'-' if value is None else value}" for key, value in ns.items())
    return (f"{name:10} {dtype}  ulp max {row['max']:<8} mean {row['mean']:<7} at {at:24} wrong {row['wrong'] or 0}"
            f"  ns: {speeds}  gcc {row['gcc_ms']} ms{'' if row['own'] else '  (the C library)'}")  # fmt: skip


def main() -> None:
    """Measure what was asked for; write the results only if it was everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operations; all by default")
    parser.add_argument("--points", type=int, default=1_000_000, help="points per function and dtype")
    parser.add_argument("--write", action="store_true", help="put these rows into docs/library/maths.json")
    asked = parser.parse_args()
    found = measure(asked.names, asked.points)
    if asked.write or not asked.names:
        known = json.loads(RESULTS.read_text())["functions"] if RESULTS.is_file() and asked.names else {}
        whole = {"machine": machine(), "functions": dict(sorted((known | found).items()))}
        RESULTS.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
