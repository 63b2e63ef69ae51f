"""What older programs do with functions, linkers, ops of functions and rewriters."""

import io
import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile import as_op, view_op
from theano.errors import TestValueError
from theano.graph import FunctionGraph, Op, generic
from theano.legacy.vm_linker import VM_Linker
from theano.rewriting.userdefined import (
    EquilibriumOptimizer,
    MergeOptimizer,
    SeqOptimizer,
    TopoOptimizer,
    local_optimizer,
)


class Add(Op):
    """Adds anything."""

    __props__ = ()
    itypes, otypes = [generic, generic], [generic]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + inputs[1]


class Told(Op):
    """Computes the test value of its output itself, and is called past `Op`, as PyMC3 3.8's differential equations are."""

    __props__ = ()
    itypes, otypes = [generic], [generic]

    def __call__(self, x):
        y = super(theano.Op, self).__call__(x)
        y.tag.test_value = [self._get_test_value(x)]
        return y

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = [inputs[0]]


def test_ops_that_are_called_past_their_base():
    x = theano.generic("x")
    with pytest.raises(TestValueError, match="has no test value"):
        Told()(x)
    x.tag.test_value = 3
    y = Told()(x)
    assert y.owner.op == Told() and y.tag.test_value == [3] and theano.function([x], y)(4) == [4]


def test_thunks_compute_node_by_node():
    x = theano.generic("x")
    f = theano.function([x], Add()(Add()(x, x), x), mode=theano.Mode("py", None))
    inner = f.fn
    assert inner is f.fn is inner.vm and len(inner.thunks) == len(inner.nodes) == 2
    assert inner.input_storage[0] is inner.thunks[0].inputs[0]
    f.input_storage[0].value = 5
    for thunk in inner.thunks:
        thunk()
    assert [t.outputs[0][0] for t in inner.thunks] == [10, 15]
    assert inner.storage_map[inner.nodes[1].outputs[0]] == [15]
    assert f("a") == "aaa"  # a call goes its own way
    assert inner.output_storage == [[None]] and inner() == [15] and inner.output_storage == [[15]]


def test_inputs_of_a_function_by_container():
    x, y = theano.generic("x"), theano.generic("y")
    state = theano.shared("s", "state")
    f = theano.function([x, theano.In(y, value="y", name="other")], Add()(Add()(x, y), state))
    assert [f.inv_finder[c].variable for c in f.input_storage] == [spec.variable for spec in f.maker.inputs]
    assert f.inv_finder[f.finder["other"]].name == "other"
    assert [(i, same) for spec, (i,), (same,) in f.indices] == list(enumerate(f.maker.inputs))
    assert f.refeed == [True, True, False] and f.n_returned_outputs == 1


def test_fn_reads_and_fills_containers():
    x, y = T.dscalar("x"), T.dvector("y")
    total = theano.shared(1.0)
    f = theano.function([x, theano.In(y, value=np.ones(2))], [x + y, total], updates=[(total, total + 1)])
    with pytest.raises(TypeError, match="without its input 'x'"):
        f.fn()
    assert [c.value for c in f.output_storage] == [None, None] and total.get_value() == 1
    f.input_storage[0].value = 3
    assert [v.tolist() for v in f.fn()] == [[4.0, 4.0], 1.0]
    assert [v.tolist() for v in f.fn(n_calls=2)] == [[4.0, 4.0], 3.0]
    assert f.output_storage[0].value.tolist() == [4.0, 4.0] and f.input_storage[0].value == 3
    assert [v.tolist() for v in f.fn(output_subset=[1])] == [4.0] and f.output_storage[1].value == 4
    assert pickle.loads(pickle.dumps(f))(3)[0].tolist() == [4.0, 4.0] and f.copy().fn is not f.fn


def test_members_of_functions_that_older_programs_ask_for():
    x = T.dvector("x")
    inner = theano.OpFromGraph([x], [x * x])
    assert [type(op) for op in theano.function([x], inner(x), mode="FAST_COMPILE").nodes_with_inner_function] == [type(inner)]
    f = theano.function([x], x + 1)
    assert f.nodes_with_inner_function == [] and f._check_for_aliased_inputs is False and f.sync_shared() is None
    state = theano.shared(np.zeros(2))
    g = theano.function([theano.In(x, borrow=True)], x, updates=[(state, x)])
    assert g._check_for_aliased_inputs
    g._check_for_aliased_inputs = False
    assert not g._check_for_aliased_inputs
    with pytest.raises(AttributeError, match="'Function' object has no attribute 'nonsense'"):
        f.nonsense


def test_linkers_of_this_machine_are_of_one_class():
    linkers = theano.compile.mode.predefined_linkers
    assert [name for name in linkers if isinstance(linkers[name], VM_Linker)] == ["vm", "vm_nogc", "cvm", "cvm_nogc"]
    own = type("MyLinker", (VM_Linker,), {})
    assert isinstance(own(), VM_Linker) and not isinstance(linkers["cvm"], own)
    assert VM_Linker(use_cloop=True).name == "cvm" and pickle.loads(pickle.dumps(VM_Linker())) == VM_Linker()


@pytest.mark.parametrize("allow_gc", [True, False])
def test_callbacks_of_a_linker(allow_gc):
    x, state = theano.generic("x"), theano.shared("s")
    nodes, inputs = [], []

    def after(node, thunk, storage_map, compute_map):
        assert storage_map[node.outputs[0]] is thunk.outputs[0]
        done = sum(compute_map[v][0] for v in compute_map if v.owner is not None)
        assert done == len(nodes) % 2 + 1 and compute_map[node.outputs[0]] == [True]
        nodes.append((str(node.op), thunk.outputs[0][0]))

    linker = VM_Linker(allow_gc, False, after, lambda variable, value: inputs.append(value))
    assert linker == VM_Linker(allow_gc, callback=after, callback_input=linker.callback_input) == linker.clone(allow_gc)
    assert linker != VM_Linker(allow_gc) and not VM_Linker().inspects_nodes
    f = theano.function([x], Add()(Add()(x, state), x), mode=theano.Mode(linker, None))
    assert f("a") == "asa" and f("b") == "bsb"
    assert nodes == [("Add", "as"), ("Add", "asa"), ("Add", "bs"), ("Add", "bsb")]
    assert sorted(inputs) == ["a", "b", "s", "s"]


class Sub(Add):
    """The same under another name."""


def by_name(fgraph):
    return sorted(fgraph.toposort(), key=lambda node: str(node.op))


def test_the_schedule_of_a_linker():
    x = theano.generic("x")
    seen = []
    linker = VM_Linker(schedule=lambda fgraph: seen.append(fgraph) or by_name(fgraph))
    f = theano.function([x], [Sub()(x, x), Add()(x, x)], mode=theano.Mode(linker, None))
    assert f("a") == ["aa", "aa"] and seen and [str(node.op) for node in f.fn.nodes] == ["Add", "Sub"]


def test_ops_of_functions_with_a_gradient():
    def joined(a, b):
        return a + b

    def gradient(inputs, output_gradients):
        return [Add()(output_gradients[0], v) for v in inputs]

    op = as_op([generic, generic], [generic], grad=gradient)(joined)
    x, y, g = theano.generic("x"), theano.generic("y"), theano.generic("g")
    assert [str(v) for v in op.grad([x, y], [g])] == ["Add.0", "Add.0"]
    assert op == as_op([generic, generic], [generic], grad=gradient)(joined) != as_op([generic] * 2, [generic])(joined)
    assert theano.function([x, y], op(x, y))(1, 2) == 3


@local_optimizer([Add])
def unadd(node):
    return [view_op(node.inputs[0])]


def test_rewriters_return_their_profiles():
    x = generic("x")
    graph = lambda: FunctionGraph([x], [Add()(Add()(x, x), x)])
    both = SeqOptimizer(MergeOptimizer(), TopoOptimizer(unadd), name="both")
    profile = both.optimize(graph())
    assert profile[0] is both and len(profile[1]) == 2 and profile[4:6] == (2, 2) and profile[8] == [(2, 2), (2, 2)]
    assert [len(part) for part in profile[6]] == [7, 7] and profile[6][1][1] == 2
    rewriter = EquilibriumOptimizer([unadd], max_use_ratio=10)
    fixed = rewriter.optimize(graph())
    assert fixed[0] is rewriter and [list(used.values()) for used in fixed[2]] == [[2]] and fixed[3] == (2, 2, 2)
    printed = io.StringIO()
    both.print_profile(printed, profile)
    rewriter.print_profile(printed, fixed, level=1)
    rewriter.print_profile(printed, None)
    lines = printed.getvalue().splitlines()
    assert lines[0].startswith("SeqOptimizer both: ") and lines[2].endswith("2 after: unadd")
    assert lines[-1] == "        2 times unadd"


def test_names_that_modules_imported():
    assert theano.gof.cmodule.local_bitwidth() == theano.configdefaults.local_bitwidth()
    assert theano.compile.rebuild_collect_shared is theano.compile.pfunc.rebuild_collect_shared
    assert theano.compile.io_connection_pattern is theano.gof.graph.io_connection_pattern
    assert theano.gof.vm.VM_Linker is VM_Linker
