"""A set that keeps the insertion order of its elements, so that iteration is deterministic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import Any

from theano.layers import lazily


def check_deterministic(iterable: Any) -> None:
    """Refuse an iterable whose order differs from process to process.

    Raises
    ------
    TypeError
        It is a set of Python's.

    Examples
    --------
    >>> check_deterministic({"b", "a"})
    Traceback (most recent call last):
     ...
    TypeError: the order of a set is not the same in each process; give a list, sorted(...) or an OrderedSet
    """
    if isinstance(iterable, (set, frozenset)):
        kind = type(iterable).__name__
        raise TypeError(
            f"the order of a {kind} is not the same in each process; give a list, sorted(...) or an OrderedSet"
        )


class OrderedSet(MutableSet[Any]):
    """A set whose elements stay in the order in which they came first.

    Parameters
    ----------
    iterable : iterable, optional
        Not a set of Python's, whose order is chance.

    Examples
    --------
    >>> s = OrderedSet(["b", "a", "b"])
    >>> s.add("c")
    >>> s
    OrderedSet(['b', 'a', 'c'])
    >>> s.pop(), list(s), s == ["b", "a"]
    ('c', ['b', 'a'], True)
    """

    def __init__(self, iterable: Iterable[Any] | None = None):
        self._elements: dict[Any, None] = {}
        if iterable is not None:
            self.update(iterable)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Older versions wrote a dictionary of links, by elements.
        self._elements = dict.fromkeys(state.get("_OrderedSet__map", state.get("_elements", ())))

    def __contains__(self, element: object) -> bool:
        return element in self._elements

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self) if self else ''})"

    def __eq__(self, other: object) -> bool:
        """Return whether the elements are the same, and their order too, if the other has one."""
        if isinstance(other, (OrderedSet, list, tuple)):
            return list(self) == list(other)
        return set(self) == other

    __hash__ = None  # type: ignore[assignment]

    def add(self, element: Any) -> None:
        """Add an element at the end, if it is not there."""
        self._elements[element] = None

    def discard(self, element: Any) -> None:
        """Remove an element, if it is there."""
        self._elements.pop(element, None)

    def update(self, iterable: Iterable[Any]) -> None:
        """Add all elements of something that has an order."""
        check_deterministic(iterable)
        for element in iterable:
            self.add(element)

    def union(self, other: Iterable[Any]) -> OrderedSet:
        """Return a new set with the elements of the other behind."""
        found = self.copy()
        found.update(other)
        return found

    def copy(self) -> OrderedSet:
        """Return a set of the same elements."""
        return type(self)(self)

    def pop(self, last: bool = True) -> Any:
        """Remove and return the last element, or the first.

        Raises
        ------
        KeyError
            The set is empty.
        """
        if not self:
            raise KeyError("the set is empty")
        element = next(reversed(self) if last else iter(self))
        self.discard(element)
        return element


__getattr__, __dir__ = lazily(globals())
