"""The type of sparse matrices: a compressed format and an element type."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from theano import scalar as scal
from theano.graph import Type, Variable
from theano.graph.canonical import register_form
from theano.graph.documentation import Documentation
from theano.sparse.compressed import CLASSES, assembled, number_of_problem, well_formed
from theano.tensor.type import dtype_name, tolerance

if TYPE_CHECKING:
    from theano.graph.annotations import Value
    from theano.sparse.annotations import SparseMatrix

#: Whether sparse matrices can be used: they need SciPy, without which this layer is not installed.
imported_scipy = True


def document(kind: SparseType) -> str:
    """Return the docstring of a type of sparse matrices.

    Examples
    --------
    >>> print(document(SparseType("csr", "float32")).partition("Parameters")[0].rstrip())
    Make a variable that stands for a sparse matrix of float32 in csr format.
    """
    letter = {"float64": "d", "float32": "f"}.get(kind.dtype)
    made = f"{kind.format}_{letter}matrix" if letter else f'SparseType("{kind.format}", "{kind.dtype}")'
    return f"""Make a variable that stands for a sparse matrix of {kind.dtype} in {kind.format} format.

Parameters
----------
name : str, optional
    What graphs and messages call it, and the keyword of its value when a function is called.

Returns
-------
SparseVariable
    An input for :func:`theano.function`, which takes matrices of ``scipy.sparse`` for it.

See Also
--------
matrix, csr_from_dense, theano.shared

Examples
--------
>>> import scipy.sparse as sp
>>> import theano
>>> import theano.sparse as S
>>> x = S.{made}("x")
>>> theano.function([x], S.sp_sum(x))(sp.{kind.format}_matrix([[0.0, 2.0]], dtype="{kind.dtype}")).item()
2.0
"""


class SparseType(Type):  # noqa: D101  (below: instances have documentation of their own)
    __doc__ = Documentation("""Matrices of ``scipy.sparse`` of one format and one element type.

    Values are instances of ``scipy.sparse.csr_matrix``, ``csc_matrix`` or ``bsr_matrix`` in which no place is stored
    twice; indices may be in any order, of int32 or int64.

    Parameters
    ----------
    format : "csr", "csc" or "bsr"
    dtype : str
        ``"floatX"`` stands for ``theano.config.floatX``.

    Raises
    ------
    NotImplementedError
        The format does not exist.
    TypeError
        Sparse matrices cannot have that dtype.

    Examples
    --------
    >>> SparseType("csr", "float64")
    Sparse[float64, csr]
    >>> SparseType("csc", "float64").filter(sp.csr_array([[0.0, 2.0]])).format
    'csc'
    """, "theano.sparse.type:document")  # fmt: skip

    __props__ = ("format", "dtype")

    format_cls = CLASSES
    dtype_set = frozenset(scal.all_dtypes) - {"bool", "float16"}
    ndim = 2
    #: No dimension is known to be 1 long.
    broadcastable = (False, False)

    def __init__(self, format: str, dtype: str):
        if format not in CLASSES:
            raise NotImplementedError(
                f"no sparse variables have the format {format!r}. The formats are {', '.join(map(repr, CLASSES))}."
            )
        self.format = format
        self.dtype = dtype_name(dtype)
        if self.dtype not in self.dtype_set:
            raise TypeError(
                f"no sparse matrix has the dtype {self.dtype}; one of {', '.join(sorted(self.dtype_set))} has"
            )
        self.numpy_dtype = np.dtype(self.dtype)
        self._class = CLASSES[format]

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self.numpy_dtype.itemsize

    def clone(self, format: str | None = None, dtype: str | None = None) -> Self:
        """Return a type like this one, of another format or dtype where given."""
        return type(self)(format or self.format, dtype or self.dtype)

    # -- values ------------------------------------------------------------------------------------------------

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> SparseMatrix:
        """Return ``value`` as a matrix of this type.

        Parameters
        ----------
        value : sparse matrix or array of SciPy, or array_like of two dimensions
        strict : bool
            Take nothing but a matrix of this format and dtype.
        allow_downcast : bool or None
            True converts any dtype; else only what loses nothing is converted.

        Raises
        ------
        TypeError
            The value is of another format or dtype and may not be converted, or no matrix.
        ValueError
            Its arrays make no matrix: an index leads out of it, or they do not fit together.
        """
        if isinstance(value, Variable):
            raise TypeError(f"{self} needs a value, but {value} is a variable of type {value.type}: pass its value")
        if type(value) is self._class and value.data.dtype == self.numpy_dtype:
            if self.format != "bsr":  # with no call more than there must be: each call of a function comes by here
                m, n = value.shape if self.format == "csr" else value.shape[::-1]
                try:
                    if number_of_problem(value.indices, value.indptr, len(value.data), m, n) == 0:
                        return value
                except (TypeError, ValueError, BufferError):
                    pass  # for `well_formed` to say
        else:
            if strict:
                raise TypeError(
                    f"{self} is strict and takes only a {self._class.__name__} of dtype {self.dtype}, "
                    f"not {_kind(value)}. "
                    f"Pass {self._class.__name__}(value, dtype={self.dtype!r}), or drop strict=True."
                )
            value = self._converted(value, allow_downcast)
        if strict:
            well_formed(value)
            return value
        return well_formed(value)

    def _converted(self, value: Any, allow_downcast: bool | None) -> Any:
        if sp.issparse(value):
            if value.ndim == 2:
                well_formed(value)  # before SciPy, which trusts the arrays, walks over them
        else:
            value = np.asarray(value)
            if value.dtype.kind not in "biufc" or value.ndim > 2:
                raise TypeError(f"{self} cannot make a matrix of {_kind(value)}")
        if value.ndim != 2 and sp.issparse(value):
            raise TypeError(f"{self} needs two dimensions, but got {_kind(value)}")
        if not (allow_downcast or np.can_cast(value.dtype, self.numpy_dtype)):
            raise TypeError(
                f"{self} cannot take {_kind(value)} without a risk of losing precision.\n"
                f"  Convert it with value.astype({self.dtype!r}), pass allow_input_downcast=True to theano.function,\n"
                "  or declare the variable with a wider dtype."
            )
        return self._class(value, dtype=self.numpy_dtype)

    @staticmethod
    def may_share_memory(a: SparseMatrix, b: np.ndarray | SparseMatrix) -> bool:
        """Return whether two values have some array in common; one of them may be such an array itself."""
        return any(np.may_share_memory(x, y) for x in _arrays(a) for y in _arrays(b))

    def make_variable(self, name: str | None = None) -> Any:
        """Return a new variable of this type."""
        return self.Variable(self, name=name)

    def values_eq(self, a: SparseMatrix, b: SparseMatrix) -> bool:
        """Return whether two matrices have the same numbers, stored or not."""
        if not (_is_matrix(a) and _is_matrix(b)) or (a.shape, a.dtype, a.format) != (b.shape, b.dtype, b.format):
            return False
        x, y = _stored(a, b)
        return bool(np.all((x == y) | ((x != x) & (y != y))))

    def values_eq_approx(self, a: SparseMatrix, b: SparseMatrix, eps: float | None = None) -> bool:
        """Return whether two matrices have the same numbers within rounding; ``eps`` is an absolute tolerance."""
        if not (_is_matrix(a) and _is_matrix(b)) or (a.shape, a.dtype, a.format) != (b.shape, b.dtype, b.format):
            return False
        x, y = _stored(a, b)
        if x.dtype.kind not in "fc":
            return bool(np.all(x == y))
        allowed = tolerance(x.dtype.name)
        with np.errstate(all="ignore"):
            close = np.isclose(x, y, allowed.rtol, allowed.atol if eps is None else eps, equal_nan=True)
        return bool(np.all(close))

    def is_valid_value(self, value: SparseMatrix, strict: bool = True) -> bool:
        """Return whether ``value`` is a matrix of this type (or could become one, unless ``strict``)."""
        try:
            self.filter(value, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def value_zeros(self, shape: Any) -> Value:
        """Return a matrix in which nothing is stored."""
        return self._class(tuple(shape), dtype=self.numpy_dtype)

    def value_copy(self, value: SparseMatrix) -> SparseMatrix:
        """Return a copy that shares no memory with ``value``."""
        return value.copy()

    def constant_signature(self, value: Any) -> Hashable:
        """Return format, dtype, shape and the bytes of the arrays."""
        return (value.format, value.dtype.str, value.shape, *(a.tobytes() for a in _arrays(value)))

    def get_shape_info(self, obj: Any) -> Value:
        """Return what `get_size` needs: the lengths and sizes of the arrays."""
        obj = self.filter(obj)
        return obj.shape, *(a.nbytes for a in _arrays(obj))

    def get_size(self, shape_info: Any) -> int:
        """Return the bytes of a value, from what `get_shape_info` returned."""
        return int(sum(shape_info[1:]))

    def __str__(self) -> str:
        return f"Sparse[{self.dtype}, {self.format}]"


def _is_matrix(value: SparseMatrix) -> bool:
    return bool(sp.issparse(value))


def _arrays(value: SparseMatrix) -> tuple[np.ndarray, ...]:
    if isinstance(value, np.ndarray):
        return (value,)
    return tuple(getattr(value, name) for name in ("data", "indices", "indptr") if hasattr(value, name))


def _kind(value: np.ndarray | SparseMatrix) -> str:
    """Return what a value is, for errors."""
    shape = f" of shape {tuple(value.shape)}" if hasattr(value, "shape") else ""
    dtype = f" of dtype {value.dtype}" if hasattr(value, "dtype") else ""
    return f"a {type(value).__name__}{shape}{dtype}"


def _stored(a: SparseMatrix, b: SparseMatrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of two matrices wherever one of them stores any."""
    places = [m.tocoo() for m in (a, b)]
    flat = [m.row.astype("int64") * m.shape[1] + m.col for m in places]
    either, where = np.unique(np.concatenate(flat), return_inverse=True)
    found = []
    for m, at in zip(places, (where[: len(flat[0])], where[len(flat[0]) :]), strict=True):
        numbers = np.zeros(len(either), m.dtype)
        np.add.at(numbers, at, m.data)
        found.append(numbers)
    return found[0], found[1]


def _written(matrix: SparseMatrix) -> tuple[Any, ...]:
    return (matrix.format, *_arrays(matrix), [int(n) for n in matrix.shape])


def _read(parts: Any) -> SparseMatrix:
    format, data, indices, indptr, shape = parts
    if format == "bsr":
        return sp.bsr_matrix((data, indices, indptr), shape=tuple(shape))
    return assembled(format, data, indices, indptr, shape)


for _class in CLASSES.values():
    register_form(_class, f"scipy.sparse.{_class.__name__}", _written, _read)
