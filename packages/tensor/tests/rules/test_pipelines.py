"""The whole sequence on expressions that users write: what is left, and what it computes."""

import counted
import numpy as np
import pytest
from interpret import apply_rule, check, ops, rewritten

import theano
import theano.tensor as T
from theano.gradient import grad
from theano.graph import FunctionGraph
from theano.rewriting import rewrite
from theano.tensor import nnet
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.rules import algebra
from theano.tensor.rules.joining import MAX_OPERANDS

R = np.random.default_rng(0)
v, w, x, m = T.dvector("v"), T.dvector("w"), T.dvector("x"), T.dmatrix("m")
V, W, M = R.normal(size=4), R.uniform(0.5, 2, 4), R.normal(size=(3, 4))


def kernels(fgraph):
    return [node for node in fgraph.toposort() if isinstance(node.op, Elemwise)]


def test_the_documented_graph_of_a_sum(capsys):
    # Theano printed this graph before reductions were joined with what they reduce.
    f = theano.function([v], (v + 1).sum(), mode=theano.compile.mode.get_default_mode().excluding("fusion"))
    theano.printing.debugprint(f)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Sum{acc_dtype=float64} [id A]")
    assert printed[1].startswith(" |Elemwise{add,no_inplace} [id B]")
    assert printed[2].startswith("   |TensorConstant{(1,) of 1.0} [id C]")


INPUTS = [T.fvector("f"), v, w, T.ivector("i"), T.dscalar("s")]
TERMS = [*INPUTS, 0.0, 1.0, -1.0, 2.0, np.nan, np.inf, np.array([1.0, 2.0]), v + 1, -v, v * w, v - w, v / w]


@pytest.mark.parametrize("op", [T.add, T.sub, T.mul, T.true_div])
def test_what_is_canonical_is_told_without_writing_it_again(op, monkeypatch):
    # A graph for each first term: the check of a graph after each replacement takes as long as the graph is large.
    found = [[op(first, second) for second in TERMS] for first in TERMS]
    if op in (T.add, T.mul):
        found += [[op(v, second, third) for third in TERMS[::3]] for second in TERMS]

    def canonical():
        graphs = [rewritten(INPUTS, outputs)[0] for outputs in found]
        return [theano.printing.debugprint(graph.outputs, file="str") for graph in graphs]

    told = []
    plain = algebra._is_plain
    monkeypatch.setattr(algebra, "_is_plain", lambda *a: told.append(plain(*a)) or told[-1])
    quick = canonical()
    assert any(told) and not all(told)
    monkeypatch.setattr(algebra, "_is_plain", lambda *a: False)
    assert canonical() == quick


def test_xy_over_y_is_x():
    assert ops(check([v, w], (v * w) / w, [V, W])) == []


@pytest.mark.parametrize(
    ("expression", "left"),
    [
        (lambda: v + 1 + w + 2 - v, 1),
        (lambda: T.exp(v) * 2 + T.log(w) / 3 - v, 1),
        (lambda: -(-v) - (-w) * 2 * -3, 1),
        (lambda: v**2 + w**3 + v**10, 1),
    ],
)
def test_one_kernel_is_left(expression, left):
    fgraph = check([v, w], expression(), [V, W])
    assert len(fgraph.apply_nodes) == left


def test_several_outputs_share_a_kernel():
    fgraph = check([v, w], [T.exp(v) + w, T.exp(v) * 2, v - 1], [V, W])
    assert len(kernels(fgraph)) == 1 and len(kernels(fgraph)[0].outputs) == 3


def test_fusion_makes_no_cycle():
    a = T.exp(v)
    around = a.sum() * w  # leaves the loop over v, and comes back
    fgraph = check([v, w], a + around + T.tanh(a), [V, W])
    assert len(kernels(fgraph)) >= 2


def test_what_is_repeated_is_computed_once():
    fgraph = check([m, v], m + T.exp(v) * 2, [M, V])
    shapes = sorted(node.outputs[0].type.ndim for node in kernels(fgraph))
    assert len(shapes) == 2
    assert not all(all(i.type.ndim == 2 and not i.type.broadcastable[0] for i in node.inputs) for node in kernels(fgraph))


def test_fusion_respects_its_limits():
    many = [T.dvector(f"a{i}") for i in range(60)]
    total = many[0]
    for a in many[1:]:
        total = T.exp(total) * 0.001 + a
    fgraph = check(many, total, [R.normal(size=4) * 0.1 for _ in many])
    assert all(len(node.inputs) <= 24 for node in kernels(fgraph))


def test_only_what_may_be_overwritten_is():
    hidden = T.dot(m, m.T)
    fgraph = check([m], T.exp(hidden), [M])
    assert any(node.op.destroy_map for node in fgraph.toposort())
    for outputs in (T.exp(v), [hidden, T.exp(hidden)]):
        fgraph = check([v] if outputs is not None and not isinstance(outputs, list) else [m], outputs,
                       [V] if not isinstance(outputs, list) else [M])
        assert not any(node.op.destroy_map for node in fgraph.toposort())
    mutable, _ = rewritten([v], [T.exp(v)], mutable=[v])
    assert mutable.outputs[0].owner.op.destroy_map == {0: [0]}
    without, _ = rewritten([m], [T.exp(hidden)], "o3")
    assert not any(node.op.destroy_map for node in without.toposort())


@pytest.mark.parametrize(
    ("shape", "left"),
    [
        (lambda: T.exp(m).shape[0], {"Shape_i{0}"}),
        (lambda: T.dot(T.exp(m), m.T).shape, {"Shape_i{0}", "MakeVector{dtype='int64'}"}),
        (lambda: (m + v).T.sum(axis=0).shape[0], {"Shape_i{0}"}),
        (lambda: T.join(0, m, m * 2).shape[1], {"Shape_i{1}"}),
    ],
)
def test_a_shape_computes_no_value(shape, left):
    fgraph = check([m, v], shape(), [M, V])
    assert set(ops(fgraph)) <= left | {"Shape_i{1}"}


def network():
    X, y, W1, b1, W2, b2 = T.dmatrix("X"), T.lvector("y"), T.dmatrix("W1"), T.dvector("b1"), T.dmatrix("W2"), T.dvector("b2")
    values = [R.normal(size=(5, 6)), np.array([0, 2, 1, 1, 0]), R.normal(size=(6, 4)), R.normal(size=4),
              R.normal(size=(4, 3)), R.normal(size=3)]  # fmt: skip
    probabilities = nnet.softmax(T.dot(T.tanh(T.dot(X, W1) + b1), W2) + b2)
    return [X, y, W1, b1, W2, b2], values, probabilities


@pytest.mark.parametrize("form", ["entropy", "indexed"])
def test_training_step_uses_the_stable_ops(form):
    inputs, values, p = network()
    y = inputs[1]
    cost = nnet.categorical_crossentropy(p, y).mean() if form == "entropy" else -T.log(p)[T.arange(y.shape[0]), y].mean()
    steps = [cost] + [q - 0.1 * g for q, g in zip(inputs[2:], grad(cost, inputs[2:]), strict=True)]
    fgraph = check(inputs, steps, values)
    found = ops(fgraph)
    for op in ("CrossentropySoftmaxArgmax1HotWithBias", "CrossentropySoftmax1HotWithBiasDx"):
        assert any(f.startswith(op) for f in found)
    assert not any(op.startswith(("Softmax", "Advanced")) for op in found)
    assert sum(op.startswith("CrossentropySoftmaxArgmax1HotWithBias") for op in found) == 1


def test_one_hot_training_step():
    inputs, values, p = network()
    hot = T.dmatrix("hot")
    cost = -(hot * T.log(p)).sum(axis=1).mean()
    fgraph = check([*inputs[:1], *inputs[2:], hot], [cost, *grad(cost, inputs[2:])], [values[0], *values[2:], np.eye(3)[values[1]]])
    assert "LogSoftmax" in ops(fgraph) and "SoftmaxGrad" not in ops(fgraph)


def test_extreme_logits_stay_finite():
    logits, y = T.dmatrix("logits"), T.lvector("y")
    cost = nnet.categorical_crossentropy(nnet.softmax(logits), y).mean()
    f = theano.function([logits, y], [cost, grad(cost, logits)])
    value, slope = f(np.array([[0.0, 1000.0], [1000.0, 0.0]]), np.array([0, 0]))
    assert value == pytest.approx(500.0) and np.all(np.isfinite(slope))
    t = T.dscalar("t")
    assert theano.function([t], T.log(nnet.sigmoid(t)))(-800.0) == pytest.approx(-800.0)
    assert theano.function([t], T.log(1 + T.exp(t)))(800.0) == pytest.approx(800.0)
    assert theano.function([t], T.log(1 + t))(1e-20) == pytest.approx(1e-20, rel=1e-12)
    assert theano.function([m], T.log(T.exp(m).sum(axis=1)))(np.full((1, 2), 1000.0))[0] == pytest.approx(1000 + np.log(2))


@pytest.mark.parametrize("optimizer", ["fast_run", "fast_compile", "o1", "o2", "o3", "o4", "stabilize", "merge", None])
def test_each_level_computes_the_same(optimizer):
    inputs, values, p = network()
    cost = nnet.categorical_crossentropy(p, inputs[1]).mean()
    check(inputs, [cost, *grad(cost, inputs[2:])], values, optimizer)


def test_one_rule_can_be_left_out():
    from theano.rewriting import query_of

    fgraph, _ = rewritten([v], [T.log(1 + v)], query_of("fast_run").excluding("local_log1p_plus"))
    assert "log1p" not in str(fgraph)


def _calls(length):
    z = v
    for _ in range(length):
        z = T.tanh(z * 0.9 + 1)
    fgraph = FunctionGraph([v], [z.sum()])
    count, report = counted.calls(lambda: rewrite(fgraph))
    assert report.complete and len(kernels(fgraph)) < length / 10
    return count


def test_a_long_chain_costs_in_proportion():
    _calls(5)  # what is remembered for ever is remembered now
    assert _calls(600) < 4 * 1.1 * _calls(150)


def test_a_wide_sum_is_as_many_kernels_as_loops_hold_its_terms():
    z = v
    for _ in range(2000):
        z = z + v
    fgraph = FunctionGraph([v], [z])
    report = rewrite(fgraph)
    assert report.complete and len(fgraph.apply_nodes) <= -(-2000 // (MAX_OPERANDS - 2))


def test_a_chain_that_is_cut_stores_one_value_a_cut():
    h = v
    for i in range(60):
        h = T.tanh(h + w * (0.1 * i)) if i % 3 else h * w + v
    joined = kernels(check([v, w], [h], [V, W]))
    assert len(joined) > 1 and all(len(node.outputs) == 1 for node in joined)


@pytest.mark.parametrize("shared", [False, True])
def test_groups_that_are_cut_compute_what_they_computed(shared):
    # Sinks without a common ancestor, values that several pieces need, and one of two results that only others use.
    values = [T.exp(v * (i + 1.5)) for i in range(2 * MAX_OPERANDS)]
    sums = [T.tanh(a - b) for a, b in zip(values, [*values[7:], *values[:7]] if shared else values[::-1], strict=True)]
    results = [*sums[::3], sum(sums[1:5], w), values[3]]
    assert len(kernels(check([v, w], results, [V / 50, W]))) > 1


def test_history_names_the_rule_and_the_line():
    out = T.log(1 + T.exp(v))
    fgraph = FunctionGraph([v], [out])
    report = rewrite(fgraph)
    (node,) = fgraph.apply_nodes
    steps = report.why(node)
    assert steps and steps[0].rule == "log1pexp_to_softplus"
    assert "test_pipelines.py" in report.explain(node)


@pytest.mark.parametrize(
    ("expression", "op"),
    [
        (lambda a, b, z, y: z + T.dot(a, b), "Gemm{no_inplace}"),
        (lambda a, b, z, y: z - 0.5 * T.dot(a, b), "Gemm{no_inplace}"),
        (lambda a, b, z, y: 2 * z - T.dot(a, b) / 3, "Gemm{no_inplace}"),
        (lambda a, b, z, y: T.exp(z) + T.dot(a, b), "Gemm{inplace}"),
        (lambda a, b, z, y: T.dot(a, b) * 2.5, "Dot22Scalar"),
        (lambda a, b, z, y: T.dot(a, b), "Dot22"),
        (lambda a, b, z, y: y + T.dot(z, y) * 2, "CGemv{no_inplace}"),
        (lambda a, b, z, y: y - T.dot(y, z), "CGemv{no_inplace}"),
        (lambda a, b, z, y: z + 2 * T.outer(y, y), "CGer{non-destructive}"),
        (lambda a, b, z, y: T.dot(a, b) + y, "Dot22"),
    ],
)
def test_products_and_sums_become_calls_of_blas(expression, op):
    a, b, z, y = T.dmatrix("a"), T.dmatrix("b"), T.dmatrix("z"), T.dvector("y")
    values = [R.normal(size=s) for s in ((3, 4), (4, 3), (3, 3), (3,))]
    fgraph = check([a, b, z, y], expression(a, b, z, y), values)
    assert op in ops(fgraph), ops(fgraph)


def test_a_product_that_is_wanted_itself_stays():
    a, b, z = T.dmatrix("a"), T.dmatrix("b"), T.dmatrix("z")
    values = [R.normal(size=s) for s in ((3, 4), (4, 3), (3, 3))]
    product = T.dot(a, b)
    assert "Dot22" in ops(check([a, b, z], [product, product + z], values))


def test_only_one_half_of_max_and_argmax():
    value, place = T.max_and_argmax(m, axis=1)
    assert ops(check([m], value, [M])) == ["Reduce{maximum}{1}"]
    assert ops(check([m], place, [M])) == ["Argmax{axis=(1,)}"]


def test_writing_parts_in_place():
    for part in (T.set_subtensor(T.exp(m)[1], v), T.inc_subtensor(T.exp(m)[T.constant([0, 2])], 1.0)):
        fgraph = check([m, v], part, [M, V])
        assert fgraph.outputs[0].owner.op.destroy_map


def test_logistic_regression_where_it_saturates():
    """The gradient of the cost written with exp and log is that of the closed form, also where a probability is 0."""
    a, b = T.dmatrix("a"), T.dvector("b")
    z = T.dot(a, b)
    p = 1 / (1 + T.exp(-z))
    t = T.dvector("t")
    cost = (-t * T.log(p) - (1 - t) * T.log(1 - p)).sum()
    f = theano.function([a, b, t], [cost, grad(cost, b)])
    at, weights, truth = np.array([[800.0, 1], [-800.0, 1], [1.0, 2], [40.0, 0]]), np.array([1.0, 0.0]), np.array([0.0, 1, 1, 1])
    value, slope = f(at, weights, truth)
    with np.errstate(over="ignore"):
        closed = at.T @ (1 / (1 + np.exp(-at @ weights)) - truth)
    assert value == pytest.approx(1600 + np.log1p(np.exp(-1)))
    assert slope == pytest.approx(closed)


# -- what users ask for by name, and what saves a computation ---------------------------------------------------------


def named(*names):
    return theano.compile.mode.get_default_mode().including(*names)


def test_the_logarithm_of_a_small_tail_does_not_underflow():
    x = T.dvector("x")
    cost = T.log(T.erfc(x))
    f = theano.function([x], [cost, grad(cost.sum(), x)])
    at = np.array([-30.0, -1.0, 0.0, 1.0, 5.0, 26.0, 40.0, 1e8])
    from scipy.special import erfcx, log_ndtr

    value, slope = f(at)
    np.testing.assert_allclose(value, log_ndtr(-at * np.sqrt(2)) + np.log(2), rtol=1e-13, atol=1e-14)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(slope, -2 / np.sqrt(np.pi) / erfcx(at), rtol=1e-13)


def test_a_product_that_wrapped_stays_wrapped():
    i = T.bvector("i")
    check([i], (i**2 * i) / i, [np.array([3, 100, -7], "int8")])


def test_a_column_of_a_matrix_is_no_vector_yet():
    # A shuffle may drop a dimension and add another one at once.
    column = T.addbroadcast(T.dmatrix("column"), 1)
    outer = T.dot(column.dimshuffle(0, "x"), v.dimshuffle("x", 0))
    fgraph = check([column.owner.inputs[0], v, m], outer + T.exp(m), [M[:, :1], V, M])
    assert fgraph is not None
    row = T.addbroadcast(T.dmatrix("row"), 1)
    check([row.owner.inputs[0], m], nnet.softmax(m + row.dimshuffle("x", 0)), [V[:, None], M])


def test_one_of_two_equal_divisors_is_scaled():
    # Of erfc(x) ** 2 under exp(-x ** 2) only one factor has met its bell.
    check([v], T.exp(-T.sqr(v)) / (T.erfc(v) * T.erfc(v)), [np.array([0.5, 1.0, 2.0, -1.0])])


def test_the_gradient_of_many_parts_is_one_tensor():
    parts = sum(T.sqr(m[i]).sum() * (i + 1) for i in range(3))
    f = theano.function([m], grad(parts, m))
    written = [n for n in f.maker.fgraph.toposort() if "IncSubtensor" in str(n.op)]
    assert len(written) == 3
    assert sum("Alloc" in str(n.op) for n in f.maker.fgraph.toposort()) == 1
    np.testing.assert_allclose(f(M), 2 * M * np.arange(1, 4)[:, None])


def test_an_assertion_stays_holds_and_goes():
    from theano.tensor.control.checks import Assert

    checked = Assert("only positive")(v, T.all(v > 0))
    f = theano.function([v], checked * 2)
    np.testing.assert_array_equal(f(W), W * 2)
    with pytest.raises(AssertionError, match="only positive"):
        f(-W)
    g = theano.function([v], checked * 2, mode=named("local_remove_all_assert"))
    np.testing.assert_array_equal(g(-W), -W * 2)
    h = theano.function([v], Assert("never")(v, T.constant(0)) * 2)
    with pytest.raises(AssertionError, match="never"):
        h(W)
    np.testing.assert_allclose(theano.function([v], grad(checked.sum(), v))(W), np.ones(4))
    with pytest.raises(TypeError, match="has dimensions"):
        Assert("no")(v, v > 0)


def test_sigmoids_are_replaced_on_request():
    at = np.linspace(-4, 4, 9)
    for name, op in (("local_hard_sigmoid", nnet.hard_sigmoid), ("local_ultra_fast_sigmoid", nnet.ultra_fast_sigmoid)):
        f = theano.function([v], nnet.sigmoid(v), mode=named(name))
        np.testing.assert_allclose(f(at), theano.function([v], op(v))(at), rtol=1e-12)
    exact = theano.function([v], nnet.sigmoid(v))(at)
    np.testing.assert_allclose(exact, 1 / (1 + np.exp(-at)), rtol=1e-14)


def test_empty_memory_is_zeros_on_request():
    f = theano.function([], T.AllocEmpty("float64")(3, 4), mode=named("alloc_empty_to_zeros"))
    np.testing.assert_array_equal(f(), np.zeros((3, 4)))


def test_what_is_known_of_a_matrix_chooses_the_way_to_solve():
    from theano.tensor.linalg.equations import Solve, matrix_inverse, solve
    from theano.tensor.linalg.factor import Cholesky

    A, b = T.dmatrix("A"), T.dvector("b")
    value = M @ M.T + np.eye(3)
    plain = theano.function([A, b], T.dot(matrix_inverse(A), b))
    assert [type(n.op) for n in plain.maker.fgraph.toposort()] == [Solve]
    A.tag.psd = True
    f = theano.function([A, b], solve(A, b))
    kinds = [type(n.op) for n in f.maker.fgraph.toposort()]
    assert kinds.count(Cholesky) == 1 and kinds.count(Solve) == 2
    for g in (plain, f):
        np.testing.assert_allclose(g(value, np.arange(3.0)), np.linalg.solve(value, np.arange(3.0)))


def test_lengths_are_never_negative():
    f = theano.function([v], T.switch(T.lt(v.shape[0], 0), v.sum(), T.maximum(v.shape[0], 0) * 1.0))
    assert [str(n.op) for n in f.maker.fgraph.toposort() if "sum" in str(n.op).lower()] == []
    assert f(V) == 4


def crossentropy(p, y):
    return -(y * T.log(p) + (1 - y) * T.log(1 - p)).sum()


SATURATED = {
    "rearranged": lambda p, y: crossentropy(p.dimshuffle(0, "x"), y.dimshuffle(0, "x")),
    "both": lambda p, y: crossentropy(p.dimshuffle(0, "x"), y.dimshuffle(0, "x")) + crossentropy(p, y),
    "and squared": lambda p, y: crossentropy(p.dimshuffle("x", 0), y.dimshuffle("x", 0)) + (p**2).sum(),
    "plain and squared": lambda p, y: crossentropy(p, y) + (p**2).sum(),
    "in a matrix": lambda p, y: crossentropy(p.dimshuffle("x", 0).T, y.dimshuffle(0, "x")) + 3 * p.sum(),
    "times": lambda p, y: crossentropy(p.dimshuffle(0, "x"), y.dimshuffle(0, "x")) + (p * y).sum(),
}


@pytest.mark.parametrize("name", SATURATED)
def test_a_logistic_cost_whose_sigmoid_is_rearranged(name):
    logits, y = T.dvector("logits"), T.dvector("y")
    p = nnet.sigmoid(logits)
    cost = SATURATED[name](p, y)
    f = theano.function([logits, y], [cost, grad(cost, logits)])
    plain = theano.function([logits, y], [cost, grad(cost, logits)], mode=theano.Mode("vm", None))
    middle, target = np.array([-3.0, 0.1, 2.0, 5.0]), np.array([1.0, 0.3, 0.0, 1.0])
    for got, wanted in zip(f(middle, target), plain(middle, target)):
        np.testing.assert_allclose(got, wanted, rtol=1e-10)
    far, target = np.array([-800.0, 800.0, -800.0, 800.0]), np.array([1.0, 0.0, 0.0, 1.0])
    value, slope = f(far, target)
    times = 2 if name == "both" else 1
    further = {"and squared": 2, "plain and squared": 2, "in a matrix": 6, "times": 1}.get(name, 0)
    np.testing.assert_allclose(value, 1600 * times + further)
    np.testing.assert_allclose(slope, times * np.array([-1.0, 1.0, 0.0, 0.0]), atol=1e-300)


def test_a_fill_along_a_length_of_one_that_the_type_does_not_know_ends():
    row, number = T.drow("row"), T.dscalar("number")
    model = T.unbroadcast(row, 0)
    for out in (T.fill(model, number), T.exp(T.fill(model, number)) + 1, T.fill(T.fill(model, number), row.T[:, 0])):
        check([row, number], out, [W.reshape(1, 4), np.float64(2)])  # says itself whether no rule was stopped


@pytest.mark.parametrize("expression", [
    lambda m, n, s: m.T * 1.5,
    lambda m, n, s: (m * s).T,
    lambda m, n, s: [T.exp(m.T) + n.T, m.T - n.T],
    lambda m, n, s: T.exp((m + n).dimshuffle(1, 0)) * s,
])  # fmt: skip
def test_what_is_transposed_throughout_is_computed_in_the_order_of_memory(expression):
    a, b, s = T.dmatrix("a"), T.dmatrix("b"), T.dscalar("s")
    e = expression(a, b, s)
    outputs = e if isinstance(e, list) else [e]
    f = theano.function([a, b, s], outputs, on_unused_input="ignore")
    for node in kernels(f.maker.fgraph):
        assert all(v.owner is None or all(v.type.broadcastable) for v in node.inputs)
    A, B = R.normal(size=(3, 4)), R.normal(size=(3, 4))
    plain = theano.function([a, b, s], outputs, on_unused_input="ignore", mode="FAST_COMPILE")
    for got, want in zip(f(A, B, 2.0), plain(A, B, 2.0), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
        assert got.flags.f_contiguous


def test_what_is_transposed_in_part_stays():
    a, b, t = T.dmatrix("a"), T.dmatrix("b"), T.dtensor3("t")
    for e in (a.T + b, t.dimshuffle(1, 2, 0) + t.dimshuffle(2, 0, 1), a.dimshuffle(1, "x", 0) * 2, a.T + b.sum(0, keepdims=True).T):
        graph, _ = rewritten([a, b, t], [e])
        assert isinstance(graph.outputs[0].owner.op, Elemwise)


@pytest.mark.parametrize("op", [T.add, T.mul])
@pytest.mark.parametrize(("terms", "joined"), [(MAX_OPERANDS - 2, True), (MAX_OPERANDS - 1, True), (MAX_OPERANDS, False)])
def test_a_sum_of_a_sum_is_one_up_to_the_limit_of_a_loop(op, terms, joined):
    """The operands of a loop are its inputs and its output."""
    xs = T.dvectors(*(f"x{i}" for i in range(terms)))
    fgraph, used, _ = apply_rule("local_add_mul_fusion", xs, op(op(*xs[:5]), *xs[5:]))
    assert bool(used) == joined and len(fgraph.apply_nodes) == (1 if joined else 2)
