"""The different elements of a tensor, and how often numbers occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType, grad_undefined
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import cast, maximum
from theano.tensor.index.functions import getitem
from theano.tensor.join.op import join
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class Unique(Op):
    """The different elements of a tensor, in order, and (on request) where and how often they occur.

    Parameters
    ----------
    return_index, return_inverse, return_counts : bool
        Also the first places, the places in the result, the numbers of occurrences.
    axis : int, optional
        Compare slices along this axis, not elements.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.lvector("x")
    >>> theano.function([x], Unique(return_counts=True)(x))([3, 1, 3])
    [array([1, 3]), array([1, 2])]
    """

    __props__ = ("return_index", "return_inverse", "return_counts", "axis")

    def __init__(
        self,
        return_index: bool = False,
        return_inverse: bool = False,
        return_counts: bool = False,
        axis: int | None = None,
    ):
        self.return_index, self.return_inverse = bool(return_index), bool(return_inverse)
        self.return_counts, self.axis = bool(return_counts), axis

    def make_node(self, x: TensorLike) -> Apply:
        x = as_tensor_variable(x)
        if self.axis is not None and not -x.type.ndim <= self.axis < x.type.ndim:
            raise RuntimeError(f"Unique: {x} has {x.type.ndim} dimensions, so no axis {self.axis}")
        pattern = [False]
        if self.axis is not None:
            pattern = [b and i != self.axis % x.type.ndim for i, b in enumerate(x.type.broadcastable)]
        outputs = [TensorType(x.type.dtype, pattern).make_variable()]
        extras = self.return_index + self.return_inverse + self.return_counts
        outputs += [TensorType("int64", (False,)).make_variable() for _ in range(extras)]
        return Apply(self, [x], outputs)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Sort with NumPy."""
        x = inputs[0]
        # NumPy puts slices of float16 that hold nan first, all others last.
        x = x.astype("float32") if x.dtype == "float16" else x
        unique: Any = np.unique  # its stubs know of keywords only
        found = unique(x, self.return_index, self.return_inverse, self.return_counts, self.axis)
        found = found if isinstance(found, tuple) else (found,)
        for i, (cell, value) in enumerate(zip(output_storage, found, strict=True)):
            dtype = inputs[0].dtype if i == 0 else "int64"
            cell[0] = np.asarray(value, dtype=dtype).reshape(value.shape if i == 0 else -1)

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return that the gradient is undefined: equal elements share one place of the result, and may part."""
        return [grad_undefined(self, 0, inputs[0], "how many different elements there are may change with any of them")]


def unique(
    ar: TensorLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None,
) -> Tensor | list[Tensor]:  # fmt: skip
    """Return the different elements of a tensor, in order, and (on request) where and how often they occur.

    Parameters
    ----------
    ar : tensor
        Of any shape.
    return_index : bool
        Also for each result where it is met first, an int64 vector.
    return_inverse : bool
        Also for each element which result it is, an int64 vector; of the flat tensor, if ``axis`` is None.
    return_counts : bool
        Also for each result how often it occurs, an int64 vector.
    axis : int, optional
        Compare slices along this axis, not elements.

    Returns
    -------
    tensor, or list of tensors
        All nan count as one element.

    Raises
    ------
    RuntimeError
        The axis does not exist.

    See Also
    --------
    sort, bincount, numpy.unique

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], unique(x, return_inverse=True))([2, 5, 2])
    [array([2., 5.]), array([0, 1, 0])]
    >>> m = T.dmatrix("m")
    >>> theano.function([m], unique(m, axis=0))([[1, 2], [0, 9], [1, 2]])
    array([[0., 9.],
           [1., 2.]])
    """
    return Unique(return_index, return_inverse, return_counts, axis)(ar)


class Bincount(Op):
    """How often each whole number from 0 occurs in a vector, or the sum of weights; see :func:`bincount`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, w = T.lvector("x"), T.dvector("w")
    >>> theano.function([x, w], Bincount()(x, 0, w))([0, 2, 2], [1, 0.5, 0.25])
    array([1.  , 0.  , 0.75])
    """

    __props__ = ()
    linear_in = (slice(2, None),)

    def make_node(self, x: TensorLike, minlength: Any = 0, weights: Any = None) -> Apply:
        """Return the node for the numbers, the least length of the result, and perhaps weights."""
        x, minlength = as_tensor_variable(x), as_tensor_variable(minlength)
        if x.type.ndim != 1:
            raise TypeError(f"bincount needs a vector, but {x} has {x.type.ndim} dimensions")
        if x.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"bincount counts whole numbers, not {x} of dtype {x.type.dtype}")
        if minlength.type.ndim or minlength.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"bincount: minlength is one whole number, not {minlength} of type {minlength.type}")
        inputs = [x, minlength]
        dtype = "int64"
        if weights is not None:
            weights = as_tensor_variable(weights)
            if weights.type.ndim != 1:
                raise TypeError(f"bincount needs a vector of weights, but {weights} has {weights.type.ndim} dimensions")
            if weights.type.dtype in scal.discrete_dtypes:
                weights = cast(weights, "float64")
            inputs.append(weights)
            dtype = weights.type.dtype
        return Apply(self, inputs, [TensorType(dtype, (False,)).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Count with NumPy."""
        x, minlength, *weights = inputs
        if minlength < 0:
            raise ValueError(f"{self}: minlength must not be negative, but is {minlength}")
        if weights and len(weights[0]) != len(x):
            raise shape_error(
                node, inputs, f"{len(weights[0])} weights are given for {len(x)} numbers.", "There must be one each."
            )
        places = x.astype("int64")
        if (places < 0).any():
            raise ValueError(f"{self}: bincount counts numbers from 0, but was given {places.min()}")
        length = max(int(places.max(initial=-1)) + 1, int(minlength))
        counts = np.zeros(length, dtype=node.outputs[0].type.dtype)
        np.add.at(counts, places, weights[0] if weights else 1)
        output_storage[0][0] = counts

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the largest number and 1, or the least length."""
        x, minlength = node.inputs[:2]
        largest = join(0, cast(x, "int64"), constant(np.array([-1]))).max()
        return [(maximum(largest + 1, cast(minlength, "int64")),)]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only weights have an influence in the sense of derivatives."""
        return [[i == 2] for i in range(len(node.inputs))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Any]:
        """Return for each weight the gradient where it went."""
        rest = [DisconnectedType()(), DisconnectedType()()]
        return rest if len(inputs) == 2 else [*rest, getitem(output_grads[0], inputs[0])]


def bincount(
    x: TensorLike, weights: TensorLike | None = None, minlength: Any = None, assert_nonneg: bool = False
) -> Tensor:
    """Return how often each whole number from 0 occurs in a vector.

    Parameters
    ----------
    x : vector of int
        The numbers, none of them negative.
    weights : vector, optional
        What each occurrence counts, as long as ``x``.
    minlength : whole number, optional
        Least length of the result.
    assert_nonneg : bool
        Accepted: negative numbers are an error in any case.

    Returns
    -------
    vector
        One longer than the largest number; of int64, or of the dtype of the weights (float64, if they are discrete).

    Raises
    ------
    TypeError
        ``x`` is no vector of whole numbers.
    ValueError
        When the function is called: a number is negative, or there are more or fewer weights than numbers.

    See Also
    --------
    unique, numpy.bincount

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.lvector("x")
    >>> theano.function([x], bincount(x, minlength=5))([3, 1, 3])
    array([0, 1, 0, 2, 0])
    """
    return Bincount()(x, 0 if minlength is None else minlength, *([] if weights is None else [weights]))
