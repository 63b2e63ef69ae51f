"""Ops that programs make by cuDNN's names: called as documented, each gives the expression of what it computes.

They are no ops of a graph: what computes the expression is whatever the tensor layer's ops are on a device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.gpuarray.calls import context_name_for, seen_from_host, there
from theano.gradient import grad
from theano.legacy.cudnn_functions import (
    dnn_batch_normalization_test,
    dnn_batch_normalization_train,
    dnn_conv,
    dnn_conv3d,
    dnn_gradinput,
    dnn_gradinput3d,
    dnn_gradweight,
    dnn_gradweight3d,
    dnn_pool,
    ensure_dt,
    on_device_of_operands,
    sampled,
    sampling_grid,
)
from theano.records import record
from theano.scalar import maximum as larger
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import exp, log, sqr, sqrt
from theano.tensor.reduce.extremes import argmax
from theano.tensor.reduce.extremes import max as largest
from theano.tensor.reduce.extremes import min as smallest
from theano.tensor.reduce.functions import mean as mean_of
from theano.tensor.reduce.functions import prod
from theano.tensor.reduce.functions import sum as sum_of


@record
class GpuDnnConvDesc:
    """The parameters of a convolution besides its operands.

    Parameters
    ----------
    border_mode : str, int or sequence
    subsample, dilation : sequence of int
    conv_mode : {'conv', 'cross'}
        Whether filters are flipped.
    precision : str
        Ignored: sums are taken in float32, or in float64 of float64.
    num_groups : int

    Examples
    --------
    >>> GpuDnnConvDesc("half")((2, 3, 5, 5)).border_mode
    'half'
    """

    border_mode: Any
    subsample: Any = (1, 1)
    dilation: Any = (1, 1)
    conv_mode: str = "conv"
    precision: str = "float32"
    num_groups: int = 1

    def __call__(self, *shapes: Any) -> GpuDnnConvDesc:
        """Return the description, which holds for filters of any shape, and images, whose shape came first once."""
        return self


@record
class GpuDnnPoolDesc:
    """The parameters of pooling.

    Parameters
    ----------
    ws, stride : sequence of int
    mode : str
    pad : sequence of int

    Examples
    --------
    >>> GpuDnnPoolDesc((3, 3))().ws
    (3, 3)
    """

    ws: Any = (1, 1)
    stride: Any = (1, 1)
    mode: str = "max"
    pad: Any = (0, 0)

    def __call__(self) -> GpuDnnPoolDesc:
        """Return the description."""
        return self


class _Convolution:
    """What convolutions by descriptions share: factors of what they compute and of what they add it to."""

    #: For two axes and for three.
    functions: tuple[Callable[..., Any], Callable[..., Any]]

    def __init__(self, algo: Any = None, inplace: bool = False, num_groups: int = 1):
        self.algo, self.inplace, self.num_groups = algo, inplace, num_groups

    def _computed(self, first: Any, second: Any, output: Any, desc: Any, alpha: Any, beta: Any, *shape: Any) -> Any:
        function = self.functions[first.type.ndim - 4]
        options = {"border_mode": desc.border_mode, "subsample": desc.subsample, "dilation": desc.dilation,
                   "conv_mode": desc.conv_mode, "num_groups": desc.num_groups}  # fmt: skip
        found = function(first, second, *shape, **options)
        dtype, context_name = found.type.dtype, found.type.context_name
        scaled = seen_from_host(found) * ensure_dt(alpha, 1.0, "alpha", dtype)
        if beta is not None:
            scaled = scaled + seen_from_host(output) * ensure_dt(beta, 0.0, "beta", dtype)
        return there(scaled, context_name)


class GpuDnnConv(_Convolution):
    """``alpha conv(img, kern) + beta output``.

    Parameters
    ----------
    algo, inplace, num_groups : optional
        How cuDNN was to compute; ignored.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.ftensor4("x")
    >>> GpuDnnConv()(x, x, x, GpuDnnConvDesc("valid")(None)).type.ndim
    4
    """

    functions = (dnn_conv, dnn_conv3d)

    def __call__(self, img: Any, kern: Any, output: Any, desc: Any, alpha: Any = None, beta: Any = None) -> Any:
        """Return the expression."""
        return self._computed(img, kern, output, desc, alpha, beta)


class GpuDnnConvGradW(_Convolution):
    """``alpha`` times the gradient with respect to the filters, ``+ beta output``, which has their shape.

    Parameters
    ----------
    inplace, algo, num_groups : optional
        How cuDNN was to compute; ignored.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.ftensor4("x")
    >>> GpuDnnConvGradW()(x, x, x, GpuDnnConvDesc("valid")).type.ndim
    4
    """

    functions = (dnn_gradweight, dnn_gradweight3d)

    def __init__(self, inplace: bool = False, algo: Any = None, num_groups: int = 1):
        super().__init__(algo, inplace, num_groups)

    def __call__(self, img: Any, topgrad: Any, output: Any, desc: Any, alpha: Any = None, beta: Any = None) -> Any:
        """Return the expression."""
        return self._computed(img, topgrad, output, desc, alpha, beta, output.shape)


class GpuDnnConvGradI(GpuDnnConvGradW):
    """``alpha`` times the gradient with respect to the images, ``+ beta output``, which has their shape.

    Parameters
    ----------
    inplace, algo, num_groups : optional
        How cuDNN was to compute; ignored.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.ftensor4("x")
    >>> GpuDnnConvGradI()(x, x, x, GpuDnnConvDesc("valid")).type.ndim
    4
    """

    functions = (dnn_gradinput, dnn_gradinput3d)

    def __call__(self, kern: Any, topgrad: Any, output: Any, desc: Any, alpha: Any = None, beta: Any = None) -> Any:
        """Return the expression."""
        return super().__call__(kern, topgrad, output, desc, alpha, beta)


class GpuDnnPoolBase:
    """What pooling and its gradient share.

    Parameters
    ----------
    mode : str
    """

    def __init__(self, mode: str = "max"):
        self.mode = mode


class GpuDnnPool(GpuDnnPoolBase):
    """Pooling: called with images, ws, stride and pad.

    Parameters
    ----------
    mode : str

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuDnnPool("max")(T.ftensor4("x"), (2, 2), (2, 2), (0, 0)).type.ndim
    4
    """

    def __call__(self, img: Any, ws: Any, stride: Any, pad: Any) -> Any:
        """Return the expression."""
        return dnn_pool(img, ws, stride, self.mode, pad)


class GpuDnnPoolGrad(GpuDnnPoolBase):
    """The gradient of pooling: called with images, results, the gradient of these, ws, stride and pad.

    Parameters
    ----------
    mode : str

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.ftensor4("x")
    >>> GpuDnnPoolGrad("max")(x, x, x, (2, 2), (2, 2), (0, 0)).type.ndim
    4
    """

    def __call__(self, inp: Any, out: Any, out_grad: Any, ws: Any, stride: Any, pad: Any) -> Any:
        """Return the expression."""
        return grad(None, inp, known_grads={dnn_pool(inp, ws, stride, self.mode, pad): there(
            seen_from_host(out_grad), context_name_for(inp, out_grad))})  # fmt: skip


class GpuDnnSoftmaxBase:
    """What softmax and its gradient share.

    Parameters
    ----------
    algo : {'fast', 'accurate', 'log'}
        ``log`` is the logarithm of it.
    mode : {'instance', 'channel'}
        Over all axes but the first, or over the second.

    Raises
    ------
    ValueError
        The mode does not exist.
    """

    def __init__(self, algo: str, mode: str):
        if algo not in ("fast", "accurate", "log") or mode not in ("instance", "channel"):
            raise ValueError(f"softmax is 'fast', 'accurate' or 'log' over 'instance' or 'channel', not {algo}, {mode}")
        self.algo, self.mode = algo, mode

    def _axes(self, x: Any) -> Any:
        return 1 if self.mode == "channel" else list(range(1, x.type.ndim))


class GpuDnnSoftmax(GpuDnnSoftmaxBase):
    """The softmax of four-dimensional tensors.

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> from theano.gpuarray.calls import seen_from_host
    >>> seen_from_host(GpuDnnSoftmax("log", "channel")(T.ftensor4("x"))).type.ndim
    4
    """

    def __call__(self, x: Any) -> Any:
        """Return the expression."""
        return on_device_of_operands(self._of)(x)

    def _of(self, x: Any) -> Any:
        x = as_tensor_variable(x)
        if self.algo != "log":
            powers = exp(x - largest(x, axis=self._axes(x), keepdims=True))
            return powers / sum_of(powers, axis=self._axes(x), keepdims=True)
        shifted = x - largest(x, axis=self._axes(x), keepdims=True)
        return shifted - log(sum_of(exp(shifted), axis=self._axes(x), keepdims=True))


class GpuDnnSoftmaxGrad(GpuDnnSoftmaxBase):
    """The gradient of a softmax: called with the gradient of the result, and the result.

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuDnnSoftmaxGrad("fast", "channel")(T.ftensor4("dy"), T.ftensor4("sm")).type.ndim
    4
    """

    def __call__(self, dy: Any, sm: Any) -> Any:
        """Return the expression."""
        return on_device_of_operands(self._of)(dy, sm)

    def _of(self, dy: Any, sm: Any) -> Any:
        if self.algo == "log":
            return dy - exp(sm) * sum_of(dy, axis=self._axes(sm), keepdims=True)
        return sm * (dy - sum_of(dy * sm, axis=self._axes(sm), keepdims=True))


_REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, axis: sum_of(x, axis=axis),
    "mul": lambda x, axis: prod(x, axis=axis),
    "maximum": lambda x, axis: largest(x, axis=axis),
    "minimum": lambda x, axis: smallest(x, axis=axis),
    "absmax": lambda x, axis: largest(abs(x), axis=axis),
    "avg": lambda x, axis: mean_of(x, axis=axis),
    "norm1": lambda x, axis: sum_of(abs(x), axis=axis),
    "norm2": lambda x, axis: sqrt(sum_of(sqr(x), axis=axis)),
}


class GpuDnnReduction:
    """A reduction along axes.

    Parameters
    ----------
    red_op : str or operation of numbers
        ``add``, ``mul``, ``maximum``, ``minimum``, ``absmax``, ``avg``, ``norm1`` or ``norm2``.
    axis : int, sequence of int or None
    acc_dtype : str
        Ignored: sums are taken in a dtype that is wide enough.
    dtype : str
        Of the result.
    return_indices : bool
        Also where the largest elements are.

    Raises
    ------
    ValueError
        The reduction does not exist, or returns no indices.

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuDnnReduction("norm2", [0], "float32", "float32", False)(T.fmatrix("x")).type.ndim
    1
    """

    def __init__(self, red_op: Any, axis: Any, acc_dtype: str, dtype: str, return_indices: bool):
        self.red_op = getattr(red_op, "name", red_op)
        self.axis, self.acc_dtype, self.dtype, self.return_indices = axis, acc_dtype, dtype, return_indices
        if self.red_op not in _REDUCTIONS:
            raise ValueError(f"unknown reduction {red_op!r}; use one of {', '.join(_REDUCTIONS)}")
        if return_indices and self.red_op != larger.name:
            raise ValueError(f"return_indices needs the reduction {larger.name!r}, not {self.red_op!r}")

    def __call__(self, x: Any) -> Any:
        """Return the expression, with the places after it if they are wanted."""
        return on_device_of_operands(self._of)(x)

    def _of(self, x: Any) -> Any:
        value = _REDUCTIONS[self.red_op](x, self.axis).astype(self.dtype)
        return (value, argmax(x, axis=self.axis)) if self.return_indices else value


def _axes_of(mode: str, x: Any) -> Any:
    return [0, *range(2, x.type.ndim)] if mode == "spatial" else [0]


class GpuDnnBatchNorm:
    """Normalisation by the batch's own mean and variance.

    Parameters
    ----------
    mode : {'per-activation', 'spatial'}
    running_averages : bool
        Whether those are given and wanted.
    **options
        What may be overwritten; ignored.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, one = T.ftensor4("x"), T.fvector("one").dimshuffle("x", 0, "x", "x")
    >>> len(GpuDnnBatchNorm("spatial")(x, one, one))
    3
    """

    def __init__(self, mode: str = "per-activation", running_averages: bool = False, **options: bool):
        self.mode, self.running_averages = mode, running_averages

    def __call__(
        self, x: Any, scale: Any, bias: Any, epsilon: float = 1e-4, running_average_factor: Any = 0.1,
        running_mean: Any = None, running_var: Any = None,
    ) -> Any:  # fmt: skip
        """Return the result, the mean and the inverse of the standard deviation, and the new averages."""
        more = (running_average_factor, running_mean, running_var) if self.running_averages else ()
        return list(dnn_batch_normalization_train(x, scale, bias, self.mode, epsilon, *more))


class GpuDnnBatchNormInference:
    """Normalisation by a given mean and variance.

    Parameters
    ----------
    mode : {'per-activation', 'spatial'}
    inplace : bool
        Ignored.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, one = T.ftensor4("x"), T.fvector("one").dimshuffle("x", 0, "x", "x")
    >>> GpuDnnBatchNormInference("spatial")(x, one, one, one, one).type.ndim
    4
    """

    def __init__(self, mode: str = "per-activation", inplace: bool = False):
        self.mode, self.inplace = mode, inplace

    def __call__(self, x: Any, scale: Any, bias: Any, mean: Any, var: Any, epsilon: float = 1e-4) -> Any:
        """Return the expression."""
        return dnn_batch_normalization_test(x, scale, bias, mean, var, self.mode, epsilon)


class GpuDnnBatchNormGrad:
    """The gradient of `GpuDnnBatchNorm`: with respect to its input, scale and bias.

    Parameters
    ----------
    mode : {'per-activation', 'spatial'}

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, one = T.ftensor4("x"), T.fvector("one").dimshuffle("x", 0, "x", "x")
    >>> len(GpuDnnBatchNormGrad("spatial")(x, x, one, one, one))
    3
    """

    def __init__(self, mode: str = "per-activation"):
        self.mode = mode

    def __call__(self, x: Any, dy: Any, scale: Any, mean: Any, invstd: Any, epsilon: float = 1e-4) -> Any:
        """Return the expressions."""
        return list(on_device_of_operands(self._of)(x, dy, scale, mean, invstd))

    def _of(self, x: Any, dy: Any, scale: Any, mean: Any, invstd: Any) -> tuple[Any, ...]:
        axes = _axes_of(self.mode, x)
        normal = (x - mean) * invstd
        of_bias = sum_of(dy, axis=axes, keepdims=True)
        of_scale = sum_of(dy * normal, axis=axes, keepdims=True)
        count = prod(as_tensor_variable([x.shape[k] for k in axes])).astype(x.type.dtype)
        return scale * invstd * (dy - (of_bias + normal * of_scale) / count), of_scale, of_bias


class GpuDnnTransformerGrid:
    """Where a spatial transformer takes each place of its result from: called with maps and the result's shape.

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuDnnTransformerGrid()(T.ftensor3("theta"), (2, 3, 8, 8)).type.ndim
    4
    """

    def __call__(self, theta: Any, out_dims: Sequence[Any]) -> Any:
        """Return the grid: (batch, 2, height, width)."""
        return on_device_of_operands(lambda maps: sampling_grid(maps, out_dims[2], out_dims[3]))(theta)


class GpuDnnTransformerSampler:
    """Images as they are at the places of a grid.

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuDnnTransformerSampler()(T.ftensor4("img"), T.ftensor4("grid")).type.ndim
    4
    """

    def __call__(self, img: Any, grid: Any) -> Any:
        """Return the expression."""
        return on_device_of_operands(sampled)(img, grid)
