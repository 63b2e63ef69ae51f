"""The type of lists: which values it takes, and how it compares and copies them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.graph.canonical import form_of, object_of
from theano.graph.props import Structural
from theano.runtime.inspection import inspection_of
from theano.typed_list import TypedListConstant, TypedListType, TypedListVariable

LIST = TypedListType(T.dmatrix)
NESTED = TypedListType(T.dvector, 1)


def test_what_it_is_called_with():
    with pytest.raises(TypeError, match="ttype must be a type such as"):
        TypedListType(None)
    with pytest.raises(ValueError, match="depth is -1"):
        TypedListType(T.dvector, -1)
    assert [TypedListType(T.dvector, depth).get_depth() for depth in range(3)] == [0, 1, 2]
    assert TypedListType(T.dvector, 2) == TypedListType(TypedListType(TypedListType(T.dvector))) != NESTED
    assert LIST == TypedListType(T.dmatrix) != TypedListType(T.fmatrix)
    assert hash(LIST) == hash(TypedListType(T.dmatrix)) and isinstance(LIST, Structural)
    assert isinstance(LIST("l"), TypedListVariable) and isinstance(LIST.make_constant([]), TypedListConstant)


@pytest.mark.parametrize("value", [4, (np.eye(2),), np.eye(2), [4], [np.eye(2), np.zeros(3)], [["a"]], None])
def test_what_does_not_fit(value):
    with pytest.raises(TypeError, match=r"a list is wanted|item \d of a list .* does not fit"):
        LIST.filter(value)
    assert not LIST.is_valid_value(value)


def test_items_are_made_fit_unless_strict():
    given = [np.eye(2, dtype="float32"), np.ones((1, 3))]
    made = LIST.filter(given)
    assert made is not given and made[1] is given[1] and made[0].dtype == "float64"
    assert given[0].dtype == "float32"
    assert LIST.filter(made) is made and LIST.filter([]) == []
    with pytest.raises(TypeError, match="item 0"):
        LIST.filter(given, strict=True)
    assert TypedListType(T.fvector).filter([[1.5]], allow_downcast=True)[0].dtype == "float32"
    with pytest.raises(TypeError, match="item 0"):
        TypedListType(T.fvector).filter([[0.1]], allow_downcast=False)


def test_values_are_compared_item_by_item():
    a, b = [np.eye(2), np.zeros((0, 3))], [np.eye(2), np.zeros((0, 3))]
    near = [np.eye(2) * (1 + 1e-12), np.zeros((0, 3))]
    assert LIST.values_eq(a, b) and LIST.values_eq_approx(a, near) and not LIST.values_eq(a, near)
    assert not LIST.values_eq(a, a[:1]) and not LIST.values_eq_approx(a[:1], a)
    assert NESTED.values_eq([[np.ones(1)], []], [[np.ones(1)], []])
    assert not NESTED.values_eq([[np.ones(1)], []], [[], [np.ones(1)]])
    assert inspection_of(LIST).same_layout(a, b) and not inspection_of(LIST).same_layout(a, [np.eye(2)[:, ::-1], a[1]])
    assert inspection_of(LIST).same_bytes(a, b) and not inspection_of(LIST).same_bytes(a, near)


def test_memory():
    x = np.zeros((4, 2))
    assert LIST.may_share_memory([x], [x[1:]]) and LIST.may_share_memory([x], x[2:])
    assert not LIST.may_share_memory([x[:2]], [x[2:]]) and not LIST.may_share_memory([], [])
    assert NESTED.may_share_memory([[], [x[0]]], [[x[0]]])
    copy = NESTED.value_copy([[x[0]], []])
    assert not NESTED.may_share_memory(copy, [[x[0]]]) and copy[1] == []


def test_constants_are_merged_by_what_they_hold():
    one, same, other = (LIST.make_constant([np.full((1, 1), v)]) for v in (1, 1, 2))
    assert one.equals(same) and not one.equals(other) and one.signature() == same.signature()
    f = theano.function([], [one[0] * 2, same[0] * 2])
    assert f()[1] == 2


def test_it_can_be_pickled_and_described():
    again = pickle.loads(pickle.dumps(NESTED("l")))
    assert again.type == NESTED and again.name == "l"
    assert object_of(form_of(NESTED)) == NESTED
