"""Nested blocks: what ops and types of users say in C, run by each linker, and cleaned up wherever it fails."""

import os
import sys
import warnings
from pathlib import Path

import pytest
from c_toys import Live, WatchedAdd, add, double, mul, told, watched

import theano
from theano import Mode, function
from theano.codegen import block_unit
from theano.codegen.blocks import ask, write_block
from theano.errors import CacheWarning, KernelCompileError, MethodNotDefined, NoCompilerError
from theano.graph import Apply, FunctionGraph, Type
from theano.graph.op import COp
from theano.runtime.blocks import BlockFactory, BlockNode, block_of
from theano.runtime.link import OpWiseCLinker, Performed, Thunked
from warm import Warm


@pytest.fixture(autouse=True)
def _nothing_fails():
    told()
    yield
    told()


def doubles(*names):
    return [double(name) for name in names]


@pytest.mark.parametrize("linker", ["c", "c|py", "c|py_nogc", "cvm", "cvm_nogc", "vm", "vm_nogc"])
def test_the_double_of_the_documentation_runs_in_each_linker(linker):
    x, y, z = doubles("x", "y", "z")
    a = add(x, y)
    f = function([x, y, z], [mul(a, z)], mode=Mode(linker=linker))
    assert f(1.0, 2.0, 3.0) == [9.0] and f(1, 2, 4) == [12.0]
    assert all(isinstance(how, Thunked) for how in f.maker.linked.how)
    assert len(f.maker.linked.how) == (1 if linker == "c" else 2)


def test_one_block_holds_the_whole_graph_as_the_documentation_draws_it():
    x, y, z = doubles("x", "y", "z")
    a = add(x, y)
    b = mul(a, z)
    text = write_block([a.owner, b.owner], [x, y, z], [b]).text
    body = text[text.index(" __compute()") :]
    order = [
        "double V1;", "V1 = PyFloat_AsDouble", "double V2;", "V2 = PyFloat_AsDouble", "double V3;",
        "V3 = PyFloat_AsDouble", "double V4;", "V4 = 0.0", "double V5;", "V5 = 0.0", "V4 = V1 + V2;", "V5 = V4 * V3;",
        "__label_7:", "__label_6:", "__label_5:", "py_V5 = PyFloat_FromDouble(V5)", "__label_4:", "__label_3:", "__label_2:", "__label_1:",
    ]  # fmt: skip
    places = [body.index(piece) for piece in order]
    assert places == sorted(places)
    # a is only initialised: it is neither extracted nor synced.
    assert "PyFloat_AsDouble(py_V4)" not in body and "PyFloat_FromDouble(V4)" not in body


def test_blocks_are_indented_to_a_depth_and_back():
    x, y = doubles("x", "y")
    last, nodes, deepest, after = x, [], [], set()
    for _ in range(30):
        last = add(last, y)
        nodes.append(last.owner)
        lines = write_block(nodes, [x, y], [last]).text.splitlines()
        assert "} // namespace" in lines, "at the margin"
        deepest.append(max(len(line) - len(line.lstrip()) for line in lines))
        after |= {line for line in lines if line.endswith("no_return_in_c_code_use_fail ended;")}
    assert len(after) == 1, "what follows stands where the blocks began"
    assert deepest == sorted(deepest) and deepest[0] < deepest[10] == deepest[-1], "not indented without end"


@pytest.fixture(scope="module")
def three():
    """A unit of two nodes on three inputs, and its thunk's cells."""
    x, y, z = (watched(name) for name in "xyz")
    a = WatchedAdd(1)(x, y)
    b = WatchedAdd(2)(a, z)
    cells = {v: [1.5] for v in (x, y, z)} | {b: [None]}
    from theano.compile.compiling import compile_blocks

    node = BlockNode([a.owner, b.owner], [b])
    block = block_of(node)
    (unit,) = compile_blocks([block])
    return BlockFactory(node, block, unit), cells, b


# Blocks in the order in which they are entered: x, y, z, a, b, the two nodes.
ENTERED = ["V1", "V2", "V3", "V4", "V5", "node_0", "node_1"]
STEPS = ["extract V1", "extract V2", "extract V3", "init V4", "init V5", "code node_0", "code node_1", "sync V5"]


@pytest.mark.parametrize("step", [*STEPS, "extract V5"])
def test_what_fails_cleans_up_what_was_entered_and_nothing_else(three, step):
    factory, cells, b = three
    told()
    thunk = factory.thunk(cells, ())
    # An output begins with what an earlier call has left, or with None.
    value = cells[b][0] = float("7.25") if step == "extract V5" else None
    before = {v: sys.getrefcount(cell[0]) for v, cell in cells.items() if cell[0] is not None}
    for _ in range(3):
        log = told(fail=step)
        with pytest.raises(ValueError, match=step):
            thunk()
        entered = ENTERED if step == "sync V5" else ENTERED[: STEPS.index(step.replace("extract V5", "init V5")) + 1]
        assert [text for text in log if text.startswith("cleanup")] == [f"cleanup {name}" for name in reversed(entered)]
        assert cells[b][0] is value and thunk.failed == (5 if step == "sync V5" else len(entered))
    assert {v: sys.getrefcount(cells[v][0]) for v in before} == before
    nones = sys.getrefcount(None)
    for _ in range(1000):
        try:
            thunk()
        except ValueError:
            continue
    assert abs(sys.getrefcount(None) - nones) < 200
    told()
    assert thunk() is None and cells[b][0] == 4.5 and thunk.failed == 0
    cells[b][0] = None


@pytest.mark.usefixtures("fresh_process")
@pytest.mark.parametrize(("shared", "failures", "works"), [
    (True, 0, "at once"), (True, 1, "privately"), (True, 2, ""), (False, 1, ""),
])  # fmt: skip
def test_what_fails_is_tried_once_more_in_a_private_place(shared, failures, works, cache, monkeypatch):
    store = block_unit.open_cache(cache)
    if not shared:
        with pytest.warns(CacheWarning):
            store.give_up(OSError(5, "Input/output error"))
    x, y = doubles("x", "y")
    left, build = [failures], block_unit._build_and_load

    def fails(*arguments):
        left[0] -= 1
        if left[0] >= 0:
            raise OSError(28, "No space left on device")
        return build(*arguments)

    monkeypatch.setattr(block_unit, "_build_and_load", fails)
    monkeypatch.setattr(block_unit, "_loaded", {})
    block = block_of(BlockNode([add(x, y).owner], [add(x, y)]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if works:
            assert len(block_unit.compile_blocks([block], None, cache)) == 1
        else:
            with pytest.raises(NoCompilerError, match="no space left to compile: No space left on device"):
                block_unit.compile_blocks([block], None, cache)
    assert left[0] == (-1 if works else 0) and len(caught) == (shared and failures > 0)
    assert store.is_private == (not shared or failures > 0)


def test_what_succeeds_runs_each_cleanup_once(three):
    factory, cells, b = three
    log = told()
    thunk = factory.thunk(cells, ())
    assert log == ["struct node_0", "struct node_1"]
    del log[:]
    thunk()
    cleanups = [f"cleanup {name}" for name in reversed(ENTERED)]
    assert log == [*STEPS[:-1], *cleanups[:2], "sync V5", *cleanups[2:]] and cells[b][0] == 4.5
    del log[:]
    del thunk
    assert log == ["free node_1", "free node_0"]
    cells[b][0] = None


@pytest.mark.parametrize(("step", "freed"), [("struct node_0", [0]), ("struct node_1", [1, 0])])
def test_a_thunk_that_cannot_be_set_up_frees_what_it_has(three, step, freed):
    factory, cells, _ = three
    log = told(fail=step)
    with pytest.raises(ValueError, match=step):
        factory.thunk(cells, ())
    assert [text for text in log if text.startswith("free")] == [f"free node_{k}" for k in freed]


@pytest.mark.parametrize("step", [*STEPS, None])
def test_memory_is_given_back_wherever_it_fails(step):
    x, y = watched("x"), watched("y")
    a = WatchedAdd(1)(x, y)
    count = Live()(x)
    f = function([x, y], [WatchedAdd(2)(a, x), count], mode=Mode(linker="c", optimizer=None))
    told()
    held = f(1.0, 2.0)[1]
    for _ in range(20):
        told(fail=step)
        try:
            f(1.0, 2.0)
        except ValueError:
            assert step is not None
    told()
    assert f(1.0, 2.0) == [4.0, held]


def test_an_error_names_the_block_that_failed():
    x, y = watched("x"), watched("y")
    f = function([x, y], WatchedAdd(2)(WatchedAdd(1)(x, y), x), mode=Mode(linker="c", optimizer=None))
    told(fail="code node_1")
    with pytest.raises(ValueError) as caught:
        f(1.0, 2.0)
    assert "WatchedAdd{number=2}" in "".join(caught.value.__notes__)
    told()


# -- what is asked and how -------------------------------------------------------------------------------------


class Doubled(COp):
    """Twice a number."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [double()])

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = twice({inputs[0]});"

    def c_support_code(self):
        return "static double twice(double x) { return 2 * x; }"


def test_with_and_without_the_compiler_argument():
    class Asked(Doubled):
        def c_headers(self, c_compiler):
            return ["<math.h>"] if "+" in c_compiler or "c" in c_compiler else []

        def c_compile_args(self):
            return ["-DTWICE=2"]

        def c_support_code(self, **kwargs):
            return ["#ifndef TWICE", "#error no argument", "#endif", "static double twice(double x) { return 2 * x; }"]

    x = double("x")
    text = write_block([(y := Asked()(x)).owner], [x], [y], "g++").text
    assert "#include <math.h>" in text
    assert function([x], y)(4.0) == 8.0


def test_options_can_be_excluded():
    class Without(Doubled):
        def c_compile_args(self):
            return ["-DWRONG"]

        def c_no_compile_args(self):
            return ["-DWRONG", "-O3"]

        def c_support_code(self):
            return "#ifdef WRONG\n#error given\n#endif\nstatic double twice(double x) { return 2 * x; }"

    x = double("x")
    assert function([x], Without()(x))(4.0) == 8.0


def test_functions_without_self_are_asked_too():
    class Odd:
        pass

    def c_sync(name, sub):
        return name

    Odd.c_sync = c_sync
    assert ask(Odd().c_sync, "V1", {}) == "V1"


def test_what_has_no_c_falls_back_on_python_and_the_c_linker_says_so():
    class Silent(Type):
        __props__ = ()

        def filter(self, value, strict=False, allow_downcast=None):
            return value

    class Both(COp):
        __props__ = ("kind",)

        def __init__(self, kind):
            self.kind = kind

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = -inputs[0]

        def c_code(self, node, name, inputs, outputs, sub):
            if self.kind == "refuses":
                raise MethodNotDefined("c_code", type(self), "Both")
            return f"{outputs[0]} = -{inputs[0]};"

    for kind, variable in [("refuses", double("x")), ("type", Silent()("x"))]:
        y = Both(kind)(variable)
        f = function([variable], y, mode=Mode(linker="c|py"))
        assert f(3.0) == -3.0 and isinstance(f.maker.linked.how[0], Performed)
        with pytest.raises(MethodNotDefined):
            function([variable], y, mode=Mode(linker="c"))


def test_c_that_does_not_compile_names_the_expression_and_a_return_is_no_c_code():
    class Wrong(Doubled):
        __props__ = ("text",)

        def __init__(self, text):
            self.text = text

        def c_code(self, node, name, inputs, outputs, sub):
            return self.text

    x = double("x")
    with pytest.raises(KernelCompileError, match="Wrong"):
        function([x], Wrong("nonsense;")(x))
    with pytest.raises(KernelCompileError, match="no_return_in_c_code"):
        function([x], Wrong("return 3;")(x))
    assert function([x], Wrong("V2 = 3;")(x))(1.0) == 3.0


def test_errors_that_nobody_described_and_exceptions_of_cxx():
    class Fails(Doubled):
        __props__ = ("text",)

        def __init__(self, text):
            self.text = text

        def c_code(self, node, name, inputs, outputs, sub):
            return self.text.replace("FAIL", sub["fail"])

    x = double("x")
    with pytest.raises(RuntimeError, match="No Python exception was set"):
        function([x], Fails("FAIL")(x))(1.0)
    with pytest.raises(RuntimeError, match="C\\+\\+ exception"):
        function([x], Fails("throw 3;")(x))(1.0)
    with pytest.raises(KeyError):
        function([x], Fails('PyErr_SetString(PyExc_KeyError, "goes on");')(x))(1.0)


def test_wrong_values_are_refused_where_they_are_extracted():
    class Raw(Doubled):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [double()])

    from theano.graph import generic

    class Same(COp):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [double()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0]

    x = generic("x")
    f = function([x], Raw()(Same()(x)))
    assert f(2.5) == 5.0
    with pytest.raises(TypeError, match="expected a float"):
        f("a text")


# -- linkers as objects ---------------------------------------------------------------------------------------------


def _graph():
    from theano.graph import FunctionGraph

    x, y, z = doubles("x", "y", "z")
    return FunctionGraph([x, y, z], [mul(add(x, y), z)])


@pytest.mark.parametrize("name", ["CLinker", "OpWiseCLinker"])
def test_a_linker_accepts_a_graph(name):
    accepted = getattr(theano, name)().accept(_graph())
    assert accepted.make_function()(1.0, 2.0, 3.0) == 9.0
    assert accepted.make_function(unpack_single=False)(1.0, 2.0, 3.0) == [9.0]
    thunk, inputs, outputs = accepted.make_thunk()
    for container, value in zip(inputs, (2.0, 3.0, 4.0), strict=True):
        container.value = value
    thunk()
    assert outputs[0].value == 20.0
    assert "V4 = V1 + V2;" in accepted.code_gen()


def test_the_dual_linker_compares_c_with_python():
    from theano.runtime.dual import DualLinker

    class Off(type(add)):
        __props__ = ("name", "sign", "by")

        def __init__(self, by):
            super().__init__("off", "+")
            self.by = by

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] + inputs[1] + self.by

    x, y = doubles("x", "y")
    assert function([x, y], Off(0.0)(x, y), mode=Mode(DualLinker(), None))(1.0, 2.0) == 3.0
    with pytest.raises(ValueError, match=r"off computes 3\.5 in Python, but 3\.0 in C"):
        function([x, y], Off(0.5)(x, y), mode=Mode(DualLinker(), None))(1.0, 2.0)
    compared = []
    linker = DualLinker(checker=lambda in_python, in_c: compared.append((in_python, in_c)))
    assert function([x, y], Off(0.5)(x, y), mode=Mode(linker, None))(1.0, 2.0) == 3.5
    assert compared == [([3.5], [3.0])], "a checker is given the storage of both"


def test_a_thunk_needs_no_values_that_nothing_reads():
    x, y, unread = doubles("x", "y", "unread")
    run, inputs, outputs = OpWiseCLinker().accept(FunctionGraph([x, y, unread], [add(x, y)])).make_thunk()
    inputs[0].data, inputs[1].data = 1.0, 2.0
    run()
    assert outputs[0].data == 3.0 and inputs[2].data is None


# -- thunks -----------------------------------------------------------------------------------------------------------


def test_thunks_of_an_op():
    x, y = doubles("x", "y")
    node = add(x, y).owner
    storage = {x: [1.0], y: [2.0], node.outputs[0]: [None]}
    computed = {v: [False] for v in storage}
    thunk = add.make_thunk(node, storage, computed, [])
    assert thunk() is None and storage[node.outputs[0]] == [3.0] and computed[node.outputs[0]] == [True]
    assert thunk.lazy is False and thunk.inputs == [[1.0], [2.0]] and thunk.outputs == [[3.0]]
    with pytest.raises(MethodNotDefined):
        add.make_thunk(node, storage, computed, [], impl="py")()
    with pytest.raises(TypeError, match="no arguments"):
        thunk(1)


def test_compiled_code_calls_thunks_through_their_capsules():
    from theano.loader.module import run_cthunk

    x, y = doubles("x", "y")
    node = add(x, y).owner
    storage = {x: [1.0], y: [2.0], node.outputs[0]: [None]}
    capsule = add.make_c_thunk(node, storage, {v: [0] for v in storage}, []).cthunk
    assert run_cthunk(capsule) == 0 and storage[node.outputs[0]] == [3.0]
    storage[x][0] = "text"
    with pytest.raises(TypeError, match="expected a float"):
        run_cthunk(capsule)


class Which(COp):
    """The second input if the first is positive, else the third; asks for no more. Its thunk is a capsule of C."""

    __props__ = ()
    lazy = True

    def make_node(self, c, x, y):
        return Apply(self, [c, x, y], [double()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        import ctypes

        function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        c, x, y = (storage_map[v] for v in node.inputs)
        flags = [compute_map[v] for v in node.inputs]
        output = storage_map[node.outputs[0]]

        def run(context):
            if not flags[0][0]:
                return 1
            wanted = 1 if c[0] > 0 else 2
            if not flags[wanted][0]:
                return wanted + 1
            output[0] = (c, x, y)[wanted][0]
            return 0

        class Holder:
            lazy = True

            def __init__(self):
                self.function = function(run)
                new = ctypes.pythonapi.PyCapsule_New
                new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
                self.cthunk = new(ctypes.cast(self.function, ctypes.c_void_p).value, None, None)

            def __call__(self):
                raise AssertionError("the machine calls the capsule")

        return Holder()


class Fails(COp):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [double()])

    def c_code(self, node, name, inputs, outputs, sub):
        return f'PyErr_SetString(PyExc_ValueError, "was run"); {sub["fail"]}'


def test_a_lazy_thunk_in_c_asks_for_what_it_needs():
    c, x, y = doubles("c", "x", "y")
    f = function([c, x, y], Which()(c, add(x, y), Fails()(mul(x, y))))
    assert f(1.0, 2.0, 3.0) == 5.0
    with pytest.raises(ValueError, match="was run"):
        f(-1.0, 2.0, 3.0)


# -- check_input and versions -------------------------------------------------------------------------------------------


def test_check_input():
    import theano

    class Checked(Type):
        __props__ = ()

        def filter(self, value, strict=False, allow_downcast=None):
            return value

        def c_declare(self, name, sub, check_input=True):
            return f"double {name}; {'/* declared with a check */' if check_input else ''}"

        def c_init(self, name, sub):
            return f"{name} = 0;"

        def c_extract(self, name, sub, check_input=True):
            check = f'if (!PyFloat_Check(py_{name})) {{ PyErr_SetString(PyExc_TypeError, "no float"); {sub["fail"]} }}'
            return f"{check if check_input else ''} {name} = PyFloat_AsDouble(py_{name}); PyErr_Clear();"

        def c_sync(self, name, sub):
            return f"Py_XDECREF(py_{name}); py_{name} = PyFloat_FromDouble({name});"

    class Copy(COp):
        __props__ = ("check_input",)

        def __init__(self, check_input):
            self.check_input = check_input

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            return f"{outputs[0]} = {inputs[0]};"

    x = Checked()("x")
    for wish, flag, checks in [(True, False, True), (False, True, False), (None, True, True), (None, False, False)]:
        with theano.config.change_flags(check_input=flag):
            f = function([x], Copy(wish)(x))
        if checks:
            with pytest.raises(TypeError, match="no float"):
                f("text")
        else:
            assert f("text") == -1.0


IMPORTS = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import theano
from c_toys import BinaryDoubleOp, Double, double
from theano import function
from theano.codegen import block_unit
import theano.toolchain.build, theano.toolchain.probe_budget
x = double("x")
function([x], x)
"""
SCRIPT = """
theano.config.load(os.environ)
Double.c_code_cache_version = lambda self: {of_type}
BinaryDoubleOp.c_code_cache_version = lambda self: {of_op}
made, build = [], block_unit.build
block_unit.build = lambda *a, **k: (made.append(1), build(*a, **k))[1]
x, y = double("x"), double("y")
assert function([x, y], BinaryDoubleOp("add", "+")(x, y))(1.0, 2.0) == 3.0
print("compiled", len(made))
"""


def test_versions_decide_what_other_processes_find(tmp_path):
    warm = Warm(IMPORTS)

    def compiled(of_type, of_op):
        env = {**os.environ, "THEANO_FLAGS": f"base_compiledir={tmp_path}"}
        done = warm.run(SCRIPT.format(of_type=of_type, of_op=of_op), env=env)
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[-1])

    assert [compiled((1,), (1,)) for _ in range(2)] == [1, 0]
    assert compiled((1,), (2,)) == 1 and compiled((2,), (1,)) == 1 and compiled((1,), (2,)) == 0
    assert [compiled((), (1,)) for _ in range(2)] == [1, 1] and [compiled((1,), ()) for _ in range(2)] == [1, 1]
