"""Linking: what computes each node, with and without a compiler."""

import logging

import pytest
from numbers_toy import BuiltAhead, KernelOnly, Native, OwnThunk, PythonOnly, vector

from theano.compile.mode import predefined_linkers
from theano.errors import MethodNotDefined, NoCompilerError
from theano.graph.traverse import toposort
from theano.runtime import link as link_module
from theano.runtime.link import Compiled, Performed, Thunked, link


class Compiler:
    """Gives kernels addresses, and remembers which."""

    def __init__(self, error=None):
        self.asked, self.error = [], error

    def __call__(self, kernels):
        self.asked.append([k.name for k in kernels])
        if self.error is not None:
            raise self.error
        return [1000 + i for i in range(len(kernels))]


@pytest.fixture
def nodes():
    x = vector("x")
    y = Native("b")(PythonOnly()(Native("a")(x)))
    return toposort([y])


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(link_module, "_said", set())


def test_kernels_are_compiled_all_together(nodes):
    compiler = Compiler()
    linked = link(nodes, predefined_linkers["cvm"], compiler)
    assert compiler.asked == [["a", "b"]]
    first, middle, last = linked.how
    assert first == Compiled(1000, b"p", 2.0, "a", ()) and last.address == 1001
    assert isinstance(middle, Performed) and not linked.lazy


def test_nothing_is_compiled_for_py(nodes):
    linked = link(nodes, predefined_linkers["py"])
    assert all(isinstance(how, Performed) for how in linked.how)


def test_the_c_linker_wants_everything_compiled(nodes):
    with pytest.raises(MethodNotDefined, match="PythonOnly.* which the linker c needs in compiled form"):
        link(nodes, predefined_linkers["c"], Compiler())
    assert len(link(nodes[:1], predefined_linkers["c"], Compiler()).how) == 1


def test_without_a_compiler_python_takes_over_and_says_so_once(nodes, caplog):
    compiler = Compiler(NoCompilerError("no C compiler was found. More of it.\nAnd more."))
    with caplog.at_level(logging.WARNING, "theano"):
        linked = link(nodes, predefined_linkers["cvm"], compiler)
        link(nodes, predefined_linkers["cvm"], compiler)
    assert all(isinstance(how, Performed) for how in linked.how)
    assert linked.no_compiler.startswith("no C compiler")
    (record,) = caplog.records
    assert "\n" not in record.getMessage() and "theano.doctor" in record.getMessage()


def test_who_has_switched_the_compiler_off_is_not_told(nodes, caplog):
    link(nodes, predefined_linkers["cvm"], Compiler(NoCompilerError("switched off")), quiet=True)
    assert not caplog.records


def test_without_a_compiler_the_c_linker_fails(nodes):
    with pytest.raises(NoCompilerError):
        link(nodes[:1], predefined_linkers["c"], Compiler(NoCompilerError("none")))


def test_an_op_without_any_usable_form():
    (node,) = toposort([KernelOnly()(vector("x"))])
    with pytest.raises(MethodNotDefined, match="KernelOnly.* no compiled form can be used here either"):
        link([node], predefined_linkers["py"])
    with pytest.raises(MethodNotDefined):
        link([node], predefined_linkers["cvm"], Compiler(NoCompilerError("none")))


def test_kernels_built_ahead_need_no_compiler(monkeypatch):
    monkeypatch.setattr(link_module, "builtin_address", lambda library, symbol: 77)
    (node,) = toposort([BuiltAhead()(vector("x"))])
    (how,) = link([node], predefined_linkers["cvm"], Compiler(NoCompilerError("none"))).how
    assert how.address == 77 and how.name == "copy"


@pytest.mark.parametrize("lazy", [False, True])
def test_thunks_are_bound_to_storage(lazy):
    (node,) = toposort([OwnThunk(lazy)(vector("x"))])
    linked = link([node], predefined_linkers["cvm"], Compiler())
    (how,) = linked.how
    assert isinstance(how, Thunked) and how.lazy is lazy and linked.lazy is lazy
    source, target, computed = [5], [None], [0]
    how.factory([source], [[1]], [target], [computed])()
    assert target == [("own", 5)] and computed == [1]


def test_thunks_that_know_of_implementations():
    class Choosy(OwnThunk):
        __props__ = ()

        def __init__(self):
            super().__init__()
            self.seen = []

        def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
            self.seen.append((impl, list(no_recycling)))
            return super().make_thunk(node, storage_map, compute_map, no_recycling)

    (node,) = toposort([Choosy()(vector("x"))])
    link([node], predefined_linkers["py"], outputs=node.outputs)
    link([node], predefined_linkers["cvm"], Compiler())
    assert node.op.seen == [("py", node.outputs), (None, [])]
