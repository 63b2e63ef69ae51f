"""Both sides of every size at which loops on a device take another way: packs, rows of packs, terms in flight, lanes, parts."""

from __future__ import annotations

import ctypes
from functools import cache, partial

import numpy as np
import pytest
from compare import MODE
from host_device import HostDriver, build_fake
from scipy.special import log_softmax, logsumexp

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import GpuArrayType, as_gpuarray_variable, asarray

#: Packs are of 1, 2, 4 or 8 neighbours, groups of 256 work-items (64 where the device is the CPU).
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 2047, 2048, 2049)

#: How an array of one axis lies in a longer one.
LINES = {
    "whole": lambda x, n: x[:n],
    "one element later": lambda x, n: x[1 : n + 1],
    "every second": lambda x, n: x[: 2 * n : 2],
    "backwards": lambda x, n: x[:n][::-1],
}

#: How an array of three axes lies in memory, from one in C order.
LAYOUTS = {
    "C": lambda x: x,
    "F": lambda x: x.transpose(2, 1, 0),
    "between": lambda x: x.transpose(1, 0, 2),
    "every second row": lambda x: x[:, ::2],
    "every second column": lambda x: x[:, :, ::2],
    "columns from the second on": lambda x: x[:, :, 1:],
    "backwards": lambda x: x[::-1, ::-1, ::-1],
}


def whole_numbers(dtype, *shape):
    """Return numbers of which any sum that is taken here is exact."""
    made = np.random.default_rng(sum(shape)).integers(0, 2 if dtype == "bool" else 7, shape)
    return made.astype(dtype)


@cache
def compiled(make, dtypes, ndim):
    """Return a function of arrays on the device."""
    inputs = [GpuArrayType(dtype, (False,) * ndim)() for dtype in dtypes]
    outputs = make(*(T.as_tensor_variable(v) for v in inputs))
    outputs = outputs if isinstance(outputs, list) else [outputs]
    return theano.function(inputs, [as_gpuarray_variable(v, None) for v in outputs], mode=MODE)


def check(make, wanted, arrays):
    """Hold what the device makes of arrays, pairs of one there and one of NumPy's, to what NumPy makes of them."""
    f = compiled(make, tuple(v.dtype.name for _, v in arrays), arrays[0][1].ndim)
    for got, want in zip(f(*(there for there, _ in arrays)), wanted(*(v for _, v in arrays)), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


def both(value, layout=lambda v: v):
    """Return an array on the device and NumPy's, laid out in the same way."""
    return layout(asarray(value)), layout(value)


def product(x, y):
    return x * y + x


@pytest.mark.parametrize("layout", list(LINES))
@pytest.mark.parametrize("dtypes", [
    ("float16", "float16"), ("float32", "float32"), ("float64", "float64"), ("int8", "int8"), ("complex128", "complex128"),
    ("int8", "float64"), ("float16", "float32"),
], ids="-".join)  # fmt: skip
def test_packs(dtypes, layout):
    for n in LENGTHS:
        arrays = [both(whole_numbers(dtype, 2 * n + 2), partial(LINES[layout], n=n)) for dtype in dtypes]
        check(product, lambda x, y: [x * y + x], arrays)


@pytest.mark.parametrize("second", list(LAYOUTS))
@pytest.mark.parametrize("first", list(LAYOUTS))
def test_rows_of_packs(first, second):
    """Rows whose elements are neighbours in both operands, in one, in none; as long as packs, and not."""
    for columns in (1, 3, 4, 5, 8, 12):
        shape = (3, 4, columns)
        arrays = []
        for layout in (first, second):
            room = {"F": shape[::-1], "between": (4, 3, columns), "every second row": (3, 8, columns),
                    "every second column": (3, 4, 2 * columns), "columns from the second on": (3, 4, columns + 1)}  # fmt: skip
            arrays.append(both(whole_numbers("float32", *room.get(layout, shape)), LAYOUTS[layout]))
        check(product, lambda x, y: [x * y + x], arrays)


#: Where the elements of a result that are neighbours are so along another axis in an operand: loops are walked in tiles of 8 by 4 packs, if
#: the lengths allow it; copies go through tiles of 32 or 64 by as many, from axes of 8 on.
TRANSPOSED = {
    "matrices": (
        lambda x: x.T,
        [
            (1, 1),
            (3, 5),
            (4, 4),
            (4, 6),
            (8, 32),
            (32, 8),
            (40, 100),
            (64, 96),
            (33, 64),
            (64, 7),
            (7, 64),
            (8, 8),
            (9, 8),
            (7, 8),
            (31, 33),
            (32, 32),
            (65, 63),
            (64, 128),
            (129, 130),
        ],
    ),
    "first and last": (lambda x: x.transpose(2, 1, 0), [(4, 3, 8), (64, 5, 32), (6, 2, 20), (65, 3, 66)]),
    "last two": (lambda x: x.transpose(0, 2, 1), [(3, 32, 8), (2, 100, 12)]),
    "parts": (lambda x: x[:, ::-1, 1:].transpose(2, 0, 1), [(4, 8, 33), (8, 16, 5)]),
}


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("kind", list(TRANSPOSED))
def test_tiles(kind, dtype):
    turn, shapes = TRANSPOSED[kind]
    for shape in shapes:
        there, here = both(whole_numbers(dtype, *shape), turn)
        np.testing.assert_array_equal(np.asarray(there.copy()), here)
        other = both(whole_numbers(dtype, *here.shape))
        check(product, lambda x, y: [x * y + x], [(there, here), other])
        check(product, lambda x, y: [x * y + x], [other, (there, here)])


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(7, 9), (8, 8), (31, 64), (65, 33), (64, 128)], ids=str)
def test_tiles_that_are_written_to_what_is_transposed(shape, dtype):
    x, y = GpuArrayType(dtype, (False, False))("x"), GpuArrayType(dtype, (False, False))("y")
    changed = T.inc_subtensor(T.as_tensor_variable(x)[1:, 2:], T.as_tensor_variable(y), set_instead_of_inc=True)
    f = theano.function([x, y], as_gpuarray_variable(changed, None), mode=MODE)
    room, part = whole_numbers(dtype, shape[1] + 2, shape[0] + 1), whole_numbers(dtype, *shape)
    for turned in (room.T, room.reshape(shape[0] + 1, shape[1] + 2)):
        for value in (part, part.T.copy().T):
            wanted = turned.copy()
            wanted[1:, 2:] = value
            there = asarray(np.ascontiguousarray(turned.T)).T if turned.flags.f_contiguous else asarray(turned)
            given = asarray(np.ascontiguousarray(value.T)).T if value.flags.f_contiguous else asarray(value)
            np.testing.assert_array_equal(np.asarray(f(there, given)), wanted)


@pytest.mark.parametrize("layout", list(LINES))
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_copies(dtype, layout):
    """A work-item copies several elements, in one piece or by a table."""
    for n in (*LENGTHS, 1023, 1024, 1025, 4097):
        there, here = both(whole_numbers(dtype, 2 * n + 2), partial(LINES[layout], n=n))
        np.testing.assert_array_equal(np.asarray(there.copy()), here)
        places = np.random.default_rng(n).permutation(n)
        x, i = GpuArrayType(dtype, (False,))("x"), T.lvector("i")
        f = theano.function([x, i], as_gpuarray_variable(T.as_tensor_variable(x)[i], None), mode=MODE)
        np.testing.assert_array_equal(np.asarray(f(there, places)), here[places])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16"])
@pytest.mark.parametrize("stretched", [(1, 0), (0, 1), (1, 1)], ids=str)
def test_rows_with_what_stands_still(stretched, dtype):
    rows, columns = T.matrix("x", dtype), T.TensorType(dtype, stretched)("y")
    f = theano.function([rows, columns], as_gpuarray_variable(product(rows, columns), None), mode=MODE)
    for n in (1, 3, 4, 5, 8, 16, 17):
        x = whole_numbers(dtype, 5, n)
        y = whole_numbers(dtype, *(1 if one else k for one, k in zip(stretched, (5, n), strict=True)))
        np.testing.assert_array_equal(np.asarray(f(x, y)), x * y + x)


def taken(axes):
    """Return what is computed of the elements along some axes, and the same by NumPy."""

    def on_device(x):
        return [x.sum(axes), x.max(axes), *([x.argmax(axes)] if isinstance(axes, int) else [])]

    def by_numpy(x):
        return [x.sum(axes, dtype=x.dtype), x.max(axes), *([x.argmax(axes)] if isinstance(axes, int) else [])]

    return on_device, by_numpy


TAKEN = {axes: taken(axes) for axes in (0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2))}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("terms", [1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 257, 1000, 8191, 8192, 8193, 70000])
def test_numbers_of_terms(terms, dtype):
    """One to eight are read at once, by 1 to 256 lanes, in one or more parts; along either axis."""
    for n in (1, 2, 31, 32, 33, 300):
        if n * terms > 300_000:
            continue
        check(*TAKEN[2], [both(whole_numbers(dtype, 1, n, terms))])
        check(*TAKEN[1], [both(whole_numbers(dtype, 1, terms, n))])


@pytest.mark.parametrize("axes", list(TAKEN), ids=str)
@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_terms_along_several_axes(layout, axes):
    """Which become one, two or three by how the array lies; a row of terms ends anywhere among those that are in flight."""
    for shape in ((4, 6, 10), (3, 200, 14), (70, 6, 130), (2, 2, 2)):
        check(*TAKEN[axes], [both(whole_numbers("float64", *shape), LAYOUTS[layout])])


def test_terms_along_three_axes_that_do_not_join():
    x = GpuArrayType("float64", (False,) * 4)("x")
    f = theano.function([x], as_gpuarray_variable(T.as_tensor_variable(x).sum((0, 1, 2)), None), mode=MODE)
    value = whole_numbers("float64", 6, 10, 14, 3)
    there, here = (v[::2, ::2, ::2] for v in (asarray(value), value))
    np.testing.assert_array_equal(np.asarray(f(there)), here.sum((0, 1, 2)))


def test_the_place_of_the_largest_of_many():
    """Terms are cut into parts, whose best are compared; the first of several, and the first that is no number."""
    x = GpuArrayType("float32", (False, False))("x")
    f = theano.function([x], as_gpuarray_variable(T.as_tensor_variable(x).argmax(), None), mode=MODE)
    value = np.zeros((300, 400), "float32")
    value[17, 3] = value[17, 4] = value[250, 1] = 2
    assert np.asarray(f(asarray(value))) == value.argmax()
    value[123, 399] = value[200, 0] = np.nan
    assert np.asarray(f(asarray(value))) == value.argmax()
    turned = np.asfortranarray(value)
    assert np.asarray(f(asarray(turned))) == turned.argmax()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("terms", [0, 1, 7, 8, 9, 64, 257, 8193, 70000])
def test_logarithms_of_sums_of_exponentials(terms, dtype):
    """Beside the largest, so that none overflows; by one or more lanes and parts, along either axis."""
    x = GpuArrayType(dtype, (False, False))("x")
    v = T.as_tensor_variable(x)
    outputs = [as_gpuarray_variable(T.log(T.exp(v).sum(axis)), None) for axis in (0, 1, (0, 1))]
    f = theano.function([x], outputs, mode=MODE)
    assert sum(type(n.op).__name__ == "GpuLogSumExp" for n in f.maker.fgraph.toposort()) == 3
    rng = np.random.default_rng(terms)
    for n in (1, 3, 40):
        for scale in (1, 100, 10000):
            value = (scale * rng.normal(size=(n, terms))).astype(dtype)
            if n > 1 and terms > 2:
                value[0, :], value[1, 1], value[2, :2] = -np.inf, np.inf, (-np.inf, 5)
            for way in (value, np.ascontiguousarray(value.T).T):
                exact = way.astype("float64")
                wanted = [
                    logsumexp(exact, axis) if exact.size else np.full(exact.sum(axis).shape, -np.inf)
                    for axis in (0, 1, (0, 1))
                ]
                for got, want in zip(f(asarray(way)), wanted, strict=True):
                    close = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-13}[dtype]
                    with np.errstate(over="ignore"):
                        np.testing.assert_allclose(np.asarray(got), want.astype(dtype), rtol=close, atol=close)
    if terms:
        value[0, terms // 2] = np.nan
        assert np.isnan(np.asarray(f(asarray(value))[2]))


#: A work-item keeps 32 elements of a row (16 float64), of which 32 to 256 have one; longer rows are read twice.
WIDTHS = (
    0,
    1,
    3,
    4,
    8,
    31,
    32,
    33,
    255,
    256,
    257,
    260,
    512,
    513,
    1024,
    2047,
    2048,
    2049,
    4095,
    4096,
    4097,
    8191,
    8192,
    8193,
    8200,
    20000,
)

#: What of a larger array is a matrix that lies in some way, and which array that is.
ROWS = {
    "C": (lambda x: x, lambda x: x),
    "F": (lambda x: x.T, lambda x: x.T),
    "every second": (lambda x: x[:, ::2], lambda x: np.repeat(x, 2, axis=1)),
    "backwards": (lambda x: x[:, ::-1], lambda x: x[:, ::-1]),
    "columns from the second on": (lambda x: x[:, 1:], lambda x: np.concatenate([x[:, :1], x], axis=1)),
}


def _log_softmax(x):
    """Return SciPy's, but nothing but not-a-number where a row has an infinity of which the share cannot be said."""
    with np.errstate(invalid="ignore"):
        return log_softmax(x, 1) + 0 * x.max(1, keepdims=True)


@pytest.mark.parametrize("layout", list(ROWS))
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rows_of_softmax(dtype, layout):
    x, b, labels = GpuArrayType(dtype, (False, False))("x"), GpuArrayType(dtype, (False,))("b"), T.lvector("labels")
    v, bias = T.as_tensor_variable(x), T.as_tensor_variable(b)
    outputs = [
        T.nnet.softmax(v),
        T.nnet.logsoftmax(v),
        *T.nnet.crossentropy_softmax_argmax_1hot_with_bias(v, bias, labels),
    ]
    f = theano.function([x, b, labels], [as_gpuarray_variable(y, None) for y in outputs], mode=MODE)
    close = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-13}[dtype]
    for n in WIDTHS:
        rng = np.random.default_rng(n)
        value, shift = (4 * rng.normal(size=(9, n))).astype(dtype), rng.normal(size=n).astype(dtype)
        if n > 3:
            value[1, :], value[2, 1], value[3, -1], value[4, :-1] = -np.inf, np.inf, np.nan, -np.inf
            value[5, n // 2 :] = value[5, 0] = 9
        lie, room = ROWS[layout if n else "C"]
        there = lie(asarray(np.ascontiguousarray(room(value))))
        label = rng.integers(0, n, 9) if n else np.zeros(9, int)
        got = [np.asarray(y) for y in f(there, asarray(shift), label)]
        if n == 0:
            assert [y.shape for y in got] == [(9, 0), (9, 0), (9,), (9, 0), (9,)]
            continue
        exact = value.astype("float64")
        moved = exact + shift if dtype == "float16" else (value + shift).astype("float64")
        logarithm, shifted = _log_softmax(exact), _log_softmax(moved)
        wanted = np.exp(logarithm), logarithm, -np.take_along_axis(shifted, label[:, None], 1)[:, 0], np.exp(shifted)
        for one, want in zip(got, wanted, strict=False):
            np.testing.assert_allclose(one, want, rtol=close, atol=close)
        np.testing.assert_array_equal(got[4], moved.argmax(1))


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    """Return the name of a context of CUDA whose kernels run on the CPU, which a wide access to the wrong place ends."""
    path = build_fake(tmp_path_factory.mktemp("fake"), "fake_cuda.c")
    driver = HostDriver(0, str(path))
    driver.fake = ctypes.CDLL(str(path))
    driver.fake.fake_log.restype = ctypes.c_char_p
    return gpuarray.reg_context("sizes", gpuarray.GpuContext("sizes", driver)).name


#: So many packs of neighbouring results' terms that a device of up to four processors, such as `host`, reads them at once.
PACKS = 32768

#: How a matrix lies in a larger one: the shape of that, what is taken of it, and whether packs are read where whole ones fill a row.
MATRICES = {
    "whole": (lambda rows, columns, pack: (rows, columns), lambda x, rows, columns, pack: x, True),
    "part of rows": (
        lambda rows, columns, pack: (rows, columns + 2 * pack),
        lambda x, rows, columns, pack: x[:, pack : columns + pack],
        True,
    ),
    "one element later": (
        lambda rows, columns, pack: (rows, columns + pack),
        lambda x, rows, columns, pack: x[:, 1 : columns + 1],
        False,
    ),
    "rows one longer": (
        lambda rows, columns, pack: (rows, columns + 1),
        lambda x, rows, columns, pack: x[:, :columns],
        False,
    ),
    "every second row": (lambda rows, columns, pack: (2 * rows, columns), lambda x, rows, columns, pack: x[::2], True),
    "last row first": (lambda rows, columns, pack: (rows, columns), lambda x, rows, columns, pack: x[::-1], True),
    "last column first": (
        lambda rows, columns, pack: (rows, columns),
        lambda x, rows, columns, pack: x[:, ::-1],
        False,
    ),
    "F": (lambda rows, columns, pack: (columns, rows), lambda x, rows, columns, pack: x.T, False),
}


@cache
def function_on(context, make, *types):
    """Return a function of arrays on a device, of such dtypes and with such axes 1 long."""
    inputs = [GpuArrayType(dtype, stretched, context)() for dtype, stretched in types]
    outputs = make(*(T.as_tensor_variable(v) for v in inputs))
    return theano.function(inputs, [as_gpuarray_variable(v, context) for v in outputs], mode=MODE)


def signed(dtype, *shape):
    """Return small numbers of both signs, most of them 0, so that sums of many are exact in all dtypes."""
    rng = np.random.default_rng(sum(shape))
    return (rng.integers(-1, 2, shape) * (rng.integers(0, 64, shape) == 0)).astype(dtype)


def columns_of(dtype, axes):
    """Return what is computed of an array by several results of one kernel, and the same by NumPy."""
    if dtype == "bool":
        return lambda x: [x.sum(axes), x.any(axes), x.all(axes)], lambda x: [x.sum(axes), x.any(axes), x.all(axes)]
    if dtype == "complex64":
        return lambda x: [x.sum(axes), (x * x).sum(axes)], lambda x: [x.sum(axes), (x * x).sum(axes)]
    return (
        lambda x: [x.sum(axes), x.max(axes), (x * x).sum(axes)],
        lambda x: [x.sum(axes, dtype="float64"), x.max(axes), (x * x).sum(axes, dtype="float64")],
    )


COLUMNS = {(dtype, axes): columns_of(dtype, axes)
           for dtype in ("bool", "int8", "float16", "float32", "float64", "complex64") for axes in (0, 1, (0, 1))}  # fmt: skip


def check_columns(context, dtype, axes, value, layout=lambda v: v):
    make, wanted = COLUMNS[dtype, axes]
    f = function_on(context, make, (dtype, (False,) * value.ndim))
    for got, want in zip(f(layout(asarray(value, context))), wanted(layout(value)), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want.astype(got.dtype))


@pytest.fixture(params=["device", "host"])
def where(request):
    """Return the context of the device, and of one that runs CUDA's form on the CPU."""
    return request.getfixturevalue("host") if request.param == "host" else None


@pytest.mark.parametrize("layout", list(MATRICES))
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "float64", "complex64"])
def test_packs_of_neighbouring_results(where, dtype, layout):
    """As long as packs, and not; of several lanes and parts."""
    room, window, _ = MATRICES[layout]
    width = min(8, 16 // np.dtype(dtype).itemsize)
    for packs in (1, 3, 40):
        for columns in (width * packs - 1, width * packs, width * packs + 1):
            rows = PACKS // packs + 3
            value = signed(dtype, *room(rows, columns, width))
            check_columns(where, dtype, 0, value, partial(window, rows=rows, columns=columns, pack=width))


@pytest.mark.parametrize("packs", [16, 1024])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_as_many_packs_of_neighbouring_results_as_a_large_card_reads_at_once(dtype, packs):
    """One of 150 processors."""
    width, rows = 16 // np.dtype(dtype).itemsize, 150 * 8192 // packs
    check_columns(None, dtype, 0, signed(dtype, rows, packs * width))
    check_columns(None, dtype, 1, signed(dtype, 3, rows // 3 + 1, packs * width))


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_packs_of_neighbouring_results_along_axes_that_do_not_join(where, dtype):
    """The terms are along the middle axis, or along two; the results along two, or along the last of three."""
    width = min(8, 16 // np.dtype(dtype).itemsize)
    for batch, rows, packs in ((5, 820, 8), (3, 1366, 8), (1, 4096, 8), (4, 8192, 1)):
        value = signed(dtype, batch, rows, packs * width)
        check_columns(where, dtype, 1, value)
        check_columns(where, dtype, 1, value, lambda x: x[::-1])
    for shape in ((3, 2731), (171, 48), (1, 8192)):
        value = signed(dtype, *shape, 4 * width)
        check_columns(where, dtype, (0, 1), value)
        check_columns(where, dtype, (0, 1), np.repeat(value, 2, 1), lambda x: x[:, ::2])


def weighed(row, column, x):
    return [(row * x + column).sum(0), (column * x).max(0)]


@pytest.mark.parametrize(
    "dtypes", [("float32",) * 3, ("float16", "float32", "float16"), ("float64", "int8", "int8")], ids="-".join
)
def test_packs_of_neighbouring_results_with_what_stands_still(where, dtypes):
    """Along the terms, and along the results."""
    f = function_on(where, weighed, *zip(dtypes, ((True, False), (False, True), (False, False)), strict=True))
    for columns in (7, 8, 16, 24):
        rows = PACKS // (columns // 8 or 1) + 1
        values = [
            whole_numbers(dtype, *shape)
            for dtype, shape in zip(dtypes, ((1, columns), (rows, 1), (rows, columns)), strict=True)
        ]
        wanted = weighed(*(v.astype("float64") for v in values))
        for got, want in zip(f(*(asarray(v, where) for v in values)), wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(got), want.astype(got.dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_no_number_among_neighbouring_results(where, dtype):
    value = signed(dtype, 8192, 32)
    value[17, 5], value[8191, 31], value[0, 0], value[[3, 9], 9], value[:, 20] = (
        np.nan,
        np.nan,
        -np.inf,
        (np.inf, -np.inf),
        -np.inf,
    )
    with np.errstate(invalid="ignore"):
        check_columns(where, dtype, 0, value)


def sums(x):
    return [x.sum(0)]


@pytest.mark.parametrize("layout", list(MATRICES))
def test_which_matrices_are_read_in_packs_of_neighbouring_results(host, layout):
    """Groups of work-items are fewer then; a row that ends in a pack is not read so, and too few rows are not."""
    fake = gpuarray.get_context(host).driver.fake
    room, window, in_packs = MATRICES[layout]
    f = function_on(host, sums, ("float32", (False, False)))
    for rows, columns, fits in ((8192, 16, True), (8191, 16, False), (7000, 19, False), (7000, 20, True)):
        x = window(asarray(signed("float32", *room(rows, columns, 4)), host), rows, columns, 4)
        fake.fake_clear()
        f(x)
        groups = [int(line.split()[1]) for line in fake.fake_log().decode().splitlines() if line.startswith("launch")]
        assert (groups[0] == 8) == (fits and in_packs), groups


class Foreign:
    """Memory of another library's that is on the device."""

    def __init__(self, owner, offset, dtype, shape):
        interface = owner.__cuda_array_interface__
        self.owner, data = owner, (interface["data"][0] + offset, False)
        self.__cuda_array_interface__ = {**interface, "data": data, "typestr": dtype, "shape": shape, "strides": None}


@pytest.mark.parametrize("offset", [0, 2, 4, 8, 16])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
def test_memory_that_begins_anywhere(host, dtype, offset):
    """Packs and wide copies begin at a multiple of what is read at once, elements of 16 bytes perhaps at half of one."""
    size = np.dtype(dtype).itemsize
    if offset % min(size, 8):
        pytest.skip("no element begins there")
    value = whole_numbers(dtype, 4, 8)
    there = asarray(np.concatenate([np.zeros(offset, "int8"), value.view("int8").ravel()]), host)
    foreign = asarray(Foreign(there, offset, np.dtype(dtype).str, (4, 8)), host)
    v, i = GpuArrayType(dtype, (False, False), host)("v"), T.lvector("i")
    x = T.as_tensor_variable(v)
    f = theano.function([v, i], [as_gpuarray_variable(y, host) for y in (x * 2, x.T, x[i], x[:, ::-1] + 0)], mode=MODE)
    got = [np.asarray(y) for y in f(foreign, np.array([2, 0, 2]))]
    for one, want in zip(got, (value * 2, value.T, value[[2, 0, 2]], value[:, ::-1]), strict=True):
        np.testing.assert_array_equal(one, want)
    np.testing.assert_array_equal(np.asarray(foreign[1:].copy()), value[1:])
