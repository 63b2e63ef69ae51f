"""How the values of a type are looked at by the modes that check or watch nodes (``DebugMode``, ``NanGuardMode``).

A type itself says how its values are compared and copied (``values_eq``, ``values_eq_approx``, ``value_copy``,
``may_share_memory``). What else these modes want to know is asked here; a layer whose values have a memory layout,
or are numbers, registers its own answers for its type, which hold for the classes derived from it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from theano.extensions import Table
from theano.graph.type import Type
from theano.records import record

if TYPE_CHECKING:
    from theano.graph.annotations import Value


@record(frozen=True)
class Extremes:
    """What stands out among the numbers of a value: how many are NaN, how many infinite, the largest of the others."""

    nan: int
    inf: int
    largest: float


class Inspection:
    """The answers for one type, made of what every type says.

    Parameters
    ----------
    kind : Type

    Examples
    --------
    >>> from theano.graph import generic
    >>> asked = inspection_of(generic)
    >>> asked.copy_as_laid_out([1]), asked.same_bytes([1], [1]), asked.extremes([1])
    ([1], True, None)
    """

    def __init__(self, kind: Type):
        self.kind = kind

    def copy_as_laid_out(self, value: Value) -> Value:
        """Return a copy that shares no memory with ``value`` and has the same memory layout."""
        return self.kind.value_copy(value)

    def same_bytes(self, a: Any, b: Any) -> bool:
        """Return whether two values agree to the last bit: whether neither of two copies was overwritten."""
        return bool(self.kind.values_eq(a, b))

    def same_layout(self, a: Any, b: Any) -> bool:
        """Return whether two values have the same memory layout."""
        return True

    def spare_memory(self, value: Value, form: str, ndim: int) -> Iterator[tuple[str, Any]]:
        """Yield memory of this type, filled with rubbish, that an op may be offered to put ``value`` into.

        Parameters
        ----------
        value : object
            What the op computes.
        form : {'previous', 'c_contiguous', 'f_contiguous', 'strided', 'wrong_size'}
        ndim : int
            On how many of the last dimensions ``'strided'`` tries its strides.

        Yields
        ------
        name, memory
            What to call it, and a value of this type. Types without memory to speak of yield nothing.
        """
        return iter(())

    def extremes(self, value: Value) -> Extremes | None:
        """Return what is not an ordinary number in ``value``, or None where no number could be out of the ordinary."""
        return None

    def same_where_finite(self, a: Any, b: Any) -> bool:
        """Return whether ``b`` is ``a`` within rounding wherever that is finite."""
        return bool(self.kind.values_eq_approx(a, b))


inspections: Table[type[Type], type[Inspection]] = Table("runtime.inspection.inspections", "how checks look at values")
inspections.register(Type, Inspection)


def inspection_of(kind: Type) -> Inspection:
    """Return who answers for a type: what is registered for the nearest of its classes."""
    return next(inspections[c] for c in type(kind).__mro__ if c in inspections)(kind)
