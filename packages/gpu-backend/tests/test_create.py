"""Triangles of ones, and names of ops that are functions of elements: the device against the CPU."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from compare import MODE, nodes

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray.ops import GpuCumOp, GpuElemwise, GpuTri


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64"])
def test_triangles(dtype):
    n, m, k = T.lscalars("n", "m", "k")
    f = theano.function([n, m, k], gpuarray.as_gpuarray_variable(T.tri(n, m, k, dtype)), mode=MODE)
    assert GpuTri in {type(node.op) for node in nodes(f)[0]}
    for shape in ((3, 4), (0, 3), (3, 0), (40, 20), (1, 1)):
        for diagonal in (-100, -2, -1, 0, 1, 3, 100):
            np.testing.assert_array_equal(np.asarray(f(*shape, diagonal)), np.tri(*shape, diagonal, dtype=dtype))
    with pytest.raises(ValueError, match="negative dimensions"):
        f(-1, 2, 0)


def test_documented_names():
    elemwise = importlib.import_module("theano.gpuarray.elemwise")
    x = T.fvector("x")
    f = theano.function([x], [T.erfinv(x), T.erfcinv(x + 1)], mode=MODE)
    classes = {
        type(node.op.scalar_op).__name__ for node in f.maker.fgraph.toposort() if isinstance(node.op, GpuElemwise)
    }
    assert classes <= {elemwise.GpuErfinv.__name__, elemwise.GpuErfcinv.__name__, "Composite"}
    assert importlib.import_module("theano.gpuarray.basic_ops").GpuTri is GpuTri
    assert importlib.import_module("theano.gpuarray.extra_ops").GpuCumsumOp is GpuCumOp
