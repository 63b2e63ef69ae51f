"""Lengths of convolutions: forwards by counting places, backwards by what goes forwards, with some of them unknown."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import theano
import theano.tensor as T
from theano.tensor.conv import geometry as conv

#: Of one axis: modes, with the zeros that each puts before and after, for filters that cover so many elements.
MODES: dict[Any, Any] = {
    "valid": lambda k: (0, 0), "full": lambda k: (k - 1, k - 1), "half": lambda k: (k // 2, k // 2),
    2: lambda k: (2, 2), (1, 3): lambda k: (1, 3),
}  # fmt: skip


def places(n: int, k: int, mode: Any, step: int, dilation: int) -> int:
    """Return how many places there are, counted."""
    covered = 1 + max(i * dilation for i in range(k))
    whole = n + sum(MODES[mode](covered))
    return sum(1 for start in range(0, whole, step) if start + covered <= whole)


AXES = [
    (n, k, mode, step, dilation)
    for n, k, mode, step, dilation in product((1, 4, 7, 10), (1, 2, 3), MODES, (1, 2, 3), (1, 2))
    if places(n, k, mode, step, dilation)
]


def test_of_one_axis() -> None:
    for n, k, mode, step, dilation in AXES:
        top, rest = places(n, k, mode, step, dilation), (mode, step, dilation)
        assert conv.get_conv_shape_1axis(n, k, *rest) == top, (n, k, *rest)
        image = conv.get_conv_gradinputs_shape_1axis(k, top, *rest)
        kernel = conv.get_conv_gradweights_shape_1axis(n, top, *rest)
        # Several lengths give the same where steps leave some out, and halves of two lengths are one.
        assert image == (n if step == 1 else None), (n, k, *rest)
        assert kernel == (k if step == 1 and mode != "half" else None), (n, k, *rest)


def test_what_is_unknown_leaves_lengths_unknown() -> None:
    for function in (
        conv.get_conv_shape_1axis, conv.get_conv_gradinputs_shape_1axis, conv.get_conv_gradweights_shape_1axis,
    ):  # fmt: skip
        given: list[Any] = [10, 3, "valid", 1, 1]
        assert function(*given) is not None
        for i in range(5):
            assert function(*given[:i], None, *given[i + 1 :]) is None


def test_symbolic_lengths() -> None:
    n, k = T.lscalars("n", "k")
    ways = list(product(MODES, (1, 2), (1, 2)))
    f = theano.function([n, k], [conv.get_conv_shape_1axis(n, k, *way) for way in ways])
    assert f(10, 3) == [places(10, 3, *way) for way in ways]


def test_of_whole_shapes() -> None:
    """Each axis has its own numbers; batches, filters, channels, groups and places have theirs."""
    for ndim in (1, 2, 3):
        for axes in (AXES[i : i + ndim] for i in range(0, len(AXES) - ndim, 7)):
            image, kernel, modes, steps, dilations = (tuple(each) for each in zip(*axes, strict=True))
            top = tuple(places(*axis) for axis in axes)
            whole = conv.get_conv_output_shape((8, 6, *image), (5, 3, *kernel), modes, steps, dilations)
            assert whole == (8, 5, *top)
            unshared = conv.get_conv_output_shape((8, 6, *image), (5, *top, 3, *kernel), modes, steps, dilations)
            assert unshared == (8, 5, *top)
            each = [conv.get_conv_gradinputs_shape_1axis(k, m, *r) for k, m, (_, _, *r) in zip(kernel, top, axes)]
            for groups in (1, 2):
                for own in ((), top):
                    filters = (5, *own, 3, *kernel)
                    found = conv.get_conv_gradinputs_shape(filters, (8, 5, *top), modes, steps, dilations, groups)
                    assert found == (8, 3 * groups, *each)
            each = [conv.get_conv_gradweights_shape_1axis(n, m, *r) for n, m, (_, _, *r) in zip(image, top, axes)]
            for groups, own in product((1, 2), (False, True)):
                found = conv.get_conv_gradweights_shape(
                    (8, 6, *image), (8, 5, *top), modes, steps, dilations, groups, own
                )
                assert found == (5, *(top if own else ()), 6 // groups, *each)
    assert conv.get_conv_output_shape((1, 1, 9, 9), (1, 1, 3, 3), 1, (1, 2)) == (1, 1, 9, 5), "one number for all axes"
    assert conv.get_conv_gradinputs_shape((2, None, 3, 3), (1, 2, 4, None), "full", (1, 1)) == (1, None, 2, None)
    assert conv.get_conv_gradweights_shape((1, None, 4, 4), (1, 2, 2, None), 0, (1, 1), num_groups=2) == (
        2,
        None,
        3,
        None,
    )


def test_steps_and_dilations() -> None:
    x, w = T.tensor4s("x", "w")
    for what in ("subsample", "filter_dilation"):
        for steps, message in (
            ((0, 1), "1 or more"),
            ((1, 1.5), "whole number"),
            ((1,), "2 elements"),
            ((1, 2, 3), "2 elements"),
        ):
            with pytest.raises(ValueError, match=f"{what}.*{message}"):
                T.nnet.conv2d(x, w, **{what: steps})
    for negative in (-1, (2, -1)):
        with pytest.raises(ValueError, match="must be >= 0"):
            conv.get_conv_shape_1axis(10, 3, negative, 1)
