"""Sparse matrices by value."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theano.sparse.annotations import SparseMatrix


def hash_from_sparse(data: SparseMatrix) -> str:
    """Return a digest of a sparse matrix: of its arrays, their dtypes and the shape.

    Parameters
    ----------
    data : sparse matrix of SciPy
        What is digested.

    Returns
    -------
    str
        The digest.

    See Also
    --------
    constant

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> a, b = sp.eye(2, format="csr"), sp.eye(2, format="csc")
    >>> hash_from_sparse(a) == hash_from_sparse(a.copy()), hash_from_sparse(a) == hash_from_sparse(2 * a)
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=32)
    for array in (data.data, data.indices, data.indptr):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(f"{data.shape}{data.format}".encode())
    return digest.hexdigest()
