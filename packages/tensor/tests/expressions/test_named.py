"""Ops that stand for an expression, and the function that tells what a broadcast gives."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T
from theano.tensor.compound import Compound
from theano.tensor.elemwise.numbers import ElemwiseOfNumbers
from theano.tensor.linalg.gradients import CholeskyGrad, EighGrad, EigvalshGrad, ExpmGrad
from theano.tensor.reduce.map_reduce import MapReduceOfNumbers

X = np.random.default_rng(0).normal(size=(3, 4))
S = X @ X.T + 3 * np.eye(3)

# -- one expression in the place of another -------------------------------------------------------------------


NAMED = [
    (T.DiffOp(1, 0), (X,)),
    (T.Flatten(1), (X,)),
    (T.Tile(2), (X, np.array([2, 1]))),
    (T.Mean(1), (X,)),
    (T.FillDiagonal(), (X, 3.0)),
    (T.FillDiagonalOffset(), (X, 3.0, 1)),
    (T.Bartlett(), (6,)),
    (T.Choose("raise"), (np.array([1, 0, 1, 1]), X[:2])),
    (CholeskyGrad(), (S, np.linalg.cholesky(S), np.tri(3))),
    (ExpmGrad(), (S, S)),
]


def variables_for(values):
    return [T.TensorType(np.asarray(v).dtype.name, (False,) * np.ndim(v))() for v in values]


@pytest.mark.parametrize(("op", "values"), NAMED, ids=lambda p: str(p) if isinstance(p, Compound) else "")
def test_compiled_functions_hold_the_expression(op, values):
    inputs = variables_for(values)
    out = op(*inputs)
    expected = run(out, dict(zip(inputs, values)))
    for optimizer in ("fast_run", "fast_compile", None):
        f = theano.function(inputs, out, mode=theano.Mode("cvm", optimizer))
        kinds = {type(n.op) for n in f.maker.fgraph.toposort()} - {ElemwiseOfNumbers, MapReduceOfNumbers}
        assert any(issubclass(kind, Compound) for kind in kinds) == (optimizer is None)
        np.testing.assert_allclose(f(*values), expected, rtol=1e-12)
    assert pickle.loads(pickle.dumps(op)) == op == copy.deepcopy(op) and hash(op) == hash(copy.deepcopy(op))


def test_a_shape_is_told_without_computing():
    x = T.dmatrix("x")
    f = theano.function([x], T.DiffOp(2, 0)(T.exp(x)).shape)
    assert not any(isinstance(n.op, T.Elemwise) and n.op.scalar_op == theano.scalar.exp for n in f.maker.fgraph.toposort())
    np.testing.assert_array_equal(f(X), (1, 4))


class Product(Compound):
    __props__ = ()

    def expression(self, a, b):
        return a * b


class Pair(Compound):
    __props__ = ()

    def expression(self, a, b):
        return [a * 2, T.exp(b) + b]


def test_an_input_that_depends_on_another_is_counted_once():
    x = T.dscalar("x")
    y = Product()(x, T.sin(x))
    np.testing.assert_allclose(T.grad(y, x).eval({x: 0.7}), np.sin(0.7) + 0.7 * np.cos(0.7))
    np.testing.assert_allclose(theano.gradient.Rop(y, x, T.ones_like(x)).eval({x: 0.7}), np.sin(0.7) + 0.7 * np.cos(0.7))
    twice = Product()(x, x)
    np.testing.assert_allclose(T.grad(T.grad(twice, x), x).eval({x: 0.7}), 2)


def test_several_outputs_and_what_is_not_connected():
    a, b = T.dscalars("a", "b")
    first, second = Pair()(a, b)
    assert Pair().connection_pattern(first.owner) == [[True, False], [False, True]]
    with pytest.raises(theano.gradient.DisconnectedInputError):
        T.grad(first, b)
    np.testing.assert_allclose(T.grad(second + first, b).eval({a: 1.0, b: 0.0}), 2)
    forward = theano.gradient.Rop([first, second], [b], [T.ones_like(b)], disconnected_outputs="ignore")
    np.testing.assert_allclose([run(g, {a: 1.0, b: 0.0}) for g in forward], [0, 2])


def test_gradients_of_factorisations_under_their_names():
    rng = np.random.default_rng(3)
    a, b = T.dmatrices("a", "b")
    g, h = rng.normal(size=(3, 3)), rng.normal(size=3)
    given = {a: S, b: S + np.eye(3)}
    for lower in (True, False):
        factor = T.slinalg.Cholesky(lower)(a)
        np.testing.assert_allclose(
            run(CholeskyGrad(lower)(a, factor, T.constant(g)), given), run(T.grad((factor * g).sum(), a), given)
        )
        w = T.slinalg.Eigvalsh(lower)(a, b)
        for got, wrt in zip(EigvalshGrad(lower)(a, b, T.constant(h)), (a, b)):
            np.testing.assert_allclose(run(got, given), run(T.grad((w * h).sum(), wrt), given))
    for uplo in "LU":
        w, v = T.nlinalg.Eigh(uplo)(a)
        got = EighGrad(uplo)(a, w, v, T.constant(h), T.constant(g))
        np.testing.assert_allclose(run(got, given), run(T.grad((w * h).sum() + (v * g).sum(), a), given))
    got = ExpmGrad()(a, T.constant(g))
    np.testing.assert_allclose(run(got, given), run(T.grad((T.slinalg.expm(a) * g).sum(), a), given))


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda x, i: T.Choose("ask"), ValueError, "'raise', 'wrap' or 'clip'"),
        (lambda x, i: T.choose(i, x, mode="ask"), ValueError, "'raise', 'wrap' or 'clip'"),
        (lambda x, i: T.Choose("wrap")(x, x), TypeError, "whole numbers, not x of dtype float64"),
        (lambda x, i: T.choose(x, x), TypeError, "whole numbers, not x of dtype float64"),
        (lambda x, i: T.choose(i, []), ValueError, "list of choices is empty"),
        (lambda x, i: T.choose(i, x.sum()), TypeError, "one number"),
        (lambda x, i: T.choose(i, x, out=x), NotImplementedError, "out must be None"),
        (lambda x, i: T.DiffOp(axis=2)(x), ValueError, "(?s)axis 2 is out of range.*x : float64, 2-d"),
        (lambda x, i: T.diff(x, axis=-3), ValueError, "axis -3 is out of range"),
        (lambda x, i: T.diff(x, n=-1), ValueError, "n is -1"),
        (lambda x, i: T.repeat(x, 2, axis=2), ValueError, "axis 2 is out of range"),
        (lambda x, i: T.RepeatOp(axis=2)(x, i), ValueError, "axis 2 is out of range"),
        (lambda x, i: T.compress(i, x, axis=5), ValueError, "axis 5 is out of range"),
        (lambda x, i: T.roll(x, 1, axis=2), ValueError, "axis 2 is out of range"),
        (lambda x, i: T.Tile(2)(x, [1.5, 2]), TypeError, "whole numbers"),
        (lambda x, i: T.Tile(2)(x, T.lmatrix()), TypeError, "must have 1 dimensions"),
        (lambda x, i: T.Bartlett()(x), TypeError, "whole numbers"),
        (lambda x, i: T.Bartlett()(i), TypeError, "must have 0 dimensions"),
        (lambda x, i: T.FillDiagonalOffset()(x, 0, 1.5), TypeError, "whole numbers"),
        (lambda x, i: T.FillDiagonal()(i, 0), TypeError, "2 dimensions or more"),
        (lambda x, i: T.FillDiagonal()(x, x), TypeError, "one number"),
        (lambda x, i: T.Mean(2)(x), ValueError, "axis 2"),
        (lambda x, i: T.broadcast_to(x, (4,)), TypeError, "more than the 1 of the shape"),
        (lambda x, i: T.broadcast_to(x, (2.5, 4)), TypeError, "whole numbers"),
        (lambda x, i: T.broadcast_to(x, i), ValueError, "length of i is known only at run time"),
        (lambda x, i: EighGrad("X"), ValueError, "'L' or 'U'"),
        (lambda x, i: Compound()(x), NotImplementedError, "does not define expression"),
    ],
)
def test_wrong_input_is_said_while_building(build, error, words):
    with pytest.raises(error, match=words):
        build(T.dmatrix("x"), T.lvector("i"))


@pytest.mark.parametrize("number", [2, -1])
def test_a_number_that_names_no_choice(number):
    i, x = T.lvector("i"), T.dmatrix("x")
    with pytest.raises(IndexError, match="out of bounds"):
        theano.function([i, x], T.choose(i, x))([0, number, 0, 0], X[:2])


def test_the_shape_of_a_broadcast():
    n, x, y = T.lscalar("n"), T.dmatrix("x"), T.dtensor3("y")
    assert [k.eval() for k in T.broadcast_shape(T.constant(X), T.constant(X[:1]))] == [3, 4]
    lengths = theano.function([x, y], T.broadcast_shape(x, y))
    for a, b in (((3, 4), (2, 3, 4)), ((1, 4), (2, 3, 1)), ((3, 1), (1, 1, 4)), ((0, 1), (1, 1, 1))):
        assert tuple(lengths(np.ones(a), np.ones(b))) == np.broadcast_shapes(a, b)
    assert T.broadcast_shape() == () == T.broadcast_shape(1.0)
    assert T.broadcast_shape_iter([(n, 1), (n, 5)], arrays_are_shapes=True)[0] is n
    assert [k.eval() for k in T.broadcast_shape((1,), T.constant([2, 1]), arrays_are_shapes=True)] == [2, 1]
    with pytest.raises(ValueError, match=r"lengths \[3, 4\] stand in one place of \(3,\), \(4,\)"):
        T.broadcast_shape((3,), (4,), arrays_are_shapes=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'shapes'"):
        T.broadcast_shape((3,), shapes=True)


# -- helpers ----------------------------------------------------------------------------------------------------------


def test_shapes_of_all_variables_of_a_graph():
    x, w = T.dmatrix("x"), T.dmatrix("w")
    hidden = T.tanh(T.dot(x, w))
    total = hidden.sum(axis=0)
    graph = theano.FunctionGraph([x, w], [total], clone=False)
    found = T.utils.shape_of_variables(graph, {x: (10**6, 3), w: (3, 10**6)})
    assert found[hidden] == (10**6, 10**6) and found[total] == (10**6,) and found[x] == (10**6, 3)
    with pytest.raises(ValueError, match="no shape is given for the input w"):
        T.utils.shape_of_variables(graph, {x: (2, 3)})


def test_equality_and_hashes_of_arrays():
    same = T.basic.check_equal_numpy
    assert same(1, 1) and not same(1, 2) and same(X, X.copy()) and not same(X, np.asfortranarray(X))
    assert same(np.array([np.nan]), np.array([np.nan])) and not same(np.ones(2), np.ones(3))
    digest = T.utils.hash_from_ndarray
    assert digest(X) == digest(np.asfortranarray(X)) != digest(X.T) and digest(np.zeros(2)) != digest(np.zeros(2, "int64"))
    assert T.basic.constructor(len) is len


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_one_hot_takes_classes_that_exist(dtype):
    y = T.TensorType(dtype, (False,))("y")
    f = theano.function([y], T.extra_ops.to_one_hot(y, 3))
    np.testing.assert_array_equal(f(np.array([2, 0, 2], dtype)), np.eye(3)[[2, 0, 2]])
    assert f(np.zeros(0, dtype)).shape == (0, 3)
    with pytest.raises(IndexError, match="out of bounds"):
        f(np.array([0, 3], dtype))
    if dtype.startswith("int"):
        with pytest.raises(AssertionError, match="a class is negative"):
            f(np.array([0, -1], dtype))
    with pytest.raises(TypeError, match="vector of whole numbers"):
        T.extra_ops.to_one_hot(T.dvector("x"), 3)
    with pytest.raises(TypeError, match="vector of whole numbers"):
        T.extra_ops.to_one_hot(T.imatrix("m"), 3)
