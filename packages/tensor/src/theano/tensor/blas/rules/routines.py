"""Sums and products of matrices, as the routines of BLAS that compute them in one call.

``b * z + a * dot(x, y)`` is one call of gemm (of gemv or ger, if there are vectors), which adds to ``z`` while it
multiplies. A rule reads a sum as terms, each a number times a tensor, and looks for a product that nobody else wants
and for something of the same shape to add it to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from theano.graph import Apply, FunctionGraph, Op
from theano.rewriting import Context, P, Phase, Phases, local_rule, pattern_vars, phases, rule
from theano.tensor.blas.dot import Dot
from theano.tensor.blas.routines import (
    BLAS_DTYPES,
    Dot22,
    Gemm,
    Gemv,
    Ger,
    _dot22,
    _dot22scalar,
    gemm_inplace,
    gemm_no_inplace,
    gemv_inplace,
    gemv_no_inplace,
    ger,
    ger_destructive,
)
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.rules.inplace import MayTake, work_in_place
from theano.tensor.rules.predicates import combine, conform, made_by, number_of
from theano.tensor.type import TensorApply

blas_phases = Phases("BlasOpt")
phases.register("BlasOpt", blas_phases, 1.7, "fast_run", "fast_compile")
for _name, _position, _tags in (
    ("local_dot_to_dot22", 0, ("fast_run", "fast_compile")),
    ("gemm_optimizer", 10, ("fast_run", "GemmOptimizer")),
    ("local_dot22_to_dot22scalar", 11, ("fast_run",)),
    ("local_gemm_to_gemv", 15, ("fast_run",)),
):
    blas_phases.register(_name, Phase(_name, "in_to_out"), _position, *_tags)


def _is_blas_matrix(v: Any) -> bool:
    return v.type.ndim == 2 and v.type.dtype in BLAS_DTYPES


def _are_of_one_dtype(x: Any, y: Any) -> bool:
    return bool(x.type.dtype == y.type.dtype)


x, y, z, a, b = pattern_vars("x y z a b")
rule("local_dot_to_dot22", P(Dot)(x.where(_is_blas_matrix), y.where(_is_blas_matrix)), P(_dot22)(x, y),
     when=_are_of_one_dtype, phases=("local_dot_to_dot22",), tags=("fast_run", "fast_compile"), into=blas_phases,
     doc="A product of two matrices of one floating dtype.")  # fmt: skip


class Term(NamedTuple):
    """A number (without dimensions; None is 1) times a tensor."""

    factor: Any
    tensor: Any


def as_term(v: Any) -> Term:
    """Return ``v`` as a number times a tensor, as far as it is written like that."""
    negated = made_by(v, F.neg)
    if negated is not None:
        inner = as_term(negated.inputs[0])
        return Term(_number(-1, v) if inner.factor is None else F.neg(inner.factor), inner.tensor)
    over = made_by(v, F.true_div)
    if over is not None and _is_number(over.inputs[1], v) and over.inputs[0].type == v.type:
        inner = as_term(over.inputs[0])
        below = _without_dimensions(over.inputs[1])
        return Term(F.inv(below) if inner.factor is None else F.true_div(inner.factor, below), inner.tensor)
    product = made_by(v, F.mul)
    if product is not None:
        numbers = [w for w in product.inputs if _is_number(w, v)]
        rest = [w for w in product.inputs if not _is_number(w, v)]
        if numbers and len(rest) == 1 and rest[0].type == v.type:
            found = [_without_dimensions(w) for w in numbers]
            inner = as_term(rest[0])
            found += [] if inner.factor is None else [inner.factor]
            return Term(combine(F.mul, found, v.type.dtype), inner.tensor)
    return Term(None, v)


def _is_number(v: Any, like: Any) -> bool:
    return all(v.type.broadcastable) and v.type.dtype == like.type.dtype


def _without_dimensions(v: Any) -> Any:
    return DimShuffle(v.type.broadcastable, ())(v) if v.type.ndim else v


def _number(value: Any, like: Any) -> Any:
    return number_of(value, like.type.dtype, 0)


def _added(node: TensorApply) -> list[Term]:
    """Return the terms of a sum or difference; what has yet to be converted is one as it is."""
    dtype = node.outputs[0].type.dtype
    terms = [as_term(v) if v.type.dtype == dtype else Term(None, v) for v in node.inputs]
    if made_by(node.outputs[0], F.sub) is not None and terms[1].tensor.type.dtype == dtype:
        first, second = terms
        minus = _number(-1, second.tensor) if second.factor is None else F.neg(second.factor)
        return [first, Term(minus, second.tensor)]
    return terms


def _is_vector_as(v: Any, order: tuple[Any, ...]) -> Any:
    """Return the vector that was made a column (``(0, "x")``) or a row (``("x", 0)``), or None."""
    node = v.owner
    shuffled = node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == order
    # A matrix that lost a dimension of length 1 at the same time was no vector.
    return node.inputs[0] if shuffled and node.inputs[0].type.ndim == 1 else None


def _is_product(term: Term) -> bool:
    node = term.tensor.owner
    return node is not None and isinstance(node.op, (Dot, Dot22))


def _in_one_call(product: Term, base: Term) -> Any:
    """Return ``base + product`` as one call, or None where there is none."""
    x, y = product.tensor.owner.inputs
    z = base.tensor
    if len({v.type.dtype for v in (x, y, z)}) != 1 or z.type.dtype not in BLAS_DTYPES:
        return None
    a = _number(1, z) if product.factor is None else product.factor
    b = _number(1, z) if base.factor is None else base.factor
    if x.type.ndim == 2 and y.type.ndim == 2:
        column, row = _is_vector_as(x, (0, "x")), _is_vector_as(y, ("x", 0))
        if column is not None and row is not None and base.factor is None:
            return ger(z, a, column, row)
        return gemm_no_inplace(z, a, x, y, b)
    if x.type.ndim == 2 and y.type.ndim == 1:
        return gemv_no_inplace(z, a, x, y, b)
    if x.type.ndim == 1 and y.type.ndim == 2:
        return gemv_no_inplace(z, a, y.T, x, b)
    return None


@local_rule([F.add, F.sub], keeps="finite", phases=("gemm_optimizer",), into=blas_phases)
def gemm_optimizer(node: TensorApply) -> Any:
    """A sum with a product in it that nobody else wants."""
    out: Any = node.outputs[0]
    if out.type.ndim not in (1, 2) or out.type.dtype not in BLAS_DTYPES or out.type.dtype == "float16":
        return None
    # All products of the sum at once: one after the other, each would write a long sum anew.
    left = list(zip(node.inputs, _added(node), strict=True))
    i = 0
    while i < len(left):
        found = _first_call(left, i, out.type)
        if found is None:
            i += 1
            continue
        new, j = found
        for k in sorted((i, j), reverse=True):
            del left[k]
        left.insert(0, (new, Term(None, new)))
        # What is before it stands one place later if what it was added to came after it.
        i += j > i
    if len(left) == len(node.inputs):
        return None
    rest = [v for v, _ in left]
    return [combine(F.add, rest, out.type.dtype)]


def _first_call(terms: list[tuple[Any, Term]], i: int, kind: Any) -> tuple[Any, int] | None:
    """Return the call that computes the product at `i` and adds it to another term, and which that is."""
    top, product = terms[i]
    if not _is_product(product) or product.tensor.type != kind or not _wanted_here_only(top, product.tensor):
        return None
    for j, (_, base) in enumerate(terms):
        # What is added to must have the shape of the whole: what is repeated cannot be written into.
        if j != i and base.tensor.type == kind:
            new = _in_one_call(product, base)
            if new is not None and new.type == kind:
                return new, j
    return None


def _wanted_here_only(top: Any, product: Any) -> bool:
    """Return whether all on the way from a term down to its product has one user."""
    v = top
    while True:
        if len(v.clients) != 1:
            return False
        if v is product:
            return True
        v = max(v.owner.inputs, key=lambda w: not all(w.type.broadcastable))


@local_rule([F.mul], keeps="close", phases=("local_dot22_to_dot22scalar",), into=blas_phases)
def local_dot22_to_dot22scalar(node: Apply) -> Any:
    """A product of matrices times a number."""
    out: Any = node.outputs[0]
    if out.type.ndim != 2 or out.type.dtype not in BLAS_DTYPES or out.type.dtype == "float16":
        return None
    found = as_term(out)
    inner = found.tensor.owner
    if found.factor is None or inner is None or not isinstance(inner.op, Dot22) or found.tensor.type != out.type:
        return None
    if not any(v is found.tensor and len(v.clients) == 1 for v in node.inputs):
        return None
    return [conform(_dot22scalar(*inner.inputs, found.factor), out)]


def _line(matrix: Any, axis: int) -> Any:
    return DimShuffle(matrix.type.broadcastable, (axis,))(matrix)


def _is_row(v: Any) -> bool:
    return bool(v.type.broadcastable == (True, False))


def _is_column(v: Any) -> bool:
    return bool(v.type.broadcastable == (False, True))


rule("local_gemm_to_gemv", P(gemm_no_inplace)(z.where(_is_row), a, x.where(_is_row), y, b),
     lambda z, a, x, y, b: gemv_no_inplace(_line(z, 1), a, y.T, _line(x, 1), b).dimshuffle("x", 0),
     keeps="close", phases=("local_gemm_to_gemv",), into=blas_phases,
     also=[(P(gemm_no_inplace)(z.where(_is_column), a, x, y.where(_is_column), b),
            lambda z, a, x, y, b: gemv_no_inplace(_line(z, 0), a, x, _line(y, 0), b).dimshuffle(0, "x"))],
     doc="A product of a matrix and a single row or column, added to one, is a product of a matrix and a vector.",
)  # fmt: skip


_IN_PLACE: dict[Op, Op] = {gemm_no_inplace: gemm_inplace, gemv_no_inplace: gemv_inplace, ger: ger_destructive}


def _add_in_place(node: Apply, may_take: MayTake) -> Op | None:
    """Return the op that adds to its first input itself."""
    if not isinstance(node.op, (Gemm, Gemv, Ger)) or node.op not in _IN_PLACE or not may_take(0):
        return None
    return _IN_PLACE[node.op]


def inplace_blas(fgraph: FunctionGraph, context: Context) -> None:
    """Let products be added to tensors that nobody reads any more."""
    work_in_place(fgraph, context, "InplaceBlasOpt", _add_in_place)


# The calls of C and of SciPy work in place by rules of their own in the documentation; here all calls are of one kind.
_SAME = ("c_blas_destructive", "make_scipy_blas_destructive")
phases.register("InplaceBlasOpt", inplace_blas, 70.0, "fast_run", "inplace", "blas_opt_inplace", *_SAME)
