"""The likelihood of labels under the softmax of rows, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.gradient import DisconnectedType, grad_not_implemented
from theano.graph import Apply
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import zeros
from theano.tensor.messages import shape_error
from theano.tensor.nnet.labels import LABELS, Labelled, label_vector, labels_of, one_hot
from theano.tensor.nnet.softmax import floating, rows_softmax, softmax_with_bias
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class CrossentropySoftmaxArgmax1HotWithBias(Labelled):
    """Three things about rows ``x + b`` and their classes: negative log-likelihood, softmax, and largest column.

    Parameters
    ----------
    x : matrix
        Floats.
    b : vector
        One number for each column.
    y_idx : vector of int
        The class of each row, from 0.
    labels : "each", "first" or "all", optional
        "each": one label for each row, from 0. "first" and "all": labels of the first rows, or of all, are indices
        as in NumPy, which may be negative.

    Returns
    -------
    list of TensorVariable
        The negative log-likelihood of each row, the softmax, and the largest column of each row.

    Examples
    --------
    >>> import theano.tensor as T
    >>> op = CrossentropySoftmaxArgmax1HotWithBias()
    >>> nll, softmax, place = op(T.zeros((1, 2)), T.constant([0.0, 1.0]), [1])
    >>> nll.eval().round(4), place.eval()
    (array([0.3133]), array([1]))
    """

    nout = 3

    def __init__(self, **kwargs: object):
        super().__init__()

    def make_node(self, x: TensorLike, b: Tensor, y_idx: TensorLike, labels: object = "each") -> Apply:
        """Return the node for a matrix, a vector and the classes; rules also say how those choose."""
        x, b, y_idx = floating(self, x, (2,), "x"), floating(self, b, (1,), "b"), label_vector(self, y_idx)
        how = self.how(labels)
        # One label for each row: Theano takes the pattern of the labels. Of others, there may be fewer than rows.
        rows = (x.type.broadcastable[0],) if how else y_idx.type.broadcastable
        first = bool(how) and how[0].data == LABELS.index("first")
        nll = TensorType(x.type.dtype, y_idx.type.broadcastable if first else rows).make_variable()
        place = TensorType(y_idx.type.dtype, rows).make_variable()
        return Apply(self, [x, b, y_idx, *how], [nll, x.type.make_variable(), place])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        x, b = inputs[:2]
        if b.shape[0] != x.shape[1]:
            raise shape_error(
                node, inputs, f"the bias has {b.shape[0]} elements, the rows {x.shape[1]}.",
                "b must be as long as the rows of x.",
            )
        y_idx = self.chosen(node, inputs, x)
        labelled = np.arange(len(y_idx))
        rows = (x + b).astype("float32" if x.dtype == "float16" else x.dtype, copy=False)
        largest = rows.max(axis=1, keepdims=True) if rows.size else np.zeros((len(rows), 1), rows.dtype)
        with np.errstate(**NUMPY_ERRORS):
            shifted = rows - largest
            nll = np.log(np.exp(shifted).sum(axis=1))[labelled] - shifted[labelled, y_idx]
        output_storage[0][0] = nll.astype(x.dtype, copy=False)
        output_storage[1][0] = rows_softmax(rows).astype(x.dtype, copy=False)
        place = rows.argmax(axis=1) if rows.size else np.zeros(len(rows))
        output_storage[2][0] = place.astype(node.outputs[2].type.dtype)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return one number a labelled row, the matrix, one place a row."""
        return [shapes[2] if labels_of(node) == "first" else (shapes[0][0],), shapes[0], (shapes[0][0],)]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return what influences what: the softmax does not depend on the classes, the place is a whole number."""
        return [[True, True, False], [True, True, False], [True, False, False], [False] * 3][: len(node.inputs)]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the sum of what comes through the likelihood and through the softmax."""
        x, b, y_idx, *how = inputs
        g_nll, g_sm, _ = output_grads
        terms = []
        if not isinstance(g_nll.type, DisconnectedType):
            terms.append(crossentropy_softmax_1hot_with_bias_dx(g_nll, outputs[1], y_idx, *how))
        if not isinstance(g_sm.type, DisconnectedType):
            terms.append(softmax_with_bias.L_op([x, b], [outputs[1]], [g_sm])[0])
        if not terms:
            return [DisconnectedType()() for _ in inputs]
        dx = terms[0] if len(terms) == 1 else terms[0] + terms[1]
        if isinstance(g_nll.type, DisconnectedType):
            return [dx, dx.sum(axis=0), *(DisconnectedType()() for _ in inputs[2:])]
        return [dx, dx.sum(axis=0), grad_not_implemented(self, 2, y_idx), *(DisconnectedType()() for _ in how)]


class CrossentropySoftmax1HotWithBiasDx(Labelled):
    """The gradient of the likelihoods of :class:`CrossentropySoftmaxArgmax1HotWithBias` with respect to the rows.

    Parameters
    ----------
    dy : vector
        The gradient with respect to each likelihood.
    sm : matrix
        The softmax.
    y_idx : vector of int
        The class of each row, from 0.
    labels : "each", "first" or "all", optional
        As for :class:`CrossentropySoftmaxArgmax1HotWithBias`.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``sm``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CrossentropySoftmax1HotWithBiasDx()([1.0], T.constant([[0.25, 0.75]]), [0]).eval()
    array([[-0.75,  0.75]])
    """

    nout = 1
    shapes = ",A->A"

    def make_node(self, dy: TensorLike, sm: Tensor, y_idx: TensorLike, labels: TensorLike | str = "each") -> Apply:
        """Return the node for the gradient of each likelihood, the softmax and the classes, and how those choose."""
        dy, sm = floating(self, dy, (0, 1), "dy"), floating(self, sm, (2,), "sm")
        dy = dy.dimshuffle("x") if dy.type.ndim == 0 else dy
        return Apply(self, [dy, sm, label_vector(self, y_idx), *self.how(labels)], [sm.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        dy, sm = inputs[:2]
        y_idx = self.chosen(node, inputs, sm)
        if dy.shape[0] not in (1, len(y_idx)):
            counts = f"{dy.shape[0]} gradients for {len(y_idx)} rows."
            raise shape_error(node, inputs, counts, "There must be one each.")
        dy = np.broadcast_to(dy, (len(y_idx),))
        dx = np.zeros_like(sm)
        dx[: len(y_idx)] = dy[:, None] * sm[: len(y_idx)]
        dx[np.arange(len(y_idx)), y_idx] -= dy
        output_storage[0][0] = dx.astype(sm.dtype, copy=False)

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that how labels choose is no number."""
        return [[True], [True], [True], [False]][: len(node.inputs)]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients of ``dy * (sm - one_hot)``."""
        (dy, sm, y_idx, *how), (g,) = inputs, output_grads
        hot = one_hot(y_idx, sm.shape[1], sm.type.dtype)
        g_dy = (g * (sm - hot)).sum(axis=1)
        if dy.type.broadcastable[0] and not g_dy.type.broadcastable[0]:
            g_dy = g_dy.sum(keepdims=True)
        rest = [grad_not_implemented(self, 2, y_idx), *(DisconnectedType()() for _ in how)]
        return [g_dy, dy.dimshuffle(0, "x") * g, *rest]


crossentropy_softmax_argmax_1hot_with_bias = CrossentropySoftmaxArgmax1HotWithBias()


crossentropy_softmax_1hot_with_bias_dx = CrossentropySoftmax1HotWithBiasDx()


def crossentropy_softmax_1hot_with_bias(
    x: TensorLike, b: TensorLike, y_idx: TensorLike, **kwargs: object
) -> list[Tensor]:
    """Return the negative log-likelihood of each row's class, and the softmax of ``x + b``.

    Parameters
    ----------
    x : matrix
        What the softmax is taken of, one row for each example.
    b : vector
        Added to each row.
    y_idx : vector of int
        The class of each row, from 0.
    **kwargs : object
        Accepted and without effect.

    Returns
    -------
    list of TensorVariable
        A vector and a matrix.

    See Also
    --------
    nnet.softmax, nnet.categorical_crossentropy

    Examples
    --------
    >>> import theano.tensor as T
    >>> nll, softmax = crossentropy_softmax_1hot_with_bias(T.zeros((1, 2)), T.zeros(2), T.constant([1]))
    >>> softmax.eval()
    array([[0.5, 0.5]])
    """
    return crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx, **kwargs)[0:2]


def crossentropy_softmax_1hot(x: TensorLike, y_idx: TensorLike, **kwargs: object) -> list[Tensor]:
    """Return the negative log-likelihood of each row's class, and the softmax of ``x``.

    Parameters
    ----------
    x : matrix
        What the softmax is taken of, one row for each example.
    y_idx : vector of int
        The class of each row, from 0.
    **kwargs : object
        Accepted and without effect.

    Returns
    -------
    list of TensorVariable
        A vector and a matrix.

    See Also
    --------
    nnet.softmax, nnet.categorical_crossentropy

    Examples
    --------
    >>> import theano.tensor as T
    >>> nll, softmax = crossentropy_softmax_1hot(T.zeros((1, 2)), T.constant([1]))
    >>> nll.eval().round(4)
    array([0.6931])
    """
    return crossentropy_softmax_1hot_with_bias(x, _no_bias(x), y_idx, **kwargs)


def crossentropy_softmax_max_and_argmax_1hot_with_bias(
    x: TensorLike, b: TensorLike, y_idx: TensorLike, **kwargs: object
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return likelihoods, softmax, largest probability and its column, for rows ``x + b``.

    Parameters
    ----------
    x : matrix
        What the softmax is taken of, one row for each example.
    b : vector
        Added to each row.
    y_idx : vector of int
        The class of each row, from 0.
    **kwargs : object
        Accepted and without effect.

    Returns
    -------
    tuple of TensorVariable
        Likelihoods, the softmax, the largest probabilities and their columns.

    See Also
    --------
    nnet.softmax

    Examples
    --------
    >>> import theano.tensor as T
    >>> f = T.nnet.crossentropy_softmax_max_and_argmax_1hot_with_bias
    >>> _, _, largest, place = f(T.zeros((1, 2)), T.zeros(2), T.constant([1]))
    >>> largest.eval(), place.eval()
    (array([0.5]), array([0]))
    """
    nll, sm = crossentropy_softmax_1hot_with_bias(x, b, y_idx, **kwargs)
    return nll, sm, sm.max(axis=-1), sm.argmax(axis=-1)


def crossentropy_softmax_max_and_argmax_1hot(
    x: TensorLike, y_idx: TensorLike, **kwargs: object
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return likelihoods, softmax, largest probability and its column, for rows ``x``.

    Parameters
    ----------
    x : matrix
        What the softmax is taken of, one row for each example.
    y_idx : vector of int
        The class of each row, from 0.
    **kwargs : object
        Accepted and without effect.

    Returns
    -------
    tuple of TensorVariable
        Likelihoods, the softmax, the largest probabilities and their columns.

    See Also
    --------
    nnet.softmax

    Examples
    --------
    >>> import theano.tensor as T
    >>> _, _, largest, place = crossentropy_softmax_max_and_argmax_1hot(T.zeros((1, 2)), T.constant([1]))
    >>> largest.eval(), place.eval()
    (array([0.5]), array([0]))
    """
    return crossentropy_softmax_max_and_argmax_1hot_with_bias(x, _no_bias(x), y_idx, **kwargs)


def _no_bias(x: TensorLike) -> Tensor:
    # Not of its first row, which there may not be.
    x = as_tensor_variable(x)
    return zeros((x.shape[1],), dtype=floating(CrossentropySoftmaxArgmax1HotWithBias(), x, (2,), "x").type.dtype)
