"""Phases: positions, tags and queries pick what runs."""

import gc

import pytest
from arith import add, exp, mul, neg, real

from theano.graph import FunctionGraph
from theano.graph.source import user_trace
from theano.rewriting import Context, Phase, Phases, Query, local_rule, pattern_vars, phases, query_of, rewrite, rule

pytestmark = pytest.mark.usefixtures("arithmetic")
x, y = pattern_vars("x y")


@pytest.fixture
def sequence():
    made = Phases("test")
    made.register("first", Phase("first"), 1, "fast_run", "fast_compile")
    made.register("second", Phase("second", "in_to_out"), 2, "fast_run")
    rule("neg_neg", -(-x), x, phases=("first", "second"), into=made)
    rule("add_zero", x + 0, x, phases=("first",), tags=("fast_run", "fast_compile"), into=made)
    rule("mul_one", x * 1, x, phases=("first",), tags=("fast_run", "inplace"), into=made)
    return made


def graph():
    a = real("a")
    return FunctionGraph([a], [neg(neg(exp(mul(add(a, 0), 1))))])


@pytest.mark.parametrize(
    ("query", "left"),
    [
        (None, "[neg(neg(exp(mul(add(a, Constant{0}), Constant{1}))))]"),
        ("fast_run", "[exp(a)]"),
        ("o4", "[exp(a)]"),
        ("o3", "[exp(mul(a, Constant{1}))]"),
        ("fast_compile", "[neg(neg(exp(mul(a, Constant{1}))))]"),
        ("o1", "[neg(neg(exp(mul(a, Constant{1}))))]"),
        (Query(["fast_run"]).excluding("neg_neg"), "[neg(neg(exp(a)))]"),
        (Query(["fast_run"]).excluding("first"), "[exp(mul(add(a, Constant{0}), Constant{1}))]"),
        (Query(["fast_run"]).requiring("fast_compile"), "[neg(neg(exp(mul(a, Constant{1}))))]"),
        (Query(["fast_compile"]).including("neg_neg"), "[exp(mul(a, Constant{1}))]"),
        (Query(["fast_run"], position_cutoff=1), "[neg(neg(exp(mul(add(a, Constant{0}), Constant{1}))))]"),
    ],
)
def test_queries(sequence, query, left):
    fgraph = graph()
    rewrite(fgraph, query, sequence=sequence)
    assert str(fgraph) == left


def test_unknown_optimizer_names_the_choices():
    with pytest.raises(ValueError, match="no optimizer is called 'fastest'; there are .*fast_run"):
        query_of("fastest")


def test_entries_run_by_position_then_name(sequence):
    ran = []
    for name, position in (("b", 1.5), ("a", 1.5), ("c", 0)):
        sequence.register(name, lambda fgraph, context, name=name: ran.append(name), position, "fast_run")
    inner = Phases("inner")
    inner.register("d", lambda fgraph, context: ran.append("d"), 7, "fast_run")
    sequence.register("nested", inner, 3, "fast_run")
    report = rewrite(graph(), "fast_run", sequence=sequence)
    assert ran == ["c", "a", "b", "d"]
    assert [p.name for p in report.phases] == ["c", "first", "a", "b", "second", "d"]
    assert sequence.names(Query(["a"])) == ["a"] and sequence.position("a") == 1.5
    assert sequence.find("d") is inner.d and sequence.find("neg_neg").name == "neg_neg" and sequence.find("zzz") is None


def test_names_are_unique(sequence):
    with pytest.raises(ValueError, match="already"):
        sequence.register("first", Phase("first"), 1)
    with pytest.raises(ValueError, match="already"):
        rule("neg_neg", -(-x), x, phases=("first",), into=sequence)
    with pytest.raises(AttributeError, match="no phase named third"):
        sequence.third
    with pytest.raises(ValueError, match="order"):
        Phase("p", "sideways")
    with pytest.raises(TypeError, match=r"5 is no pass.*optdb"):
        sequence.register("third", 5, 3)


def test_a_phase_is_a_pass(sequence):
    """It does what the query of the context picks, and adds to the report there."""
    fgraph, context = graph(), Context()
    sequence.first(fgraph, context)
    assert context.report.uses == {}
    context.query = Query(["add_zero", "mul_one"])
    sequence.first(fgraph, context)
    assert str(fgraph) == "[neg(neg(exp(a)))]" and context.report.uses == {"add_zero": 1, "mul_one": 1}
    # One that stands elsewhere under another name is reported under that.
    sequence.register("again", sequence.first, 3, "fast_run")
    assert [p.name for p in rewrite(graph(), "fast_run", sequence=sequence).phases] == ["first", "second", "again"]


def test_rules_can_take_part_as_one(sequence):
    asked = []

    def group(query):
        asked.append(query)
        return local_rule([exp], name="group", phases=())(lambda node: [neg(node.inputs[0])])

    sequence.first.add_group("group", group, "fast_run")
    fgraph = graph()
    rewrite(fgraph, Query(["first", "group"], subquery={"group": Query(["mine"])}), sequence=sequence)
    assert "exp" not in str(fgraph) and asked == [Query(["mine"])]
    sequence.first.remove("group")
    assert "group" not in sequence.first

def test_rules_meet_nodes_in_order_and_one_may_come_before(sequence):
    seen = []
    for name in ("one", "two"):
        local_rule([exp], name=name, phases=("first",), into=sequence)(lambda node, name=name: seen.append(name))
    early = local_rule([exp], name="zero", phases=())(lambda node: seen.append("zero"))
    sequence.first.add(early, "fast_run", before="one")
    a = real("a")
    rewrite(FunctionGraph([a], [exp(a)]), "fast_run", sequence=sequence)
    assert seen[:3] == ["zero", "one", "two"]
    sequence.first.remove("zero")
    assert "zero" not in sequence.first


def test_the_common_sequence_stands_where_it_is_documented():
    """The passes that graph-core brings itself are at the documented positions."""
    documented = {
        "merge1": 0, "useless": 0.6, "merge1.1": 0.65, "canonicalize": 1, "merge1.2": 1.2, "stabilize": 1.5,
        "specialize": 2, "uncanonicalize": 3, "specialize_device": 48.6, "merge2": 49, "add_destroy_handler": 49.5,
        "merge3": 100,
    }
    assert {name: phases.position(name) for name in documented} == documented
    assert "inplace" in phases.tags("add_destroy_handler")
    assert {"topo_constant_folding", "merge"} <= {n for n in ("topo_constant_folding", "merge") if n in phases.canonicalize}


def test_the_collector_is_held_and_given_back(sequence):
    seen = []

    @local_rule([neg], phases=("first",), into=sequence)
    def look(node):
        """See what is switched on."""
        seen.append((gc.isenabled(), user_trace()))

    for before in (True, False):
        (gc.enable if before else gc.disable)()
        try:
            rewrite(graph(), "fast_run", sequence=sequence)
            assert gc.isenabled() is before
        finally:
            gc.enable()
    assert set(seen) == {(False, ())}
    assert user_trace()[0].function == "test_the_collector_is_held_and_given_back"
