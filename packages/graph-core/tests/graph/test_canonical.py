"""Forms of ops, types and values without any layer above: what has one, what has none, and the way back."""

from __future__ import annotations

import json

import pytest

from theano.compile.copy_ops import deep_copy_op, view_op
from theano.graph import Op, canonical, generic
from theano.graph.canonical import MAX_BYTES, NoCanonicalForm, bytes_of, form_of, is_ours, object_of, text_of
from theano.graph.props import Interned, Structural
from theano.graph.source import user_trace
from theano.graph.type import Generic, Type
from theano.rewriting import Phase, Phases
from theano.rewriting.phases import phases

PLAIN = [None, True, False, 0, -1, 1 << 80, 0.0, -0.0, 1e300, float("inf"), 1j, "", "ünï\n", b"", b"\x00\xff", (), [], {},
         set(), frozenset(), ..., slice(None), (1, [2, {"a": (3,)}]), {1: "a", "b": {2, 3}}, int]  # fmt: skip


@pytest.mark.parametrize("thing", PLAIN, ids=repr)
def test_plain_things_are_read_back(thing):
    tree = json.loads(json.dumps(form_of(thing)))
    again = object_of(tree)
    assert again == thing and type(again) is type(thing) and repr(again) == repr(thing)


def test_a_nan_is_read_back():
    nan = object_of(form_of(float("nan")))
    assert nan != nan


def test_all_plain_things_differ():
    assert len({text_of(thing) for thing in PLAIN}) == len(PLAIN)
    assert len({bytes_of(thing) for thing in PLAIN}) == len(PLAIN)


class Held:
    def __init__(self, *parts):
        self.parts = parts


def test_bytes_at_the_end_of_a_form_are_taken_as_they_are(monkeypatch):
    """However many: as text they have a form up to a limit, since it is to be kept."""
    monkeypatch.setattr(canonical, "_exact", dict(canonical._exact))
    monkeypatch.setattr(canonical, "_kinds", dict(canonical._kinds))
    canonical.register_form(Held, "held", lambda held: held.parts, lambda parts: Held(*parts))
    long = bytes(MAX_BYTES + 1)
    found = [bytes_of(Held(*parts)) for parts in (("a", long), ("b", long), ("a", long + b"x"), ("a", b"x", 1), (), ("a",))]
    assert len(set(found)) == 6 and found[0].endswith(long)
    for parts in (("a", long, 1), (long, b"a")):
        with pytest.raises(NoCanonicalForm, match="1,048,577 bytes"):
            bytes_of(Held(*parts))


@pytest.mark.parametrize("op", [deep_copy_op, view_op, generic, Generic()], ids=repr)
def test_ops_and_types_of_ours(op):
    again = object_of(form_of(op))
    assert again == op and vars(again) == vars(op)


class Mine(Op):
    __props__ = ()


class MyType(Type):
    __props__ = ()


@pytest.mark.parametrize(
    "thing", [Mine(), MyType(), object(), lambda: 0, Mine, iter([]), len, ValueError("x"), generic("x"), bytearray(b"x")],
    ids=lambda thing: type(thing).__name__,
)  # fmt: skip
def test_everything_else_has_none(thing):
    with pytest.raises(NoCanonicalForm):
        form_of(thing)
    with pytest.raises(NoCanonicalForm):
        form_of([{"deep": (thing,)}])


def test_a_tag_with_something_in_it_ends_it():
    op = type(deep_copy_op)()
    assert form_of(op) == form_of(deep_copy_op)
    _ = op.tag
    assert form_of(op) == form_of(deep_copy_op), "an empty one says nothing"
    op.tag.something = 1
    with pytest.raises(NoCanonicalForm, match="tag"):
        form_of(op)


def test_more_attributes_are_another_op():
    op = type(deep_copy_op)()
    op.extra = 1
    assert op == deep_copy_op and form_of(op) != form_of(deep_copy_op)


def test_whose_a_module_is():
    assert is_ours("theano") and is_ours("theano.graph.canonical")
    assert not is_ours("theanox") and not is_ours("__main__") and not is_ours("theano.nowhere")


def test_interned_classes_make_one_of_each():
    class Pair(Structural, metaclass=Interned):
        __props__ = ("a", "b")

        def __init__(self, a, b=2):
            self.a, self.b = a, b

        @classmethod
        def instance_key(cls, a, b=2):
            return None if a is None else (a, b)

    class Other(Pair):
        __props__ = ("a", "b")

    assert Pair(1) is Pair(1, 2) is Pair(a=1, b=2) and Pair(1) is not Pair(1, 3)
    assert Pair(None) is not Pair(None) and Pair(None) == Pair(None)
    assert Other(1) is Other(1) and type(Other(1)) is Other and Pair(1) is not Other(1)


# -- the rules in force --------------------------------------------------------------------------------------


def test_the_common_sequence_can_be_described():
    contents = phases.contents()
    assert contents == phases.contents() == json.loads(json.dumps(contents))
    assert "canonicalize" in [entry[0] for entry in contents[1:]]


def test_entries_from_outside_cannot():
    mine = Phases("mine")
    mine.register("late", Phase("late"), 2, "fast_run")
    with pytest.raises(NoCanonicalForm, match="late"):
        mine.contents()
    mine.remove("late")
    assert mine.contents() == ["mine"]
    phase = Phase("p")
    phase.add_pass("look", lambda fgraph, context: None)
    with pytest.raises(NoCanonicalForm, match="look"):
        phase.contents()
    phase.remove("look")
    assert phase.contents() == ["p", "fixpoint"]


def test_changes_are_counted():
    before = Phases.changes()
    mine = Phases("mine")
    mine.register("late", Phase("late"), 2)
    mine["late"].add_pass("look", lambda fgraph, context: None)
    assert Phases.changes() >= before + 2


# -- lines -----------------------------------------------------------------------------------------------------


def _here():
    return user_trace()


def test_traces_tell_callers_apart():
    one = _here()
    two = _here()
    assert one[0] == two[0], "the same line of the same function"
    assert one[1].lineno + 1 == two[1].lineno and one[1].filename == two[1].filename
    loop = [_here() for _ in range(3)]
    assert loop[0] == loop[1] == loop[2]
    assert len(user_trace(limit=1)) == 1 and len(user_trace(limit=3)) == 3
    assert user_trace(limit=0) == ()


def test_traces_of_code_that_comes_and_goes():
    seen = set()
    for i in range(50):
        scope = {"user_trace": user_trace}
        exec("\n" * i + "def f(): return user_trace(limit=1)[0]", scope)
        seen.add(scope["f"]().lineno)
    assert seen == set(range(1, 51))
