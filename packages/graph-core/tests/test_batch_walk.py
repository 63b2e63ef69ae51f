"""The walk that gives graphs a batch axis, with a toy type of lists that are nested to some depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from theano import OpFromGraph, batching
from theano.batching import NoRuleError, batch, has_batch_axis, of_expression, rule
from theano.gradient import IdentityOp, grad_scale
from theano.graph import Apply, Op, Type, Variable


class Nested(Type):
    """Lists in lists, ``ndim`` levels of them."""

    __props__ = ("ndim",)

    def __init__(self, ndim: int):
        self.ndim = ndim

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return any value."""
        return value


class Sum(Op):
    """Adds, element by element; it has a rule."""

    __props__: tuple[str, ...] = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node."""
        return Apply(self, list(inputs), [Nested(max(v.type.ndim for v in inputs))()])

    def batch(self, node: Apply, inputs: Sequence[Any], batched: Sequence[bool]) -> Any:
        """Return the sum."""
        return [self(*inputs)]


class Count(Sum):
    """How long a row is: the same for all."""

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node."""
        return Apply(self, list(inputs), [Nested(0)()])

    def batch(self, node: Apply, inputs: Sequence[Any], batched: Sequence[bool]) -> Any:
        """Return the length of a row."""
        return [self(*inputs)]


class Opaque(Sum):
    """Has no rule."""

    def batch(self, node: Apply, inputs: Sequence[Any], batched: Sequence[bool]) -> None:
        """Return nothing."""


x, y, X, Y = (Nested(n)(name) for n, name in ((1, "x"), (1, "y"), (2, "X"), (2, "Y")))


def depth(v: Variable[Any]) -> Any:
    return v.type.ndim


def test_only_what_meets_a_batch_axis_is_made_anew() -> None:
    fixed = Sum()(y, y)
    out = Sum()(Sum()(x, fixed), y)
    (many,) = batch([out], {x: X})
    assert depth(many) == 2 and many.owner.inputs[1] is y
    inner = many.owner.inputs[0].owner
    assert inner.inputs == [X, fixed]
    assert batch([fixed, x], {x: X}) == [fixed, X]


def test_what_is_the_same_for_all_rows_has_no_batch_axis() -> None:
    length = Count()(x)
    more = Sum()(length, length)
    found = batch([length, more, Sum()(more, x)], {x: X})
    assert [depth(v) for v in found] == [0, 0, 2]
    assert [has_batch_axis(v, row) for v, row in zip(found, (length, more, x), strict=True)] == [False, False, True]


def test_replacements_without_a_batch_axis() -> None:
    (out,) = batch([Sum()(x, x)], {x: y})
    assert out.owner.inputs == [y, y]


def test_an_op_without_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Opaque()(x).owner
    assert rule(node, [X], [True]) is None
    with pytest.raises(NoRuleError, match="has no rule for many rows at once"):
        batch([node.outputs[0]], {x: X}, by_loop=False)
    seen = []

    def loop(node: Apply, inputs: Sequence[Any], batched: Sequence[bool]) -> list[Any]:
        seen.append((node, list(inputs), list(batched)))
        return [X]

    monkeypatch.setattr(batching.loop, "answer", loop)
    assert batch([node.outputs[0]], {x: X}) == [X]
    assert seen == [(node, [X], [True])]


def test_rules_of_a_table_count_for_subclasses_and_come_after_the_ops_own() -> None:
    class Late(Opaque):
        pass

    batching.sources.append(lambda: {Opaque: lambda node, inputs, batched: [Sum()(*inputs)]})
    try:
        (out,) = batch([Late()(x)], {x: X})
        assert type(out.owner.op) is Sum
    finally:
        batching.sources.pop()


def test_what_a_rule_returns_is_checked() -> None:
    class Deep(Sum):
        def batch(self, node: Apply, inputs: Sequence[Any], batched: Sequence[bool]) -> Any:
            return [Nested(3)()]

    class Two(Sum):
        def batch(self, node: Apply, inputs: Sequence[Any], batched: Sequence[bool]) -> Any:
            return [X, X]

    with pytest.raises(ValueError, match="has neither as many dimensions nor one more"):
        batch([Deep()(x)], {x: X})
    with pytest.raises(ValueError, match="returned 2 outputs, not 1"):
        batch([Two()(x)], {x: X})


def test_expressions_behind_ops() -> None:
    node = OpFromGraph([x, y], [Sum()(x, y)])(x, y).owner
    (out,) = batch(node.outputs, {x: X})
    assert type(out.owner.op) is Sum and out.owner.inputs == [X, y]
    assert of_expression(lambda given: [Opaque()(given[0])], node, [X, y], [True, False]) is None


def test_identities_stay() -> None:
    for made in (IdentityOp()(x), grad_scale(x, 3)):
        (out,) = batch([made], {x: X})
        assert out.owner.op == made.owner.op and out.owner.inputs == [X] and depth(out) == 2
