"""The library built ahead exists once for each level of instructions, and each computes what the least does.

A working copy has the level of its own CPU alone; with all of them (``THEANO_LEVELS=all``, as `nox -s full` builds) they
are compared here.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np
import pytest
from families import everything
from kernel_harness import run

from theano.graph.kernel import Builtin
from theano.loader.module import cpu_level
from theano.settings import config
from theano.tensor.blas.lowering import doctor
from theano.tensor.kernels import common

CASES = [case for case in everything() if isinstance(case[0], Builtin)]
LEVELS = list(common.library_paths())


def test_levels_of_this_cpu():
    on_x86 = platform.machine().lower() in ("x86_64", "amd64")
    assert (cpu_level() >= 1) == on_x86
    levels = ["baseline"] + [name for name, least in (("v3", 3), ("v4", 4)) if cpu_level() >= least]
    assert LEVELS in (levels, levels[-1:])
    with config.change_flags(cpu_level="auto"):
        assert common.library_path() == list(common.library_paths().values())[-1]


@pytest.mark.parametrize("level", list(common.LEVELS))
def test_the_flag_chooses(level):
    with config.change_flags(cpu_level=level):
        at_most = [name for name in LEVELS if rank(name) <= rank(level)]
        ready = common.Ready("th_kernel_dot", lambda op, node: ())(None, None)
        if not at_most:
            assert common.library_path() is None and ready is None
        else:
            assert common.library_path() == common.library_paths()[at_most[-1]] == ready.library


def test_without_a_library_of_an_allowed_level_a_warning_says_what_to_do(monkeypatch, caplog, tmp_path):
    (tmp_path / f"_kernels_v4{EXTENSION_SUFFIXES[0]}").touch()
    monkeypatch.setattr("theano.loader.module.cpu_level", lambda: 3)
    package = str(tmp_path)
    assert common.library_level(package) is None and common.library_level(package) is None
    (said,) = caplog.messages
    assert package in said and "built for v4 alone" in said and "THEANO_LEVELS=all" in said
    assert common.library_level(str(tmp_path / "nothing")) is None and len(caplog.messages) == 1


def test_the_doctor_names_the_vectors_of_the_level():
    known = {"v4": "AVX-512", "v3": "AVX2", "baseline": "vectors of 128 bits"}
    for level in common.library_paths():
        with config.change_flags(cpu_level=level):
            wanted = "NEON" if platform.machine() == "aarch64" else known[level]
            assert common.library_vectors() == wanted
            (said,) = [line.text for line in doctor() if line.topic == "kernels"]
            assert said.endswith(f"; {wanted} on {platform.machine()})")


def rank(level):
    return list(common.LEVELS).index(level)


@pytest.mark.parametrize("level", LEVELS[1:])
def test_each_level_computes_the_same(level):
    assert len(CASES) > 20
    for kernel, node, inputs in CASES:
        there, base = (replace(kernel, library=common.library_paths()[name]) for name in (level, LEVELS[0]))
        for got, want in zip(run(there, node, inputs), run(base, node, inputs), strict=True):
            assert got.dtype == want.dtype
            if got.dtype.kind in "fc":
                # Wider vectors add in another order, and a fused multiply-add rounds once.
                tolerance = 64 * np.finfo(got.dtype).eps
                np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=str(node))
            else:
                np.testing.assert_array_equal(got, want, err_msg=str(node))


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_at_each_level(level):
    program = (
        "import numpy as np, theano, theano.tensor as T\n"
        "x = T.dmatrix('x'); f = theano.function([x], [T.dot(x, x.T), x.sum(axis=0), x[::-1] * 2])\n"
        "a = np.arange(12.0).reshape(3, 4); d, s, r = f(a)\n"
        "assert (d == a @ a.T).all() and (s == a.sum(0)).all() and (r == a[::-1] * 2).all()\n"
        "from theano.runtime import link\n"
        f"assert list(link._libraries) == [{common.library_paths()[level]!r}], list(link._libraries)\n"
    )
    flags = ",".join(filter(None, [os.environ.get("THEANO_FLAGS", ""), f"cpu_level={level}"]))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "THEANO_FLAGS": flags}
    )
    assert done.returncode == 0, done.stderr
