"""Extension points: what a module asks, and modules above it answer.

A module declares a point where it asks, with the type of its argument. Modules with an answer register it there; the
module that asks never learns their names. A `Single` has one answer, a `Chain` several, asked in the order in which
they came, and a `Table` has them by key. Chains and tables are lists and dictionaries, so that to ask costs no more.
A layer that wants to answer before its modules are loaded lists `Extension` objects in its description
(`theano.layers.Layer`); by the name of the point alone (`extension`) where the module that asks should not be loaded
for it either: the answer is kept for when the point is declared.

Examples
--------
>>> greeting: Single[Callable[[str], str]] = Single("example.greeting", "how guests are greeted")
>>> greeting.answer is None
True
>>> greeting.register(lambda name: f"hello, {name}")("you")
'hello, you'
>>> greeting.required()("me")
'hello, me'
>>> points.pop("example.greeting").asks
'how guests are greeted'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from theano.errors import UnavailableLayerError
from theano.records import record

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class Point:
    """Base of the three kinds.

    Parameters
    ----------
    name : str
        The module that asks, without ``theano.``, and a name in it.
    asks : str
        The requested feature, to go on from "no layer here says".
    """

    def __init__(self, name: str, asks: str):
        self.name, self.asks = name, asks
        points[name] = self
        for answer in answers.get(name, ()):
            self.register(*answer)

    def register(self, *answer: Any) -> Any:
        """Take an answer, with its key if answers have one."""
        raise NotImplementedError


#: All points, by name, as their modules are loaded.
points: dict[str, Point] = {}

#: Answers that were given by the name of their point. They stay: an import that is interrupted declares a point again.
answers: dict[str, list[tuple[Any, ...]]] = {}


@record(frozen=True)
class Extension:
    """An answer for a point, to be registered when its layer is: made by ``extension`` of a point.

    Parameters
    ----------
    point : Point or str
        Or its name.
    enter : callable
        Registers the answer.
    """

    point: Point | str
    enter: Callable[[], Any]


def extension(point: str, *answer: Any) -> Extension:
    """Return an answer for a point that is given by name, for a layer's description.

    Parameters
    ----------
    point : str
        Its module, which need not be loaded, without ``theano.``, and its name there.
    *answer : object
        What its ``register`` takes.

    Examples
    --------
    >>> extension("example.farewell", "good bye").enter()
    >>> Single("example.farewell", "how guests leave").required()
    'good bye'
    >>> _ = points.pop("example.farewell"), answers.pop("example.farewell")
    """

    def enter() -> None:
        answers.setdefault(point, []).append(answer)
        if point in points:
            points[point].register(*answer)

    return Extension(point, enter)


class Single(Point, Generic[T]):
    """A point with one answer; the last that was registered counts.

    Attributes
    ----------
    answer : object or None
    """

    answer: T | None = None

    def register(self, answer: T) -> T:
        """Let this be the answer, and return it."""
        self.answer = answer
        return answer

    def required(self) -> T:
        """Return the answer.

        Raises
        ------
        UnavailableLayerError
            None was registered.
        """
        if self.answer is None:
            raise UnavailableLayerError(f"no layer that is loaded here says {self.asks} ({self.name})")
        return self.answer

    def extension(self, answer: T) -> Extension:
        """Return this answer for a layer's description."""
        return Extension(self, lambda: self.register(answer))


class Chain(Point, list[T]):
    """A point with several answers, in the order in which they were registered: a list.

    Examples
    --------
    >>> readers: Chain[Callable[[str], int]] = Chain("example.readers", "what a word is worth")
    >>> readers.register(len) is len, [read("word") for read in readers]
    (True, [4])
    >>> _ = points.pop("example.readers")
    """

    def register(self, answer: T) -> T:
        """Add an answer after the others, and return it; one that is there already stays where it is."""
        if answer not in self:
            self.append(answer)
        return answer

    def extension(self, answer: T) -> Extension:
        """Return this answer for a layer's description."""
        return Extension(self, lambda: self.register(answer))


class Table(Point, dict[K, V]):
    """A point with an answer for each key: a dictionary.

    Examples
    --------
    >>> units: Table[str, float] = Table("example.units", "how long a unit is")
    >>> units.register("inch", 0.0254), units["inch"]
    (0.0254, 0.0254)
    >>> _ = points.pop("example.units")
    """

    def register(self, key: K, answer: V) -> V:
        """Let this be the answer for a key, and return it."""
        self[key] = answer
        return answer

    def extension(self, key: K, answer: V) -> Extension:
        """Return this answer for a layer's description."""
        return Extension(self, lambda: self.register(key, answer))


#: From a module's ``globals()`` to its ``__getattr__`` and ``__dir__``: modules of the lowest tier, which cannot ask
#: `theano.layers` by name, have names of upper layers and old spellings by this.
lazy_names: Single[Callable[[dict[str, Any]], tuple[Callable[[str], Any], Callable[[], list[str]]]]] = Single(
    "extensions.lazy_names", "what else a module has"
)
