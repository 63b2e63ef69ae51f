"""Symbolic sparse matrices, and what can be computed with them.

Examples
--------
>>> import theano, theano.tensor as T
>>> from theano import sparse
>>> import scipy.sparse as sp
>>> x, w = sparse.csr_matrix("x", dtype="float64"), T.dvector("w")
>>> f = theano.function([x, w], sparse.dot(x, w))
>>> f(sp.csr_matrix([[0.0, 2.0], [1.0, 0.0]]), [1.0, 10.0])
array([20.,  1.])
"""

from __future__ import annotations

from types import ModuleType as _Module

from theano.layers import enter as _enter
from theano.layers import lazily as _lazily
from theano.layers import names_in_use as _names_in_use
from theano.layers.sparse import LAYER as _LAYER
from theano.sparse import inspection  # noqa: F401  (how the modes that check nodes look at its values)
from theano.sparse.convert import *  # noqa: F403  (each module has a list of names)
from theano.sparse.operations import *  # noqa: F403
from theano.sparse.type import SparseType as SparseType
from theano.sparse.utils import hash_from_sparse as hash_from_sparse
from theano.sparse.var import SparseConstant as SparseConstant
from theano.sparse.var import SparseConstantSignature as SparseConstantSignature
from theano.sparse.var import SparseVariable as SparseVariable

#: Whether sparse matrices can be used; they can wherever this package is.
enable_sparse = True

_enter(_LAYER)
__getattr__ = _lazily(globals(), {"shared": "theano.compile.shared:shared", "sharedvar": "theano.sparse.sharedvar"})[0]

__all__ = [name for name in globals() if not name.startswith("_") and name != "annotations"]


def __dir__() -> list[str]:
    own = (name for name in __all__ if not isinstance(globals()[name], _Module))
    return _names_in_use(__name__, {*own, "shared", "sharedvar"})
