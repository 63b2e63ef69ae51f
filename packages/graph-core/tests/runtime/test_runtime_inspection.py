"""Who answers for the values of a type: the nearest class for which something is registered."""

from __future__ import annotations

from typing import Any

import pytest

from theano.graph import Type
from theano.runtime.inspection import Extremes, Inspection, inspection_of, inspections


class Pair(Type):
    """Lists of two things, equal whatever their order is."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return value

    def values_eq(self, a: Any, b: Any) -> bool:
        return sorted(a) == sorted(b)

    def value_copy(self, value: Any) -> Any:
        return sorted(value)


class SpecialPair(Pair):
    """A type derived from another one."""


def test_without_an_answer_of_its_own_a_type_is_asked_what_every_type_says() -> None:
    asked = inspection_of(Pair())
    assert asked.same_bytes([1, 2], [2, 1]) and asked.same_layout([1, 2], [2, 1])
    assert asked.same_where_finite([1, 2], [2, 1]) and not asked.same_where_finite([1, 2], [1, 3])
    assert asked.copy_as_laid_out([2, 1]) == [1, 2]
    assert asked.extremes([1, 2]) is None and list(asked.spare_memory([1, 2], "strided", 1)) == []


def test_what_is_registered_holds_for_derived_types(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted(Inspection):
        def extremes(self, value: Any) -> Extremes | None:
            return Extremes(0, 0, float(max(value)))

    monkeypatch.setitem(inspections, Pair, Counted)
    assert inspection_of(SpecialPair()).extremes([1, 2]) == Extremes(0, 0, 2.0)
    assert inspection_of(SpecialPair()).kind == SpecialPair()
