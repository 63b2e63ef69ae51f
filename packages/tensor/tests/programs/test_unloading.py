"""Compiled code leaves the process with the last function that needs it, and takes few mappings of memory until then."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.codegen import unit as units
from theano.errors import NoCompilerError


@pytest.fixture(autouse=True, scope="module")
def little_to_walk_over() -> None:
    """Take what earlier tests have left alive from the collector of garbage, which is asked again and again here."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        units.current_toolchain()
    except NoCompilerError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(units, "UNITS_KEPT", 0)
    gc.collect()
    units.drop_unused_units()


def loaded() -> int:
    gc.collect()
    return len(units._loaded.units)


def make(number: int, **options: object) -> theano.compile.Function:
    x = T.dvector("x")
    return theano.function([x], T.tanh(x * (number + 0.125)) + T.exp(x - number), **options)


def right(function: theano.compile.Function, number: int) -> bool:
    value = np.linspace(-1, 1, 7)
    return np.allclose(function(value), np.tanh(value * (number + 0.125)) + np.exp(value - number), rtol=1e-12)


def test_units_go_with_their_functions() -> None:
    before = loaded()
    functions = {number: make(number) for number in range(6)}
    assert all(right(f, number) for number, f in functions.items())
    most = loaded()
    assert most > before
    for number in (0, 2, 4):
        del functions[number]
    assert all(right(f, number) for number, f in functions.items())
    assert before < loaded() <= most
    copies = {number: f.copy() for number, f in functions.items()}
    functions.clear()
    gc.collect()
    assert all(right(f, number) for number, f in copies.items())
    copies.clear()
    assert loaded() == before


@pytest.mark.parametrize("mode", ["FAST_RUN", "DebugMode"])
@pytest.mark.parametrize("what", ["function", "gradient", "rows", "ifelse", "sort"])
def test_what_runs_has_its_code(mode: str, what: str) -> None:
    """Functions of many kinds compute after all else has been unloaded, and leave nothing behind."""
    before = loaded()
    x = T.dvector("x")
    value = np.linspace(-1, 1, 5)
    y = {
        "function": lambda: T.tanh(x * 3.25).sum(),
        "gradient": lambda: T.grad(T.tanh(x * 3.25).sum(), x),
        "rows": lambda: theano.gradient.jacobian(T.tanh(x * 3.25), x),
        "ifelse": lambda: theano.ifelse.ifelse(x.sum() > 5, T.tanh(x * 3.25), T.exp(x * 1.75)),
        "sort": lambda: T.sort(T.sin(x * 3.25)),
    }[what]()
    f = theano.function([x], y, mode=mode)
    first = f(value)
    other = make(7)
    del other
    gc.collect()
    assert np.array_equal(f(value), first)
    again = theano.function([x], y, mode=mode)
    del f
    gc.collect()
    assert np.array_equal(again(value), first)
    del again, y
    assert loaded() == before


def test_what_was_used_last_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "UNITS_KEPT", 2)
    before = loaded()  # functions of other tests may live on in this process
    f = make(11)
    del f
    gc.collect()
    counts = units.compile_counts()
    assert right(make(11), 11)
    assert units.compile_counts().in_process > counts.in_process or units.compile_counts().asked == counts.asked
    assert loaded() <= before + 2
    units.drop_unused_units()


MAPPINGS = """
import gc
import theano, theano.tensor as T
from theano.codegen import unit as units
from theano.graph.kernel import Kernel
from theano.cache.store import CacheSettings
from theano.settings import config

def mappings():
    gc.collect()
    with open("/proc/self/maps") as file:
        lines = file.read().splitlines()
    return len(lines), sum(".cache-here" in line for line in lines)

def compiled(number):
    text = "int KERNEL(th_ctx *ctx) { static double y[3]; y[ctx != 0] += %d; return y[0] > 1e9; }" % number
    return units.compile_kernels([Kernel(f"number {number}", text)], None, CacheSettings.from_config(config))

compiled(-1)
units.UNITS_KEPT = 2
before = mappings()
held = [compiled(number) for number in range(8)]
living = mappings()
held.clear()
for number in range(8, 24):
    compiled(number)
print(before[1], living[1] - before[1], mappings()[1], mappings()[0] - before[0])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_few_mappings_for_each_unit(tmp_path: Path) -> None:
    place = tmp_path / ".cache-here"
    flags = {**os.environ, "THEANO_FLAGS": f"base_compiledir={place}"}
    done = subprocess.run([sys.executable, "-c", MAPPINGS], env=flags, capture_output=True, text=True, check=True)
    first, living, afterwards, growth = map(int, done.stdout.split())
    assert 0 < first <= 3 and 0 < living <= 3 * 8 and afterwards <= 3 * 2, done.stdout
    assert growth < 16, done.stdout  # some memory of Python's own
