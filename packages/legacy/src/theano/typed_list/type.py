"""The type of lists whose items are all of one type."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import product
from typing import Any

from theano.graph import Type
from theano.runtime.inspection import Inspection, inspection_of, inspections


class TypedListType(Type):
    """Python lists whose items are all valid values of one type.

    Parameters
    ----------
    ttype : Type
        Of the items.
    depth : int
        How many more lists are around them: 0 is a list of items, 1 a list of lists of items.

    Raises
    ------
    TypeError
        ``ttype`` is no type.
    ValueError
        ``depth`` is negative.

    Examples
    --------
    >>> import theano.tensor as T
    >>> TypedListType(T.dvector)
    TypedList <TensorType(float64, vector)>
    >>> TypedListType(T.dvector, 1) == TypedListType(TypedListType(T.dvector))
    True
    >>> TypedListType(T.dvector).filter([[1, 2], []])
    [array([1., 2.]), array([], dtype=float64)]
    """

    __props__ = ("ttype",)

    def __init__(self, ttype: Type, depth: int = 0):
        if depth < 0:
            raise ValueError(
                f"TypedListType: depth is {depth}; it is the number of lists around the innermost, from 0 on"
            )
        if not isinstance(ttype, Type):
            raise TypeError(f"TypedListType: ttype must be a type such as theano.tensor.dvector, not {ttype!r}")
        self.ttype: Type = ttype if depth == 0 else TypedListType(ttype, depth - 1)

    def get_depth(self) -> int:
        """Return how many lists are around the innermost one.

        Examples
        --------
        >>> import theano.tensor as T
        >>> TypedListType(T.dvector, 3).get_depth()
        3
        """
        return self.ttype.get_depth() + 1 if isinstance(self.ttype, TypedListType) else 0

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> list[Any]:
        """Return ``value``, a list, with items as the type of items wants them; the same list where they all are.

        Raises
        ------
        TypeError
            It is no list, or an item does not fit.
        """
        if not isinstance(value, list):
            raise TypeError(f"a list is wanted for {self}, not {value!r} of type {type(value).__name__}")
        items = []
        for i, item in enumerate(value):
            try:
                items.append(self.ttype.filter(item, strict, allow_downcast))
            except (TypeError, ValueError) as error:
                raise TypeError(f"item {i} of a list for {self} does not fit: {error}") from error
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items

    def values_eq(self, a: Any, b: Any) -> bool:
        """Return whether two lists are equally long, with equal items at each place."""
        return len(a) == len(b) and all(map(self.ttype.values_eq, a, b))

    def values_eq_approx(self, a: Any, b: Any, **tolerances: Any) -> bool:
        """Return the same, with items equal within rounding."""
        same: Any = self.ttype.values_eq_approx
        return len(a) == len(b) and all(same(x, y, **tolerances) for x, y in zip(a, b, strict=True))

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Return whether two values, lists or items, may be in the same memory."""
        if a is b:
            return True
        mine, others = (_items(v) for v in (a, b))
        return any(_share(self.innermost, x, y) for x, y in product(mine, others))

    @property
    def innermost(self) -> Type:
        """The type of what is no list any more."""
        return self.ttype.innermost if isinstance(self.ttype, TypedListType) else self.ttype

    def value_copy(self, value: Any) -> list[Any]:
        """Return a list with copies of the items."""
        return [self.ttype.value_copy(item) for item in value]

    def constant_signature(self, value: Any) -> Hashable:
        """Return the signatures of the items."""
        return tuple(self.ttype.constant_signature(item) for item in value)

    def __str__(self) -> str:
        return f"TypedList <{self.ttype}>"


def _items(value: Any) -> Iterator[Any]:
    """Yield what is in a list, and in the lists in it; of an item, itself."""
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        yield from _items(item)


def _share(kind: Type, a: Any, b: Any) -> bool:
    return a is b or kind.may_share_memory(a, b)


class ListInspection(Inspection):
    """How the modes that check nodes look at lists: item by item.

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> asked = ListInspection(TypedListType(T.dvector))
    >>> asked.same_bytes([np.zeros(2)], [np.zeros(2)]), asked.same_bytes([np.zeros(2)], [-np.zeros(2)])
    (True, False)
    """

    kind: TypedListType

    def copy_as_laid_out(self, value: Any) -> Any:
        """Return a list of copies that have the memory layout of the items."""
        of_items = inspection_of(self.kind.ttype)
        return [of_items.copy_as_laid_out(item) for item in value]

    def same_bytes(self, a: Any, b: Any) -> bool:
        """Return whether two lists agree to the last bit."""
        of_items = inspection_of(self.kind.ttype)
        return len(a) == len(b) and all(map(of_items.same_bytes, a, b))

    def same_layout(self, a: Any, b: Any) -> bool:
        """Return whether the items of two lists have the same memory layout."""
        of_items = inspection_of(self.kind.ttype)
        return len(a) == len(b) and all(map(of_items.same_layout, a, b))

    def same_where_finite(self, a: Any, b: Any) -> bool:
        """Return whether the items of ``b`` are those of ``a``, within rounding, where these are finite."""
        of_items = inspection_of(self.kind.ttype)
        return len(a) == len(b) and all(map(of_items.same_where_finite, a, b))


inspections.register(TypedListType, ListInspection)
