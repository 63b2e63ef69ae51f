"""Queries: which entries and rules take part; and what all collections of rules that they pick from have in common."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TextIO

Tags = Iterable[str] | str | None


@dataclass(frozen=True)
class Query:
    """Which entries and rules take part.

    Attributes
    ----------
    include : frozenset of str
        Tags; an entry needs one of them.
    require : frozenset of str
        Tags; an entry needs all of them.
    exclude : frozenset of str
        Tags; an entry with one of them stays out.
    subquery : tuple of (str, Query)
        For entries that are collections themselves: what to ask those of that name instead. A dictionary is taken, too.
    position_cutoff : float
        Entries at this position and later stay out.
    extra_optimizations : tuple of (Optimizer, float)
        What runs as well, and at which position.

    Examples
    --------
    >>> q = Query(include=["fast_run"]).excluding("inplace")
    >>> q.picks({"fast_run"}), q.picks({"fast_run", "inplace"})
    (True, False)
    """

    include: frozenset[str] = frozenset()
    require: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    subquery: tuple[tuple[str, Query], ...] = ()
    position_cutoff: float = float("inf")
    extra_optimizations: tuple[tuple[Any, float], ...] = ()

    def __init__(
        self,
        include: Tags = (),
        require: Tags = (),
        exclude: Tags = (),
        subquery: Mapping[str, Query] | Iterable[tuple[str, Query]] | None = None,
        position_cutoff: float = float("inf"),
        extra_optimizations: Iterable[tuple[Any, float]] | None = None,
    ):
        for name, tags in (("include", include), ("require", require), ("exclude", exclude)):
            object.__setattr__(self, name, frozenset([tags] if isinstance(tags, str) else tags or ()))
        inner = subquery.items() if isinstance(subquery, Mapping) else subquery or ()
        object.__setattr__(self, "subquery", tuple(inner))
        object.__setattr__(self, "position_cutoff", position_cutoff)
        object.__setattr__(self, "extra_optimizations", tuple(extra_optimizations or ()))

    def including(self, *tags: str) -> Query:
        """Return a query that lets ``tags`` in as well."""
        return replace(self, include=self.include | frozenset(tags))

    def excluding(self, *tags: str) -> Query:
        """Return a query that keeps ``tags`` out."""
        return replace(self, exclude=self.exclude | frozenset(tags))

    def requiring(self, *tags: str) -> Query:
        """Return a query that wants all of ``tags``."""
        return replace(self, require=self.require | frozenset(tags))

    def register(self, *optimizations: tuple[Any, float]) -> Query:
        """Return a query that runs further optimizers, each given with its position."""
        return replace(self, extra_optimizations=(*self.extra_optimizations, *optimizations))

    def picks(self, tags: frozenset[str] | set[str]) -> bool:
        """Return whether something with ``tags`` takes part."""
        return not self.include.isdisjoint(tags) and self.require <= tags and self.exclude.isdisjoint(tags)

    def inside(self, name: str) -> Query:
        """Return what to ask the collection called ``name``: a cutoff and what is added speak of the outermost only."""
        return replace(dict(self.subquery).get(name, self), position_cutoff=float("inf"), extra_optimizations=())


def as_query(*tags: str | Query, **changes: Any) -> Query:
    """Return the query that the arguments of :meth:`DB.query` mean.

    Parameters
    ----------
    *tags : str or Query
        A query; or tags, which ``+`` includes, ``-`` excludes and ``&`` requires.
    **changes
        ``subquery``, ``position_cutoff``.

    Examples
    --------
    >>> as_query("+fast_run", "-inplace").exclude
    frozenset({'inplace'})
    """
    if len(tags) == 1 and isinstance(tags[0], Query):
        return replace(tags[0], **changes)
    sets: dict[str, set[str]] = {"+": set(), "-": set(), "&": set()}
    for tag in tags:
        if not isinstance(tag, str) or tag[:1] not in sets:
            raise ValueError(f"a tag to ask for begins with +, & or -: {tag!r} does not")
        sets[tag[0]].add(tag[1:])
    return Query(sets["+"], sets["&"], sets["-"], **changes)


class DB(ABC):
    """A collection of optimizers under names and tags, from which queries pick.

    Attributes
    ----------
    name : str
        Under which a larger collection knows it.
    """

    name: str = ""

    @abstractmethod
    def query(self, *tags: str | Query, **changes: Any) -> Any:
        """Return one optimizer that does what the query picks.

        Parameters
        ----------
        *tags : Query or str
            As for :func:`as_query`: ``db.query("+fast_run", "-inplace")``.
        """

    @abstractmethod
    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of an entry."""

    @abstractmethod
    def _set_tags(self, name: str, tags: frozenset[str]) -> None: ...

    @abstractmethod
    def members(self) -> list[str]:
        """Return the names of all entries, in order."""

    def add_tags(self, name: str, *tags: str) -> None:
        """Give an entry more tags."""
        self._set_tags(name, self.tags(name) | frozenset(tags))

    def remove_tags(self, name: str, *tags: str) -> None:
        """Take tags away from an entry."""
        self._set_tags(name, self.tags(name) - frozenset(tags))

    def print_summary(self, stream: TextIO | None = None) -> None:
        """Print the names and the tags of all entries."""
        out = sys.stdout if stream is None else stream
        print(f"{type(self).__name__} {self.name} (id {id(self)})", file=out)
        for name in self.members():
            print(f"  {name}: {', '.join(sorted(self.tags(name) - {name}))}", file=out)
