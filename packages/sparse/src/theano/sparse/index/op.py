"""What ``x[...]`` means on a sparse matrix: slices, lists of rows, lists of places, one element; with gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Op, Variable
from theano.sparse.convert import is_sparse
from theano.sparse.parts.elements import Cells
from theano.sparse.parts.op import compressed, length
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import eq, switch
from theano.tensor.index.lengths import slice_length
from theano.tensor.type import TensorType
from theano.tensor.type_other import NoneConst, NoneTypeT

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.sparse.annotations import Sparse, SparseLike, SparseMatrix
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor

_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def _index_list(index: TensorLike, op: object) -> Tensor:
    index = as_tensor_variable(index)
    if index.type.ndim != 1 or index.type.dtype not in _INTEGERS:
        raise TypeError(f"{op}: the places must be a vector of integers, but {index} is of type {index.type}")
    return index


def _within(op: object, index: np.ndarray, n: int) -> np.ndarray:
    """Return places counted from 0, of which negative ones count from the end."""
    places = np.where(index < 0, index.astype("int64") + n, index)
    if len(places) and (places.min() < 0 or places.max() >= n):
        raise IndexError(f"{op}: {index} leads out of an axis of length {n}")
    return places


def _as_sparse_gradient(g: SparseMatrix, format: str) -> SparseMatrix:
    """Return a gradient, perhaps dense, as a matrix of a format."""
    from_dense = sp.csr_matrix(g) if isinstance(g, np.ndarray) else g
    return from_dense.asformat(format)


class GetItemList(Op):
    """Rows of a sparse matrix, named by a list.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    index : vector of int
        The rows, which may be named several times.

    Returns
    -------
    SparseVariable
        With a row for each of ``index``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> get_item_list(sp.csr_matrix([[1.0, 0.0], [0.0, 2.0]]), [1, 1]).eval().toarray()
    array([[0., 2.],
           [0., 2.]])
    """

    __props__ = ()
    linear_in = (0,)

    def make_node(self, x: SparseLike, index: TensorLike) -> Apply:
        x = compressed(x, self, "input 0")
        return Apply(self, [x, _index_list(index, self)], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Read with SciPy."""
        x, index = inputs
        output_storage[0][0] = x[_within(self, index, x.shape[0])]

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the length of the list."""
        return [(shapes[1][0], length(node.inputs[0], 1))]

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers are those of the matrix."""
        return [[True], [False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the rows of the gradient where they came from."""
        return [get_item_list_grad(*inputs, output_grads[0]), DisconnectedType()()]


class GetItemListGrad(Op):
    """Rows at places of a matrix that is as long as another one, and 0 elsewhere; what meets is added.

    Inputs: the other matrix, the places, the rows.

    Parameters
    ----------
    x : sparse variable
        The other matrix.
    index : vector of int
        The places.
    gz : sparse variable
        The row for each place.

    Returns
    -------
    SparseVariable
        Of the shape and format of ``x``.

    Examples
    --------
    >>> import theano.sparse as S, scipy.sparse as sp
    >>> rows = S.constant(sp.csr_matrix([[1.0, 2.0]] * 2))
    >>> S.get_item_list_grad(sp.csr_matrix((2, 2)), [1, 1], rows).eval().toarray()
    array([[0., 0.],
           [2., 4.]])
    """

    __props__ = ()
    linear_in = (2,)
    shapes = "A->A"

    def make_node(self, x: Sparse, index: TensorLike, gz: Sparse) -> Apply:
        x, gz = compressed(x, self, "input 0"), gz if not is_sparse(gz) else compressed(gz, self, "input 2")
        return Apply(self, [x, _index_list(index, self), gz], [SparseType(x.type.format, gz.type.dtype)()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Put them where they belong."""
        x, index, g = inputs
        rows = _as_sparse_gradient(g, "coo")
        places = _within(self, index, x.shape[0])
        made = sp.coo_matrix((rows.data, (places[rows.row], rows.col)), shape=x.shape)
        output_storage[0][0] = made.asformat(x.format)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers are those of the rows."""
        return [[False], [False], [True]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the rows of the gradient."""
        return [DisconnectedType()(), DisconnectedType()(), output_grads[0][inputs[1]]]


class GetItem2Lists(Op):
    """Elements of a sparse matrix at places named by two lists, a dense vector.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    ind1, ind2 : vector of int
        Row and column of each element, of one length.

    Returns
    -------
    TensorVariable
        A vector of the dtype of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> get_item_2lists(sp.csr_matrix([[1.0, 0.0], [0.0, 2.0]]), [1, 0], [1, 1]).eval()
    array([2., 0.])
    """

    __props__ = ()
    linear_in = (0,)
    shapes = ",A->A"

    def make_node(self, x: SparseLike, ind1: TensorLike, ind2: TensorLike) -> Apply:
        x = compressed(x, self, "input 0")
        rows, columns = _index_list(ind1, self), _index_list(ind2, self)
        return Apply(self, [x, rows, columns], [TensorType(x.type.dtype, (False,)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Read with SciPy."""
        x, rows, columns = inputs
        if len(rows) != len(columns):
            raise ValueError(f"{self}: {len(rows)} rows are named, but {len(columns)} columns")
        rows, columns = _within(self, rows, x.shape[0]), _within(self, columns, x.shape[1])
        found = x[rows, columns] if len(rows) else np.zeros(0)
        output_storage[0][0] = np.asarray(found, dtype=x.dtype).reshape(-1)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers are those of the matrix."""
        return [[True], [False], [False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient where the elements came from."""
        return [get_item_2lists_grad(*inputs, output_grads[0]), DisconnectedType()(), DisconnectedType()()]


class GetItem2ListsGrad(Op):
    """Numbers at places of a matrix that is as long as another one; what meets is added.

    Inputs: the other matrix, the rows and columns of the places, the numbers.

    Parameters
    ----------
    x : sparse variable
        The other matrix.
    ind1, ind2 : vector of int
        Rows and columns of the places.
    gz : vector
        The number for each place.

    Returns
    -------
    SparseVariable
        Of the shape and format of ``x``.

    Examples
    --------
    >>> import theano.sparse as S, scipy.sparse as sp
    >>> S.get_item_2lists_grad(sp.csr_matrix((2, 2)), [0, 0], [1, 1], [3.0, 4.0]).eval().toarray()
    array([[0., 7.],
           [0., 0.]])
    """

    __props__ = ()
    linear_in = (3,)
    shapes = "A->A"

    def make_node(self, x: Sparse, ind1: TensorLike, ind2: TensorLike, gz: TensorLike) -> Apply:
        x, gz = compressed(x, self, "input 0"), as_tensor_variable(gz)
        inputs = [x, _index_list(ind1, self), _index_list(ind2, self), gz]
        return Apply(self, inputs, [SparseType(x.type.format, gz.type.dtype)()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Put them where they belong."""
        x, rows, columns, g = inputs
        rows, columns = _within(self, rows, x.shape[0]), _within(self, columns, x.shape[1])
        output_storage[0][0] = sp.coo_matrix((g, (rows, columns)), shape=x.shape).asformat(x.format)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers are those given."""
        return [[False], [False], [False], [True]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the elements of the gradient at the places."""
        return [*(DisconnectedType()() for _ in range(3)), output_grads[0][inputs[1], inputs[2]]]


_SLICE = ("start", "stop", "step")


def _bounds(part: slice, op: object) -> list[Variable]:
    """Return start, stop and step of a slice as variables."""
    found: list[Variable] = []
    for name in _SLICE:
        bound = getattr(part, name) if isinstance(part, slice) else None
        if bound is None:
            found.append(NoneConst)
            continue
        bound = as_tensor_variable(bound)
        if bound.type.ndim != 0 or bound.type.dtype not in _INTEGERS:
            raise TypeError(f"{op}: the {name} of a slice must be an integer, but {bound} is of type {bound.type}")
        found.append(bound)
    return found


def _slices(values: Sequence[Any]) -> tuple[slice, slice]:
    numbers = [None if v is None else int(v) for v in values]
    return slice(*numbers[:3]), slice(*numbers[3:])


class GetItem2d(Op):
    """A part of a sparse matrix that two slices cut out; a whole number is a slice of one.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    index : tuple of slice, int or int scalar
        For rows, and for columns; a missing one takes all.

    Returns
    -------
    SparseVariable
        Of the format and dtype of ``x``.

    Examples
    --------
    >>> import theano.sparse as S
    >>> get_item_2d(S.csr_dmatrix("x"), (slice(0, 2), slice(None))).type
    Sparse[float64, csr]
    """

    __props__ = ()

    def make_node(self, x: Sparse, index: Sequence[TensorLike | slice]) -> Apply:
        x = compressed(x, self, "input 0")
        index = index if isinstance(index, (tuple, list)) else (index,)
        if len(index) > 2:
            raise TypeError(f"{self}: a matrix has two axes, but {len(index)} are indexed")
        whole = (slice(None),) * (2 - len(index))
        bounds = [b for part in (*index, *whole) for b in _bounds(_as_slice(part, self), self)]
        return Apply(self, [x, *bounds], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Cut with SciPy."""
        x, *bounds = inputs
        rows, columns = _slices(bounds)
        output_storage[0][0] = x[rows, columns].asformat(x.format)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return what the slices take from the lines of both kinds."""
        bounds = [None if isinstance(v.type, NoneTypeT) else v for v in node.inputs[1:]]
        parts = slice(*bounds[:3]), slice(*bounds[3:])
        return [tuple(slice_length(part, length(node.inputs[0], axis)) for axis, part in enumerate(parts))]

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers are those of the matrix."""
        return [[True], *([False] for _ in range(6))]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient where the part came from."""
        return [GetItem2dGrad()(*inputs, output_grads[0]), *(DisconnectedType()() for _ in range(6))]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the same part of the direction."""
        return [
            None
            if eval_points[0] is None
            else Apply(self, [eval_points[0], *inputs[1:]], [eval_points[0].type()]).outputs[0]
        ]


class GetItem2dGrad(Op):
    """A part put back into a matrix that is as long as another one, and 0 elsewhere.

    Inputs: the other matrix, starts, stops and steps for rows and columns, the part.
    """

    __props__ = ()
    linear_in = (-1,)
    shapes = "A->A"

    def make_node(self, x: Sparse, *inputs: Any) -> Apply:
        return Apply(self, [x, *inputs], [SparseType(x.type.format, inputs[-1].type.dtype)()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Put it where it belongs."""
        x, *bounds, g = inputs
        part = _as_sparse_gradient(g, "coo")
        rows, columns = (np.arange(n)[s] for n, s in zip(x.shape, _slices(bounds), strict=True))
        made = sp.coo_matrix((part.data, (rows[part.row], columns[part.col])), shape=x.shape)
        output_storage[0][0] = made.asformat(x.format)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers are those of the part."""
        return [[i == len(node.inputs) - 1] for i in range(len(node.inputs))]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the part of the gradient."""
        g = output_grads[0]
        part = Apply(get_item_2d, [g, *inputs[1:-1]], [g.type()]).outputs[0]
        return [*(DisconnectedType()() for _ in inputs[1:]), part]


def _as_slice(part: TensorLike, op: object) -> slice:
    """Return an index as a slice; a number cuts out one line."""
    if isinstance(part, slice):
        return part
    number = as_tensor_variable(part)
    if number.type.ndim != 0 or number.type.dtype not in _INTEGERS:
        raise TypeError(f"{op}: an index is a slice or an integer, but {part} is of type {number.type}")
    if isinstance(number, Constant):
        return slice(number, None if int(number.data) == -1 else number + 1)
    return slice(number, switch(eq(number, -1), np.int64(_LAST), number + 1))


_LAST = 2**62
"""A place behind all lines."""


class GetItemScalar(Op):
    """One element of a sparse matrix, a dense tensor without dimensions.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    index : tuple of int or int scalar
        Row and column.

    Returns
    -------
    TensorVariable
        A scalar of the dtype of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> get_item_scalar(sp.csr_matrix([[1.0, 2.0]]), (0, 1)).eval()
    array(2.)
    """

    __props__ = ()
    shapes = "->"

    def make_node(self, x: SparseLike, index: Sequence[TensorLike]) -> Apply:
        x = compressed(x, self, "input 0")
        if len(index) != 2:
            raise TypeError(f"{self}: an element has two places, not {len(index)}")
        places = [as_tensor_variable(i) for i in index]
        for place in places:
            if place.type.ndim != 0 or place.type.dtype not in _INTEGERS:
                raise TypeError(f"{self}: a place is an integer, but {place} is of type {place.type}")
        return Apply(self, [x, *places], [TensorType(x.type.dtype, ()).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Read with SciPy."""
        x, row, column = inputs
        output_storage[0][0] = np.asarray(x[int(row), int(column)], dtype=x.dtype)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the number is one of the matrix."""
        return [[True], [False], [False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient where the element came from."""
        x, row, column = inputs
        lists = [v.dimshuffle("x") for v in (row, column, output_grads[0])]
        return [get_item_2lists_grad(x, *lists), DisconnectedType()(), DisconnectedType()()]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the same of the direction."""
        return [None if eval_points[0] is None else self(eval_points[0], inputs[1:])]


get_item_list, get_item_list_grad = GetItemList(), GetItemListGrad()
get_item_2lists, get_item_2lists_grad = GetItem2Lists(), GetItem2ListsGrad()
get_item_2d, get_item_scalar = GetItem2d(), GetItemScalar()


def _is_list(part: Any) -> bool:
    return (
        isinstance(part, (list, np.ndarray))
        and np.ndim(part) == 1
        or (isinstance(part, Variable) and getattr(part.type, "ndim", 0) == 1 and part.type.dtype in _INTEGERS)
    )


def getitem(x: Sparse, args: Any) -> Variable:
    """Return what ``x[args]`` is.

    Parameters
    ----------
    x : sparse variable
        What has the elements.
    args : index, or pair of them
        Two integers give an element, two lists the elements at these places, one list rows; else each axis has a
        slice, or an integer that cuts out one line, and the result is a sparse matrix.

    Returns
    -------
    variable
        An element, a vector, or a sparse matrix.

    See Also
    --------
    get_item_2d, get_item_list

    Examples
    --------
    >>> import theano.sparse as S
    >>> x = S.csr_dmatrix("x")
    >>> getitem(x, (0, 1)).type, getitem(x, slice(2)).type, getitem(x, ([0, 1], [1, 1])).type
    (TensorType(float64, scalar), Sparse[float64, csr], TensorType(float64, vector))
    """
    parts = args if isinstance(args, tuple) else (args,)
    if len(parts) == 1 and _is_list(parts[0]):
        return get_item_list(x, parts[0])
    if len(parts) == 2:
        if all(map(_is_list, parts)):
            return get_item_2lists(x, *parts)
        if _is_list(parts[0]) and parts[1] == slice(None):
            return get_item_list(x, parts[0])
        if not any(isinstance(p, slice) or _is_list(p) for p in parts):
            return get_item_scalar(x, parts)
    return get_item_2d(x, parts)


__all__ = [
    "GetItem2Lists", "GetItem2ListsGrad", "GetItem2d", "GetItem2dGrad", "GetItemList", "GetItemListGrad",
    "GetItemScalar", "get_item_2d", "get_item_2lists", "get_item_2lists_grad", "get_item_list", "get_item_list_grad",
    "get_item_scalar", "getitem",
]  # fmt: skip
