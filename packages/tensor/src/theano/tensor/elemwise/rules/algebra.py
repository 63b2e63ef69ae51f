"""Sums and products in one form: constants gathered, what is on both sides cancelled, nested ones made flat.

A sum is two lists of terms, those added and those subtracted; a product two lists of factors, those multiplied and
those divided by. Both are the same thing over different ops, so there is one description, :class:`Family`, and one
function that rewrites: it collects what a tree of the family's ops says, simplifies it, and writes it down again,
constants first. Only the root of a tree does so, which keeps the work linear in its size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Constant
from theano.records import record
from theano.rewriting import P, Rest, local_rule, pattern_vars, rule
from theano.rewriting.pattern import same
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.rules.predicates import (
    NESTED,
    E,
    combine,
    conform,
    factors_of,
    in_dtype,
    is_complex,
    is_discrete,
    is_not_complex,
    is_real,
    made_by,
    number_of,
    scalar_of,
    terms_of,
    times,
    uniform,
    worth,
)
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor


@record(frozen=True)
class Family:
    """An operation, its inverse and its reciprocal: ``add, sub, neg`` or ``mul, true_div, inv``."""

    main: Elemwise
    inverse: Elemwise
    reciprocal: Elemwise
    identity: int
    fold: Callable[[Any, Any], Any]
    unfold: Callable[[Any, Any], Any]

    def sides(self, node: TensorApply) -> tuple[list[Any], list[Any]] | None:
        """Return what ``node`` puts on either side, or None if it is not of this family."""
        op = scalar_of(node)
        if op == self.main.scalar_op:
            return list(node.inputs), []
        if op == self.inverse.scalar_op:
            return [node.inputs[0]], [node.inputs[1]]
        if op == self.reciprocal.scalar_op:
            return [], [node.inputs[0]]
        return None


sums = Family(F.add, F.sub, F.neg, 0, np.add, np.subtract)
products = Family(F.mul, F.true_div, F.inv, 1, np.multiply, np.true_divide)


def _is_inner(node: TensorApply, family: Family) -> bool:
    """Return whether the result of ``node`` goes only into one node of the family, which will look at it itself."""
    (out,) = node.outputs
    if len(out.clients) != 1:
        return False
    client = out.clients[0][0]
    return (
        isinstance(client, Apply)
        and family.sides(client) is not None
        and client.outputs[0].type.dtype == out.type.dtype
    )


def _collect(root: TensorApply, family: Family) -> tuple[list[Tensor], list[Tensor], int]:
    """Return both sides of the tree under ``root``, and the sign that negations in a product leave."""
    dtype = root.outputs[0].type.dtype
    above: list[Tensor] = []
    below: list[Tensor] = []
    sign = 1
    todo: list[tuple[Any, bool]] = [(root.outputs[0], True)]
    while todo:
        v, up = todo.pop()
        node = v.owner
        # A negation that others use is opened, too, unless of a sum: it costs nothing.
        negated = made_by(v, F.neg) if family is sums else None
        alone = len(v.clients) == 1 or (negated is not None and not _is_sum(negated.inputs[0]))
        open_ = node is not None and (v is root.outputs[0] or alone) and v.type.dtype == dtype
        sides = family.sides(node) if open_ else None
        if sides is None and family is products and open_ and scalar_of(node) == scal.neg:
            sign = -sign
            todo.append((node.inputs[0], up))
            continue
        if sides is None:
            (above if up else below).append(v)
            continue
        # A stack turns the order round, so what comes first is pushed last.
        todo.extend((x, not up) for x in reversed(sides[1]))
        todo.extend((x, up) for x in reversed(sides[0]))
    return above, below, sign


def _is_sum(v: Tensor) -> bool:
    return v.owner is not None and sums.sides(v.owner) is not None


def _cancel(above: list[Tensor], below: list[Tensor]) -> tuple[list[Tensor], list[Tensor], bool]:
    """Return both sides without what is on both."""
    against: dict[Tensor, int] = {}
    for v in below:
        if not isinstance(v, Constant):
            against[v] = against.get(v, 0) + 1
    kept = []
    changed = False
    for v in above:
        if against.get(v, 0):
            against[v] -= 1
            changed = True
        else:
            kept.append(v)
    if not changed:
        return above, below, False
    rest = []
    for v in reversed(below):
        if isinstance(v, Constant) or against[v]:
            rest.append(v)
            if not isinstance(v, Constant):
                against[v] -= 1
    return kept, rest[::-1], True


def _open_shared(
    above: list[Tensor], below: list[Tensor], family: Family, out: TensorType
) -> tuple[list[Tensor], list[Tensor]]:
    """Open terms that others use as well, where that lets something cancel: ``(x * y) / y`` with ``x * y`` kept.

    So is ``(x / y) / y`` with ``x / y`` kept, if y is stretched: ``x / sqr(y)`` divides each element once, also in a
    kernel that does not have ``x / y``. A term of a narrower dtype than the whole stays: a product of int8 may have
    wrapped before it is divided.
    """
    sides: tuple[list[Tensor], list[Tensor]] = ([], [])
    for k, (side, other) in enumerate(((above, below), (below, above))):
        for v in side:
            ups, downs = _opened(v, family)
            met = _meet(ups, other) or _meet(downs, side)
            if family is products and k == 0 and len(ups) == 1 and downs and below:
                met = met or _is_stretched([*downs, *below], out)
            if not met or any(x.type.dtype != out.dtype for x in (v, *ups, *downs)):
                ups, downs = [v], []
            sides[k].extend(ups)
            sides[1 - k].extend(downs)
    return sides


def _is_stretched(factors: Sequence[Tensor], out: TensorType) -> bool:
    """Return whether a product of these has fewer elements than a result of this type."""
    axes = zip(out.broadcastable, *(v.type.broadcastable for v in factors), strict=True)
    return any(not whole and all(each) for whole, *each in axes)


def _opened(v: Tensor, family: Family) -> tuple[list[Tensor], list[Tensor]]:
    """Return what ``v`` consists of on its side and on the other."""
    above, below = ([], []) if v.owner is None else family.sides(v.owner) or ([], [])
    return [w for x in above for w in _terms(x, family)], [w for x in below for w in _terms(x, family)]


def _meet(terms: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    return any(v in others and not isinstance(v, Constant) for v in terms)


def _terms(v: Tensor, family: Family) -> list[Tensor]:
    made = made_by(v, family.main)
    return [v] if made is None else list(made.inputs)


def _gather(side: Sequence[Tensor]) -> tuple[list[np.generic], list[Tensor]]:
    """Return the numbers of a side, and its other terms."""
    numbers, terms = [], []
    for v in side:
        # A fill is worth a number too, but it also says a shape; other rules take it away first.
        value = uniform(v) if isinstance(v, Constant) and all(v.type.broadcastable) else None
        if value is None:
            terms.append(v)
        else:
            numbers.append(value)
    return numbers, terms


def _folded(
    family: Family, above: list[np.generic], below: list[np.generic], sign: int, dtype: str
) -> np.generic | None:
    """Return one number for all, or None where rounding would change it beyond repair."""
    if dtype in scal.discrete_dtypes and (sign < 0 and family is products):
        return None
    kind = np.dtype(dtype).type
    total = kind(family.identity)
    with np.errstate(all="ignore"):
        for value in above:
            total = kind(family.fold(total, np.asarray(value).astype(dtype)[()]))
        for value in below:
            total = kind(family.unfold(total, np.asarray(value).astype(dtype)[()]))
        if family is products and sign < 0:
            total = kind(-total)
    if dtype in scal.discrete_dtypes:
        return total
    sound = all(np.isfinite(v) and (v != 0 or family is sums) for v in (*above, *below))
    if sound and not (np.isfinite(total) and (total != 0 or family is sums)):
        return None
    return total


def _write(family: Family, total: np.generic, above: list[Any], below: list[Tensor], dtype: str, ndim: int) -> Any:
    """Return the expression of both sides, the number first."""
    negate = False
    if family is products and above + below and total == -1:
        total, negate = np.dtype(dtype).type(1), True
    if total != family.identity or not above + below:
        above = [number_of(total, dtype, ndim), *above]
    # Each part is computed in the dtype of the whole: a narrower one could wrap or round where the whole did not.
    if not below:
        result = combine(family.main, above, dtype)
    elif not above:
        result = family.reciprocal(in_dtype(combine(family.main, below, dtype), dtype))
    else:
        first, second = combine(family.main, above, dtype), combine(family.main, below, dtype)
        if "bool" in (first.type.dtype, second.type.dtype) or scal.upcast(first.type.dtype, second.type.dtype) != dtype:
            first, second = in_dtype(first, dtype), in_dtype(second, dtype)
        result = family.inverse(first, second)
    if negate:
        result = F.neg(in_dtype(result, dtype))
    return result


def _is_plain(node: TensorApply, family: Family, above: list[Tensor], below: list[Tensor]) -> bool:
    """Return whether nothing can be gathered, the usual case: this is decided without writing anything."""
    inputs: list[Tensor] = node.inputs
    dtype = node.outputs[0].type.dtype
    if any(v.owner is not None and family.sides(v.owner) is not None for v in (*above, *below)):
        return False  # others use that one, too; opened, it may cancel something
    if [*above, *below] != inputs:
        is_quotient = below != [] and scalar_of(node) == family.inverse.scalar_op
        return is_quotient and _is_plain_quotient(node, family, above, below)
    first, *rest = inputs
    if not rest:
        return bool(below) and not isinstance(first, Constant) and first.type.dtype == dtype
    if any(isinstance(v, Constant) for v in rest):
        return False
    if below:
        return (
            scalar_of(node) == family.inverse.scalar_op
            and not isinstance(first, Constant)
            and first is not rest[0]
            and made_by(first, family.main) is None
            and first.type.dtype == rest[0].type.dtype == dtype
        )
    if not isinstance(first, Constant):
        return True
    value = uniform(first) if first.type.dtype == dtype and all(first.type.broadcastable) else None
    return value is not None and bool(np.isfinite(value)) and value not in (family.identity, 0, -1)


def _is_plain_quotient(node: TensorApply, family: Family, above: list[Tensor], below: list[Tensor]) -> bool:
    """Return whether a product by a product, or a sum less a sum, is as it would be written, and nothing cancels."""
    out = node.outputs[0]
    for v, side in zip(node.inputs, (above, below), strict=True):
        made = made_by(v, family.main)
        if side != ([v] if made is None or len(v.clients) != 1 else made.inputs) or v.type.dtype != out.type.dtype:
            return False
    return set(above).isdisjoint(below) and not any(
        isinstance(v, Constant) or v.type.dtype != out.type.dtype or made_by(v, family.main) is not None
        for v in (*above, *below)
    )


def canonical(node: TensorApply, family: Family) -> Any:
    """Return what ``node`` becomes in the form of its family, or None where it has it."""
    out: Tensor = node.outputs[0]
    dtype = out.type.dtype
    if dtype == "bool" or dtype == "float16" or (family is products and scalar_of(node) == scal.neg):
        return None
    if family.sides(node) is None or _is_inner(node, family):
        return None
    if family is products and dtype in scal.discrete_dtypes and scalar_of(node) != scal.mul:
        return None
    above, below, sign = _collect(node, family)
    if _is_plain(node, family, above, below):
        return None
    above, below, cancelled = _cancel(above, below)
    if not cancelled:
        above, below, cancelled = _cancel(*_open_shared(above, below, family, out.type))
    (up, above), (down, below) = _gather(above), _gather(below)
    if not above and not below and (up or down) and not cancelled:
        return None  # constant folding computes it
    total = _folded(family, up, down, sign, dtype)
    if total is None:
        return None
    new = _write(family, total, above, below, dtype, out.type.ndim)
    if same_expression(new, out, above + below):
        return None
    return conform(new, out)


def same_expression(new: Tensor, old: Tensor, leaves: Sequence[Tensor]) -> bool:
    """Return whether two expressions over the same leaves are written in the same way."""
    stop = set(leaves)
    todo = [(new, old)]
    while todo:
        a, b = todo.pop()
        if a is b or same(a, b):
            continue
        if a in stop or b in stop or a.owner is None or b.owner is None or a.type != b.type:
            return False
        if a.owner.op != b.owner.op or len(a.owner.inputs) != len(b.owner.inputs):
            return False
        todo.extend(zip(a.owner.inputs, b.owner.inputs, strict=True))
    return True


_SUMS = (F.add, F.sub, F.neg)
_PRODUCTS = (F.mul, F.true_div, F.inv)


@local_rule(_SUMS, keeps="finite")
def local_add_canonizer(node: TensorApply) -> Answer:
    """Write a sum with its constants in one number, without what is both added and subtracted."""
    new = canonical(node, sums)
    return None if new is None else [new]


@local_rule(_PRODUCTS, keeps="finite")
def local_mul_canonizer(node: TensorApply) -> Answer:
    """Write a product with its constants in one number, without what is both multiplied and divided by."""
    new = canonical(node, products)
    return None if new is None else [new]


@local_rule([F.mul], keeps="finite", phases=("canonicalize", "stabilize"))
def local_greedy_distributor(node: TensorApply) -> Answer:
    """``(a / s + b / t) * s`` is ``a + b / t * s``: a factor enters a sum with a term that is divided by it.

    Gradients of sums of logarithms look like this, and where ``s`` is tiny the division would overflow.
    """
    out: Tensor = node.outputs[0]
    if is_discrete(out):
        return None
    for i, total in enumerate(node.inputs):
        found = made_by(total, F.add) or made_by(total, F.sub)
        if found is None or len(total.clients) != 1 or total.type != out.type:
            continue
        below = [v for term in found.inputs for v in divisors(term)]
        for j, factor in enumerate(node.inputs):
            if j == i or factor not in below or factor.type.dtype != out.type.dtype:
                continue
            divided = [times(term, factor) for term in found.inputs]
            terms = [F.mul(t, factor) if d is None else d for t, d in zip(found.inputs, divided, strict=True)]
            rest = [v for k, v in enumerate(node.inputs) if k not in (i, j)]
            new = found.op(*terms)
            return [conform(F.mul(*rest, new) if rest else new, out)]
    return None


def divisors(term: Variable, levels: int = NESTED) -> list[Tensor]:
    """Return what ``term``, or a term of it, is divided by."""
    if levels == 0:
        return []
    negated = made_by(term, F.neg)
    if negated is not None:
        return divisors(negated.inputs[0], levels - 1)
    chosen = made_by(term, F.switch)
    if chosen is not None:
        return [d for branch in chosen.inputs[1:] for d in divisors(branch, levels - 1)]
    product, total = made_by(term, F.mul), terms_of(term)
    if total is not None:
        return [d for v in total.inputs for d in divisors(v, levels - 1)]
    if product is not None:
        return [d for v in product.inputs for d in divisors(v, levels - 1) if made_by(v, F.mul) is None]
    over, inverse = made_by(term, F.true_div), made_by(term, F.inv)
    below = over.inputs[1] if over is not None else inverse.inputs[0] if inverse is not None else None
    if below is None:
        return []
    return factors_of(below) if over is None else factors_of(below) + divisors(over.inputs[0], levels - 1)


def _is_number(v: Variable) -> bool:
    return isinstance(v, Constant) and uniform(v) is not None


def _has_sign(v: Tensor) -> bool:
    # The negative of an unsigned number is another large number.
    return not is_complex(v) and v.type.dtype not in scal.uint_dtypes


def _negated(c: Any, rest: tuple[Tensor, ...], out: Any) -> Tensor:
    # Negated in the dtype of the result: that of the constant may know no negative numbers.
    number = TensorType(out.type.dtype, c.type.broadcastable).make_constant(-c.data.astype(out.type.dtype))
    return F.mul(number, *rest)


x, y, c = pattern_vars("x y c")
rest = Rest("rest")
rule("local_neg_to_mul", E(F.neg)(P(F.mul, commutative=False)(c.where(_is_number), rest).single_use()), _negated,
     when=lambda out: is_real(out),
     doc="Let a negation enter the product that it negates: its constant changes sign.")  # fmt: skip


rule("local_mul_zero", E(F.mul)(worth(0), rest), 0, keeps="finite",
     doc="Something times 0 is 0 (where the something is finite).")  # fmt: skip


rule("local_zero_div", P((F.true_div, F.int_div))(worth(0), y), 0, keeps="finite",
     phases=("canonicalize", "specialize"),
     doc="0 divided by something is 0 (where the something is not).")  # fmt: skip


rule("local_div_to_inv", E(F.true_div)(worth(1), y), E(F.inv)(y), keeps="close", phases=("specialize",),
     when=lambda y, out: y.type.dtype == out.type.dtype, doc="1 divided by something is its reciprocal.")  # fmt: skip


def _together(op: Any, kept: Sequence[Tensor], out: Tensor) -> Tensor:
    """Return ``op`` of some of the inputs of ``out``, computed in its dtype: in a smaller one it might wrap around."""
    new = kept[0] if len(kept) == 1 else op(*kept)
    if new.type.dtype == out.type.dtype:
        return new
    first = F.cast(kept[0], out.type.dtype)
    return first if len(kept) == 1 else op(first, *kept[1:])


def _has_negatives(out: Tensor) -> bool:
    # A complex infinity times 1 is no number, in either part.
    return not out.type.dtype.startswith(("bool", "uint")) and not is_complex(out)


rule("local_mul_specialize", E(F.mul)(worth(1), rest), lambda rest, out: _together(F.mul, rest, out) if rest else 1,
     when=_has_negatives, phases=("specialize",),
     also=[(E(F.mul)(worth(-1), rest), lambda rest, out: F.neg(_together(F.mul, rest, out)) if rest else -1,
            _has_negatives)],
     doc="A product without factors 1, and with -1 as a negation.")  # fmt: skip


rule("local_add_specialize", E(F.add)(worth(0), rest), lambda rest, out: _together(F.add, rest, out) if rest else 0,
     when=lambda out: out.type.dtype != "bool", keeps="close", phases=("specialize",),
     doc="A sum without terms 0. (With them, a negative zero is a positive one.)")  # fmt: skip


rule("local_mul_to_sqr", P(F.mul, commutative=False)(x, x), E(F.sqr)(x), phases=("specialize",),
     when=lambda out: out.type.dtype != "bool", doc="Something times itself is its square.")  # fmt: skip


rule("local_neg_neg", E(F.neg)(E(F.neg)(x)), x, phases=("stabilize", "specialize"))
rule("local_neg_div_neg", E(F.neg)(E(F.true_div)(E(F.neg)(x.where(is_real)), y.where(is_not_complex))), x / y,
     phases=("specialize",))  # fmt: skip
rule("local_intdiv_by_one", x.where(is_discrete) // 1, x)


whole = x.where(is_discrete)
rule("local_elemwise_sub_zeros", whole - whole, 0, phases=("specialize",),
     doc="Something less itself is 0; for whole numbers only, as infinity less infinity is not.")  # fmt: skip


rule("local_abs_lift", E(F.abs_)(E(F.neg)(x.where(_has_sign))), E(F.abs_)(x),
     also=[(E(F.abs_)(E(F.abs_)(x).where(_has_sign)), E(F.abs_)(x))],
     doc="The absolute value does not see signs: those of a negation, or of another absolute value.")  # fmt: skip


@local_rule([F.mul, F.true_div], keeps="finite", phases=("specialize",), needs=[F.abs_])
def local_abs_merge(node: TensorApply) -> Answer:
    """A product or quotient of absolute values is the absolute value of one."""
    out: Tensor = node.outputs[0]
    if is_complex(out) or len(node.inputs) < 2:
        return None
    insides = [made_by(v, F.abs_) for v in node.inputs]
    # The product of whole numbers that wraps around may be negative, and the smallest one has no absolute value.
    if sum(a is not None for a in insides) < 2 or not all(is_real(a.inputs[0]) for a in insides if a is not None):
        return None
    if all(a is not None for a in insides):
        return [conform(F.abs_(node.op(*[a.inputs[0] for a in insides if a is not None])), out)]
    merged = F.abs_(combine(F.mul, [a.inputs[0] for a in insides if a is not None], out.type.dtype))
    rest = [v for v, a in zip(node.inputs, insides, strict=True) if a is None]
    return [conform(F.mul(merged, *rest), out)]
