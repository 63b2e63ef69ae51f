"""Queries: which passes and rules take part, and the queries that have a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from theano.records import record, replace

if TYPE_CHECKING:
    from theano.graph.annotations import Value

Tags = Iterable[str] | str | None


@record(frozen=True)
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
    extra_optimizations : tuple of (Pass, float)
        What runs as well, and at which position. In the query of a mode, they may be user-defined graph rewriters:
        compiling adapts them.

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

    def __setattr__(self, name: str, value: Value) -> None:
        """Set a field, in the form in which a query keeps it: programs make a query and set its fields then."""
        if name not in self.__dict__:
            raise AttributeError(f"a Query has no {name}; it has {', '.join(self.__dict__)}")
        self.__dict__.update(replace(self, **{name: value}).__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = ("include", "require", "exclude", "subquery", "position_cutoff", "extra_optimizations")
        # Pickles may have None for what is not limited, and lack fields.
        given = {name: state[name] for name in names if state.get(name) is not None}
        self.__init__(**given)  # type: ignore[misc]

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
        """Return a query that runs further passes, each given with its position."""
        return replace(self, extra_optimizations=(*self.extra_optimizations, *optimizations))

    def picks(self, tags: frozenset[str] | set[str]) -> bool:
        """Return whether something with ``tags`` takes part."""
        return not self.include.isdisjoint(tags) and self.require <= tags and self.exclude.isdisjoint(tags)

    def inside(self, name: str) -> Query:
        """Return what to ask the collection called ``name``: a cutoff and what is added speak of the outermost only."""
        inner = dict(self.subquery).get(name, self) if self.subquery else self
        if not inner.extra_optimizations and inner.position_cutoff == float("inf"):
            return inner
        return replace(inner, position_cutoff=float("inf"), extra_optimizations=())


#: What the names that users may give as ``optimizer`` mean.
predefined_queries: dict[str | None, Query] = {
    None: Query(),
    "None": Query(),
    "merge": Query(include=["merge"]),
    "fast_compile": Query(include=["fast_compile"]),
    "o1": Query(include=["fast_compile"]),
    "o2": Query(include=["fast_run"], exclude=["elemwise_fusion", "inplace"]),
    "o3": Query(include=["fast_run"], exclude=["inplace"]),
    "o4": Query(include=["fast_run"]),
    "fast_run": Query(include=["fast_run"]),
    "fast_run_stable": Query(include=["fast_run"], require=["stable"]),
    "stabilize": Query(include=["fast_run"], position_cutoff=1.5000001),
    "unsafe": Query(include=["fast_run", "unsafe"], exclude=["inplace"]),
}


def query_of(what: str | Query | None) -> Query:
    """Return the query that ``what`` names.

    Raises
    ------
    ValueError
        No query has that name.
    """
    if isinstance(what, Query):
        return what
    if what not in predefined_queries:
        known = ", ".join(str(name) for name in predefined_queries if name is not None)
        raise ValueError(f"no optimizer is called {what!r}; there are {known}")
    return predefined_queries[what]
