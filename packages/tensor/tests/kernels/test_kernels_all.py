"""What holds for kernels of every family: they run in the real machine, compile without a warning, and touch no foreign memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from families import everything
from kernel_harness import C_SOURCES, INCLUDES, SCRATCH, compile_many, run, unit_text

from theano.codegen.unit import compile_kernels
from theano.graph.kernel import Builtin, Kernel
from theano.graph.type import BufferSpec

SWEEP = os.environ.get("SIZES") == "sweep"
STRICT = "-std=gnu11 -Wall -Wextra -Werror -fopenmp-simd -fno-math-errno -fwrapv -fno-strict-aliasing -c".split()
STRICT += ["-Wno-unknown-pragmas", "-Wno-bitwise-instead-of-logical"]  # of comparisons: so that there is no branch
# What compilers find by following values takes ten times as long; less than the layer is built with is enough for it.
STRICT += ["-O1"] if SWEEP else ["-fsyntax-only"]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def cases():
    found = everything()
    assert all(kernel is not None for kernel, _, _ in found)
    compile_many([k for k, _, _ in found if isinstance(k, Kernel)])
    return found


def spec_of(variable):
    return BufferSpec(variable.type.dtype, variable.type.ndim, variable.type.broadcastable)


def test_through_the_machine(cases):
    machine = pytest.importorskip("theano.loader.module")
    compiled = [k for k, _, _ in cases if isinstance(k, Kernel)]
    addresses = dict(zip(map(id, compiled), compile_kernels(compiled), strict=True))
    for kernel, n, inputs in cases:
        keep = None
        if isinstance(kernel, Builtin):
            keep = machine.Library(kernel.library)
            address = keep.symbol(kernel.symbol)
        else:
            address = addresses[id(kernel)]
        places = range(len(inputs)), range(len(inputs), len(inputs) + len(n.outputs))
        slots = [("input", spec_of(v), None) for v in n.inputs] + [("temp", spec_of(v), None) for v in n.outputs]
        f = machine.Function(
            slots=slots,
            instructions=[("c", int(address), kernel.packed, list(places[0]), list(places[1]), kernel.work)],
            inputs=[(i, f"x{i}", True, None, None) for i in places[0]],
            outputs=list(places[1]),
            keepalive=(keep, address),
        )
        before = [i.copy() for i in inputs]
        for _ in range(2):
            for ours, theirs in zip(f(*inputs), run(kernel, n, inputs), strict=True):
                np.testing.assert_array_equal(ours, theirs, err_msg=str(n))
        for i, b in zip(inputs, before, strict=True):
            np.testing.assert_array_equal(i, b)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_warnings(cases, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    text = SCRATCH / f"strict-{compiler}.c"
    text.write_text(unit_text([k for k, _, _ in cases if isinstance(k, Kernel)]))
    for source in [text, *(path for path in C_SOURCES if path.suffix == ".c")]:
        if source.name == "module.c":
            continue
        command = [compiler, *STRICT, *INCLUDES, str(source), "-o", os.devnull]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{source.name}:\n{done.stderr[:4000]}"


@pytest.mark.slow
def test_sanitizers():
    """Tests of families of kernels again, with address and undefined-behaviour sanitizers in kernels and library.

    Here those of loops over elements; ``nox -s sweep`` has more families, ``nox -s sanitise`` all: they take minutes to
    compile.
    """
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("no gcc")
    preload = subprocess.run([gcc, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(preload):
        pytest.skip("gcc without libasan")
    families, left_out = ["elemwise"], ["conv", "fft", "linalg", "pool", "random"]
    if SWEEP:
        families += ["reduce", "layout", "move", "index", "blas", "nnet", "order"]
    else:
        left_out += ["blas", "control", "create", "device", "index", "nnet", "reduce", "shape", "sort"]
    flags = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize=float-cast-overflow,float-divide-by-zero -O1 -g"
    env = {
        **os.environ, "KERNEL_TEST_FLAGS": flags, "KERNEL_TEST_WITHOUT": " ".join(left_out), "CC": gcc, "LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",
    }  # fmt: skip
    selection = [f"test_kernels_{family}.py" for family in families]
    chosen = "not dtypes_layouts and not hash_seed and not any_pieces and not accurate"
    if not SWEEP:
        chosen += " and not numbers_of_axes and not bit_for_each_operand"  # kernels of many axes and operands
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", chosen]
    done = subprocess.run([*command, *(str(HERE / s) for s in selection)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
