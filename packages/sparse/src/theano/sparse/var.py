"""Sparse variables and constants, and what Python's operators mean on them.

Each method is one call of a function that has the documentation; this file only says which.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from theano.graph import Constant, Variable
from theano.sparse import operations
from theano.sparse.type import SparseType
from theano.sparse.utils import hash_from_sparse

if TYPE_CHECKING:
    from theano.sparse.annotations import Sparse
    from theano.tensor.type import Tensor

if TYPE_CHECKING:
    _Base = Variable[SparseType]
else:
    _Base = object


def _binary(name: str, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Variable | int) -> Variable:
        function = getattr(operations, name)
        return function(other, self) if reflected else function(self, other)

    method.__doc__ = f"Return ``theano.sparse.{name}`` of the two."
    return method


class SparseOperators(_Base):
    """Operators and methods of sparse variables.

    ``*`` multiplies element by element, ``@`` and ``dot`` are products of matrices. ``==`` and ``!=`` compare the
    variables themselves; values are compared by ``theano.sparse.eq`` and ``theano.sparse.neq``.

    Examples
    --------
    >>> import theano.sparse
    >>> x = theano.sparse.csr_matrix("x", dtype="float64")
    >>> x.T.type, (x + x).type, (x > 0).type
    (Sparse[float64, csc], Sparse[float64, csr], TensorType(uint8, matrix))
    """

    # NumPy arrays on the left leave the operation to us.
    __array_ufunc__ = None
    __array_priority__ = 1001
    __hash__ = Variable.__hash__

    # -- what the type says ------------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """Name of the element type."""
        return self.type.dtype

    @property
    def format(self) -> str:
        """``"csr"``, ``"csc"`` or ``"bsr"``."""
        return self.type.format

    @property
    def ndim(self) -> int:
        """Number of dimensions: 2."""
        return self.type.ndim

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its length is known to be 1: it is not."""
        return self.type.broadcastable

    @property
    def shape(self) -> Any:
        """The lengths of the dimensions, as a vector of int64."""
        return operations.shape(self)

    @property
    def size(self) -> Any:
        """The number of stored elements, as for SciPy's matrices."""
        return operations.csm_data(self).shape[0]

    # -- operators ---------------------------------------------------------------------------------------------

    __add__, __radd__ = _binary("add"), _binary("add", True)
    __sub__, __rsub__ = _binary("sub"), _binary("sub", True)
    __mul__, __rmul__ = _binary("mul"), _binary("mul", True)
    __truediv__ = _binary("div")
    __matmul__, __rmatmul__ = _binary("matmul"), _binary("matmul", True)
    __lt__, __le__, __gt__, __ge__ = map(_binary, ("lt", "le", "gt", "ge"))

    def __neg__(self) -> Sparse:
        return operations.neg(self)

    def __abs__(self) -> Any:
        return operations.structured_abs(self)

    def __pow__(self, exponent: Any) -> Any:
        return operations.structured_pow(self, exponent)

    def __getitem__(self, args: Any) -> Variable:
        return operations.getitem(self, args)

    def __iter__(self) -> Any:
        raise TypeError(f"{self} is a sparse variable, which cannot be iterated over: its length is not known")

    def __bool__(self) -> bool:
        raise TypeError(f"{self} is a variable: it has no truth before it has a value")

    # -- methods -----------------------------------------------------------------------------------------------

    @property
    def T(self) -> Sparse:
        """The transpose: csr becomes csc, and csc becomes csr, of the same arrays."""
        return operations.transpose(self)

    def transpose(self) -> Any:
        """Return the transpose."""
        return operations.transpose(self)

    def dot(self, other: Any) -> Any:
        """Return the product of the matrices, with a structured gradient."""
        return operations.structured_dot(self, other)

    def __rdot__(self, other: Any) -> Any:
        return operations.structured_dot(other, self)

    def toarray(self) -> Tensor:
        """Return the matrix as a dense tensor."""
        return operations.dense_from_sparse(self)

    def todense(self) -> Any:
        """Return the matrix as a dense tensor."""
        return self.toarray()

    def astype(self, dtype: str) -> Any:
        """Return the matrix with numbers of another dtype."""
        return operations.cast(self, dtype)

    def copy(self, name: str | None = None) -> Any:
        """Return a copy."""
        made = operations.structured_copy(self)
        made.name = name
        return made

    def sum(self, axis: int | None = None, sparse_grad: bool = False) -> Any:
        """Return the sum of all elements, of each column (axis 0) or of each row (axis 1)."""
        return operations.sp_sum(self, axis, sparse_grad)

    def zeros_like(self, dtype: str | None = None) -> Sparse:
        """Return a matrix of this shape in which nothing is stored."""
        zeros = operations.sp_zeros_like(self)
        return zeros if dtype is None else zeros.astype(dtype)

    def ones_like(self, dtype: str | None = None) -> Any:
        """Return ones wherever this matrix stores a number."""
        ones = operations.sp_ones_like(self)
        return ones if dtype is None else ones.astype(dtype)


class SparseVariable(SparseOperators, Variable[SparseType]):
    """A symbolic sparse matrix.

    Examples
    --------
    >>> import theano.sparse
    >>> x = theano.sparse.csc_dmatrix("x")
    >>> type(x).__name__, x.format, x.dtype
    ('SparseVariable', 'csc', 'float64')
    """

    def __str__(self) -> str:
        return self.name if self.name is not None else super().__str__()


class SparseConstantSignature(tuple[Any, ...]):
    """A constant as a hashable object: its type, and its matrix by value.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> a, b = (SparseConstantSignature(("type", sp.eye(2, format="csr"))) for _ in range(2))
    >>> a == b, hash(a) == hash(b)
    (True, True)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseConstantSignature):
            return NotImplemented
        (a, x), (b, y) = self, other
        return bool(a == b and x.dtype == y.dtype and x.shape == y.shape and hash_from_sparse(x) == hash_from_sparse(y))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        kind, value = self
        return hash((type(self), kind, value.dtype.str, value.shape, hash_from_sparse(value)))

    def theano_hash(self) -> str:
        """Return a digest of the value."""
        return hash_from_sparse(self[1])


class SparseConstant(SparseOperators, Constant[SparseType]):
    """A sparse matrix that is known while the graph is built.

    Examples
    --------
    >>> import theano.sparse, scipy.sparse as sp
    >>> theano.sparse.constant(sp.eye(2, format="csr"))
    SparseConstant{csr,float64,shape=(2, 2),nnz=2}
    """

    def signature(self) -> Hashable:
        """Return what tells constants apart."""
        return SparseConstantSignature((self.type, self.data))

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        return f"SparseConstant{{{self.format},{self.dtype},shape={self.data.shape},nnz={self.data.nnz}}}"

    def __repr__(self) -> str:
        return str(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseConstant:
        # The value cannot change, so copies of a graph share it.
        return memo.setdefault(id(self), self.clone())


SparseType.Variable = SparseVariable
SparseType.Constant = SparseConstant
