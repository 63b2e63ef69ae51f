"""The geometry of a convolution: padding, steps, dilation, groups, and the lengths that follow from them.

Along each axis a filter of ``k`` elements with dilation ``d`` covers ``(k - 1) d + 1`` elements of the image. It is
applied at every ``s``-th place of the image, to which ``before`` and ``after`` zeros have been added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.records import NamedTuple
from theano.tensor.convert import whole_number

if TYPE_CHECKING:
    from theano.tensor.annotations import Border

Pads = tuple[tuple[int, int], ...]
BorderMode = str | tuple[int | tuple[int, int], ...]


class Geometry(NamedTuple):
    """All that says how filters meet an image, but for their lengths.

    Attributes
    ----------
    border_mode : 'valid', 'full', 'half', or tuple of int or of pairs of int
        Zeros around the image: none, as many as let a filter overlap by one element, half a filter, or these numbers
        (of each axis; a pair is for before and after).
    subsample : tuple of int
        The steps between places.
    filter_dilation : tuple of int
    filter_flip : bool
        Whether filters are reversed, as the mathematical convolution has it.
    num_groups : int
        Into how many groups channels and filters are split, each of which sees its own alone.
    unshared : bool
        Whether each place has filters of its own.
    """

    border_mode: BorderMode
    subsample: tuple[int, ...]
    filter_dilation: tuple[int, ...]
    filter_flip: bool = True
    num_groups: int = 1
    unshared: bool = False

    def pads(self, kernel: Sequence[int]) -> Pads:
        """Return the zeros before and after the image along each axis, for a filter of these lengths."""
        covered = [covered_length(k, d) for k, d in zip(kernel, self.filter_dilation, strict=True)]
        return tuple(zeros_around(mode, k) for mode, k in zip(axis_modes(self.border_mode, len(covered)), covered))

    def output(self, image: Sequence[int], kernel: Sequence[int]) -> tuple[int, ...]:
        """Return how many places there are along each axis."""
        return tuple(
            (n + sum(pad) - covered_length(k, d)) // s + 1
            for n, k, pad, s, d in zip(
                image, kernel, self.pads(kernel), self.subsample, self.filter_dilation, strict=True
            )
        )


def covered_length(kernel: Any, dilation: object) -> Any:
    """Return how many elements of an image a filter of ``kernel`` elements covers.

    Examples
    --------
    >>> covered_length(3, 1), covered_length(3, 2)
    (3, 5)
    """
    return (kernel - 1) * dilation + 1


def zeros_around(mode: Any, covered: Any) -> tuple[Any, Any]:
    """Return the zeros before and after an image along an axis, for a filter that covers this many elements.

    Examples
    --------
    >>> zeros_around("half", 5), zeros_around("full", 5), zeros_around("valid", 5), zeros_around(2, 5)
    ((2, 2), (4, 4), (0, 0), (2, 2))
    """
    if mode == "valid":
        return 0, 0
    if mode == "full":
        return covered - 1, covered - 1
    if mode == "half":
        return covered // 2, covered // 2
    return (mode, mode) if isinstance(mode, (int, np.integer)) else tuple(mode)


def axis_modes(border_mode: Any, ndim: int) -> list[Any]:
    """Return a border mode for each axis.

    Examples
    --------
    >>> axis_modes("half", 2), axis_modes((1, (2, 3)), 2)
    (['half', 'half'], [1, (2, 3)])
    """
    return [border_mode] * ndim if isinstance(border_mode, str) else list(border_mode)


# -- checked arguments -------------------------------------------------------------------------------------------------


def normal_border_mode(border_mode: Any, ndim: int) -> BorderMode:
    """Return a border mode in one form.

    Raises
    ------
    ValueError
        It is none of those that `Geometry` has; a number is negative; there are not ``ndim`` numbers.

    Examples
    --------
    >>> normal_border_mode(1, 2), normal_border_mode((0, 2), 2), normal_border_mode(((1, 2), 3), 2)
    ((1, 1), (0, 2), ((1, 2), (3, 3)))
    """
    if border_mode == "same":
        raise ValueError(
            "border_mode 'same' is called 'half' here: the output is as large as the image for odd filters"
        )
    if isinstance(border_mode, str):
        if border_mode not in ("valid", "full", "half"):
            raise ValueError(f"invalid border_mode {border_mode!r}; {_MODES}")
        return border_mode
    if whole_number(border_mode) is not None and not isinstance(border_mode, bool):
        border_mode = (border_mode,) * ndim
    if not isinstance(border_mode, (tuple, list)):
        raise ValueError(f"invalid border_mode {border_mode!r}; {_MODES}")
    if len(border_mode) != ndim:
        raise ValueError(f"invalid border_mode {tuple(border_mode)}: it must have exactly {ndim} entries, one an axis")
    modes = [_normal_entry(entry) for entry in border_mode]
    if any(min(pair) < 0 for pair in modes):
        raise ValueError(
            f"invalid border_mode {tuple(border_mode)}: padding is 0 or more; take a slice of the image instead"
        )
    if all(before == after for before, after in modes):
        return tuple(before for before, _ in modes)
    return tuple(modes)


_MODES = (
    "it must be 'valid', 'full', 'half', an integer, or a tuple with an integer or a pair of integers for each axis"
)


def _normal_entry(entry: int | tuple[int, ...]) -> tuple[int, int]:
    pair = tuple(entry) if isinstance(entry, (tuple, list)) else (entry, entry)
    if len(pair) != 2 or any(whole_number(n) is None for n in pair):
        raise ValueError(f"invalid border_mode entry {entry!r}; {_MODES}")
    return int(pair[0]), int(pair[1])


def normal_steps(steps: Any, ndim: int, what: str) -> tuple[int, ...]:
    """Return steps or dilations, one an axis.

    Examples
    --------
    >>> normal_steps(None, 2, "subsample"), normal_steps([2, 1], 2, "subsample"), normal_steps(3, 1, "subsample")
    ((1, 1), (2, 1), (3,))
    """
    if steps is None:
        return (1,) * ndim
    steps = tuple(steps) if whole_number(steps) is None else (steps,) * ndim
    if len(steps) != ndim:
        raise ValueError(f"{what} must have {ndim} elements, one an axis; it is {steps}")
    numbers = [whole_number(s) for s in steps]
    if any(n is None or n < 1 for n in numbers):
        raise ValueError(f"{what} {steps}: each must be a whole number, 1 or more")
    return tuple(n for n in numbers if n is not None)


# -- lengths, known or symbolic ----------------------------------------------------------------------------------------


def get_conv_shape_1axis(
    image_shape: Any, kernel_shape: Any, border_mode: Border, subsample: Any, dilation: object = 1
) -> Any:
    """Return the length of a convolution's output along one axis.

    Parameters
    ----------
    image_shape, kernel_shape : int, symbolic integer or None
    border_mode : 'valid', 'full', 'half', int or pair of int
    subsample, dilation : int

    Returns
    -------
    int, symbolic integer, or None where it is not known

    Examples
    --------
    >>> get_conv_shape_1axis(10, 3, "valid", 1), get_conv_shape_1axis(10, 3, "half", 2)
    (8, 5)
    >>> get_conv_shape_1axis(None, 3, 0, 1) is None
    True
    """
    if any(v is None for v in (image_shape, kernel_shape, border_mode, subsample, dilation)):
        return None
    covered = covered_length(kernel_shape, dilation)
    before, after = zeros_around(border_mode, covered)
    if isinstance(before, (int, np.integer)) and min(before, after) < 0:
        raise ValueError(f"border_mode must be >= 0, not {border_mode}")
    free = image_shape + (before + after - covered)
    return (free if subsample == 1 else free // subsample) + 1


def get_conv_output_shape(
    image_shape: Any, kernel_shape: Any, border_mode: Any, subsample: Any, filter_dilation: Any = None
) -> tuple[Any, ...]:
    """Return the shape of a convolution's output; lengths that are not known are None.

    Parameters
    ----------
    image_shape : tuple of int, symbolic integer or None
        (batch, channels, ...)
    kernel_shape : tuple of int, symbolic integer or None
        (filters, channels, ...); of unshared filters (filters, places..., channels, ...).
    border_mode, subsample, filter_dilation
        As for `conv2d`.

    Examples
    --------
    >>> get_conv_output_shape((8, 3, 32, 32), (16, 3, 5, 5), "half", (2, 2))
    (8, 16, 16, 16)
    """
    ndim = len(image_shape) - 2
    modes, dilations = axis_modes(border_mode_of(border_mode, ndim), ndim), filter_dilation or (1,) * ndim
    lengths = (
        get_conv_shape_1axis(*axis)
        for axis in zip(image_shape[2:], kernel_shape[-ndim:], modes, subsample, dilations, strict=True)
    )
    return (image_shape[0], kernel_shape[0], *lengths)


def border_mode_of(border_mode: Border, ndim: int) -> Any:
    """Return a border mode as it is, a single number as one an axis."""
    return (border_mode,) * ndim if isinstance(border_mode, (int, np.integer)) else border_mode


def get_conv_gradweights_shape_1axis(
    image_shape: Any, top_shape: int, border_mode: Border, subsample: Any, dilation: int
) -> Any:
    """Return the length of filters along an axis from those of image and output, or None: not known, or not unique.

    Examples
    --------
    >>> get_conv_gradweights_shape_1axis(10, 8, "valid", 1, 1), get_conv_gradweights_shape_1axis(10, 4, "valid", 2, 1)
    (3, None)
    """
    if any(v is None for v in (image_shape, top_shape, border_mode, subsample, dilation)):
        return None
    if subsample != 1 or border_mode == "half":
        return None
    if border_mode == "full":
        gaps = top_shape - image_shape
    else:
        gaps = image_shape + sum(zeros_around(border_mode, 1)) - top_shape
    return (gaps if dilation == 1 else gaps // dilation) + 1


def get_conv_gradweights_shape(
    image_shape: Any, top_shape: Sequence[int], border_mode: Border, subsample: Any, filter_dilation: Any = None,
    num_groups: int = 1, unshared: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the shape of the filters from those of image and output; what does not follow is None.

    Examples
    --------
    >>> get_conv_gradweights_shape((8, 4, 10, 10), (8, 16, 8, 8), "valid", (1, 1), num_groups=2)
    (16, 2, 3, 3)
    """
    ndim = len(image_shape) - 2
    modes, dilations = axis_modes(border_mode_of(border_mode, ndim), ndim), filter_dilation or (1,) * ndim
    channels = None if image_shape[1] is None else image_shape[1] // num_groups if num_groups > 1 else image_shape[1]
    lengths = tuple(
        get_conv_gradweights_shape_1axis(*axis)
        for axis in zip(image_shape[2:], top_shape[2:], modes, subsample, dilations, strict=True)
    )
    places = tuple(top_shape[2:]) if unshared else ()
    return (top_shape[1], *places, channels, *lengths)


def get_conv_gradinputs_shape_1axis(
    kernel_shape: int, top_shape: int, border_mode: Border, subsample: Any, dilation: int
) -> Any:
    """Return the length of images along an axis from those of filters and output, or None: not known, or not unique.

    Examples
    --------
    >>> get_conv_gradinputs_shape_1axis(3, 8, "valid", 1, 1), get_conv_gradinputs_shape_1axis(3, 8, "valid", 2, 1)
    (10, None)
    """
    if any(v is None for v in (kernel_shape, top_shape, border_mode, subsample, dilation)) or subsample != 1:
        return None
    covered = covered_length(kernel_shape, dilation)
    return top_shape + covered - 1 - sum(zeros_around(border_mode, covered))


def get_conv_gradinputs_shape(
    kernel_shape: Sequence[int],
    top_shape: Sequence[int],
    border_mode: Border,
    subsample: Any,
    filter_dilation: Any = None,
    num_groups: int = 1,
) -> tuple[Any, ...]:
    """Return the shape of the image from those of filters and output; what does not follow is None.

    Examples
    --------
    >>> get_conv_gradinputs_shape((16, 4, 3, 3), (8, 16, 8, 8), "valid", (1, 1))
    (8, 4, 10, 10)
    """
    ndim = len(top_shape) - 2
    modes, dilations = axis_modes(border_mode_of(border_mode, ndim), ndim), filter_dilation or (1,) * ndim
    channels = kernel_shape[-ndim - 1]
    lengths = (
        get_conv_gradinputs_shape_1axis(*axis)
        for axis in zip(kernel_shape[-ndim:], top_shape[2:], modes, subsample, dilations, strict=True)
    )
    return (top_shape[0], None if channels is None else channels * num_groups, *lengths)
