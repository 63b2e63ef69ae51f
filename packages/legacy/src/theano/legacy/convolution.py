"""Convolution as older programs spell it: ConvOp and functions, with the ops of the layer of arrays behind them."""

from __future__ import annotations

from typing import Any

from theano.errors import ArgumentError
from theano.graph import Apply
from theano.tensor.control.checks import CheckedShape
from theano.tensor.conv.functions import conv3d as volumes_conv3d
from theano.tensor.conv.geometry import get_conv_output_shape
from theano.tensor.conv.op import AbstractConv2d
from theano.tensor.convert import as_tensor_variable, get_scalar_constant_value
from theano.tensor.elemwise.functions import eq


class ConvOp(AbstractConv2d):
    """The convolution of images with filters, with parameters that once told how to compute it.

    Parameters
    ----------
    imshp : tuple of int or None, optional
        (channels, rows, columns), or (rows, columns) of images with one channel.
    kshp : tuple of int or None, optional
        (rows, columns)
    nkern, bsize : int, optional
        The numbers of filters and of images. All lengths are compared with those of the tensors while running.
    dx, dy : int
        The steps along rows and columns.
    output_mode : 'valid' or 'full'

    Examples
    --------
    >>> import theano.tensor as T
    >>> ConvOp(output_mode="full")(T.ones((1, 1, 1, 1)), T.ones((1, 1, 1, 2))).eval().ravel()
    array([1., 1.])
    """

    def __init__(
        self, imshp: Any = None, kshp: Any = None, nkern: int | None = None, bsize: int | None = None, dx: int = 1,
        dy: int = 1, output_mode: str = "valid", unroll_batch: int | None = None, unroll_kern: int | None = None,
        unroll_patch: bool | None = None, imshp_logical: Any = None, kshp_logical: Any = None,
        kshp_logical_top_aligned: bool = True, verbose: int = 0, version: int = -1, direction_hint: str = "forward",
        openmp: bool | None = None,
    ):  # fmt: skip
        if output_mode not in ("valid", "full"):
            raise NotImplementedError(f"output_mode is 'valid' or 'full', not {output_mode!r}")
        if imshp_logical not in (None, imshp) or kshp_logical not in (None, kshp):
            raise NotImplementedError(
                "ConvOp: imshp_logical and kshp_logical are not there; nnet.conv2d has subsample and filter_dilation"
            )
        self.nkern, self.bsize, self.dx, self.dy, self.out_mode = nkern, bsize, dx, dy, output_mode
        channels, *image = (None,) * 3 if imshp is None else imshp if len(imshp) == 3 else (1, *imshp)
        kernel = (None, None) if kshp is None else kshp
        whole, filters = (
            shape if any(n is not None for n in shape) else None
            for shape in ((bsize, channels, *image), (nkern, channels, *kernel))
        )
        super().__init__(whole, filters, output_mode, (dx, dy))

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "convdim" in state:
            self.__dict__.update(state)
            return
        names = "imshp kshp nkern bsize dx dy imshp_logical kshp_logical".split()
        ConvOp.__init__(self, **{name: state[name] for name in names}, output_mode=state["out_mode"])

    def make_node(self, img: Any, kern: Any) -> Apply:
        """Return the node for tensors that are found to have the given shapes while running, or for a `ShapeError`."""
        checked = [
            self._of_shape(self._tensor(v, 4, name), shape, what)
            for v, name, shape, what in ((img, "img", self.imshp, "images"), (kern, "kern", self.kshp, "filters"))
        ]
        return super().make_node(*checked)

    @staticmethod
    def getOutputShape(inshp: Any, kshp: Any, stride: Any = (1, 1), mode: str = "valid") -> tuple[Any, ...]:
        """Return the rows and columns of a convolution's output.

        Parameters
        ----------
        inshp, kshp : tuple of int, symbolic integer or None
            (rows, columns) of the images and of the filters.
        stride : tuple of int
        mode : 'valid' or 'full'

        Examples
        --------
        >>> ConvOp.getOutputShape((28, 28), (5, 3)), ConvOp.getOutputShape((28, None), (5, 3), (2, 1), "full")
        ((24, 26), (16, None))
        """
        return get_conv_output_shape((None, None, *inshp), (None, None, *kshp), mode, stride)[2:]

    @staticmethod
    def _of_shape(v: Any, shape: tuple[int | None, ...] | None, what: str) -> Any:
        tests = [eq(v.shape[axis], n) for axis, n in enumerate(shape or ()) if n is not None]
        return CheckedShape(f"ConvOp: the {what} have another shape than {shape}.")(v, *tests) if tests else v


# -- functions ---------------------------------------------------------------------------------------------------------


def conv2d(
    input: Any, filters: Any, image_shape: Any = None, filter_shape: Any = None, border_mode: str = "valid",
    subsample: Any = (1, 1), **kargs: Any,
) -> Any:  # fmt: skip
    """Return the convolution of a batch of images with filters: ``theano.tensor.nnet.conv.conv2d``.

    Parameters
    ----------
    input, filters : tensor of 4 dimensions
    image_shape, filter_shape : tuple of int, constants or None, or a constant vector, optional
        The known lengths of the shapes; they are compared with the real ones at run time.
    border_mode : 'valid' or 'full'
    subsample : tuple of two integers
    kargs
        Parameters of `ConvOp` that told how to compute it.

    Raises
    ------
    NotScalarConstantError
        A length is symbolic.
    AssertionError
        The shapes have different numbers of channels.

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv2d(T.ones((1, 1, 2, 2)), T.ones((1, 1, 2, 2))).eval().ravel()
    array([4.])
    """
    if border_mode not in ("valid", "full"):
        raise NotImplementedError(f"border_mode is 'valid' or 'full' here, not {border_mode!r}; nnet.conv2d has more")
    batch, channels, *image = _known(image_shape)
    count, of_filters, *kernel = _known(filter_shape)
    if None not in (channels, of_filters) and channels != of_filters:
        raise AssertionError(f"conv2d: image_shape has {channels} channels, filter_shape {of_filters}")
    channels = of_filters if channels is None else channels
    dx, dy = subsample
    op = ConvOp((channels, *image), kernel, count, batch, dx, dy, border_mode, **kargs)
    return op(input, filters)


def _known(shape: Any) -> list[int | None]:
    """Return the four lengths of a shape that a user gave as numbers or constants; None where they are not known."""
    if shape is None:
        return [None] * 4
    lengths: Any = [shape[i] for i in range(4)] if hasattr(shape, "type") else list(shape)
    if len(lengths) != 4:
        raise ValueError(f"conv2d: image_shape and filter_shape have four lengths, not {len(lengths)}: {shape}")
    return [None if n is None else int(get_scalar_constant_value(as_tensor_variable(n))) for n in lengths]


def signal_conv2d(
    input: Any, filters: Any, image_shape: Any = None, filter_shape: Any = None, border_mode: str = "valid",
    subsample: Any = (1, 1), **kargs: Any,
) -> Any:  # fmt: skip
    """Return the convolution of each image with each filter: ``theano.tensor.signal.conv.conv2d``.

    Parameters
    ----------
    input : matrix, or tensor of 3 dimensions
        An image, or several.
    filters : matrix, or tensor of 3 dimensions
        A filter, or several.
    image_shape, filter_shape : tuple, optional
        As many entries as they have dimensions.
    border_mode : 'valid' or 'full'
        Whether the filters stay inside the image, or pass its border.
    subsample : tuple of two integers
        Every how many places a result is kept, along rows and columns.
    **kargs : object
        Handed to ``theano.tensor.nnet.conv.conv2d``.

    Returns
    -------
    tensor
        (images, filters, rows, columns), without the first where there is one image, without the second where there is
        one filter, if these were given as matrices.

    Examples
    --------
    >>> import theano.tensor as T
    >>> signal_conv2d(T.ones((3, 3)), T.ones((2, 2, 2))).eval().shape
    (2, 2, 2)
    """
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    for what, v in (("input", input), ("filters", filters)):
        if v.type.ndim not in (2, 3):
            raise ArgumentError(f"conv2d: {what} must have 2 or 3 dimensions, not {v.type.ndim}")
    images, kernels = (
        v.dimshuffle(0, "x", 1, 2) if v.type.ndim == 3 else v.dimshuffle("x", "x", 0, 1) for v in (input, filters)
    )
    image_shape, filter_shape = (
        None if shape is None else ((1, *shape)[-3], 1, *shape[-2:]) for shape in (image_shape, filter_shape)
    )
    out = conv2d(images, kernels, image_shape, filter_shape, border_mode, subsample, **kargs)
    if input.type.ndim == 2:
        out = out[0]
        return out[0] if filters.type.ndim == 2 else out
    return out[:, 0] if filters.type.ndim == 2 else out


def conv3d(
    signals: Any, filters: Any, signals_shape: Any = None, filters_shape: Any = None, border_mode: Any = "valid"
) -> Any:
    """Return the convolution of films with filters: ``theano.tensor.nnet.conv3d2d.conv3d``.

    Parameters
    ----------
    signals : tensor of 5 dimensions
        (batch, time, channels, rows, columns)
    filters : tensor of 5 dimensions
        (filters, time, channels, rows, columns)
    signals_shape, filters_shape : tuple, optional
    border_mode : 'valid', 'full', 'half', or tuple of three of these
        Of time, rows and columns; those of rows and columns are the same.

    Returns
    -------
    tensor of 5 dimensions
        (batch, time, filters, rows, columns)

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv3d(T.ones((1, 3, 1, 2, 2)), T.ones((4, 2, 1, 2, 2))).eval().shape
    (1, 2, 4, 1, 1)
    """
    modes = (border_mode,) * 3 if isinstance(border_mode, str) else tuple(border_mode)
    if len(modes) != 3 or modes[1] != modes[2]:
        raise NotImplementedError(
            f"the border modes of rows and columns must be the same, and there are three: {modes}"
        )
    x, w = as_tensor_variable(signals).dimshuffle(0, 2, 1, 3, 4), as_tensor_variable(filters).dimshuffle(0, 2, 1, 3, 4)
    if len(set(modes)) == 1:
        out = volumes_conv3d(x, w, border_mode=modes[0])
    else:
        out = _mixed(x, w, modes)
    return out.dimshuffle(0, 2, 1, 3, 4)


def _mixed(x: Any, w: Any, modes: tuple[str, ...]) -> Any:
    """Return the convolution with a border mode of its own for each axis: all that is full is, and then cut."""
    out = volumes_conv3d(x, w, border_mode="full")
    for axis, mode in enumerate(modes, 2):
        k, n = w.shape[axis], x.shape[axis]
        if mode == "full":
            continue
        start = k - 1 if mode == "valid" else k - 1 - k // 2
        stop = n if mode == "valid" else start + n + 2 * (k // 2) - k + 1
        out = out[(slice(None),) * axis + (slice(start, stop),)]
    return out
