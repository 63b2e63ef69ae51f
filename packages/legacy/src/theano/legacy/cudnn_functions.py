"""What programs call by cuDNN's names: convolution, pooling, normalisation, softmax, reductions, spatial transformers.

Nothing here calls cuDNN. The functions write the expressions of the tensor layer, with results on the device of their
operands; kernels of this layer compute them, on any device.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from theano.gpuarray.calls import context_name_for, seen_from_host, there
from theano.gpuarray.context import is_started
from theano.gpuarray.errors import GpuUnavailableError
from theano.tensor.control.checks import Assert
from theano.tensor.conv.functions import (
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights,
    conv3d,
    conv3d_grad_wrt_inputs,
    conv3d_grad_wrt_weights,
)
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast, clip, eq, floor, maximum, switch
from theano.tensor.join.op import stack
from theano.tensor.nnet.normalization import batch_normalization_test, batch_normalization_train
from theano.tensor.pool import pool_2d, pool_3d
from theano.tensor.random.mrg import MRG_RandomStreams

_VERSION = 7000
_FLIPS = {"conv": True, "cross": False}


def on_device_of_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of tensors take variables on devices, and return its results on that of the first one.

    Examples
    --------
    >>> import theano.tensor as T
    >>> on_device_of_operands(T.exp)(T.fvector("x")).type
    GpuArrayType<None>(float32, vector)
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        context_name = context_name_for(*args, *kwargs.values())
        found = function(*map(seen_from_host, args), **{name: seen_from_host(x) for name, x in kwargs.items()})
        if isinstance(found, (tuple, list)):
            return type(found)(there(v, context_name) for v in found)
        return there(found, context_name)

    return called


def dnn_present() -> bool:
    """Return whether the functions of this module can be used: the default device was started.

    Examples
    --------
    >>> dnn_present() == dnn_available(None)
    True
    """
    return dnn_available(None)


def dnn_available(context_name: str | None) -> bool:
    """Return whether the functions of this module can be used: a device was started under that name.

    Examples
    --------
    >>> dnn_available("moon")
    False
    """
    return is_started(context_name)


def version(raises: bool = True) -> int:
    """Return the version of cuDNN whose interface this module has.

    Parameters
    ----------
    raises : bool
        Raise where no device was started; otherwise -1 is returned.

    Raises
    ------
    GpuUnavailableError
        No device was started.

    Examples
    --------
    >>> version(raises=False) in (-1, 7000)
    True
    """
    if dnn_present():
        return _VERSION
    if raises:
        raise GpuUnavailableError("no device was started: theano.gpuarray.use, or the flag device")
    return -1


def _flip(conv_mode: str) -> bool:
    if conv_mode not in _FLIPS:
        raise ValueError(f"conv_mode is 'conv' or 'cross', not {conv_mode!r}")
    return _FLIPS[conv_mode]


def _lengths(shape: Any, ndim: int) -> tuple[Any, ...]:
    """Return a shape, a sequence or a vector, as single lengths."""
    if isinstance(shape, (tuple, list)):
        return tuple(shape)
    return tuple(as_tensor_variable(shape)[k] for k in range(ndim))


@on_device_of_operands
def dnn_conv(
    img: Any, kerns: Any, border_mode: Any = "valid", subsample: Any = (1, 1), dilation: Any = (1, 1),
    conv_mode: str = "conv", direction_hint: Any = None, workmem: Any = None, algo: Any = None, precision: Any = None,
    num_groups: int = 1,
) -> Any:  # fmt: skip
    """Return the convolution of images with filters, on a device.

    Parameters
    ----------
    img, kerns : tensor
        (batch, channel, row, column), (output channel, channel, row, column).
    border_mode, subsample, dilation, num_groups
        As of `theano.tensor.nnet.conv2d`.
    conv_mode : {'conv', 'cross'}
        Whether filters are flipped.
    direction_hint, workmem, algo, precision : optional
        How cuDNN was to compute; ignored.

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_conv(T.ftensor4("img"), T.ftensor4("kerns"), border_mode="half").type.ndim
    4
    """
    return conv2d(
        img, kerns, border_mode=border_mode, subsample=tuple(subsample), filter_flip=_flip(conv_mode),
        filter_dilation=tuple(dilation), num_groups=num_groups,
    )  # fmt: skip


@on_device_of_operands
def dnn_conv3d(
    img: Any, kerns: Any, border_mode: Any = "valid", subsample: Any = (1, 1, 1), dilation: Any = (1, 1, 1),
    conv_mode: str = "conv", direction_hint: Any = None, algo: Any = None, precision: Any = None, num_groups: int = 1,
) -> Any:  # fmt: skip
    """Return the convolution of volumes with filters (`dnn_conv`, with three axes).

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_conv3d(T.ftensor5("img"), T.ftensor5("kerns")).type.ndim
    5
    """
    return conv3d(
        img, kerns, border_mode=border_mode, subsample=tuple(subsample), filter_flip=_flip(conv_mode),
        filter_dilation=tuple(dilation), num_groups=num_groups,
    )  # fmt: skip


@on_device_of_operands
def dnn_gradweight(
    img: Any, topgrad: Any, kerns_shp: Any, border_mode: Any = "valid", subsample: Any = (1, 1),
    dilation: Any = (1, 1), conv_mode: str = "conv", precision: Any = None, algo: Any = None, num_groups: int = 1,
) -> Any:  # fmt: skip
    """Return the gradient of a convolution with respect to its filters.

    Parameters
    ----------
    img, topgrad : tensor
        The images, and the gradient of the result.
    kerns_shp : sequence of int, or vector
        The shape of the filters.
    border_mode, subsample, dilation, conv_mode, precision, algo, num_groups
        As of `dnn_conv`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_gradweight(T.ftensor4("img"), T.ftensor4("g"), (2, 3, 5, 5)).type.ndim
    4
    """
    return conv2d_grad_wrt_weights(
        img, topgrad, _lengths(kerns_shp, 4), border_mode=border_mode, subsample=tuple(subsample),
        filter_flip=_flip(conv_mode), filter_dilation=tuple(dilation), num_groups=num_groups,
    )  # fmt: skip


@on_device_of_operands
def dnn_gradweight3d(
    img: Any, topgrad: Any, kerns_shp: Any, border_mode: Any = "valid", subsample: Any = (1, 1, 1),
    dilation: Any = (1, 1, 1), conv_mode: str = "conv", precision: Any = None, algo: Any = None, num_groups: int = 1,
) -> Any:  # fmt: skip
    """Return the gradient of a convolution of volumes with respect to its filters (`dnn_gradweight`).

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_gradweight3d(T.ftensor5("img"), T.ftensor5("g"), (2, 3, 5, 5, 5)).type.ndim
    5
    """
    return conv3d_grad_wrt_weights(
        img, topgrad, _lengths(kerns_shp, 5), border_mode=border_mode, subsample=tuple(subsample),
        filter_flip=_flip(conv_mode), filter_dilation=tuple(dilation), num_groups=num_groups,
    )  # fmt: skip


@on_device_of_operands
def dnn_gradinput(
    kerns: Any, topgrad: Any, img_shp: Any, border_mode: Any = "valid", subsample: Any = (1, 1),
    dilation: Any = (1, 1), conv_mode: str = "conv", precision: Any = None, algo: Any = None, num_groups: int = 1,
) -> Any:  # fmt: skip
    """Return the gradient of a convolution with respect to its images.

    Parameters
    ----------
    kerns, topgrad : tensor
        The filters, and the gradient of the result.
    img_shp : sequence of int, or vector
        The shape of the images.
    border_mode, subsample, dilation, conv_mode, precision, algo, num_groups
        As of `dnn_conv`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_gradinput(T.ftensor4("kerns"), T.ftensor4("g"), (2, 3, 9, 9)).type.ndim
    4
    """
    return conv2d_grad_wrt_inputs(
        topgrad, kerns, _lengths(img_shp, 4), border_mode=border_mode, subsample=tuple(subsample),
        filter_flip=_flip(conv_mode), filter_dilation=tuple(dilation), num_groups=num_groups,
    )  # fmt: skip


@on_device_of_operands
def dnn_gradinput3d(
    kerns: Any, topgrad: Any, img_shp: Any, border_mode: Any = "valid", subsample: Any = (1, 1, 1),
    dilation: Any = (1, 1, 1), conv_mode: str = "conv", precision: Any = None, algo: Any = None, num_groups: int = 1,
) -> Any:  # fmt: skip
    """Return the gradient of a convolution of volumes with respect to these (`dnn_gradinput`).

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_gradinput3d(T.ftensor5("kerns"), T.ftensor5("g"), (2, 3, 9, 9, 9)).type.ndim
    5
    """
    return conv3d_grad_wrt_inputs(
        topgrad, kerns, _lengths(img_shp, 5), border_mode=border_mode, subsample=tuple(subsample),
        filter_flip=_flip(conv_mode), filter_dilation=tuple(dilation), num_groups=num_groups,
    )  # fmt: skip


@on_device_of_operands
def dnn_pool(img: Any, ws: Any, stride: Any = None, mode: str = "max", pad: Any = None) -> Any:
    """Return what windows of images, or of volumes, give; one that does not fit is left out.

    Parameters
    ----------
    img : tensor
        Four-dimensional, or five-dimensional for volumes.
    ws, stride, pad : sequence of int, or vector
        Of two lengths, or of three.
    mode : {'max', 'sum', 'average_inc_pad', 'average_exc_pad', 'max_deterministic'}

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_pool(T.ftensor4("img"), (2, 2)).type.ndim, dnn_pool(T.ftensor5("img"), (2, 2, 2)).type.ndim
    (4, 5)
    """
    image = as_tensor_variable(img)
    pool, lengths = (pool_3d, 3) if image.type.ndim == 5 else (pool_2d, 2)
    kind = "max" if mode == "max_deterministic" else mode
    return pool(image, ws, ignore_border=True, stride=stride, pad=(0,) * lengths if pad is None else pad, mode=kind)


@on_device_of_operands
def dnn_batch_normalization_train(
    inputs: Any, gamma: Any, beta: Any, mode: str = "per-activation", epsilon: float = 1e-4,
    running_average_factor: Any = 0.1, running_mean: Any = None, running_var: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the inputs normalised by their own mean and variance, with these (`batch_normalization_train`).

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, one = T.ftensor4("x"), T.fvector("one").dimshuffle("x", 0, "x", "x")
    >>> [v.type.ndim for v in dnn_batch_normalization_train(x, one, one, "spatial")]
    [4, 4, 4]
    """
    return batch_normalization_train(
        inputs, gamma, beta, mode, epsilon, running_average_factor, running_mean, running_var
    )


@on_device_of_operands
def dnn_batch_normalization_test(
    inputs: Any, gamma: Any, beta: Any, mean: Any, var: Any, mode: str = "per-activation", epsilon: float = 1e-4
) -> Any:
    """Return the inputs normalised by a given mean and variance (`batch_normalization_test`).

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, one = T.ftensor4("x"), T.fvector("one").dimshuffle("x", 0, "x", "x")
    >>> dnn_batch_normalization_test(x, one, one, one, one, "spatial").type.ndim
    4
    """
    return batch_normalization_test(inputs, gamma, beta, mean, var, mode, epsilon)


def dropout(x: Any, dropout: float = 0.0, seed: int = 4242) -> tuple[Any, ...]:
    """Return a tensor of which a share of the elements, drawn at random, is 0, and the others are as much larger.

    Parameters
    ----------
    x : tensor
    dropout : float
        The share.
    seed : int

    Returns
    -------
    tuple
        The result, the share, what each element was multiplied by, and the stream that draws.

    Examples
    --------
    >>> import theano.tensor as T
    >>> dropout(T.fmatrix("x"), 0.5)[0].type
    GpuArrayType<None>(float32, matrix)
    """
    context_name, here = context_name_for(x), seen_from_host(x)
    stream = MRG_RandomStreams(seed)
    kept = stream.binomial(size=here.shape, p=1 - dropout, dtype=here.type.dtype)
    factor = kept if dropout == 0 else kept / as_tensor_variable(1 - dropout).astype(here.type.dtype)
    return there(here * factor, context_name), dropout, there(factor, context_name), stream


def as_i32(v: Any) -> Any:
    """Return a variable as int32.

    Examples
    --------
    >>> as_i32(3.0).type
    TensorType(int32, scalar)
    """
    return cast(as_tensor_variable(v), "int32")


def ensure_dt(val: Any, default: Any, name: str, dtype: str) -> Any:
    """Return a number of a dtype; the default for None.

    Raises
    ------
    TypeError
        It is a variable that is no number.

    Examples
    --------
    >>> ensure_dt(None, 1.0, "alpha", "float32").type
    TensorType(float32, scalar)
    """
    number = as_tensor_variable(default if val is None else seen_from_host(val))
    if number.type.ndim:
        raise TypeError(f"{name} is a number, not of {number.type.ndim} dimensions")
    return number if number.type.dtype == dtype else cast(number, dtype)


def sampling_grid(theta: Any, height: Any, width: Any) -> Any:
    """Return where each place of a result is taken from, by an affine map for each image of a batch.

    Parameters
    ----------
    theta : tensor
        (batch, 2, 3): what makes of (x, y, 1) the place in the image; both go from -1 to 1.
    height, width : int
        Of the result.

    Returns
    -------
    tensor
        (batch, 2, height, width): x, then y.

    Examples
    --------
    >>> import theano.tensor as T
    >>> sampling_grid(T.constant([[[1.0, 0, 0], [0, 1, 0]]]), 1, 3)[0, 0].eval()
    array([[-1.,  0.,  1.]])
    """
    dtype = theta.type.dtype
    columns, rows = (
        cast(arange(n), dtype) * as_tensor_variable(2).astype(dtype) / cast(maximum(n - 1, 1), dtype)
        - as_tensor_variable(1).astype(dtype)
        for n in (width, height)
    )
    at = [theta[:, k, 0].dimshuffle(0, "x", "x") * columns.dimshuffle("x", "x", 0)
          + theta[:, k, 1].dimshuffle(0, "x", "x") * rows.dimshuffle("x", 0, "x")
          + theta[:, k, 2].dimshuffle(0, "x", "x") for k in range(2)]  # fmt: skip
    return stack(at, axis=1)


def sampled(img: Any, grid: Any) -> Any:
    """Return images as they are at the places of a grid, by linear interpolation; outside they are 0.

    Parameters
    ----------
    img : tensor
        (batch, channel, row, column).
    grid : tensor
        As of `sampling_grid`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> grid = T.constant([[[[-1.0, 0.0, 3.0]], [[-1.0, -1.0, -1.0]]]])
    >>> sampled(T.constant([[[[1.0, 2.0], [3.0, 4.0]]]]), grid).eval().ravel()
    array([1. , 1.5, 0. ])
    """
    dtype = img.type.dtype
    height, width = img.shape[2], img.shape[3]
    half = as_tensor_variable(0.5).astype(dtype)
    x, y = ((grid[:, k] + 1) * cast(n - 1, dtype) * half for k, n in ((0, width), (1, height)))
    left, top = floor(x), floor(y)
    batch = arange(img.shape[0]).dimshuffle(0, "x", "x")
    total: Any = 0
    for column, across in ((left, 1 - (x - left)), (left + 1, x - left)):
        for row, down in ((top, 1 - (y - top)), (top + 1, y - top)):
            inside = (column >= 0) * (column < cast(width, dtype)) * (row >= 0) * (row < cast(height, dtype))
            i, j = (cast(clip(v, 0, cast(n - 1, dtype)), "int64") for v, n in ((row, height), (column, width)))
            corner = img.dimshuffle(0, 2, 3, 1)[batch, i, j]
            weight = switch(inside, across * down, as_tensor_variable(0).astype(dtype))
            total = total + corner * weight.dimshuffle(0, 1, 2, "x")
    return total.dimshuffle(0, 3, 1, 2)


@on_device_of_operands
def dnn_spatialtf(img: Any, theta: Any, scale_width: Any = 1, scale_height: Any = 1) -> Any:
    """Return images moved by an affine map each: a spatial transformer (Jaderberg and others 2015).

    Parameters
    ----------
    img : tensor
        (batch, channel, row, column).
    theta : tensor
        (batch, 2, 3): the maps from places of the result to places of the image, both from -1 to 1.
    scale_width, scale_height : float
        How much wider and higher the results are.

    Raises
    ------
    TypeError
        The images or the maps are of another number of dimensions.

    Examples
    --------
    >>> import theano.tensor as T
    >>> dnn_spatialtf(T.ftensor4("img"), T.ftensor3("theta")).type.ndim
    4
    """
    img, theta = as_tensor_variable(img), as_tensor_variable(theta)
    if img.type.ndim != 4 or theta.type.ndim != 3:
        raise TypeError(f"images have 4 dimensions and maps 3, not {img.type.ndim} and {theta.type.ndim}")
    matched = Assert("there are as many maps as images")(theta, eq(theta.shape[0], img.shape[0]))
    height, width = (cast(floor(img.shape[k] * scale), "int64") for k, scale in ((2, scale_height), (3, scale_width)))
    return sampled(img, sampling_grid(matched, height, width))
