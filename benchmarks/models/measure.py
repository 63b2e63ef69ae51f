"""Compile and call times of PyMC's models under a mode of PyTensor: ``python measure.py MODE [MODEL ...]``.

``python measure.py --record FILE [MODEL ...]`` measures THEANO and NUMBA, each in processes of its own: one that
finds empty caches, then two that find full ones, of which the faster one counts. Models of `SAMPLED` are also sampled.
The page about PyMC shows the record.

A line for each model: seconds by the clock and seconds of processors (those of compilers included) from
`logp_dlogp_function` to the first value, and microseconds a call of the function of the raveled point. ``--check``
compares the values with those of another mode. ``--sample`` draws four chains in place of that: a line has the seconds
of `pm.sample` by the clock and the least effective sample size of a variable.
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

SAMPLED = ("eight_schools", "logistic", "poisson_groups")
CHAINS = {"draws": 1000, "tune": 1000, "chains": 4, "cores": 2, "random_seed": 1, "progressbar": False}


def compiled(model: Any, mode: str) -> Any:
    """Return the function of value and gradient."""
    f = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    f.set_extra_values({})
    return f


def start(model: Any) -> np.ndarray:
    """Return the point to begin at, which PyMC computes in PyTensor's default mode whatever the mode of the model."""
    from pymc.blocking import DictToArrayBijection

    point = model.initial_point(0)
    return DictToArrayBijection.map({v.name: point[v.name] for v in model.value_vars}).data


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


def sample(model: Any, mode: str) -> tuple[float, float]:
    """Return the seconds of four chains, and the least effective sample size of a variable."""
    import arviz
    import pymc

    begin = perf_counter()
    with model:
        trace = pymc.sample(compile_kwargs={"mode": mode}, compute_convergence_checks=False, **CHAINS)
    took = perf_counter() - begin
    sizes = arviz.ess(trace)
    return took, min(float(sizes[name].min()) for name in sizes.data_vars)


def in_a_process(mode: str, name: str, caches: str, *options: str) -> list[str]:
    """Return the words of the line that a new process prints."""
    flags = {f"{system}_FLAGS": f"base_compiledir={caches}/{system}" for system in ("THEANO", "PYTENSOR")}
    command = [sys.executable, __file__, mode, name, *options]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **flags}).stdout
    return said.splitlines()[-1].split()


def record(path: Path, names: list[str]) -> None:
    """Write what models take in both modes."""
    found: dict[str, Any] = {}
    for name in names or MODELS:
        for mode in ("THEANO", "NUMBA"):
            with TemporaryDirectory() as caches:
                lines = [in_a_process(mode, name, caches) for _ in range(3)]
                empty, *full = (float(line[3]) for line in lines)
                kept = {"empty": empty, "full": min(full), "call": min(float(line[-2]) for line in lines)}
                if name in SAMPLED:
                    took, size = map(float, in_a_process(mode, name, caches, "--sample")[1:4:2])
                    kept |= {"sample": took, "ess": size}
            found.setdefault(name, {})[mode] = kept
            print(name, mode, kept, flush=True)
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
        if "--sample" in arguments:
            took, size = sample(model, mode)
            print(f"{name} {took:.2f} s {size:.0f} effective draws", flush=True)
            continue
        x = start(model)
        begin, used = perf_counter(), sum(os.times()[:4])
        f = compiled(model, mode)
        value, gradient = f(x)
        took, used = perf_counter() - begin, sum(os.times()[:4]) - used
        called = call_time(f._pytensor_function, x)
        print(f"{name:17s} {took:7.2f} s {used:7.2f} s of CPU {called:9.2f} us", flush=True)
        if check:
            v, g = compiled(model, "FAST_COMPILE")(x)
            np.testing.assert_allclose(value, v, rtol=1e-8)
            np.testing.assert_allclose(gradient, g, rtol=1e-6, atol=1e-8)


if __name__ == "__main__":
    main(sys.argv[1:])
