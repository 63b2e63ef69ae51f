"""Compile and call times of PyMC's models under a mode of PyTensor: ``python measure.py MODE [MODEL ...]``.

``python measure.py --record FILE [MODEL ...]`` measures THEANO and NUMBA, each in processes of its own: one that
finds empty caches, then two that find full ones, of which the faster one counts. The page about PyMC shows them.

Printed are, for each model: seconds by the clock and seconds of processors (those of compilers included) from
`logp_dlogp_function` to the first value, and microseconds a call of the function of the raveled point. With ``--check``
the values are compared with those of another mode.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from models import MODELS


def compiled(model: Any, mode: str) -> Any:
    """Return the function of value and gradient, and its point."""
    f = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    f.set_extra_values({})
    point = model.initial_point(0)
    from pymc.blocking import DictToArrayBijection

    return f, DictToArrayBijection.map({k: point[k] for k in (v.name for v in model.value_vars)}).data


def call_time(f: Any, x: np.ndarray) -> float:
    """Return the least of several means, in microseconds."""
    f(x)
    best, n = float("inf"), 20
    for _ in range(9):
        begin = perf_counter()
        for _ in range(n):
            f(x)
        took = (perf_counter() - begin) / n
        best, n = min(best, took), max(int(0.05 / took), 5)
    return best * 1e6


def in_a_process(mode: str, name: str, caches: str) -> tuple[float, float]:
    """Return seconds of processors to the first value, and microseconds a call, as a new process measures them."""
    flags = {f"{system}_FLAGS": f"base_compiledir={caches}/{system}" for system in ("THEANO", "PYTENSOR")}
    command = [sys.executable, __file__, mode, name]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **flags}).stdout
    words = said.splitlines()[-1].split()
    return float(words[3]), float(words[-2])


def record(path: Path, names: list[str]) -> None:
    """Write what models take in both modes."""
    found: dict[str, Any] = {}
    for name in names or MODELS:
        for mode in ("THEANO", "NUMBA"):
            with TemporaryDirectory() as caches:
                empty, *full = (in_a_process(mode, name, caches) for _ in range(3))
            call = min(called for _, called in (empty, *full))
            found.setdefault(name, {})[mode] = {"empty": empty[0], "full": min(full)[0], "call": call}
            print(name, mode, found[name][mode], flush=True)
    versions = ", ".join(f"{package} {version(package)}" for package in ("pymc", "pytensor", "numba"))
    measured = (
        f"Seconds of processors, those of compilers included. Measured on {date.today()} by "
        f"`benchmarks/models/measure.py` with {versions}, CPython {sys.version.split()[0]}, "
        f"at a load average of {os.getloadavg()[1]:.1f}."
    )
    path.write_text(json.dumps({"measured": measured, "models": found}, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Measure the models that are named, or all."""
    if arguments[:1] == ["--record"]:
        record(Path(arguments[1]), arguments[2:])
        return
    check = "--check" in arguments
    mode, *names = [a for a in arguments if not a.startswith("-")]
    if mode == "THEANO":
        import theano_pytensor  # noqa: F401
    for name in names or MODELS:
        model = MODELS[name]()
        begin, used = perf_counter(), sum(os.times()[:4])
        f, x = compiled(model, mode)
        value, gradient = f(x)
        took, used = perf_counter() - begin, sum(os.times()[:4]) - used
        called = call_time(f._pytensor_function, x)
        print(f"{name:17s} {took:7.2f} s {used:7.2f} s of CPU {called:9.2f} us", flush=True)
        if check:
            other, _ = compiled(model, "FAST_COMPILE")
            v, g = other(x)
            np.testing.assert_allclose(value, v, rtol=1e-8)
            np.testing.assert_allclose(gradient, g, rtol=1e-6, atol=1e-8)


if __name__ == "__main__":
    main(sys.argv[1:])
