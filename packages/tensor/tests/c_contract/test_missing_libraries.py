"""Ops whose C needs a library that is not there: they alone run in Python, and the user is told why."""

from __future__ import annotations

import logging

import pytest

import theano
import theano.tensor as T
from theano.errors import KernelCompileError, MethodNotDefined, NoCompilerError
from theano.graph import Apply, Op
from theano.runtime import link as link_module

COPY = "Py_XDECREF({0}); {0} = (PyArrayObject*) PyArray_NewCopy({1}, NPY_ANYORDER); {2}"


class Tripled(Op):
    """Says in C that it copies, so that a test sees which of the two ran."""

    __props__ = ()
    libraries: tuple[str, ...] = ()
    more = ""

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 3

    def c_libraries(self):
        return list(self.libraries)

    def c_support_code(self):
        return 'extern "C" int nowhere_to_be_found(void);'

    def c_code(self, node, name, inputs, outputs, sub):
        return COPY.format(outputs[0], inputs[0], self.more)

    def c_code_cache_version(self):
        return (1,)


class Whole(Tripled):
    pass


class Linked(Tripled):
    libraries = ("theano_has_no_such_library",)


class Loaded(Tripled):
    more = "nowhere_to_be_found();"


class OnlyC(Linked):
    perform = Op.perform


@pytest.fixture
def said(monkeypatch, caplog):
    if not theano.config.cxx:
        pytest.skip("there is no compiler here")
    monkeypatch.setattr(link_module, "_said", set())
    caplog.set_level(logging.WARNING, "theano")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "theano"]


x = T.dvector("x")


def test_it_alone_runs_in_python(said):
    for _ in range(2):
        f = theano.function([x], [Whole()(x) + 1, Linked()(x) + 1, Loaded()(x) * 2, theano.scan(lambda e: Linked()(e), x)[0]])
        assert [list(value) for value in f([1.0, 2.0])] == [[2, 3], [4, 7], [6, 12], [3, 6]]
    first, second = sorted(message for message in said() if "Linked" in message or "Loaded" in message)
    assert first.startswith("theano: `Linked.0` runs by its perform in Python") and "theano_has_no_such_library" in first
    assert second.startswith("theano: `Loaded.0`") and "nowhere_to_be_found" in second
    assert all("c_libraries" in message and "doctor" not in message for message in (first, second))
    assert not any("functions run" in message or "Whole" in message for message in said())


def test_where_there_is_nothing_to_fall_back_to(said):
    with pytest.raises(MethodNotDefined, match=r"OnlyC.*theano_has_no_such_library.*does not define perform"):
        theano.function([x], OnlyC()(x))
    with pytest.raises(NoCompilerError, match=r"the C code of `Linked.0`: .*theano_has_no_such_library"):
        theano.function([x], Linked()(x), mode=theano.Mode("c", "fast_run"))
    assert not said()


def test_a_header_that_is_missing_is_a_fault_of_the_text(said):
    op = type("Included", (Tripled,), {"c_headers": lambda self: ["<theano_has_no_such_header.h>"]})()
    with pytest.raises(KernelCompileError, match=r"Included[\s\S]*theano_has_no_such_header.h"):
        theano.function([x], op(x))
