"""The users of a variable: a list to look at, from which each of many goes in constant time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

#: A node and a place among its inputs, or ``"output"`` and a place among the outputs of the graph.
Client = tuple[Any, int]


class Clients(Sequence[Client]):
    """The users of a variable in a graph, in the order in which they came.

    No user is there twice, since it is a place. A constant of a long graph has thousands, which rules take away one by
    one: in a list, each of them would have to be looked for.

    Examples
    --------
    >>> users = Clients()
    >>> users.append(("output", 0)); users.append(("output", 1)); users.remove(("output", 0))
    >>> users, users[0], len(users)
    ([('output', 1)], ('output', 1), 1)
    >>> users == [("output", 1)]
    True
    """

    __slots__ = ("_there",)

    def __init__(self) -> None:
        self._there: dict[Client, None] = {}

    def append(self, client: Client) -> None:
        """Add a user, the last one."""
        self._there[client] = None

    def remove(self, client: Client) -> None:
        """Take a user away.

        Raises
        ------
        ValueError
            It is none.
        """
        try:
            del self._there[client]
        except KeyError:
            raise ValueError(f"{client} is no user of the variable") from None

    def __iter__(self) -> Iterator[Client]:
        return iter(self._there)

    def __len__(self) -> int:
        return len(self._there)

    def __contains__(self, client: object) -> bool:
        return client in self._there

    def __getitem__(self, k: int | slice) -> Any:
        if isinstance(k, slice) or k < 0:
            return list(self._there)[k]
        for client in islice(self._there, k, None):
            return client
        raise IndexError(f"a variable with {len(self)} users has no user {k}")

    def __add__(self, other: Any) -> list[Client]:
        return [*self, *other]

    def __radd__(self, other: Any) -> list[Client]:
        return [*other, *self]

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, Clients) else other)

    def are(self, others: dict[Client, None]) -> bool:
        """Return whether these are the users, in any order."""
        return self._there == others

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def copy(self) -> list[Client]:
        """Return a list of the users."""
        return list(self)
