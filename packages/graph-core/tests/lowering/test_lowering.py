"""The lowering table: which class decides, what an entry accepts, and when the entries of a layer are loaded."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import theano.loader
from theano.graph.apply import Apply
from theano.graph.kernel import Builtin
from theano.graph.op import Op
from theano.graph.type import BufferSpec, Type
from theano.lowering import table
from theano.lowering.accepts import ANYTHING, BLAS, DTYPE_NAMES, FLOATS, INT64, INTEGERS, Accepts
from theano.lowering.table import Lowering, find, lower, modules, register
from theano.lowering.targets import ANY, CPU, Target


class Numbers(Type):
    __props__ = ("dtype", "ndim")

    def __init__(self, dtype, ndim=1):
        self.dtype, self.ndim = dtype, ndim

    def buffer_spec(self):
        return BufferSpec(self.dtype, self.ndim, (False,) * self.ndim)


class NumbersElsewhere(Numbers):
    def buffer_spec(self):
        return None


class Base(Op):
    __props__ = ()


class Below(Base):
    pass


class Silent(Base):
    pass


class Own(Base):
    def c_kernel(self, node):
        base = super().c_kernel(node)
        return Builtin("/mine.so", f"mine, not {base.symbol}")


def named(symbol):
    return lambda op, node: Builtin("/layer.so", symbol)


def of(op, inputs, outputs, ndim=1):
    return Apply(op, [Numbers(d, ndim)() for d in inputs], [Numbers(d, ndim)() for d in outputs])


@pytest.fixture(autouse=True)
def entries(monkeypatch):
    known = dict(modules)
    modules.clear()
    monkeypatch.setattr(table, "_entries", {})
    monkeypatch.setattr(table, "_ready", set())
    yield
    modules.clear()
    modules.update(known)


# -- which entry ------------------------------------------------------------------------------------------------------


def test_the_nearest_class_decides():
    register(Lowering(Base, named("base")), Lowering(Silent, None))
    symbols = [lower(of(op, [], [])) for op in (Base(), Below(), Silent(), Own())]
    assert [s and s.symbol for s in symbols] == ["base", "base", None, "mine, not base"]


def test_a_class_that_computes_itself_is_computed_by_itself():
    class Slower(Base):
        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0]

    class Further(Slower):
        pass

    class InC(Base):
        def c_code(self, node, name, inputs, outputs, sub):
            return ""

    class Entered(Further):
        pass

    register(Lowering(Base, named("base")), Lowering(Entered, named("entered")))
    for op in (Slower(), Further(), InC()):
        assert lower(of(op, ["int8"], ["int8"])) is find(of(op, ["int8"], ["int8"])) is None
    assert lower(of(Entered(), ["int8"], ["int8"])).symbol == "entered"


def test_our_ops_answer_what_the_table_says_and_ops_without_entry_nothing():
    assert Base().c_kernel(of(Base(), [], [])) is None is lower(of(Base(), [], []))
    register(Lowering(Base, named("base")))
    assert Below().c_kernel(of(Below(), [], [])) == lower(of(Below(), [], []))
    assert Silent().c_kernel(of(Silent(), [], [])).symbol == "base"


def test_the_first_entry_that_fits():
    narrow = Lowering(Base, named("narrow"), Accepts("x -> y", dtypes={"x": FLOATS}), when=lambda op, node: True)
    wide = Lowering(Base, named("wide"), Accepts("x -> y"))
    register(narrow, wide, Lowering(Base, named("never"), when=lambda op, node: False))
    for dtype, entry in (("float32", narrow), ("int8", wide), ("object", None)):
        node = of(Base(), [dtype], [dtype])
        assert find(node) is entry
        assert (lower(node) is None) is (entry is None)


def test_each_target_has_entries_of_its_own():
    far = Target("far")
    register(Lowering(Base, named("here")), Lowering(Base, named("there"), target=far))
    assert lower(of(Base(), [], [])).symbol == "here"
    assert lower(of(Base(), [], []), far).symbol == "there"
    assert lower(of(Own(), [], []), far) is None  # c_kernel speaks for the CPU
    assert lower(of(Base(), [], []), Target("nowhere")) is None
    assert Target("cpu") == CPU


def test_entries_for_any_target_come_after_those_of_one():
    far = Target("far")
    one = [Lowering(Base, named("here")), Lowering(Base, named("there"), Accepts("x -> y", dtypes={"x": FLOATS}), target=far)]
    every = Lowering(Base, named("everywhere"), target=ANY)
    register(every)
    assert {find(of(Base(), [], []), target) for target in (CPU, far, Target("nowhere"))} == {every}
    register(*one)
    found = [[lower(of(Base(), [d], [d]), target).symbol for d in ("float32", "int8")] for target in (CPU, far)]
    assert found == [["everywhere"] * 2, ["there", "everywhere"]]


def test_entries_are_loaded_when_the_first_node_is_lowered(monkeypatch):
    loaded = []

    class Entries(ModuleType):
        pass

    def load(name):
        loaded.append(name)
        register(Lowering(Base, named("base")))
        return Entries(name)

    monkeypatch.setattr(table.importlib, "import_module", load)
    modules.register(__name__, ("entries_of_this",))
    modules.register("another", ("entries_of_another",))
    assert not loaded
    assert lower(of(Below(), [], [])).symbol == "base"
    lower(of(Below(), [], []))
    assert loaded == ["entries_of_this"]
    assert "entries_of_this" not in sys.modules


# -- what it accepts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("accepts", "inputs", "outputs", "fits"), [
    (Accepts("x -> y"), ["int8"], ["bool"], True),
    (Accepts("x -> y"), ["object"], ["bool"], False),
    (Accepts("x -> y"), ["int8", "int8"], ["bool"], False),
    (Accepts("x -> y"), ["int8"], [], False),
    (Accepts("x -> y", dtypes={"x": ANYTHING}), ["object"], ["bool"], True),
    (Accepts("x, y -> z", dtypes={"x": BLAS}, same=("x y z",)), ["float32"] * 2, ["float32"], True),
    (Accepts("x, y -> z", dtypes={"x": BLAS}, same=("x y z",)), ["float32", "float64"], ["float32"], False),
    (Accepts("*x -> y", same=("x y",)), [], ["int8"], True),
    (Accepts("*x -> y", same=("x y",)), ["int8"] * 3, ["int8"], True),
    (Accepts("*x -> y", same=("x y",)), ["int8", "int8", "int16"], ["int8"], False),
    (Accepts("x -> first, *more", dtypes={"more": INT64}), ["int8"], ["int8", "int64", "int64"], True),
    (Accepts("x -> first, *more", dtypes={"more": INT64}), ["int8"], ["int8", "int64", "int32"], False),
    (Accepts("x -> first, *more"), ["int8"], [], False),
    (Accepts("x -> y", converts=("x y",)), ["complex64"], ["float64"], False),
    (Accepts("x -> y", converts=("x y",)), ["complex64"], ["complex128"], True),
    (Accepts("x -> y", ndim={"x": (1, 2)}), ["int8"], ["int8"], True),
    (Accepts("x -> y", ndim={"x": 2}), ["int8"], ["int8"], False),
    (Accepts("x -> y", ndim={"x": "y"}), ["int8"], ["int8"], True),
    (Accepts("x -> y", view=True), ["int8"], ["int8"], False),
])  # fmt: skip
def test_what_fits(accepts, inputs, outputs, fits):
    assert accepts.fits(of(Base(), inputs, outputs)) is fits


def test_another_number_of_axes_does_not_fit():
    node = Apply(Base(), [Numbers("int8", 1)()], [Numbers("int8", 2)()])
    assert not Accepts("x -> y", ndim={"x": "y"}).fits(node)


def test_numbers_that_are_in_no_array_do_not_fit():
    node = Apply(Base(), [NumbersElsewhere("int8")()], [Numbers("int8")()])
    assert not Accepts("x -> y").fits(node)
    assert Accepts("x -> y", dtypes={"x": ANYTHING}).fits(node)


def test_a_view_has_to_be_declared():
    class View(Base):
        view_map = {0: [0]}

    assert Accepts("x -> y", view=True).fits(of(View(), ["int8"], ["int8"]))


def test_names_that_are_not_in_the_signature():
    with pytest.raises(ValueError, match=r"no operands of these names are in 'x -> y': w, z"):
        Accepts("x -> y", dtypes={"z": INTEGERS}, same=("x w",))


def test_in_words():
    assert str(Accepts("x -> y")) == "any numbers"
    accepts = Accepts("x, *n -> y", dtypes={"n": INTEGERS}, ndim={"n": 0, "x": "y"}, same=("x y",), converts=("n y",))
    assert str(accepts) == (
        "x: as many axes as y; n: integer, no axis; x and y of one dtype; n not complex unless y is"
    )


def test_the_dtypes_are_numbered_as_the_loader_numbers_them():
    header = (Path(next(iter(theano.loader.__path__))) / "abi.h").read_text()
    numbers = {name: int(n) for name, n in re.findall(r"TH_([A-Z]+[0-9]*) = ([0-9]+)", header.partition("};")[0])}
    assert numbers.pop("NDTYPES") == len(DTYPE_NAMES)
    assert numbers == {name.upper(): i for i, name in enumerate(DTYPE_NAMES)}


# -- nodes that share what they become -----------------------------------------------------------------------------------


def test_nodes_of_one_op_and_the_same_types_share_their_kernel():
    asked = []

    def becomes(op, node):
        asked.append(node)
        return Builtin("/layer.so", str(len(asked)))

    register(Lowering(Base, becomes, Accepts("x -> y"), by_types=True), Lowering(Below, becomes, Accepts("x -> y")))
    shared = {}
    first, same = of(Base(), ["float64"], ["float64"]), of(Base(), ["float64"], ["float64"])
    assert lower(first, shared=shared) is lower(same, shared=shared) and asked == [first]
    for other in (of(Base(), ["float32"], ["float64"]), of(Base(), ["float64"], ["float32"]), of(Base(), ["float64"], ["float64"], ndim=2)):
        assert lower(other, shared=shared) is not lower(first, shared=shared)
    assert len(asked) == 4
    assert lower(first) is not lower(first) and lower(first, shared={}) is not lower(first, shared={})
    # Of an entry that does not say so each node has its own.
    apart = [of(Below(), ["float64"], ["float64"]) for _ in range(2)]
    assert lower(apart[0], shared=shared) is not lower(apart[1], shared=shared)


def test_that_there_is_no_kernel_is_shared_too():
    asked = []
    register(Lowering(Base, lambda op, node: asked.append(node), Accepts("x -> y"), by_types=True))
    shared = {}
    assert [lower(of(Base(), ["int8"], ["int8"]), shared=shared) for _ in range(3)] == [None] * 3
    assert len(asked) == 1
