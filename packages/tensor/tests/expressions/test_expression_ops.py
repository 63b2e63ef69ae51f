"""Ops that stand for an expression: each against that expression, and what an expression must not be.

The classes are collected; one without a sample here fails.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
from oracle import run, shapes

import theano
import theano.scalar as scal
import theano.tensor as T
from theano import OpFromGraph
from theano.compile.expression import ExpressionOp, InnerGraph
from theano.errors import FreeInputError, MissingInputError
from theano.gradient import Rop, grad
from theano.graph import Constant, generic
from theano.tensor.blas import routines
from theano.tensor.compound import Compound
from theano.tensor.elemwise.numbers import ElemwiseOfNumbers
from theano.tensor.expressions.ops import BroadcastTo
from theano.tensor.linalg.determinant import Adjugate, AdjugateAlong
from theano.tensor.linalg.equations import TensorInv, TensorSolve
from theano.tensor.linalg.gradients import CholeskyGrad, EighGrad, EigvalshGrad, ExpmGrad
from theano.tensor.nnet import classes as many_classes
from theano.tensor.nnet import normalization
from theano.tensor.reduce.careduce import ProductOfOthers, Sum
from theano.tensor.reduce.map_reduce import MapReduceOfNumbers
from theano.tensor.rows.op import MapRows
from theano.tensor.testing.classes import op_classes

rng = np.random.default_rng(3)
X, Y, Z, V, W = (rng.normal(size=n) for n in ((3, 4), (4, 2), (3, 2), 3, 4))
S = X @ X.T + 3 * np.eye(3)
PLAIN = theano.Mode("py", None)
# These are constants by contract, although results depend on them; of float32, no test here asks for their gradients.
EPSILON, FACTOR = np.float32(0.25), np.float32(0.5)


class Sample(NamedTuple):
    """An op, values of its inputs, and how the ones that move make these inputs."""

    op: Any
    values: tuple[Any, ...]
    inputs: Any = lambda *moving: moving


def _held(make):
    x, y = T.dmatrix("x"), T.dvector("y")
    return make(x, y)


SAMPLES = {
    "BroadcastTo": Sample(BroadcastTo(), (W, 3, 4)),
    "Choose": Sample(T.Choose("wrap"), (np.array([1, 0, -1, 1]), X[:2])),
    "DiffOp": Sample(T.DiffOp(2, 1), (X,)),
    "Flatten": Sample(T.Flatten(1), (X,)),
    "Tile": Sample(T.Tile(2), (X, np.array([2, 3]))),
    "Mean": Sample(T.Mean(1), (X,)),
    "Bartlett": Sample(T.Bartlett(), (6,)),
    "FillDiagonal": Sample(T.FillDiagonal(), (X, 3.0)),
    "FillDiagonalOffset": Sample(T.FillDiagonalOffset(), (X, 3.0, 1)),
    "CholeskyGrad": Sample(CholeskyGrad(), (S, np.linalg.cholesky(S), np.tri(3))),
    "EighGrad": Sample(EighGrad(), (S, *np.linalg.eigh(S), V, S)),
    "EigvalshGrad": Sample(EigvalshGrad(), (S, S + np.eye(3), V)),
    "ExpmGrad": Sample(ExpmGrad(), (S / 5, S)),
    "TensorInv": Sample(TensorInv(1), (S,)),
    "Adjugate": Sample(Adjugate(), (S,)),
    "AdjugateAlong": Sample(AdjugateAlong(), (S, S)),
    "TensorSolve": Sample(TensorSolve(), (S, V)),
    "ProductOfOthers": Sample(ProductOfOthers((1,)), (X,), lambda x: (x, T.prod(x, axis=1, keepdims=True))),
    "Dot22": Sample(routines.Dot22(), (X, Y)),
    "Dot22Scalar": Sample(routines.Dot22Scalar(), (X, Y, 2.0)),
    "Gemm": Sample(routines.Gemm(), (Z, 2.0, X, Y, 3.0)),
    "Gemv": Sample(routines.Gemv(), (V, 2.0, X, W, 3.0)),
    "Ger": Sample(routines.Ger(), (X, 2.0, V, W)),
    "AbstractBatchNormTrain": Sample(
        normalization.AbstractBatchNormTrain((0,)), (X, W[None], -W[None], EPSILON, FACTOR, W[None] / 2, W[None] ** 2)
    ),
    "AbstractBatchNormTrainGrad": Sample(
        normalization.AbstractBatchNormTrainGrad((0,)), (X, X**2, W[None], W[None] / 2, W[None] ** 2, EPSILON)
    ),
    "AbstractBatchNormInference": Sample(
        normalization.AbstractBatchNormInference((0,)), (X, W[None], -W[None], W[None] / 2, W[None] ** 2, EPSILON)
    ),
    "Prepend_scalar_to_each_row": Sample(many_classes.Prepend_scalar_to_each_row(), (2.0, X)),
    "Prepend_scalar_constant_to_each_row": Sample(many_classes.Prepend_scalar_constant_to_each_row(3), (X,)),
    "ElemwiseOfNumbers": Sample(ElemwiseOfNumbers(scal.true_div), (X, 2.0)),
    "MapReduceOfNumbers": Sample(MapReduceOfNumbers(scal.true_div, [Sum(axis=(1,))]), (X, 2.0)),
    "OpFromGraph": Sample(_held(lambda x, y: OpFromGraph([x, y], [T.exp(x) * y, y.sum()], name="held")), (X, W)),
    "OpFromGraph, inline": Sample(_held(lambda x, y: OpFromGraph([x, y], [x * y, x, x], inline=True)), (X, W)),
    "MapRows": Sample(_held(lambda x, y: MapRows([y], [x], [T.sort(T.dot(x, y)), y * y.sum(), x * 2])), (X, Y.T)),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", SAMPLES)
# Bartlett has no real input, and MapReduce, for which the other stands, no derivative.
SMOOTH = pytest.mark.parametrize("name", [n for n in SAMPLES if n not in ("Bartlett", "MapReduceOfNumbers")])


def variables_of(sample):
    arrays = [np.asarray(x) for x in sample.values]
    return [T.TensorType(x.dtype.name, (False,) * x.ndim)(f"v{i}") for i, x in enumerate(arrays)]


def expression_of(op, inputs):
    """Return what a node is worth as an expression; that of rows is written out for three of them."""
    if not op.repeats:
        return op.expand(inputs)
    runs = [op.expand([*(v[i] for v in inputs[: op.sequences]), *inputs[op.sequences :]]) for i in range(3)]
    return [T.stack(list(each)) for each in zip(*runs, strict=True)]


def both_of(sample):
    """Return the variables that move, the outputs of the op on them, and the same as an expression."""
    moving = variables_of(sample)
    inputs = sample.op.make_node(*sample.inputs(*moving)).inputs
    return moving, sample.op.make_node(*inputs).outputs, expression_of(sample.op, inputs)


def copies(sample):
    return [np.array(x) for x in sample.values]


def given(sample, variables):
    return dict(zip(variables, copies(sample), strict=True))


def test_every_class_has_a_sample():
    named = {c for c in op_classes("theano.tensor") if issubclass(c, ExpressionOp)} - {Compound}
    assert {type(s.op) for s in SAMPLES.values()} == named | {OpFromGraph}


@EACH
def test_values_are_those_of_the_expression(name):
    sample = SAMPLES[name]
    moving, ours, wanted = both_of(sample)
    assert [v.type.dtype for v in ours] == [v.type.dtype for v in wanted]
    found = [run(ours, given(sample, moving)), *(theano.function(moving, ours, mode=m)(*copies(sample)) for m in (None, PLAIN))]
    expected = run(wanted, given(sample, moving))
    for values in found:
        for value, want in zip(values, expected, strict=True):
            np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-12)


def real(variables):
    return [v for v in variables if v.type.dtype == "float64"]


@SMOOTH
def test_gradients_are_those_of_the_expression(name):
    sample = SAMPLES[name]
    moving, ours, wanted = both_of(sample)

    def slopes(outputs):
        cost = sum((T.sin(v) * (i + 1)).sum() for i, v in enumerate(real(outputs)))
        return grad(cost, real(moving), disconnected_inputs="ignore")

    for got, want in zip(*(run(slopes(out), given(sample, moving)) for out in (ours, wanted)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


@SMOOTH
def test_directions_are_those_of_the_expression(name):
    sample = SAMPLES[name]
    moving, ours, wanted = both_of(sample)
    along = [T.constant(np.cos(np.arange(np.size(x)).reshape(np.shape(x)))) for x in sample.values if np.asarray(x).dtype == "float64"]
    found, expected = (run(Rop(out, real(moving), along), given(sample, moving)) for out in (ours, wanted))
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


@EACH
def test_lengths_are_known(name):
    sample = SAMPLES[name]
    moving, ours, wanted = both_of(sample)
    found = shapes(ours[0].owner, given(sample, moving))
    assert found == [np.shape(x) for x in run(wanted, given(sample, moving))]


@EACH
def test_no_input_has_an_influence_that_is_not_told(name):
    sample = SAMPLES[name]
    moving, ours, _ = both_of(sample)
    node = ours[0].owner
    pattern = node.op.connection_pattern(node)
    assert len(pattern) == len(node.inputs) and all(len(row) == len(ours) for row in pattern)
    before = run(ours, given(sample, moving))
    for v, x, row in zip(moving, sample.values, pattern):
        if v.type.dtype == "float64":
            after = run(ours, given(sample, moving) | {v: np.asarray(x) * 1.25 + 0.125})
            changed = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
            assert not any(c and not told for c, told in zip(changed, row, strict=True))
            assert changed == list(row), "or it is told, and there is none"


@EACH
def test_pickles_and_copies_are_equal_by_what_the_op_says_of_itself(name):
    sample = SAMPLES[name]
    moving, ours, _ = both_of(sample)
    expected = theano.function(moving, ours)(*copies(sample))
    for again in (pickle.loads(pickle.dumps(sample.op)), copy.deepcopy(sample.op)):
        if type(again) is OpFromGraph:
            assert again != sample.op
        else:
            assert again == sample.op and hash(again) == hash(sample.op)
        found = theano.function(moving, again.make_node(*sample.inputs(*moving)).outputs)(*copies(sample))
        for value, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(value, want)


@EACH
def test_wrong_inputs_are_refused(name):
    sample = SAMPLES[name]
    inputs = sample.inputs(*variables_of(sample))
    with pytest.raises((TypeError, ValueError), match="takes|dimension|whole numbers|must be a matrix"):
        sample.op.make_node(*inputs, T.dscalar())
    with pytest.raises((TypeError, ValueError)):
        sample.op.make_node()
    with pytest.raises(TypeError):
        sample.op.make_node(*[generic("of no dtype") for _ in inputs])


def test_loops_of_the_same_rows_are_one():
    """MapRows is equal by its graph: two of one expression are computed once."""
    x, y, m = T.dvector("x"), T.dvector("y"), T.dmatrix("m")
    first, second = MapRows([x], [], [T.sort(x) * 2]), MapRows([y], [], [T.sort(y) * 2])
    others = [
        MapRows([x], [], [T.sort(x) * 3]), MapRows([x, y], [], [T.sort(x) * 2]), MapRows([x], [y], [T.sort(x) * 2]),
        MapRows([x], [], [T.sort(x) * 2], mode="FAST_COMPILE"), MapRows([x], [], [T.sort(x) * 2], name="named"),
    ]  # fmt: skip
    assert first == second and hash(first) == hash(second)
    assert all(first != other for other in others)
    in_a_loop = theano.compile.get_default_mode().excluding("local_map_rows_at_once")
    f = theano.function([m], [first(m), second(m * 1), others[0](m)], mode=in_a_loop)
    assert sum(isinstance(n.op, MapRows) for n in f.maker.fgraph.toposort()) == 2


# -- graphs that an op holds ---------------------------------------------------------------------------------------


def test_an_inner_graph_has_variables_of_its_own():
    x, y = T.dscalars("x", "y")
    graph = InnerGraph("here", [x, y], [x * y + 1, x])
    assert not {x, y}.intersection(graph.inputs) and [v.name for v in graph.inputs] == ["x", "y"]
    out, same = graph.on([y, y])
    assert same is y and run(out, {y: 3.0}) == 10
    assert graph.connections() == [[True, True], [True, False]]
    v = T.dvector("v")
    assert InnerGraph("here", [v, x], [v * 0 + v.shape[0], v.shape[0] * x]).connections() == [[True, False], [False, True]]
    assert [float(v) for v in graph.evaluate([np.array(2.0), np.array(5.0)])] == [11, 2]


def test_a_compiled_function_is_not_pickled_with_its_op():
    op = OpFromGraph([x], [T.exp(x)], name="kept")
    text = pickle.dumps(op)
    assert op.fn is op.fn and op.fn(0.0) == [1]
    assert len(pickle.dumps(op)) == len(text) and pickle.loads(text).fn(0.0) == [1]


def test_inner_graphs_are_equal_by_what_they_compute():
    x, y, z = T.dscalars("x", "y", "z")
    a, b = T.exp(x), T.exp(x)
    shared, twice = InnerGraph("", [x], [a * a]), InnerGraph("", [x], [a * b])
    assert shared == twice and twice == shared and hash(shared) == hash(twice)
    assert InnerGraph("", [x, y], [x - y]) == InnerGraph("", [y, z], [y - z]) != InnerGraph("", [x, y], [y - x])
    assert InnerGraph("", [x, y], [x]) != InnerGraph("", [x], [x]) and shared != "a graph"
    assert InnerGraph("", [x], [x + 1]) != InnerGraph("", [x], [x + 2])
    assert InnerGraph("", [T.fscalar()], [T.constant(1)]) != InnerGraph("", [x], [T.constant(1)])


def test_printed_trees_end_with_the_graphs_that_ops_hold():
    x, y = T.dscalars("x", "y")
    op = OpFromGraph([x, y], [x * y], name="inside")
    outer = OpFromGraph([x], [op(x, x)], name="outside")
    text = theano.printing.debugprint(outer(outer(y)), file="str")
    assert [line.rstrip() for line in text.splitlines()] == [
        "outside{inline=False} [id A] ''",
        " |outside{inline=False} [id B] ''",
        "   |y [id C]",
        "",
        "Inner graphs:",
        "",
        "outside{inline=False} [id A] ''",
        " >inside{inline=False} [id D] ''",
        " > |x [id E]",
        " > |x [id E]",
        "",
        "inside{inline=False} [id D] ''",
        " >Elemwise{mul,no_inplace} [id F] ''",
        " > |x [id G]",
        " > |y [id H]",
    ]
    assert "Inner" not in theano.printing.debugprint(T.Tile(1)(T.dvector(), [2]), file="str")


# -- expressions ---------------------------------------------------------------------------------------------------


class Told(Compound):
    """An op of an expression that is handed over."""

    def __init__(self, tell, name="told"):
        self.tell, self.name = tell, name

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)

    def __str__(self):
        return self.name

    def expression(self, x, y):
        return self.tell(x, y)


def test_outputs_have_memory_of_their_own():
    constant = T.constant(np.arange(3.0))
    op = Told(lambda x, y: [x, constant * 1, constant, x.dimshuffle("x", 0), (e := x + y), e, e[::2]])
    x, y = T.dvectors("x", "y")
    node = op.make_node(x, y)
    for _ in range(2):
        cells = [[None] for _ in node.outputs]
        inputs = [np.arange(3.0), np.ones(3)]
        op.perform(node, inputs, cells)
        made = [cell[0] for cell in cells]
        for i, a in enumerate(made):
            assert not any(np.shares_memory(a, b) for b in (*made[:i], *inputs, constant.data))
        for a, want in zip(made, ([0, 1, 2], [0, 1, 2], [0, 1, 2], [[0, 1, 2]], [1, 2, 3], [1, 2, 3], [1, 3]), strict=True):
            assert a.tolist() == want
            a[...] = -1


def test_an_expression_is_made_once_for_a_node_and_kept_as_long():
    calls = []
    op = Told(lambda x, y: calls.append(1) or x * y)
    x, y = T.dscalars("x", "y")
    node = op.make_node(x, y)
    del calls[:]
    for _ in range(3):
        cells = [[None]]
        op.perform(node, [np.array(2.0), np.array(3.0)], cells)
        assert cells[0][0] == 6 and op.connection_pattern(node) == [[True], [True]]
    assert len(calls) == 1
    kept = weakref.ref(op.inner_of(node))
    del node
    gc.collect()
    assert kept() is None


def test_an_expression_may_use_what_is_known_of_an_input():
    """How long a vector is that stands in the graph, and what a constant is worth: types do not say it."""
    op = Told(lambda x, shape: x.reshape(shape))
    x = T.dvector("x")
    for shape in ([2, 3], [3, 2], [1, 2, 3]):
        out = op(x, T.stack([T.as_tensor_variable(n) for n in shape]))
        assert out.type.ndim == len(shape)
        for mode in (None, PLAIN):
            assert theano.function([x], out, mode=mode)(np.arange(6)).shape == tuple(shape)
    power = Told(lambda x, n: x ** int(n.data) if isinstance(n, Constant) else x)
    assert [run(power(x, n), {x: np.array([3.0])}).tolist() for n in (T.constant(2), T.constant(3), T.lscalar())[:2]] == [[9], [27]]


def test_one_variable_for_two_inputs():
    x = T.dvector("x")
    op = Told(lambda a, b: [a * 2, b.sum(), a * b])
    for v in (x, T.exp(x)):
        node = op.make_node(v, v)
        assert op.connection_pattern(node) == [[True, False, True], [False, True, True]]
        slope = grad(op(v, v)[0].sum() + op(v, v)[2].sum(), x)
        want = grad((v * 2).sum() + (v * v).sum(), x)
        np.testing.assert_allclose(run(slope, {x: W}), run(want, {x: W}))


def test_an_expression_that_looks_below_an_input():
    op = Told(lambda x, y: (x.owner.inputs[0] * 2 if x.owner is not None else T.log(x) * 2) * y)
    x, y = T.dscalars("x", "y")
    out = op(T.exp(x), y)
    np.testing.assert_allclose(run(out, {x: 3.0, y: 5.0}), 30)
    assert op.connection_pattern(out.owner) == [[True], [True]]


x, y, free = T.dscalars("x", "y", "free")


@pytest.mark.parametrize(
    ("tell", "error", "words"),
    [
        (lambda a, b: None, TypeError, "an expression is a variable or a list of variables, not None"),
        (lambda a, b: [], TypeError, r"not \[\]"),
        (lambda a, b: [a, 3.0], TypeError, r"not \[x, 3.0\]"),
        (lambda a, b: a * free, MissingInputError, "told: the outputs depend on free, which is not among the inputs"),
        (lambda a, b: a * theano.shared(1.0, name="w"), FreeInputError, "depend on w"),
        (lambda a, b: 1 / 0, ZeroDivisionError, "division by zero"),
        (lambda a, b: a.dimshuffle(5), ValueError, "."),
        (lambda a, b: {}["key"], KeyError, "key"),
    ],
)  # fmt: skip
def test_errors_name_the_op_and_where_it_was_applied(tell, error, words):
    with pytest.raises(error, match=words) as caught:
        Told(tell)(x, y)
    said = str(caught.value) + " ".join(getattr(caught.value, "__notes__", []))
    assert "in the expression of told, applied to x, y at " in said and f"{__file__}:" in said.replace("\n", " ")
    if isinstance(caught.value, MissingInputError):
        assert caught.value.variable is free or caught.value.variable.name == "w"


def test_an_error_in_a_later_expression_names_the_line_of_the_node():
    broken = []
    op = Told(lambda a, b: 1 / 0 if broken else a * b)
    out = op(x, y)
    line = out.tag.trace[0]
    broken.append(True)
    for wanted in (lambda: grad(out, x), lambda: op.infer_shape(out.owner, [(), ()]), lambda: run(out, {x: 1.0, y: 1.0})):
        with pytest.raises(ZeroDivisionError, match=f"in the expression of told.*{line}"):
            wanted()


def test_wrong_numbers_and_types():
    held = OpFromGraph([x, y], [x * y], name="two")
    for build, error, words in [
        (lambda: Told(lambda a, b: a)(x), TypeError, "missing 1 required positional argument: 'y'\\n.*in the expression of told, applied to x"),
        (lambda: BroadcastTo().make_node(), TypeError, "convert"),
        (lambda: held(x), ValueError, r"two\{inline=False\} takes 2 inputs, got 1"),
        (lambda: held(x, T.dvector("v")), TypeError, r"input 1 of two\{inline=False\}: cannot use v"),
        (lambda: MapRows([T.dvector()], [x], [x * 2])(T.dmatrix(), T.dvector("v")), TypeError, r"input 1 of MapRows\{1\}: cannot use v"),
        (lambda: OpFromGraph([x], [x * free]), MissingInputError, "the outputs depend on free, which is not among the inputs"),
        (lambda: MapRows([T.dvector()], [x], [x * free]), MissingInputError, "the outputs depend on free"),
        (lambda: ExpressionOp().make_node(x), NotImplementedError, "ExpressionOp does not define expression"),
        (lambda: Told(lambda a, b: a).fn, AttributeError, "holds no graph"),
    ]:  # fmt: skip
        with pytest.raises(error, match=words):
            build()
