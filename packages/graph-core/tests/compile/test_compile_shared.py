"""Shared variables: values between calls, copies and borrowing, the constructors of layers."""

import copy
import inspect
import pickle
import sys

import pytest
from rows import Row, row

import theano
from theano.compile.shared import Container, SharedVariable, generic_constructor, shared_constructor
from theano.graph import Type, generic


@pytest.fixture
def rows_are_shared():
    """Let lists become rows."""

    @shared_constructor
    def row_constructor(value, name=None, strict=False, allow_downcast=None, borrow=False):
        if not isinstance(value, list):
            raise TypeError("not a list")
        return SharedVariable(name, row, value if borrow else list(value), strict, allow_downcast)

    yield
    shared_constructor(row_constructor, remove=True)


def test_anything_can_be_shared():
    state = theano.shared({"a": 1}, name="state")
    assert state.type == generic and state.name == "state" and str(state) == "state"
    assert state.get_value() == {"a": 1}


def test_last_constructor_is_asked_first(rows_are_shared):
    assert theano.shared([1.0]).type == row
    assert theano.shared((1.0,)).type == generic


def test_constructor_options(rows_are_shared):
    mine = [1.0]
    assert theano.shared(mine, borrow=True).get_value(borrow=True) is mine
    assert theano.shared(mine).get_value(borrow=True) is not mine
    with pytest.raises(TypeError, match="no constructor .* a dict .*colour") as caught:
        theano.shared({}, colour="red")
    assert "row_constructor: " in str(caught.value) and len(str(caught.value).splitlines()) <= 10


def test_symbolic_values_are_refused():
    with pytest.raises(TypeError, match="x is symbolic"):
        theano.shared(generic("x"))


def test_get_value_copies_unless_borrowed(rows_are_shared):
    s = theano.shared([1.0, 2.0])
    got = s.get_value()
    got[0] = 9.0
    assert s.get_value() == [1.0, 2.0]
    s.get_value(borrow=True)[0] = 9.0
    assert s.get_value() == [9.0, 2.0]


def test_set_value_copies_unless_borrowed(rows_are_shared):
    s, mine = theano.shared([0.0]), [1.0]
    s.set_value(mine)
    mine[0] = 2.0
    assert s.get_value() == [1.0]
    s.set_value(mine, borrow=True)
    mine[0] = 3.0
    assert s.get_value() == [3.0]


class Bytes(Type):
    """Bytes that can be overwritten; what is given is not kept itself, but may be looked at."""

    __props__ = ()

    def filter(self, value, strict=False, allow_downcast=None):
        return memoryview(bytes(value) if isinstance(value, tuple) else value)

    def may_share_memory(self, a, b):
        return getattr(a, "obj", a) is getattr(b, "obj", b)

    def value_copy(self, value):
        return memoryview(bytearray(value))


def test_set_value_copies_what_the_type_only_looks_at():
    """What the type makes of a value may be another object in the same memory."""
    s, mine = SharedVariable("s", Bytes(), bytearray(b"0"), strict=False), bytearray(b"1")
    s.set_value(mine)
    mine[0] = ord("2")
    assert bytes(s.get_value()) == b"1"
    s.set_value(mine, borrow=True)
    mine[0] = ord("3")
    assert bytes(s.get_value()) == b"3"
    s.set_value((52,))
    assert bytes(s.get_value()) == b"4"


def test_set_value_copies_what_says_nothing_about_its_memory():
    s, mine = theano.shared({}), {"a": [1]}
    s.set_value(mine)
    mine["a"][0] = 2
    assert s.get_value() == {"a": [1]}


def test_zero():
    s = theano.shared(3.5)
    s.zero()
    assert s.get_value() == 0


def test_set_value_filters(rows_are_shared):
    s = theano.shared([0.0], name="s")
    s.set_value((1, 2))
    assert s.get_value() == [1.0, 2.0]
    with pytest.raises(TypeError, match=r"in s of type Row\(float\): a str is no list"):
        s.set_value("no")
    assert s.get_value() == [1.0, 2.0]
    strict = theano.shared([0.0], strict=True)
    with pytest.raises(TypeError, match="no list"):
        strict.set_value((1.0,))


def test_clone_shares_the_value(rows_are_shared):
    s = theano.shared([1.0], name="s")
    twin = s.clone()
    twin.set_value([5.0])
    assert s.get_value() == [5.0] and twin.name == "s" and twin is not s


def test_value_attribute_is_guarded():
    s = theano.shared({})
    with pytest.raises(AttributeError, match="get_value"):
        s.value
    with pytest.raises(AttributeError, match="set_value"):
        s.value = 3
    assert not hasattr(s, "value")


def test_indexing_a_value_that_has_no_indexes():
    with pytest.raises(TypeError, match="cannot be indexed"):
        theano.shared({})[0]


def test_pickle_and_deepcopy(rows_are_shared):
    s = theano.shared([1.0], name="s")
    for other in (pickle.loads(pickle.dumps(s)), copy.deepcopy(s)):
        assert other.get_value() == [1.0] and other.name == "s" and other.container is not s.container


def test_container_filters_and_can_be_readonly():
    c = Container(row("x"), [None], readonly=False)
    c.value = (1,)
    assert c.data == [1.0] and c.storage == [[1.0]] and repr(c) == "<[1.0]>"
    fixed = Container(row("x"), [[0.0]], readonly=True)
    with pytest.raises(TypeError, match="read-only"):
        fixed.value = [1.0]
    with pytest.raises(TypeError, match="one element"):
        Container(row("x"), [])


def test_values_of_a_wrong_length_are_value_errors():
    c = Container(Row(float, 2)("pair"), [None])
    with pytest.raises(ValueError, match=r"pair of type Row\(float, 2\): 1 numbers"):
        c.value = [1.0]


def test_source_line_is_kept():
    s = theano.shared({})
    assert s.tag.trace[0].filename == __file__


# -- what is left out, what is given twice --------------------------------------------------------------------------------


def defaults(called):
    return {p.name: p.default for p in inspect.signature(called).parameters.values() if p.default is not p.empty}


@pytest.mark.parametrize(("called", "wanted"), [
    (Container, {"readonly": False, "strict": False, "allow_downcast": None, "name": None}),
    (SharedVariable, {"allow_downcast": None, "container": None}),
    (SharedVariable.get_value, {"borrow": False, "return_internal_type": False}),
    (SharedVariable.set_value, {"borrow": False}),
    (SharedVariable.zero, {"borrow": False}),
    (shared_constructor, {"remove": False}),
    (theano.shared, {"name": None, "strict": False, "allow_downcast": None}),
    (generic_constructor, {"name": None, "strict": False, "allow_downcast": None}),
])  # fmt: skip
def test_what_is_left_out(called, wanted):
    """Subclasses and older programs rely on it."""
    assert defaults(called) == wanted


@pytest.mark.parametrize("storage", [None, (None,), [], [None, None], "x"])
def test_a_container_has_one_cell(storage):
    with pytest.raises(TypeError, match="a list of one element"):
        Container(row, storage)


@pytest.mark.parametrize(("of", "name", "wanted"), [
    (row, None, None), (row, "own", "own"), (row("x"), None, "x"), (row("x"), "own", "own"), (row(), None, None), (row(), "own", "own"),
])  # fmt: skip
def test_errors_call_a_container_by_its_name(of, name, wanted):
    container = Container(of, [None], name=name)
    assert container.name == wanted and container.type == row
    with pytest.raises(TypeError, match=rf"in {wanted or 'a container'} of type Row\(float\)"):
        container.value = "no"
    container.readonly = True
    with pytest.raises(TypeError, match=rf"the value of {wanted or 'this container'} is read-only"):
        container.value = [1.0]


def test_nothing_can_be_stored_in_a_container():
    container = Container(row, [[1.0]])
    container.value = None
    assert container.value is None and container.storage == [None] and repr(container) == "<None>"


def test_a_container_as_a_pickle():
    container = Container(row("x"), [[1.0]], readonly=True, strict=True, allow_downcast=True)
    other = pickle.loads(pickle.dumps(container))
    for name in ("type", "name", "storage", "readonly", "strict", "allow_downcast"):
        assert getattr(other, name) == getattr(container, name)
    assert other.storage is not container.storage


def test_values_are_stored_before_there_is_a_machine(monkeypatch):
    """Until the first function is made nobody has to be waited for."""
    module = sys.modules[SharedVariable.__module__]  # the package has a function of the same name
    monkeypatch.setattr(module, "_store", module._put)
    s = SharedVariable("s", row, [1.0], strict=False)
    s.set_value([2.0])
    assert s.container.storage == [[2.0]]


def test_a_value_or_a_container():
    container = Container(row, [[1.0]])
    s = SharedVariable("s", row, None, False, container=container)
    assert s.container is container and s.get_value() == [1.0]
    for value, strict in (([2.0], False), (None, True), ([2.0], True)):
        with pytest.raises(TypeError, match="a container or a value, not both"):
            SharedVariable("s", row, value, strict, container=container)


def test_zero_copies_nothing():
    class Value:
        def __rmul__(self, number):
            return (number, self)

        def __deepcopy__(self, memo):
            raise AssertionError("copied")

    value = Value()
    s = SharedVariable("s", generic, value, strict=False)
    s.zero()
    assert s.get_value(borrow=True) == (0, value)


def test_the_test_value_is_what_is_stored():
    class Asked(SharedVariable):
        def get_value(self, borrow=False, return_internal_type=False):
            return borrow, return_internal_type

    assert Asked("s", row, [1.0], strict=False).get_test_value() == (True, True)


def test_a_refused_value_is_said_with_the_first_line_of_each_reason(rows_are_shared):
    @shared_constructor
    def last(value, name=None, strict=False, allow_downcast=None, **options):
        raise TypeError("the first line\nthe second line")

    try:
        assert theano.shared([1.0]).type == row and theano.shared({}).type == generic
        with pytest.raises(TypeError) as caught:
            theano.shared({}, size=1, colour="red")
    finally:
        assert shared_constructor(last, remove=True) is last
    first, *reasons = str(caught.value).splitlines()
    assert first == "no constructor makes a shared variable of a dict (options given: colour, size):"
    assert reasons[0] == "    last: the first line" and reasons[1].startswith("    row_constructor: ") and "second" not in str(caught.value)
    assert shared_constructor(generic_constructor) is generic_constructor
    assert theano.shared.constructors.count(generic_constructor) == 1 and last not in theano.shared.constructors


def test_updates_that_agree_can_be_added():
    a, b = theano.shared([1], name="a"), theano.shared([2], name="b")
    one, other = theano.OrderedUpdates({a: b}), theano.OrderedUpdates({b: a})
    assert list((one + other).items()) == list((one + {b: a}).items()) == [(a, b), (b, a)]
    assert list(({b: a} + one).items()) == [(b, a), (a, b)] and one == {a: b}
    assert one + {a: b} == one
    with pytest.raises(KeyError, match="a would be updated to two different expressions: b and a"):
        one + {a: a}
    one.update()
    one.update(None)
    one.update([(b, b)])
    assert list(one.items()) == [(a, b), (b, b)]
    one.update({b: a})
    assert list(one.items()) == [(a, b), (b, a)]
