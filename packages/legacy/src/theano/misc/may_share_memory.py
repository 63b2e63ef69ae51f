"""Whether two values may share memory."""

from __future__ import annotations

from typing import Any

import numpy as np


def may_share_memory(a: Any, b: Any, raise_other_type: bool = True) -> bool:
    """Return whether writing to one of two arrays may change the other.

    Sparse matrices of SciPy share memory where the arrays that they consist of do.

    Parameters
    ----------
    a, b : numpy.ndarray or sparse matrix
    raise_other_type : bool
        Whether other values are an error, otherwise they share nothing.

    Raises
    ------
    TypeError
        For other values.

    Examples
    --------
    >>> a = np.zeros(4)
    >>> may_share_memory(a, a[1:]), may_share_memory(a, a.copy()), may_share_memory(a, 3, raise_other_type=False)
    (True, False, False)
    """
    parts = [_arrays(x) for x in (a, b)]
    for x, arrays in zip((a, b), parts, strict=True):
        if arrays is None and raise_other_type:
            raise TypeError(f"may_share_memory takes arrays and sparse matrices, not {type(x).__name__}")
    return any(np.may_share_memory(x, y) for x in parts[0] or () for y in parts[1] or ())


def _arrays(x: Any) -> list[np.ndarray] | None:
    if isinstance(x, np.ndarray):
        return [x]
    if not hasattr(x, "nnz"):
        return None
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    return [part for name in names if isinstance(part := getattr(x, name, None), np.ndarray)]
