"""What older programs took from inside functions, linkers, flags and rewriting, against plain code."""

import importlib
import itertools
import operator
import sys

import pytest

import theano
from theano.compile import view_op
from theano.errors import FlagValueError, ImmutableFlagError
from theano.graph import Apply, Constant, FunctionGraph, Op, generic
from theano.settings import IntParam


class Joined(Op):
    """Puts values into a list."""

    __props__ = ("destroy_map", "view_map")

    def __init__(self, destroy_map=None, view_map=None):
        self.destroy_map, self.view_map = destroy_map or {}, view_map or {}

    def __hash__(self):
        return hash((str(self.destroy_map), str(self.view_map)))

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [generic()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = list(inputs)


def chain(n):
    x = generic("x")
    v = x
    for _ in range(n):
        v = Joined()(v)
    return x, v


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_linker_of_building_blocks(n):
    from theano.gof.link import add_clear_storage, gc_helper, map_storage, streamline

    x, out = chain(n)
    fgraph = FunctionGraph([x], [out])
    order = fgraph.toposort()
    inputs, outputs, cells = map_storage(fgraph, order, [["value"]], None)
    thunks = [
        lambda node=node: node.op.perform(node, [cells[v][0] for v in node.inputs], [cells[v] for v in node.outputs])
        for node in order
    ]
    computed, last = gc_helper(order)
    after = [[cells[v] for v in node.inputs if last[v] is node and v in computed] for node in order]
    run = streamline(fgraph, thunks, order, after, [])
    run()
    wanted = "value"
    for _ in range(n):
        wanted = [wanted]
    assert outputs[0][0] == wanted and inputs == [["value"]]
    assert all(cells[v][0] is None for v in computed if v is not fgraph.outputs[0])
    add_clear_storage(run, computed, cells)
    run.clear_storage()
    assert all(cells[v] == [None] for v in computed)


def test_storage_that_does_not_fit():
    from theano.gof.link import map_storage, streamline

    x, out = chain(1)
    fgraph = FunctionGraph([x], [out])
    with pytest.raises(ValueError, match="2 cells for 1 variables"):
        map_storage(fgraph, [], [[1], [2]], None)
    with pytest.raises(ValueError, match="another cell"):
        map_storage(fgraph, [], [[1]], None, {fgraph.inputs[0]: [2]})
    with pytest.raises(ValueError, match="1 thunks for 0 nodes"):
        streamline(fgraph, [lambda: None], [])


def test_a_thunk_that_fails_names_its_node():
    from theano.gof.link import streamline

    def fail():
        raise KeyError("lost")

    node = chain(1)[1].owner
    with pytest.raises(KeyError, match="Apply node that caused the error"):
        streamline(None, [fail], [node])()
    with pytest.raises(KeyError, match="^'lost'$"):
        streamline(None, [fail], [node], nice_errors=False)()


def test_aliases_of_variables():
    from theano.compile.function_module import alias_root, infer_reuse_pattern, view_tree_set

    x, y = generic("x"), generic("y")
    view, over = view_op(x), Joined(destroy_map={0: [0]})(y)
    both = Joined(view_map={0: [0, 1]})(x, y)
    assert alias_root(view_op(view)) is x and alias_root(over) is y and alias_root(Joined()(x)).owner is not None
    with pytest.raises(NotImplementedError, match="several inputs"):
        alias_root(both)
    fgraph = FunctionGraph([x, y], [Joined()(view_op(view), over)], clone=False)
    found = set()
    view_tree_set(x, found)
    assert found == {x, view, *(v for v in fgraph.variables if v.owner and v.owner.inputs == [view])}
    assert infer_reuse_pattern(fgraph, [over]) == {over}


@pytest.mark.parametrize("accept", [False, True])
def test_the_graph_of_a_function(accept):
    from theano.compile.function_module import fgraph_updated_vars, std_fgraph

    x, y = generic("x"), generic("y")
    inputs = [theano.In(x, update=Joined()(x)), theano.In(y, mutable=True)]
    outputs = [theano.Out(Joined(destroy_map={0: [0]})(y))]
    if not accept:
        with pytest.raises(TypeError, match="overwrite"):
            std_fgraph(inputs, outputs)
        return
    fgraph, updates = std_fgraph(inputs, outputs, accept_inplace=True)
    assert fgraph.update_mapping == {1: 0} and [o.variable for o in updates] == [fgraph.outputs[1]]
    assert fgraph_updated_vars(fgraph, inputs) == {fgraph.inputs[0]: fgraph.outputs[1]}


def test_rebuilding_finds_shared_variables_and_their_updates():
    from theano.compile.pfunc import rebuild_collect_shared

    x, y, z = generic("x"), generic("y"), generic("z")
    state = theano.shared({"any": "value"}, name="state")
    inputs, outputs, (became, updates, values, shared) = rebuild_collect_shared(
        [Joined()(x, state), y], [x, y], replace=[(z, x)], updates={state: Joined()(z)}
    )
    assert inputs == [x, y] and outputs[0].owner.inputs == [x, state] and outputs[1] is y and shared == [state]
    assert list(updates) == [state] and values == [updates[state]] and values[0].owner.inputs == [x]
    assert became[x] is x and became[state] is state
    inputs, one, _ = rebuild_collect_shared(Joined()(x), [x], copy_inputs_over=False)
    assert inputs[0] is not x and one.owner.inputs == inputs
    assert rebuild_collect_shared(None)[1] is None


def test_flags_from_a_text_and_a_file(tmp_path, monkeypatch):
    from theano.configparser import config_files_from_theanorc, fetch_val_for_key, parse_config_string

    assert parse_config_string("a=1,b=2,a=3") == {"a": "3", "b": "2"}
    path = tmp_path / "rc"
    path.write_text("[global]\nfloatX = float32\n[gcc]\ncxxflags = -O2\n")
    monkeypatch.setenv("THEANORC", str(path))
    monkeypatch.setenv("THEANO_FLAGS", "floatX=float64")
    assert config_files_from_theanorc() == [str(path)]
    assert fetch_val_for_key("floatX") == "float64" and fetch_val_for_key("gcc.cxxflags") == "-O2"
    with pytest.raises(KeyError):
        fetch_val_for_key("no.flag")


def test_all_flags_as_descriptors():
    from theano.configparser import _config_var_list

    flags = {flag.fullname: flag for flag in _config_var_list}
    assert list(flags) == [flag.name for flag in theano.config.flags()] and len(flags) == len(_config_var_list)
    assert flags["floatX"].__get__(None, None) is flags["floatX"] and "float" in flags["floatX"].doc
    for name, value in (("floatX", "float32"), ("gcc.cxxflags", "-g")):
        before = flags[name].__get__(True, None)
        assert before != value
        flags[name].__set__(None, value)
        try:
            assert flags[name].__get__(True, None) == operator.attrgetter(name)(theano.config) == value
        finally:
            flags[name].__set__(None, before)
    with pytest.raises(FlagValueError, match="floatX"):
        flags["floatX"].__set__(None, "float63")
    assert theano.config.floatX == "float64"
    with pytest.raises(ImmutableFlagError):
        flags["base_compiledir"].__set__(None, "elsewhere")
    theano.config.add("descriptors.depth", "How deep.", IntParam(3))
    assert _config_var_list[-1].fullname == "descriptors.depth" and _config_var_list[-1].__get__(True, None) == 3


def test_chains_of_ops():
    from theano.gof.opt import check_chain

    x, out = chain(2)
    for wanted in itertools.product([Joined(), Joined, view_op], repeat=2):
        assert check_chain(out, *wanted) == (view_op not in wanted)
    assert check_chain(out.owner, Joined, Joined, None) and not check_chain(out, Joined, None)
    assert not check_chain(x, Joined) and check_chain(out, lambda v: v is out)


def test_constants_are_merged_before_they_are_in_a_graph():
    from theano.gof.opt import pre_constant_merge

    one, same = Constant(generic, 1), Constant(generic, 1)
    out = Joined()(Joined()(one), same)
    pre_constant_merge(out)
    assert out.owner.inputs[0].owner.inputs[0] is out.owner.inputs[1]


def test_the_fastest_of_several_rewriters_is_taken():
    from theano.gof.opt import LocalMetaOptimizer, LocalMetaOptimizerSkipAssertionError, local_optimizer

    class Slow(Joined):
        def perform(self, node, inputs, outputs):
            sum(range(200_000))
            super().perform(node, inputs, outputs)

    class Skipped(Joined):
        def perform(self, node, inputs, outputs):
            raise LocalMetaOptimizerSkipAssertionError

    choice = LocalMetaOptimizer()
    for op in (Slow(), Skipped(), view_op):
        choice.register(local_optimizer([Joined])(lambda node, op=op: [op(*node.inputs)]), ["tag"])
    x = generic("x")
    node = Joined()(x).owner
    assert choice.transform(node) is False  # nobody says what x is
    choice.provide_inputs = lambda node, inputs: {v: theano.shared("value") for v in inputs}
    assert choice.transform(node)[0].owner.op == view_op
    assert choice.transform(view_op(x).owner) is False and len(choice.tag_dict["tag"]) == 3


@pytest.mark.parametrize(
    ("module", "old"),
    [
        ("theano.graph.basic", "theano.gof.graph"), ("theano.graph.opt", "theano.gof.opt"),
        ("theano.graph.toolbox", "theano.gof.toolbox"), ("theano.graph.optdb", "theano.gof.optdb"),
        ("theano.compile.function.types", "theano.compile.function_module"),
        ("theano.compile.function.pfunc", "theano.compile.pfunc"), ("theano.link.c.basic", "theano.gof.cc"),
    ],
)  # fmt: skip
def test_both_layouts_have_the_same_things(module, old):
    new, before = importlib.import_module(module), importlib.import_module(old)
    assert [name for name in before.__all__ if getattr(new, name) is not getattr(before, name)] == []


def test_modules_of_the_graph_have_old_names_too():
    assert theano.graph.op.get_test_value is theano.compile.test_values.get_test_value
    assert "get_test_value" in dir(theano.graph.op) and "CDataType" in dir(theano.graph.type)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        theano.graph.op.nonsense


def test_a_function_is_a_module_only_to_imports():
    theano.compile.function([], [])
    assert callable(theano.compile.function) and callable(theano.function)
    assert sys.modules["theano.compile.function"].function is theano.function


def test_what_programs_read_of_a_function():
    x, state = generic("x"), theano.shared([0], name="state")
    f = theano.function([theano.In(x, value=[1])], [Joined()(x, state), x], updates={state: Joined()(x)})
    inside = f.fn
    inputs, outputs = f.maker.fgraph.inputs, f.maker.fgraph.outputs
    assert {type(node.op) for node in inside.nodes} >= {Joined} and len(f.outputs) == 2
    assert [inside.storage_map[v] for v in inputs] == [[[1]], [[0]]]
    assert inside.storage_map[inputs[1]] is state.container.storage and inside.updated_vars == {inputs[1]: outputs[2]}
    assert inside() == [[[1], [0]], [1]] and inside(n_calls=2) == [[[1], [[1]]], [1]]
    assert [(required, put_back) for required, put_back, _ in f.defaults] == [(False, True), (False, False)]
    assert theano.function([x], x).defaults[0][0]
    assert [i.variable for i in f.maker.expanded_inputs] == inputs and f.maker.expanded_inputs[1].value.data == state.get_value()


def test_the_old_function_is_a_module_that_can_be_called():
    x = generic("x")
    for pfunc in (theano.pfunc, theano.compile.pfunc, theano.compile.pfunc.pfunc):
        assert pfunc([x], view_op(x))(3) == 3 and pfunc(params=[x], outputs=view_op(x))(3) == 3
    with pytest.raises(TypeError, match=r"the module theano.gof.sched cannot be called"):
        theano.gof.sched()


def test_a_mode_takes_rewriters_at_a_position():
    from theano.compile.mode import AddFeatureOptimizer
    from theano.gof import NoOutputFromInplace

    mode = theano.Mode("py", "fast_run").register((AddFeatureOptimizer(NoOutputFromInplace()), 49.9))
    x = generic("x")
    fgraph = theano.function([x], view_op(x), mode=mode).maker.fgraph
    assert any(isinstance(feature, NoOutputFromInplace) for feature in fgraph.features)


def test_graphs_and_copies_keep_what_programs_set():
    import copy

    x = generic("x")
    assert FunctionGraph([x], [x]).name is None and FunctionGraph([x], [x]).profile is None
    f = theano.function([x], view_op(x))
    f.trust_input = True
    assert copy.deepcopy(f).trust_input


def test_rewriters_say_what_they_did():
    from theano.gof.opt import MergeOptimizer, OpRemove, TopoOptimizer

    x, out = chain(2)
    fgraph = FunctionGraph([x], [Joined()(out, Joined()(x), view_op(x))])
    refused, _, _, _, _, nodes, constants = MergeOptimizer().optimize(fgraph)
    assert (refused, nodes, constants) == (0, 1, 0)
    done = TopoOptimizer(OpRemove(view_op)).optimize(fgraph)
    assert done[1:4] == (1, 4, 3) and repr(done[0]).startswith("<theano.gof.opt.TopoOptimizer object at")


def test_a_graph_marks_what_it_uses_twice():
    x = generic("x")
    once = Joined()(x)
    assert str(FunctionGraph([x], [Joined()(once, once)])).count("*1") == 2
    assert "..." in str(FunctionGraph(*([v] for v in chain(120))))


@pytest.mark.parametrize("tracks", [None, [], [Joined]])
def test_what_tracks_nothing_is_shown_everything(tracks):
    from theano.gof.opt import LocalOptimizer, TopoOptimizer

    class Once(LocalOptimizer):
        def tracks(self):
            return tracks

        def transform(self, node):
            inner = node.inputs[0].owner
            return [inner.outputs[0]] if inner is not None else False

    x, out = chain(3)
    fgraph = FunctionGraph([x], [out])
    assert TopoOptimizer(Once()).optimize(fgraph)[3] == len(fgraph.apply_nodes) == 1
