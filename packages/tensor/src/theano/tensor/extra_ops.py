"""Cumulative sums and products, repeats, searches, and other ops that stand by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.layers import lazily
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.settings import config
from theano.tensor.control.checks import Assert
from theano.tensor.convert import (
    as_tensor_variable,
    constant,
    gradient_dtype,
    static_int,
)
from theano.tensor.create.alloc import zeros
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast, eq, ge, maximum, minimum, neq, switch, true_div
from theano.tensor.index.functions import flatnonzero, getitem, set_subtensor
from theano.tensor.join.op import join
from theano.tensor.messages import axis_of, shape_error
from theano.tensor.reduce.functions import all as all_of
from theano.tensor.type import TensorApply, TensorType


class CumOp(Op):
    """Sums or products of the elements up to each place.

    Parameters
    ----------
    axis : int or None
        None: of the flat tensor.
    mode : "add" or "mul"

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumOp(axis=0, mode="mul")(T.constant([2, 3, 4])).eval()
    array([ 2,  6, 24])
    """

    __props__ = ("axis", "mode")

    def __init__(self, axis: int | None = None, mode: str = "add"):
        if mode not in ("add", "mul"):
            raise ValueError(f"CumOp: mode is {mode!r}; it must be 'add' or 'mul'")
        if axis is not None and not isinstance(axis, (int, np.integer)):
            raise TypeError(f"CumOp: an axis is a whole number or None, not {axis!r}")
        self.axis, self.mode = None if axis is None else int(axis), mode

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.axis}, {self.mode}}}"

    def make_node(self, x: Any) -> Apply:
        """Return the node."""
        x = as_tensor_variable(x)
        if self.axis is None:
            return Apply(self, [x], [TensorType(x.type.dtype, (False,)).make_variable()])
        if not -x.type.ndim <= self.axis < x.type.ndim:
            raise ValueError(f"axis(={self.axis}) out of bounds: {x} has {x.type.ndim} dimensions")
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Accumulate with NumPy."""
        (x,) = inputs
        accumulate = np.cumsum if self.mode == "add" else np.cumprod
        with np.errstate(**NUMPY_ERRORS):
            output_storage[0][0] = accumulate(x, axis=self.axis, dtype=x.dtype)

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the shape of the tensor, or its size."""
        if self.axis is not None:
            return [shapes[0]]
        total: Any = constant(np.int64(1))
        for i, n in enumerate(shapes[0]):
            total = n if i == 0 else total * n
        return [(total,)]

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient accumulated from the other end."""
        (x,), (g,) = inputs, output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype))]
        values = x.flatten() if self.axis is None else x
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        back = (slice(None),) * axis + (slice(None, None, -1),)
        term = g if self.mode == "add" else g * outputs[0]
        total = getitem(CumOp(axis)(getitem(term, back)), back)
        total = total if self.mode == "add" else true_div(total, values)
        return [total.reshape(x.shape, ndim=x.type.ndim) if self.axis is None else total]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction accumulated."""
        (x,), (dx,) = inputs, eval_points
        if dx is None:
            return [None]
        if self.mode == "add":
            return [self(dx)]
        return [self(x) * CumOp(self.axis)(dx / x)]


def CumsumOp(axis: int | None = None) -> CumOp:
    """Return ``CumOp(axis, mode="add")``, under its older name.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumsumOp(axis=0)(T.constant([2, 3, 4])).eval()
    array([2, 5, 9])
    """
    return CumOp(axis, mode="add")


def CumprodOp(axis: int | None = None) -> CumOp:
    """Return ``CumOp(axis, mode="mul")``, under its older name.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumprodOp(axis=0)(T.constant([2, 3, 4])).eval()
    array([ 2,  6, 24])
    """
    return CumOp(axis, mode="mul")


def cumsum(x: Any, axis: int | None = None) -> Any:
    """Return the sums of the elements up to each place, along an axis (of the flat tensor for None).

    Examples
    --------
    >>> import theano.tensor as T
    >>> cumsum(T.constant([[1, 2], [3, 4]]), axis=0).eval()
    array([[1, 2],
           [4, 6]])
    """
    return CumOp(axis=axis, mode="add")(x)


def cumprod(x: Any, axis: int | None = None) -> Any:
    """Return the products of the elements up to each place, along an axis (of the flat tensor for None).

    Examples
    --------
    >>> import theano.tensor as T
    >>> cumprod(T.constant([[1, 2], [3, 4]]), axis=1).eval()
    array([[ 1,  2],
           [ 3, 12]])
    """
    return CumOp(axis=axis, mode="mul")(x)


def diff(x: Any, n: int = 1, axis: int = -1) -> Any:
    """Return the differences of neighbours along an axis, ``n`` times over.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.diff(T.constant([1, 4, 9, 16])).eval()
    array([3, 5, 7])
    """
    x = as_tensor_variable(x)
    if n < 0:
        raise ValueError(f"diff: n is {n}; differences are taken 0 times or more")
    before = (slice(None),) * axis_of(x, axis, "diff")
    for _ in range(n):
        x = getitem(x, (*before, slice(1, None))) - getitem(x, (*before, slice(None, -1)))
    return x


class RepeatOp(Op):
    """Each element repeated along an axis.

    Parameters
    ----------
    axis : int or None
        None: of the flat tensor.

    Examples
    --------
    >>> import theano.tensor as T
    >>> RepeatOp(axis=0)(T.constant([5, 6]), [2, 1]).eval()
    array([5, 5, 6])
    """

    __props__ = ("axis",)

    def __init__(self, axis: int | None = None):
        self.axis = axis

    def make_node(self, x: Any, repeats: Any) -> Apply:
        """Return the node for a tensor and how often each element."""
        x, repeats = as_tensor_variable(x), as_tensor_variable(repeats)
        if repeats.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"repeats must be whole numbers, not {repeats} of dtype {repeats.type.dtype}")
        if repeats.type.ndim > 1:
            raise ValueError(f"repeats must be a number or a vector, but {repeats} has {repeats.type.ndim} dimensions")
        if self.axis is None:
            pattern = [False]
        else:
            pattern = list(x.type.broadcastable)
            axis_of(x, self.axis, "repeat")
            pattern[self.axis] = pattern[self.axis] and static_int(repeats) == 1
        return Apply(self, [x, repeats], [TensorType(x.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Repeat with NumPy."""
        x, repeats = inputs
        try:
            output_storage[0][0] = np.repeat(x, repeats, axis=self.axis)
        except ValueError as exc:
            raise shape_error(
                node, inputs, str(exc), "Give one number, or as many as there are elements along the axis, 0 or more."
            ) from None

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the shape of the tensor, longer along the axis."""
        repeats: Any = cast(node.inputs[1], "int64")
        lengths = list(shapes[0])
        if self.axis is None:
            if repeats.type.ndim:
                return [(repeats.sum() if not repeats.type.broadcastable[0] else self._all(lengths) * repeats.sum(),)]
            return [(self._all(lengths) * repeats,)]
        if repeats.type.ndim == 0 or repeats.type.broadcastable[0]:
            lengths[self.axis] = lengths[self.axis] * (repeats.sum() if repeats.type.ndim else repeats)
        else:
            lengths[self.axis] = repeats.sum()
        return [tuple(lengths)]

    @staticmethod
    def _all(lengths: Sequence[Any]) -> Any:
        total: Any = constant(np.int64(1))
        for n in lengths:
            total = total * n
        return total

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only the elements have an influence in the sense of derivatives."""
        return [[True], [False]]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return for each element the sum over its copies."""
        (x, repeats), (g,) = inputs, output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype)), DisconnectedType()()]
        flat = x.flatten() if self.axis is None else x
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        # The running sum, read at the end of each element's copies, less that of the element before.
        ends = cumsum(cast(repeats + cast(arange(flat.shape[axis]) * 0, repeats.type.dtype), "int64"))
        before = (slice(None),) * axis
        running = cumsum(g, axis=axis)
        start = zeros([1 if i == axis else g.shape[i] for i in range(g.type.ndim)], dtype=g.type.dtype)
        padded = join(axis, start, running)
        sums = getitem(padded, (*before, ends)) - getitem(padded, (*before, ends - repeats))
        sums = sums.reshape(x.shape, ndim=x.type.ndim) if self.axis is None else sums
        return [sums, DisconnectedType()()]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction repeated."""
        return [None if eval_points[0] is None else self(eval_points[0], inputs[1])]


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Return each element of ``x`` repeated along an axis (of the flat tensor for None).

    Parameters
    ----------
    x : tensor
    repeats : whole number, or vector of one for each place along the axis
    axis : int, optional

    Examples
    --------
    >>> import theano.tensor as T
    >>> repeat(T.dmatrix("m"), 2, axis=0).ndim
    2
    """
    x, repeats = as_tensor_variable(x), as_tensor_variable(repeats)
    if repeats.type.ndim > 1:
        raise ValueError(f"The dimension of repeats should not exceed 1, but {repeats} has {repeats.type.ndim}")
    if repeats.type.ndim == 1 and repeats.type.broadcastable[0]:
        repeats = repeats[0]
    if repeats.type.ndim == 1:
        return RepeatOp(axis=axis)(x, repeats)
    if repeats.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"repeats must be whole numbers, not {repeats} of dtype {repeats.type.dtype}")
    flat, place = (x.flatten(), 0) if axis is None else (x, axis_of(x, axis, "repeat"))
    if static_int(repeats) == 1:
        return flat
    # A new axis after the one repeated, stretched and joined with it.
    wide = flat.dimshuffle(*range(place + 1), "x", *range(place + 1, flat.type.ndim))
    lengths = [flat.shape[i] for i in range(flat.type.ndim)]
    full = wide + zeros([*lengths[: place + 1], repeats, *lengths[place + 1 :]], dtype=flat.type.dtype)
    lengths[place] = lengths[place] * cast(repeats, "int64")
    return full.reshape(lengths, ndim=flat.type.ndim)


class SearchsortedOp(Op):
    """The places where values would go into a sorted vector.

    Parameters
    ----------
    side : "left" or "right"
        Before or after elements that are equal.

    Examples
    --------
    >>> import theano.tensor as T
    >>> SearchsortedOp(side="right")(T.constant([1, 2, 4]), T.constant([2, 3])).eval()
    array([2, 2])
    """

    __props__ = ("side",)

    def __init__(self, side: Literal["left", "right"] = "left"):
        if side not in ("left", "right"):
            raise ValueError(f"'side' must be 'left' or 'right', not {side!r}")
        self.side = side

    def make_node(self, x: Any, v: Any, sorter: Any = None) -> Apply:
        """Return the node for a vector, values, and (if the vector is not sorted itself) the order that sorts it."""
        x, v = as_tensor_variable(x, ndim=1), as_tensor_variable(v)
        inputs = [x, v]
        if sorter is not None:
            sorter = as_tensor_variable(sorter, ndim=1)
            if sorter.type.dtype not in scal.integer_dtypes:
                raise TypeError(f"sorter must be an integer vector, not {sorter} of type {sorter.type}")
            inputs.append(sorter)
        return Apply(self, inputs, [v.type.clone(dtype="int64").make_variable()])

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Search with NumPy."""
        x, v = inputs[:2]
        found = np.searchsorted(x, v, side=self.side, sorter=inputs[2] if len(inputs) == 3 else None)
        output_storage[0][0] = np.asarray(found, dtype="int64")

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the shape of the values."""
        return [shapes[1]]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return zeros: places jump."""
        zeros_ = [x.zeros_like(dtype=gradient_dtype(x.type.dtype)) for x in inputs[:2]]
        return [*zeros_, *(DisconnectedType()() for _ in inputs[2:])]


def searchsorted(x: Any, v: Any, side: Literal["left", "right"] = "left", sorter: Any = None) -> Any:
    """Return the places where ``v`` would go into the sorted vector ``x`` to keep it sorted.

    Parameters
    ----------
    x : vector
    v : tensor
    side : "left" or "right"
    sorter : integer vector, optional
        The order that sorts ``x``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> searchsorted(T.constant([1, 2, 4]), T.constant([0, 2, 9])).eval()
    array([0, 1, 3])
    """
    return SearchsortedOp(side=side)(x, v) if sorter is None else SearchsortedOp(side=side)(x, v, sorter)


def compress(condition: Any, x: Any, axis: int | None = None) -> Any:
    """Return the slices of ``x`` along an axis (of the flat tensor for None) for which ``condition`` is true.

    Examples
    --------
    >>> import theano.tensor as T
    >>> compress([True, False, True], T.constant([[1, 2], [3, 4], [5, 6]]), axis=0).eval()
    array([[1, 2],
           [5, 6]])
    """
    places = flatnonzero(condition)
    x = as_tensor_variable(x)
    if axis is None:
        return getitem(x.flatten(), places)
    return getitem(x, (slice(None),) * axis_of(x, axis, "compress") + (places,))


def to_one_hot(y: Any, nb_class: Any, dtype: str | None = None) -> Any:
    """Return a matrix with a row for each class in ``y``: 1 in its column, 0 elsewhere.

    Parameters
    ----------
    y : vector of whole numbers
        From 0 to ``nb_class - 1``.
    nb_class : int
        The number of columns.
    dtype : str, optional
        Of the result; floatX by default.

    Raises
    ------
    IndexError
        While running: a class is too large.
    AssertionError
        While running: a class is negative. It would count from the end, and put the 1 into a wrong column.

    Examples
    --------
    >>> to_one_hot(np.array([0, 2]), 3).eval().astype("int8")
    array([[1, 0, 0],
           [0, 0, 1]], dtype=int8)
    """
    y = as_tensor_variable(y)
    if y.type.ndim != 1 or y.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"to_one_hot needs a vector of whole numbers, not {y} of type {y.type}")
    if y.type.dtype in scal.int_dtypes:
        y = Assert("to_one_hot: a class is negative; classes are counted from 0")(y, all_of(ge(y, 0)))
    rows = zeros((y.shape[0], nb_class), dtype=dtype)
    return set_subtensor(getitem(rows, (arange(y.shape[0]), y)), constant(np.array(1, dtype=rows.type.dtype)))


def fill_diagonal(a: Any, val: Any) -> Any:
    """Return a tensor with its diagonal, where all indexes are equal, set to a number.

    Parameters
    ----------
    a : tensor of 2 dimensions or more
        Of more than 2, all must be equally long.
    val : number
        Of the dtype of ``a``, or of one that fits in it.

    Raises
    ------
    TypeError
        ``a`` has less than 2 dimensions, or ``val`` is no number, or one that does not fit in the dtype of ``a``.
    AssertionError
        When the function is called: the lengths of more than 2 dimensions differ.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], fill_diagonal(x, 9))([[1, 2, 3], [4, 5, 6]])
    array([[9., 2., 3.],
           [4., 9., 6.]])
    """
    a = as_tensor_variable(a)
    if a.type.ndim < 2:
        raise TypeError(f"fill_diagonal needs 2 dimensions or more, but {a} has {a.type.ndim}")
    count = a.shape[0]
    if a.type.ndim == 2:
        count = minimum(count, a.shape[1])
    else:
        equal = [eq(count, a.shape[i]) for i in range(1, a.type.ndim)]
        count = Assert("fill_diagonal: a tensor of more than 2 dimensions must have equal lengths")(count, *equal)
    places = arange(count)
    return set_subtensor(getitem(a, (places,) * a.type.ndim), _on_diagonal("fill_diagonal", a, val))


def _on_diagonal(what: str, a: Any, val: Any) -> Any:
    val = as_tensor_variable(val)
    if val.type.ndim:
        raise TypeError(f"{what} puts one number on the diagonal, but {val} has {val.type.ndim} dimensions")
    if scal.upcast(a.type.dtype, val.type.dtype) != a.type.dtype:
        raise TypeError(f"{what}: values of dtype {val.type.dtype} do not fit in {a} of dtype {a.type.dtype}")
    return cast(val, a.type.dtype)


def fill_diagonal_offset(a: Any, val: Any, offset: Any) -> Any:
    """Return a matrix with one of its diagonals set to a number.

    Parameters
    ----------
    a : matrix
    val : number
        Of the dtype of ``a``, or of one that fits in it.
    offset : whole number
        How many places to the right of the main diagonal; negative: below it.

    Raises
    ------
    TypeError
        ``a`` is no matrix, ``offset`` no whole number, or ``val`` does not fit in the dtype of ``a``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], fill_diagonal_offset(x, 9, 1))([[1, 2, 3], [4, 5, 6]])
    array([[1., 9., 3.],
           [4., 5., 9.]])
    """
    a, offset = as_tensor_variable(a), as_tensor_variable(offset)
    if a.type.ndim != 2:
        raise TypeError(f"fill_diagonal_offset needs a matrix, but {a} has {a.type.ndim} dimensions")
    if offset.type.ndim or offset.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"fill_diagonal_offset: the offset is one whole number, not {offset} of type {offset.type}")
    rows = arange(a.shape[0]).dimshuffle(0, "x")
    columns = arange(a.shape[1]).dimshuffle("x", 0)
    value = _on_diagonal("fill_diagonal_offset", a, val)
    return switch(eq(columns - rows, cast(offset, "int64")), value, a)


def bartlett(M: Any) -> Any:
    """Return a window of ``M`` numbers that rises in a straight line from 0 to 1 and falls back.

    Examples
    --------
    >>> bartlett(5).eval()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    size = cast(as_tensor_variable(M), "int64")
    if size.type.ndim:
        raise TypeError(f"bartlett takes one whole number, but {M} has {size.type.ndim} dimensions")
    places = cast(arange(size), str(config.floatX))
    last = cast(maximum(size - 1, 1), str(config.floatX))
    half = true_div(last, constant(np.array(2, dtype=str(config.floatX))))
    rising = true_div(places, half)
    window = switch(places <= half, rising, 2 - rising)
    return switch(neq(size, 1), window, window.ones_like())


#: What is defined on top of these functions.
__getattr__, __dir__ = lazily(
    globals(),
    {
        **{name: f"theano.tensor.expressions.ops:{name}" for name in (
            "Bartlett", "BroadcastTo", "DiffOp", "FillDiagonal", "FillDiagonalOffset", "bartlett_", "broadcast_to",
            "fill_diagonal_", "fill_diagonal_offset_",
        )},
        **{name: f"theano.tensor.index.ravel:{name}" for name in (
            "RavelMultiIndex", "UnravelIndex", "ravel_multi_index", "unravel_index",
        )},
        **{name: f"theano.tensor.sort.sets:{name}" for name in ("Bincount", "Unique", "bincount", "unique")},
        "CpuContiguous": "theano.tensor.shape.contiguous:CpuContiguous",
        "cpu_contiguous": "theano.tensor.shape.contiguous:cpu_contiguous",
        "squeeze": "theano.tensor.shape.reshape:squeeze",
    },
)  # fmt: skip
