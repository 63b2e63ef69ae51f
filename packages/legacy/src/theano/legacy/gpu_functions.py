"""Functions and ops whose results are on a device, under the names and with the parameters that programs know.

Each gives the expression of the tensor layer's op, with its operands seen from the host; transfers that meet fall away
when a function is compiled. What computes it then is that op, under its name on devices (`theano.gpuarray.placement`).
It is an instance of the class here: programs that look for a `GpuMagmaEigh` in a graph find it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from theano.gpuarray.placement import named_classes
from theano.gpuarray.variables import GpuArrayType, as_gpuarray_variable, host_from_gpu, infer_context_name
from theano.tensor.convert import as_tensor_variable
from theano.tensor.fft.op import irfft, rfft
from theano.tensor.linalg.equations import MatrixInverse, Solve
from theano.tensor.linalg.factor import SVD, Cholesky, Eigh, Eigvalsh, QRFull, QRIncomplete
from theano.tensor.nnet.ctc import ctc


def _there(function: Callable[..., Any], *inputs: Any) -> Any:
    """Return the results of a function of variables on the device of the first input that is on one."""
    name = infer_context_name(*inputs)
    found = function(*map(_seen_from_host, inputs))
    if isinstance(found, Sequence):
        return [as_gpuarray_variable(v, name) for v in found]
    return as_gpuarray_variable(found, name)


def _seen_from_host(v: Any) -> Any:
    return host_from_gpu(v) if isinstance(getattr(v, "type", None), GpuArrayType) else as_tensor_variable(v)


class _Kinds(type):
    """Classes whose instances are the ops on devices that they stand for, beside those that programs make."""

    kinds: Sequence[type]

    def __instancecheck__(cls, op: Any) -> bool:
        if super().__instancecheck__(op):
            return True
        return isinstance(op, tuple(named_classes()[kind] for kind in cls.kinds)) and cls.stands_for(op)

    def stands_for(cls, op: Any) -> bool:
        """Return whether an op of one of the kinds is such a one."""
        return True


class _NamedOp(metaclass=_Kinds):
    """What is called with variables, and gives the expression on the device.

    Attributes
    ----------
    kinds : sequence of class
        Those of the tensor layer that it stands for.
    """

    kinds: ClassVar[Sequence[type]] = ()
    expression: Callable[..., Any]

    def __call__(self, *inputs: Any) -> Any:
        return _there(self.expression, *inputs)


class GpuCholesky(_NamedOp):
    """The triangular factor of a symmetric positive definite matrix.

    Parameters
    ----------
    lower : bool
    inplace : bool
        Accepted for old programs.

    Examples
    --------
    >>> GpuCholesky(lower=False).expression
    Cholesky{lower=False, destructive=False, on_error=raise}
    """

    kinds = (Cholesky,)

    def __init__(self, lower: bool = True, inplace: bool = False):
        self.expression = Cholesky(lower)


class _KindsOfTriangles(_Kinds):
    """The class of triangular equations, which are equations with that structure."""

    def stands_for(cls, op: Any) -> bool:
        """Return whether the matrix of equations is a triangle."""
        return bool(op.triangle)


class GpuCusolverSolve(_NamedOp):
    """The solution of linear equations; see `gpu_solve`.

    Parameters
    ----------
    A_structure : str
        As of `theano.tensor.slinalg.Solve`.
    trans : "N", "T" or "C"
    inplace : bool
        Accepted for old programs.

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuCusolverSolve("symmetric").expression(T.dmatrix("A"), T.dvector("b")).owner.op.A_structure
    'symmetric'
    """

    kinds = (Solve,)

    def __init__(self, A_structure: str = "general", trans: str = "N", inplace: bool = False):
        self.expression = _solution(A_structure, trans)


class GpuCublasTriangularSolve(_NamedOp, metaclass=_KindsOfTriangles):
    """The solution of linear equations of a triangle.

    Parameters
    ----------
    lower : bool
    trans : "N", "T" or "C"

    Examples
    --------
    >>> import theano.tensor as T
    >>> GpuCublasTriangularSolve(trans="T").expression(T.dmatrix("A"), T.dvector("b")).owner.op.A_structure
    'upper_triangular'
    """

    kinds = (Solve,)

    def __init__(self, lower: bool = True, trans: str = "N"):
        self.expression = _solution("lower_triangular" if lower else "upper_triangular", trans)


_TURNED = {"lower_triangular": "upper_triangular", "upper_triangular": "lower_triangular"}


def _solution(structure: str, trans: str) -> Callable[..., Any]:
    """Return the function of A and b that solves ``A x = b`` ("N") or ``A' x = b`` ("T" and "C": numbers are real)."""
    if trans not in ("N", "T", "C"):
        raise ValueError(f"trans must be 'N', 'T' or 'C', not {trans!r}")
    if trans == "N":
        return Solve(structure)
    turned = Solve(_TURNED.get(structure, structure), lower=structure == "symmetric")
    return lambda A, b: turned(A.T, b)


class GpuMagmaBase(_NamedOp):
    """What the ops have in common that older programs know by the name of a library, which nothing needs.

    Examples
    --------
    >>> issubclass(GpuMagmaSVD, GpuMagmaBase)
    True
    """


class GpuMagmaSVD(GpuMagmaBase):
    """The singular value decomposition.

    Parameters
    ----------
    full_matrices : bool
    compute_uv : bool

    Examples
    --------
    >>> GpuMagmaSVD(False).expression
    SVD{full_matrices=False, compute_uv=True}
    """

    kinds = (SVD,)

    def __init__(self, full_matrices: bool = True, compute_uv: bool = True):
        self.expression = SVD(full_matrices, compute_uv)


class GpuMagmaMatrixInverse(GpuMagmaBase):
    """The inverse of a matrix.

    Parameters
    ----------
    inplace : bool
        Accepted for old programs.

    Examples
    --------
    >>> GpuMagmaMatrixInverse().expression
    MatrixInverse
    """

    kinds = (MatrixInverse,)

    def __init__(self, inplace: bool = False):
        self.expression = MatrixInverse()


class GpuMagmaCholesky(GpuMagmaBase):
    """The same as `GpuCholesky`.

    Examples
    --------
    >>> GpuMagmaCholesky().expression == GpuCholesky().expression
    True
    """

    kinds = (Cholesky,)

    def __init__(self, lower: bool = True, inplace: bool = False):
        self.expression = Cholesky(lower)


class GpuMagmaQR(GpuMagmaBase):
    """The factors Q and R of a matrix, of as many columns and rows as the shorter length.

    Parameters
    ----------
    complete : bool
        Return both, not R alone.

    Examples
    --------
    >>> GpuMagmaQR().expression, GpuMagmaQR(complete=False).expression
    (QRFull{mode=reduced}, QRIncomplete{mode=r})
    """

    kinds = (QRFull, QRIncomplete)

    def __init__(self, complete: bool = True):
        self.expression = QRFull("reduced") if complete else QRIncomplete("r")


class GpuMagmaEigh(GpuMagmaBase):
    """The eigenvalues of a symmetric matrix, and its eigenvectors.

    Parameters
    ----------
    UPLO : "L" or "U"
        The triangle that is read.
    compute_v : bool
        Return eigenvectors, too.

    Examples
    --------
    >>> GpuMagmaEigh("U").expression
    Eigh{UPLO=U}
    """

    kinds = (Eigh, Eigvalsh)

    def __init__(self, UPLO: str = "L", compute_v: bool = True):
        values = Eigvalsh(UPLO == "L")
        both = Eigh(UPLO)  # it also holds UPLO to be one of the two
        self.expression = both if compute_v else lambda a: values(a, None)


def gpu_solve(A: Any, b: Any, A_structure: str = "general", trans: str = "N") -> Any:
    """Return the solution of ``A x = b`` on the device.

    Parameters
    ----------
    A : matrix
    b : vector or matrix
    A_structure : str
        As of `theano.tensor.slinalg.Solve`.
    trans : "N", "T" or "C"
        "T" and "C": of the transposed matrix.

    Raises
    ------
    ValueError
        ``A_structure`` or ``trans`` is none of these.
    numpy.linalg.LinAlgError
        While running: A is singular.

    Examples
    --------
    >>> gpu_solve([[2.0]], [4.0], trans="H")
    Traceback (most recent call last):
     ...
    ValueError: trans must be 'N', 'T' or 'C', not 'H'
    """
    return GpuCusolverSolve(A_structure, trans)(A, b)


def gpu_solve_lower_triangular(A: Any, b: Any, trans: str = "N") -> Any:
    """Return the solution of ``A x = b`` for a lower triangle on the device; see `gpu_solve`.

    Examples
    --------
    >>> gpu_solve_lower_triangular([[2.0]], [4.0], trans="H")
    Traceback (most recent call last):
     ...
    ValueError: trans must be 'N', 'T' or 'C', not 'H'
    """
    return GpuCublasTriangularSolve(True, trans)(A, b)


def gpu_solve_upper_triangular(A: Any, b: Any, trans: str = "N") -> Any:
    """Return the solution of ``A x = b`` for an upper triangle on the device; see `gpu_solve`.

    Examples
    --------
    >>> gpu_solve_upper_triangular([[2.0]], [4.0], trans="H")
    Traceback (most recent call last):
     ...
    ValueError: trans must be 'N', 'T' or 'C', not 'H'
    """
    return GpuCublasTriangularSolve(False, trans)(A, b)


def gpu_cholesky(A: Any, lower: bool = True) -> Any:
    """Return the Cholesky factor of a matrix on the device.

    Examples
    --------
    >>> A = GpuArrayType("float32", (False, False))("A")
    >>> gpu_cholesky(A).type
    GpuArrayType<None>(float32, matrix)
    """
    return GpuCholesky(lower)(A)


def gpu_svd(a: Any, full_matrices: bool | int = 1, compute_uv: bool | int = 1) -> Any:
    """Return U, the singular values and V' of a matrix on the device, or the values alone.

    Examples
    --------
    >>> a = GpuArrayType("float32", (False, False))("a")
    >>> [v.type.ndim for v in gpu_svd(a)], gpu_svd(a, compute_uv=0).type.ndim
    ([2, 1, 2], 1)
    """
    return GpuMagmaSVD(bool(full_matrices), bool(compute_uv))(a)


def gpu_matrix_inverse(a: Any) -> Any:
    """Return the inverse of a matrix on the device.

    Examples
    --------
    >>> gpu_matrix_inverse(GpuArrayType("float64", (False, False))("a")).type
    GpuArrayType<None>(float64, matrix)
    """
    return GpuMagmaMatrixInverse()(a)


def gpu_qr(a: Any, complete: bool = True) -> Any:
    """Return the factors Q and R of a matrix on the device, or R alone.

    Examples
    --------
    >>> a = GpuArrayType("float64", (False, False))("a")
    >>> len(gpu_qr(a)), gpu_qr(a, complete=False).type.ndim
    (2, 2)
    """
    return GpuMagmaQR(complete)(a)


def curfft(inp: Any, norm: str | None = None) -> Any:
    """Return the Fourier transform of a batch of real signals on the device; see `theano.tensor.fft.rfft`.

    Examples
    --------
    >>> curfft(GpuArrayType("float32", (False, False))("x")).type
    GpuArrayType<None>(float32, 3D)
    """
    return _there(lambda x: rfft(x, norm), inp)


def cuirfft(inp: Any, norm: str | None = None, is_odd: bool = False) -> Any:
    """Return the batch of real signals with these spectra on the device; see `theano.tensor.fft.irfft`.

    Examples
    --------
    >>> cuirfft(GpuArrayType("float32", (False, False, False))("z")).type
    GpuArrayType<None>(float32, matrix)
    """
    return _there(lambda x: irfft(x, norm, is_odd), inp)


def gpu_ctc(activations: Any, labels: Any, input_lengths: Any) -> Any:
    """Return minus the logarithm of the probability of labels on the device; see `theano.tensor.nnet.ctc.ctc`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> gpu_ctc(GpuArrayType("float32", (False,) * 3)("x"), T.imatrix("y"), T.ivector("n")).type
    GpuArrayType<None>(float32, vector)
    """
    return _there(ctc, activations, labels, input_lengths)
