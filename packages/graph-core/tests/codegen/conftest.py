"""Kernels that can be called without a machine, and processes that compile them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from theano.cache.store import CacheSettings
from theano.codegen import unit as units
from theano.errors import NoCompilerError
from theano.graph.kernel import Kernel
from theano.toolchain import select
from warm import Child, Warm

WORKER = """
import ctypes, random, sys
from theano.cache import sweep
from theano.cache.store import CacheSettings
from theano.graph.kernel import Kernel
from theano.codegen.unit import compile_counts, compile_kernels
from theano.toolchain.description import ToolchainSettings

def number(n, name=""):
    return Kernel(name or f"the number {n}", "int KERNEL(th_ctx *ctx) { (void)ctx; return %d; }" % n)

def call(address):
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)(None)
"""


# Programs do not import the modules that only those import who compile.
WORKERS = Warm(f"{WORKER}\nimport theano.toolchain.build, theano.toolchain.probe_budget, theano.toolchain.run")


@pytest.fixture(scope="session", autouse=True)
def compiler() -> None:
    """Skip these tests where nothing can compile."""
    try:
        units.current_toolchain()
    except NoCompilerError as error:
        pytest.skip(str(error))


@pytest.fixture
def cache(tmp_path: Path) -> CacheSettings:
    """An empty cache in a place with an awkward name."""
    return CacheSettings(root=str(tmp_path / "spa ce:ünï" / "cache"))


@pytest.fixture
def number() -> Callable[..., Kernel]:
    """Makes a kernel that returns a number."""

    def make(value: int, name: str = "") -> Kernel:
        source = f"int KERNEL(th_ctx *ctx) {{ (void)ctx; return {value}; }}"
        return Kernel(name or f"the number {value}", source)

    return make


@pytest.fixture
def call() -> Callable[[int], int]:
    """Calls machine code that ignores its context."""

    def run(address: int) -> int:
        result: int = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)(None)
        return result

    return run


@pytest.fixture
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes this process forget everything it has found and loaded, now and after the test."""
    held: list[object] = []

    def forget() -> None:
        held.append(units._loaded)  # machine code that a test still has an address of
        monkeypatch.setattr(units, "_loaded", units._Loaded())
        select.forget()
        monkeypatch.setattr("theano.cache.store._caches", {})

    forget()
    return forget


@pytest.fixture
def worker() -> Callable[..., Child | subprocess.Popen[str]]:
    """Starts a Python process that has `number`, `call`, and what compiles kernels."""

    # What is noted depends on who names the compiler.
    usual = {name: value for name, value in os.environ.items() if name != "CC"}
    return lambda code, *arguments: WORKERS.start(code, *arguments, env=usual)


@pytest.fixture
def fresh_worker() -> Callable[..., subprocess.Popen[str]]:
    """Starts a Python process like a worker that is no fork of another."""
    usual = {name: value for name, value in os.environ.items() if name != "CC"}

    def start(code: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", WORKER + code, *arguments],
            env={**usual, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start
