"""The tests of the GPU layer run on the device that GPU_TEST_DEVICE names; `nox -s "tests(gpu-backend)"` finds one.

With GPU_TEST_NVRTC set, each program that a test has compiled is compiled for CUDA, too, with no device at hand: to
machine code for two generations of cards, or with the value "ptx" only as far as PTX for the older one, with little
optimised, in a fifteenth of the time. With GPU_TEST_SOURCES, a folder, programs are kept there instead of being compiled, and what is called fails: so all programs
are there in minutes, but for those of functions that a test makes after a call. With GPU_TEST_CASES, a number, so many cases of each test run, evenly
spread from a place that changes with the commit (tools/portion.py), and with 0.5 one case of every second test: where the device is the CPU, programs take seconds to compile, and all cases an hour (`nox -s devices`).
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from pathlib import Path

import pytest

import theano
from portion import turn
from theano import gpuarray
from theano.cache.names import digest_of
from theano.gpuarray.dialect import movers, prelude
from theano.gpuarray.drivers import compile_cuda, nvrtc_version, ptx_cuda

# What moves elements is the tensor layer's, and so are the programs that try it.
sys.path.append(str(Path(__file__).parents[2] / "tensor" / "tests"))

DEVICE = os.environ.get("GPU_TEST_DEVICE", "opencl0:0")
CONTEXT = gpuarray.get_context(None) if None in list(gpuarray.list_contexts()) else gpuarray.init_dev(DEVICE)
CAPABILITIES = (80, 90)


def pytest_collection_modifyitems(config, items):
    """Leave out cases where only some of each test are wanted."""
    most, now = float(os.environ.get("GPU_TEST_CASES", "0")) or math.inf, turn() or 0
    tests = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = set()
    for cases in list(tests.values())[now % 2 :: 2] if most < 1 else tests.values():
        step = max(1, math.ceil(len(cases) / max(1, most)))
        kept |= set(cases[now // 2 % step :: step])
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.fixture(scope="session")
def context():
    """Return the default context."""
    return CONTEXT


# A context keeps its name as long as the process lives, so each fixture that starts one has the session for its scope. One
# of a module would be set up again where pytest-xdist lets tests of several modules take turns, and find its name taken.
@pytest.fixture(scope="session")
def second():
    """Return another context on the same device: another queue, and memory of its own."""
    return gpuarray.init_dev(DEVICE, "dev1")


@pytest.fixture
def on_device():
    """Return a function like `theano.function`, whose functions are computed on the device."""
    mode = theano.compile.get_default_mode().including("gpuarray")

    def function(inputs, outputs=None, **options):
        return theano.function(inputs, outputs, mode=mode, **options)

    return function


def _compiled_for_cuda_too(context, how):
    """Have NVRTC compile each program, once for all processes and runs: what it compiled is noted beside PoCL's cache."""
    plain, noted = context.functions, Path(os.environ.get("POCL_CACHE_DIR", tempfile.gettempdir())) / "nvrtc"
    noted.mkdir(parents=True, exist_ok=True)

    # What is refused on the way to PTX is refused before programs are optimised.
    compilations = [(compile_cuda, each) for each in CAPABILITIES]
    if how == "ptx":
        compilations = [(ptx_cuda, min(CAPABILITIES), "--Ofast-compile=max")]

    def functions(text, names):
        whole = prelude("cuda") + text
        mark = noted / digest_of(f"{nvrtc_version()} {CAPABILITIES} {how} {whole}".encode())
        if not mark.exists():
            for compiled, *options in compilations:
                assert compiled(whole, *options)
            mark.touch()
        return plain(text, names)

    context.functions = functions


def _kept_for_later(context, folder):
    """Keep each program in a folder, for tools/device_resources.py; another one, which no launch fits, stands for it."""
    (nothing,) = context.functions("KERNEL void nothing(GLOBAL char *p0) { (void)p0; }\n", ("nothing",))
    folder.mkdir(parents=True, exist_ok=True)

    def functions(text, names):
        (folder / f"{digest_of(text.encode())}.cl").write_text(text)
        return [nothing] * len(names)

    functions(*movers())
    context.functions = functions


if os.environ.get("GPU_TEST_SOURCES"):
    _kept_for_later(CONTEXT, Path(os.environ["GPU_TEST_SOURCES"]))
if os.environ.get("GPU_TEST_NVRTC"):
    _compiled_for_cuda_too(CONTEXT, os.environ["GPU_TEST_NVRTC"])
