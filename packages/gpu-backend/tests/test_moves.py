"""Views, copies, joins and indices on a device: the tensor layer's own kernels, by the device's `gather` and `scatter`."""

from __future__ import annotations

import numpy as np
import pytest
from compare import MODE, ON_CPU, agree, nodes
from moves import CREATIONS, DTYPES, MOVES, program, values_of

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray.variables import GpuFromHost, host_from_gpu
from theano.tensor.create.diagonals import Tri


def there(v):
    return host_from_gpu(GpuFromHost(None)(v))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MOVES)
def test_moves(name, dtype):
    inputs, result = program(name, dtype, there)
    f = theano.function(inputs, result, mode=MODE, on_unused_input="ignore")
    plain_inputs, plain = program(name, dtype, lambda v: v)
    wanted = theano.function(plain_inputs, plain, mode=ON_CPU, on_unused_input="ignore")(*values_of(dtype))
    assert nodes(f)[0], "nothing happened on the device"
    np.testing.assert_equal(f(*values_of(dtype)), wanted)


@pytest.mark.parametrize("name", CREATIONS)
def test_creations(name):
    n = T.lscalar("n")
    f = theano.function([n], there(CREATIONS[name](n)), mode=MODE)
    assert nodes(f)[0]
    np.testing.assert_array_equal(f(3), theano.function([n], CREATIONS[name](n), mode=ON_CPU)(3))


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 70_000])
@pytest.mark.parametrize("adds", [False, True])
def test_many_places_some_of_them_often(n, adds):
    """In order, as on the CPU: sums of floats are the same to the last bit."""
    rng = np.random.default_rng(n)
    x, y, i = T.fmatrix("x"), T.fmatrix("y"), T.lvector("i")
    written = (T.inc_subtensor if adds else T.set_subtensor)(there(x)[i], there(y))
    values = rng.normal(size=(97, 3)), rng.normal(size=(n, 3)), rng.integers(-97, 97, n)
    values = values[0].astype("float32"), values[1].astype("float32"), values[2]
    f = theano.function([x, y, i], written, mode=MODE)
    np.testing.assert_array_equal(f(*values), theano.function([x, y, i], written, mode=ON_CPU)(*values))


def test_a_table_of_embeddings_trains_on_the_device():
    rng = np.random.default_rng(0)
    start = rng.normal(size=(50, 8)).astype("float32")
    i, y = T.lvector("i"), T.fvector("y")

    def step(mode, table):
        loss = T.sqr(T.tanh(table[i]).sum(axis=1) - y).mean()
        return theano.function([i, y], loss, updates=[(table, table - np.float32(0.1) * T.grad(loss, table))], mode=mode)

    there_ = gpuarray.gpuarray_shared_constructor(start.copy())
    here = theano.shared(start.copy())
    on_device, on_cpu = step(MODE, there_), step(ON_CPU, here)
    assert not [n for n in nodes(on_device)[1] if not all(n.outputs[0].type.broadcastable)]
    for _ in range(5):
        batch = rng.integers(0, 50, 16), rng.normal(size=16).astype("float32")
        np.testing.assert_allclose(on_device(*batch), on_cpu(*batch), rtol=1e-5)
    np.testing.assert_allclose(there_.get_value(), here.get_value(), rtol=1e-5)
    with pytest.raises(IndexError):
        on_device(np.array([50]), np.zeros(1, "float32"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64"])
def test_triangles_of_ones(dtype):
    n, m, k = T.lscalars("n", "m", "k")
    x = T.TensorType(dtype, (False, False))("x")
    tri = Tri(dtype)(n, m, k)
    value = np.arange(30).reshape(6, 5).astype(dtype)
    for lengths in ((6, 5, 0), (6, 5, 2), (6, 5, -3), (6, 5, -9), (6, 5, 99), (0, 3, 0), (3, 0, 1)):
        f = agree([n, m, k, x], [join_there(x, tri)], [*map(np.int64, lengths), value[: lengths[0], : lengths[1]]])
        assert "GpuTri" in [type(node.op).__name__ for node in nodes(f)[0]]


def join_there(x, y):
    """Return what the device has to make of two matrices, so that it makes both."""
    return T.switch(T.eq(x, 3), x, y)


def test_triangles_of_a_matrix():
    x = T.dmatrix("x")
    agree([x], [T.tril(T.exp(x)), T.triu(T.exp(x), 1)], [np.arange(20.0).reshape(4, 5)])
