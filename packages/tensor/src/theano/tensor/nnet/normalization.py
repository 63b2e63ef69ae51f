"""Batch normalisation: ops that programs know by their class, and functions of them.

Ioffe and Szegedy, 2015: https://arxiv.org/abs/1502.03167. What the ops compute is said as an expression, which takes
their place before anything is compiled: the sums are fused with each other, and the other nodes with their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply
from theano.settings import config
from theano.tensor.compound import Compound
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import abs_, cast, inv, sqr, sqrt
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.messages import describe
from theano.tensor.reduce.functions import mean, prod
from theano.tensor.shape.basic import addbroadcast, patternbroadcast, shape_i

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Axis, TensorLike, Tensors
    from theano.tensor.type import Tensor

__all__ = [
    "AbstractBatchNormInference", "AbstractBatchNormTrain", "AbstractBatchNormTrainGrad", "BNComposite",
    "batch_normalization", "batch_normalization_test", "batch_normalization_train",
]  # fmt: skip

#: The least that libraries for GPUs take; results stay comparable.
LEAST_EPSILON = 1e-5


class _Normalization(Compound):
    """What these ops have in common: the axes, and arrays of one dtype.

    Parameters
    ----------
    axes : tuple of int
        Along which elements are normalised together.
    """

    __props__ = ("axes",)

    def __init__(self, axes: Sequence[int] = (0,)):
        self.axes = tuple(int(a) for a in axes)
        if not self.axes or min(self.axes) < 0:
            raise ValueError(f"{type(self).__name__}: axes must be numbers from 0, one at least, not {axes}")

    def _arrays(self, names: str, arrays: Sequence[Variable]) -> list[Tensor]:
        """Return tensors of one dtype and as many dimensions as the first."""
        variables = [as_tensor_variable(v) for v in arrays]
        ndim = variables[0].type.ndim
        if max(self.axes) >= ndim:
            raise ValueError(f"{self}: axis {max(self.axes)} is out of range:\n{describe(variables[0])}")
        for name, v in zip(names.split(), variables, strict=True):
            if v.type.ndim != ndim:
                raise TypeError(f"{self}: {name} must have {ndim} dimensions, as x has:\n{describe(v)}")
        dtype = scal.upcast(*(v.type.dtype for v in variables))
        whole = ("x", "dy")  # the others are 1 long along the axes
        return [
            cast(v if name in whole else addbroadcast(v, *self.axes), dtype)
            for name, v in zip(names.split(), variables, strict=True)
        ]


class AbstractBatchNormTrain(_Normalization):
    """Elements normalised by the mean and variance of their own batch; see `batch_normalization_train`.

    Its outputs are the normalised elements, means, inverse standard deviations, and new averages of means and
    variances if it is given older ones. Lengths along the axes are 1 in all but the first.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, one = T.constant([[1.0], [3.0]]), T.ones((1, 1))
    >>> out, mean, inverse = AbstractBatchNormTrain()(x, one, 0 * one, 0.0)
    >>> mean.eval(), inverse.eval()
    (array([[2.]]), array([[1.]]))
    """

    def make_node(
        self, x: Variable, scale: Any, bias: Variable, epsilon: Any = 1e-4,
        running_average_factor: Variable | float = 0.1, running_mean: Any = None, running_var: Any = None,
    ) -> Apply:  # fmt: skip
        """Return the node; older averages are given both, or neither is."""
        older = [v for v in (running_mean, running_var) if v is not None]
        if len(older) == 1:
            raise ValueError(f"{self}: running_mean and running_var are given both, or neither is")
        return super().make_node(x, scale, bias, epsilon, running_average_factor, *older)

    def convert(
        self, x: Any, scale: Any, bias: Any, epsilon: Any, running_average_factor: Any, *older: Any
    ) -> list[Variable]:
        """Return arrays of one dtype, and two numbers between them."""
        names = "x scale bias running_mean running_var" if older else "x scale bias"
        arrays = self._arrays(names, [x, scale, bias, *older])
        numbers = [as_tensor_variable(v) for v in (epsilon, running_average_factor)]
        return [*arrays[:3], *numbers, *arrays[3:]]

    def expression(
        self, x: Tensor, scale: Tensor, bias: Tensor, epsilon: Tensor, factor: Tensor, *older: Tensor
    ) -> list[Tensor]:
        """Return the normalised elements, and what they were normalised by."""
        dtype, axes = x.type.dtype, self.axes
        center = mean(x, axis=axes, keepdims=True)
        distance = abs_(x - center) if dtype in scal.complex_dtypes else x - center
        variance = mean(sqr(distance), axis=axes, keepdims=True)
        inverse = cast(inv(sqrt(variance + epsilon)), dtype)
        normal = patternbroadcast((x - center) * (scale * inverse) + bias, x.type.broadcastable)
        found = [normal, *(patternbroadcast(v, scale.type.broadcastable) for v in (center, inverse))]
        if older:
            count = cast(prod([shape_i(x, a) for a in axes]), dtype)
            unbiased = variance * (count / (count - 1))
            found += [
                cast(old * (1 - factor) + new * factor, dtype)
                for old, new in zip(older, (center, unbiased), strict=True)
            ]
        return found

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the two numbers count as constant, and older averages count for newer ones alone."""
        outputs = len(node.outputs)
        each = [[True] * outputs, [i == 0 for i in range(outputs)], [i == 0 for i in range(outputs)]]
        return each + [[False] * outputs] * 2 + [[i == k for i in range(outputs)] for k in range(3, outputs)]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients, in a form that reads the batch twice if those of the statistics are unused."""
        of_statistics = any(not isinstance(g.type, DisconnectedType) for g in output_grads[1:])
        if of_statistics or inputs[0].type.dtype in scal.complex_dtypes:
            found = super().L_op(inputs, outputs, output_grads)
            return [*found[:3], *(DisconnectedType()() for _ in range(2)), *found[5:]]
        x, scale, _, epsilon = inputs[:4]
        grads = AbstractBatchNormTrainGrad(self.axes)(x, output_grads[0], scale, outputs[1], outputs[2], epsilon)
        return [*grads, *(DisconnectedType()() for _ in inputs[3:])]


class AbstractBatchNormTrainGrad(_Normalization):
    """The gradients of what `AbstractBatchNormTrain` normalises: of its elements, scale and bias.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, one = T.constant([[1.0], [3.0]]), T.ones((1, 1))
    >>> gx, gscale, gbias = AbstractBatchNormTrainGrad()(x, x, one, 2 * one, one, 0.0)
    >>> gscale.eval(), gbias.eval()
    (array([[2.]]), array([[4.]]))
    """

    def convert(self, x: Any, dy: Any, scale: Any, x_mean: Any, x_invstd: Any, epsilon: Any = 1e-4) -> list[Any]:
        """Return arrays of one dtype, and a number."""
        arrays = self._arrays("x dy scale x_mean x_invstd", [x, dy, scale, x_mean, x_invstd])
        return [*arrays, as_tensor_variable(epsilon)]

    def expression(
        self, x: Tensor, dy: Tensor, scale: Tensor, x_mean: Tensor, x_invstd: Tensor, epsilon: Tensor
    ) -> list[Tensor]:
        """Return the three gradients."""
        axes, difference = self.axes, x - x_mean
        g_bias = dy.sum(axis=axes, keepdims=True)
        g_scale = (dy * difference).sum(axis=axes, keepdims=True) * x_invstd
        count = cast(prod([shape_i(x, a) for a in axes]), x.type.dtype)
        # What moves all elements of a batch alike changes nothing, nor does what scales them.
        g_x = (dy - g_bias / count - difference * (x_invstd * g_scale / count)) * (scale * x_invstd)
        return [g_x, g_scale, g_bias]

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the gradient of the bias is of ``dy`` alone, and that epsilon is a help only."""
        of_x_and_scale, of_x = [True, True, False], [True, False, False]
        return [of_x_and_scale, [True] * 3, of_x, of_x_and_scale, of_x_and_scale, [False] * 3]


class AbstractBatchNormInference(_Normalization):
    """Elements normalised by a mean and a variance that are given; see `batch_normalization_test`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> one = T.ones((1, 1))
    >>> AbstractBatchNormInference()(T.constant([[1.0], [3.0]]), one, one, 2 * one, one, 0.0).eval().ravel()
    array([0., 2.])
    """

    def convert(
        self, x: Any, scale: Any, bias: Any, estimated_mean: Any, estimated_variance: Any, epsilon: Any = 1e-4
    ) -> list[Variable]:
        """Return arrays of one dtype, and a number."""
        arrays = self._arrays(
            "x scale bias estimated_mean estimated_variance", [x, scale, bias, estimated_mean, estimated_variance]
        )
        return [*arrays, as_tensor_variable(epsilon)]

    def expression(
        self, x: Tensor, scale: Tensor, bias: Tensor, center: Tensor, variance: Tensor, epsilon: Tensor
    ) -> Tensor:
        """Return the normalised elements."""
        result = cast((x - center) * (scale / sqrt(variance + epsilon)) + bias, x.type.dtype)
        return patternbroadcast(result, x.type.broadcastable)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that epsilon counts as constant."""
        return [[True]] * 5 + [[False]]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients of the expression; epsilon has none."""
        return [*super().L_op(inputs, outputs, output_grads)[:5], DisconnectedType()()]


class BNComposite(scal.Composite):
    """The scalar op ``(x - mean) / std * gamma + beta``.

    Parameters
    ----------
    dtype : str

    Examples
    --------
    >>> import theano.tensor as T
    >>> Elemwise(BNComposite("float64"))(*map(T.constant, (3.0, 1.0, 2.0, 4.0, 5.0))).eval().item()
    9.0
    """

    def __init__(self, dtype: str):
        given: list[Any] = [scal.Scalar(dtype)() for _ in range(5)]
        x, center, std, gamma, beta = given
        super().__init__(given, [(x - center) / std * gamma + beta])
        self.dtype = dtype


# -- functions ---------------------------------------------------------------------------------------------------------


def batch_normalization(
    inputs: TensorLike, gamma: TensorLike, beta: TensorLike, mean: TensorLike, std: TensorLike, mode: str = "low_mem"
) -> Tensor:
    """Return ``(inputs - mean) / std * gamma + beta``.

    Parameters
    ----------
    inputs, gamma, beta, mean, std : tensor
        Of as many dimensions; the last four may have length 1 where they broadcast.
    mode : 'low_mem' or 'high_mem'
        Without effect: both are one loop.

    Returns
    -------
    TensorVariable
        Of the shape of ``inputs``.

    Raises
    ------
    ValueError
        The mode does not exist.

    See Also
    --------
    nnet.batch_normalization_train, nnet.batch_normalization_test

    Examples
    --------
    >>> import theano.tensor as T
    >>> batch_normalization(T.constant([1.0, 3.0]), 2.0, 1.0, 2.0, 0.5).eval()
    array([-3.,  5.])
    """
    if mode not in ("low_mem", "high_mem"):
        raise ValueError(f"batch_normalization: mode must be 'low_mem' or 'high_mem', not {mode!r}")
    inputs = as_tensor_variable(inputs)
    if mode == "low_mem":
        return Elemwise(BNComposite(inputs.type.dtype))(inputs, mean, std, gamma, beta)
    return (inputs - mean) * (gamma / as_tensor_variable(std)) + beta


def batch_normalization_train(
    inputs: Any, gamma: Variable, beta: Variable, axes: str | Axis = "per-activation", epsilon: float = 1e-4,
    running_average_factor: TensorLike = 0.1, running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Return a batch normalised by its own mean and variance, and these.

    Parameters
    ----------
    inputs : tensor
        The batch; examples come along the first axis.
    gamma, beta : tensor
        By what the normalised elements are multiplied, and what is added. Along ``axes`` their lengths are 1, or they
        do not have these axes at all.
    axes : 'per-activation', 'spatial' or tuple of int
        Along which elements are normalised together: the first one; all but the second one; or these.
    epsilon : float
        Added to the variance, 1e-5 at least.
    running_average_factor : float
        How much of the new averages is from this batch.
    running_mean, running_var : tensor, optional
        Averages over batches so far, in the layout of ``gamma``.

    Returns
    -------
    out, mean, invstd : tensor
        The normalised batch; its means and inverse standard deviations, in the layout of ``gamma``.
    new_running_mean, new_running_var : tensor
        If older ones were given. The variance is that of the population: divided by one less.

    Raises
    ------
    ValueError
        Numbers of dimensions do not fit, one of two averages is given, or epsilon is too small.

    See Also
    --------
    nnet.batch_normalization_test

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.constant([[1.0, 5.0], [3.0, 5.0]])
    >>> out, mean, invstd = batch_normalization_train(x, T.ones(2), T.zeros(2), epsilon=1e-5)
    >>> mean.eval(), out.eval().round(4)
    (array([2., 5.]), array([[-1.,  0.],
           [ 1.,  0.]]))
    """
    if (running_mean is None) != (running_var is None):
        raise ValueError("batch_normalization_train: running_mean and running_var are given both, or neither is")
    inputs = as_tensor_variable(inputs)
    older = {} if running_mean is None else {"running_mean": running_mean, "running_var": running_var}
    layout = _Layout("batch_normalization_train", inputs, axes, {"gamma": gamma, "beta": beta, **older})
    gamma, beta, *averages = layout.parameters
    op = AbstractBatchNormTrain(layout.axes)
    out, *statistics = op(inputs, gamma, beta, _checked(epsilon), running_average_factor, *averages)
    return (out, *map(layout.restored, statistics))


def batch_normalization_test(
    inputs: TensorLike,
    gamma: TensorLike,
    beta: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    axes: str | Axis = "per-activation",
    epsilon: float = 1e-4,
) -> Tensor:
    """Return a batch normalised by a mean and a variance that are known.

    Parameters
    ----------
    inputs : tensor
        The batch; examples come along the first axis.
    gamma, beta, mean, var : tensor
        Along ``axes`` their lengths are 1, or they do not have these axes at all.
    axes : 'per-activation', 'spatial' or tuple of int
        As for `batch_normalization_train`.
    epsilon : float
        Added to the variance, 1e-5 at least.

    Returns
    -------
    TensorVariable
        Of the shape of ``inputs``.

    Raises
    ------
    ValueError
        Numbers of dimensions do not fit, or epsilon is too small.

    See Also
    --------
    nnet.batch_normalization_train

    Examples
    --------
    >>> import theano.tensor as T
    >>> batch_normalization_test(T.constant([[1.0], [3.0]]), [2.0], [1.0], [2.0], [1.0], epsilon=1e-5).eval().round(3)
    array([[-1.],
           [ 3.]])
    """
    inputs = as_tensor_variable(inputs)
    layout = _Layout(
        "batch_normalization_test", inputs, axes, {"gamma": gamma, "beta": beta, "mean": mean, "var": var}
    )
    return AbstractBatchNormInference(layout.axes)(inputs, *layout.parameters, _checked(epsilon))


class _Layout:
    """The dimensions that parameters of a batch have: all those of the batch, or those that are not normalised."""

    def __init__(self, name: str, inputs: Any, axes: Any, given: dict[str, Any]):
        ndim = inputs.type.ndim
        self.axes = _axes(name, axes, ndim)
        self.kept = [d for d in range(ndim) if d not in self.axes]
        variables = {what: as_tensor_variable(v) for what, v in given.items()}
        found = variables["gamma"].type.ndim
        if found not in (ndim, len(self.kept)) or any(v.type.ndim != found for v in variables.values()):
            told = ", ".join(f"{what}: {v.type.ndim}" for what, v in variables.items())
            raise ValueError(
                f"{name}: parameters must have {len(self.kept)} dimensions, those of inputs that are not normalised, "
                f"or all {ndim}. They have {told}."
            )
        self.short = found != ndim
        pattern = [self.kept.index(d) if d in self.kept else "x" for d in range(ndim)]
        self.parameters = [
            v.dimshuffle(pattern) if self.short else addbroadcast(v, *self.axes) for v in variables.values()
        ]

    def restored(self, v: Tensor) -> Tensor:
        """Return a statistic in the layout in which parameters were given."""
        return v.dimshuffle(self.kept) if self.short else v


def _axes(name: str, axes: object, ndim: int) -> tuple[int, ...]:
    if isinstance(axes, str):
        if axes not in ("per-activation", "spatial"):
            raise ValueError(f"{name}: axes must be 'per-activation', 'spatial' or a tuple of numbers, not {axes!r}")
        return (0,) if axes == "per-activation" else (0, *range(2, ndim))
    if not isinstance(axes, (Sequence, np.ndarray)):
        raise ValueError(f"{name}: axes must be 'per-activation', 'spatial' or a tuple of numbers, not {axes!r}")
    found = tuple(sorted(int(a) for a in axes))
    if not found or found[0] < 0 or found[-1] >= ndim:
        raise ValueError(f"{name}: axes must be numbers from 0 to {ndim - 1}, one at least, not {axes}")
    return found


def _checked(epsilon: float) -> np.ndarray:
    """Return epsilon in floatX, in which it might be rounded to less."""
    found = np.asarray(epsilon, config.floatX)
    if found < LEAST_EPSILON:
        raise ValueError(f"epsilon must be at least {LEAST_EPSILON}, not {epsilon}")
    return found
