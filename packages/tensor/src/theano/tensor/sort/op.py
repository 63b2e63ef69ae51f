"""Order: sort, argsort, topk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable, gradient_dtype, static_int
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import abs_, cast
from theano.tensor.index.functions import getitem, set_subtensor
from theano.tensor.messages import axis_of, shape_error
from theano.tensor.shape.reshape import vector_along
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor

KINDS = ("quicksort", "mergesort", "heapsort", "stable")


class _Ordering(Op):
    """What sorting ops share: the kind of algorithm, and an axis as second input."""

    __props__: tuple[str, ...] = ("kind", "order")
    out_dtype: str | None = None
    shapes = "A->A"

    def __init__(self, kind: str = "quicksort", order: Any = None):
        if kind not in KINDS:
            raise ValueError(f"the kind of sort must be one of {', '.join(KINDS)}, not {kind!r}")
        if order is not None:
            raise ValueError(f"sort: order names the fields of records, and tensors have none: {order!r}")
        self.kind = kind
        self.order = order

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.kind}, {self.order}}}"

    def make_node(self, x: Variable, axis: TensorLike = -1) -> Apply:
        """Return the node for a tensor and an axis."""
        x, axis = as_tensor_variable(x), as_tensor_variable(axis, ndim=0)
        if axis.type.dtype[0] not in "iu":
            raise TypeError(f"sort: the axis must be a whole number, not {axis} of dtype {axis.type.dtype}")
        known = static_int(axis)
        if known is not None:
            axis_of(x, known, "sort")
        out = TensorType(self.out_dtype or x.type.dtype, x.type.broadcastable)
        return Apply(self, [x, axis], [out.make_variable()])

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the axis has no influence in the sense of derivatives."""
        return [[True], [False]]


def trusted_kind(dtype: str, kind: str) -> str:
    """Return the kind of sort of elements to take where another one is asked for.

    NumPy 2.4's quicksort of float16 with AVX-512 instructions loses the order of negative numbers that are often there.

    Examples
    --------
    >>> trusted_kind("float16", "quicksort"), trusted_kind("float32", "quicksort")
    ('stable', 'quicksort')
    """
    return "stable" if dtype == "float16" else kind


def _taken(x: np.ndarray, places: np.ndarray, axis: int) -> np.ndarray:
    """Return ``numpy.take_along_axis``, which knows one dimension less than arrays have."""
    if x.ndim < 64:
        return np.take_along_axis(x, places, axis)
    last, where = np.moveaxis(x, axis, -1), np.moveaxis(places, axis, -1)
    lines = np.take_along_axis(last.reshape(-1, last.shape[-1]), where.reshape(-1, where.shape[-1]), -1)
    return np.moveaxis(lines.reshape(where.shape), -1, axis)


def _along(sort: Any, x: np.ndarray, axis: int, kind: str | None) -> np.ndarray:
    """Return what a function of NumPy that sorts makes of a tensor; such know no more than 32 dimensions."""
    if x.ndim <= 32:
        return sort(x, axis, kind)
    last = np.moveaxis(x, axis, -1)
    lines = sort(last.reshape(-1, last.shape[-1]), -1, kind)
    return np.moveaxis(lines.reshape(last.shape), -1, axis)


class SortOp(_Ordering):
    """The elements in order along an axis.

    Examples
    --------
    >>> import theano.tensor as T
    >>> SortOp("quicksort")(T.constant([3, 1, 2]), -1).eval()
    array([1, 2, 3])
    """

    __props__ = ("kind", "order")
    slopes_of_whole = True

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Sort with NumPy."""
        x = inputs[0]
        output_storage[0][0] = _along(np.sort, x, int(inputs[1]), trusted_kind(x.dtype.name, self.kind))

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient, each element back at the place it came from."""
        (x, axis), (g,) = inputs, output_grads
        index = _places(argsort_op(x, axis, self.kind), x, _known_axis(axis, x.type.ndim))
        return [set_subtensor(getitem(x.zeros_like(dtype=g.type.dtype), index), g), DisconnectedType()()]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction in the order of the elements."""
        if eval_points[0] is None:
            return [None]
        x, axis = inputs
        index = _places(argsort_op(x, axis, self.kind), x, _known_axis(axis, x.type.ndim))
        return [getitem(eval_points[0], index)]


class ArgSortOp(_Ordering):
    """The places that put the elements in order along an axis.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ArgSortOp("quicksort")(T.constant([3, 1, 2]), -1).eval()
    array([1, 2, 0])
    """

    __props__ = ("kind", "order")
    out_dtype = "int64"
    linear_in = ()

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Sort with NumPy."""
        output_storage[0][0] = np.asarray(_along(np.argsort, inputs[0], int(inputs[1]), self.kind), dtype="int64")

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zero: places jump."""
        (x, _) = inputs
        return [x.zeros_like(dtype=gradient_dtype(x.type.dtype)), DisconnectedType()()]


def argsort_op(x: TensorLike, axis: TensorLike, kind: str) -> Tensor:
    """Return the places that put ``x`` in order."""
    return ArgSortOp(kind)(x, axis)


def _known_axis(axis: Tensor, ndim: int) -> int:
    known = static_int(axis)
    if known is None:
        raise NotImplementedError("the derivative of a sort needs an axis that is known while the graph is built")
    return known % ndim


def _places(order: Tensor, x: Tensor, axis: int) -> tuple[Tensor, ...]:
    """Return the full index that an order along one axis means."""
    ndim = x.type.ndim
    grids = [vector_along(arange(x.shape[i]), i, ndim) for i in range(ndim)]
    return tuple(order if i == axis else grids[i] for i in range(ndim))


def sort(a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: object = None) -> Tensor:
    """Return the elements in ascending order along an axis (of the flat tensor for None).

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int or None, optional
        Along which axis; None for the flat tensor.
    kind : str, optional
        The algorithm, as for :func:`numpy.sort`; "stable" keeps the order of equal elements.
    order : None
        Accepted for programs that write it.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``a``; NaN goes to the end.

    See Also
    --------
    argsort, topk, unique, numpy.sort

    Examples
    --------
    >>> import theano.tensor as T
    >>> sort(T.dmatrix("m"), axis=0)
    SortOp{quicksort, None}.0
    """
    a = as_tensor_variable(a)
    return SortOp(kind, order)(a.flatten() if axis is None else a, 0 if axis is None else axis)


def argsort(a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: object = None) -> Tensor:
    """Return the places that put the elements in ascending order along an axis (of the flat tensor for None).

    Parameters
    ----------
    a : tensor
        Of any shape.
    axis : int or None, optional
        Along which axis; None for the flat tensor.
    kind : str, optional
        The algorithm, as for :func:`numpy.sort`; "stable" keeps the order of equal elements.
    order : None
        Accepted for programs that write it.

    Returns
    -------
    TensorVariable
        Of int64, of the shape of ``a``; NaN goes to the end.

    See Also
    --------
    sort, argtopk, searchsorted, numpy.argsort

    Examples
    --------
    >>> import theano.tensor as T
    >>> argsort(T.constant([3, 1, 2])).eval()
    array([1, 2, 0])
    """
    a = as_tensor_variable(a)
    return ArgSortOp(kind, order)(a.flatten() if axis is None else a, 0 if axis is None else axis)


class TopKOp(Op):
    """The ``k`` largest (or, for negative ``k``, smallest) elements along an axis, and their places.

    Parameters
    ----------
    axis : int
    sorted : bool
        Largest first. Otherwise in any order.
    idx_dtype : str
    return_values, return_indices : bool

    Examples
    --------
    >>> import theano.tensor as T
    >>> TopKOp()(T.constant([3, 1, 2]), 2)[0].eval()
    array([3, 2])
    """

    __props__ = ("axis", "sorted", "idx_dtype", "return_values", "return_indices")

    def __init__(
        self, axis: int = -1, sorted: bool = True, idx_dtype: str = "int64",
        return_values: bool = True, return_indices: bool = True,
    ):  # fmt: skip
        if not (return_values or return_indices):
            raise ValueError("topk: at least one of values and places must be wanted")
        if np.dtype(idx_dtype).kind not in "iu":
            raise TypeError(f"topk: idx_dtype is {idx_dtype!r}; places are whole numbers")
        self.axis, self.sorted, self.idx_dtype = int(axis), bool(sorted), idx_dtype
        self.return_values, self.return_indices = bool(return_values), bool(return_indices)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}, sorted={self.sorted}}}"

    def make_node(self, x: TensorLike, kth: Any) -> Apply:
        """Return the node for a tensor and a number of elements."""
        x, kth = as_tensor_variable(x), as_tensor_variable(kth, ndim=0)
        if x.type.ndim == 0:
            raise ValueError(f"topk needs a tensor of 1 dimension or more, not {x}")
        if kth.type.dtype[0] not in "iu":
            raise TypeError(f"topk: the number of elements must be whole, not {kth} of dtype {kth.type.dtype}")
        if not -x.type.ndim <= self.axis < x.type.ndim:
            raise IndexError(f"topk: {x} has no axis {self.axis}")
        pattern = list(x.type.broadcastable)
        pattern[self.axis] = static_int(kth) in (1, -1)
        values = [TensorType(x.type.dtype, pattern).make_variable()] * self.return_values
        places = [TensorType(self.idx_dtype, pattern).make_variable()] * self.return_indices
        return Apply(self, [x, kth], values + places)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Partition with NumPy."""
        x, k = inputs[0], int(inputs[1])
        n = x.shape[self.axis]
        if k == 0 or abs(k) > n:
            raise ValueError(str(shape_error(
                node, inputs, f"topk: kth must be 1 to {n}, the length of axis {self.axis}, or its negative; got {k}.",
                "Pass a smaller kth.",
            )))  # fmt: skip
        order = _along(np.argsort, x, self.axis, "stable")
        window: list[slice] = [slice(None)] * x.ndim
        window[self.axis] = slice(-1, -k - 1, -1) if k > 0 else slice(0, -k)
        places = order[tuple(window)]
        results = []
        if self.return_values:
            results.append(_taken(x, places, self.axis))
        if self.return_indices:
            results.append(places.astype(self.idx_dtype))
        for cell, value in zip(output_storage, results, strict=True):
            cell[0] = np.ascontiguousarray(value)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the tensor, with the number of elements along the axis."""
        lengths = list(shapes[0])
        lengths[self.axis] = cast(abs_(node.inputs[1]), "int64")
        return [tuple(lengths) for _ in node.outputs]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only values of the tensor influence values."""
        return [[True] * self.return_values + [False] * self.return_indices, [False] * len(node.outputs)]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros with the gradient put where the values came from."""
        x, kth = inputs
        if not self.return_values:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype)), DisconnectedType()()]
        places = outputs[-1] if self.return_indices else argtopk(x, kth, self.axis, self.sorted, self.idx_dtype)
        index = _places(places, outputs[0], self.axis % x.type.ndim)
        return [set_subtensor(getitem(x.zeros_like(), index), output_grads[0]), DisconnectedType()()]


def _flat_if_none(x: TensorLike, axis: int | None) -> tuple[Tensor, int]:
    x = as_tensor_variable(x)
    return (x.flatten(), 0) if axis is None else (x, axis)


def topk(x: TensorLike, kth: int, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64") -> Tensor:
    """Return the ``kth`` largest elements along an axis; the smallest, for a negative number.

    Parameters
    ----------
    x : tensor
        Of any shape.
    kth : int or scalar of int
        How many; the smallest ones where it is negative.
    axis : int or None, optional
        Along which axis; None for the flat tensor.
    sorted : bool, optional
        False: any order will do.
    idx_dtype : str, optional
        Dtype of places.

    Returns
    -------
    TensorVariable
        ``|kth|`` elements along the axis.

    See Also
    --------
    argtopk, topk_and_argtopk, sort

    Examples
    --------
    >>> import theano.tensor as T
    >>> topk(T.constant([3, 1, 2]), 2, sorted=False).sort().eval()
    array([2, 3])
    >>> topk(T.constant([3, 1, 2]), -1).eval()
    array([1])
    """
    x, axis = _flat_if_none(x, axis)
    return TopKOp(axis=axis, sorted=sorted, idx_dtype=idx_dtype)(x, kth)[0]


def argtopk(x: TensorLike, kth: object, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64") -> Tensor:
    """Return the places of the ``kth`` largest elements along an axis.

    Parameters
    ----------
    x : tensor
        Of any shape.
    kth : int or scalar of int
        How many; the smallest ones where it is negative.
    axis : int or None, optional
        Along which axis; None for the flat tensor.
    sorted : bool, optional
        False: any order will do.
    idx_dtype : str, optional
        Dtype of places.

    Returns
    -------
    TensorVariable
        Places, ``|kth|`` along the axis.

    See Also
    --------
    topk, topk_and_argtopk, argsort

    Examples
    --------
    >>> import theano.tensor as T
    >>> argtopk(T.constant([3, 1, 2]), 1).eval()
    array([0])
    """
    x, axis = _flat_if_none(x, axis)
    return TopKOp(axis=axis, sorted=sorted, idx_dtype=idx_dtype, return_values=False)(x, kth)


def topk_and_argtopk(
    x: TensorLike, kth: int, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> list[Tensor]:
    """Return the ``kth`` largest elements along an axis, and their places.

    Parameters
    ----------
    x : tensor
        Of any shape.
    kth : int or scalar of int
        How many; the smallest ones where it is negative.
    axis : int or None, optional
        Along which axis; None for the flat tensor.
    sorted : bool, optional
        False: any order will do.
    idx_dtype : str, optional
        Dtype of places.

    Returns
    -------
    list of TensorVariable
        The elements, and their places.

    See Also
    --------
    topk, argtopk

    Examples
    --------
    >>> import theano.tensor as T
    >>> values, places = topk_and_argtopk(T.constant([3, 1, 2]), 1)
    >>> values.eval(), places.eval()
    (array([3]), array([0]))
    """
    x, axis = _flat_if_none(x, axis)
    return TopKOp(axis=axis, sorted=sorted, idx_dtype=idx_dtype)(x, kth)
