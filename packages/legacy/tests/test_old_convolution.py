"""Convolutions as older programs spell them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.errors import ShapeError
from theano.legacy import conv_shapes as conv
from theano.legacy.convolution import ConvOp, conv2d, signal_conv2d
from theano.tensor.conv import reference
from theano.tensor.convert import NotScalarConstantError
from theano.tensor.testing.verify import verify_grad

RNG = np.random.default_rng(5)


def test_values_and_gradients() -> None:
    op, x, w = ConvOp(dx=2, output_mode="full"), T.tensor4(), T.tensor4()
    values = [RNG.normal(size=shape) for shape in ((2, 2, 3, 2), (1, 2, 2, 2))]
    f = theano.function([x, w], op(x, w))
    assert [type(node.op) for node in f.maker.fgraph.toposort() if "Conv" in str(node.op)] == [ConvOp]
    np.testing.assert_allclose(f(*values), reference.forward(op.geometry, *values))
    verify_grad(op, values, rng=np.random.RandomState(0))
    x, w = (T.constant(value) for value in values)
    up = theano.grad(conv2d(x, w, image_shape=(2, 2, 3, 2), filter_shape=(1, 2, 2, 2)).sum(), [x, w])
    assert [v.eval().shape for v in up] == [(2, 2, 3, 2), (1, 2, 2, 2)]


def test_what_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="output_mode is 'valid' or 'full', not 'half'"):
        ConvOp(output_mode="half")
    x, w = T.tensor4(), T.tensor4()
    with pytest.raises(ValueError, match="channels"):
        theano.function([x, w], ConvOp()(x, w))(np.ones((1, 2, 3, 3)), np.ones((1, 3, 2, 2)))
    with pytest.raises(AssertionError):
        signal_conv2d(T.vector(), T.vector())


@pytest.mark.parametrize("given", list(product([None, 4], [None, 3], [None, 6], [None, 5], [None, 2])), ids=str)
def test_lengths_that_are_given_are_compared(given: Any) -> None:
    """Each length may be known or not; what is known of a tensor of another shape is found out."""
    batch, channels, rows, columns, filters = given
    x, w = T.tensor4(), T.tensor4()
    f = theano.function([x, w], conv2d(x, w, (batch, channels, rows, columns), (filters, channels, 2, 1)))
    right = (4, 3, 6, 5), (2, 3, 2, 1)
    values = [RNG.normal(size=shape) for shape in right]
    np.testing.assert_allclose(f(*values), T.nnet.conv2d(*map(T.constant, values)).eval())
    known = [[batch, channels, rows, columns], [filters, channels, 2, 1]]
    for which, axis in product(range(2), range(4)):
        shapes = [list(shape) for shape in right]
        shapes[which][axis] += 1
        if axis == 1:  # both have as many channels
            shapes[1 - which][axis] += 1
        wrong = [np.ones(shape) for shape in shapes]
        if known[which][axis] is None:
            f(*wrong)
        else:
            with pytest.raises(ShapeError, match="ConvOp: the (images|filters) have another shape than"):
                f(*wrong)


def test_shapes_may_be_constants() -> None:
    x, w = T.tensor4(), T.tensor4()
    for shape in ([1, T.constant(1), np.int8(3), 3], T.constant([1, 1, 3, 3]), T.as_tensor_variable((1, 1, 3, 3))):
        y = conv2d(x, w, shape, (1, 1, 2, 2))
        assert y.owner.op.imshp == (1, 1, 3, 3)
        assert y.eval({x: np.ones((1, 1, 3, 3)), w: np.ones((1, 1, 2, 2))}).tolist() == [[[[4, 4], [4, 4]]]]
    with pytest.raises(NotScalarConstantError):
        conv2d(x, w, (1, 1, 3, T.iscalar()), None)
    with pytest.raises(AssertionError, match="image_shape has 2 channels, filter_shape 3"):
        conv2d(x, w, (1, 2, 3, 3), (1, 3, 2, 2))
    with pytest.raises(ValueError, match="four lengths, not 3"):
        conv2d(x, w, (1, 2, 3), None)
    with pytest.raises(TypeError, match="unexpected keyword"):
        conv2d(x, w, unroll=1)


def test_shapes_of_signals() -> None:
    x, w = T.tensor3(), T.matrix()
    f = theano.function([x, w], signal_conv2d(x, w, image_shape=(2, 4, 4), filter_shape=(2, 2)))
    assert f(np.ones((2, 4, 4)), np.ones((2, 2))).shape == (2, 3, 3)
    for images, filters in (((3, 4, 4), (2, 2)), ((2, 4, 5), (2, 2)), ((2, 4, 4), (2, 3))):
        with pytest.raises(ShapeError, match="ConvOp"):
            f(np.ones(images), np.ones(filters))


def test_lengths_of_results() -> None:
    assert conv.assert_conv_shape(tuple(np.array([1, 2, 3]))) == (1, 2, 3)
    with pytest.raises(ValueError, match="invalid shape"):
        conv.assert_conv_shape((np.int64(1), np.int64(2), np.int64(-3)))


MODES: dict[Any, Any] = {"valid": lambda k: (0, 0), "full": lambda k: (k - 1, k - 1), "half": lambda k: (k // 2, k // 2), 2: lambda k: (2, 2)}


def test_which_shapes_belong_together() -> None:
    image, kernel, top, rest = (8, 6, 10, 7), (5, 6, 3, 2), (8, 5, 4, 8), ((0, 1), (2, 1))
    assert conv.check_conv_gradinputs_shape(image, kernel, top, *rest)
    known = tuple(T.constant(n) for n in top)
    assert conv.check_conv_gradinputs_shape(image, kernel, known, *rest)
    for i in range(4):
        for unknown in (None, T.lscalar()):
            assert conv.check_conv_gradinputs_shape(image, kernel, (*top[:i], unknown, *top[i + 1 :]), *rest)
        for wrong in (top[i] + 1, np.int64(top[i] - 1), T.constant(top[i] + 1)):
            assert not conv.check_conv_gradinputs_shape(image, kernel, (*top[:i], wrong, *top[i + 1 :]), *rest)
        unknown_image = tuple(None if j == i else n for j, n in enumerate(image))
        assert conv.check_conv_gradinputs_shape(unknown_image, kernel, top, *rest)
    assert not conv.check_conv_gradinputs_shape(image, kernel, (*top, 1), *rest)
    assert not conv.check_conv_gradinputs_shape((11, *image[1:]), kernel, top, *rest)
    assert conv.check_conv_gradinputs_shape(image, kernel, (8, 5, 3, 8), *rest, (2, 1)), "filters of dilation 2 cover 5"
    assert not conv.check_conv_gradinputs_shape(image, kernel, top, *rest, (2, 1))


def test_padding() -> None:
    for mode, zeros in MODES.items():
        assert conv.border_mode_to_pad(mode, 2, (3, 4)) == (zeros(3), zeros(4))
    assert conv.border_mode_to_pad((2, (1, 3)), 2, (3, 4)) == ((2, 2), (1, 3))
    for wrong, message in (
        ("same", "called 'half'"), ("most", "invalid border_mode 'most'"), ((1,), "exactly 2 entries"), ((1, -1), "0 or more"), ((1, (2, -1)), "0 or more"),
        (((1, 2, 3), 1), "invalid border_mode entry"), ((1.5, 1), "invalid border_mode entry"), (True, "invalid border_mode"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            conv.border_mode_to_pad(wrong, 2, (3, 4))
