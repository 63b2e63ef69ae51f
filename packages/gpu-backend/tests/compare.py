"""A function computed on the device, and the same on the CPU."""

from __future__ import annotations

import os

import numpy as np

import theano
import theano.tensor as T
from theano.gpuarray import GpuArrayType
from theano.tensor.device.ops import FromDevice, ToDevice

MODE = theano.compile.get_default_mode().including("gpuarray")
ON_CPU = theano.compile.get_default_mode()
TOLERANCES = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12, "complex64": 2e-5, "complex128": 1e-12}

FLOATS = ("float16", "float32", "float64")
WHOLE = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

#: Programs are wanted, not results: see conftest.py.
ONLY_SOURCES = "GPU_TEST_SOURCES" in os.environ

LAYOUTS = {
    "C": lambda x: np.ascontiguousarray(x),
    "F": lambda x: np.asfortranarray(x),
    "reversed": lambda x: np.flip(np.ascontiguousarray(np.flip(x))),
    "every second": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "offset": lambda x: np.concatenate([x[:1], x])[1:] if x.ndim and len(x) else x,
}


def numbers(shape, dtype, seed=0):
    """Return an array of random numbers."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in WHOLE:
        return rng.integers(0 if dtype.startswith("u") else -9, 9, shape).astype(dtype)
    return np.asarray(rng.normal(size=shape)).astype(dtype)


def variable(dtype, ndim, name="x"):
    """Return a variable for arrays of a dtype."""
    return T.TensorType(dtype, (False,) * ndim)(name)


def nodes(f):
    """Return the nodes of a function on the device, and those on the host, without transfers."""
    order = [n for n in f.maker.fgraph.toposort() if not isinstance(n.op, (ToDevice, FromDevice))]
    there = [n for n in order if isinstance(n.outputs[0].type, GpuArrayType)]
    return there, [n for n in order if n not in there]


def agree(inputs, outputs, values, tolerance=None, all_there=True):
    """Assert that a function gives on the device what it gives on the CPU, and that the device computed it; return it."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    f = theano.function(inputs, outputs, mode=MODE, on_unused_input="ignore", allow_input_downcast=False)
    if ONLY_SOURCES:
        return f
    wanted = theano.function(inputs, outputs, mode=ON_CPU, on_unused_input="ignore")(*values)
    there, here = nodes(f)
    assert there, "nothing is computed on the device"
    if all_there:
        assert not [n for n in here if any(v.type.ndim and not all(v.type.broadcastable) for v in n.outputs)], here
    for got, want in zip(f(*values), wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        if got.dtype.kind in "biu":
            np.testing.assert_array_equal(got, want)
        else:
            tol = tolerance or TOLERANCES[str(got.dtype)]
            np.testing.assert_allclose(got, want, rtol=tol, atol=tol)
    return f
