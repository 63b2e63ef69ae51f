"""The key of a function: equal for equal requests, different for whatever could make a difference."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plan_keys import key_of

import portion
import theano
import theano.tensor as T
from theano.compile import environment
from theano.compile.mode import Mode
from theano.graph import canonical
from theano.graph.canonical import NoCanonicalForm, derived_tags, form_of, object_of
from theano.rewriting import RewriteSettings, families, local_rule, phases
from theano.rewriting.registration import ChangeCount
from theano.scalar.registry import OPS

# Each entry gives a list of arguments for `key_of`; no two of them may have one key, and each has the same key again.


def _x(name="x", dtype="float64", pattern=(False,)):
    return T.TensorType(dtype, pattern)(name)


def _constant(value, **how):
    x = _x()
    return [x], [x + T.constant(value, **how)]


def _order(swap):
    x, y = _x("x"), _x("y")
    return ([y, x] if swap else [x, y]), [x - y]


def _axis(axis, **how):
    m = _x("m", pattern=(False, False))
    return [m], [T.sum(m, axis=axis, **how)]


def _update(new):
    x, s = _x(), theano.shared(np.zeros(3), "s")
    return [x], [x + s], {s: new(s, x)}


def _given(replacement):
    x, y = _x("x"), _x("y")
    return [x], [T.exp(y)], None, {y: replacement(x)}


def _shared(value, **how):
    x, s = _x(), theano.shared(value, "s", **how)
    return [x], [x.sum() + s.sum()]


def _input(**options):
    x = _x()
    return [theano.In(x, **options)], [x * 2]


def _output(borrow):
    x = _x()
    return [x], [theano.Out(x * 3, borrow=borrow)]


def _tagged(**tags):
    x = _x()
    y = x * 2
    y.tag.__dict__.update(tags)
    return [x], [y + 1]


def _graph(build):
    x, y = _x("x"), _x("y")
    return [x, y], build(x, y)


MATRIX = T.TensorType("float64", (False, False))
MUTATIONS = {
    "x + 1": lambda: _constant(np.float64(1)),
    "x + 2": lambda: _constant(np.float64(2)),
    "x + -0.0": lambda: _constant(np.float64(-0.0)),
    "x + 0.0": lambda: _constant(np.float64(0)),
    "x + nan": lambda: _constant(np.float64("nan")),
    "x + float32 1": lambda: _constant(np.float32(1)),
    "x + int 1": lambda: _constant(1),
    "x + [1]": lambda: _constant([1.0]),
    "x + [1] of unknown length": lambda: _constant(np.array([1.0]), name="c"),
    "x + [1, 2]": lambda: _constant([1.0, 2.0]),
    "x + [2, 1]": lambda: _constant([2.0, 1.0]),
    "C order": lambda: ([], [MATRIX.make_constant(np.ones((2, 3))) * 2]),
    "F order": lambda: ([], [MATRIX.make_constant(np.ones((3, 2)).T) * 2]),
    "other shape": lambda: ([], [MATRIX.make_constant(np.ones((3, 2))) * 2]),
    "x - y": lambda: _order(False),
    "x - y, arguments swapped": lambda: _order(True),
    "sum over 0": lambda: _axis(0),
    "sum over 1": lambda: _axis(1),
    "sum over both": lambda: _axis((0, 1)),
    "sum over all": lambda: _axis(None),
    "sum, accumulated elsewhere": lambda: _axis(0, acc_dtype="complex128", dtype="float64"),
    "sum, kept": lambda: _axis(0, keepdims=True),
    "update s": lambda: _update(lambda s, x: s + x),
    "update s otherwise": lambda: _update(lambda s, x: x + s),
    "update s by itself": lambda: _update(lambda s, x: s),
    "given": lambda: _given(lambda x: x * 2),
    "given otherwise": lambda: _given(lambda x: x * 3),
    "shared vector": lambda: _shared(np.zeros(3)),
    "shared float32 vector": lambda: _shared(np.zeros(3, "float32")),
    "shared matrix": lambda: _shared(np.zeros((3, 3))),
    "shared row": lambda: _shared(np.zeros((1, 3)), broadcastable=(True, False)),
    "input": lambda: _input(),
    "mutable input": lambda: _input(mutable=True),
    "borrowed input": lambda: _input(borrow=True),
    "strict input": lambda: _input(strict=True),
    "input that may lose": lambda: _input(allow_downcast=True),
    "input with a value": lambda: _input(value=np.zeros(2)),
    "input of another name": lambda: _input(name="z"),
    "output": lambda: _output(False),
    "borrowed output": lambda: _output(True),
    "x": lambda: ([x := _x()], [x]),
    "x alone": lambda: ([x := _x()], x),
    "x in a dictionary": lambda: ([x := _x()], {"x": x}),
    "x in another dictionary": lambda: ([x := _x()], {"y": x}),
    "x called y": lambda: ([x := _x("y")], [x]),
    "x of float32": lambda: ([x := _x(dtype="float32")], [x]),
    "x of length 1": lambda: ([x := _x(pattern=(True,))], [x]),
    "x matrix": lambda: ([x := _x(pattern=(False, False))], [x]),
    "two": lambda: _graph(lambda x, y: [x, y]),
    "two, swapped": lambda: _graph(lambda x, y: [y, x]),
    "twice": lambda: _graph(lambda x, y: [x + y, x + y]),
    "once, shown twice": lambda: _graph(lambda x, y: [z := x + y, z]),
    "x*y+x": lambda: _graph(lambda x, y: [x * y + x]),
    "x*y+y": lambda: _graph(lambda x, y: [x * y + y]),
    "maximum": lambda: _graph(lambda x, y: [T.maximum(x, y)]),
    "minimum": lambda: _graph(lambda x, y: [T.minimum(x, y)]),
    "x[:2]": lambda: _graph(lambda x, y: [x[:2] + y]),
    "x[:3]": lambda: _graph(lambda x, y: [x[:3] + y]),
    "x[::2]": lambda: _graph(lambda x, y: [x[::2] + y]),
    "cast": lambda: _graph(lambda x, y: [T.cast(x, "int8") + y]),
    "other cast": lambda: _graph(lambda x, y: [T.cast(x, "int16") + y]),
    "sort": lambda: _graph(lambda x, y: [T.sort(x), y]),
    "other sort": lambda: _graph(lambda x, y: [T.sort(x, kind="mergesort"), y]),
    "a tag that forbids folding": lambda: _tagged(unfoldable=True),
    "no such tag": lambda: _tagged(),
    "a tag that is false": lambda: _tagged(unfoldable=False),
}


@pytest.fixture(scope="module")
def keys():
    return {name: key_of(*make()) for name, make in MUTATIONS.items()}


def test_each_difference_gives_another_key(keys):
    by_key = {}
    for name, key in keys.items():
        assert key not in by_key, f"{name!r} has the key of {by_key[key]!r}"
        by_key[key] = name


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_same_again_gives_the_same_key(keys, name):
    assert key_of(*MUTATIONS[name]()) == keys[name]


HOW = [
    {}, {"mode": Mode("cvm", "fast_compile")}, {"mode": Mode("cvm", "o2")}, {"mode": Mode("c|py", "fast_run")},
    {"mode": Mode("cvm", "fast_run").excluding("fusion")}, {"mode": Mode("cvm", "fast_run").including("unsafe")},
    {"mode": Mode("cvm", "fast_run").excluding("mul_one")}, {"mode": Mode("cvm", None)},
    {"accept_inplace": True}, {"allow_gc": False}, {"settings": RewriteSettings(max_use_ratio=7.0)},
    {"settings": RewriteSettings(on_error="raise")}, {"toolchain": "another compiler"},
    {"allow_input_downcast": True}, {"allow_input_downcast": False},
]  # fmt: skip


def test_what_is_done_with_a_graph_is_in_the_key():
    found = [key_of(*_graph(lambda x, y: [x * y]), **how) for how in HOW]
    assert len(set(found)) == len(HOW)


FLAGS = {
    "floatX": "float32", "cast_policy": "numpy+floatX", "int_division": "floatX", "threads": 3, "cpu_level": "baseline",
    "gcc.cxxflags": "-g", "on_opt_error": "raise", "allow_gc": False, "optdb.max_use_ratio": 9.0,
}  # fmt: skip


@pytest.mark.parametrize("flag, value", FLAGS.items())
def test_flags_are_in_the_key(flag, value):
    request = _graph(lambda x, y: [x * y])
    before = key_of(*request)
    with theano.config.change_flags({flag: value}):
        assert key_of(*request) != before
    assert key_of(*request) == before


@pytest.mark.parametrize("flag, value", [("on_unused_input", "warn"), ("profile", True), ("compile.jobs", 3)])
def test_flags_without_effect_are_not(flag, value):
    request = _graph(lambda x, y: [x * y])
    before = key_of(*request)
    with theano.config.change_flags({flag: value}):
        assert key_of(*request) == before


def test_the_value_of_a_shared_variable_does_not_matter():
    assert key_of(*_shared(np.zeros(3))) == key_of(*_shared(np.arange(3.0))) == key_of(*_shared(np.zeros(900)))


def test_lines_do_not_matter_and_names_do():
    one = ([x := _x()], [x + 1])
    two = (
        [x := _x()],
        [x + 1],
    )
    assert key_of(*one) == key_of(*two)
    named = ([x := _x()], [x + 1])
    named[1][0].name = "sum"
    assert key_of(*named) != key_of(*one)


def test_flags_that_ask_to_watch_leave_no_key():
    arguments = _constant(np.float64(1))  # written without test values
    with theano.config.change_flags(compute_test_value="raise"), pytest.raises(NoCanonicalForm, match="asks to watch"):
        key_of(*arguments)


# -- what has no key -----------------------------------------------------------------------------------------


class Foreign(theano.Op):
    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [T.as_tensor_variable(x)], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2


class ForeignType(T.TensorType):
    pass


class ForeignMode(Mode):
    pass


def test_an_op_from_outside_has_no_key():
    x = _x()
    with pytest.raises(NoCanonicalForm, match="Foreign is not one of ours"):
        key_of([x], [Foreign()(x)])


def test_an_op_from_outside_that_claims_to_be_ours_has_no_key(monkeypatch):
    monkeypatch.setattr(Foreign, "__module__", "theano.tensor.basic")
    x = _x()
    with pytest.raises(NoCanonicalForm, match="Foreign is not one of ours"):
        key_of([x], [Foreign()(x)])


def test_a_type_and_a_mode_from_outside_have_no_key():
    x = ForeignType("float64", (False,))("x")
    with pytest.raises(NoCanonicalForm, match="ForeignType"):
        key_of([x], [x])
    y = _x()
    with pytest.raises(NoCanonicalForm, match="the effect of"):
        key_of([y], [y], mode=ForeignMode("cvm", "fast_run"))


def test_an_op_with_a_function_of_the_user_has_no_key():
    x = _x()
    op = T.Elemwise(theano.scalar.Add(lambda *types: types[:1]))
    with pytest.raises(NoCanonicalForm, match="function"):
        key_of([x], [op(x, x)])


def _thrice(name: str):
    return theano.scalar.scalar_op(
        name, "x", types=theano.scalar.same_out, py=lambda x: 3 * x, c="{x} * 3", doc="Three times."
    )


def test_a_scalar_operation_of_the_user_has_no_key():
    x = _x()
    thrice = _thrice("test_plans_thrice")
    with pytest.raises(NoCanonicalForm, match="test_plans_thrice"):
        key_of([x], [T.Elemwise(thrice)(x)])
    _thrice("test_plans_thrice")  # a cell of a notebook that runs twice
    assert key_of([x], [T.exp(x)]) == key_of([x], [T.exp(x)])


def test_a_scalar_operation_in_the_place_of_ours_ends_all_keys(monkeypatch):
    x = _x()
    monkeypatch.setattr(canonical, "replaced", set())
    monkeypatch.setattr(environment, "replaced", canonical.replaced)
    monkeypatch.setitem(OPS, "sqr", OPS["sqr"])
    _thrice("sqr")
    with pytest.raises(NoCanonicalForm, match="the scalar operation sqr"):
        key_of([x], [T.exp(x)])


def test_a_rule_from_outside_ends_it():
    @local_rule([T.Elemwise], phases=())
    def test_plans_rule(node):
        return None

    request = _constant(np.float64(1))
    before = key_of(*request)
    phases["canonicalize"].add(test_plans_rule)
    try:
        with pytest.raises(NoCanonicalForm, match="test_plans_rule"):
            key_of(*request)
    finally:
        phases["canonicalize"].remove("test_plans_rule")
    assert key_of(*request) == before
    phases.register("test_plans_pass", lambda fgraph, context: None, 3, "fast_run")
    try:
        with pytest.raises(NoCanonicalForm, match="test_plans_pass"):
            key_of(*request)
    finally:
        phases.remove("test_plans_pass")
    assert key_of(*request) == before


def test_a_rule_taken_out_changes_the_key():
    request = _constant(np.float64(1))
    before = key_of(*request)
    phase = phases["uncanonicalize"]
    # What is put back by hand is not known to be what it was: all that the phase knows is kept.
    kept = {name: value.copy() if isinstance(value, (dict, set)) else value for name, value in vars(phase).items()}
    phase.remove(next(iter(phase)).name)
    try:
        assert key_of(*request) != before
    finally:
        vars(phase).update(kept)
        ChangeCount.count += 1
    assert key_of(*request) == before


def test_tags_that_mean_nothing_elsewhere_leave_no_key():
    with pytest.raises(NoCanonicalForm):
        key_of(*_tagged(something=object()))


# -- forms ---------------------------------------------------------------------------------------------------

THINGS = [
    None, True, 1, 1.0, -0.0, float("inf"), 2j, "text", b"\x00\xff", (1, (2,)), [1, [2]], {"a": 1, 2: "b"}, {3, 1, 2},
    frozenset("abc"), slice(1, None, 2), ..., int, np.float32, np.float32(1.5), np.int8(-3), np.dtype("uint16"),
    np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 3)), np.array(7),
    T.TensorType("float32", (True, False), name="row"), T.add, T.exp, T.Sum(axis=(0, 1)), T.dvector("x")[1:3].owner.op,
    theano.scalar.Cast(theano.scalar.int8), theano.scalar.Add(theano.scalar.transfer_type(1), "plus"),
    theano.scalar.Composite([a := theano.scalar.float64("a")], [theano.scalar.exp(a) * 2 + a]),
]  # fmt: skip


@pytest.mark.parametrize("thing", THINGS, ids=lambda x: type(x).__name__)
def test_forms_are_read_back(thing):
    again = object_of(form_of(thing))
    assert type(again) is type(thing) and form_of(again) == form_of(thing)
    if isinstance(thing, np.ndarray):
        assert again.flags.writeable and again.strides == thing.strides
        np.testing.assert_array_equal(again, thing)
    else:
        assert again == thing and str(again) == str(thing)


def test_forms_tell_apart_what_python_holds_for_equal():
    alike = [0, False, 0.0, -0.0, 0j, np.int64(0), np.float64(0), np.float32(0)]
    assert len({str(form_of(thing)) for thing in alike}) == len(alike)


@pytest.mark.parametrize(
    "tree", [["?"], ["c", "os", "system"], ["g", "subprocess", "run"], ["o", "theano.graph.op"], ["r", "none", 1],
             ["n", "theano.scalar.composite", "Ref", 1], ["b", 3], [[]], ["o", "builtins", "int", 1]]
)  # fmt: skip
def test_what_is_no_form_is_refused(tree):
    with pytest.raises(NoCanonicalForm):
        object_of(tree)


# -- other processes -----------------------------------------------------------------------------------------

SCRIPT = """
import importlib, sys
sys.path.insert(0, {tests!r})
import test_plans_key as t
for package in {packages!r}:  # a key names the packages of rules: those of the layers that are loaded
    if package not in t.families.packages:
        importlib.import_module(package.rpartition(".")[0])
for name, make in t.MUTATIONS.items():
    print(t.key_of(*make()), name)
"""


def test_another_process_has_the_same_keys(keys):
    script = SCRIPT.format(tests=str(Path(__file__).parent), packages=[*families.packages])
    path = os.pathsep.join([str(Path(portion.__file__).parent), os.environ.get("PYTHONPATH", "")])
    for seed in portion.portion(("1", "2")):
        out = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True, text=True, timeout=300, check=True,
        ).stdout  # fmt: skip
        theirs = {name: key for key, _, name in (line.partition(" ") for line in out.splitlines())}
        assert theirs == keys


@pytest.mark.parametrize("traced", [False, True])
def test_tags_that_follow_from_the_graph_do_not_tell_graphs_apart(traced):
    x = T.dvector("x")
    keys = set()
    for names in ([], ["derived_from"], ["_merge_signature", "_uniform"]):
        inner = T.exp(x)
        inner.tag.__dict__.clear()
        if traced:
            inner.tag.trace = []
        for name in names:
            assert name in derived_tags
            setattr(inner.tag, name, object())
        keys.add(key_of([x], inner + 1))
    assert len(keys) == 1, "a graph from the cache has none of them"
