"""All functions of sparse matrices, for the operators of variables and for the public module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.sparse.convert import as_sparse_or_tensor_variable, is_sparse
from theano.sparse.elemwise.arithmetic import *  # noqa: F403  (each module has a list of names)
from theano.sparse.elemwise.compare import *  # noqa: F403
from theano.sparse.elemwise.maps import *  # noqa: F403
from theano.sparse.elemwise.maps import structured_abs, structured_copy  # noqa: F401
from theano.sparse.index.op import *  # noqa: F403
from theano.sparse.parts.alike import sp_ones_like, sp_zeros_like  # noqa: F401
from theano.sparse.parts.op import *  # noqa: F403
from theano.sparse.parts.op import shape  # noqa: F401
from theano.sparse.product.op import *  # noqa: F403
from theano.sparse.product.op import structured_dot
from theano.sparse.reduce.op import *  # noqa: F403
from theano.sparse.structure.dense import *  # noqa: F403
from theano.sparse.structure.op import *  # noqa: F403

if TYPE_CHECKING:
    from theano.graph.variable import Variable


def matmul(x: Any, y: Any) -> Variable:
    """Return ``x @ y``: the product of the matrices, with a structured gradient.

    Parameters
    ----------
    x : sparse variable, matrix or vector
        The left factor.
    y : sparse variable, matrix or vector
        The right factor.

    Returns
    -------
    variable
        Sparse if both are, else dense.

    See Also
    --------
    structured_dot, dot

    Examples
    --------
    >>> import theano.sparse as S, theano.tensor as T
    >>> matmul(S.csr_dmatrix("x"), T.dvector("y")).type
    TensorType(float64, vector)
    """
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not all(is_sparse(v) or v.type.ndim in (1, 2) for v in (x, y)):
        raise TypeError(f"@ multiplies matrices and vectors, not {x.type} and {y.type}")
    return structured_dot(x, y)
