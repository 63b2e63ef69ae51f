"""Compressed sparse matrices as values: what makes one well formed, and how one is put together of arrays.

A matrix of ``m`` major lines (the rows of csr, the columns of csc) is three arrays: the stored numbers ``data``, for
each its place along its line ``indices``, and ``indptr``, at which of them each line begins, with the end of the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from theano.sparse.kernels import library

if TYPE_CHECKING:
    from theano.sparse.annotations import SparseMatrix

#: The classes of values, by format.
CLASSES: dict[str, Any] = {"csr": sp.csr_matrix, "csc": sp.csc_matrix, "bsr": sp.bsr_matrix}


#: What may be said against a matrix that is well formed, as bits: the indices of some line do not increase (they are
#: not sorted, or some place is stored twice); there is room behind the stored numbers.
DISORDERED, LONGER = 1, 2

_PROBLEMS = {
    -1: "indptr must have one entry more than there are {lines} ({m})",
    -2: "indptr must begin with 0",
    -3: "indptr must not decrease",
    -4: "indptr ends behind the stored numbers: there are {n} of them",
    -5: "an index is outside the {places} (0 to {last})",
    -6: "data and indices must be equally long",
}


def examine(format: str, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Sequence[int]) -> int:
    """See that arrays make a matrix of csr or csc format.

    Parameters
    ----------
    format : "csr" or "csc"
    data, indices, indptr : numpy.ndarray
        Vectors; the last two of int32 or int64.
    shape : (int, int)

    Returns
    -------
    int
        What is to be said against them although they do: 0, or bits of `DISORDERED` and `LONGER`.

    Raises
    ------
    TypeError
        ``indices`` or ``indptr`` are no integers.
    ValueError
        The arrays contradict each other, or lead out of the matrix.

    Examples
    --------
    >>> examine("csr", np.ones(2), np.array([1, 0]), np.array([0, 2]), (1, 2))
    1
    >>> examine("csr", np.ones(2), np.array([1, 2]), np.array([0, 2]), (1, 2))
    Traceback (most recent call last):
     ...
    ValueError: no csr matrix of shape (1, 2): an index is outside the columns (0 to 1).
    """
    m, n = shape if format == "csr" else (shape[1], shape[0])
    try:
        code = number_of_problem(indices, indptr, len(data), m, n)
    except (TypeError, ValueError, BufferError):
        indices, indptr = _alike(_packed("indices", indices), _packed("indptr", indptr))
        code = number_of_problem(indices, indptr, len(data), m, n)
    if code >= 0:
        return int(code)
    lines, places = ("rows", "columns") if format == "csr" else ("columns", "rows")
    problem = _PROBLEMS[code].format(lines=lines, places=places, m=m, n=len(indices), last=n - 1)
    raise ValueError(f"no {format} matrix of shape {tuple(map(int, shape))}: {problem}.")


def _packed(name: str, array: np.ndarray) -> np.ndarray:
    """Return an index array as one block of int32 or int64."""
    array = np.asarray(array)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} of a sparse matrix must be integers, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name} of a sparse matrix must be a vector, not an array of shape {array.shape}")
    return np.ascontiguousarray(array, dtype="int32" if array.dtype == "int32" else "int64")


def _alike(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    dtype = np.result_type(*arrays)
    return tuple(a.astype(dtype, copy=False) for a in arrays)


def _examine_slowly(indices: np.ndarray, indptr: np.ndarray, stored: int, m: int, n: int) -> int:
    """Return the number of the first problem, or flags: what the C function of the name does."""
    if len(indptr) != m + 1:
        return -1
    if indptr[0] != 0:
        return -2
    counts = np.diff(indptr)
    if np.any(counts < 0):
        return -3
    if stored != len(indices):
        return -6
    end = int(indptr[-1])
    if end > stored:
        return -4
    used = indices[:end]
    if end and (used.min() < 0 or used.max() >= n):
        return -5
    line = np.repeat(np.arange(m), counts)
    disordered = np.any((used[1:] <= used[:-1]) & (line[1:] == line[:-1]))
    return int(disordered) * DISORDERED | int(end < stored) * LONGER


#: The same as a number, of arrays that are what they should be: the first problem, or these bits.
_library = library.module()
number_of_problem = _examine_slowly if _library is None else _library.examine


def assembled(format: str, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Sequence[int]) -> Any:
    """Return the matrix of arrays that are known to make one; it holds them, not copies.

    SciPy's constructor looks at everything once more, which takes longer than many a small product.

    Examples
    --------
    >>> m = assembled("csr", np.ones(1), np.array([1], "int32"), np.array([0, 1], "int32"), (1, 2))
    >>> m.toarray()
    array([[0., 1.]])
    """
    cls = CLASSES[format]
    made = cls.__new__(cls)
    made.__dict__.update(_EMPTY[format])
    made.data, made.indices, made.indptr = data, indices, indptr
    made._shape = (int(shape[0]), int(shape[1]))
    return made


_EMPTY = {name: dict(vars(CLASSES[name]((1, 1)))) for name in ("csr", "csc")}


def well_formed(value: SparseMatrix) -> SparseMatrix:
    """Return a matrix itself if no place is stored twice, else one of the same value where that is so.

    Raises
    ------
    TypeError, ValueError
        Its arrays make no matrix, as `examine` sees it.
    """
    if value.format not in ("csr", "csc"):
        if value.format == "bsr":
            value.check_format(full_check=True)
        if value.format == "coo":
            _examine_coordinates(value)
        return value
    form = examine(value.format, value.data, value.indices, value.indptr, value.shape)
    if form & LONGER:
        value = assembled(value.format, value.data, value.indices, value.indptr, value.shape)
        value.prune()
    if form & DISORDERED and not _places_differ(value):
        value = value.copy()
        value.has_canonical_format = False
        value.has_sorted_indices = False
        value.sum_duplicates()
    return value


def _examine_coordinates(value: SparseMatrix) -> None:
    """Raise the error about rows and columns that lead out of a matrix of coo format; of others SciPy takes care."""
    for name, places, n in zip(("row", "column"), (value.row, value.col), value.shape, strict=True):
        if np.asarray(places).dtype.kind not in "iu" or np.shape(places) != np.shape(value.data):
            raise ValueError(f"no coo matrix of shape {value.shape}: each number needs an integer {name}.")
        if len(places) and not 0 <= places.min() <= places.max() < n:
            raise ValueError(f"no coo matrix of shape {value.shape}: a {name} is outside 0 to {n - 1}.")


def _places_differ(value: SparseMatrix) -> bool:
    """Return whether no place is stored twice."""
    lines = np.repeat(np.arange(len(value.indptr) - 1, dtype="int64"), np.diff(value.indptr))
    places = lines * max(value.shape[value.format == "csr"], 1) + value.indices
    return len(np.unique(places)) == len(places)
