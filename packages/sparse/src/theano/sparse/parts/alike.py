"""Matrices of the structure of another, with other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.sparse.parts.op import CSM, as_format, compressed, csm_data, csm_grad, csm_properties
from theano.tensor.create.alloc import ones_like, zeros_like

if TYPE_CHECKING:
    from theano.sparse.annotations import Sparse, SparseLike
    from theano.tensor.annotations import TensorLike


def with_data(x: Sparse, data: TensorLike) -> Sparse:
    """Return a matrix of the structure of ``x`` with other numbers."""
    _, indices, indptr, shape = csm_properties(x)
    return CSM(x.type.format)(data, indices, indptr, shape)


def times_each(x: Sparse, g: Sparse) -> Sparse:
    """Return ``x`` with each stored number multiplied by that of ``g`` at its place: a step of gradients.

    The product of matrices would first add what ``x`` stores at one place, and what ``g`` does.
    """
    found = csm_grad()(*csm_properties(x), *csm_properties(as_format(g, x.type.format)))
    return with_data(x, csm_data(x) * found)


def sp_ones_like(x: SparseLike) -> Sparse:
    """Return ones wherever ``x`` stores a number.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.

    Returns
    -------
    SparseVariable
        Of the structure of ``x``.

    See Also
    --------
    sp_zeros_like

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> sp_ones_like(sp.csr_matrix([[0.0, 5.0]])).eval().toarray()
    array([[0., 1.]])
    """
    x = compressed(x, "sp_ones_like")
    return with_data(x, ones_like(csm_data(x)))


def sp_zeros_like(x: SparseLike) -> Sparse:
    """Return a matrix of the shape of ``x`` in which nothing is stored.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.

    Returns
    -------
    SparseVariable
        Of the shape of ``x``.

    See Also
    --------
    sp_ones_like

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> sp_zeros_like(sp.csr_matrix([[0.0, 5.0]])).eval().nnz
    0
    """
    x = compressed(x, "sp_zeros_like")
    _, _, indptr, lengths = csm_properties(x)
    nothing = np.zeros(0, x.type.dtype)
    return CSM(x.type.format)(nothing, np.zeros(0, "int32"), zeros_like(indptr), lengths)
