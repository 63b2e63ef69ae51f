"""Functions of elements by parts: what is computed with the stored numbers is element-wise, and fused with the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano import scalar as scal
from theano.graph import Apply
from theano.rewriting import local_rule
from theano.sparse.elemwise.arithmetic import AddSD, AddSS, AddSSData, MulSD, MulSS, MulSV, StructuredAddSV
from theano.sparse.elemwise.maps import Cast, Neg
from theano.sparse.elemwise.vectors import Union
from theano.sparse.parts.elements import Scattered, elements_at
from theano.sparse.parts.op import CSM, as_format, csm_properties
from theano.tensor.elemwise import functions as F

SPECIALIZE = ("specialize",)
KERNELS = ("float32", "float64")
"""The dtypes that kernels compute in."""


def in_dtype(out: Any, *numbers: Any) -> list[Any]:
    """Return vectors of numbers in the dtype of a result."""
    return [F.cast(v, out.type.dtype) for v in numbers]


def on_data(node: Apply[Any, Any], compute: Callable[..., Any]) -> list[Any]:
    """Return the matrix of the structure of the first input whose numbers are computed of its own."""
    data, *places = csm_properties(node.inputs[0])
    format = node.inputs[0].type.format
    return [CSM(format)(F.cast(compute(data), node.outputs[0].type.dtype), *places)]


@local_rule([Neg], phases=SPECIALIZE)
def local_sparse_neg(node: Apply[Any, Any]) -> Any:
    """A negative has the negative numbers."""
    return on_data(node, F.neg)


@local_rule([Cast], phases=SPECIALIZE)
def local_sparse_cast(node: Apply[Any, Any]) -> Any:
    """Numbers are cast, and nothing else."""
    x, dtype = node.inputs[0].type.dtype, node.op.out_type
    if x in scal.complex_dtypes and dtype not in scal.complex_dtypes:
        return None  # SciPy drops the imaginary part, which dense tensors refuse
    return on_data(node, lambda data: F.cast(data, node.op.out_type))


@local_rule([MulSD], phases=SPECIALIZE)
def local_mul_s_d(node: Apply[Any, Any]) -> Any:
    """A product with a dense operand multiplies the numbers with what stands at their places."""
    x, y = node.inputs
    _, *places = csm_properties(x)
    one = all(y.type.broadcastable)
    factors = y.dimshuffle() if one else elements_at(x.type.format)(*places, y)
    return on_data(node, lambda data: data * factors)


def _of_columns(node: Apply[Any, Any]) -> Any:
    """Return for each stored number the element of a vector that belongs to its column."""
    x, y = node.inputs
    _, indices, indptr, shape = csm_properties(x)
    return elements_at(x.type.format)(indices, indptr, shape, y.dimshuffle("x", 0))


@local_rule([MulSV], phases=SPECIALIZE)
def local_mul_s_v(node: Apply[Any, Any]) -> Any:
    """A product with a vector multiplies each number with the element of its column."""
    return on_data(node, lambda data: data * _of_columns(node))


@local_rule([StructuredAddSV], phases=SPECIALIZE)
def local_structured_add_s_v(node: Apply[Any, Any]) -> Any:
    """A sum with a vector adds to each number the element of its column."""
    return on_data(node, lambda data: data + _of_columns(node))


@local_rule([AddSSData], phases=SPECIALIZE)
def local_add_s_s_data(node: Apply[Any, Any]) -> Any:
    """The sum of matrices of one structure is that of their numbers."""
    other, *_ = csm_properties(node.inputs[1])
    return on_data(node, lambda data: data + other)


@local_rule([AddSS, MulSS], phases=SPECIALIZE)
def local_sparse_union(node: Apply[Any, Any]) -> Any:
    """Sums and products of sparse matrices are computed of their parts."""
    x, y = node.inputs
    out = node.outputs[0]
    if out.type.dtype not in KERNELS:
        return None
    (a, *a_places), (b, *b_places) = csm_properties(x), csm_properties(as_format(y, x.type.format))
    a, b = in_dtype(out, a, b)
    found = Union(x.type.format, isinstance(node.op, MulSS))(a, *a_places, b, *b_places)
    return [CSM(x.type.format)(*found, a_places[2])]


@local_rule([AddSD], phases=SPECIALIZE)
def local_addsd_ccode(node: Apply[Any, Any]) -> Any:
    """A sum with a dense operand is one of the dense form, in the same loop as what follows."""
    x, y = node.inputs
    data, *places = csm_properties(x)
    dense = Scattered(x.type.format)(data, *places)
    return [F.cast(dense + y, node.outputs[0].type.dtype)]
