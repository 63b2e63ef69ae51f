"""Ops whose fault it is: they are named, and what they raise arrives as it is."""

from __future__ import annotations

import signal
import warnings

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.rewriting import FunctionRule

X = T.dvector("x")
MODES = ["FAST_RUN", "FAST_COMPILE", "DebugMode", theano.Mode(linker="py"), theano.Mode(linker="vm")]


class Twice(theano.Op):
    """Two outputs, the second of which is forgotten."""

    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type(), x.type()])


class InPython(Twice):
    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0]


class InC(Twice):
    def c_code(self, node, name, inputs, outputs, sub):
        copy = f"(PyArrayObject*)PyArray_NewCopy({inputs[0]}, NPY_CORDER)"
        return f"Py_XDECREF({outputs[0]}); {outputs[0]} = {copy};"

    def c_code_cache_version(self):
        return (1,)


class AsThunk(Twice):
    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        def thunk():
            storage_map[node.outputs[0]][0] = storage_map[node.inputs[0]][0]

        return thunk


@pytest.mark.parametrize(
    ("op", "linker", "said"),
    [
        (InPython(), "cvm", r"perform of InPython left output 1 empty.\n  .*output_storage\[1\]\[0\]"),
        (InC(), "cvm", r"the C code of InC left output 1 empty.\n  .*outputs\[1\].*sub\[\"fail\"\]"),
        (InC(), "c", r"the C code of InC left output 1 empty.\n  .*outputs\[1\].*sub\[\"fail\"\]"),
        (AsThunk(), "cvm", r"the thunk of AsThunk left output 1 empty.\n  .*storage_map\[node.outputs\[1\]\]\[0\]"),
    ],
)
def test_an_output_left_empty_is_the_fault_of_who_computes_it(op, linker, said):
    f = theano.function([X], [v * 2 for v in op(X + 1)], mode=theano.Mode(linker=linker))
    with pytest.raises(RuntimeError, match=said) as caught:
        f([1.0])
    assert len(str(caught.value).splitlines()) <= 10


class Mute(Exception):
    """An exception that cannot be shown."""

    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


class MuteValue(ValueError):
    """Another, of a class that much of our own code expects."""

    def __str__(self):
        raise RuntimeError("no words")

    def add_note(self, note):
        raise RuntimeError("no notes")


class Raises(theano.Op):
    """Raises what it is told, where it is told."""

    __props__ = ()
    where = "perform"
    error: BaseException
    view_map = {0: [0]}

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        if self.where == "perform":
            self.fail()
        outputs[0][0] = inputs[0]

    def infer_shape(self, node, shapes):
        if self.where == "infer_shape":
            self.fail()
        return shapes

    def fail(self):
        raise self.error


@pytest.mark.parametrize("kind", [Mute, MuteValue])
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_an_exception_without_a_text_arrives_as_it_is(kind, mode):
    op = Raises()
    op.error = kind(1)
    f = theano.function([X], op(X + 1) * 2, mode=mode)
    caught = None
    try:
        f([1.0])
    except Exception as error:
        caught = error
    assert caught is op.error


def test_a_shape_or_a_rule_that_fails_without_a_text_is_reported():
    op = Raises()
    op.where, op.error = "infer_shape", Mute()
    with theano.config.change_flags(on_shape_error="warn"):
        assert theano.function([X], op(X).shape)([1.0, 2.0]) == [2]

    def rule(node):
        raise Mute()

    failing = FunctionRule(rule, "failing_without_a_text", tracks=None)
    mode = theano.Mode(optimizer=theano.gof.EquilibriumOptimizer([failing], max_use_ratio=1))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        f = theano.function([X], X * 2 + 1, mode=mode)
    assert any("Mute, whose text cannot be had" in str(w.message) for w in said)
    np.testing.assert_array_equal(f([1.0]), [3.0])


class Late(Exception):
    """What a time-out raises."""


class Alarm:
    """Handlers of all kinds; each puts the one before back first, as a time-out does that rings once."""

    def method(self, number, frame):
        self.ring(number)

    def many(self, *args):
        self.ring(args[0])

    def __call__(self, number, frame):
        self.ring(number)

    def ring(self, number):
        signal.signal(number, signal.SIG_DFL)
        raise Late(number)


@pytest.fixture(params=["method", "many", "object", "function", "chained"])
def ring(request):
    """What lets an alarm go off."""
    alarm = Alarm()

    def function(number, frame):
        del frame  # only its registration tells what it is
        raise Late(number)

    handlers = {"method": alarm.method, "many": alarm.many, "object": alarm, "function": function}
    before = signal.signal(signal.SIGALRM, handlers.get(request.param, alarm))

    def ring():
        try:
            signal.raise_signal(signal.SIGALRM)
        except Late as error:
            if request.param == "chained":
                raise Late("in other words") from error
            raise

    yield ring
    signal.signal(signal.SIGALRM, before)


class Rings(Raises):
    """Lets an alarm go off."""

    def fail(self):
        self.error()


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_time_out_in_perform_is_no_failure_of_the_op(ring, mode):
    op = Rings()
    op.error = ring
    f = theano.function([X], op(X + 1) * 2, mode=mode)
    with pytest.raises(Late) as caught:
        f([1.0])
    assert "while computing" not in str(caught.value) and not hasattr(caught.value, "__notes__")


def test_a_time_out_in_a_rule_ends_compiling(ring):
    def rule(node):
        ring()

    slow = FunctionRule(rule, "slow", tracks=None)
    mode = theano.Mode(optimizer=theano.gof.EquilibriumOptimizer([slow], max_use_ratio=1))
    with pytest.raises(Late):
        theano.function([X], X * 2, mode=mode)


@pytest.mark.parametrize("where", ["infer_shape", "perform"])
def test_a_time_out_in_a_shape_or_in_folding_ends_compiling(ring, where):
    op = Rings()
    op.where, op.error = where, ring
    with pytest.raises(Late):
        theano.function([X], op(X).shape if where == "infer_shape" else op(T.constant([1.0, 2.0])) + X)
