"""The functions of the scalar layer as device functions, in both languages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from theano.compile.environment import SUFFIXES
from theano.gpuarray import dialect
from theano.gpuarray.dialect import device_blocks, in_dialect, prelude
from theano.gpuarray.drivers import compile_cuda
from theano.scalar.c import snippets, support

COMPILED = [name for name in snippets() if device_blocks(support([name])) is not None]
#: What only a CPU computes.
FOREIGN = set(snippets()) - set(COMPILED)


def test_what_has_no_device_form_is_sequential():
    assert {name.rpartition("_")[2] for name in FOREIGN} <= {"f64", "f32", "cmplx"}
    assert not FOREIGN & {
        f"{name}_{dtype}"
        for name in ("exp", "log", "tanh", "pow", "erf", "gammaln", "sigmoid")
        for dtype in ("f32", "f64")
    }


def program(language):
    blocks = device_blocks(support(COMPILED))
    return prelude(language) + in_dialect("\n".join(blocks)) + "\nKERNEL void nothing(GLOBAL char *p0) { (void)p0; }\n"


def test_every_function_compiles_for_the_device(context):
    assert context.driver.compile(program(context.driver.language))


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.skipif(importlib.util.find_spec("cuda") is None, reason="no NVRTC: pip install theano-gpu-backend[cuda]")
def test_every_function_compiles_for_cuda(capability):
    assert compile_cuda(program("cuda"), capability)


def test_plans_are_kept_for_the_text_of_programs():
    """What was compiled by a layer's files is not found again once one of them has changed."""
    folder = Path(dialect.__file__).parent
    texts = {file.suffix for file in folder.iterdir() if file.is_file()}
    assert texts >= {".cl", ".h", ".py"}
    assert all(f"x{suffix}".endswith(SUFFIXES) for suffix in texts)
