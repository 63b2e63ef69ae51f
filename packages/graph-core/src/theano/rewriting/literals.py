"""What numbers and types are to a layer: what a variable is worth, and how a replacement is made to fit.

The layer that has types with numbers enters a way to tell what a variable is worth in :data:`literal_readers`, one to
make a variable of a number in :data:`literal_writers`, and one to make a replacement fit in :data:`conformers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.extensions import Chain
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Value

#: Functions that return what a variable is worth everywhere, as a Python number, or None. The first answer counts.
literal_readers: Chain[Callable[[Variable], Any]] = Chain(
    "rewriting.literals.literal_readers", "what a variable is worth"
)

#: Functions ``(number, old) -> Variable or None`` that make what is worth ``number`` everywhere, in place of ``old``.
literal_writers: Chain[Callable[[Any, Variable], Variable | None]] = Chain(
    "rewriting.literals.literal_writers", "how a number takes the place of a variable"
)

#: Functions ``(new, old) -> Variable or None`` that bring a replacement to the type of what it replaces.
conformers: Chain[Callable[[Variable, Variable], Variable | None]] = Chain(
    "rewriting.literals.conformers", "how a replacement gets the type of what it replaces"
)


def literal_value(variable: Variable) -> Any:
    """Return the one number that ``variable`` is worth everywhere, or None where that is not known."""
    for read in literal_readers:
        value = read(variable)
        if value is not None:
            return value
    return None


def literal_like(value: Value, old: Variable) -> Variable | None:
    """Return a variable that is worth ``value`` everywhere, in place of ``old``, or None where none is known."""
    if not literal_writers:
        return old.type.filter_variable(old.type.filter(value, allow_downcast=True))
    return next((made for write in literal_writers if (made := write(value, old)) is not None), None)


def conform(new: Variable, old: Variable) -> Variable | None:
    """Return ``new`` with the type of ``old``, or None where no way is known."""
    if new.type == old.type:
        return new
    for change in conformers:
        changed = change(new, old)
        if changed is not None and changed.type == old.type:
            return changed
    return None
