"""How the modes that check nodes (``DebugMode``, ``NanGuardMode``, `check_op`) look at sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.runtime.inspection import Extremes, Inspection, inspections
from theano.sparse.type import SparseType, _arrays
from theano.tensor.memory import extremes_of

if TYPE_CHECKING:
    from theano.sparse.annotations import SparseMatrix


class SparseInspection(Inspection):
    """What there is to see are the arrays of a matrix.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> SparseInspection(SparseType("csr", "float64")).extremes(sp.csr_matrix([[0.0, np.nan]]))
    Extremes(nan=1, inf=0, largest=0.0)
    """

    kind: SparseType

    def same_bytes(self, a: SparseMatrix, b: SparseMatrix) -> bool:
        """Return whether two matrices have the same arrays."""
        if type(a) is not type(b) or a.shape != b.shape:
            return False
        return all(
            x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in zip(_arrays(a), _arrays(b), strict=True)
        )

    def extremes(self, value: SparseMatrix) -> Extremes | None:
        """Return what of the stored numbers is NaN, infinite or large."""
        return extremes_of(value.data) if self.kind.numpy_dtype.kind in "fc" else None


inspections.register(SparseType, SparseInspection)
