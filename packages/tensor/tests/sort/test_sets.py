"""Different elements, counts, places in flat arrays, permuted rows: compiled and by ``perform``, against NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from arrays import LAYOUTS, lay, sample
from oracle import run

import theano
import theano.tensor as T
from portion import portion
from theano.tensor.nnet.crossentropy import crossentropy_categorical_1hot, crossentropy_categorical_1hot_grad

DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
INTEGERS = [d for d in DTYPES if "int" in d]


def variable(array):
    return T.TensorType(array.dtype.newbyteorder("=").name, (False,) * array.ndim)()


def agree(outputs, variables, cases, exact=True):
    """Compare the compiled form, which must be one, and ``perform`` with what is wanted, for each list of inputs."""
    f = theano.function(variables, outputs, on_unused_input="ignore")
    assert all(node.op.c_kernel(node) is not None for node in f.maker.fgraph.apply_nodes)
    for values, wanted in cases:
        before = [v.copy() for v in values]
        for got in (f(*values), run(outputs, dict(zip(variables, values)))):
            assert len(got) == len(wanted)
            for g, w in zip(got, wanted):
                w = np.asarray(w)
                assert g.shape == w.shape
                np.testing.assert_allclose(g, w, 0 if exact else 1e-2 if g.dtype == "float16" else 1e-6)
        for v, b in zip(values, before):
            np.testing.assert_array_equal(v, b)


def refused(outputs, variables, values, error, match):
    """Both forms must refuse these values."""
    with pytest.raises(error, match=match):
        theano.function(variables, outputs, on_unused_input="ignore")(*values)
    with pytest.raises(error):
        run(outputs, dict(zip(variables, values)))


def layouts_of(array):
    return [lay(array, layout) for layout in LAYOUTS]


# -- unique ---------------------------------------------------------------------------------------------------


def few(dtype, shape, rng):
    """Return numbers with many equals among them, and nan where there are such."""
    kind = np.dtype(dtype).kind
    x = rng.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)
    if kind in "if":
        x -= np.array(2, dtype)
    if kind == "c":
        x = x + (1j * rng.integers(-1, 2, shape)).astype(dtype)
    if kind in "fc" and x.size > 3:
        x[np.unravel_index(rng.integers(0, x.size, 3), shape)] = np.nan
        x[np.unravel_index(rng.integers(0, x.size, 1), shape)] = np.inf
    return x


@pytest.mark.parametrize(("dtype", "wanted"), portion(product(DTYPES, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]), always=0))
def test_unique(dtype, wanted):
    rng = np.random.default_rng(sum(wanted))
    for shape in [(0,), (1,), (40,), (5, 8), (2, 3, 4)]:
        x = T.TensorType(dtype, (False,) * len(shape))()
        out = T.extra_ops.Unique(*map(bool, wanted))(x, return_list=True)
        cases = []
        for value in layouts_of(few(dtype, shape, rng)):
            found = np.unique(value, *map(bool, wanted))
            found = found if isinstance(found, tuple) else (found,)
            cases.append(([value], [np.ravel(f) for f in found]))
        agree(out, [x], cases)


@pytest.mark.parametrize("dtype", portion(["float64", "int8", "complex64", "bool", "float16", "uint64"], always=0))
def test_unique_slices(dtype):
    rng = np.random.default_rng(7)
    for shape, axes in [((9, 2), (0, 1, -1)), ((2, 6, 2), (0, 1, 2)), ((5,), (0,)), ((0, 2), (0,)), ((3, 0), (0,)), ((70, 1), (0,))]:
        x = T.TensorType(dtype, (False,) * len(shape))()
        for axis in axes:
            out = T.extra_ops.Unique(True, True, True, axis=axis)(x, return_list=True)
            cases = []
            for value in layouts_of(few(dtype, shape, rng)):
                if value.size == 0 and shape != (3, 0) and shape != (0, 2):
                    continue
                values, *places = np.unique(value.astype("float32") if dtype == "float16" else value, True, True, True, axis=axis)
                cases.append(([value], [values, *map(np.ravel, places)]))
            agree(out, [x], cases)


def test_unique_of_a_scalar_and_of_a_wrong_axis():
    x = T.dscalar()
    agree(T.extra_ops.Unique(return_inverse=True)(x, return_list=True), [x], [([np.array(2.0)], [[2.0], [0]])])
    with pytest.raises(RuntimeError, match="no axis 1"):
        T.unique(T.dvector(), axis=1)


# -- counts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "weights"), portion(product(INTEGERS, [None, "float16", "float32", "float64", "int8", "complex128", "bool"]), always=0))
def test_bincount(dtype, weights):
    rng = np.random.default_rng(3)
    for size, least in [(0, 0), (0, 4), (30, 0), (30, 12), (1, 1)]:
        x = rng.integers(0, 9, size).astype(dtype)
        inputs = [T.TensorType(dtype, (False,))()]
        if weights is None:
            agree([T.bincount(inputs[0], minlength=least)], inputs, [([v], [np.bincount(v.astype("int64"), minlength=max(least, 0))]) for v in layouts_of(x)])
            continue
        w = sample(weights, (size,), rng, 0, 3)
        inputs.append(T.TensorType(weights, (False,))())
        cases = []
        for layout in LAYOUTS:
            a, b = lay(x, layout), lay(w, layout)
            whole = a.astype("int64")
            wide = b.astype("complex128")
            wanted = np.bincount(whole, wide.real, least) + 1j * np.bincount(whole, wide.imag, least)
            cases.append(([a, b], [wanted if weights == "complex128" else wanted.real]))
        agree([T.bincount(inputs[0], inputs[1], least)], inputs, cases, exact=weights in ("int8", "bool"))


def test_bincount_refuses():
    x, w, n = T.lvector("x"), T.dvector("w"), T.lscalar("n")
    refused([T.bincount(x)], [x], [np.array([1, -1, 3])], ValueError, "counts numbers from 0, but was given -1")
    refused([T.bincount(x, minlength=n)], [x, n], [np.array([1]), np.array(-2)], ValueError, "must not be negative, but is -2")
    refused([T.bincount(x, w)], [x, w], [np.array([1, 2]), np.array([1.0])], ValueError, "1 weights are given for 2 numbers")
    with pytest.raises(TypeError, match="counts whole numbers"):
        T.bincount(w)
    with pytest.raises(TypeError, match="needs a vector"):
        T.bincount(T.lmatrix())
    with pytest.raises(TypeError, match="vector of weights"):
        T.bincount(x, T.dmatrix())
    with pytest.raises(TypeError, match="minlength is one whole number"):
        T.bincount(x, minlength=1.5)
    with pytest.raises((MemoryError, ValueError)):
        theano.function([x], T.bincount(x))(np.array([2**62]))


def test_bincount_differentiated():
    w = T.dvector("w")
    places = T.constant(np.array([0, 2, 2, 1]))
    out = T.bincount(places, w)
    value = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(run(T.grad((out * [1.0, 10.0, 100.0]).sum(), w), {w: value}), [1, 100, 100, 10])
    np.testing.assert_array_equal(run(T.Rop(out, w, T.constant(value)), {w: value}), [1, 4, 5])
    np.testing.assert_array_equal(theano.function([w], out.shape)(value), [3])


# -- flat places ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "order"), portion(product(INTEGERS, ["C", "F"]), always=0))
def test_unravel_and_ravel(dtype, order):
    rng = np.random.default_rng(1)
    for dims in [(7,), (3, 4), (2, 1, 5), (2, 3, 2, 2)]:
        flat = rng.integers(0, np.prod(dims), (4, 3)).astype(dtype)
        k = T.TensorType(dtype, (False, False))()
        cases = [([v], np.unravel_index(v.astype("int64"), dims, order)) for v in layouts_of(flat)]
        agree(list(T.unravel_index(k, dims, order=order)), [k], cases)
        index = [T.TensorType(dtype, (False, False))() for _ in dims]
        cases = []
        for layout in LAYOUTS:
            values = [lay(v.astype(dtype), layout) for v in np.unravel_index(flat.astype("int64"), dims, order)]
            cases.append((values, [np.ravel_multi_index([v.astype("int64") for v in values], dims, order=order)]))
        agree([T.ravel_multi_index(index, dims, order=order)], index, cases)


@pytest.mark.parametrize("mode", ["wrap", "clip"])
def test_ravel_brings_indexes_back(mode):
    i, j = T.lmatrix(), T.lvector()
    a, b = np.array([[-9, -1, 0, 3, 99]]), np.array([7, -2, 1, 4, 0])
    agree([T.ravel_multi_index((i, j), (3, 4), mode=mode)], [i, j], [([a, b], [np.ravel_multi_index((a, b), (3, 4), mode)])])
    refused([T.ravel_multi_index((i, j), (3, 0), mode=mode)], [i, j], [a, b], ValueError, "axis 1 with size 0")


def test_flat_places_refuse():
    k, i, dims = T.lvector("k"), T.lvector("i"), T.lvector("dims")
    for bad in (-1, 6):
        refused(list(T.unravel_index(k, (2, 3))), [k], [np.array([0, bad])], ValueError, f"index {bad} is out of bounds for array with size 6")
        refused([T.ravel_multi_index((k, i), (6, 6))], [k, i], [np.array([0, bad]), np.array([0, 0])], ValueError, f"index {bad} is out of bounds for axis 0 with size 6")
    refused([T.ravel_multi_index((k, i), (6, 6))], [k, i], [np.zeros(2, int), np.zeros(3, int)], ValueError, "do not fit together|broadcast")
    refused(list(T.unravel_index(k, dims, ndim=2)), [k, dims], [np.array([0]), np.array([1, 2, 3])], ValueError, "2 indexes belong to a shape of 3 lengths")
    refused(list(T.unravel_index(k, dims, ndim=2)), [k, dims], [np.array([0]), np.array([2**40, 2**40])], ValueError, "too large")
    with pytest.raises(TypeError, match="whole numbers"):
        T.unravel_index(T.dvector(), (2,))
    with pytest.raises(ValueError, match="1 indexes for a shape of 2 lengths"):
        T.ravel_multi_index((k,), (2, 3))


# -- rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", portion(DTYPES, always=0))
def test_permuted_rows(dtype):
    rng = np.random.default_rng(5)
    data = sample(dtype, (2, 3, 4), rng, -4, 4)
    for shape in [(2, 3, 4), (4,), (3, 4), (0, 4), (2, 0)]:
        x = data.ravel()[: int(np.prod(shape))].reshape(shape) if 0 not in shape else np.zeros(shape, dtype)
        order = rng.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)
        names = [variable(x), T.TensorType("int16", (False,) * x.ndim)()]
        for inverse in (0, 1):
            want = np.take_along_axis(x, np.argsort(order, -1) if inverse else order, -1)
            out = T.permute_row_elements(*names, inverse)
            cases = [([lay(x, a), lay(order.astype("int16"), a)], [lay(want, "C")]) for a in LAYOUTS if a in ("C", "F", "transposed", "reversed", "step2", "offset", "unaligned")]
            agree([out], names, cases)
    one, rows = T.TensorType("int64", (True, False))(), T.TensorType(dtype, (False, False))()
    order = np.array([[2, -4, -1, 1]])
    agree([T.permute_row_elements(rows, one)], [rows, one], [([data[0], order], [data[0][:, order[0]]])])


def test_permuted_rows_refuse():
    x, y = T.dmatrix("x"), T.lmatrix("y")
    X = np.arange(6.0).reshape(2, 3)
    for inverse in (0, 1):
        out = [T.permute_row_elements(x, y, inverse)]
        refused(out, [x, y], [X, np.array([[0, 1, 3], [0, 1, 2]])], IndexError, "3 is out of bounds")
        refused(out, [x, y], [X, np.array([[0, 1], [0, 1]])], ValueError, "differ in length")
        refused(out, [x, y], [X, np.array([[0, 1, 2]])], ValueError, "mis-match")
    refused(out, [x, y], [X, np.array([[0, 1, 1], [0, 1, 2]])], ValueError, "no permutation")


# -- classes, copies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("label", INTEGERS)
def test_cross_entropies_of_classes(dtype, label):
    rng = np.random.default_rng(9)
    p, k, g = T.TensorType(dtype, (False, False))(), T.TensorType(label, (False,))(), T.TensorType(dtype, (False,))()
    out = [crossentropy_categorical_1hot(p, k), crossentropy_categorical_1hot_grad(g, p, k)]
    cases = []
    for layout in LAYOUTS:
        P, K, G = (lay(v, layout) for v in (rng.uniform(0.1, 1, (5, 5)).astype(dtype), rng.integers(0, 5, 5).astype(label), rng.normal(size=5).astype(dtype)))
        at = np.arange(len(P)), K.astype("int64")
        hot = np.zeros(P.shape)
        if P.size:
            hot[at] = -G.astype("float64") / P.astype("float64")[at]
        cases.append(([P, K, G], [-np.log(P.astype("float64")[at]), hot]))
    agree(out, [p, k, g], cases, exact=False)


def test_cross_entropies_refuse():
    p, k, g = T.dmatrix("p"), T.lvector("k"), T.dvector("g")
    P = np.full((2, 3), 0.5)
    for out in ([crossentropy_categorical_1hot(p, k)], [crossentropy_categorical_1hot_grad(g, p, k)]):
        for bad in (-1, 3):
            refused(out, [p, k, g], [P, np.array([0, bad]), np.ones(2)], ValueError, "y_i value out of bounds")
        refused(out, [p, k, g], [P, np.array([0]), np.ones(2)], ValueError, "1 (labels|classes) for 2 rows")
    refused(out, [p, k, g], [P, np.array([0, 1]), np.ones(3)], ValueError, "3 gradients for 2 rows")


@pytest.mark.parametrize("dtype", DTYPES)
def test_contiguous(dtype):
    x = T.TensorType(dtype, (False, False))()
    f = theano.function([x], T.extra_ops.cpu_contiguous(x))
    assert [node.op.c_kernel(node) is not None for node in f.maker.fgraph.apply_nodes]
    for value in layouts_of(sample(dtype, (4, 5), np.random.default_rng(2), 0, 3)):
        got = f(value)
        assert got.flags.c_contiguous
        np.testing.assert_array_equal(got, value)
    f = theano.function([x], T.extra_ops.cpu_contiguous(x.T).flatten())
    np.testing.assert_array_equal(f(np.ones((2, 3), dtype)), np.ones(6))
