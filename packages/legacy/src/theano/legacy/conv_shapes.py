"""What older programs ask about the shapes of a convolution, of ``theano.tensor.nnet.abstract_conv``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.graph.variable import Constant
from theano.tensor.control.checks import Assert
from theano.tensor.conv.geometry import (
    Pads,
    axis_modes,
    get_conv_output_shape,
    normal_border_mode,
    zeros_around,
)
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import ge


def assert_conv_shape(shape: Sequence[int | np.integer]) -> tuple[int | np.integer, ...]:
    """Return the shape of a convolution's result, checked: lengths of batch and channels 0 or more, others 1 or more.

    Raises
    ------
    ValueError
        A length that is known is not.
    AssertionError
        While running, for one that is symbolic.

    Examples
    --------
    >>> assert_conv_shape((1, 2, 3))
    (1, 2, 3)
    """
    checked: list[int | np.integer] = []
    for i, n in enumerate(shape):
        least = 0 if i < 2 else 1
        if isinstance(n, (int, np.integer)):
            if n < least:
                raise ValueError(f"The convolution would produce an invalid shape (dim[{i}]: {n} < {least}).")
            checked.append(n)
        elif n is None:
            checked.append(n)
        else:
            n = as_tensor_variable(n)
            checked.append(
                Assert(f"The convolution would produce an invalid shape (dim[{i}] < {least}).")(n, ge(n, least))
            )
    return tuple(checked)


def border_mode_to_pad(mode: Any, convdim: int, kshp: Sequence[int]) -> Pads:
    """Return the zeros before and after an image along each axis.

    Parameters
    ----------
    mode : str, int or tuple
        As for `conv2d`.
    convdim : int
    kshp : sequence of int
        How many elements the filters cover: their lengths, dilated.

    Examples
    --------
    >>> border_mode_to_pad("half", 2, (3, 5)), border_mode_to_pad((1, (2, 3)), 2, (3, 3))
    (((1, 1), (2, 2)), ((1, 1), (2, 3)))
    """
    modes = axis_modes(normal_border_mode(mode, convdim), convdim)
    return tuple(zeros_around(m, k) for m, k in zip(modes, kshp, strict=True))


def check_conv_gradinputs_shape(
    image_shape: Any,
    kernel_shape: Sequence[int],
    output_shape: Any,
    border_mode: Any,
    subsample: Any,
    filter_dilation: Any = None,
) -> bool:
    """Return whether shapes of image, filters and output can belong together; what is not known contradicts nothing.

    Examples
    --------
    >>> check_conv_gradinputs_shape((1, 1, 10, 10), (1, 1, 3, 3), (1, 1, 4, 4), "valid", (2, 2))
    True
    >>> check_conv_gradinputs_shape((1, 1, 10, 10), (1, 1, 3, 3), (1, 1, 5, 4), "valid", (2, 2))
    False
    """
    image, kernel, wanted = ([_known(n) for n in shape] for shape in (image_shape, kernel_shape, output_shape))
    if len({len(image), len(wanted)}) != 1:
        return False
    found = get_conv_output_shape(image, kernel, border_mode, subsample, filter_dilation)
    return all(a is None or b is None or a == b for a, b in zip(found, wanted, strict=True))


def _known(n: Any) -> int | None:
    if isinstance(n, Constant):
        return int(n.data)
    return int(n) if isinstance(n, (int, np.integer)) else None
