"""What rules ask before they act: each question by cases with their answers, and what depends on it."""

import operator

import numpy as np
import pytest
from interpret import TRUST, Context, DestroyHandler, apply_rule, check, ops, run

import theano
import theano.tensor as T
from theano import scalar as scal
from theano.graph import Apply, FunctionGraph, Op
from theano.graph.features import Supervisor
from theano.graph.traverse import ancestors
from theano.tensor import nnet
from theano.tensor.convert import static_int
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.rules.inplace import work_in_place
from theano.tensor.rules.predicates import times
from theano.tensor.shape.rules.shapes import ShapeFeature

x, y, z, w = T.dvectors("x", "y", "z", "w")
m = T.dmatrix("m")
i, j, k = T.lscalars("i", "j", "k")

# -- products -------------------------------------------------------------------------------------------------------

#: What is multiplied by y, and whether a division by y is in it.
DIVIDED = {
    "a quotient": (x / y, True),
    "by a product of two": (x / (z * y), True),
    "by a product of three": (x / T.mul(z, y, w), True),
    "by a square": (x / T.mul(y, y), True),
    "the negative": (-(x / y), True),
    "a factor": (T.mul(z, x / y, w), True),
    "a factor among sums": ((x / y + z) * w, True),
    "a term": (x / y + z, True),
    "the second term": (z - x / y, True),
    "both terms": (x / y - z / y, True),
    "deep inside": (w - z * -(x / (y * z) + w), True),
    "by another": (x / z, False),
    "a product": (x * z, False),
    "a sum": (x + z, False),
    "a negative": (-x, False),
    "the divisor itself": (y, False),
    "divided the other way": (y / x, False),
}


@pytest.mark.parametrize("name", DIVIDED)
def test_what_was_divided_is_multiplied_without_dividing(name):
    expression, is_divided = DIVIDED[name]
    given = [x, y, z, w]
    fgraph = FunctionGraph(given, [expression])
    (out,), given, divisor = fgraph.outputs, fgraph.inputs, fgraph.inputs[1]
    found = times(out, divisor)
    assert (found is not None) == is_divided
    if not is_divided:
        return
    values = dict(zip(given, np.random.default_rng(3).uniform(0.5, 2, (4, 5)), strict=True))
    (plain,), (new,) = run([out], values), run([found], values)
    np.testing.assert_allclose(new, plain * values[divisor], rtol=1e-13)
    if name != "by a square":  # nothing is divided by y any more
        assert np.isfinite(run([found], {**values, divisor: np.zeros(5)})[0]).all()


def test_a_shared_product_is_opened_where_that_cancels():
    fgraph = check([x, y], [x * y, (x * y) / y], [[1.0, 2, 3], [0.5, 4, 5]])
    assert ops(fgraph) == ["Elemwise{mul,no_inplace}"]
    fgraph = check([x, y], [x + y, (x + y) - x], [[1.0, 2, 3], [0.5, 4, 5]])
    assert ops(fgraph) == ["Elemwise{add,no_inplace}"]
    # Nothing cancels: the product is not computed again.
    product = x * y
    mode = theano.Mode("cvm", "fast_run").excluding("fusion")
    f = theano.function([x, y, z], [product, product / z], mode=mode)
    assert sum("mul" in op for op in ops(f.maker.fgraph)) == 1


@pytest.mark.parametrize("sizes", [(5, 1), (1, 5), (5, 5), (1, 1)])
def test_a_shared_quotient_is_opened_where_its_divisor_is_stretched(sizes):
    x, s, t = (T.TensorType("float64", [size == 1])(name) for name, size in zip("xst", (*sizes, sizes[1]), strict=True))
    rng = np.random.default_rng(5)
    values = [rng.uniform(0.5, 2, size) for size in (*sizes, sizes[1])]
    scaled = x / s
    for out in (scaled / s, scaled / t, -scaled / s, (2.0 * scaled) / s, (scaled * x) / s):
        check([x, s, t], [T.sqr(scaled), scaled, out], values)
    mode = theano.Mode("cvm", "fast_run").excluding("fusion")
    f = theano.function([x, s, t], [scaled, scaled / s], mode=mode, on_unused_input="ignore")
    divided = f.maker.fgraph.outputs[1].owner
    assert (divided.inputs[0] is not f.maker.fgraph.outputs[0]) == (sizes == (5, 1))
    np.testing.assert_allclose(f(*values)[1], values[0] / values[1] / values[1], rtol=1e-15)


def test_a_shared_product_that_wrapped_is_not_opened():
    a, b = T.bvector("a"), T.bvector("b")
    for quotient in ((a * b) / T.cast(b, "float64"), (a * b) * x / b):
        check([a, b, x], [a * b, quotient], [[100, 3, -77], [3, 2, 5], [1.0, 1, 1]])


def test_what_cancels_leaves_what_is_there_more_often():
    values = [np.array(v) for v in ([1.0, 2, 3], [0.5, 4, 5], [3.0, 7, 2])]
    quotients = [((x * y) / (y * y * z), 3), ((x * y * y) / (y * z), 3), ((x * 3) / (x * z * z), 2), ((x * y) / (x * y * z), 1)]
    differences = [((x + y) - (y + y + z), 3), ((x + y + y) - (y + z), 3), ((x + 3) - (x + z + 4), 1)]
    for rule, expressions in (("local_mul_canonizer", quotients), ("local_add_canonizer", differences)):
        for expression, leaves in expressions:
            (plain,) = run([expression], dict(zip([x, y, z], values, strict=True)))
            fgraph, _, _ = apply_rule(rule, [x, y, z], expression)
            np.testing.assert_allclose(run(fgraph.outputs, dict(zip(fgraph.inputs, values, strict=True)))[0], plain)
            read = [v for node in fgraph.apply_nodes for v in node.inputs if v in fgraph.inputs]
            assert len(read) == leaves, fgraph


@pytest.mark.parametrize("op", [T.add, T.mul])
def test_a_sum_or_product_of_one_is_it(op):
    fgraph, uses, _ = apply_rule("local_useless_elemwise", [x, y], op(x))
    assert uses == 1 and fgraph.outputs[0] is fgraph.inputs[0]
    fgraph, uses, _ = apply_rule("local_useless_elemwise", [x, y], op(x, y))
    assert uses == 0 and len(fgraph.apply_nodes) == 1


def test_what_is_declared_moves_only_below_functions_of_one_tensor_with_one_result():
    number = scal.float64()
    two_results = Elemwise(scal.Composite([number], [scal.exp(number), scal.sin(number)]))
    value = np.ones((1, 3))
    for inner, moves in ((T.exp(m), True), (two_results(m)[0], False), (two_results(m)[1], False), (m + m.T, False)):
        fgraph, uses, _ = apply_rule("local_rebroadcast_lift", [m], T.addbroadcast(inner, 0))
        assert bool(uses) == moves
        if inner.owner.op != T.add:
            plain = run([T.addbroadcast(inner, 0)], {m: value})[0]
            np.testing.assert_array_equal(run(fgraph.outputs, {fgraph.inputs[0]: value})[0], plain)


# -- lengths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [-3, -2, -1, 0, 1, 2])
@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge", "eq"])
def test_comparisons_with_lengths_are_decided_where_all_lengths_agree(op, number):
    for turned in (False, True):
        answers = {bool(getattr(operator, op)(*((number, n) if turned else (n, number)))) for n in range(9)}
        length = x.shape[0]
        out = getattr(T, op)(*((number, length) if turned else (length, number)))
        fgraph, uses, _ = apply_rule("local_useless_elemwise_comparison", [x], out, after=["local_shape_to_shape_i", "local_subtensor_make_vector"])
        assert bool(uses) == (len(answers) == 1)
        if len(answers) == 1:
            assert static_int(fgraph.outputs[0]) == answers.pop()


@pytest.mark.parametrize("number", [-2, -1, 0, 1])
@pytest.mark.parametrize("op", [T.maximum, T.minimum])
def test_the_larger_and_the_smaller_of_a_length_and_a_number(op, number):
    for out in (op(x.shape[0], number), op(number, x.shape[0])):
        fgraph, uses, _ = apply_rule("local_useless_elemwise_comparison", [x], out, after=["local_shape_to_shape_i", "local_subtensor_make_vector"])
        assert bool(uses) == (number <= 0)
        for n in (0, 1, 4):
            (found,) = run(fgraph.outputs, {fgraph.inputs[0]: np.zeros(n)})
            assert found == (max(n, number) if op is T.maximum else min(n, number))


class AsLong(Op):
    """A vector, the length of which is an input."""

    __props__ = ()

    def make_node(self, n):
        return Apply(self, [n], [x.type()])

    def perform(self, node, inputs, storage):
        storage[0][0] = np.zeros(inputs[0])

    def infer_shape(self, node, given):
        return [(node.inputs[0],)]


@pytest.mark.parametrize(
    ("longer", "wanted"),
    [
        (lambda n: T.alloc(x[0], n), 9), (lambda n: T.alloc(x[0], 2 * n), 18), (lambda n: x[n:], 1),
        (lambda n: x[:9].reshape((n, 1)), 9), (lambda n: T.arange(1, n), 8), (AsLong(), 9),
    ],
)  # fmt: skip
def test_lengths_follow_the_values_that_they_speak_of(longer, wanted):
    out = longer(i + j)
    fgraph = FunctionGraph([x, i, j, k], [T.exp(out), out, i + j])
    merged = fgraph.outputs[2]
    fgraph.replace_all([(v, merged) for v in list(fgraph.variables) if v is not merged and v.owner is not None and v.owner.op == T.add])
    fgraph.attach_feature(feature := ShapeFeature())
    for v in fgraph.outputs[:2]:
        before = feature.lengths(v)
        assert merged in ancestors(before) and feature.lengths(v) is before  # nothing has changed
    given = fgraph.inputs
    fgraph.replace(merged, given[3])
    for v in fgraph.outputs[:2]:
        found = feature.lengths(v)
        assert merged not in ancestors(found) and given[3] in ancestors(found)
        assert run([found[0]], dict(zip(given, [np.zeros(10), np.array(0), np.array(0), np.array(9)], strict=True)))[0] == wanted


# -- classes chosen by an index -------------------------------------------------------------------------------------

STOPS = {
    "classes": (lambda a, b, c, sm: c.shape[0], True),
    "the logits": (lambda a, b, c, sm: T.dot(a, b).shape[0], True),
    "what the logits come from": (lambda a, b, c, sm: a.shape[0], True),
    "the softmax": (lambda a, b, c, sm: sm.shape[0], True),
    "another length": (lambda a, b, c, sm: b.shape[0] - 1, False),
    "any number": (lambda a, b, c, sm: i, False),
    "a constant": (lambda a, b, c, sm: T.constant(3), False),
}


@pytest.mark.parametrize("name", STOPS)
def test_rows_are_counted_by_any_expression_of_their_number(name):
    stop, known = STOPS[name]
    a, b, c = T.dmatrix("a"), T.dmatrix("b"), T.lvector("c")
    sm = nnet.softmax(T.dot(a, b))
    out = T.log(sm)[T.arange(stop(a, b, c, sm)), c]
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(3, 4)), rng.normal(size=(4, 5)), np.array([4, 0, 2]), np.array(3)]
    fgraph = check([a, b, c, i], out, values)
    assert any("Crossentropy" in op for op in ops(fgraph)) == known
    logits = values[0] @ values[1]
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    found = theano.function([a, b, c, i], out, on_unused_input="ignore")(*values)
    np.testing.assert_allclose(found, logs[[0, 1, 2], values[2]], rtol=1e-12)


# -- in place -------------------------------------------------------------------------------------------------------


def test_what_the_graph_refuses_is_counted_and_does_not_stop_the_others():
    inner = [T.sin(T.dot(m, m)), T.cos(T.dot(m, m.T))]  # each overwrites a product
    bad = [T.exp(m), T.tanh(m)]  # each would overwrite an argument of the caller
    fgraph = FunctionGraph([m], [bad[0], *inner, bad[1]])
    fgraph.attach_feature(DestroyHandler())
    fgraph.attach_feature(Supervisor(fgraph.inputs))
    context = Context(TRUST)

    def careless(node, may_take):
        return Elemwise(node.op.scalar_op, {0: 0}) if isinstance(node.op, Elemwise) else None

    work_in_place(fgraph, context, "careless", careless)
    assert context.report.refused == {"careless": 2} and context.report.uses == {"careless": 2}
    assert context.report.growth == {"careless": 0}
    assert [bool(v.owner.op.destroy_map) for v in fgraph.outputs] == [False, True, True, False]

