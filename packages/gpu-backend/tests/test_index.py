"""Indices that are on the device: what they name is read and written there, the device against the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from compare import MODE, ON_CPU, nodes

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray.variables import GpuFromHost, HostFromGpu, host_from_gpu
from theano.tensor.index.advanced import AdvancedSubtensor1, BaseAdvancedSubtensor, _AdvancedWrite

WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
DTYPES = ("bool", "int16", "float16", "float32", "float64", "complex64", "complex128")


def there(v):
    return host_from_gpu(GpuFromHost(None)(v))


def both(inputs, make, values):
    """Return what an expression of values on the device gives there, and what it gives on the CPU; no index comes back."""
    f = theano.function(inputs, make(there), mode=MODE)
    wanted = theano.function(inputs, make(lambda v: v), mode=ON_CPU)(*values)
    found = nodes(f)[1]
    assert not [n for n in found if isinstance(n.op, (AdvancedSubtensor1, BaseAdvancedSubtensor, _AdvancedWrite))], (
        found
    )
    outputs = set(f.maker.fgraph.outputs)
    brought = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, HostFromGpu) and n.outputs[0] not in outputs]
    assert not brought, brought
    return f, f(*values), wanted


def places(shape, size, dtype="int64", seed=0):
    low = 0 if dtype.startswith("u") else -size
    return np.random.default_rng(seed).integers(low, size, shape).astype(dtype)


#: An index of an array of four axes, by vectors i and j, a matrix m.
FORMS = {
    "rows": lambda x, i, j, m: x[i],
    "matrix": lambda x, i, j, m: x[m],
    "inner": lambda x, i, j, m: x[:, :, i],
    "last": lambda x, i, j, m: x[..., j],
    "neighbours": lambda x, i, j, m: x[:, i, j],
    "apart": lambda x, i, j, m: x[:, i, :, j],
    "broadcast": lambda x, i, j, m: x[i, m],
    "columns and rows": lambda x, i, j, m: x[:, i[:, None], j[None, :]],
    "a number": lambda x, i, j, m: x[i, 2, :, -1],
    "all": lambda x, i, j, m: x[i, j, i, m],
    "range": lambda x, i, j, m: x[T.arange(i.shape[0]) % 3, i],
}


def variables(dtype, index="int64"):
    x, y = T.TensorType(dtype, (False,) * 4)("x"), T.TensorType(dtype, ())("y")
    i, j = (T.TensorType(index, (False,))(name) for name in "ij")
    return x, y, i, j, T.TensorType(index, (False, False))("m")


def values_of(dtype, index="int64", n=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 50, (3, 4, 3, 5)) + (1j if dtype.startswith("c") else 0)
    return [
        x.astype(dtype),
        np.array(7, dtype),
        *(places(s, 3, index, seed + k) for k, s in enumerate(((n,), (n,), (2, n)))),
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_forms(form, dtype):
    x, y, i, j, m = inputs = variables(dtype)

    def make(there):
        part = FORMS[form](there(x)[::-1, :, ::-1], there(i), there(j), there(m))
        column = part[..., 0].dimshuffle(*range(part.ndim - 1), "x")
        return [
            part, T.inc_subtensor(part, part), T.set_subtensor(part, part[::-1]), T.inc_subtensor(part, y),
            T.inc_subtensor(part, column), T.set_subtensor(part, part.sum(dtype=dtype)),
        ]  # fmt: skip

    f = theano.function(inputs, make(there), mode=MODE, on_unused_input="ignore")
    wanted = theano.function(inputs, make(lambda v: v), mode=ON_CPU, on_unused_input="ignore")(*values_of(dtype))
    for got, want in zip(f(*values_of(dtype)), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    assert not [n for n in nodes(f)[1] if isinstance(n.op, (AdvancedSubtensor1, BaseAdvancedSubtensor, _AdvancedWrite))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", WHOLE)
def test_dtypes(index, dtype):
    if dtype not in ("float32", "float16") and index not in ("int64", "uint8"):
        index = "int32"
    x, y, i, j, _ = variables(dtype, index)

    def make(there):
        taken = there(x)[there(i), there(j)]
        return [taken, T.inc_subtensor(taken, there(taken)), T.set_subtensor(taken, there(taken)[::-1])]

    _, got, wanted = both([x, i, j], make, [v for k, v in enumerate(values_of(dtype, index)) if k in (0, 2, 3)])
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1023, 1024, 1025, 9000])
def test_many_places_some_of_them_often(n):
    """In order, as on the CPU: sums of floats are the same to the last bit, whoever comes last is what is set."""
    x, y, i = T.fmatrix("x"), T.fmatrix("y"), T.lvector("i")
    rng = np.random.default_rng(n)
    values = rng.normal(size=(97, 3)).astype("float32"), rng.normal(size=(n, 3)).astype("float32"), places(n, 97)

    def make(there):
        part = there(x)[there(i)]
        return [part, T.inc_subtensor(part, there(y)), T.set_subtensor(part, there(y))]

    _, got, wanted = both([x, y, i], make, values)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_is_out_of_bounds_is_an_error_and_loses_nothing():
    table = gpuarray.gpuarray_shared_constructor(np.arange(12, dtype="float32").reshape(4, 3))
    i, j, y = T.lvector("i"), T.lvector("j"), T.fvector("y")
    before = table.get_value()
    take = theano.function([i, j], table[there(i), there(j)], mode=MODE)
    write = theano.function(
        [i, j, y], [], updates=[(table, T.inc_subtensor(table[there(i), there(j)], there(y)))], mode=MODE
    )
    for wrong, message in (
        ([[0, 4], [0, 0]], "index 4 is out of bounds for axis 0 with size 4"),
        ([[0, 1], [2, -4]], "index -4 .* axis 1 with size 3"),
    ):
        with pytest.raises(IndexError, match=message):
            take(*map(np.array, wrong))
        with pytest.raises(IndexError, match=message):
            write(*map(np.array, wrong), np.ones(2, "float32"))
    with pytest.raises(IndexError, match="shape mismatch"):
        take(np.array([0, 1]), np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="does not fit"):
        write(np.array([0, 1]), np.array([0, 1]), np.ones(3, "float32"))
    np.testing.assert_array_equal(table.get_value(), before)
    write(np.array([0, 0, -4]), np.array([1, 1, 1]), np.ones(3, "float32"))
    before[0, 1] += 3
    np.testing.assert_array_equal(table.get_value(), before)


@pytest.mark.parametrize(
    "turn",
    [lambda y: y[::-1], lambda y: y.dimshuffle(1, 0, 2), lambda y: y[:, ::2], lambda y: T.addbroadcast(y[:1], 0)],
    ids=["reversed", "turned", "parts", "stretched"],
)
def test_a_matrix_of_indices_of_the_hosts_is_moved_once(context, turn):
    """What is written has its rows in any order, so that its places are not evenly apart."""
    x, y, k = T.fmatrix("x"), T.ftensor3("y"), T.lmatrix("k")
    rng = np.random.default_rng(0)
    value = rng.normal(size=(6, 6, 3)).astype("float32")
    shape = turn(y).eval({y: value}).shape
    chosen = places((6, shape[1]), 20)

    def make(there):
        part = there(x)[k]
        return [T.inc_subtensor(part, turn(there(y))), T.set_subtensor(part, turn(there(y)))]

    inputs, values = [x, y, k], [rng.normal(size=(20, 3)).astype("float32"), value, chosen]
    f, wanted = theano.function(inputs, make(there), mode=MODE), theano.function(inputs, make(lambda v: v), mode=ON_CPU)
    for a, b in zip(f(*values), wanted(*values), strict=True):
        np.testing.assert_array_equal(a, b)
    before = context.counts()["to"]
    f(*values)
    assert context.counts()["to"] - before == 4  # two arrays, and the places of each write


def test_an_order_that_is_found_on_the_device_is_used_there(context):
    x = gpuarray.gpuarray_shared_constructor(np.random.default_rng(0).normal(size=(50, 4)).astype("float32"))
    order = T.argsort(x[:, 0])
    f = theano.function([], gpuarray.as_gpuarray_variable(x[order]), mode=MODE)
    f()
    before = context.counts()
    got = np.asarray(f())
    after = context.counts()
    # That all places exist, and the result that was asked for.
    assert (after["to"] - before["to"], after["from"] - before["from"]) == (0, 2)
    value = x.get_value()
    np.testing.assert_array_equal(got, value[np.argsort(value[:, 0], kind="stable")])


def test_embeddings_of_indices_on_the_device_train():
    rng = np.random.default_rng(0)
    start, words = rng.normal(size=(50, 8)).astype("float32"), rng.integers(0, 50, (6, 16)).astype("int32")
    k, y = T.lscalar("k"), T.fvector("y")

    def step(mode, table, words):
        loss = T.sqr(T.tanh(table[words[k]]).sum(axis=1) - y).mean()
        return theano.function(
            [k, y], loss, updates=[(table, table - np.float32(0.1) * T.grad(loss, table))], mode=mode
        )

    shared = gpuarray.gpuarray_shared_constructor
    tables = shared(start.copy()), theano.shared(start.copy())
    on_device, on_cpu = step(MODE, tables[0], shared(words)), step(ON_CPU, tables[1], theano.shared(words))
    assert not [n for n in nodes(on_device)[1] if not all(n.outputs[0].type.broadcastable)]
    for batch in range(6):
        goal = rng.normal(size=16).astype("float32")
        np.testing.assert_allclose(on_device(batch, goal), on_cpu(batch, goal), rtol=1e-5)
    np.testing.assert_allclose(tables[0].get_value(), tables[1].get_value(), rtol=1e-5)


def test_derivatives():
    x, d, i, j = T.dmatrix("x"), T.dmatrix("d"), T.lvector("i"), T.lvector("j")

    def make(there):
        part = T.exp(there(x))[there(i), there(j)]
        slope = T.grad(T.sqr(part).sum(), x)
        return [slope, T.grad(T.sqr(slope).sum(), x), T.Rop(part, x, d)]

    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 4)), rng.normal(size=(5, 4)), places(9, 5), places(9, 4, seed=1)
    f = theano.function([x, d, i, j], make(there), mode=MODE)
    for a, b in zip(f(*values), theano.function([x, d, i, j], make(lambda v: v), mode=ON_CPU)(*values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
