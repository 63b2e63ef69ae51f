"""check_op and DebugMode on ops with C code: each planted fault is found and named."""

from __future__ import annotations

import faulty_c as faulty
import pytest
from faulty_c import X

import theano
import theano.tensor as T
from theano.compile import DebugMode
from theano.compile.debugmode import BadDestroyMap, BadThunkOutput, BadViewMap
from theano.tensor.testing import check_op

FAULTS = [
    (faulty.DiffersFromPython(), "values", "is not the same from perform and from c_code"),
    (faulty.MissingIncref(), "C code", "took references from input 0 that it does not own (3 in 3 calls): a Py_INCREF is missing"),
    (faulty.ExtraIncrefOfInput(), "C code", "left references to input 0 behind (3 in 3 calls): a Py_DECREF is missing"),
    (faulty.ExtraIncrefOfOutput(), "C code", "left references to output 0 behind (1 in 1 call): a Py_DECREF is missing"),
    (faulty.LeaksWhatItMade(), "C code", "each call of the C code leaves 1.0 objects behind"),
    (faulty.Unversioned(), "C code: cache", "c_code_cache_version returns ()"),
    (faulty.WritesItsInput(), "values", "c_code of WritesItsInput wrote into its input 0"),
    (faulty.UndeclaredViewInC(), "values", "output 0 of c_code of UndeclaredViewInC shares memory with input 0"),
    (faulty.IgnoresStrides(), "layouts of inputs", "is not the same from perform and from c_code"),
    (faulty.IgnoresStridesOfTheOutput(), "values", "c_code with output memory strided by"),
    (faulty.AddsToOldMemory(), "values", "c_code with output memory previous"),
    (faulty.StatefulC(), "values", "from c_code"),
    (faulty.WrongDtypeInC(), "C code", "expected an array of float64, got one of dtype('float32')"),
    (faulty.FailsWithoutAnError(), "C code", "c_code fails on the inputs given: RuntimeError"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "check", "says"), FAULTS, ids=[type(op).__name__ for op, *_ in FAULTS])
def test_fault(op, check, says):
    report = check_op(op, [X], raises=False)
    found = {f.check: f.said for f in report.faults}
    assert check in found and says in found[check], str(report)


def test_sound_op():
    report = check_op(faulty.SoundC(), [X])
    assert {"C code", "C code: cache", "values"} <= {f.check for f in report.findings if f.outcome == "ok"}, str(report)


@pytest.mark.parametrize(("op", "error", "says"), [
    (faulty.DiffersFromPython(), BadThunkOutput, "from perform and from c_code"),
    (faulty.WritesItsInput(), BadDestroyMap, "c_code of WritesItsInput"),
    (faulty.UndeclaredViewInC(), BadViewMap, "of c_code of UndeclaredViewInC"),
    (faulty.StatefulC(), BadThunkOutput, "c_code"),
], ids=lambda v: type(v).__name__ if isinstance(v, theano.Op) else "")  # fmt: skip
def test_debug_mode(op, error, says):
    x = T.dvector("x")
    f = theano.function([x], op(x), mode="DebugMode")
    with pytest.raises(error, match=says) as caught:
        f(X)
    assert "test_check_op_c.py" in str(caught.value)


def test_without_c_nothing_of_it_is_found():
    x = T.dvector("x")
    theano.function([x], faulty.DiffersFromPython()(x), mode=DebugMode(check_c_code=False))(X)
