"""Who works in place: each kind of node by cases, with the input that it overwrites for each of its outputs."""

from __future__ import annotations

import numpy as np
import pytest
from interpret import TRUST, Context, DestroyHandler, rewritten

import theano.tensor as T
from theano import ifelse
from theano import scalar as scal
from theano.graph import FunctionGraph
from theano.graph.features import Supervisor
from theano.rewriting import phases
from theano.tensor.blas.routines import Gemv, Ger, gemm_inplace, gemm_no_inplace
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.rules import inplace

x, y = T.dvectors("x", "y")
m, n = T.dmatrices("m", "n")
row = T.drow("row")
i = T.lvector("i")
number, other = scal.float64(), scal.float64()
#: Two results of two numbers, of one number, and of the same number twice.
sum_and_difference = scal.Composite([number, other], [number + other, number - other])
two_of_one = scal.Composite([number], [scal.exp(number), scal.sin(number)])


class OfAnother(Elemwise):
    """What somebody derives says for itself whether it works in place."""


def overwrites(op):
    """Return which input an op overwrites for each of its outputs."""
    return {o: index for o, (index,) in op.destroy_map.items()}


def decided(rule, inputs, outputs):
    """Return what the nodes of the outputs overwrite after a rule alone; the inputs belong to the caller."""
    fgraph = FunctionGraph(inputs, outputs, [DestroyHandler()])
    fgraph.attach_feature(Supervisor(fgraph.inputs))
    context = Context(TRUST)
    rule(fgraph, context)
    assert not context.report.refused, "what is certain to be refused need not be tried"
    return [overwrites(v.owner.op) for v in fgraph.outputs if v.owner]


# -- element-wise -----------------------------------------------------------------------------------------------------------


def two(*inputs, pattern=None):
    """Return two results of one node."""
    return Elemwise(sum_and_difference, pattern)(*inputs)


e = T.exp(x)
ELEMWISE = {
    "the first that is free": (T.add(T.exp(x), T.exp(y)), {0: 0}),
    "not an argument": (T.add(x, T.exp(y)), {0: 1}),
    "nothing free": (T.add(x, y), {}),
    "read twice by the node itself": (T.add(e, e), {}),
    "read as two views by the node itself": (T.add(e.reshape((2, 3)), e.reshape((2, 3))), {}),
    "a view of what is free": (T.sin(T.exp(m).T), {0: 0}),
    "a view of an argument": (T.sin(m.T), {}),
    "of another dtype": (T.gt(T.exp(x), y), {}),
    "of another dtype, then of this one": (T.add(T.cast(T.exp(x), "float32"), T.exp(y)), {0: 1}),
    "of another pattern of lengths of one": (T.add(T.exp(row), T.exp(m)), {0: 1}),
    "a constant": (T.add(T.constant(np.ones(3)), x), {}),
    "two results in two inputs": (two(T.exp(x), T.exp(y))[0], {0: 0, 1: 1}),
    "two results in the one input that is free": (two(x, T.exp(y))[1], {0: 1}),
    "two results of one input": (Elemwise(two_of_one)(T.exp(x))[1], {0: 0}),
    "what works in place already": (T.inplace.add_inplace(T.exp(x), T.exp(y)), {0: 0}),
    "what works in place for one result": (two(T.exp(x), T.exp(y), pattern={1: 0})[1], {1: 0}),
    "what is derived from Elemwise": (OfAnother(scal.add)(T.exp(x), T.exp(y)), {}),
}


@pytest.mark.parametrize("name", ELEMWISE)
def test_elementwise(name):
    output, wanted = ELEMWISE[name]
    assert decided(inplace.inplace_elemwise, [x, y, m, row], [output]) == [wanted]


def test_what_others_read_stays():
    assert decided(inplace.inplace_elemwise, [x], [e, T.sin(e)]) == [{}, {}]
    assert decided(inplace.inplace_elemwise, [x, y], [T.sin(e), T.add(e, T.exp(y))]) == [{}, {0: 1}]
    once = T.sin(e)
    assert decided(inplace.inplace_elemwise, [x], [T.cos(once)]) == [{0: 0}]


@pytest.mark.parametrize("protecting", [[], [[0, 1]], [[0]], [[0], [1]], [[]]])
def test_inputs_belong_to_the_caller_unless_somebody_says_which(protecting):
    fgraph = FunctionGraph([x, y], [T.exp(x), T.exp(y)], [DestroyHandler()])
    for which in protecting:
        fgraph.attach_feature(Supervisor([fgraph.inputs[k] for k in which]))
    kept = set().union(*protecting) if protecting else {0, 1}
    assert inplace.protected_inputs(fgraph) == {fgraph.inputs[k] for k in kept}
    inplace.inplace_elemwise(fgraph, Context(TRUST))
    assert [bool(v.owner.op.destroy_map) for v in fgraph.outputs] == [k not in kept for k in range(2)]


@pytest.mark.parametrize("rule", [inplace.inplace_elemwise, inplace.inplace_set_subtensor, inplace.inplace_updates])
def test_nobody_works_in_place_in_a_graph_that_does_not_watch(rule):
    fgraph = FunctionGraph([x], [T.inc_subtensor(T.exp(T.sin(x))[1:], 1.0), T.exp(x)], update_mapping={1: 0})
    fgraph.attach_feature(Supervisor(fgraph.inputs, fgraph.inputs))
    rule(fgraph, Context(TRUST))
    assert not any(node.op.destroy_map for node in fgraph.apply_nodes)


# -- writing parts ----------------------------------------------------------------------------------------------------------

PARTS = {
    "slice": lambda x: x[1:3],
    "place": lambda x: x[1],
    "slice of a matrix": lambda x: T.stack([x, x])[1:, 2],
    "rows": lambda x: x[i],
    "rows of a matrix": lambda x: T.stack([x, x])[:, i],
    "mask": lambda x: x[T.gt(y, 0)],
}


@pytest.mark.parametrize("inplace_already", [False, True])
@pytest.mark.parametrize("setting", [False, True])
@pytest.mark.parametrize("part", PARTS)
def test_parts_are_written_into_what_nobody_reads_any_more(part, setting, inplace_already):
    rules = [inplace.inplace_set_subtensor, inplace.inplace_inc_subtensor1]
    mine, others = rules if "slice" in part or part == "place" else rules[::-1]
    write = T.set_subtensor if setting else T.inc_subtensor
    free = write(PARTS[part](T.exp(x)), T.exp(T.constant(2.0)), inplace=inplace_already)
    for rule in (mine, others):
        assert decided(rule, [x, y, i], [free]) == [{0: 0} if inplace_already or rule is mine else {}]
    # Not into an argument; that what is written is free does not matter.
    if "matrix" not in part:
        assert decided(mine, [x, y, i], [write(PARTS[part](x), T.exp(PARTS[part](x)))]) == [{}]
    fgraph = FunctionGraph([x, y, i], [free], [DestroyHandler()])
    mine(fgraph, Context(TRUST))
    old, new = free.owner.op, fgraph.outputs[0].owner.op
    assert type(new) is type(old) and new.set_instead_of_inc == setting
    assert getattr(new, "idx_list", None) == getattr(old, "idx_list", None)


# -- over shared variables --------------------------------------------------------------------------------------------------

a, b, g, h = T.dvectors("a", "b", "g", "h")
v, w = T.dmatrices("v", "w")
one = T.constant(1.0, dtype="float64")
ADDED, SUBTRACTED = Elemwise(scal.add, {0: 1}), Elemwise(scal.sub, {0: 0})


def written_over(updates, returned=(), replaced=None):
    """Return what is overwritten to make each new value: the names of the inputs, by the number of the result."""
    inputs = [*updates, *(u for u in (a, b, g, h, v, w, m, i) if u not in updates)]
    fgraph = FunctionGraph(inputs, [*returned, *updates.values()], [DestroyHandler()])
    fgraph.update_mapping = {len(returned) + k: k for k in range(len(updates))}
    shared = dict(zip(inputs, fgraph.inputs, strict=True))
    fgraph.attach_feature(Supervisor(fgraph.inputs, [shared[u] for u in (updates if replaced is None else replaced)]))
    context = Context(TRUST)
    inplace.inplace_updates(fgraph, context)
    fgraph.validate()
    assert not context.report.refused, "what is certain to be refused need not be tried"
    made = [u.owner for u in fgraph.outputs[len(returned) :]]
    return [{o: node.inputs[k].name for o, k in overwrites(node.op).items()} if node else {} for node in made]


UPDATES = {
    "from the first input": ({a: T.sub(a, g)}, [{0: "a"}]),
    "from the second input": ({a: T.sub(g, a)}, [{0: "a"}]),
    "from itself and nothing else": ({a: T.exp(a)}, [{0: "a"}]),
    "from itself twice": ({a: T.mul(a, a)}, [{}]),
    "from itself and a view of itself": ({w: T.add(w, w.T)}, [{}]),
    "without itself": ({a: T.exp(g)}, [{}]),
    "over another that is replaced too": ({a: T.add(b, g), b: T.sub(a, g)}, [{0: "b"}, {0: "a"}]),
    "over itself rather than another": ({a: T.add(b, a), b: g}, [{0: "a"}, {}]),
    "over itself rather than another that comes later": ({a: T.add(a, b), b: g}, [{0: "a"}, {}]),
    "over none that stays": ({a: T.add(g, T.exp(h))}, [{}]),
    "in a row": ({a: T.add(a, g), b: T.add(b, T.add(a, g))}, [{0: "a"}, {0: "b"}]),
    "of another type": ({w: T.add(w, a)}, [{0: "w"}]),
    "over nothing of another type": ({w: T.add(v, a), a: g}, [{}, {}]),
    "two results": (dict(zip((a, b), two(a, b), strict=True)), [{0: "a", 1: "b"}] * 2),
    "two results, crossed": (dict(zip((b, a), two(a, b), strict=True)), [{0: "b", 1: "a"}] * 2),
    "two results, one of them over something else": ({a: two(T.exp(g), a, pattern={1: 0})[0]}, [{0: "a", 1: None}]),
    "in place of something else": ({a: ADDED(a, T.exp(g))}, [{0: "a"}]),
    "what the first input holds is taken": ({a: SUBTRACTED(T.exp(g), a)}, [{0: "a"}]),
    "a product is added": ({w: gemm_no_inplace(w, one, m, m, one)}, [{0: "w"}]),
    "a product of it": ({w: gemm_no_inplace(m, one, w, m, one)}, [{}]),
    "a product is added to something else in place": ({w: gemm_inplace(T.exp(m), one, w, m, one)}, [{0: None}]),
    "a product with a vector": ({a: Gemv()(a, one, m, g, one)}, [{0: "a"}]),
    "an outer product": ({w: Ger()(w, one, g, h)}, [{0: "w"}]),
    "a part": ({a: T.inc_subtensor(a[1:], g)}, [{0: "a"}]),
    "a part that is set": ({a: T.set_subtensor(a[1:], g)}, [{0: "a"}]),
    "a part of something else": ({a: T.set_subtensor(g[1:], a)}, [{}]),
    "rows": ({a: T.inc_subtensor(a[i], g)}, [{0: "a"}]),
    "rows that are set": ({w: T.set_subtensor(w[i], m)}, [{0: "w"}]),
    "places by several arrays": ({w: T.inc_subtensor(w[i, i], g)}, [{0: "w"}]),
    "places by a mask, which may fail when some are written": ({a: T.set_subtensor(a[T.gt(g, 0)], 0.0)}, [{}]),
    "by a node that may fail half-way": ({w: T.dot(w, m)}, [{}]),
    "of a view of the old value": ({w: T.add(w.T, m)}, [{}]),
    "with the old value read before": ({a: T.sub(a, T.sum(a) * g)}, [{0: "a"}]),
    "with a choice somewhere": ({a: T.add(a, ifelse.ifelse(T.gt(g[0], 0), g, h))}, [{}]),
    "as it is": ({a: a}, [{}]),
}  # fmt: skip


@pytest.mark.parametrize("name", UPDATES)
def test_new_values_of_shared_variables(name):
    updates, wanted = UPDATES[name]
    assert written_over(updates) == wanted
    assert not any(name for made in written_over(updates, replaced=[]) for name in made.values())


def test_of_what_is_returned_nothing_is_overwritten():
    new = T.sub(a, g)
    assert written_over({a: new}, [T.sum(a)]) == [{0: "a"}]
    assert written_over({a: new}, [a]) == [{}]  # the old value
    assert written_over({a: new}, [new]) == [{}]  # the new value
    assert written_over({w: T.exp(w)}, [w.T]) == [{}]  # a view of the old value
    assert written_over({a: new, b: T.exp(b)}, [b]) == [{0: "a"}, {}]


def test_only_what_is_replaced_is_written_over():
    assert written_over({a: T.add(b, g), b: T.sub(a, g)}, replaced=[a]) == [{}, {0: "a"}]
    assert written_over({}, [T.exp(a)]) == []


def test_who_comes_first():
    """What a part is written into saves more than an element-wise result does; the values before come after all others."""
    first_comes = {
        "local_inplace_setsubtensor": 60, "local_inplace_incsubtensor1": 60, "InplaceBlasOpt": 70,
        "inplace_elemwise_opt": 75, "inplace_updates": 77, "cond_make_inplace": 95,
    }  # fmt: skip
    assert {name: phases.position(name) for name in first_comes} == first_comes


def test_all_rules_together():
    """A function is applied to what a part was written into, and that is where a product was added."""
    fgraph, report = rewritten([m, n], [T.sin(T.inc_subtensor((T.exp(n) + T.dot(m, n))[1:], m[1:]))])
    assert not any(phase.refused for phase in report.phases)
    (out,), names = fgraph.outputs, []
    while out.owner.op.destroy_map:
        names.append(type(out.owner.op).__name__)
        out = out.owner.inputs[0]
    assert names == ["Elemwise", "IncSubtensor", "Gemm"] and str(out.owner.op) == "Elemwise{exp,no_inplace}"
