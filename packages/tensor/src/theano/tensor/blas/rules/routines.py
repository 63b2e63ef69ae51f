"""Sums and products of matrices, as the routines of BLAS that compute them in one call.

``b * z + a * dot(x, y)`` is one call of gemm (of gemv or ger, if there are vectors), which adds to ``z`` while it
multiplies. A rule reads a sum as terms, each a number times a tensor, and looks for a product that has no other use
and for something of the same shape to add it to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Apply, FunctionGraph, Op
from theano.records import NamedTuple
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
from theano.tensor.create.alloc import AllocEmpty, alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.rules.inplace import MayTake, work_in_place
from theano.tensor.rules.predicates import combine, conform, in_dtype, made_by, number_of, worth
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor, TensorType

blas_phases = Phases("BlasOpt")
phases.register("BlasOpt", blas_phases, 1.7, "fast_run", "fast_compile")
for _name, _position, _tags in (
    ("local_dot_to_dot22", 0, ("fast_run", "fast_compile")),
    ("gemm_optimizer", 10, ("fast_run", "GemmOptimizer")),
    ("local_dot22_to_dot22scalar", 11, ("fast_run",)),
    ("local_gemm_to_gemv", 15, ("fast_run",)),
    ("local_dot_to_gemv", 16, ("BlasOpt",)),  # only where asked for: the kernel of a product chooses as well
):
    blas_phases.register(_name, Phase(_name, "in_to_out"), _position, *_tags)


def _is_blas_matrix(v: Tensor) -> bool:
    return v.type.ndim == 2 and v.type.dtype in BLAS_DTYPES


def _are_of_one_dtype(x: Tensor, y: Tensor) -> bool:
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
        below = _without_dimensions(over.inputs[1], v)
        return Term(F.inv(below) if inner.factor is None else F.true_div(inner.factor, below), inner.tensor)
    product = made_by(v, F.mul)
    if product is not None:
        numbers = [w for w in product.inputs if _is_number(w, v)]
        rest = [w for w in product.inputs if not _is_number(w, v)]
        if numbers and len(rest) == 1 and rest[0].type == v.type:
            found = [_without_dimensions(w, v) for w in numbers]
            inner = as_term(rest[0])
            found += [] if inner.factor is None else [inner.factor]
            return Term(combine(F.mul, found, v.type.dtype), inner.tensor)
    return Term(None, v)


def _is_number(v: Any, like: Tensor) -> bool:
    return all(v.type.broadcastable) and scal.upcast(v.type.dtype, like.type.dtype) == like.type.dtype


def _without_dimensions(v: Any, like: Any) -> Tensor:
    return in_dtype(DimShuffle(v.type.broadcastable, ())(v) if v.type.ndim else v, like.type.dtype)


def _number(value: int, like: Tensor) -> Variable:
    return number_of(value, like.type.dtype, 0)


class Summand(NamedTuple):
    """A number times a tensor, in a sum."""

    factor: Any
    tensor: Any
    #: Whether all on the way to the tensor has one user.
    private: bool
    #: In how many places of the sum the tensor stood.
    places: int = 1
    #: The variable that is the number times the tensor, if there is one.
    whole: Any = None


def _summands(v: Tensor, kind: TensorType, factor: Any = None, private: bool = True) -> list[Summand]:
    """Return ``v`` times a number as a sum; what is itself one, with a product in it, is taken apart."""
    term = as_term(v) if v.type.dtype == kind.dtype else Term(None, v)
    private = private and _has_one_user_down_to(term.tensor, v)
    whole = v if factor is None else None
    factor = _times(factor, term.factor, kind.dtype)
    if term.tensor.type == kind and len(term.tensor.clients) == 1:
        inner = _addends(term.tensor.owner, kind, factor, private)
        if any(_is_product(s) for s in inner):
            return inner
    return [Summand(factor, term.tensor, private, 1, whole)]


def _addends(node: Node, kind: TensorType, factor: Any = None, private: bool = True) -> list[Summand]:
    """Return what a sum or difference adds, times a number; nothing for any other node."""
    if node is None or node.op not in (F.add, F.sub):
        return []
    signed = [(v, factor) for v in node.inputs]
    if node.op == F.sub:
        minus = number_of(-1, kind.dtype, 0) if factor is None else F.neg(factor)
        signed[1] = (node.inputs[1], minus)
    return [s for v, number in signed for s in _summands(v, kind, number, private)]


def _times(a: Any, b: Any, dtype: str) -> Any:
    return a if b is None else b if a is None else combine(F.mul, [a, b], dtype)


def _merged(summands: list[Summand]) -> list[Summand]:
    """Return summands in which no tensor occurs twice."""
    found: dict[Tensor, Summand] = {}
    for s in summands:
        other = found.get(s.tensor)
        if other is None:
            found[s.tensor] = s
            continue
        factors = [number_of(1, s.tensor.type.dtype, 0) if f is None else f for f in (other.factor, s.factor)]
        total = combine(F.add, factors, s.tensor.type.dtype)
        found[s.tensor] = Summand(total, s.tensor, other.private and s.private, other.places + s.places)
    return list(found.values())


def _written_out(s: Summand) -> Tensor:
    return s.whole if s.whole is not None else F.mul(s.factor, s.tensor)


def _in_larger_sum(out: Tensor) -> bool:
    """Return whether a sum, times numbers, is a part of another one, or times a number, and taken apart as such."""
    client = out.clients[0][0] if len(out.clients) == 1 else None
    if not isinstance(client, Apply) or client.outputs[0].type != out.type:
        return False
    return client.op in (F.add, F.sub) or (client.op in _SCALES and _scaled(client) is out)


_SCALES = (F.mul, F.neg, F.true_div)


def _scaled(node: Node) -> Any:
    """Return what a node multiplies by numbers, or None where it does something else."""
    wide = [v for v in node.inputs if not _is_number(v, node.outputs[0])]
    if node.op == F.true_div and wide != node.inputs[:1]:
        return None
    return wide[0] if len(wide) == 1 and wide[0].type == node.outputs[0].type else None


def _scaled_addends(node: Node, kind: TensorType) -> list[Summand]:
    """Return what a sum adds, or a sum times a number."""
    if node.op in (F.add, F.sub):
        return _addends(node, kind)
    v: Any = node.outputs[0]
    while v is not None and v.owner is not None and v.owner.op in _SCALES:
        v = _scaled(v.owner)
        if v is not None and len(v.clients) != 1:
            return []
    if v is None or v.owner is None or v.owner.op not in (F.add, F.sub):
        return []
    term = as_term(node.outputs[0])
    return _addends(v.owner, kind, term.factor) if term.tensor is v else []


def _is_vector_as(v: Any, order: tuple[Any, ...]) -> Any:
    """Return the vector that was made a column (``(0, "x")``) or a row (``("x", 0)``), or None."""
    node = v.owner
    shuffled = node is not None and isinstance(node.op, DimShuffle) and node.op.new_order == order
    # A matrix that lost a dimension of length 1 at the same time was no vector.
    return node.inputs[0] if shuffled and node.inputs[0].type.ndim == 1 else None


def _is_product(term: Term | Summand) -> bool:
    node = term.tensor.owner
    return node is not None and isinstance(node.op, (Dot, Dot22))


def _in_one_call(product: Summand, base: Summand) -> Any:
    """Return ``base + product`` as one call, or None if no routine computes it."""
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


@local_rule([F.add, F.sub, *_SCALES], keeps="finite", phases=("gemm_optimizer",), into=blas_phases, needs=[Dot, Dot22])
def gemm_optimizer(node: TensorApply) -> Answer:
    """A sum, also times a number, with a product in it that has no other use; sums in it are seen as one with it."""
    out: Tensor = node.outputs[0]
    if out.type.ndim not in (1, 2) or out.type.dtype not in BLAS_DTYPES or out.type.dtype == "float16":
        return None
    if _in_larger_sum(out):
        return None
    # All products of the sum at once: one after the other, each would write a long sum anew.
    left = _merged(_scaled_addends(node, out.type))
    found_any = False
    i = 0
    while i < len(left):
        found = _first_call(left, i, out.type)
        if found is None:
            i += 1
            continue
        found_any = True
        new, j = found
        for k in sorted((i, j), reverse=True):
            del left[k]
        left.insert(0, Summand(None, new, True, 1, new))
        # What is before it stands one place later if what it was added to came after it.
        i += j > i
    return [combine(F.add, [_written_out(s) for s in left], out.type.dtype)] if found_any else None


def _first_call(terms: list[Summand], i: int, kind: TensorType) -> tuple[Any, int] | None:
    """Return the call that computes the product at `i` and adds it to another term, and which that is."""
    product = terms[i]
    if not _is_product(product) or product.tensor.type != kind:
        return None
    if not product.private or len(product.tensor.clients) != product.places:
        return None
    for j, base in enumerate(terms):
        # What is added to must have the shape of the whole: what is repeated cannot be written into.
        if j != i and base.tensor.type == kind:
            new = _in_one_call(product, base)
            if new is not None and new.type == kind:
                return new, j
    return None


def _has_one_user_down_to(tensor: Tensor, v: Any) -> bool:
    """Return whether all from ``v`` down to a tensor that is scaled, but for that, has one user."""
    while v is not tensor:
        if len(v.clients) != 1:
            return False
        v = max(v.owner.inputs, key=lambda w: not all(w.type.broadcastable))
    return True


@local_rule([F.mul], keeps="close", phases=("local_dot22_to_dot22scalar",), into=blas_phases, needs=[Dot22])
def local_dot22_to_dot22scalar(node: Apply) -> Any:
    """A product of matrices times numbers; those in the other factors, too."""
    out: Any = node.outputs[0]
    if out.type.ndim != 2 or out.type.dtype not in BLAS_DTYPES or out.type.dtype == "float16":
        return None
    terms = [as_term(v) if _has_one_user(v) else Term(None, v) for v in node.inputs if not _is_number(v, out)]
    products = [t for t in terms if t.tensor.owner is not None and isinstance(t.tensor.owner.op, Dot22)]
    if len(products) != 1 or products[0].tensor.type.dtype != out.type.dtype or not _has_one_user(products[0].tensor):
        return None
    factors = [_without_dimensions(v, out) for v in node.inputs if _is_number(v, out)]
    factors += [in_dtype(t.factor, out.type.dtype) for t in terms if t.factor is not None]
    if not factors:
        return None
    scaled = _dot22scalar(*products[0].tensor.owner.inputs, combine(F.mul, factors, out.type.dtype))
    others = [t.tensor for t in terms if t is not products[0]]
    return [conform(combine(F.mul, [scaled, *others], out.type.dtype), out)]


def _has_one_user(v: Variable) -> bool:
    """Return whether nothing else uses ``v``; outside of a function's graph that is unknown."""
    return len(v.clients) <= 1


def _line(matrix: Tensor, axis: int) -> Tensor:
    return DimShuffle(matrix.type.broadcastable, (axis,))(matrix)


def _is_row(v: Tensor) -> bool:
    return bool(v.type.broadcastable == (True, False))


def _is_column(v: Tensor) -> bool:
    return bool(v.type.broadcastable == (False, True))


rule("local_gemm_to_gemv", P(gemm_no_inplace)(z.where(_is_row), a, x.where(_is_row), y, b),
     lambda z, a, x, y, b: gemv_no_inplace(_line(z, 1), a, y.T, _line(x, 1), b).dimshuffle("x", 0),
     keeps="close", phases=("local_gemm_to_gemv",), into=blas_phases,
     also=[(P(gemm_no_inplace)(z.where(_is_column), a, x, y.where(_is_column), b),
            lambda z, a, x, y, b: gemv_no_inplace(_line(z, 0), a, x, _line(y, 0), b).dimshuffle(0, "x"))],
     doc="A product of a matrix and a single row or column, added to one, is a product of a matrix and a vector.",
)  # fmt: skip


def _is_vector(v: Tensor) -> bool:
    # A matrix that lost a dimension of length 1 at the same time was no vector.
    return bool(v.type.ndim == 1)


def _shaped_by(z: Tensor) -> Tensor:
    # As BLAS has it, the content of z is not read then; its shape must be that of the product.
    return alloc(number_of(0, z.type.dtype, 0), *z.shape)


_column = P(DimShuffle, new_order=(0, "x"))(x.where(_is_vector))
_row = P(DimShuffle, new_order=("x", 0))(y.where(_is_vector))
rule("local_gemm_to_ger", P(gemm_no_inplace)(z, a, _column, _row, worth(1)), P(ger)(z, a, x, y), keeps="close",
     phases=("local_gemm_to_gemv",), into=blas_phases,
     also=[(P(gemm_no_inplace)(z, a, _column, _row, worth(0)), lambda z, a, x, y: ger(_shaped_by(z), a, x, y))],
     doc="A product of a column and a row, added to a matrix or to nothing, is an outer product of vectors.",
)  # fmt: skip


def _by_gemv(x: Tensor, y: Tensor, out: Tensor) -> Tensor | None:
    if (x.type.ndim, y.type.ndim) == (1, 1):
        matrix, vector = x.dimshuffle("x", 0), y
    elif x.type.ndim == 1:
        matrix, vector = y.dimshuffle(1, 0), x
    elif y.type.ndim == 1:
        matrix, vector = x, y
    else:
        return None
    one, zero = (number_of(n, vector.type.dtype, 0) for n in (1, 0))
    product = gemv_no_inplace(AllocEmpty(vector.type.dtype)(matrix.shape[0]), one, matrix, vector, zero)
    return product[0] if out.type.ndim == 0 else product


rule("local_dot_to_gemv", P(Dot)(x.where(lambda v: v.type.dtype in BLAS_DTYPES), y), _by_gemv, when=_are_of_one_dtype,
     keeps="close", phases=("local_dot_to_gemv",), into=blas_phases,
     doc="A product with a vector, where BLAS is asked for by name, is a call of gemv into new memory.")  # fmt: skip


_IN_PLACE: dict[Op, Op] = {gemm_no_inplace: gemm_inplace, gemv_no_inplace: gemv_inplace, ger: ger_destructive}


def _add_in_place(node: Apply, may_take: MayTake) -> Op | None:
    """Return the op that adds to its first input itself."""
    if not isinstance(node.op, (Gemm, Gemv, Ger)) or node.op not in _IN_PLACE or not may_take(0):
        return None
    return _IN_PLACE[node.op]


def inplace_blas(fgraph: FunctionGraph, context: Context) -> None:
    """Let products be added in place to tensors that have no later use."""
    work_in_place(fgraph, context, "InplaceBlasOpt", _add_in_place)


# The calls of C and of SciPy work in place by rules of their own in the documentation; here all calls are of one kind.
_SAME = ("c_blas_destructive", "make_scipy_blas_destructive")
phases.register("InplaceBlasOpt", inplace_blas, 70.0, "fast_run", "inplace", "blas_opt_inplace", *_SAME)
