"""Factors, eigenvalues and singular values of matrices and of stacks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from theano.tensor.composed.stacks import each
from theano.tensor.linalg import factor
from theano.tensor.linalg.factor import Cholesky

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors in columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors, singular values, and right singular vectors in rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class QRResult(NamedTuple):
    """An orthogonal matrix and an upper triangle."""

    Q: Tensor
    R: Tensor


def cholesky(a: TensorLike, /, *, upper: bool = False) -> Tensor:
    """Return the triangular factor of positive definite matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        Symmetric or Hermitian.
    upper : bool
        Return the upper factor in place of the lower one.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``.

    See Also
    --------
    linalg.solve, linalg.eigh, numpy.linalg.cholesky

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.cholesky(T.constant([[4.0, 2.0], [2.0, 5.0]])).eval()
    array([[2., 0.],
           [1., 2.]])
    """
    return each(Cholesky(lower=not upper), "cholesky", "(n,n)->(n,n)", a)


def eigh(a: TensorLike, UPLO: str = "L") -> EighResult:
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.
    UPLO : str, optional
        "L" or "U": which triangle is read.

    Returns
    -------
    tuple of TensorVariable
        Eigenvalues of shape (..., n) in ascending order and eigenvectors, the columns of (..., n, n).

    See Also
    --------
    linalg.eig, linalg.eigvalsh, numpy.linalg.eigh

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eigh(T.constant([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.eval()
    array([1., 2.])
    """
    return EighResult(*each(lambda v: factor.eigh(v, UPLO), "eigh", "(n,n)->(n),(n,n)", a))


def eigvalsh(a: TensorLike, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.
    UPLO : str, optional
        "L" or "U": which triangle is read.

    Returns
    -------
    TensorVariable
        Of shape (..., n), in ascending order.

    See Also
    --------
    linalg.eigh, linalg.eigvals, numpy.linalg.eigvalsh

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eigvalsh(T.constant([[2.0, 0.0], [0.0, 1.0]])).eval()
    array([1., 2.])
    """
    return eigh(a, UPLO).eigenvalues


def eig(a: TensorLike) -> EigResult:
    """Return eigenvalues and eigenvectors of matrices.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.

    Returns
    -------
    tuple of TensorVariable
        Eigenvalues of shape (..., n) and eigenvectors, the columns of (..., n, n).

    Raises
    ------
    ValueError
        When it runs: eigenvalues of a real matrix are complex, for the dtype does not depend on values.

    See Also
    --------
    linalg.eigh, linalg.eigvals, numpy.linalg.eig

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eig(T.constant([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.eval()
    array([2., 1.])
    """
    return EigResult(*each(factor.eig, "eig", "(n,n)->(n),(n,n)", a))


def eigvals(a: TensorLike) -> Tensor:
    """Return the eigenvalues of matrices; see :func:`eig`.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        Of shape (..., n).

    See Also
    --------
    linalg.eig, linalg.eigvalsh, numpy.linalg.eigvals

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.eigvals(T.constant([[2.0, 0.0], [0.0, 1.0]])).eval()
    array([2., 1.])
    """
    return eig(a).eigenvalues


def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> SVDResult | Tensor:
    """Return the singular value decomposition of matrices.

    Parameters
    ----------
    a : tensor, shape (..., m, n)
        One matrix or a stack of them.
    full_matrices : bool, optional
        Whether U and V' are square.
    compute_uv : bool, optional
        Whether U and V' are computed at all.

    Returns
    -------
    tuple of TensorVariable, or TensorVariable
        U, the singular values in descending order, and V'; without ``compute_uv`` the singular values.

    See Also
    --------
    linalg.svdvals, linalg.eigh, numpy.linalg.svd

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.svd(T.constant([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False).eval()
    array([4., 3.])
    """
    if not compute_uv:
        return svdvals(a)
    signature = "(m,n)->(m,m),(k),(n,n)" if full_matrices else "(m,n)->(m,k),(k),(k,n)"
    return SVDResult(*each(lambda v: factor.svd(v, full_matrices), "svd", signature, a))


def svdvals(x: TensorLike) -> Tensor:
    """Return the singular values of matrices.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.

    Returns
    -------
    TensorVariable
        In descending order along the last axis.

    See Also
    --------
    linalg.svd, numpy.linalg.svdvals

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.svdvals(T.constant([[3.0, 0.0], [0.0, 4.0]])).eval()
    array([4., 3.])
    """
    return each(lambda v: factor.svd(v, compute_uv=False), "svdvals", "(m,n)->(k)", x)


def qr(a: TensorLike, mode: str = "reduced") -> QRResult | Tensor:
    """Return matrices as products of orthogonal ones and upper triangles.

    Parameters
    ----------
    a : tensor, shape (..., m, n)
        One matrix or a stack of them.
    mode : "reduced", "complete" or "r"
        Q of shape (..., m, k), of (..., m, m), or none.

    Returns
    -------
    tuple of TensorVariable, or TensorVariable
        Q and R; of mode "r" R alone.

    See Also
    --------
    linalg.svd, numpy.linalg.qr

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.qr(T.constant([[2.0, 0.0], [0.0, 1.0]]), "r").eval().shape
    (2, 2)
    """
    if mode == "r":
        return each(lambda v: factor.qr(v, "r"), "qr", "(m,n)->(k,n)", a)
    signature = "(m,n)->(m,k),(k,n)" if mode == "reduced" else "(m,n)->(m,m),(m,n)"
    return QRResult(*each(lambda v: factor.qr(v, mode), "qr", signature, a))
