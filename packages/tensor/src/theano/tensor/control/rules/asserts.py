"""Checks in a graph: dropped where they cannot fail, or all of them for those who say so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from theano.rewriting import P, Rest, Var, rule
from theano.tensor.control.checks import Assert, CheckedShape, same_length
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.predicates import uniform

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def _checks_less(op: Assert, x: Tensor, conditions: tuple[Tensor, ...]) -> Any:
    open_ = [c for c in conditions if not _holds(c)]
    if len(open_) == len(conditions) and conditions:
        return None
    return op(x, *open_) if open_ else x


x, conditions = Var("x"), Rest("conditions")
rule("local_remove_useless_assert", P(Assert, "op")(x, conditions), _checks_less, phases=("canonicalize", "specialize"),
     doc="A condition that is known to hold is not checked; one that is known to fail stays for run time to report.",
)  # fmt: skip


def if_equal(value: TensorLike, pairs: Iterable[tuple[Any, Any]], message: str) -> Any:
    """Return ``value``, with a check that lengths agree, as far as that is not known.

    Parameters
    ----------
    value : Variable
    pairs : iterable of (Variable, Variable)
        The lengths.
    message : str
        Of the error.
    """
    conditions = [F.eq(m, n) for m, n in pairs if not same_length(m, n)]
    return CheckedShape(message)(value, *conditions) if conditions else value


def _holds(condition: Tensor) -> bool:
    number = uniform(condition)
    return number is not None and bool(number)


rule("local_remove_all_assert", P(Assert)(x, conditions), x, phases=("useless",),
     tags=("unsafe",),
     doc="Removes all assertions. Unsafe: enable at your own risk.")  # fmt: skip
