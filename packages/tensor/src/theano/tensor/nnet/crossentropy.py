"""Cross entropies between distributions, and between a distribution and a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import grad_not_implemented
from theano.graph import Apply, Op
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import floats, log
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.functions import getitem
from theano.tensor.messages import describe, shape_error
from theano.tensor.nnet.labels import check_labels, label_vector
from theano.tensor.nnet.softmax import floating
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, TensorLike, Tensors
    from theano.tensor.type import Tensor


def _at_classes(matrix: Tensor, classes: Tensor) -> Tensor:
    """Return the element of each row in the column of its class; what the others are worth, NaN too, has no part."""
    return getitem(matrix, (arange(classes.shape[0]), classes))


class CrossentropyCategorical1Hot(Op):
    """For each row of probabilities, minus the logarithm of that of a class.

    Parameters
    ----------
    coding_dist : matrix
        A row of probabilities for each example.
    true_one_of_n : vector of int
        The class of each row, from 0.

    Returns
    -------
    TensorVariable
        A vector with one number for each row.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CrossentropyCategorical1Hot()(T.constant([[0.25, 0.75]]), [1]).eval().round(4)
    array([0.2877])
    """

    __props__ = ()
    shapes = "iA->i"

    def make_node(self, coding_dist: TensorLike, true_one_of_n: TensorLike) -> Apply:
        """Return the node for a matrix of distributions and the classes."""
        coding_dist = floating(self, coding_dist, (2,), "coding_dist")
        out = TensorType(coding_dist.type.dtype, (False,))
        return Apply(self, [coding_dist, label_vector(self, true_one_of_n)], [out.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        coding, classes = inputs
        check_labels(node, inputs, coding.shape[0], coding.shape[1], classes)
        with np.errstate(**NUMPY_ERRORS):
            output_storage[0][0] = -np.log(coding[np.arange(len(coding)), classes])

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient with respect to the distributions."""
        coding, classes = inputs
        g = crossentropy_categorical_1hot_grad(output_grads[0], coding, classes)
        return [g, grad_not_implemented(self, 1, classes)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the derivative along a direction of the distributions."""
        if eval_points[0] is None:
            return [None]
        coding, classes = inputs
        return [-_at_classes(eval_points[0] / coding, classes)]


class CrossentropyCategorical1HotGrad(Op):
    """The gradient of :class:`CrossentropyCategorical1Hot` with respect to the distributions.

    Parameters
    ----------
    g_y : vector
        The gradient with respect to each result.
    coding_dist : matrix
        The probabilities.
    true_one_of_n : vector of int
        The class of each row, from 0.

    Returns
    -------
    TensorVariable
        Of the shape of ``coding_dist``: 0 but at the class of each row.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CrossentropyCategorical1HotGrad()([1.0], T.constant([[0.25, 0.75]]), [0]).eval()
    array([[-4.,  0.]])
    """

    __props__ = ()
    shapes = ",A->A"

    def make_node(self, g_y: TensorLike, coding_dist: Tensor, true_one_of_n: TensorLike) -> Apply:
        coding_dist = floating(self, coding_dist, (2,), "coding_dist")
        g_y = floating(self, g_y, (1,), "g_y")
        return Apply(self, [g_y, coding_dist, label_vector(self, true_one_of_n)], [coding_dist.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        g_y, coding, classes = inputs
        check_labels(node, inputs, coding.shape[0], coding.shape[1], classes)
        if len(g_y) != len(coding):
            raise shape_error(node, inputs, f"{len(g_y)} gradients for {len(coding)} rows.", "There must be one each.")
        out = np.zeros_like(coding)
        rows = np.arange(len(coding))
        with np.errstate(**NUMPY_ERRORS):
            out[rows, classes] = -g_y / coding[rows, classes]
        output_storage[0][0] = out

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients of ``-g_y / coding_dist`` in the columns of the classes."""
        (g_y, coding, classes), (g,) = inputs, output_grads
        chosen = _at_classes(g / coding, classes)
        return [-chosen, -self(chosen * g_y, coding, classes), grad_not_implemented(self, 2, classes)]


crossentropy_categorical_1hot = CrossentropyCategorical1Hot()
crossentropy_categorical_1hot_grad = CrossentropyCategorical1HotGrad()


def categorical_crossentropy(coding_dist: TensorLike, true_dist: TensorLike) -> Tensor:
    """Return the cross entropy between distributions: the cost of coding ``true_dist`` by ``coding_dist``.

    Parameters
    ----------
    coding_dist : tensor of floats
        Distributions along the last axis.
    true_dist : tensor
        Distributions too; or, with one dimension less, whole numbers that say which class is the true one.

    Returns
    -------
    TensorVariable
        Without the last axis: a cost for each distribution.

    See Also
    --------
    nnet.softmax, nnet.binary_crossentropy, to_one_hot

    Examples
    --------
    >>> import theano.tensor as T
    >>> categorical_crossentropy(T.dmatrix("p"), T.lvector("y"))
    CrossentropyCategorical1Hot.0
    """
    coding_dist, true_dist = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    if true_dist.type.ndim == coding_dist.type.ndim:
        return -(true_dist * log(coding_dist)).sum(axis=coding_dist.type.ndim - 1)
    if true_dist.type.ndim == coding_dist.type.ndim - 1:
        return crossentropy_categorical_1hot(coding_dist, true_dist)
    raise ArgumentError(
        "rank mismatch between coding and true distributions:\n" + describe(coding_dist) + "\n" + describe(true_dist)
    )


def binary_crossentropy(output: TensorLike, target: TensorLike) -> Tensor:
    """Return the cross entropy between probabilities ``output`` of something and whether it is so, ``target``.

    Parameters
    ----------
    output : tensor
        Probabilities.
    target : tensor
        0 or 1, or probabilities.

    Returns
    -------
    TensorVariable
        For each element ``-(target * log(output) + (1 - target) * log(1 - output))``; infinite where ``output`` is
        0 or 1 and wrong.

    See Also
    --------
    nnet.sigmoid_binary_crossentropy, nnet.categorical_crossentropy

    Examples
    --------
    >>> import theano.tensor as T
    >>> binary_crossentropy(T.constant([0.5, 0.9]), T.constant([1.0, 1.0])).eval().round(4)
    array([0.6931, 0.1054])
    """
    output, target = as_tensor_variable(output), as_tensor_variable(target)
    return -(target * log(output) + (1.0 - target) * log(1.0 - output))


def _numpy_form(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(-np.abs(x))) + np.where((x > 0) == t, 0, x * ((x > 0) - t))


# The sum has a kink in each of its terms at 0, where they cancel: its derivative is not the sum of theirs.
_sigmoid_binary_crossentropy = Elemwise(scal.scalar_op(
    "sigmoid_binary_crossentropy", "x t",
    types=scal.upgrade_to_float_no_complex,
    py=_numpy_form,
    c="softplus(-fabs({x})) + (({x} > 0) == {t} ? 0 : {x} * (({x} > 0) - {t}))",  # an infinite x may be right
    grad=lambda x, t, out, g: (g * (scal.sigmoid(x) - t), -g * x),
    domain=[(-4.0, 4.0), (0.1, 0.9)],
    ulp=5,
    doc="Cross entropy between sigmoid(x) and t.",
), name="sigmoid_binary_crossentropy")  # fmt: skip


def sigmoid_binary_crossentropy(output: TensorLike, target: TensorLike) -> Tensor:
    """Return ``binary_crossentropy(sigmoid(output), target)``, exact also where the sigmoid is 0 or 1.

    Parameters
    ----------
    output : tensor
        What the sigmoid is taken of.
    target : tensor
        0 or 1, or probabilities.

    Returns
    -------
    TensorVariable
        Of the common shape.

    See Also
    --------
    nnet.binary_crossentropy, nnet.sigmoid

    Examples
    --------
    >>> import theano.tensor as T
    >>> sigmoid_binary_crossentropy(T.constant([0.0, -800.0]), T.constant([1.0, 1.0])).eval().round(4)
    array([6.931e-01, 8.000e+02])
    """
    output, target = floats(as_tensor_variable(output)), floats(as_tensor_variable(target))
    return _sigmoid_binary_crossentropy(output, target)
