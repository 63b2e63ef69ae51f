"""Records do what dataclasses do: each statement here is tried on both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
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
