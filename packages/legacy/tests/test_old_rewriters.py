"""Rewriters and collections that only older programs make."""

import io
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "graph-core" / "tests" / "rewriting"))

from arith import add, exp, log, mul, neg, real

import theano
from theano import gof
from theano.gof.opt import CheckStackTraceOptimization, OpKeyOptimizer, pre_greedy_local_optimizer
from theano.gof.optdb import TopoDB
from theano.graph import Constant, FunctionGraph
from theano.rewriting import rewrite
from theano.rewriting.merge import constant_folding


def graph(build, *names):
    inputs = [real(n) for n in names]
    return FunctionGraph(inputs, [build(*inputs)])


@gof.local_optimizer([neg])
def neg_neg(node):
    inner = node.inputs[0].owner
    return [inner.inputs[0]] if inner is not None and inner.op == neg else False


@gof.local_optimizer([log])
def log_exp(node):
    inner = node.inputs[0].owner
    return [inner.inputs[0]] if inner is not None and inner.op == exp else None


def test_an_optimizer_of_one_op():
    fgraph = graph(lambda x: add(exp(x), exp(x)), "x")
    OpKeyOptimizer(gof.OpSub(add, mul)).optimize(fgraph)
    assert str(fgraph.outputs[0].owner.op) == "mul"
    with pytest.raises(TypeError, match="op_key"):
        OpKeyOptimizer(neg_neg)
    x = real("x")
    mode = theano.Mode("py", OpKeyOptimizer(gof.OpRemove(theano.compile.view_op)))
    made = theano.function([x], theano.compile.view_op(x), mode=mode)
    assert [str(n.op) for n in made.maker.fgraph.apply_nodes] == ["DeepCopyOp"]


def test_a_graph_watches_over_lines():
    fgraph = graph(lambda x: add(x, x), "x")
    fgraph.outputs[0].tag.trace = ()
    CheckStackTraceOptimization().optimize(fgraph)
    with pytest.raises(AssertionError, match="copy_stack_trace"):
        gof.TopoOptimizer(gof.OpSub(add, mul, transfer_tags=False)).optimize(fgraph)


def test_pre_greedy_works_beside_the_graph():
    fgraph = graph(lambda x: log(exp(neg(neg(x)))), "x")
    assert pre_greedy_local_optimizer(fgraph, [neg_neg, log_exp], fgraph.outputs[0]) is fgraph.inputs[0]
    assert str(fgraph) == "[log(exp(neg(neg(x))))]"


def test_pre_greedy_folds_what_is_in_no_graph():
    known = Constant(real("two").type, 2.0)
    folded = pre_greedy_local_optimizer([constant_folding], neg(neg(known)))
    assert folded.owner is None and folded.data == 2.0 and known.owner is None


def test_collections_in_collections():
    group = gof.LocalGroupDB()
    group.register("neg_neg", neg_neg, "t")
    group.register("log_exp", log_exp, "t", position=0)
    assert [r.name for r in group] == ["log_exp", "neg_neg"] and isinstance(group.query("+t"), gof.LocalOptGroup)
    inside = gof.EquilibriumDB()
    inside.register("group", group, "t")
    db = gof.SequenceDB()
    db.register("topo", TopoDB(group, order="out_to_in"), 1, "topo")
    db.register("inside", inside, 2, "inside")
    db.register("again", gof.ProxyDB(inside), 3, "again")
    for tag in ("topo", "inside", "again"):
        fgraph = graph(lambda x: log(exp(neg(neg(x)))), "x")
        rewrite(fgraph, gof.Query([tag, "t"]), sequence=db.sequence)
        assert str(fgraph) == "[x]", tag
        fgraph = graph(lambda x: log(exp(neg(neg(x)))), "x")
        db.query(gof.Query([tag, "t"])).optimize(fgraph)
        assert str(fgraph) == "[x]", tag
    fgraph = graph(lambda x: log(exp(neg(neg(x)))), "x")
    rewrite(fgraph, gof.Query(["inside", "t"], subquery={"inside": gof.Query(["t"], exclude=["t"])}), sequence=db.sequence)
    assert str(fgraph) == "[log(exp(neg(neg(x))))]"
    out = io.StringIO()
    group.print_summary(out)
    assert "neg_neg" in out.getvalue()
