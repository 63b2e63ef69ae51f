"""Arrays of exactly the dtype that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np


def _asarray(a: Any, dtype: Any, order: str | None = None) -> np.ndarray:
    """Return an array of a dtype, without a copy where ``a`` is one already.

    NumPy has several types of one dtype (``long`` and ``long long``); the result is of the one asked for, so that
    programs which compare ``dtype.num`` may do so.

    Examples
    --------
    >>> _asarray([1, 2], "float32")
    array([1., 2.], dtype=float32)
    """
    wanted = np.dtype(dtype)
    found = np.asarray(a, dtype=wanted, order=order)  # type: ignore[arg-type]
    return found if found.dtype.num == wanted.num else found.view(wanted)
