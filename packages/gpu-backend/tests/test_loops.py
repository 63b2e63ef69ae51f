"""Element-wise loops and reductions: the device against the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from compare import LAYOUTS, agree, nodes

import theano
import theano.tensor as T

FLOATS = ("float16", "float32", "float64")
WHOLE = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SHAPES = [(), (1,), (0,), (7,), (3, 4), (0, 4), (2, 3, 4), (2, 1, 3, 2)]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in WHOLE:
        return rng.integers(0 if dtype.startswith("u") else -9, 9, shape).astype(dtype)
    return np.asarray(rng.normal(size=shape)).astype(dtype)


def variable(dtype, ndim, name="x"):
    return T.TensorType(dtype, (False,) * ndim)(name)


@pytest.mark.parametrize("dtype", FLOATS + WHOLE)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_of_products_of_any_layout(dtype, layout):
    x, y = variable(dtype, 2), variable(dtype, 2, "y")
    a, b = LAYOUTS[layout](numbers((5, 6), dtype)), numbers((5, 6), dtype, 1)
    agree([x, y], [x * y + x, T.switch(x > y, x, y)], [a, b])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_shapes(shape, dtype):
    x = variable(dtype, len(shape))
    if not shape:
        f = theano.function([x], x * 2 + 1)
        assert not nodes(f)[0], "single numbers of the host's stay there"
        return
    agree([x], x * 2 + abs(x), [numbers(shape, dtype)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_stretched(dtype):
    x, row, column, number = (
        variable(dtype, 2),
        T.TensorType(dtype, (True, False))("r"),
        T.TensorType(dtype, (False, True))("c"),
        T.TensorType(dtype, ())("n"),
    )
    values = [numbers((3, 4), dtype), numbers((1, 4), dtype, 1), numbers((3, 1), dtype, 2), numbers((), dtype, 3)]
    agree([x, row, column, number], [x * row + column, row - column, x * number], values)


@pytest.mark.parametrize("source", FLOATS + WHOLE)
@pytest.mark.parametrize("target", ["bool", "int8", "uint32", "int64", "float16", "float64"])
def test_casts(source, target):
    x = variable(source, 1)
    agree([x], T.cast(x, target) if source != target else x + x, [numbers((9,), source)])


def test_numbers_of_the_host_cost_no_transfer(context):
    x, rate = T.fmatrix("x"), T.fscalar("rate")
    f = agree([x, rate], x * rate + 0.5 / x.shape[0].astype("float32"), [numbers((3, 4), "float32"), np.float32(0.25)])
    before = context.counts()
    f(numbers((3, 4), "float32"), np.float32(3))
    after = context.counts()
    assert (after["to"] - before["to"], after["from"] - before["from"]) == (1, 1)


@pytest.mark.parametrize(
    "fn", ["exp", "log1p", "tanh", "sin", "erf", "sqrt", "sigmoid", "softplus", "gammaln", "arctan"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_are_those_of_the_cpu(fn, dtype):
    x = variable(dtype, 1)
    function = getattr(T, fn, None) or getattr(T.nnet, fn)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-300, 5.5, 700.0, -700.0], "float64").astype(dtype)
    with np.errstate(all="ignore"):
        agree(
            [x],
            function(abs(x) if fn in ("sqrt", "log1p", "gammaln") else x),
            [np.concatenate([special, numbers(100, dtype)])],
            1e-6 if dtype == "float32" else 1e-14,
        )


def test_several_outputs_and_work_in_place():
    x, y = T.dmatrices("x", "y")
    f = agree(
        [x, y], [T.exp(x) * y, T.exp(x) - y, T.exp(x)], [numbers((4, 3), "float64"), numbers((4, 3), "float64", 1)]
    )
    names = [type(n.op).__name__ for n in nodes(f)[0]]
    assert set(names) == {"GpuElemwise"}


def test_shapes_that_do_not_fit_are_refused_as_on_the_cpu(on_device):
    x, y = T.dvectors("x", "y")
    with pytest.raises(ValueError, match="Input dimension mis-match"):
        on_device([x, y], T.exp(x + y))(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="zero-size array to reduction operation"):
        on_device([x], x.max())(np.zeros(0))


# -- reductions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 300, 2), (300, 1, 1), (2, 2, 700), (0, 3, 2)], ids=str)
def test_axes(axis, shape):
    x = T.dtensor3("x")
    value = numbers(shape, "float64")
    outputs = [x.sum(axis=axis), T.prod(T.cos(x), axis=axis), (x * x).sum(axis=axis)]
    if 0 not in shape:
        outputs += [x.max(axis=axis), T.exp(x).min(axis=axis)]
    agree([x], outputs, [value])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1], ids=str)
def test_reductions_of_any_layout(layout, axis):
    x = T.fmatrix("x")
    agree([x], [x.sum(axis=axis), x.max(axis=axis)], [LAYOUTS[layout](numbers((40, 70), "float32"))])


@pytest.mark.parametrize("dtype", FLOATS + WHOLE)
def test_dtypes_of_reductions(dtype):
    x = variable(dtype, 2)
    outputs = [x.sum(axis=1), x.max(axis=0), x.min()] if dtype != "bool" else [x.sum(axis=1), x.any(axis=0), x.all()]
    agree([x], outputs, [numbers((6, 9), dtype)])


@pytest.mark.parametrize(
    "count", [1, 2, 15, 16, 17, 31, 33, 255, 256, 257, 511, 513, 4095, 4097, 8193, 70_001, 300_000]
)
def test_both_sides_of_every_split(count):
    x = T.dvector("x")
    value = np.arange(count, dtype="float64") % 97 - 40
    agree([x], [x.sum(), x.max(), (x * x).sum()], [value], 1e-13)


@pytest.mark.parametrize("shape", [(2, 100_000), (100_000, 2), (700, 700), (3, 40_000)], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_long_sums(shape, axis):
    x = T.dmatrix("x")
    agree([x], [x.sum(axis=axis), x.min(axis=axis)], [numbers(shape, "float64")], 1e-10)


def test_nan_in_extremes():
    x = T.dmatrix("x")
    value = numbers((5, 300), "float64")
    value[1, 7] = value[3, 299] = np.nan
    agree([x], [x.max(axis=1), x.min(axis=0), x.max()], [value])


@pytest.mark.parametrize("dtype", (*FLOATS, "int32", "bool"))
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)], ids=str)
def test_places_of_extremes(dtype, axis):
    x = variable(dtype, 3)
    value = numbers((4, 50, 3), dtype)
    f = agree([x], T.argmax(x, axis=axis), [value])
    assert type(nodes(f)[0][0].op).__name__ == "GpuArgmax"
    if dtype not in ("bool",):
        agree([x], T.argmin(x, axis=axis), [value])


def test_the_first_of_equal_ones_and_of_those_that_are_no_numbers():
    x = T.dmatrix("x")
    value = np.zeros((6, 600))
    value[1, 300:] = 1
    value[2, [5, 400]] = np.nan
    value[3] = -np.inf
    agree([x], [T.argmax(x, axis=1), T.argmax(x, axis=0)], [value])
    np.testing.assert_array_equal(agree([x], T.argmax(x, axis=1), [value])(value)[0], value.argmax(1))
