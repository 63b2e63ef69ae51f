"""Cross entropies between distributions, and between a distribution and a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import DisconnectedType, grad_not_implemented
from theano.graph import Apply, Constant, Op
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import zeros
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast, eq, floats, log
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.functions import getitem
from theano.tensor.messages import describe, shape_error
from theano.tensor.nnet.softmax import floating, rows_softmax, softmax_with_bias
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor

#: How labels choose columns, in the order of ``c/softmax.c``.
LABELS = ("each", "first", "all")


def _classes(op: Op, y_idx: TensorLike) -> Tensor:
    y_idx = as_tensor_variable(y_idx)
    if y_idx.type.ndim != 1 or y_idx.type.dtype not in scal.integer_dtypes:
        remedy = ""
        if y_idx.type.ndim == 2:
            remedy = "\nOf rows that are one-hot, theano.tensor.argmax(y, axis=1) gives the numbers of the classes."
        elif y_idx.type.ndim == 1:
            remedy = "\nCast it: theano.tensor.cast(y, 'int64')."
        raise ArgumentError(f"{op}: the classes must be a vector of whole numbers:\n{describe(y_idx)}{remedy}")
    return y_idx


def labels_of(node: Apply) -> str:
    """Return how the labels of a node choose columns: what its fourth input says, or one label for each row."""
    if len(node.inputs) == 3:
        return LABELS[0]
    said = node.inputs[3]
    if not isinstance(said, Constant):
        raise TypeError(f"{node.op}: how labels choose must be a constant, not {said}")
    return LABELS[int(said.data)]


class _Labelled(Op):
    """What reads one column of each row, as labels say.

    How they say it is an input of the node, a constant, so that the op is the documented one in any case: "each" (which
    needs no such input) is one label for each row, from 0 on, else a ValueError. "first" is what the index
    ``[arange(k), labels]`` chooses from the first k rows, "all" what ``[arange(rows), labels]`` does from all: negative
    ones count from the end, and what does not fit is an IndexError.
    """

    __props__ = ()

    @staticmethod
    def how(labels: Any) -> list[Any]:
        """Return the inputs that say how labels choose: none, or one constant."""
        if isinstance(labels, Constant):
            if labels.type != TensorType("int8", ()):
                raise TypeError(f"how labels choose must be a number of dtype int8, not {describe(labels)}")
            return [labels]
        if labels not in LABELS:
            raise ValueError(f"labels must be one of {', '.join(LABELS)}, not {labels!r}")
        return [] if labels == LABELS[0] else [as_tensor_variable(np.int8(LABELS.index(labels)))]

    def chosen(self, node: TensorApply, inputs: Sequence[np.ndarray], matrix: np.ndarray) -> np.ndarray:
        """Return the columns of the first rows, counted from 0."""
        rows, columns = matrix.shape
        y_idx = inputs[2]
        labels = labels_of(node)
        if labels == "each":
            _check(node, inputs, rows, columns, y_idx)
            return y_idx
        if labels == "all" and len(y_idx) == 1:
            y_idx = np.broadcast_to(y_idx, (rows,))
        if labels == "all" and len(y_idx) != rows:
            raise IndexError(
                f"shape mismatch: indexing arrays could not be broadcast together: {rows} rows and {len(y_idx)} labels"
            )
        if len(y_idx) > rows:
            raise IndexError(f"index {rows} is out of bounds for axis 0 with size {rows}")
        wrong = [int(k) for k in y_idx if not -columns <= k < columns]
        if wrong:
            raise IndexError(f"index {wrong[0]} is out of bounds for axis 1 with size {columns}")
        return np.where(y_idx < 0, y_idx + columns, y_idx)


def _check(node: TensorApply, inputs: Sequence[np.ndarray], rows: int, columns: int, y_idx: np.ndarray) -> None:
    if len(y_idx) != rows:
        raise shape_error(node, inputs, f"{len(y_idx)} classes for {rows} rows.", "There must be one each.")
    if len(y_idx) and (y_idx.min() < 0 or y_idx.max() >= columns):
        bad = int(y_idx.min() if y_idx.min() < 0 else y_idx.max())
        raise ValueError(
            f"{node.op}: y_i value out of bounds: class {bad} among {columns} columns; labels count from 0:\n"
            + "\n".join(describe(v, np.shape(x)) for v, x in zip(node.inputs, inputs, strict=True))
        )


def one_hot(y_idx: Tensor, columns: TensorLike, dtype: str) -> Tensor:
    """Return a matrix with a 1 at each row's class, 0 elsewhere."""
    return cast(eq(y_idx.dimshuffle(0, "x"), arange(columns).dimshuffle("x", 0)), dtype)


def _at_classes(matrix: Tensor, classes: Tensor) -> Tensor:
    """Return the element of each row in the column of its class; what the others are worth, NaN too, has no part."""
    return getitem(matrix, (arange(classes.shape[0]), classes))


class CrossentropySoftmaxArgmax1HotWithBias(_Labelled):
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
        x, b, y_idx = floating(self, x, (2,), "x"), floating(self, b, (1,), "b"), _classes(self, y_idx)
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


class CrossentropySoftmax1HotWithBiasDx(_Labelled):
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
        return Apply(self, [dy, sm, _classes(self, y_idx), *self.how(labels)], [sm.type.make_variable()])

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

    def make_node(self, coding_dist: TensorLike, true_one_of_n: Any) -> Apply:
        """Return the node for a matrix of distributions and the classes."""
        coding_dist = floating(self, coding_dist, (2,), "coding_dist")
        out = TensorType(coding_dist.type.dtype, (False,))
        return Apply(self, [coding_dist, _classes(self, true_one_of_n)], [out.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        coding, classes = inputs
        _check(node, inputs, coding.shape[0], coding.shape[1], classes)
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
        return Apply(self, [g_y, coding_dist, _classes(self, true_one_of_n)], [coding_dist.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        g_y, coding, classes = inputs
        _check(node, inputs, coding.shape[0], coding.shape[1], classes)
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


crossentropy_softmax_argmax_1hot_with_bias = CrossentropySoftmaxArgmax1HotWithBias()
crossentropy_softmax_1hot_with_bias_dx = CrossentropySoftmax1HotWithBiasDx()
crossentropy_categorical_1hot = CrossentropyCategorical1Hot()
crossentropy_categorical_1hot_grad = CrossentropyCategorical1HotGrad()


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
