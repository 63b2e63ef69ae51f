"""Inverses, determinants and equations: solved instead of inverted, factored once, with the structure of the matrix.

A matrix is known to be positive definite if its ``tag.psd`` is set, symmetric if that or ``tag.symmetric`` is, or if
it is computed as something times its own transpose. It is known to be triangular if it is a factor of Cholesky's, or
if its ``tag.lower_triangular`` or ``tag.upper_triangular`` is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Apply
from theano.rewriting import P, local_rule, pattern_vars, rule
from theano.tensor.blas.dot import Dot
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.linalg.determinant import Det, det, slogdet
from theano.tensor.linalg.equations import MatrixInverse, Solve
from theano.tensor.linalg.factor import Cholesky
from theano.tensor.linalg.functions import diag
from theano.tensor.reduce.careduce import Prod, Sum
from theano.tensor.rules.predicates import NESTED, combine, conform, number_like, scalar_of, transpose, uniform
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def transposed(v: Any) -> Any:
    """Return the matrix that ``v`` is the transpose of, or None."""
    node = v.owner
    turned = node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == (1, 0)
    return node.inputs[0] if turned and node.inputs[0].type.ndim == 2 else None


def _tagged(v: Any, name: str) -> bool:
    return bool(getattr(v.tag, name, None))


def is_psd(v: TensorLike) -> bool:
    """Return whether ``v`` was declared positive definite."""
    return _tagged(v, "psd")


def is_symmetric(v: Tensor) -> bool:
    """Return whether ``v`` is known to be its own transpose."""
    if _tagged(v, "psd") or _tagged(v, "symmetric"):
        return True
    product = v.owner
    if product is None or not isinstance(product.op, Dot):
        return False
    a, b = product.inputs
    return transposed(b) is a and b.type.ndim == 2 or transposed(a) is b and a.type.ndim == 2


_TURNED = {"lower_triangular": "upper_triangular", "upper_triangular": "lower_triangular"}


def triangle(v: Tensor) -> str:
    """Return ``"lower_triangular"``, ``"upper_triangular"`` or ``""``: the declared structure of ``v``."""
    for name in _TURNED:
        if _tagged(v, name):
            return name
    factor = v.owner
    if factor is not None and isinstance(factor.op, Cholesky):
        return "lower_triangular" if factor.op.lower else "upper_triangular"
    inner = transposed(v)
    return _TURNED.get(triangle(inner), "") if inner is not None else ""


A, b = pattern_vars("A b")
rule("transinv_to_invtrans", transpose(P(MatrixInverse, "inverse")(A).single_use()), lambda inverse, A: inverse(A.T),
     keeps="close", doc="The transpose of an inverse is the inverse of the transpose.")  # fmt: skip


rule("no_transpose_symmetric", transpose(A.where(is_symmetric)), A, keeps="close", phases=("stabilize",),
     doc="The transpose of a symmetric matrix is that matrix. (A product with itself is so up to rounding.)",
)  # fmt: skip


def _solved_from_the_right(A: Tensor, b: Tensor) -> Tensor:
    flipped = b.T if b.type.ndim == 2 else b
    x = _structured(A, flip=True)(A if is_symmetric(A) else A.T, flipped)
    return x.T if b.type.ndim == 2 else x


def _structured(A: Tensor, flip: bool = False) -> Solve:
    known = triangle(A)
    if known and flip:
        known = _TURNED[known]
    return Solve(known or ("symmetric" if is_symmetric(A) else "general"))


def _are_of_one_dtype(A: Tensor, b: Tensor) -> bool:
    return bool(A.type.dtype == b.type.dtype)


rule("inv_as_solve", P(Dot)(P(MatrixInverse)(A), b), lambda A, b: _structured(A)(A, b), when=_are_of_one_dtype,
     keeps="finite", phases=("stabilize",),
     also=[(P(Dot)(b, P(MatrixInverse)(A)), _solved_from_the_right, _are_of_one_dtype)],
     doc="An inverse times something is the solution of an equation, which is cheaper and more exact.")  # fmt: skip


def _is_unstructured(solve: Solve) -> bool:
    return solve.A_structure in ("general", "symmetric")


def _is_triangular(A: Tensor) -> bool:
    return bool(triangle(A))


rule("tag_solve_triangular", P(Solve, "solve")(A.where(_is_triangular), b),
     lambda solve, A, b: Solve(triangle(A), on_error=solve.on_error)(A, b), when=_is_unstructured, keeps="finite",
     phases=("stabilize",),
     doc="An equation whose matrix is known to be triangular is solved by substitution.")  # fmt: skip


def _solved_by_factors(solve: Solve, A: Tensor, b: Tensor) -> Tensor:
    L: Tensor = Cholesky(lower=True, on_error=solve.on_error)(A)
    low, high = (Solve(f"{which}_triangular", on_error=solve.on_error) for which in ("lower", "upper"))
    return high(L.T, low(L, b))


rule("psd_solve_with_chol", P(Solve, "solve")(A.where(is_psd), b), _solved_by_factors, when=_is_unstructured,
     keeps="finite", phases=("stabilize",),
     doc="An equation whose matrix is said to be positive definite is solved by Cholesky's factors.")  # fmt: skip


def _factor(x: Tensor) -> Any:
    """Return Cholesky's factor of a matrix, where the graph has it."""
    return next(
        (c.outputs[0] for c, _ in x.clients if isinstance(c, Apply) and isinstance(c.op, Cholesky)), None
    )  # fmt: skip


rule("local_det_chol", P(Det)(A.where(lambda v: _factor(v) is not None)),
     lambda A: F.sqr(Prod()(diag(_factor(A)))), keeps="close", phases=("stabilize", "specialize"),
     doc="The determinant of a matrix that is factored anyway is the squared product of the factor's diagonal.",
)  # fmt: skip


@local_rule([F.log], keeps="finite", phases=("canonicalize", "stabilize", "specialize"), needs=[Det])
def local_log_det(node: TensorApply) -> Answer:
    """The logarithm of a product with a determinant is that of its size, and of the rest: a large one overflows."""
    size, rest = _size_and_rest(node.inputs[0])
    return None if size is None else [conform(F.add(size, F.log(rest)), node.outputs[0])]


def _size_and_rest(v: Tensor, levels: int = NESTED) -> tuple[Any, Any]:
    """Return s and r with ``v`` being ``exp(s) * r`` and no determinant in r; None for s where ``v`` has none."""
    node, function = v.owner, scalar_of(v.owner)
    if node is None or levels == 0:
        return None, v
    if node.op == det:
        return _size_and_sign(node.inputs[0])
    if function not in (scal.mul, scal.true_div, scal.inv, scal.abs_, scal.neg, scal.sqr, scal.sqrt, scal.pow):
        return None, v
    factors = node.inputs[:1] if function == scal.pow else node.inputs
    exponent = {scal.sqr: 2, scal.sqrt: 0.5, scal.inv: -1, scal.pow: uniform(node.inputs[-1])}.get(function, 1)
    parts = [_size_and_rest(w, levels - 1) for w in factors]
    if exponent is None or all(size is None for size, _ in parts):
        return None, v
    signs = (1, -1) if function == scal.true_div else (exponent,) * len(parts)
    terms = [F.mul(number_like(e, s), s) for e, (s, _) in zip(signs, parts, strict=True) if s is not None]
    rest = node.op(*(r for _, r in parts), *node.inputs[len(factors) :])
    return combine(F.add, terms, terms[0].type.dtype), rest


def _size_and_sign(x: Tensor) -> tuple[Variable, Variable]:
    factor = _factor(x)
    if factor is None:
        sign, size = slogdet(x)
        return size, sign
    half = Sum()(F.log(diag(factor)))
    return F.mul(number_like(2, half), half), number_like(1, half)
