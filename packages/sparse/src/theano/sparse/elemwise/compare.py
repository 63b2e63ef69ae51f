"""Comparisons of sparse matrices with each other and with dense operands; truth is 1 of uint8."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from theano.graph import Apply, Op
from theano.graph.documentation import SharedSections
from theano.sparse.convert import as_sparse_or_tensor_variable, is_sparse
from theano.sparse.elemwise.arithmetic import _TwoSparse, as_matrix, refuse_shapes
from theano.sparse.parts.elements import Cells
from theano.sparse.parts.op import compressed, length
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse
    from theano.tensor.annotations import Shape, Shapes

Comparison = Callable[[Any, Any], Any]


#: What is false of two numbers where one of these is true, but for numbers that are not, of which both are false.
_OPPOSITES = {operator.eq: operator.ne, operator.le: operator.gt, operator.ge: operator.lt}


def _unordered(x: Any) -> Any:
    """Return where a matrix stores what is not a number."""
    found = x.astype(bool)
    found.data = np.isnan(x.data)
    return found


def _stored(x: Any) -> tuple[Any, Any]:
    """Return the places that a matrix stores, each once, as numbers of elements row by row, and the values there."""
    whole = x.tocoo()
    whole.sum_duplicates()
    places = whole.row.astype(np.int64) * x.shape[1] + whole.col
    order = np.argsort(places, kind="stable")
    return places[order], whole.data[order]


class _Comparison(SharedSections, Op):
    compare: Any

    linear_in = ()

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return zeros: the result jumps."""
        return [v.zeros_like() for v in inputs]


class _SparseSparse(_Comparison, _TwoSparse):
    """Base of comparisons of two sparse matrices, whose result is a sparse one of the format of the first.

    Parameters
    ----------
    x, y : sparse variable
        Of one shape, each of csr or csc format.

    Returns
    -------
    SparseVariable
        1 where that holds, of uint8 and the format of ``x``.
    """

    def dtype_of(self, x: Sparse, y: Sparse) -> str:
        """Return uint8."""
        return "uint8"

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Compare with SciPy; what is true of two zeros is the rest of where the opposite is."""
        refuse_shapes(node, inputs)
        x, y = inputs
        compare = type(self).compare
        if not compare(0, 0):
            found = compare(x, y)
        else:
            found = sp.csr_matrix(~(_OPPOSITES[compare](x, y) + _unordered(x) + _unordered(y)).toarray())
        output_storage[0][0] = found.astype("uint8").asformat(x.format)


class _SparseDense(_Comparison):
    """Base of comparisons of a sparse with a dense operand, whose result is dense.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : matrix, vector or scalar
        Broadcasts to the shape of ``x``.

    Returns
    -------
    TensorVariable
        A matrix: 1 where that holds, else 0, of uint8.
    """

    __props__ = ()

    def make_node(self, x: Sparse, y: Any) -> Apply:
        x, y = compressed(x, self, "input 0"), as_matrix(y)
        return Apply(self, [x, y], [TensorType("uint8", (False, False)).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Compare with NumPy: zeros first, then what is stored."""
        refuse_shapes(node, inputs)
        x, y = inputs
        places, numbers = _stored(x)
        compare, wide = type(self).compare, np.broadcast_to(y, x.shape)
        found = compare(x.dtype.type(0), wide).astype("uint8")
        at = np.unravel_index(places, x.shape) if len(places) else ([], [])
        found[at] = compare(numbers, wide[at])
        output_storage[0][0] = found

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the shape of the sparse matrix."""
        return [(length(node.inputs[0], 0), length(node.inputs[0], 1))]


class EqualSS(_SparseSparse):
    """Where two sparse matrices are equal.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> equal_s_s(sp.csr_matrix([[0.0, 2.0]]), sp.csr_matrix([[1.0, 2.0]])).eval().toarray()
    array([[0, 1]], dtype=uint8)
    """

    compare = operator.eq


class EqualSD(_SparseDense):
    """Where a sparse matrix equals a dense operand.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> equal_s_d(sp.csr_matrix([[0.0, 2.0]]), [[1.0, 2.0]]).eval()
    array([[0, 1]], dtype=uint8)
    """

    compare = operator.eq


class NotEqualSS(_SparseSparse):
    """Where two sparse matrices differ.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> not_equal_s_s(sp.csr_matrix([[0.0, 2.0]]), sp.csr_matrix([[1.0, 2.0]])).eval().toarray()
    array([[1, 0]], dtype=uint8)
    """

    compare = operator.ne


class NotEqualSD(_SparseDense):
    """Where a sparse matrix differs from a dense operand.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> not_equal_s_d(sp.csr_matrix([[0.0, 2.0]]), [[1.0, 2.0]]).eval()
    array([[1, 0]], dtype=uint8)
    """

    compare = operator.ne


class LessThanSS(_SparseSparse):
    """Where one sparse matrix is less than another.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> less_than_s_s(sp.csr_matrix([[0.0, 2.0]]), sp.csr_matrix([[1.0, 2.0]])).eval().toarray()
    array([[1, 0]], dtype=uint8)
    """

    compare = operator.lt


class LessThanSD(_SparseDense):
    """Where a sparse matrix is less than a dense operand.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> less_than_s_d(sp.csr_matrix([[0.0, 2.0]]), [[1.0, 2.0]]).eval()
    array([[1, 0]], dtype=uint8)
    """

    compare = operator.lt


class GreaterThanSS(_SparseSparse):
    """Where one sparse matrix is greater than another.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> greater_than_s_s(sp.csr_matrix([[0.0, 2.0]]), sp.csr_matrix([[1.0, 2.0]])).eval().toarray()
    array([[0, 0]], dtype=uint8)
    """

    compare = operator.gt


class GreaterThanSD(_SparseDense):
    """Where a sparse matrix is greater than a dense operand.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> greater_than_s_d(sp.csr_matrix([[0.0, 2.0]]), [[1.0, 2.0]]).eval()
    array([[0, 0]], dtype=uint8)
    """

    compare = operator.gt


class LessEqualSS(_SparseSparse):
    """Where one sparse matrix is not greater than another.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> less_equal_s_s(sp.csr_matrix([[0.0, 2.0]]), sp.csr_matrix([[1.0, 2.0]])).eval().toarray()
    array([[1, 1]], dtype=uint8)
    """

    compare = operator.le


class LessEqualSD(_SparseDense):
    """Where a sparse matrix is not greater than a dense operand.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> less_equal_s_d(sp.csr_matrix([[0.0, 2.0]]), [[1.0, 2.0]]).eval()
    array([[1, 1]], dtype=uint8)
    """

    compare = operator.le


class GreaterEqualSS(_SparseSparse):
    """Where one sparse matrix is not less than another.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> greater_equal_s_s(sp.csr_matrix([[0.0, 2.0]]), sp.csr_matrix([[1.0, 2.0]])).eval().toarray()
    array([[0, 1]], dtype=uint8)
    """

    compare = operator.ge


class GreaterEqualSD(_SparseDense):
    """Where a sparse matrix is not less than a dense operand.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> greater_equal_s_d(sp.csr_matrix([[0.0, 2.0]]), [[1.0, 2.0]]).eval()
    array([[0, 1]], dtype=uint8)
    """

    compare = operator.ge


equal_s_s, equal_s_d = EqualSS(), EqualSD()
not_equal_s_s, not_equal_s_d = NotEqualSS(), NotEqualSD()
less_than_s_s, less_than_s_d = LessThanSS(), LessThanSD()
greater_than_s_s, greater_than_s_d = GreaterThanSS(), GreaterThanSD()
less_equal_s_s, less_equal_s_d = LessEqualSS(), LessEqualSD()
greater_equal_s_s, greater_equal_s_d = GreaterEqualSS(), GreaterEqualSD()


def _switch(name: str, says: str, both: Op, first: Op, second: Op) -> Comparison:
    """Return a comparison that chooses the op by which operands are sparse."""

    def compare(x: Variable, y: Variable | float) -> Variable:
        x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
        if is_sparse(x):
            return both(x, y) if is_sparse(y) else first(x, y)
        if is_sparse(y):
            return second(y, x)
        raise TypeError(f"sparse.{name}: one of the operands must be sparse, but they are {x.type} and {y.type}")

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"""Return where ``x {says} y``, as 0 and 1 of uint8.

    Parameters
    ----------
    x, y : sparse variable, or tensor of at most two dimensions
        At least one is sparse; they broadcast as tensors do.

    Returns
    -------
    SparseVariable or TensorVariable
        Sparse if both are.

    See Also
    --------
    eq, neq, lt, gt, le, ge

    Examples
    --------
    >>> import theano.sparse as S
    >>> {name}(S.csr_dmatrix("x"), 1.0).type
    TensorType(uint8, matrix)
    """
    return compare


eq = _switch("eq", "==", equal_s_s, equal_s_d, equal_s_d)
neq = _switch("neq", "!=", not_equal_s_s, not_equal_s_d, not_equal_s_d)
lt = _switch("lt", "<", less_than_s_s, less_than_s_d, greater_than_s_d)
gt = _switch("gt", ">", greater_than_s_s, greater_than_s_d, less_than_s_d)
le = _switch("le", "<=", less_equal_s_s, less_equal_s_d, greater_equal_s_d)
ge = _switch("ge", ">=", greater_equal_s_s, greater_equal_s_d, less_equal_s_d)

__all__ = [
    "EqualSD", "EqualSS", "GreaterEqualSD", "GreaterEqualSS", "GreaterThanSD", "GreaterThanSS", "LessEqualSD",
    "LessEqualSS", "LessThanSD", "LessThanSS", "NotEqualSD", "NotEqualSS", "eq", "equal_s_d", "equal_s_s", "ge",
    "greater_equal_s_d", "greater_equal_s_s", "greater_than_s_d", "greater_than_s_s", "gt", "le", "less_equal_s_d",
    "less_equal_s_s", "less_than_s_d", "less_than_s_s", "lt", "neq", "not_equal_s_d", "not_equal_s_s",
]  # fmt: skip
