"""Factorisations: Cholesky, QR, singular values, eigenvalues.

Gradients follow Giles (2008) and Murray, "Differentiation of the Cholesky decomposition" (2016); that of QR Walter and
Lehmann, "Algorithmic differentiation of linear algebra functions" (2010). They are made of the same ops, so they can be
differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply
from theano.tensor.blas.dot import dot
from theano.tensor.closeness import values_eq_approx_up_to_phases, values_eq_approx_up_to_phases_of_rows
from theano.tensor.create.diagonals import tril, triu
from theano.tensor.elemwise.functions import eq, minimum, switch
from theano.tensor.linalg.common import (
    LinAlgError,
    MatrixOp,
    fold_triangle,
    half_diagonal,
    matrix_type,
    must_be_finite,
    raise_or_nan,
    real_dtype,
    under_type,
)
from theano.tensor.linalg.equations import Solve, solve_lower_triangular, solve_upper_triangular
from theano.tensor.messages import shape_error
from theano.tensor.shape.diagonals import AllocDiag
from theano.tensor.type import TensorApply
from theano.tensor.type_other import NoneConst, NoneTypeT

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class Cholesky(MatrixOp):
    """The triangular factor of a symmetric positive definite matrix: ``L L' = A``, or ``U' U = A``.

    Parameters
    ----------
    lower : bool
        Return L and read only the lower triangle of A; otherwise U and the upper one.
    on_error : "raise" or "nan"
        What a matrix that is not positive definite gives, among them those with infinity or NaN in the triangle that
        is read. With "nan" all elements are NaN.

    Raises
    ------
    numpy.linalg.LinAlgError
        While running, with ``on_error="raise"``: the matrix is not positive definite.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], cholesky(A))([[4, 2], [2, 5]])
    array([[2., 0.],
           [1., 2.]])
    """

    __props__ = ("lower", "destructive", "on_error")
    shapes = "A->A"

    def __init__(self, lower: bool = True, on_error: str = "raise"):
        self.lower, self.destructive, self.on_error = bool(lower), False, raise_or_nan(on_error)

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node for a matrix.

        Parameters
        ----------
        x : matrix, shape (n, n)
            Floats; whole numbers become float64.

        Returns
        -------
        TensorVariable
            The factor, of shape (n, n) and the dtype of ``x``.
        """
        x = self.matrix(x)
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Factorise with NumPy, which reads the lower triangle."""
        x = self.square(node, inputs)
        try:
            with np.errstate(invalid="ignore"):
                factor = np.linalg.cholesky(x if self.lower else x.T.conj())
            if not np.isfinite(np.diagonal(factor)).all():  # some LAPACKs go on with infinity or NaN
                raise LinAlgError("the matrix is not positive definite: it holds infs or NaNs, or its factor overflows")
        except LinAlgError:
            if self.on_error == "raise":
                raise
            factor = np.full(x.shape, np.nan, dtype=x.dtype)
        output_storage[0][0] = factor if self.lower else np.ascontiguousarray(factor.T.conj())

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return Murray's gradient, all in the triangle that is read."""
        (x,), (factor,), (g,) = inputs, outputs, output_grads
        lower, g_lower = (factor, tril(g)) if self.lower else (factor.T, triu(g).T)
        inner = half_diagonal(dot(lower.T, g_lower))
        transposed = lower.T
        symmetric = solve_upper_triangular(transposed, solve_upper_triangular(transposed, inner.T).T)
        found = fold_triangle(symmetric, True)
        return [under_type(found if self.lower else found.T, x)]


class QRFull(MatrixOp):
    """The factors Q and R of a matrix, by Householder reflections.

    Parameters
    ----------
    mode : "reduced", "complete" or "raw"
        As for :func:`numpy.linalg.qr`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> q, r = QRFull("complete")(T.constant([[3.0], [4.0]]))
    >>> abs(r.eval())
    array([[5.],
           [0.]])
    """

    __props__ = ("mode",)
    _numop: Callable[..., Any] = staticmethod(np.linalg.qr)

    def __init__(self, mode: str):
        self.mode = mode

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        second = 1 if self.mode == "raw" else 2
        types = [matrix_type(x.type.dtype), matrix_type(x.type.dtype, second)]
        return Apply(self, [x], [t.make_variable() for t in types])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Factorise with NumPy."""
        for cell, value in zip(output_storage, self._numop(inputs[0], self.mode), strict=True):
            cell[0] = value

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shapes, the shorter length between the two factors."""
        rows, columns = shapes[0]
        if self.mode == "raw":
            return [(columns, rows), (minimum(rows, columns),)]
        inner = rows if self.mode == "complete" else minimum(rows, columns)
        return [(rows, inner), (inner, columns)]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient of the reduced factors of a matrix with no more columns than rows."""
        if self.mode != "reduced":
            raise NotImplementedError(f"qr has a gradient for mode='reduced' only, not for {self.mode!r}")
        (x,), (q, r) = inputs, outputs
        g_q, g_r = (_or_zeros(g, v) for g, v in zip(output_grads, outputs, strict=True))
        m = dot(r, g_r.T) - dot(g_q.T, q)
        left = g_q + dot(q, tril(m) + tril(m, -1).T)
        return [under_type(Solve("upper_triangular")(r, left.T).T, x)]


class QRIncomplete(MatrixOp):
    """The factor R of a matrix alone.

    Parameters
    ----------
    mode : "r"

    Examples
    --------
    >>> import theano.tensor as T
    >>> abs(QRIncomplete("r")(T.constant([[3.0], [4.0]])).eval())
    array([[5.]])
    """

    __props__ = ("mode",)
    _numop: Callable[..., Any] = staticmethod(np.linalg.qr)

    def __init__(self, mode: str):
        self.mode = mode

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        return Apply(self, [x], [matrix_type(x.type.dtype).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Factorise with NumPy."""
        output_storage[0][0] = self._numop(inputs[0], self.mode)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return as many rows as can be of interest."""
        return [(minimum(*shapes[0]), shapes[0][1])]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient through both factors."""
        full = QRFull("reduced").make_node(inputs[0])
        no_gradient: Any = None
        return list(full.op.L_op(full.inputs, full.outputs, [no_gradient, output_grads[0]]))


class SVD(MatrixOp):
    """The singular value decomposition: ``U diag(s) V' = A``.

    Parameters
    ----------
    full_matrices : bool
        Return square U and V'.
    compute_uv : bool
        Return U, s and V', not s alone.

    Examples
    --------
    >>> import theano.tensor as T
    >>> u, s, v = SVD()(T.constant([[3.0, 0.0], [0.0, 4.0]]))
    >>> s.eval()
    array([4., 3.])
    """

    __props__ = ("full_matrices", "compute_uv")
    _numop: Callable[..., Any] = staticmethod(np.linalg.svd)

    def __init__(self, full_matrices: bool = True, compute_uv: bool = True):
        self.full_matrices, self.compute_uv = bool(full_matrices), bool(compute_uv)

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        s = matrix_type(real_dtype(x.type.dtype), 1)
        if not self.compute_uv:
            return Apply(self, [x], [s.make_variable()])
        u, vt = matrix_type(x.type.dtype).make_variable(), matrix_type(x.type.dtype).make_variable()
        # Pairs of singular vectors may be turned: who compares two of the answers must let them.
        u.tag.values_eq_approx = values_eq_approx_up_to_phases
        vt.tag.values_eq_approx = values_eq_approx_up_to_phases_of_rows
        return Apply(self, [x], [u, s.make_variable(), vt])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Decompose with NumPy."""
        must_be_finite("SVD", inputs[0])
        found = self._numop(inputs[0], self.full_matrices, self.compute_uv)
        for cell, value in zip(output_storage, found if self.compute_uv else [found], strict=True):
            cell[0] = value

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shapes, the shorter length between the factors."""
        rows, columns = shapes[0]
        inner = minimum(rows, columns)
        if not self.compute_uv:
            return [(inner,)]
        if self.full_matrices:
            return [(rows, rows), (inner,), (columns, columns)]
        return [(rows, inner), (inner,), (inner, columns)]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient where the singular values are all different."""
        (x,) = inputs
        if not self.compute_uv:
            u, _, vt = SVD(full_matrices=False)(x)
            return [under_type(dot(u * output_grads[0], vt), x)]
        if self.full_matrices:
            raise NotImplementedError("svd has a gradient for full_matrices=False only: the rest of U and V is free")
        u, s, vt = outputs
        g_u, g_s, g_vt = (_or_zeros(g, v) for g, v in zip(output_grads, outputs, strict=True))
        gap = _one_over_differences(s * s)
        j, k = gap * dot(u.T, g_u), gap * dot(vt, g_vt.T)
        middle = (j + j.T) * s + s.dimshuffle(0, "x") * (k + k.T) + AllocDiag()(g_s)
        outside_u = g_u - dot(u, dot(u.T, g_u))
        outside_v = g_vt - dot(dot(g_vt, vt.T), vt)
        found = dot(dot(u, middle) + outside_u / s, vt) + dot(u / s, outside_v)
        return [under_type(found, x)]


class Eig(MatrixOp):
    """The eigenvalues and right eigenvectors of a square matrix, which must be real.

    Parameters
    ----------
    x : matrix, shape (n, n)
        Of real numbers.

    Returns
    -------
    list of TensorVariable
        The eigenvalues, and a matrix whose columns are the eigenvectors.

    See Also
    --------
    nlinalg.eigh, linalg.eig, numpy.linalg.eig

    Examples
    --------
    >>> import theano.tensor as T
    >>> values, vectors = Eig()(T.constant([[2.0, 0.0], [0.0, 3.0]]))
    >>> values.eval()
    array([2., 3.])
    """

    _numop = staticmethod(np.linalg.eig)
    shapes = "ij->i,ij"

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        dtype = x.type.dtype
        return Apply(self, [x], [matrix_type(dtype, 1).make_variable(), matrix_type(dtype).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        x = self.square(node, inputs)
        must_be_finite("Eigenvalues", x)
        found = np.linalg.eig(x)
        for cell, value, v in zip(output_storage, found, node.outputs, strict=True):
            if np.iscomplexobj(value) and not v.type.dtype.startswith("complex"):
                raise LinAlgError(
                    f"{self}: the matrix has complex eigenvalues, but the type says {v.type.dtype}.\n"
                    "  Cast the matrix to complex128, or use eigh if it is symmetric."
                )
            cell[0] = value.astype(v.type.dtype, copy=False)


class Eigh(MatrixOp):
    """The eigenvalues, in ascending order, and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    UPLO : "L" or "U"
        The triangle that is read.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], eigh(A)[0])([[2, 1], [1, 2]])
    array([1., 3.])
    """

    __props__ = ("UPLO",)
    _numop: Callable[..., Any] = staticmethod(np.linalg.eigh)
    shapes = "ij->i,ij"

    def __init__(self, UPLO: str = "L"):
        if UPLO not in ("L", "U"):
            raise ValueError(f"UPLO must be 'L' or 'U', not {UPLO!r}")
        self.UPLO = UPLO

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        values = matrix_type(real_dtype(x.type.dtype), 1)
        vectors = matrix_type(x.type.dtype).make_variable()
        # An eigenvector may be turned: who compares two of the answers must let it.
        vectors.tag.values_eq_approx = values_eq_approx_up_to_phases
        return Apply(self, [x], [values.make_variable(), vectors])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        x = self.square(node, inputs)
        must_be_finite("Eigenvalues", np.tril(x) if self.UPLO == "L" else np.triu(x))
        for cell, value in zip(output_storage, self._numop(x, self.UPLO), strict=True):
            cell[0] = value

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient where the eigenvalues are all different, all in the triangle that is read."""
        (x,), (w, v) = inputs, outputs
        g_w, g_v = (_or_zeros(g, o) for g, o in zip(output_grads, outputs, strict=True))
        middle = AllocDiag()(g_w) + _one_over_differences(w) * dot(v.T, g_v)
        full = dot(dot(v, middle), v.T)
        return [under_type(fold_triangle(full, self.UPLO == "L"), x)]


class Eigvalsh(MatrixOp):
    """The eigenvalues w of ``a x = w b x`` for symmetric a and positive definite b.

    Parameters
    ----------
    lower : bool
        Which triangle of the matrices is read.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Eigvalsh()(T.constant([[2.0, 1.0], [1.0, 2.0]]), T.constant([[1.0, 0.0], [0.0, 1.0]])).eval().round(6)
    array([1., 3.])
    """

    __props__ = ("lower",)
    shapes = "ij->i"

    def __init__(self, lower: bool = True):
        self.lower = bool(lower)

    def make_node(self, a: TensorLike, b: Any) -> Apply:
        """Return the node; b may be None for the identity."""
        a = self.matrix(a, what="a")
        if b is None or b is NoneConst or (hasattr(b, "type") and b.type == NoneConst.type):
            return Apply(self, [a, NoneConst], [matrix_type(real_dtype(a.type.dtype), 1).make_variable()])
        a, b = self.same_dtype(a, self.matrix(b, what="b"))
        return Apply(self, [a, b], [matrix_type(real_dtype(a.type.dtype), 1).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute them with SciPy."""
        import scipy.linalg  # 0.2 s that only its users pay

        given = [self.square(node, inputs, k) for k, x in enumerate(inputs) if x is not None]
        if len(given) == 2 and len(given[0]) != len(given[1]):
            counts = f"{len(given[0])} rows of a against {len(given[1])} of b."
            raise shape_error(node, inputs, counts, "Both must have as many.")
        for x in given:
            must_be_finite("Eigenvalues", np.tril(x) if self.lower else np.triu(x))
        # The contents of the other triangle do not matter.
        output_storage[0][0] = scipy.linalg.eigvalsh(*given, lower=self.lower, check_finite=False)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return that None has no influence."""
        return [[True], [not isinstance(node.inputs[1].type, NoneTypeT)]]

    def L_op(self, inputs: Operands, outputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient through the eigenvectors ``v``, which ``b`` makes orthonormal."""
        (a, b), (w,), (g,) = inputs, outputs, output_grads
        uplo = "L" if self.lower else "U"
        if b.type == NoneConst.type:
            v = Eigh(uplo)(a)[1]
            return [under_type(fold_triangle(dot(v * g, v.T), self.lower), a), DisconnectedType()()]
        # With b = L L', the eigenvectors are L'^-1 times those of the symmetric matrix L^-1 a L'^-1.
        factor = Cholesky(self.lower)(b) if self.lower else Cholesky(self.lower)(b).T
        full = tril(a) + tril(a, -1).T if self.lower else triu(a) + triu(a, 1).T
        inside = solve_lower_triangular(factor, solve_lower_triangular(factor, full).T)
        v = solve_upper_triangular(factor.T, Eigh("L")(inside)[1])
        for_a, for_b = dot(v * g, v.T), -dot(v * (g * w), v.T)
        return [
            under_type(fold_triangle(for_a, self.lower), a),
            under_type(fold_triangle(for_b, self.lower), b),
        ]


def _or_zeros(g: Any, v: Tensor) -> Tensor:
    """Return a gradient, zeros for one that is not there."""
    if g is None or getattr(g.type, "ndim", None) is None:
        return v.zeros_like()
    return g


def _one_over_differences(values: Tensor) -> Tensor:
    """Return the matrix of ``1 / (v[j] - v[i])``, with zeros on its diagonal."""
    difference = values.dimshuffle("x", 0) - values.dimshuffle(0, "x")
    same = eq(difference, 0)
    return switch(same, 0, 1 / switch(same, 1, difference))


def qr(a: TensorLike, mode: str = "reduced") -> Tensor | list[Tensor]:
    """Return the factors Q and R of a matrix.

    Parameters
    ----------
    a : matrix
        Of shape (m, n).
    mode : "reduced", "complete", "r" or "raw"
        As for :func:`numpy.linalg.qr`; "r" returns R alone. The old spellings "full" (reduced) and "economic" are
        understood.

    Returns
    -------
    list of TensorVariable, or TensorVariable
        Q and R; of mode "r" a single matrix.

    See Also
    --------
    nlinalg.svd, slinalg.cholesky, numpy.linalg.qr

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> q, r = qr(A)
    >>> theano.function([A], abs(T.dot(q, r)))([[3.0], [4.0]]).round(6)
    array([[3.],
           [4.]])
    """
    mode = {"full": "reduced", "f": "reduced", "economic": "raw", "e": "raw"}.get(mode, mode)
    if mode in ("reduced", "complete", "raw"):
        return QRFull(mode)(a)
    if mode == "r":
        return QRIncomplete(mode)(a)
    raise ValueError(f"the mode of qr must be 'reduced', 'complete', 'r' or 'raw', not {mode!r}")


def svd(a: TensorLike, full_matrices: bool | int = 1, compute_uv: bool | int = 1) -> Tensor | list[Tensor]:
    """Return U, the singular values and V' of a matrix.

    Parameters
    ----------
    a : matrix, shape (m, n)
        What is taken apart.
    full_matrices : bool, optional
        Whether U and V' are square.
    compute_uv : bool, optional
        Whether U and V' are computed at all.

    Returns
    -------
    list of TensorVariable, or TensorVariable
        U, the singular values in descending order, and V'; without ``compute_uv`` the singular values.

    See Also
    --------
    nlinalg.qr, linalg.svdvals, numpy.linalg.svd

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], svd(A, compute_uv=False))([[3, 0], [0, 4]])
    array([4., 3.])
    """
    return SVD(bool(full_matrices), bool(compute_uv))(a)


def eigh(a: TensorLike, UPLO: str = "L") -> list[Tensor]:
    """Return the eigenvalues and eigenvectors of a symmetric matrix; see :class:`Eigh`.

    Parameters
    ----------
    a : matrix, shape (n, n)
        Symmetric or Hermitian.
    UPLO : str, optional
        "L" or "U": which triangle is read.

    Returns
    -------
    list of TensorVariable
        The eigenvalues in ascending order, and a matrix whose columns are the eigenvectors.

    See Also
    --------
    nlinalg.eig, linalg.eigh, numpy.linalg.eigh

    Examples
    --------
    >>> import theano.tensor as T
    >>> values, vectors = eigh(T.constant([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.eval().round(6)
    array([1., 3.])
    """
    return Eigh(UPLO)(a)


def eigvalsh(a: TensorLike, b: Any, lower: bool = True) -> Tensor:
    """Return the eigenvalues of ``a`` with respect to ``b``; see :class:`Eigvalsh`.

    Parameters
    ----------
    a : matrix, shape (n, n)
        Symmetric or Hermitian.
    b : matrix, shape (n, n)
        Positive definite; None for the identity.
    lower : bool, optional
        Which triangle is read.

    Returns
    -------
    TensorVariable
        A vector, in ascending order.

    See Also
    --------
    nlinalg.eigh, linalg.eigvalsh, scipy.linalg.eigvalsh

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> a, b = T.dmatrices("a b")
    >>> theano.function([a, b], eigvalsh(a, b))([[2, 0], [0, 8]], [[1, 0], [0, 2]])
    array([2., 4.])
    """
    return Eigvalsh(lower)(a, b)


cholesky = Cholesky()
eig = Eig()
