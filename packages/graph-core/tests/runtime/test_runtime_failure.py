"""Errors of calls: the class that was raised, and what the user has to know."""

import gc
import weakref

import numpy
import pytest
from arrays_toy import Array

import theano
from theano import function
from theano.graph import Apply, Op, generic
from theano.runtime.failure import LastError, describe, with_text


class Fail(Op):
    __props__ = ("error",)

    def __init__(self, error):
        self.error = error

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [generic()])

    def perform(self, node, inputs, output_storage):
        raise type(self.error)(*self.error.args)

    def __str__(self):
        return "Fail"


array = numpy.zeros((3, 4))


def call(error, *values):
    names = [generic(name) for name in "xyzuvw"[: len(values)]]
    f = function(names, Fail(error)(*names), name="f")
    with pytest.raises(type(error)) as caught:
        f(*values)
    return caught.value


def test_everything_is_named():
    error = call(ValueError("it does not fit"), array, 7)
    lines = str(error).splitlines()
    assert lines[0] == "it does not fit"
    assert len(lines) <= 10
    text = str(error)
    parts = ("Fail(x, y)", "node 0 of 1 of f", f"written at {__file__}", "float64, shape (3, 4)", "a Python object")
    for part in parts:
        assert part in text
    assert "theano.last_error.full()" in lines[-1]


def test_many_inputs_and_long_messages_stay_short():
    error = call(ValueError("first\n" * 50), 1, 2, 3, 4, 5, 6)
    assert len(str(error).splitlines()) <= 10 and "(and 2 more inputs)" in str(error)


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\x1b[31m", "\0"])
def test_names_add_no_lines(end):
    x = generic(f"x{end * 12}")
    f = function([x], Fail(ValueError("it does not fit"))(x), name=f"f{end * 12}")
    with pytest.raises(ValueError, match="it does not fit") as caught:
        f(1)
    text = str(caught.value)
    assert len(text.splitlines()) <= 10 and text.replace("\n", "").isprintable()


@pytest.mark.parametrize("kind", [TypeError, IndexError, ZeroDivisionError, AssertionError, MemoryError])
def test_the_class_stays(kind):
    assert "while computing" in str(call(kind("no"), 1))


@pytest.mark.parametrize("message", ["no room", "no room\nfor this\nand that"])
def test_where_there_is_no_room_it_says_what_the_call_holds(message):
    names = [Array()(name) for name in "abcde"]
    f = function(names, Fail(MemoryError(message))(*names))
    with pytest.raises(MemoryError) as caught:
        f(*map(numpy.zeros, (2, 5, 0, 4, 3)))
    first, second, third, *_ = str(caught.value).splitlines()
    largest = [f"{name} (float64, shape ({length},))" for name, length in (("b", 5), ("d", 4), ("e", 3))]
    assert first == "no room" and third.startswith("  while computing")
    assert second == f"  the call holds {14 * 8} bytes on cpu: {', '.join(largest)} and 1 more"


def test_an_error_without_words():
    assert str(call(AssertionError(), 1)).startswith("Fail failed")


class WithCode(Exception):
    def __init__(self, code, why):
        super().__init__(code, why)
        self.code = code


def test_errors_with_arguments_of_their_own_keep_them():
    error = call(WithCode(42, "why"), 1)
    assert error.code == 42 and error.args == (42, "why")
    assert "while computing" in error.__notes__[0]
    assert "while computing" in call(KeyError("key"), 1).__notes__[0]
    assert "while computing" in call(OSError(2, "no file"), 1).__notes__[0]


def test_the_traceback_leads_to_the_op():
    import traceback

    error = call(ValueError("no"), 1)
    assert "perform" in "".join(traceback.format_tb(error.__traceback__))


def test_last_error_knows_more():
    call(ValueError("no"), array, 7)
    full = theano.last_error.full()
    assert "ValueError: no" in full and "Fail [id A] <Generic>" in full
    assert "input 0, x: float64, shape (3, 4), strides (32, 8)" in full
    assert "Traceback" in full and "in perform" in full and "was written at" in full
    assert "ValueError" in repr(theano.last_error)
    theano.last_error.clear()
    assert theano.last_error.full() == "no compiled function has failed so far" and repr(LastError()) == "<no error>"


def test_last_error_keeps_no_frames():
    class Precious:
        pass

    def fail():
        precious = Precious()
        call(ValueError("no"), 1)
        return weakref.ref(precious)

    kept = fail()
    gc.collect()
    assert kept() is None


def test_describe():
    assert describe(array) == "float64, shape (3, 4)"
    assert describe("word") == "str 'word'"
    assert len(describe("long" * 100)) < 60


def test_with_text():
    assert str(with_text(ValueError("a"), "b")) == "b"
    assert with_text(ValueError("a", 1), "b").__notes__ == ["b"]
