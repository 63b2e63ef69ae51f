"""Ops on parts of sparse matrices that older programs name: each is an expression of those that there are now."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from theano.compile.expression import ExpressionOp
from theano.sparse.elemwise.arithmetic import add_s_d, mul_s_d, mul_s_v, structured_add_s_v
from theano.sparse.parts.op import CSM, CSR, csm_data, csm_properties
from theano.sparse.product.op import sampling_dot, structured_dot, usmm
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast
from theano.tensor.join.op import stack
from theano.tensor.type import tolerance

scipy_ver = [int(number) for number in scipy.__version__.split(".")[:2]]

_mtypes = [sp.csc_matrix, sp.csr_matrix]
_is_sparse = sp.issparse


def _is_dense(x: Any) -> bool:
    """Return whether a value is an array."""
    return isinstance(x, np.ndarray)


def _shape(rows: Any, columns: Any) -> Any:
    return stack([cast(rows, "int32"), cast(columns, "int32")])


class _OfParts(ExpressionOp):
    """Base: a rule puts the expression in the place of a node."""

    __props__: tuple[str, ...] = ()
    is_inline = True

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs as tensors."""
        return [as_tensor_variable(v) for v in inputs]


class StructuredDotCSC(_OfParts):
    """The product of a csc matrix (data, indices, indptr, number of rows) with a dense matrix."""

    def expression(self, a_val: Any, a_ind: Any, a_ptr: Any, a_nrows: Any, b: Any) -> Any:
        """Return the product."""
        return structured_dot(CSM("csc")(a_val, a_ind, a_ptr, _shape(a_nrows, b.shape[0])), b)


class StructuredDotCSR(_OfParts):
    """The product of a csr matrix (data, indices, indptr) with a dense matrix."""

    def expression(self, a_val: Any, a_ind: Any, a_ptr: Any, b: Any) -> Any:
        """Return the product."""
        return structured_dot(CSR(a_val, a_ind, a_ptr, _shape(a_ptr.shape[0] - 1, b.shape[0])), b)


class UsmmCscDense(_OfParts):
    """``alpha * x y + z`` of a csc matrix ``x`` (data, indices, indptr, number of rows)."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool):
        super().__init__()
        self.inplace = inplace

    def expression(self, alpha: Any, x_val: Any, x_ind: Any, x_ptr: Any, x_nrows: Any, y: Any, z: Any) -> Any:
        """Return the sum."""
        return usmm(alpha, CSM("csc")(x_val, x_ind, x_ptr, _shape(x_nrows, y.shape[0])), y, z)


class MulSDCSC(_OfParts):
    """The numbers of a csc matrix (data, indices, indptr) times what stands at their places in a dense one."""

    format = "csc"

    def expression(self, data: Any, indices: Any, indptr: Any, b: Any) -> Any:
        """Return the numbers."""
        return csm_data(mul_s_d(CSM(self.format)(data, indices, indptr, _shape(*b.shape)), b))


class MulSDCSR(MulSDCSC):
    """The numbers of a csr matrix (data, indices, indptr) times what stands at their places in a dense one."""

    format = "csr"


class MulSVCSR(_OfParts):
    """The numbers of a csr matrix (data, indices, indptr) times the elements of a vector for their columns."""

    function = staticmethod(mul_s_v)

    def expression(self, data: Any, indices: Any, indptr: Any, b: Any) -> Any:
        """Return the numbers."""
        return csm_data(self.function(CSR(data, indices, indptr, _shape(indptr.shape[0] - 1, b.shape[0])), b))


class StructuredAddSVCSR(MulSVCSR):
    """The numbers of a csr matrix (data, indices, indptr) plus the elements of a vector for their columns."""

    function = staticmethod(structured_add_s_v)


class SamplingDotCSR(_OfParts):
    """Data, indices and indptr of the product ``x y.T`` at the places of a csr matrix, times its numbers."""

    def expression(self, x: Any, y: Any, p_data: Any, p_ind: Any, p_ptr: Any, p_ncols: Any) -> Any:
        """Return the parts."""
        places = CSR(p_data, p_ind, p_ptr, _shape(p_ptr.shape[0] - 1, p_ncols))
        return list(csm_properties(sampling_dot(x, y, places)))[:3]


class AddSD_ccode(ExpressionOp):
    """The sum of a sparse and a dense matrix.

    Parameters
    ----------
    format : "csr" or "csc"
    inplace : bool
        Accepted: what works in place is decided later.
    """

    __props__ = ("format", "inplace")
    is_inline = True

    def __init__(self, format: str, inplace: bool = False, *args: Any, **kwargs: Any):
        super().__init__()
        self.format, self.inplace = format, inplace

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs as they are."""
        return list(inputs)

    def expression(self, x: Any, y: Any) -> Any:
        """Return the sum."""
        return add_s_d(x, y)


def _allclose(a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
    """Return whether two arrays are equal within the rounding of the coarser dtype."""
    a, b = np.asarray(a), np.asarray(b)
    allowed = tolerance(a.dtype.name, b.dtype.name)
    return bool(
        np.allclose(a, b, atol=allowed.atol if atol is None else atol, rtol=allowed.rtol if rtol is None else rtol)
    )
