"""Neighbourhoods of images as rows: the device against the CPU."""

from __future__ import annotations

import importlib
from functools import cache

import numpy as np
import pytest
from compare import LAYOUTS, MODE, ON_CPU, agree, nodes

import theano
import theano.tensor as T
from theano.gpuarray import ops as there
from theano.tensor.create.alloc import Alloc
from theano.tensor.nnet.neighbours import Images2Neibs, images2neibs, neibs2images

#: Mode, shape of the images, and of a neighbourhood, and step.
GEOMETRIES = [
    ("valid", (2, 3, 4, 6), (2, 3), (2, 3)),
    ("valid", (1, 2, 5, 7), (3, 3), (1, 2)),
    ("valid", (1, 1, 1, 1), (1, 1), (1, 1)),
    ("ignore_borders", (2, 2, 5, 7), (2, 3), (3, 2)),
    ("ignore_borders", (2, 2, 1, 7), (2, 3), (1, 1)),
    ("half", (2, 1, 5, 6), (3, 2), (2, 1)),
    ("full", (1, 3, 4, 5), (2, 3), (1, 2)),
    ("wrap_centered", (2, 2, 5, 4), (3, 1), (2, 3)),
    ("wrap_centered", (1, 2, 5, 7), (5, 7), (1, 1)),
    ("valid", (0, 2, 4, 4), (2, 2), (2, 2)),
    ("full", (2, 0, 4, 4), (2, 2), (1, 1)),
    ("valid", (3, 5, 33, 64), (3, 2), (3, 2)),
]


@cache
def compiled(mode, dtype, where):
    x, size, step = T.TensorType(dtype, (False,) * 4)(), T.lvector(), T.lvector()
    return theano.function([x, size, step], Images2Neibs(mode)(x, size, step), mode=where)


def same(mode, x, size, step):
    on_device, on_cpu = (compiled(mode, x.dtype.name, where) for where in (MODE, ON_CPU))
    assert [type(n.op).__name__ for n in nodes(on_device)[0]] == ["GpuImages2Neibs"]
    found, wanted = (f(x, np.array(size), np.array(step)) for f in (on_device, on_cpu))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("mode", "shape", "size", "step"), GEOMETRIES, ids=str)
def test_geometries(mode, shape, size, step):
    same(mode, np.arange(np.prod(shape), dtype="float32").reshape(shape) + 1, size, step)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "int64", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    same("half", np.random.default_rng(0).integers(0, 99, (2, 3, 5, 4)).astype(dtype), (3, 2), (2, 2))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    same("full", LAYOUTS[layout](np.random.default_rng(0).normal(size=(2, 3, 5, 5))), (2, 3), (1, 2))


@pytest.mark.parametrize("mode", ["valid", "half", "full", "wrap_centered", "ignore_borders"])
def test_there_and_back_with_gradients(mode):
    x, d = T.dtensor4("x"), T.dtensor4("d")
    rows = images2neibs(T.exp(x), (3, 3), (1, 1), mode)
    slope = T.grad(T.sqr(rows).sum(), x)
    outputs = [rows, slope, T.grad(T.sqr(slope).sum(), x), T.Rop(rows, x, d)]
    if mode in ("valid", "ignore_borders"):
        outputs.append(neibs2images(images2neibs(T.exp(x), (3, 3), mode=mode), (3, 3), x.shape, mode))
    values = [np.random.default_rng(k).normal(size=(2, 2, 6, 9)) for k in range(2)]
    f = agree([x, d], outputs, values, all_there=False)
    # The zeros that a gradient is added to are made on the host: what is written by index alone asks for no device.
    arrays = [n for n in nodes(f)[1] if any(v.type.dtype == "float64" and v.type.ndim for v in n.outputs)]
    assert all(isinstance(n.op, Alloc) for n in arrays)


WRONG = [
    ("valid", (1, 1, 5, 4), (2, 2), (2, 2)),
    ("valid", (1, 1, 1, 4), (2, 2), (2, 2)),
    ("wrap_centered", (1, 1, 4, 4), (2, 3), (1, 1)),
    ("half", (1, 1, 4, 4), (0, 3), (1, 1)),
    ("half", (1, 1, 4, 4), (3, 3), (1, -1)),
    ("half", (1, 1, 4, 4), (3, 3, 3), (1, 1)),
]


@pytest.mark.parametrize(("mode", "shape", "size", "step"), WRONG, ids=str)
def test_what_does_not_fit_is_said_as_on_the_cpu(mode, shape, size, step):
    said = []
    for where in (MODE, ON_CPU):
        with pytest.raises((TypeError, ValueError)) as found:
            compiled(mode, "float32", where)(np.ones(shape, "float32"), np.array(size), np.array(step))
        said.append((found.type, str(found.value).splitlines()[0]))
    assert said[0] == said[1]


def test_names_that_programs_look_for():
    assert issubclass(there.GpuImages2Neibs, Images2Neibs)
    assert importlib.import_module("theano.gpuarray.neighbours").GpuImages2Neibs is there.GpuImages2Neibs
