"""Functions of elements by parts: what is computed with the stored numbers is element-wise, and fused with the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.rewriting import P, pattern_vars, rule
from theano.sparse.elemwise.arithmetic import AddSD, AddSS, AddSSData, MulSD, MulSS, MulSV, StructuredAddSV
from theano.sparse.elemwise.maps import Cast, Neg
from theano.sparse.elemwise.vectors import Union
from theano.sparse.parts.elements import Scattered, elements_at
from theano.sparse.parts.op import CSM, as_format, csm_properties
from theano.tensor.elemwise import functions as F

if TYPE_CHECKING:
    from theano.graph.op import Op
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

SPECIALIZE = ("specialize",)
KERNELS = ("float32", "float64")
"""The dtypes that kernels compute in."""

x, y = pattern_vars("x y")


def for_kernels(out: Any) -> bool:
    """Return whether kernels compute in the dtype of a result."""
    return out.type.dtype in KERNELS


def in_dtype(out: Any, *numbers: TensorLike) -> list[Any]:
    """Return vectors of numbers in the dtype of a result."""
    return [F.cast(v, out.type.dtype) for v in numbers]


def on_data(x: Sparse, out: Sparse, compute: Callable[..., Any]) -> Sparse:
    """Return the matrix of the structure of ``x`` whose numbers are computed of its own, in the dtype of a result."""
    data, *places = csm_properties(x)
    return CSM(x.type.format)(F.cast(compute(data), out.type.dtype), *places)


def at_places(x: Sparse, dense: TensorLike) -> Tensor:
    """Return for each stored number of ``x`` what stands at its place in a dense matrix, or in a row for its column."""
    _, *places = csm_properties(x)
    return elements_at(x.type.format)(*places, dense)


def _factors(x: Sparse, y: Tensor) -> Variable:
    return y.dimshuffle() if all(y.type.broadcastable) else at_places(x, y)


def _united(op: Op, x: Sparse, y: Sparse, out: Sparse) -> Sparse:
    format = x.type.format
    (a, *a_places), (b, *b_places) = csm_properties(x), csm_properties(as_format(y, format))
    a, b = in_dtype(out, a, b)
    return CSM(format)(*Union(format, isinstance(op, MulSS))(a, *a_places, b, *b_places), a_places[2])


def _stays_complex(x: Sparse, out: Sparse) -> bool:
    # SciPy drops the imaginary part, which dense tensors refuse.
    return x.type.dtype not in scal.complex_dtypes or out.type.dtype in scal.complex_dtypes


rule("local_sparse_neg", P(Neg)(x), lambda x, out: on_data(x, out, F.neg), phases=SPECIALIZE,
     doc="A negative has the negative numbers.")  # fmt: skip


rule("local_sparse_cast", P(Cast)(x), lambda x, out: on_data(x, out, lambda data: data),
     when=_stays_complex, phases=SPECIALIZE,
     doc="Numbers are cast, and nothing else.")  # fmt: skip


local_mul_s_d = rule(
    "local_mul_s_d", P(MulSD)(x, y), lambda x, y, out: on_data(x, out, lambda data: data * _factors(x, y)),
    phases=SPECIALIZE,
    doc="A product with a dense operand multiplies the numbers with what stands at their places.",
)  # fmt: skip


local_mul_s_v = rule(
    "local_mul_s_v", P(MulSV)(x, y),
    lambda x, y, out: on_data(x, out, lambda data: data * at_places(x, y.dimshuffle("x", 0))), phases=SPECIALIZE,
    doc="A product with a vector multiplies each number with the element of its column.",
)  # fmt: skip


local_structured_add_s_v = rule(
    "local_structured_add_s_v", P(StructuredAddSV)(x, y),
    lambda x, y, out: on_data(x, out, lambda data: data + at_places(x, y.dimshuffle("x", 0))), phases=SPECIALIZE,
    doc="A sum with a vector adds to each number the element of its column.",
)  # fmt: skip


rule("local_add_s_s_data", P(AddSSData)(x, y),
     lambda x, y, out: on_data(x, out, lambda data: data + csm_properties(y)[0]), phases=SPECIALIZE,
     doc="The sum of matrices of one structure is that of their numbers.")  # fmt: skip


rule("local_sparse_union", P((AddSS, MulSS), "op")(x, y), _united, when=for_kernels, phases=SPECIALIZE,
     doc="Sums and products of sparse matrices are computed of their parts.")  # fmt: skip


local_addsd_ccode = rule(
    "local_addsd_ccode", P(AddSD)(x, y),
    lambda x, y, out: [F.cast(Scattered(x.type.format)(*csm_properties(x)) + y, out.type.dtype)], phases=SPECIALIZE,
    doc="A sum with a dense operand is one of the dense form, in the same loop as what follows.",
)  # fmt: skip
