"""Shared variables that hold sparse matrices."""

from __future__ import annotations

import copy
from typing import Any

import scipy.sparse as sp

from theano.compile.shared import SharedVariable
from theano.sparse.compressed import CLASSES
from theano.sparse.type import SparseType
from theano.sparse.var import SparseOperators


class SparseTensorSharedVariable(SparseOperators, SharedVariable):
    """A shared variable whose value is a sparse matrix.

    Examples
    --------
    >>> import theano
    >>> w = theano.shared(sp.eye(2, format="csr"), name="w")
    >>> type(w).__name__, w.type
    ('SparseTensorSharedVariable', Sparse[float64, csr])
    """


def sparse_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    format: str | None = None,
) -> SparseTensorSharedVariable:
    """Return a shared variable for a sparse matrix.

    Parameters
    ----------
    value : sparse matrix or array of SciPy
    name : str, optional
    strict, allow_downcast : bool
        How later values are taken; see `SparseType`.
    borrow : bool
        Keep the matrix itself rather than a copy.
    format : str, optional
        In place of the matrix's own, or of csr where that is none of csr, csc and bsr.

    Raises
    ------
    TypeError
        ``value`` is no sparse matrix.
    """
    if not sp.issparse(value):
        raise TypeError(f"sparse_constructor takes a matrix of scipy.sparse, not a {type(value).__name__}")
    format = format or (value.format if value.format in CLASSES else "csr")
    kept = value if borrow else copy.deepcopy(value)
    return SparseTensorSharedVariable(
        type=SparseType(format, value.dtype.name), value=kept, name=name, strict=strict, allow_downcast=allow_downcast
    )
