"""From Python values to sparse variables, and new variables by format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import scipy.sparse as sp

from theano.graph import Apply, Variable
from theano.settings import config
from theano.sparse.compressed import CLASSES
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable, is_tensor

#: What annotations call a variable of a `SparseType`.
if TYPE_CHECKING:
    from theano.sparse.var import SparseOperators as Sparse
    from theano.tensor.annotations import TensorLike
else:
    Sparse = Variable


def is_sparse(x: object) -> TypeGuard[Sparse]:
    """Return whether ``x`` is a variable of a sparse type.

    Parameters
    ----------
    x : Variable
        Any variable.

    Returns
    -------
    bool
        Whether its type is a SparseType.

    See Also
    --------
    as_sparse_variable

    Examples
    --------
    >>> import theano.sparse as S
    >>> S.is_sparse(S.csr_dmatrix("x"))
    True
    """
    return isinstance(x, Variable) and isinstance(x.type, SparseType)


def constant(x: Any, name: str | None = None) -> Any:
    """Return a constant sparse matrix.

    Parameters
    ----------
    x : sparse matrix or array of SciPy
        It is copied. Formats other than csr, csc and bsr become csr.
    name : str, optional
        What graphs and messages call it.

    Returns
    -------
    SparseConstant
        The constant.

    Raises
    ------
    TypeError
        ``x`` is no sparse matrix.

    See Also
    --------
    as_sparse_variable, theano.shared

    Examples
    --------
    >>> constant(sp.eye(3, format="csc")).type
    Sparse[float64, csc]
    """
    if not sp.issparse(x):
        raise TypeError(f"sparse.constant takes a matrix of scipy.sparse, not a {type(x).__name__}: {x!r}")
    kind = SparseType(x.format if x.format in CLASSES else "csr", x.dtype.name)
    return kind.make_constant(kind.filter(x).copy(), name=name)


def as_sparse_variable(x: Any, name: str | None = None) -> Any:
    """Return ``x`` as a sparse variable.

    Parameters
    ----------
    x : sparse variable, Apply with one output, or sparse matrix
        What becomes a sparse variable. One that is sparse already is returned as it is.
    name : str, optional
        Name for a variable that is made here.

    Returns
    -------
    SparseVariable
        ``x`` itself, or a constant of it.

    Raises
    ------
    TypeError
        ``x`` is neither: a dense variable becomes sparse by `csr_from_dense` or `csc_from_dense`.

    See Also
    --------
    constant, csr_from_dense, csc_from_dense

    Examples
    --------
    >>> as_sparse_variable(sp.eye(2, format="csr"))
    SparseConstant{csr,float64,shape=(2, 2),nnz=2}
    """
    if isinstance(x, Apply):
        if len(x.outputs) != 1:
            raise ValueError(f"{x.op} has {len(x.outputs)} outputs: choose one of node.outputs instead of the node")
        x = x.outputs[0]
    if is_sparse(x):
        return x
    if isinstance(x, Variable):
        raise TypeError(
            f"{x} of type {x.type} is no sparse variable; csr_from_dense and csc_from_dense make one of a dense matrix"
        )
    try:
        return constant(x, name=name)
    except TypeError as problem:
        raise TypeError(f"cannot make a sparse variable of {x!r} of type {type(x).__name__}") from problem


as_sparse = as_sparse_variable


def as_sparse_or_tensor_variable(x: TensorLike, name: str | None = None) -> Variable:
    """Return ``x`` as a sparse variable if it is sparse, else as a tensor variable.

    Parameters
    ----------
    x : variable, sparse matrix or array_like
        What becomes a variable.
    name : str, optional
        What graphs and messages call it.

    Returns
    -------
    SparseVariable or TensorVariable
        Sparse if ``x`` is.

    See Also
    --------
    as_sparse_variable, theano.tensor.as_tensor_variable

    Examples
    --------
    >>> as_sparse_or_tensor_variable(2.0), as_sparse_or_tensor_variable(sp.eye(2, format="csr")).type
    (TensorConstant{2.0}, Sparse[float64, csr])
    """
    if sp.issparse(x) or is_sparse(x):
        return as_sparse_variable(x, name)
    return x if is_tensor(x) else as_tensor_variable(x, name)


# -- new variables ---------------------------------------------------------------------------------------------


def matrix(format: str, name: str | None = None, dtype: str | None = None) -> Sparse:
    """Return a new sparse variable.

    Parameters
    ----------
    format : "csr", "csc" or "bsr"
        How the matrix is stored.
    name : str, optional
        What graphs and messages call it.
    dtype : str, optional
        ``theano.config.floatX`` where it is not given.

    Returns
    -------
    SparseVariable
        An input for :func:`theano.function`.

    See Also
    --------
    csr_matrix, csc_matrix, bsr_matrix

    Examples
    --------
    >>> matrix("csr", "x", "float32").type
    Sparse[float32, csr]
    """
    made: Any = SparseType(format, config.floatX if dtype is None else dtype)(name)
    return made


def csc_matrix(name: str | None = None, dtype: str | None = None) -> Sparse:
    """Return a new variable of compressed sparse columns; see `matrix`.

    Parameters
    ----------
    name : str, optional
        What graphs and messages call it.
    dtype : str, optional
        Of the stored numbers; floatX by default.

    Returns
    -------
    SparseVariable
        An input for :func:`theano.function`.

    See Also
    --------
    matrix, csr_matrix

    Examples
    --------
    >>> import theano.sparse as S
    >>> S.csc_matrix("x", dtype="float64").type
    Sparse[float64, csc]
    """
    return matrix("csc", name, dtype)


def csr_matrix(name: str | None = None, dtype: str | None = None) -> Sparse:
    """Return a new variable of compressed sparse rows; see `matrix`.

    Parameters
    ----------
    name : str, optional
        What graphs and messages call it.
    dtype : str, optional
        Of the stored numbers; floatX by default.

    Returns
    -------
    SparseVariable
        An input for :func:`theano.function`.

    See Also
    --------
    matrix, csc_matrix

    Examples
    --------
    >>> import theano.sparse as S
    >>> S.csr_matrix("x", dtype="float64").type
    Sparse[float64, csr]
    """
    return matrix("csr", name, dtype)


def bsr_matrix(name: str | None = None, dtype: str | None = None) -> Sparse:
    """Return a new variable of rows of blocks; see `matrix`.

    Parameters
    ----------
    name : str, optional
        What graphs and messages call it.
    dtype : str, optional
        Of the stored numbers; floatX by default.

    Returns
    -------
    SparseVariable
        An input for :func:`theano.function`.

    See Also
    --------
    matrix, csr_matrix

    Examples
    --------
    >>> import theano.sparse as S
    >>> S.bsr_matrix("x", dtype="float64").type
    Sparse[float64, bsr]
    """
    return matrix("bsr", name, dtype)


csc_dmatrix, csc_fmatrix = SparseType("csc", "float64"), SparseType("csc", "float32")
csr_dmatrix, csr_fmatrix = SparseType("csr", "float64"), SparseType("csr", "float32")
bsr_dmatrix, bsr_fmatrix = SparseType("bsr", "float64"), SparseType("bsr", "float32")

all_dtypes = SparseType.dtype_set
float_dtypes = sorted(d for d in all_dtypes if d.startswith("float"))
complex_dtypes = sorted(d for d in all_dtypes if d.startswith("complex"))
int_dtypes = sorted(d for d in all_dtypes if d.startswith("int"))
uint_dtypes = sorted(d for d in all_dtypes if d.startswith("uint"))
integer_dtypes = int_dtypes + uint_dtypes
discrete_dtypes = int_dtypes + uint_dtypes
continuous_dtypes = complex_dtypes + float_dtypes
sparse_formats = ["csc", "csr"]

__all__ = [
    "all_dtypes", "as_sparse", "as_sparse_or_tensor_variable", "as_sparse_variable", "bsr_dmatrix", "bsr_fmatrix",
    "bsr_matrix", "complex_dtypes", "constant", "continuous_dtypes", "csc_dmatrix", "csc_fmatrix", "csc_matrix",
    "csr_dmatrix", "csr_fmatrix", "csr_matrix", "discrete_dtypes", "float_dtypes", "int_dtypes", "integer_dtypes",
    "is_sparse", "matrix", "sparse_formats", "uint_dtypes",
]  # fmt: skip
