"""The text of a program: how each thing is written and read, and what is refused, without compiling anything."""

from __future__ import annotations

import json
import math
import struct
from types import SimpleNamespace

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.codegen.unit import KernelAddress
from theano.graph.canonical import NoCanonicalForm, form_of
from theano.graph.pointers import PointerFamily, pointer_families
from theano.graph.type import BufferSpec
from theano.loader.schema import Input, KernelInstruction, MachineProgram, PerformInstruction, Slot, Update
from theano.runtime import serialized
from theano.runtime.link import BuiltinAddress, Compiled, Performed
from theano.runtime.serialized import BadProgram, SerializedProgram, deserialize, same_program

LOW = 1 << 33  # an address
PARAMS = b"params"


def writer(how=(), arguments=(), constants=()):
    return serialized._Serializer(SimpleNamespace(how=list(how)), arguments, constants)


def given(params, pointers=()):
    """Return a kernel of these parameters, in which addresses stand nowhere else."""
    return Compiled(1, params, 0.0, "f", pointers)


def reader(arguments=(), constants=(), careful=None, **parts):
    program = SerializedProgram(
        {}, parts.get("nodes", []), [], {}, "", parts.get("pointers", {}), parts.get("addresses", {})
    )
    return serialized._Deserializer(program, arguments, constants, careful)


# -- values and records ------------------------------------------------------------------------------------------

SPEC = BufferSpec("float32", 2, (True, False), False)
WRITTEN = [
    (None, None), (True, True), (False, False), (0, 0), (-7, -7), (1.5, 1.5), ("text ü", "text ü"), ("", ""),
    ([], {"i": []}), ([1, -1], {"i": [1, -1]}), ([True], ["[", True]), ([1.0, 2], ["[", 1.0, 2]),
    ([1, [2, 3], None], ["[", 1, {"i": [2, 3]}, None]), ((), ["("]), ((1, 2), ["(", 1, 2]),
    (((1,), [()], "("), ["(", ["(", 1], ["[", ["("]], "("]), (["[", "("], ["[", "[", "("]),
    (b"\x00\xff", {"b": "\x00\xff"}), (SPEC, {"spec": ["float32", 2, [True, False], False, "cpu"]}),
    (Slot("input", SPEC, None), ["Slot", "input", {"spec": ["float32", 2, [True, False], False, "cpu"]}, None]),
    ([Input(3, "x", True, None, None, 1)], ["[", ["Input", 3, "x", True, None, None, 1]]),
    (Update([1.0], 2), ["Update", ["[", 1.0], 2]),
]  # fmt: skip


@pytest.mark.parametrize(("thing", "text"), WRITTEN, ids=[str(k) for k in range(len(WRITTEN))])
def test_plain_things(thing, text):
    assert writer([given(thing)])(thing) == text
    again = reader()(json.loads(json.dumps(text)))
    assert again == thing and type(again) is type(thing)
    if isinstance(thing, (list, tuple)):
        assert [type(x) for x in again] == [type(x) for x in thing]


@pytest.mark.parametrize("thing", [math.inf, -math.inf, math.nan, -0.0, 2**70, 5e-324])
def test_numbers_that_texts_often_lose(thing):
    again = reader()(json.loads(json.dumps(writer()(thing))))
    assert repr(again) == repr(thing)


@pytest.mark.parametrize("thing", [T.dvector, np.float32(2.5), {"a": (1, 2)}, T.exp, np.arange(3)])
def test_all_else_goes_by_its_form(thing):
    text = writer()(thing)
    assert text == {"form": form_of(thing)}
    assert form_of(reader()(text)) == form_of(thing)


def test_a_subclass_is_not_taken_for_what_it_inherits_from():
    class Number(int):
        pass

    class Row(tuple):
        __slots__ = ()

    for thing in (Number(1), Row((1,)), object(), lambda: 0):
        with pytest.raises(NoCanonicalForm):
            writer()(thing)


# -- what lives in one process -----------------------------------------------------------------------------------


def argument(cell=None, filter=None):
    return SimpleNamespace(cell=cell, filter=filter)


def test_cells_filters_and_constants_go_by_number():
    shared, other = [1.0], [1.0]
    arguments = [argument(), argument(shared), argument(other, len), argument(shared, max)]
    data = np.ones(2)
    constants = [data, np.ones(2), data]
    text = writer(arguments=arguments, constants=constants)
    things = [shared, other, len, max, *constants]
    names = [{"cell": 1}, {"cell": 2}, {"filter": 2}, {"filter": 3}, {"constant": 0}, {"constant": 1}, {"constant": 0}]
    assert [text(thing) for thing in things] == names, "the first of those that are one thing"
    assert text(None) is None and text([1.0]) == ["[", 1.0], "equal is not the same"
    read = reader(arguments, constants)
    assert all(a is b for a, b in zip(map(read, names), things, strict=True))


def test_addresses_go_by_key_or_by_library_and_symbol(tmp_path, monkeypatch):
    monkeypatch.setattr(theano, "__path__", [str(tmp_path / "first"), str(tmp_path / "second")])
    library = tmp_path / "second" / "layer" / "_kernels.so"
    library.parent.mkdir(parents=True)
    library.touch()
    kernel, builtin = KernelAddress(LOW, None, "key"), BuiltinAddress(LOW + 1, str(library), "symbol")
    text = writer()
    assert text([kernel, kernel, builtin]) == ["[", *[{"kernel": "key"}] * 2, {"builtin": "layer/_kernels.so:symbol"}]
    assert text.kernels == {"key": kernel} and text.builtins == {"layer/_kernels.so:symbol": builtin}
    addresses = {**text.kernels, **text.builtins}
    assert reader(addresses=addresses)(["(", {"kernel": "key"}, {"builtin": "layer/_kernels.so:symbol"}]) == (
        kernel,
        builtin,
    )
    assert serialized._outside("layer/_kernels.so") == str(library)
    (tmp_path / "elsewhere.so").touch()
    (tmp_path / "second-beside").mkdir()
    (tmp_path / "second-beside" / "x.so").touch()
    for outside in (tmp_path / "elsewhere.so", tmp_path / "second-beside" / "x.so"):
        with pytest.raises(NoCanonicalForm, match="does not belong"):
            serialized._inside(str(outside))
    for name in ("layer/nothing.so", "layer", "../elsewhere.so", "layer/../../elsewhere.so", ""):
        with pytest.raises(LookupError):
            serialized._outside(name)


# -- the parameters of kernels -------------------------------------------------------------------------------------


@pytest.fixture
def family(monkeypatch):
    """Routines ``toys:one`` and ``toys:two`` of a library, which say their places here."""
    places = {"one": LOW + 1, "two": LOW + 2, "none": 0}
    monkeypatch.setitem(pointer_families, "toys", PointerFamily(lambda name: places[name], lambda: "toys 1.0"))
    return places


def test_declared_pointers_go_by_name(family):
    params = struct.pack("=qqqq", 5, family["one"], family["two"], 6) + b"end"
    how = Compiled(1, params, 0.0, "f", ((8, "toys:one"), (16, "toys:two")))
    text = writer([Performed(len), Compiled(2, b"", 0.0, "g"), how])
    written = text(params)
    clean = struct.pack("=qqqq", 5, 0, 0, 6) + b"end"
    assert written == {"b": clean.decode("latin-1"), "pointers": [[8, "toys:one"], [16, "toys:two"]]}
    assert text.pointers == {"toys:one": family["one"], "toys:two": family["two"]} and text.needs == {
        "toys": "toys 1.0"
    }
    there = {"toys:one": 77, "toys:two": 78}
    assert reader(pointers=there)(written) == struct.pack("=qqqq", 5, 77, 78, 6) + b"end"
    with pytest.raises(NoCanonicalForm, match="raw bytes"):
        text(bytes(bytearray(params)))  # the same bytes, of which nobody said what they hold


def test_raw_parameters_are_refused_until_someone_says_where_addresses_stand():
    params = struct.pack("=qq", 5, 6)
    for how in ([], [given(params, None)], [given(params), given(params, None)], [given(params, None), given(params)],
                [given(params), given(params, ((0, "toys:one"),))]):  # fmt: skip
        with pytest.raises(NoCanonicalForm, match="raw bytes"):
            writer(how)(params)
    assert writer([given(params), given(params)])(params) == {"b": params.decode("latin-1")}
    assert writer()(b"") == {"b": ""}, "where there is nothing, there is no address"


# -- nodes ---------------------------------------------------------------------------------------------------------


def sorting(constant):
    x = T.dmatrix("x")
    return T.sort(x, axis=constant).owner


def test_nodes_are_written_once_and_read_once():
    node, other = sorting(0), sorting(1)
    text = writer()
    assert [text(n) for n in (node, other, node)] == [{"node": 0}, {"node": 1}, {"node": 0}]
    assert [op for op, *_ in text.nodes] == [form_of(node.op), form_of(other.op)]
    read = reader(nodes=text.nodes)
    made = [read({"node": k}) for k in (0, 1, 0)]
    assert made[0] is made[2] is not made[1]
    for one, again in ((node, made[0]), (other, made[1])):
        assert again.op == one.op
        for a, b in zip([*one.inputs, *one.outputs], [*again.inputs, *again.outputs], strict=True):
            assert a.type == b.type and isinstance(a, T.TensorConstant) == isinstance(b, T.TensorConstant)


def test_constants_of_nodes_go_by_number_or_by_value():
    node = sorting(1)
    (constant,) = [v for v in node.inputs if isinstance(v, T.TensorConstant)]
    at = node.inputs.index(constant)
    by_value, by_number = writer(), writer(constants=[T.constant(5.0).data, constant.data])
    assert by_value._operand(constant) == [form_of(constant.type), {"form": form_of(constant.data)}]
    assert by_number._operand(constant) == [form_of(constant.type), {"constant": 1}]
    assert by_value._operand(node.inputs[1 - at]) == [form_of(node.inputs[1 - at].type)]
    for text, given in ((by_value, []), (by_number, [np.asarray(5.0), np.asarray(1, 'int8')])):
        text(node)
        again = reader(constants=given, nodes=text.nodes).node(0)
        assert again.inputs[at].data == 1 and again.inputs[at].type == constant.type


def test_perform_is_put_together_with_its_node():
    node = sorting(0)
    text = writer()
    written = text([PerformInstruction("perform", node.op.perform, node, [0], [1]), node])
    assert written[1] == ["PerformInstruction", "perform", {"perform": None}, {"node": 0}, {"i": [0]}, {"i": [1]}]
    (record, made) = reader(nodes=text.nodes)(written)
    assert type(record) is PerformInstruction and record.node is made
    assert record.perform.__func__ is type(node.op).perform and record.perform.__self__ == node.op
    careful = reader(nodes=text.nodes, careful=lambda number, op: (number, op))(written)
    assert careful[0].perform == (0, node.op)
    with pytest.raises(NoCanonicalForm):
        text(node.op.make_node)  # another method is not what an instruction calls


def test_what_is_careful_is_told_the_number_of_the_node():
    nodes = [sorting(0), sorting(1), sorting(-1)]
    text = writer()
    written = text([PerformInstruction("perform", n.op.perform, n, [0], [1]) for n in nodes])
    told = reader(nodes=text.nodes, careful=lambda number, op: number)(written)
    assert [record.perform for record in told] == [0, 1, 2]


def test_nodes_are_prepared_to_run_in_python(monkeypatch):
    prepared = []
    node = sorting(0)
    text = writer()
    text(node)
    monkeypatch.setattr(type(node.op), "prepare_node", lambda op, *how: prepared.append(how))
    made = reader(nodes=text.nodes).node(0)
    assert prepared == [(made, None, None, "py")]


# -- whole programs --------------------------------------------------------------------------------------------------


def test_which_units_hold_the_kernels_does_not_matter():
    one = {"fields": {"a": 1}, "units": ["x"], "nodes": []}
    assert same_program(json.dumps(one), json.dumps(one)) and same_program("no json", "no json")
    assert same_program(json.dumps(one), json.dumps({**one, "units": ["y", "z"]}))
    assert not same_program(json.dumps(one), json.dumps({**one, "fields": {"a": 2}}))
    assert not same_program(json.dumps(one), json.dumps({**one, "fields": {"a": 2}, "units": []}))


SORT, OTHER_SORT = sorting(0), sorting(1)


def _changed(node, **parts):
    made = theano.Apply(node.op, list(node.inputs), [v.type() for v in node.outputs])
    for name, value in parts.items():
        setattr(made, name, value)
    return made


SAME = [
    (1, 1, True), (1, 2, False), (1, True, False), (0.0, -0.0, False), (1, 1.0, False), ("a", "b", False),
    (math.nan, math.nan, True), ([1, 2], [1, 2], True), ([1, 2], [1, 3], False), ([1], [1, 2], False), ([1, 2], [1], False),
    ((1,), [1], False), ((1, [2]), (1, [2]), True), ([], [], True), (np.arange(3), np.arange(3), True),
    (np.arange(3), np.arange(3.0), False), (KernelAddress(5, None, "a"), KernelAddress(5, None, "b"), True),
    (KernelAddress(5, None, "a"), KernelAddress(6, None, "a"), False),
    (BuiltinAddress(5, "l", "s"), BuiltinAddress(5, "l", "s"), True),
    (BuiltinAddress(5, "l", "s"), BuiltinAddress(6, "l", "s"), False),
    (SORT, sorting(0), True), (SORT, _changed(SORT), True), (SORT, _changed(SORT, op=T.exp), False),
    (SORT, _changed(SORT, inputs=SORT.inputs[:1]), False), (SORT, _changed(SORT, outputs=[]), False),
    (SORT, 1, False), (1, SORT, False),
    (SORT.op.perform, sorting(0).op.perform, True), (SORT.op.perform, SORT.op.make_node, False),
    (T.exp.perform, T.log.perform, False), (SORT.op.perform, T.exp.perform, False),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "same"), SAME, ids=[str(k) for k in range(len(SAME))])
def test_what_counts_as_the_same_program(one, other, same):
    assert serialized._same(one, other) is same and serialized._same([one], [other]) is same


def program(**parts):
    """Return a program of one kernel and one node in Python."""
    x = Slot("input", SPEC, None)
    sort = PerformInstruction("perform", SORT.op.perform, SORT, [0], [1])
    kernel = KernelInstruction("c", KernelAddress(LOW, None, "key"), PARAMS, [1], [2], 2.0, False)
    empty = {name: [] for name in ("outputs", "updates", "reuse", "frees", "control_dependencies", "overwritten", "result_bases")}
    fields = {**empty, "slots": [x, x, x], "instructions": [sort, kernel], "inputs": [Input(0, "ü", True, None, None)],
              "returns": "list", "keys": None, "commit_start": None, "lazy": False, "name": "f", **parts}  # fmt: skip
    return MachineProgram(**fields)


def written(made=None, how=None, arguments=(), constants=()):
    linked = SimpleNamespace(how=[given(PARAMS)] if how is None else how)
    return serialized.serialize(made or program(), linked, arguments, constants)


def test_a_program_as_text():
    unit = SimpleNamespace(name=SimpleNamespace(file="a unit.so"))
    kernels = [
        KernelInstruction("c", KernelAddress(LOW + k, u, f"key {k}"), b"", [], [])
        for k, u in ((1, unit), (0, unit), (2, None))
    ]
    how = [Compiled(1, b"", 0.0, "f"), Performed(len), Compiled(2, b"", 0.0, "g")]
    text = written(program(instructions=kernels), how)
    whole = json.loads(text)
    assert (
        whole["kernels"] == ["key 1", "key 0", "key 2"] and whole["units"] == ["a unit.so"] and whole["builtins"] == []
    )
    assert whole["kinds"] == {"Compiled": 2, "Performed": 1} and "name" not in whole["fields"]
    assert '"Input",0,"ü"' in text, "as it is, in as few bytes as it takes"


def test_a_program_is_read_with_the_addresses_of_this_process():
    text = written()
    asked = []
    found = deserialize(text, lambda keys, units: asked.append((keys, units)) or [KernelAddress(99, None, "key")])
    assert asked == [(["key"], [])] and found.keepalive == [99] and found.text == text and found.kinds == {"Compiled": 1}
    again = found.program("g", [], [])
    assert again.name == "g" and again.instructions[1] == ("c", 99, b"params", [1], [2], 2.0, False)
    assert again.instructions[0].perform.__self__ == SORT.op and again.inputs == program().inputs
    without = written(program(instructions=[]))
    assert deserialize(without, lambda keys, units: pytest.fail("there is none to be found")).keepalive == []


def test_what_cannot_be_read_back_is_not_kept(monkeypatch):
    """Whatever it is that comes back otherwise."""
    text = written()
    for name in ("slots", "keys", "lazy"):
        broken = SerializedProgram.program

        def changed(self, *how, name=name, broken=broken):
            made = broken(self, *how)
            setattr(made, name, "something else")
            return made

        with monkeypatch.context() as patch:
            patch.setattr(SerializedProgram, "program", changed)
            with pytest.raises(NoCanonicalForm, match=f"the {name} of a program cannot be read back"):
                written()
    assert written() == text


def test_cells_that_no_input_has_are_not_kept():
    """They would be other cells in the process that reads them."""
    cell = [np.ones(2)]
    slot = Slot("shared", SPEC, cell)
    assert json.loads(written(program(slots=[slot]), arguments=[argument(cell)]))["fields"]["slots"][1][3] == {
        "cell": 0
    }


HEAD = {"format": "program 1", "needs": {}, "pointers": [], "units": [], "kernels": [], "builtins": [], "nodes": [],
        "kinds": {}, "fields": {}}  # fmt: skip


@pytest.mark.parametrize(("head", "problem"), [
    ({}, None), ({"needs": {"toys": "toys 1.0"}, "pointers": ["toys:one"]}, None), ({"kernels": ["a", "b"]}, None),
    ({"format": "program 2"}, "of the format program 2"), ({"needs": {"toys": "toys 2.0"}}, "another toys was found"),
    ({"needs": {"nobody": "1"}}, "nobody"), ({"pointers": ["toys:none"]}, "pointer toys:none is missing"),
    ({"pointers": ["toys:unknown"]}, "unknown"), ({"kernels": ["missing"]}, "a kernel is missing"),
    ({"kernels": 5}, "int"), ({"builtins": ["nothing.so:x"]}, "library nothing.so not found"),
])  # fmt: skip
def test_what_is_not_here_is_a_bad_program(head, problem, family):
    text = json.dumps({**HEAD, **head})

    def find(keys, units):
        return None if keys == ["missing"] else range(len(keys))

    if problem is not None:
        with pytest.raises(BadProgram, match=problem):
            deserialize(text, find)
        return
    found = deserialize(text, find)
    assert found._addresses == {key: k for k, key in enumerate(head.get("kernels", []))}
    assert found.pointers == ({"toys:one": family["one"]} if "pointers" in head else {})


def test_memory_of_a_device_that_is_not_here():
    read = serialized._READERS["spec"]
    assert read(reader(), ["float32", 2, [True, False], False, "cpu"]) == SPEC
    with pytest.raises(BadProgram, match="device nowhere is missing"):
        read(reader(), ["float32", 2, [True, False], False, "nowhere"])


def test_as_many_addresses_as_kernels():
    with pytest.raises(BadProgram):
        deserialize(json.dumps({**HEAD, "kernels": ["a", "b"]}), lambda keys, units: [1])


def test_a_builtin_is_found_by_library_and_symbol(monkeypatch):
    asked = []
    monkeypatch.setattr(serialized, "_outside", lambda library: f"/there/{library}")
    monkeypatch.setattr(serialized, "builtin_address", lambda *where: asked.append(where) or 42)
    found = deserialize(json.dumps({**HEAD, "builtins": ["layer/a:b.so:symbol"]}), None)
    assert asked == [("/there/layer/a:b.so", "symbol")] and found.keepalive == [42]
