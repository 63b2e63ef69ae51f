"""Many classes: a softmax in two levels, a table of what was taken for what, and columns in front of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.errors import ArgumentError
from theano.tensor.blas.dot import dot
from theano.tensor.compound import Compound
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast, eq
from theano.tensor.join.op import concatenate
from theano.tensor.nnet.blocksparse import sparse_block_dot
from theano.tensor.nnet.softmax import softmax
from theano.tensor.shape.basic import shape_i
from theano.tensor.shape.reshape import reshape
from theano.tensor.sort.sets import Unique

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

__all__ = [
    "Prepend_scalar_constant_to_each_row", "Prepend_scalar_to_each_row", "confusion_matrix", "h_softmax",
    "prepend_0_to_each_row", "prepend_1_to_each_row", "prepend_scalar_to_each_row",
]  # fmt: skip


def h_softmax(
    x: TensorLike, batch_size: object, n_outputs: int, n_classes: int, n_outputs_per_class: int, W1: TensorLike,
    b1: TensorLike, W2: TensorLike, b2: TensorLike, target: Any = None,
) -> Tensor:  # fmt: skip
    """Return probabilities of very many outputs, as that of a class times that of an output in its class.

    With targets, only one class of each example is computed: time and memory go with the root of ``n_outputs``.

    Parameters
    ----------
    x : matrix
        Of shape (batch, features).
    batch_size : int or scalar
        Without effect.
    n_outputs : int
        At most ``n_classes * n_outputs_per_class``.
    n_classes, n_outputs_per_class : int
        How the outputs are divided.
    W1, b1 : matrix, vector
        Of shape (features, classes) and (classes,).
    W2, b2 : tensor, matrix
        Of shape (classes, features, outputs of a class) and (classes, outputs of a class).
    target : vector of integers, optional
        Of shape (batch,).

    Returns
    -------
    vector or matrix
        The probability of each target; without targets (batch, n_outputs), those of all outputs.

    See Also
    --------
    nnet.softmax

    Examples
    --------
    >>> import theano.tensor as T
    >>> all_ = h_softmax(T.zeros((1, 2)), 1, 3, 2, 2, T.zeros((2, 2)), T.zeros(2), T.zeros((2, 2, 2)), T.zeros((2, 2)))
    >>> all_.eval()
    array([[0.25, 0.25, 0.25]])
    """
    x = as_tensor_variable(x)
    if x.type.ndim != 2:
        raise ArgumentError(f"h_softmax: x must be a matrix, (batch, features), not {x} of type {x.type}")
    of_class = softmax(dot(x, W1) + b1)
    W2, b2 = as_tensor_variable(W2), as_tensor_variable(b2)
    if target is None:
        # (features, classes x outputs): one product for all classes
        weights = reshape(W2.dimshuffle(1, 0, 2), [shape_i(W2, 1), n_classes * n_outputs_per_class], ndim=2)
        scores = reshape(dot(x, weights), [shape_i(x, 0) * n_classes, n_outputs_per_class], ndim=2)
        scores = reshape(scores, [shape_i(x, 0), n_classes, n_outputs_per_class], ndim=3) + b2
        inside = reshape(
            softmax(reshape(scores, [shape_i(x, 0) * n_classes, n_outputs_per_class], ndim=2)),
            [shape_i(x, 0), n_classes, n_outputs_per_class], ndim=3,
        )  # fmt: skip
        both = of_class.dimshuffle(0, 1, "x") * inside
        return reshape(both, [shape_i(x, 0), n_classes * n_outputs_per_class], ndim=2)[:, :n_outputs]
    target = as_tensor_variable(target).flatten()
    chosen, place = target // n_outputs_per_class, target % n_outputs_per_class
    first = alloc(as_tensor_variable(0), shape_i(x, 0), 1)
    scores = sparse_block_dot(
        W2.dimshuffle("x", 0, 1, 2), x.dimshuffle(0, "x", 1), first, b2, chosen.dimshuffle(0, "x")
    )[:, 0]
    rows = arange(shape_i(x, 0))
    return of_class[rows, chosen] * softmax(scores)[rows, place]


def confusion_matrix(actual: TensorLike, pred: TensorLike) -> list[Tensor]:
    """Return how often each class was taken for each, and the classes.

    Parameters
    ----------
    actual, pred : vector
        What examples are, and what they were taken for.

    Returns
    -------
    conf_mat : matrix of int64
        Rows are what examples are.
    order : vector
        The classes that there are, in order.

    Raises
    ------
    ValueError
        One of both is no vector.

    See Also
    --------
    nnet.categorical_crossentropy

    Examples
    --------
    >>> import theano.tensor as T
    >>> table, order = confusion_matrix(T.constant([1, 1, 5]), T.constant([1, 5, 5]))
    >>> table.eval(), order.eval()
    (array([[1, 1],
           [0, 1]]), array([1, 5]))
    """
    actual, pred = as_tensor_variable(actual), as_tensor_variable(pred)
    for name, v in (("actual", actual), ("pred", pred)):
        if v.type.ndim != 1:
            raise ValueError(f"confusion_matrix: {name} must be a vector, not of {v.type.ndim} dimensions")
    order = Unique(False, False, False)(concatenate([actual, pred]))
    is_, taken = (cast(eq(v.dimshuffle(0, "x"), order), "int64") for v in (actual, pred))
    return [dot(is_.T, taken), order]


class Prepend_scalar_to_each_row(Compound):
    """A matrix with a column of one number in front.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Prepend_scalar_to_each_row()(5.0, T.ones((2, 1))).eval()
    array([[5., 1.],
           [5., 1.]])
    """

    ndims = (0, 2)

    def expression(self, val: Tensor, mat: Tensor) -> Tensor:
        """Return the joined columns."""
        return concatenate([alloc(cast(val, mat.type.dtype), shape_i(mat, 0), 1), mat], axis=1)


class Prepend_scalar_constant_to_each_row(Compound):
    """A matrix with a column of one constant in front.

    Parameters
    ----------
    val : number

    Examples
    --------
    >>> import theano.tensor as T
    >>> Prepend_scalar_constant_to_each_row(3)(T.ones((1, 2))).eval()
    array([[3., 1., 1.]])
    """

    __props__ = ("val",)
    ndims = (2,)

    def __init__(self, val: float = 0):
        self.val = float(val)

    def expression(self, mat: Tensor) -> Tensor:
        """Return the joined columns."""
        return prepend_scalar_to_each_row(self.val, mat)


prepend_scalar_to_each_row = Prepend_scalar_to_each_row()
prepend_0_to_each_row, prepend_1_to_each_row = (Prepend_scalar_constant_to_each_row(v) for v in (0.0, 1.0))
