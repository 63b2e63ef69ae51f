"""Each op's files are where the page "Add an op to Theano" says: by the name of its family, on every target."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import theano.compile.copy_ops
import theano.scan.op
import theano.tensor.conv
import theano.tensor.nnet  # noqa: F401  (classes of its ops)
from theano.gpuarray.lowering import TARGET
from theano.lowering.table import lowerings
from theano.lowering.targets import CPU

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "extending" / "adding_ops.md").read_text("utf-8")
PATTERN = [line.split()[0] for line in re.search(r"```text\n(.*?)```", PAGE, re.S)[1].splitlines()]
ON_CPU, ON_DEVICES = (
    [p for p in PATTERN if p.startswith(f"packages/{layer}/src")] for layer in ("tensor", "gpu-backend")
)
ENTRIES = [
    pytest.param(entry, target, id=f"{target.name}-{entry.op.__name__}")
    for target in (CPU, TARGET)
    for entry in lowerings(target)
    if entry.op.__module__.startswith("theano.tensor.") and entry.becomes is not None
]
#: What all families of a folder for devices share, and what has the words of a library or of a driver.
SHARED = {
    "lowering": {"__init__", "common", "device"},
    "kernels/c": {"arena", "commands", "cublas", "cuda", "cuda_graph", "cudnn", "cudnn_pool", "cusolver", "gpu", "job",
                  "memory", "move", "opencl"},
    "dialect": {"__init__", "common", "complex", "cuda", "move", "opencl", "users"},
}  # fmt: skip
FAMILIES = sorted({entry.op.__module__.split(".")[2] for entry in lowerings(TARGET) if "tensor" in entry.op.__module__})
FAMILIES.remove("device")  # transfers: what runs them is in the loader, and all tests of devices need them


@cache
def files(family: str, *patterns: str) -> list[Path]:
    """Return the files of a family."""
    named = [re.sub(r"(?<=[/_])F(?=[*/])", family, pattern) for pattern in patterns]
    return [path for pattern in named for path in ROOT.glob(pattern)]


@cache
def text_of(family: str, *patterns: str) -> str:
    """Return what C a family has, where names that a macro puts together are whole."""
    return "".join(p.read_text("utf-8") for p in files(family, *patterns) if p.suffix in (".c", ".h"))


@pytest.mark.parametrize("entry,target", ENTRIES)
def test_an_op_is_found_by_the_pattern(entry, target):
    family = entry.op.__module__.split(".")[2]
    assert Path(inspect.getsourcefile(entry.op)) in files(family, *ON_CPU)
    says = importlib.import_module(getattr(entry.becomes, "params", entry.becomes).__module__)
    # What only moves elements is the CPU's kernel on all devices.
    on_cpu = target == CPU or says.__name__.startswith("theano.tensor.")
    patterns, prefix = (ON_CPU, "th_kernel_") if on_cpu else (ON_DEVICES, "th_kernel_gpu_")
    assert Path(says.__file__) in files(family, *patterns)
    symbol = getattr(entry.becomes, "symbol", None)
    if symbol is not None:
        made = rf"TH_EXPORT int {symbol}\(|\({symbol.removeprefix(prefix)}[,)]"
        assert re.search(made, text_of(family, *patterns)), f"no file of {family} has {symbol}"


@pytest.mark.parametrize("folder", SHARED)
def test_each_file_for_devices_has_the_name_of_a_family(folder):
    found = {path.stem for path in (ROOT / "packages/gpu-backend/src/theano/gpuarray" / folder).glob("*.*")}
    assert found - SHARED[folder] >= {"nnet_softmax", "pool", "fft"}
    assert [name for name in found - SHARED[folder] if name.partition("_")[0] not in FAMILIES] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_tests_of_its_name(family):
    for pattern in PATTERN:
        if "/tests/" in pattern:
            assert files(family, pattern), f"nothing is at {pattern} for {family}"
