"""What is done with each result of a convolution, with it and after it: the same bits, whichever kernel convolves."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from arrays import lay

import theano
import theano.tensor as T
from portion import portion
from theano.tensor.conv.conv_elemwise import ConvElemwise
from theano.tensor.conv.op import AbstractConv2d, AbstractConv3d
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.pool import pool_2d

APART = theano.compile.get_default_mode().excluding("conv_elemwise_fusion")

#: For each way to convolve: geometry, images, filters. Planes shorter than vectors, and longer than the pieces of them that
#: are finished together; rows of tiles that begin and end within images.
GEOMETRIES: dict[str, tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]] = {
    "depthwise": ({"border_mode": "half", "num_groups": 5}, (2, 5, 9, 21), (10, 1, 3, 3)),
    "planes": ({"border_mode": 2}, (2, 3, 40, 45), (13, 3, 5, 5)),
    "planes of groups": ({"subsample": (2, 1), "num_groups": 2}, (3, 4, 11, 7), (6, 2, 2, 3)),
    "tiles": ({"border_mode": "half"}, (3, 40, 15, 50), (48, 40, 3, 3)),
    "tiles of groups": ({"border_mode": "half", "num_groups": 2}, (2, 80, 12, 33), (96, 40, 3, 3)),
    "pixels": ({"subsample": (2, 2)}, (2, 33, 23, 25), (40, 33, 1, 1)),
    "points": ({}, (2, 33, 12, 13), (40, 33, 1, 1)),
    "points of groups": ({"num_groups": 3}, (3, 60, 33, 34), (51, 20, 1, 1)),
    "pixels of groups": ({"subsample": (1, 2), "num_groups": 3}, (2, 60, 9, 31), (51, 20, 3, 2)),
    "lines": ({}, (3, 1, 20, 40), (60, 1, 3, 40)),
    "lines of groups": ({"num_groups": 2}, (5, 4, 30, 9), (40, 2, 30, 1)),
    "one result": ({}, (3, 30, 4, 4), (20, 30, 4, 4)),
    "one filter": ({"border_mode": "full"}, (2, 3, 5, 6), (1, 3, 2, 2)),
    "volumes": ({"border_mode": "half"}, (2, 3, 4, 6, 9), (4, 3, 2, 3, 3)),
    "no images": ({}, (0, 3, 5, 5), (4, 3, 2, 2)),
}

#: Of results and a number for each filter.
CHAINS = {
    "bias": lambda y, b: y + b,
    "relu": lambda y, b: T.nnet.relu(y + b),
    "maximum": lambda y, b: T.maximum(y + b, 0),
    "tanh": lambda y, b: T.tanh(y + b),
    "sigmoid": lambda y, b: T.nnet.sigmoid(y + b),
    "activation alone": lambda y, b: T.tanh(y),
    "elu": lambda y, b: T.nnet.elu(y * b - 1, 2),
    "several numbers": lambda y, b: T.tanh(y * b + T.sgn(b) - b * b),
}


def made(geometry: dict[str, Any], chain: Any, ndim: int, dtype: str = "float32", mode: Any = None) -> Any:
    x, w, b = T.TensorType(dtype, (False,) * ndim)("x"), T.TensorType(dtype, (False,) * ndim)("w"), T.vector("b", dtype)
    y = (AbstractConv2d if ndim == 4 else AbstractConv3d)(**geometry)(x, w)
    return theano.function([x, w, b], chain(y, b.dimshuffle("x", 0, *"x" * (ndim - 2))), mode=mode, on_unused_input="ignore")


@cache
def pair(name: str, chain: str, dtype: str = "float32") -> tuple[Any, Any, list[np.ndarray]]:
    """Return a function, the same with a pass of its own for the chain, and what they take."""
    geometry, *shapes = GEOMETRIES[name]
    rng = np.random.default_rng(len(name))
    together, apart = (made(geometry, CHAINS[chain], len(shapes[0]), dtype, mode) for mode in (None, APART))
    for f, kind in ((together, ConvElemwise), (apart, Elemwise)):
        ops = [n.op for n in f.maker.fgraph.toposort()]
        assert any(isinstance(op, kind) for op in ops)
        assert isinstance(f.maker.fgraph.outputs[0].owner.op, kind)
    given = [rng.normal(size=shape).astype(dtype) for shape in (*shapes, shapes[1][:1])]
    return together, apart, given


def same(found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("name", "dtype"), portion(product(GEOMETRIES, ["float32", "float64"]), one_in=2, always=0))
def test_each_way_to_convolve(name: str, dtype: str) -> None:
    for chain in ("relu", "several numbers"):
        together, apart, given = pair(name, chain, dtype)
        same(together(*given), apart(*given))


@pytest.mark.parametrize("chain", CHAINS)
def test_each_chain(chain: str) -> None:
    together, apart, given = pair("planes", chain)
    same(together(*given), apart(*given))


@pytest.mark.parametrize("name", ["depthwise", "planes", "tiles", "pixels"])
@pytest.mark.parametrize("what", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite(name: str, what: float) -> None:
    """Tiles that meet such a number are computed in another way; the chain is not applied twice."""
    for chain in ("relu", "maximum", "several numbers"):
        together, apart, given = pair(name, chain)
        for which in range(3):
            spoilt = [a.copy() for a in given]
            spoilt[which].flat[spoilt[which].size // 2] = what
            with np.errstate(all="ignore"):
                same(together(*spoilt), apart(*spoilt))


@pytest.mark.parametrize("layout", ("F", "transposed", "reversed", "step2", "offset", "unaligned"))
@pytest.mark.parametrize("name", ["depthwise", "planes", "tiles", "pixels"])
def test_layouts(name: str, layout: str) -> None:
    together, apart, given = pair(name, "several numbers")
    for which in range(3):
        laid = [lay(a, layout) if i == which else a for i, a in enumerate(given)]
        same(together(*laid), apart(*laid))


@pytest.mark.parametrize("name", ["depthwise", "planes", "tiles", "pixels"])
def test_threads_change_nothing(name: str) -> None:
    geometry, x, w = GEOMETRIES[name]
    rng = np.random.default_rng(1)
    given = [rng.normal(size=shape).astype("float32") for shape in ((48, *x[1:]), w, w[:1])]
    found = []
    for threads in (1, 2, 3):
        with theano.config.change_flags(threads=threads):
            found.append(made(geometry, CHAINS["several numbers"], 4)(*given))
    same(found[1], found[0])
    same(found[2], found[0])


def ops(outputs: Any, inputs: Any) -> list[Any]:
    return [type(n.op) for n in theano.function(inputs, outputs).maker.fgraph.toposort()]


def test_what_is_left_alone() -> None:
    x, w, b, z = T.ftensor4("x"), T.ftensor4("w"), T.fvector("b"), T.ftensor4("z")
    y = T.nnet.conv2d(x, w)
    bias = b.dimshuffle("x", 0, "x", "x")
    assert ConvElemwise in ops(T.tanh(y + bias), [x, w, b])
    assert ConvElemwise not in ops(y + z, [x, w, z]), "an operand of the size of the results"
    assert ConvElemwise not in ops([y + bias, y.sum()], [x, w, b]), "others use the results"
    assert ConvElemwise not in ops(y + b, [x, w, b]), "a number for each column"
    assert ConvElemwise not in ops([y + bias, T.nnet.relu(y + bias)], [x, w, b]), "both are wanted"
    assert ConvElemwise not in ops(T.gt(y, bias), [x, w, b]), "the output has another dtype"
    one = T.TensorType("float32", (True, False, False, False))("one")
    assert ConvElemwise not in ops(T.nnet.conv2d(x, one) + bias, [x, one, b]), "one filter is stretched to several"
    row = T.TensorType("float32", (False, True, False, False))("row")
    assert ConvElemwise in ops(T.nnet.conv2d(row, w) * 2, [row, w])
    unshared = AbstractConv2d(unshared=True)(x, T.TensorType("float32", (False,) * 6)("u"))
    assert ConvElemwise not in ops(unshared + bias, [x, unshared.owner.inputs[1], b])


def test_gradients_are_those_of_the_expression() -> None:
    x, w, b = T.dtensor4("x"), T.dtensor4("w"), T.dvector("b")
    rng = np.random.default_rng(0)
    given = [rng.normal(size=shape) for shape in ((2, 3, 7, 8), (4, 3, 3, 3), (4,))]
    h = T.tanh(T.nnet.conv2d(x, w) + b.dimshuffle("x", 0, "x", "x"))
    cost = T.sqr(pool_2d(h, (2, 2), ignore_border=True)).sum()
    outputs = [cost, *T.grad(cost, [x, w, b])]
    fused, apart = theano.function([x, w, b], outputs), theano.function([x, w, b], outputs, mode=APART)
    assert any(isinstance(n.op, ConvElemwise) for n in fused.maker.fgraph.toposort())
    for one, other in zip(fused(*given), apart(*given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_lengths_that_do_not_match() -> None:
    f = made({}, CHAINS["relu"], 4)
    for length in (1, 3, 5):
        with pytest.raises(ValueError, match=f"4 filters, and {length} numbers"):
            f(np.ones((1, 2, 4, 4), "float32"), np.ones((4, 2, 2, 2), "float32"), np.ones(length, "float32"))


def test_operands_are_checked_when_a_node_is_made() -> None:
    op = ConvElemwise(AbstractConv2d(), theano.scalar.add)
    with pytest.raises(TypeError, match="number for each filter"):
        op(T.ftensor4(), T.ftensor4(), T.ftensor4())
    with pytest.raises(TypeError, match="cannot take their place"):
        op(T.ftensor4(), T.TensorType("float32", (True, False, False, False))(), T.TensorType("float32", (True, False, True, True))())
