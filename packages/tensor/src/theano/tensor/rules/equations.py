"""Inverses, determinants and equations: solved instead of inverted, factored once, told what is known of a matrix.

A matrix is known to be positive definite if its ``tag.psd`` is set, symmetric if that or ``tag.symmetric`` is, or if
it is computed as something times its own transpose. It is known to be triangular if it is a factor of Cholesky's, or
if its ``tag.lower_triangular`` or ``tag.upper_triangular`` is set.
"""

from __future__ import annotations

from typing import Any

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.blas.dot import Dot
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.careduce import Prod
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.linalg.factor import Cholesky
from theano.tensor.linalg.functions import diag
from theano.tensor.linalg.solve import Det, MatrixInverse, Solve
from theano.tensor.rules.words import fit, only_used_by


def transposed(v: Any) -> Any:
    """Return the matrix that ``v`` is the transpose of, or None."""
    node = v.owner
    turned = node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == (1, 0)
    return node.inputs[0] if turned and node.inputs[0].type.ndim == 2 else None


def _tagged(v: Any, name: str) -> bool:
    return bool(getattr(v.tag, name, None))


def is_psd(v: Any) -> bool:
    """Return whether somebody said that ``v`` is positive definite."""
    return _tagged(v, "psd")


def is_symmetric(v: Any) -> bool:
    """Return whether ``v`` is known to be its own transpose."""
    if _tagged(v, "psd") or _tagged(v, "symmetric"):
        return True
    product = v.owner
    if product is None or not isinstance(product.op, Dot):
        return False
    a, b = product.inputs
    return transposed(b) is a and b.type.ndim == 2 or transposed(a) is b and a.type.ndim == 2


_TURNED = {"lower_triangular": "upper_triangular", "upper_triangular": "lower_triangular"}


def triangle(v: Any) -> str:
    """Return ``"lower_triangular"``, ``"upper_triangular"`` or ``""``: what is known of ``v``."""
    for name in _TURNED:
        if _tagged(v, name):
            return name
    factor = v.owner
    if factor is not None and isinstance(factor.op, Cholesky):
        return "lower_triangular" if factor.op.lower else "upper_triangular"
    inner = transposed(v)
    return _TURNED.get(triangle(inner), "") if inner is not None else ""


@local_rule([DimShuffle], keeps="close", phases=("canonicalize",))
def transinv_to_invtrans(node: Apply) -> Any:
    """The transpose of an inverse is the inverse of the transpose."""
    inverse = node.inputs[0].owner
    if node.op.new_order != (1, 0) or inverse is None or not isinstance(inverse.op, MatrixInverse):  # type: ignore[attr-defined]
        return None
    if not only_used_by(node.inputs[0], node):
        return None
    return [fit(inverse.op(inverse.inputs[0].T), node.outputs[0])]  # type: ignore[attr-defined]


@local_rule([DimShuffle], keeps="close", phases=("stabilize",))
def no_transpose_symmetric(node: Apply) -> Any:
    """The transpose of a symmetric matrix is that matrix. (A product with itself is so up to rounding.)"""
    x = node.inputs[0]
    if node.op.new_order != (1, 0) or not is_symmetric(x):  # type: ignore[attr-defined]
        return None
    return [fit(x, node.outputs[0])]


@local_rule([Dot], keeps="finite", phases=("stabilize",))
def inv_as_solve(node: Apply) -> Any:
    """An inverse times something is the solution of an equation, which is cheaper and more exact."""
    left, right = node.inputs
    inverse = left.owner
    if inverse is not None and isinstance(inverse.op, MatrixInverse):
        A: Any = inverse.inputs[0]
        if A.type.dtype == right.type.dtype:  # type: ignore[attr-defined]
            return [fit(_structured(A)(A, right), node.outputs[0])]
    inverse = right.owner
    if inverse is not None and isinstance(inverse.op, MatrixInverse):
        A = inverse.inputs[0]
        if A.type.dtype == left.type.dtype:  # type: ignore[attr-defined]
            flipped = left.T if left.type.ndim == 2 else left  # type: ignore[attr-defined]
            x = _structured(A, flip=True)(A if is_symmetric(A) else A.T, flipped)
            return [fit(x.T if left.type.ndim == 2 else x, node.outputs[0])]  # type: ignore[attr-defined]
    return None


def _structured(A: Any, flip: bool = False) -> Solve:
    known = triangle(A)
    if known and flip:
        known = _TURNED[known]
    return Solve(known or ("symmetric" if is_symmetric(A) else "general"))


@local_rule([Solve], keeps="finite", phases=("stabilize",))
def tag_solve_triangular(node: Apply) -> Any:
    """An equation whose matrix is known to be triangular is solved by substitution."""
    A, b = node.inputs
    known = triangle(A)
    if node.op.A_structure not in ("general", "symmetric") or not known:  # type: ignore[attr-defined]
        return None
    return [fit(Solve(known)(A, b), node.outputs[0])]


@local_rule([Solve], keeps="finite", phases=("stabilize",))
def psd_solve_with_chol(node: Apply) -> Any:
    """An equation whose matrix is said to be positive definite is solved by Cholesky's factors."""
    A, b = node.inputs
    if node.op.A_structure not in ("general", "symmetric") or not is_psd(A):  # type: ignore[attr-defined]
        return None
    L: Any = Cholesky(lower=True)(A)
    return [fit(Solve("upper_triangular")(L.T, Solve("lower_triangular")(L, b)), node.outputs[0])]


@local_rule([Det], keeps="close", phases=("stabilize", "specialize"))
def local_det_chol(node: Apply) -> Any:
    """The determinant of a matrix that is factored anyway is the squared product of the factor's diagonal."""
    (x,) = node.inputs
    for client, _ in x.clients:  # type: ignore[attr-defined]
        if isinstance(client, Apply) and isinstance(client.op, Cholesky):
            return [fit(F.sqr(Prod()(diag(client.outputs[0]))), node.outputs[0])]
    return None
