"""What the doctor says of devices, and machines without any: the import works, and the flag says what lacks."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys

import pytest

from conftest import DEVICE
from theano.gpuarray import GpuUnavailableError, checks
from theano.gpuarray.drivers import there


def lines():
    return {line.topic: line for line in checks.doctor()}


def test_drivers_and_devices():
    said = lines()
    assert f"device={DEVICE}" in said["devices"].text or DEVICE == "cuda"
    assert "CUDA: " in said["drivers"].text and "OpenCL: " in said["drivers"].text
    for spelling, name in there():
        assert spelling in said["devices"].text and name in said["devices"].text
    if DEVICE.startswith("opencl"):
        assert "pyopencl 2" in said["drivers"].text


def test_what_is_installed(monkeypatch):
    monkeypatch.setattr(checks, "_installed", lambda name: "9.1" if name == "nvidia-cudnn-cu12" else "")
    monkeypatch.setattr(checks, "there", lambda: [("cuda0", "a card")])
    monkeypatch.setattr(checks, "nvrtc_version", lambda: (_ for _ in ()).throw(GpuUnavailableError("it lacks: pip")))
    said = lines()
    assert said["cuDNN"].text == "nvidia-cudnn-cu12 9.1"
    assert "pip install nvidia-cublas" in said["cuBLAS"].text and said["cuBLAS"].ok
    assert "pip install nvidia-cusolver" in said["cuSOLVER"].text and said["cuSOLVER"].ok
    if importlib.util.find_spec("cuda"):
        assert not said["nvrtc"].ok and "theano-gpu-backend[cuda]" in said["nvrtc"].remedy
    monkeypatch.setattr(checks, "there", list)
    said = lines()
    assert "none" in said["devices"].text and "cuBLAS" not in said and all(line.ok for line in said.values())


def test_packages_that_lack(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(checks, "there", list)
    said = lines()
    for extra in ("cuda", "opencl"):
        assert f"theano-gpu-backend[{extra}]" in said[extra].remedy
    assert "pyopencl is not installed" in said["drivers"].text


@pytest.mark.parametrize("code", [0, 100])
def test_a_driver_of_nvidia(monkeypatch, code):
    class Driver:
        def cuInit(self, flags):
            return code

        def cuDriverGetVersion(self, number):
            ctypes.cast(number, ctypes.POINTER(ctypes.c_int))[0] = 13020
            return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda path: Driver())
    text = checks._cuda_driver()
    assert text.startswith("driver for CUDA 13.2") and ("error 100" in text) == bool(code)


#: In a process where no package that finds devices can be imported, and no library of a driver's can be opened.
WITHOUT = """
import sys
for name in ("pyopencl", "cuda", "cuda.bindings", "cuda.bindings.nvrtc"):
    sys.modules[name] = None
import ctypes
plain = ctypes.CDLL
def refuse(path, *args, **kwargs):
    if path and ("libcuda" in str(path) or "OpenCL" in str(path)):
        raise OSError(path)
    return plain(path, *args, **kwargs)
ctypes.CDLL = refuse
"""


def run(program, flags):
    env = {**os.environ, "THEANO_FLAGS": flags}
    return subprocess.run([sys.executable, "-c", WITHOUT + program], env=env, capture_output=True, text=True)


def test_without_a_device_everything_else_works():
    done = run(
        "import numpy as np, theano, theano.gpuarray, theano.tensor as T\n"
        "x = T.dvector('x')\n"
        "assert theano.function([x], T.exp(x).sum())(np.zeros(3)) == 3\n"
        "theano.gpuarray.GpuArrayType('float32', (False,))('v')\n"
        "print(list(theano.gpuarray.list_contexts()))\n",
        "",
    )
    assert done.returncode == 0 and done.stdout.strip() == "[]", done.stderr


def has_driver():
    try:
        return bool(ctypes.CDLL("libcuda.so.1"))
    except OSError:
        return False


@pytest.mark.parametrize(("device", "said"), [("cuda", "libcuda.so.1"), ("opencl0:0", "pyopencl")])
@pytest.mark.parametrize("force", [False, True])
def test_the_flag_says_what_lacks(device, said, force):
    """Without force_device the program runs on the CPU, and says so; with it, there is no program."""
    program = "import numpy as np, theano\nprint(type(theano.shared(np.ones(2))).__name__)\n"
    done = run(program, f"device={device},force_device={force}")
    if device == "cuda" and has_driver():  # which is no package: what lacks then is the compiler
        said = "kernels for CUDA are compiled by NVRTC, which is not here"
    assert said in done.stderr
    if force:
        assert done.returncode != 0 and "GpuUnavailableError" in done.stderr
    else:
        assert done.returncode == 0 and done.stdout.strip() == "TensorSharedVariable", done.stderr
        assert "Traceback" not in done.stderr
