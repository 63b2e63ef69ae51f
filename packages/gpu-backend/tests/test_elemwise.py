"""Element-wise loops: the device against the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from compare import FLOATS, LAYOUTS, WHOLE, agree, nodes, numbers, variable

import theano
import theano.tensor as T

SHAPES = [(), (1,), (0,), (7,), (3, 4), (0, 4), (2, 3, 4), (2, 1, 3, 2)]


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
