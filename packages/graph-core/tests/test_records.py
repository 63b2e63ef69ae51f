"""Records do what dataclasses do, named tuples what those of `typing` do: each statement here is tried on both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from typing import Any, ClassVar

import pytest

from theano import records


@records.record(frozen=True)
class Point:
    x: int
    y: int = 0
    tags: list[str] = records.field(default_factory=list)
    count: ClassVar[int] = 3


@records.record
class Box:
    low: Any
    high: Any = None

    def __post_init__(self):
        self.high = self.low if self.high is None else self.high


@records.record(frozen=True)
class Key:
    name: str
    number: int = 0


@records.record(eq=False)
class Thing:
    name: str


@records.record(frozen=True)
class Own:
    words: frozenset[str] = frozenset()

    def __init__(self, words=()):
        object.__setattr__(self, "words", frozenset(words))


def as_dataclass(cls: type, **options: Any) -> type:
    kept = ("__annotations__", "__post_init__", "__module__", "count")
    body = {name: value for name, value in vars(cls).items() if name in kept}
    for name, default in cls.__record__.defaults.items():
        make = getattr(default, "make", None)
        body[name] = default if make is None else dataclasses.field(default_factory=make)
    made = type(cls.__name__, (), body)
    made.__qualname__ = cls.__qualname__
    return dataclasses.dataclass(made, **options)


PAIRS = [(Point, as_dataclass(Point, frozen=True)), (Box, as_dataclass(Box)), (Key, as_dataclass(Key, frozen=True)),
         (Thing, as_dataclass(Thing, eq=False))]  # fmt: skip
CALLS = [((), {}), ((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1, 2, 3, 4), {}), ((1,), {"y": 5}), ((1,), {"tags": ["a"]}),
         ((), {"x": 1, "y": 2}), ((1,), {"x": 2}), ((1,), {"z": 2}), ((1, 2), {"y": 2}), ((), {"low": 1}),
         ((), {"low": 1, "high": 2}), (("a",), {"number": 2}), ((), {"name": "a"}), ((), {"y": 2}), ((1,), {"name": 2})]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].__name__)
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_calls_make_the_same_or_fail_as_well(pair, call):
    values, named = call
    answers = []
    for cls in pair:
        try:
            made = cls(*values, **named)
            answers.append((repr(made) if cls.__eq__ is not object.__eq__ else made.name, vars(made)))
        except TypeError:
            answers.append("TypeError")
    assert answers[0] == answers[1]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].__name__)
def test_signatures_fields_and_places_are_the_same(pair):
    record, model = pair
    assert str(inspect.signature(record)) == str(inspect.signature(model))
    ours, theirs = ([(f.name, f.type) for f in dataclasses.fields(cls)] for cls in pair)
    assert ours == theirs
    assert record.__match_args__ == model.__match_args__
    assert (record.__hash__ is None) == (model.__hash__ is None)


def test_equality_and_hash():
    assert Key("a") == Key("a", 0) != Key("b") and hash(Key("a")) == hash(Key("a"))
    assert Key("a") != Point("a", 0) and Box(1) == Box(1, 1) and Thing("a") != Thing("a")
    with pytest.raises(TypeError):
        hash(Box(1))
    with pytest.raises(TypeError):
        hash(Point(1))  # of a list in it
    assert len({Thing("a"), Thing("a")}) == 2


def test_frozen_records_do_not_change():
    with pytest.raises(AttributeError, match="cannot change number of a Key"):
        Key("a").number = 2
    with pytest.raises(AttributeError):
        del Key("a").number
    box = Box(1)
    box.low = 5
    assert box == Box(5, 1)


def test_defaults_are_made_anew():
    assert Point(1).tags is not Point(1).tags and Point.count == 3 and Key.number == 0 and not hasattr(Point, "tags")


@pytest.mark.parametrize("replace", [records.replace, dataclasses.replace])
def test_replace(replace):
    assert replace(Key("a", 1), number=2) == Key("a", 2)
    assert replace(Own("ab"), words="c") == Own("c")
    with pytest.raises(TypeError):
        replace(Key("a"), none=1)


@pytest.mark.parametrize("made", [Point(1, 2, ["a"]), Box(1), Key("a", 1), Own("ab")], ids=lambda made: type(made).__name__)
def test_copies_and_pickles(made):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(made, protocol)) == made
    assert copy.copy(made) == copy.deepcopy(made) == made


# -- named tuples ----------------------------------------------------------------------------------------------------


def entry(base: Any) -> Any:
    """Return a named tuple of one kind or the other, which a pickle finds as ``Entry``."""

    class Entry(base):
        """What a name stands for."""

        name: str
        number: int = 3
        words: tuple[str, ...] = ()

        @property
        def text(self) -> str:
            return f"{self.name}{self.number}"

        def __str__(self) -> str:
            return f"<{self.text}>"

    Entry.__qualname__ = "Entry"
    return Entry


Entry, Model = entry(records.NamedTuple), entry(typing.NamedTuple)


class Nothing(records.NamedTuple):
    """Without fields."""


@pytest.mark.parametrize("values, named", [
    ((), {}), (("a",), {}), (("a", 1), {}), (("a", 1, ("b",)), {}), (("a", 1, (), 4), {}), (("a",), {"number": 4}),
    ((), {"name": "a", "words": ("c",)}), (("a",), {"name": "b"}), (("a",), {"none": 1}), ((), {"number": 1}),
], ids=str)  # fmt: skip
def test_tuples_are_made_alike_or_fail_as_well(values, named):
    answers = []
    for cls in (Entry, Model):
        try:
            made = cls(*values, **named)
            answers.append((repr(made), tuple(made), made._asdict(), made.text, hash(made)))
        except TypeError:
            answers.append("TypeError")
    assert answers[0] == answers[1]


def test_tuples_say_the_same_of_themselves():
    for name in ("_fields", "_field_defaults", "__match_args__", "__annotations__", "__doc__", "__bases__", "__slots__"):
        ours, theirs = getattr(Entry, name), getattr(Model, name)
        if name == "__annotations__":  # those of typing are compiled
            ours, theirs = list(ours), list(theirs)
        assert ours == theirs, name
    assert list(inspect.signature(Entry).parameters) == list(inspect.signature(Model).parameters)
    assert str(inspect.signature(Entry)) == "(name: 'str', number: 'int' = 3, words: 'tuple[str, ...]' = ())"
    assert type(Entry) is type and Entry.__module__ == __name__ and Nothing() == () and repr(Nothing()) == "Nothing()"


def test_tuples_are_tuples():
    made = Entry("a", words=("b",))
    name, number, words = made
    assert (name, number, words) == made == Model("a", words=("b",)) and made[0] == made.name and len(made) == 3
    assert str(made) == "<a3>" and repr(made) == "Entry(name='a', number=3, words=('b',))"
    match made:
        case Entry(first, 3):
            assert first == "a"
        case _:
            pytest.fail("its fields have no order")
    with pytest.raises(AttributeError):
        made.name = "b"
    with pytest.raises(AttributeError):
        made.other = "b"


@pytest.mark.parametrize("cls", [Entry, Model])
def test_tuples_with_changes(cls):
    made = cls("a")
    assert made._replace(number=4) == ("a", 4, ()) and type(made._replace()) is cls
    assert cls._make(["b", 1, ()]) == ("b", 1, ())
    with pytest.raises((TypeError, ValueError)):
        made._replace(none=1)
    with pytest.raises(TypeError):
        cls._make(["b"])


def test_tuples_are_copied_and_pickled():
    made = Entry("a", 5)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(made, protocol))
        assert again == made and type(again) is Entry
    assert copy.copy(made) == copy.deepcopy(made) == made and type(copy.deepcopy(made)) is Entry


@pytest.mark.parametrize("base", [records.NamedTuple, typing.NamedTuple])
def test_fields_with_defaults_come_last(base):
    with pytest.raises(TypeError, match="default"):
        exec("class Wrong(Base):\n    a: int = 1\n    b: int", {"Base": base})
