"""CSM and CSMProperties: a sparse matrix of its parts, and the parts of one.

Nearly all that is computed with sparse matrices comes down to these two and ops on vectors between them: rules put
`CSM` of such an op in the place of an op on matrices, and the parts of a `CSM` are what it was made of. What compiled
code sees are therefore vectors, and a chain of operations on stored numbers is a chain of element-wise ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.gradient.absent import is_disconnected
from theano.graph import Apply, Op
from theano.sparse.compressed import LONGER, assembled, examine
from theano.sparse.convert import as_sparse_variable, is_sparse
from theano.sparse.parts.elements import INDEX, Cells, elements_at, index_vector
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast
from theano.tensor.shape.basic import shape_op
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse, SparseLike
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


def compressed(x: SparseLike, op: object, place: str = "its input") -> Sparse:
    """Return ``x`` as a variable of csr or csc format.

    Raises
    ------
    TypeError
        It is none.
    """
    x = as_sparse_variable(x)
    if x.type.format not in ("csr", "csc"):
        raise TypeError(f"{op}: {place} must be of csr or csc format, but {x} is of type {x.type}")
    return x


class CSMProperties(Op):
    """The parts of a matrix of csr or csc format: data, indices, indptr and shape.

    The last three are vectors of int32. A gradient with respect to the data is one with respect to the stored numbers
    of the matrix: a matrix of the same structure.

    Parameters
    ----------
    kmap : None
        Without effect.

    Examples
    --------
    >>> import theano.sparse as S
    >>> import scipy.sparse as sp
    >>> data, indices, indptr, shape = csm_properties(S.constant(sp.csr_matrix([[0.0, 2.0]])))
    >>> data.eval(), indices.eval(), indptr.eval(), shape.eval()
    (array([2.]), array([1], dtype=int32), array([0, 1], dtype=int32), array([1, 2], dtype=int32))
    """

    __props__ = ()
    view_map = {0: [0], 1: [0], 2: [0]}
    slopes_of_whole = True

    def __init__(self, kmap: None = None):
        if kmap is not None:
            raise ValueError("a map of elements (kmap) is not supported")

    def make_node(self, csm: Sparse) -> Apply:
        """Return the node for a matrix.

        Parameters
        ----------
        csm : sparse variable
            Of csr or csc format.

        Returns
        -------
        list of TensorVariable
            Data, indices, indptr and shape: vectors, the first of the dtype of the matrix.
        """
        csm = compressed(csm, "csm_properties")
        data = TensorType(csm.type.dtype, (False,))
        return Apply(self, [csm], [data(), INDEX(), INDEX(), INDEX()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Take the arrays out of the matrix."""
        (matrix,) = inputs
        data, indices, indptr = matrix.data, matrix.indices, matrix.indptr
        if not (indices.dtype == _INT32 == indptr.dtype):
            if max(*matrix.shape, len(data)) > _MOST:
                raise ValueError(f"a matrix of shape {matrix.shape} with {len(data)} stored numbers is too large: its "
                                 f"indices do not fit into int32, which goes to {_MOST}")  # fmt: skip
            indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
        output_storage[0][0], output_storage[1][0], output_storage[2][0] = data, indices, indptr
        output_storage[3][0] = _shape_of(matrix.shape)

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape | None]:
        """Return that a shape has two entries; the rest only the matrix can tell."""
        return [None, None, None, (as_tensor_variable(np.int64(2)),)]

    def static_length(self, node: Node, index: int) -> int | None:
        """Return 2 for the shape."""
        return 2 if index == 3 else None

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that only the data depend on the numbers."""
        return [[True, False, False, False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient of the data where the data were."""
        (csm,), g = inputs, output_grads[0]
        if is_disconnected(g):
            return [DisconnectedType()()]
        _, indices, indptr, shape = csm_properties(csm)
        return [CSM(csm.type.format)(g, indices, indptr, shape)]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the numbers of the direction at the places of the matrix."""
        (csm,), (d,) = inputs, eval_points
        found = None if d is None else csm_grad()(*csm_properties(csm), *csm_properties(d))
        return [found, None, None, None]


_MOST = 2**31 - 1
_INT32 = np.dtype("int32")
_shapes: dict[Any, np.ndarray] = {}


def _shape_of(lengths: tuple[int, ...]) -> np.ndarray:
    """Return the shape of a matrix as an array: a copy of one that was made before takes a third of the time."""
    known = _shapes.get(lengths)
    if known is None:
        if len(_shapes) > 100:
            _shapes.clear()
        known = _shapes[lengths] = np.array(lengths, _INT32)
    return known.copy()


csm_properties = CSMProperties()


def csm_data(csm: Sparse) -> Tensor:
    """Return the stored numbers of a matrix.

    Parameters
    ----------
    csm : sparse variable
        Of csr or csc format.

    Returns
    -------
    TensorVariable
        A vector.

    See Also
    --------
    csm_properties, CSM

    Examples
    --------
    >>> import theano.sparse as S
    >>> csm_data(S.csr_dmatrix("x")).type
    TensorType(float64, vector)
    """
    return csm_properties(csm)[0]


def csm_indices(csm: Sparse) -> Tensor:
    """Return the place of each stored number along its row (csr) or column (csc), a vector of int32.

    Parameters
    ----------
    csm : sparse variable
        Of csr or csc format.

    Returns
    -------
    TensorVariable
        A vector of int32.

    See Also
    --------
    csm_properties, CSM

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> csm_indices(sp.csr_matrix([[0.0, 5.0], [0.0, 0.0]])).eval()
    array([1], dtype=int32)
    """
    return csm_properties(csm)[1]


def csm_indptr(csm: Sparse) -> Tensor:
    """Return at which stored number each row (csr) or column (csc) begins, and the end of the last: int32.

    Parameters
    ----------
    csm : sparse variable
        Of csr or csc format.

    Returns
    -------
    TensorVariable
        A vector of int32.

    See Also
    --------
    csm_properties, CSM

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> csm_indptr(sp.csr_matrix([[0.0, 5.0], [0.0, 0.0]])).eval()
    array([0, 1, 1], dtype=int32)
    """
    return csm_properties(csm)[2]


def csm_shape(csm: Sparse) -> Tensor:
    """Return the numbers of rows and columns, a vector of int32.

    Parameters
    ----------
    csm : sparse variable
        Of csr or csc format.

    Returns
    -------
    TensorVariable
        A vector of int32.

    See Also
    --------
    csm_properties, CSM

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> csm_shape(sp.csr_matrix([[0.0, 5.0], [0.0, 0.0]])).eval()
    array([2, 2], dtype=int32)
    """
    return csm_properties(csm)[3]


def shape(x: Sparse) -> Any:
    """Return the numbers of rows and columns of a sparse matrix, as a vector of int64.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.

    Returns
    -------
    TensorVariable
        A vector of two elements.

    See Also
    --------
    csm_shape

    Examples
    --------
    >>> import theano.sparse as S
    >>> shape(S.csr_dmatrix("x")).type
    TensorType(int64, vector)
    """
    return cast(csm_shape(x), "int64") if x.type.format in ("csr", "csc") else shape_op(x)


def length(x: Sparse, axis: int) -> Any:
    """Return the number of rows (axis 0) or columns (axis 1) of a sparse matrix."""
    return shape(x)[axis]


class CSM(Op):
    """A matrix of its parts.

    Parameters
    ----------
    format : "csr" or "csc"
        Whether the parts are those of rows or of columns.
    kmap : None
        Without effect.

    Raises
    ------
    ValueError
        When it is computed: the indices contradict each other, or lead out of the matrix.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> data, indices, indptr, shape = T.dvector(), T.ivector(), T.ivector(), T.ivector()
    >>> make = theano.function([data, indices, indptr, shape], CSR(data, indices, indptr, shape))
    >>> make([2.0], [1], [0, 1], [1, 2]).toarray()
    array([[0., 2.]])
    """

    __props__ = ("format",)
    slopes_of_whole = True
    view_map = {0: [0, 1, 2]}
    linear_in = (0,)

    def __init__(self, format: str, kmap: None = None):
        if format not in ("csr", "csc"):
            raise ValueError(f"CSM: the format must be 'csr' or 'csc', not {format!r}")
        if kmap is not None:
            raise ValueError("a map of elements (kmap) is not supported")
        self.format = format

    def make_node(self, data: TensorLike, indices: TensorLike, indptr: TensorLike, shape: TensorLike) -> Apply:
        """Return the node for the four parts.

        Parameters
        ----------
        data : vector
            The numbers that the matrix stores.
        indices : vector of int
            For each number its column, of csc format its row.
        indptr : vector of int
            Where the numbers of each row begin, of csc format those of each column, and where the last ones end.
        shape : vector of int
            The lengths of both dimensions.

        Returns
        -------
        SparseVariable
            A matrix of the dtype of ``data``.
        """
        data = as_tensor_variable(data)
        if data.type.ndim != 1:
            raise TypeError(f"CSM: data must be a vector, but {data} is of type {data.type}")
        others = [index_vector(v, name) for v, name in ((indices, "indices"), (indptr, "indptr"), (shape, "shape"))]
        return Apply(self, [data, *others], [SparseType(self.format, data.type.dtype).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Put the matrix together, after a look at the indices."""
        data, indices, indptr, shape = inputs
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"CSM: the shape of a matrix is two lengths, not {shape}")
        form = examine(self.format, data, indices, indptr, shape)
        if form & LONGER:
            data, indices = data[: indptr[-1]], indices[: indptr[-1]]
        output_storage[0][0] = assembled(self.format, data, indices, indptr, shape)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the numbers depend on the data alone."""
        return [[True], [False], [False], [False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return of the gradient, which is sparse or dense, what stands where the data are."""
        (data, indices, indptr, shape), (g,) = inputs, output_grads
        if is_sparse(g):
            g = as_format(g, self.format)
            found = csm_grad()(data, indices, indptr, shape, *csm_properties(g))
        else:
            found = elements_at(self.format)(indices, indptr, shape, g)
        return [found, *(DisconnectedType()() for _ in range(3))]

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the shape that was given."""
        return [(node.inputs[3][0], node.inputs[3][1])]


CSC, CSR = CSM("csc"), CSM("csr")


class CSMGrad(Op):
    """The numbers of one matrix at the places where another of the same format stores some; 0 where it has none.

    Inputs are the parts of the other matrix, then those of the one that is read. It is the gradient of `CSM`. Numbers
    that are stored at one place are added, unless both matrices store at the same places in the same order: then each
    number of one belongs to a number of the other.

    Examples
    --------
    >>> CSMGrad() == csm_grad(None)
    True
    """

    __props__ = ()
    linear_in = (4,)
    shapes = ",A->A"

    def __init__(self, kmap: None = None):
        if kmap is not None:
            raise ValueError("a map of elements (kmap) is not supported")

    def make_node(self, *parts: Any) -> Apply:
        if len(parts) != 8:
            raise TypeError(f"CSMGrad takes the parts of two matrices, 8 vectors, and was given {len(parts)}")
        parts = tuple(map(as_tensor_variable, parts))
        return Apply(self, list(parts), [TensorType(parts[4].type.dtype, (False,)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Look each place up."""
        _, indices, indptr, shape, g, g_indices, g_indptr, g_shape = inputs
        if not np.array_equal(shape, g_shape):
            raise ValueError(f"CSMGrad: a matrix of shape {tuple(shape)} has a gradient of shape {tuple(g_shape)}")
        if np.array_equal(indices, g_indices) and np.array_equal(indptr, g_indptr):
            output_storage[0][0] = g.copy()
            return
        width = int(max([0, *(a.max(initial=0) for a in (indices, g_indices))])) + 1
        wanted = _flat(indices, indptr, width)
        stored = _flat(g_indices, g_indptr, width)
        order = np.argsort(stored, kind="stable")
        sums = np.concatenate([[0], np.cumsum(g[: len(stored)][order])]) if _has_twins(stored[order]) else None
        first = np.searchsorted(stored[order], wanted, "left")
        last = np.searchsorted(stored[order], wanted, "right")
        found = np.zeros(len(indices), g.dtype)
        here = last > first
        if sums is None:
            found[: len(wanted)][here] = g[: len(stored)][order][first[here]]
        else:
            found[: len(wanted)] = sums[last] - sums[first]
        output_storage[0][0] = found

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that only the numbers read count."""
        return [[i == 4] for i in range(8)]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient of each number at its place, the same lookup the other way round."""
        x, g = inputs[:4], inputs[4:]
        back = csm_grad()(*g, output_grads[0], *x[1:])
        return [back if i == 4 else DisconnectedType()() for i in range(8)]


csm_grad = CSMGrad


def _flat(indices: np.ndarray, indptr: np.ndarray, width: int) -> np.ndarray:
    """Return the places of stored numbers, counted through the lines."""
    lines = np.repeat(np.arange(len(indptr) - 1, dtype="int64"), np.diff(indptr))
    return lines * width + indices[: len(lines)]


def _has_twins(ordered: np.ndarray) -> bool:
    return bool(np.any(ordered[1:] == ordered[:-1]))


class CheckedParts(Op):
    """Indices, indptr and shape of a matrix themselves, after a look at whether they make one.

    Inputs: indices, indptr, shape, and data, which must be as long as the indices. It is what remains of a `CSM` of
    foreign arrays when its parts are asked for, so that nothing behind it reads out of an array.

    Parameters
    ----------
    format : "csr" or "csc"
    """

    __props__ = ("format",)
    view_map = {0: [0], 1: [1], 2: [2], 3: [3]}

    def __init__(self, format: str):
        self.format = format

    def make_node(self, indices: TensorLike, indptr: TensorLike, shape: TensorLike, data: TensorLike) -> Apply:
        inputs = [as_tensor_variable(v) for v in (indices, indptr, shape, data)]
        return Apply(self, inputs, [v.type() for v in inputs])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Look, and return the inputs without the room behind what is stored."""
        indices, indptr, shape, data = inputs
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"the shape of a matrix is two lengths, not {shape}")
        examine(self.format, data, indices, indptr, shape)
        end = int(indptr[-1])
        for cell, value in zip(output_storage, (indices[:end], indptr, shape, data[:end]), strict=True):
            cell[0] = value

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that each output is one input."""
        return [[i == o for o in range(4)] for i in range(4)]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradients as they are."""
        return list(output_grads)

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the directions as they are."""
        return list(eval_points)


class Recompressed(Op):
    """The parts of a matrix in the other format, of which each line is in order: data, indices and indptr.

    Inputs: data, indices, indptr, shape. Twice, it sorts the indices of a matrix.

    Parameters
    ----------
    format : "csr" or "csc"
        Of the inputs.
    """

    __props__ = ("format",)

    def __init__(self, format: str):
        self.format = format

    def make_node(self, data: Any, indices: Any, indptr: Any, shape: Any) -> Apply:
        inputs = [as_tensor_variable(v) for v in (data, indices, indptr, shape)]
        return Apply(self, inputs, [TensorType(inputs[0].type.dtype, (False,))(), INDEX(), INDEX()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Convert with SciPy."""
        matrix = assembled(self.format, *inputs)
        other = matrix.tocsc() if self.format == "csr" else matrix.tocsr()
        parts = (other.data, other.indices.astype("int32", copy=False), other.indptr.astype("int32", copy=False))
        for cell, value in zip(output_storage, parts, strict=True):
            cell[0] = value

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return as many numbers, and one entry more than there are other lines."""
        lines = node.inputs[3][1 if self.format == "csr" else 0]
        return [shapes[0], shapes[1], (lines + 1,)]

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the data come of the data."""
        return [[i == 0 == o for o in range(3)] for i in range(4)]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient in the first format."""
        other = "csc" if self.format == "csr" else "csr"
        _, indices, indptr = self(*inputs)
        g = CSM(other)(output_grads[0], indices, indptr, inputs[3])
        back = as_format(g, self.format)
        found = csm_grad()(*inputs, *csm_properties(back))
        return [found, *(DisconnectedType()() for _ in range(3))]

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the direction in the other format."""
        return [None if eval_points[0] is None else self(eval_points[0], *inputs[1:])[0], None, None]


def as_format(x: Sparse, format: str) -> Sparse:
    """Return a sparse variable in a format, converted where it has another.

    Examples
    --------
    >>> import theano.sparse as S
    >>> as_format(S.csr_dmatrix("x"), "csc").type
    Sparse[float64, csc]
    """
    if x.type.format == format:
        return x
    parts = csm_properties(compressed(x, "a conversion"))
    data, indices, indptr = Recompressed(x.type.format)(*parts)
    return CSM(format)(data, indices, indptr, parts[3])


__all__ = [
    "CSC", "CSM", "CSR", "CSMGrad", "CSMProperties", "csm_data", "csm_grad", "csm_indices", "csm_indptr",
    "csm_properties", "csm_shape",
]  # fmt: skip
