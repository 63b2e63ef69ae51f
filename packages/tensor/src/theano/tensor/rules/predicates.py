"""The vocabulary of the rules: what a variable is, what it is worth, and how a replacement is made to fit.

It also teaches the patterns of graph-core what Python's operators mean between tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Constant, Variable
from theano.rewriting import P, Pattern, Special, conformers, literal_readers, literal_writers, one_of, operators
from theano.rewriting.pattern import Bindings
from theano.tensor.convert import is_tensor
from theano.tensor.create.alloc import Alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.shape.basic import Rebroadcast, SpecifyShape, patternbroadcast
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

#: The tags of a rule that takes part in quick compilation as well.
FAST = ("fast_run", "fast_compile")


def E(op: Elemwise) -> P:
    """Return an element-wise op for use in patterns; its scalar op says whether inputs may change places."""
    return P(op, commutative=op.scalar_op.commutative, associative=op.scalar_op.nin < 0 and op.scalar_op.associative)


operators.update(
    {
        "add": E(F.add), "sub": E(F.sub), "mul": E(F.mul), "truediv": E(F.true_div), "floordiv": E(F.int_div),
        "mod": E(F.mod), "pow": E(F.pow), "neg": E(F.neg), "abs": E(F.abs_), "and": E(F.and_), "or": E(F.or_),
        "xor": E(F.xor), "invert": E(F.invert),
    }
)  # fmt: skip


#: The ops that convert between dtypes.
CASTS = tuple(F.cast_op(dtype) for dtype in scal.all_dtypes)

#: The transpose of a matrix.
transpose = P(DimShuffle, new_order=(1, 0))


def function_of(argument: Pattern) -> Pattern:
    """Return the pattern of an element-wise function of one argument, under the name f."""
    return P(Elemwise, "f", inplace_pattern={})(argument).where(is_only_output)


def is_only_output(v: Any) -> bool:
    """Return whether the node that computes ``v`` computes nothing else."""
    return len(v.owner.outputs) == 1


def difference(a: int, b: Pattern) -> Pattern:
    """Return the pattern of ``a - b`` in each way that a sum may be written: canonical ones add the negative."""
    return one_of(E(F.sub)(a, b), E(F.add)(a, one_of(-b, E(F.mul)(-1, b))))


class _Worth(Special):
    """Matches what is worth a number everywhere: complex numbers as well, which plain numbers in patterns leave out."""

    def __init__(self, value: object):
        super().__init__(P("worth")(value))
        self.value = value

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        if filled_with(variable, self.value):
            yield bindings

    def may_match(self, variable: Variable) -> bool:
        return filled_with(variable, self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def worth(value: TensorLike) -> Pattern:
    """Return the pattern of what is worth ``value`` everywhere, as :func:`filled_with` sees it."""
    return _Worth(value)


def computed(op: Callable[..., Any]) -> Callable[..., Any]:
    """Return the result of a rule that computes ``op`` of the pattern's ``x`` in the dtype of what it replaces.

    The result may have range that ``x`` has not: 20 ** 2 is 400 in int16, but not in uint8.
    """
    return lambda x, out: op(in_dtype(x, out.type.dtype))


# -- what a variable is --------------------------------------------------------------------------------------


def scalar_of(node: Apply | None) -> Any:
    """Return the scalar op of an element-wise node that writes over nothing, else None."""
    if node is None:
        return None
    op = node.op
    return op.scalar_op if isinstance(op, Elemwise) and not op.destroy_map else None


def made_by(v: Any, op: Elemwise) -> Node | None:
    """Return the node that computes ``v`` if it applies ``op``, else None."""
    node = v.owner
    if node is None:
        return None
    found, wanted = scalar_of(node), op.scalar_op
    # Classes are compared first, since most differ, and to compare ops is a call of Python.
    return node if found is wanted or (type(found) is type(wanted) and found == wanted) else None


def is_float(v: Any) -> bool:
    """Return whether ``v`` holds real or complex numbers, not whole ones."""
    return v.type.dtype in scal.continuous_dtypes


def is_complex(v: Any) -> bool:
    """Return whether ``v`` holds complex numbers."""
    return v.type.dtype in scal.complex_dtypes


def is_real(v: Tensor) -> bool:
    """Return whether ``v`` holds real numbers: not whole ones, some of which wrap around when negated."""
    return is_float(v) and not is_complex(v)


def is_not_complex(v: Tensor) -> bool:
    """Return whether ``v`` holds real or whole numbers: functions of others have branches."""
    return not is_complex(v)


def is_discrete(v: Tensor) -> bool:
    """Return whether ``v`` holds whole numbers or truth values."""
    return v.type.dtype in scal.discrete_dtypes


def only_used_by(v: Tensor, node: Apply) -> bool:
    """Return whether ``node`` alone uses ``v``."""
    return all(client is node for client, _ in v.clients)


def terms_of(v: Variable) -> Apply | None:
    """Return the node that adds up ``v``, if it does so for one user only."""
    total = made_by(v, F.add) or made_by(v, F.sub)
    return total if total is not None and len(v.clients) == 1 else None


def factors_of(v: Tensor) -> list[Tensor]:
    """Return the factors of a product; anything else is its own only factor."""
    product = made_by(v, F.mul)
    return [v] if product is None else list(product.inputs)


#: How deep in an expression a divisor is looked for; what users write is not deeper.
NESTED = 8


def times(v: Any, divisor: TensorLike, levels: int = NESTED) -> Any:
    """Return ``v * divisor`` where ``v`` (or a term of it) was divided by ``divisor``, without dividing; else None."""
    if levels == 0:
        return None
    negated, over, product = made_by(v, F.neg), made_by(v, F.true_div), made_by(v, F.mul)
    total = terms_of(v)
    if total is not None:
        parts = [times(term, divisor, levels - 1) for term in total.inputs]
        if all(part is None for part in parts):
            return None
        pairs = zip(total.inputs, parts, strict=True)
        return total.op(*[F.mul(term, divisor) if part is None else part for term, part in pairs])
    if negated is not None:
        inner = times(negated.inputs[0], divisor, levels - 1)
        return None if inner is None else F.neg(inner)
    chosen = made_by(v, F.switch)
    if chosen is not None:
        condition, *branches = chosen.inputs
        found = [times(branch, divisor, levels - 1) for branch in branches]
        if all(branch is None for branch in found):
            return None
        pairs = zip(branches, found, strict=True)
        return F.switch(condition, *[F.mul(w, divisor) if new is None else new for w, new in pairs])
    if product is not None:
        for i, factor in enumerate(product.inputs):
            inner = times(factor, divisor, levels - 1)
            if inner is not None:
                return F.mul(*[inner if j == i else w for j, w in enumerate(product.inputs)])
        return None
    inverse = made_by(v, F.inv)
    if over is None and inverse is None:
        return None
    one = number_of(1, v.type.dtype, v.type.ndim)
    above, below = (one, inverse.inputs[0]) if inverse is not None else over.inputs  # type: ignore[union-attr]
    if below is divisor:
        return in_dtype(above, v.type.dtype)  # what is done with it may not fit into a narrower one
    factors = made_by(below, F.mul)
    if factors is None or divisor not in factors.inputs:
        inner = times(above, divisor, levels - 1)
        return None if inner is None else F.true_div(inner, below)
    rest = list(factors.inputs)
    rest.remove(divisor)
    return F.true_div(above, combine(F.mul, rest, below.type.dtype))


# -- what a variable is worth --------------------------------------------------------------------------------

#: Views that have the value of their first input everywhere.
_TRANSPARENT = (DimShuffle, Rebroadcast, SpecifyShape, Alloc)


def uniform(v: Variable) -> Any:
    """Return the NumPy number that ``v`` is worth everywhere, or None where that is not known.

    Examples
    --------
    >>> import theano.tensor as T
    >>> uniform(T.zeros_like(T.dmatrix("m"))), uniform(T.dmatrix("m"))
    (np.float64(0.0), None)
    """
    for _ in range(8):  # deeper ones are possible but unusual
        if isinstance(v, Constant):
            return _uniform_constant(v)
        node = v.owner
        if node is None:
            return None
        if isinstance(node.op, _TRANSPARENT):
            v = node.inputs[0]
        elif scalar_of(node) == scal.second:
            v = node.inputs[1]
        else:
            return None
    return None


def _uniform_constant(v: Any) -> Any:
    # Kept as a tag, which the layer's description calls a derived one.
    if not isinstance(v.type, TensorType):
        return None
    known = v.tag.__dict__
    if "_uniform" not in known:
        data = v.data
        same = data.size > 0 and (data.size == 1 or bool(np.all(data == data.reshape(-1)[0])))
        known["_uniform"] = data.reshape(-1)[0] if same else None
    return known["_uniform"]


def filled_with(v: Variable, number: object) -> bool:
    """Return whether ``v`` is worth ``number`` everywhere."""
    value = uniform(v)
    return value is not None and bool(value == number)


def number_like(value: object, v: Any) -> Constant:
    """Return a constant worth ``value``, in the dtype of ``v``, that stretches against it."""
    return number_of(value, v.type.dtype, v.type.ndim)


def number_of(value: object, dtype: str, ndim: int) -> Constant:
    """Return a constant of ``ndim`` dimensions of length 1."""
    data = np.asarray(value).astype(dtype).reshape((1,) * ndim)
    return TensorType(dtype, (True,) * ndim).make_constant(data)


def in_dtype(v: Any, dtype: str) -> Any:
    """Return ``v`` in a dtype."""
    return v if v.type.dtype == dtype else F.cast(v, dtype)


def in_reals(x: Any) -> Any:
    """Return ``x`` in the dtype that functions like exp have of it, in which it can be negated whatever it was."""
    return x if is_float(x) else F.cast(x, F.exp(x).type.dtype)


def combine(op: Elemwise, terms: Sequence[Any], dtype: str) -> Any:
    """Return ``op`` over some of the operands of a node, computed in the dtype of the whole; one stands for itself.

    The sum of two int8 out of a sum with a float64 would wrap around where the whole did not.
    """
    if len(terms) == 1:
        return terms[0]
    made = op(*terms)
    return made if made.type.dtype == dtype else op(F.cast(terms[0], dtype), *terms[1:])


# -- conforming to what is replaced --------------------------------------------------------------------------------


def broadcast_like(new: Any, old: Any) -> Any:
    """Return ``new`` repeated to the shape of ``old``, an element-wise result, without computing ``old``.

    Returns None where the shape cannot be taken from the inputs of ``old``.
    """
    missing = [a and not b for a, b in zip(new.type.broadcastable, old.type.broadcastable, strict=True)]
    if not any(missing):
        return new
    if old.owner is None or not isinstance(old.owner.op, Elemwise):
        return None
    # The input that says most comes first: mostly it says all.
    for model in sorted(old.owner.inputs, key=lambda v: sum(v.type.broadcastable)):
        if any(m and not one for m, one in zip(missing, model.type.broadcastable, strict=True)):
            new = F.second(model, new)
            missing = [a and not b for a, b in zip(new.type.broadcastable, old.type.broadcastable, strict=True)]
            if not any(missing):
                return new
    return None


@conformers.register
def conform(new: Any, old: Any) -> Any:
    """Return ``new`` with the dtype, the dimensions and the broadcast pattern of ``old``, or None."""
    if not is_tensor(new) or not is_tensor(old):
        return None
    if new.type.dtype != old.type.dtype:
        if new.type.dtype in scal.complex_dtypes and old.type.dtype not in scal.complex_dtypes:
            return None
        if isinstance(new, Constant):
            new = TensorType(old.type.dtype, new.type.broadcastable).make_constant(new.data.astype(old.type.dtype))
        else:
            new = F.cast(new, old.type.dtype)
    extra = old.type.ndim - new.type.ndim
    if extra < 0:
        return None
    if extra:
        new = DimShuffle(new.type.broadcastable, ["x"] * extra + list(range(new.type.ndim)))(new)
    new = broadcast_like(new, old)
    if new is not None and new.type.broadcastable != old.type.broadcastable:
        new = patternbroadcast(new, old.type.broadcastable)
    return new


@literal_writers.register
def constant_like(value: int, old: Variable) -> Any:
    """Return ``value`` everywhere, in place of ``old``, or None."""
    return conform(number_like(value, old), old)


@literal_readers.register
def _literal(v: Variable) -> Any:
    # Not a complex number: what the patterns say of 1 they do not say of functions of complex numbers.
    return uniform(v) if is_tensor(v) and not is_complex(v) else None

