"""Ops of an expression: computed, differentiated, replaced, pickled, and refused where they make no sense."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import OpFromGraph
from theano.gradient import DisconnectedType, NullType, Rop

A, B = np.arange(6.0).reshape(2, 3) + 1, np.linspace(-1, 1, 6).reshape(2, 3)


def variables():
    return T.dmatrices("x", "y")


def inner(**kwargs):
    x, y = variables()
    return OpFromGraph([x, y], [x * T.sin(y), x.sum(axis=0)], **kwargs)


both = pytest.mark.parametrize("inline", [False, True])


@both
@pytest.mark.parametrize("optimizer", ["fast_run", "fast_compile"])
def test_values(inline, optimizer):
    x, y = variables()
    op = inner(inline=inline)
    first, second = op(x, y)
    again = op(first, y + 1)[0]
    f = theano.function([x, y], [first, second, again], mode=theano.Mode("cvm", optimizer))
    for got, wanted in zip(f(A, B), (A * np.sin(B), A.sum(0), A * np.sin(B) * np.sin(B + 1))):
        np.testing.assert_allclose(got, wanted)
    left = sum(isinstance(n.op, OpFromGraph) for n in f.maker.fgraph.toposort())
    assert left == (0 if inline else 2)


@both
def test_derivatives_to_order_two_and_directions(inline):
    x, y = variables()
    op = inner(inline=inline)

    def checked(build):
        first, second = build(x * y, y)
        cost = (first**2).sum() + (second**3).sum()
        slope = T.grad(cost, [x, y])
        twice = T.grad(sum((g**2).sum() for g in slope), [x, y])
        along = Rop(first.sum() + second.sum(), [x, y], [y, x])
        return theano.function([x, y], [*slope, *twice, along])(A, B)

    for got, wanted in zip(checked(op), checked(lambda p, q: (p * T.sin(q), p.sum(axis=0)))):
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


@both
def test_shared_variables_are_found_and_seen_at_each_call(inline):
    x = T.dvector("x")
    weight = theano.shared(2.0, name="weight")
    op = OpFromGraph([x], [x * weight], inline=inline)
    f = theano.function([x], [op(x), T.grad(op(x).sum(), weight), T.grad(op(x).sum(), x)])
    for number in (2.0, 5.0):
        weight.set_value(number)
        value, for_weight, for_x = f([1, 2])
        np.testing.assert_allclose(value, [number, 2 * number])
        assert for_weight == 3
        np.testing.assert_allclose(for_x, [number] * 2)


def test_a_shape_is_told_and_outputs_that_are_not_connected():
    x, y = variables()
    op = inner()
    first, second = op(T.exp(x), y)
    assert op.connection_pattern(first.owner) == [[True, True], [True, False]]
    with pytest.raises(theano.gradient.DisconnectedInputError):
        T.grad(second.sum(), y)
    f = theano.function([x, y], second.shape, on_unused_input="ignore")
    assert not any(isinstance(n.op, OpFromGraph) for n in f.maker.fgraph.toposort())
    np.testing.assert_array_equal(f(A, B), [3])


def slopes(op, *values):
    x, y = T.dscalars("x", "y")
    return [float(g) for g in theano.function([x, y], T.grad(op(x, y), [x, y], disconnected_inputs="ignore"))(*values)]


def product(**kwargs):
    x, y = T.dscalars("x", "y")
    return OpFromGraph([x, y], [x * y], **kwargs)


a, b, c, g = T.dscalars("a", "b", "c", "g")
OVERRIDES = {
    "whole": {"grad_overrides": lambda inputs, grads: [grads[0] * 10, grads[0] * inputs[0]]},
    "lop": {"lop_overrides": lambda inputs, outputs, grads: [grads[0] * 10, grads[0] * outputs[0] / inputs[1]]},
    "list": {"grad_overrides": [lambda inputs, grads: grads[0] * 10, "default"]},
    "op": {"grad_overrides": OpFromGraph([a, b, g], [g * 10, g * a])},
    "op for lop": {"lop_overrides": OpFromGraph([a, b, c, g], [g * 10, g * c / b])},
    "op in a list": {"lop_overrides": [OpFromGraph([a, b, c, g], [g * 10 + 0 * c]), "default"]},
}


@both
@pytest.mark.parametrize("name", OVERRIDES)
def test_derivatives_that_are_given(name, inline):
    assert slopes(product(inline=inline, **OVERRIDES[name]), 3.0, 4.0) == [10, 3]


def test_derivatives_that_are_not_there():
    assert slopes(product(grad_overrides=[DisconnectedType()(), "default"]), 3.0, 4.0) == [0, 3]
    x, y = T.dscalars("x", "y")
    for given in (NullType("because")(), [NullType("because")(), "default"]):
        with pytest.raises(theano.gradient.NullTypeGradError, match="because"):
            T.grad(product(grad_overrides=given)(x, y), x)
    pattern = product(connection_pattern=[[True], [False]])
    with pytest.raises(theano.gradient.DisconnectedInputError):
        T.grad(pattern(x, y), y)


def test_directions_that_are_given():
    x, y = T.dscalars("x", "y")
    for given in (
        lambda inputs, points: [points[0] * 100],
        [lambda inputs, points: points[0] * 100],
        OpFromGraph([a, b, c, g], [c * 100]),
    ):
        along = Rop(product(rop_overrides=given)(x, y), [x, y], [y, x])
        assert theano.function([x, y], along, on_unused_input="ignore")(2.0, 3.0) == 300


def test_what_is_given_replaces_what_was_given_before():
    x, y = T.dscalars("x", "y")
    op = product(lop_overrides=["default", lambda inputs, outputs, grads: grads[0]])
    assert slopes(op, 3.0, 4.0) == [4, 1]
    op.set_grad_overrides(["default", lambda inputs, grads: grads[0] * 100])
    assert slopes(op, 3.0, 4.0) == [4, 100]
    op.set_lop_overrides([lambda inputs, outputs, grads: outputs[0] * 100, "default"])
    assert slopes(op, 3.0, 4.0) == [1200, 3]
    op.set_rop_overrides([lambda inputs, points: points[0] * 100])
    along = Rop(op(x, y), x, T.ones_like(x))
    backward, forward = op.get_lop_op(), op.get_rop_op()
    f = theano.function([x, y], [along, *backward(x, y, x * y, x), forward(x, y, x, y)], on_unused_input="ignore")
    assert [float(v) for v in f(2.0, 3.0)] == [100, 600, 4, 200]


def test_what_is_given_says_what_is_connected():
    x, y = T.dscalars("x", "y")
    absent = DisconnectedType()()
    for given in ([absent, "default"], [lambda *a: absent, "default"], lambda inputs, grads: [absent, grads[0]]):
        op = product(grad_overrides=given)
        assert op.connection_pattern(op(x, y).owner) == [[False], [True]]
        outer = OpFromGraph([x, y], [op(x, y) * y])
        assert outer.connection_pattern(outer(x, y).owner) == [[False], [True]]
        with pytest.raises(theano.gradient.DisconnectedInputError):
            T.grad(outer(x, y), x)
    # A gradient through what has none: the straight-through estimator.
    inner = [theano.gradient.disconnected_grad(T.round(x)) * y, y]
    op = OpFromGraph([x, y], inner, lop_overrides=[lambda inputs, outputs, grads: grads[0] * 3, "default"])
    assert op.connection_pattern(op(x, y)[0].owner) == [[True, False], [True, True]]
    f = theano.function([x, y], T.grad(sum(op(x, y)), [x, y]))
    assert [float(v) for v in f(2.3, 5.0)] == [3, 3]


@both
def test_shared_variables_are_inputs_of_what_is_given(inline):
    x = T.dscalar("x")
    w = theano.shared(3.0)
    for given in (
        lambda inputs, grads: [grads[0] * len(inputs), grads[0] * inputs[1]],
        [lambda inputs, grads: grads[0] * len(inputs), lambda inputs, grads: grads[0] * inputs[1]],
    ):
        op = OpFromGraph([x], [x * w], inline=inline, grad_overrides=given)
        assert theano.function([x], T.grad(op(x), [x, w]))(5.0) == [2, 3]
    own = OpFromGraph([x], [x * w], inline=inline, grad_overrides=[lambda inputs, grads: grads[0] * 7])
    assert theano.function([x], T.grad(own(x), [x, w]))(5.0) == [7, 5]


def test_what_is_given_computes_with_zeros_where_nothing_comes_from():
    x, y, z = T.dscalars("x", "y", "z")
    total = [lambda inputs, grads: grads[0] + grads[1], "default", "default"]
    op = OpFromGraph([x, y, z], [x * y, y * z], grad_overrides=total)
    f = theano.function([x, y, z], T.grad(op(x, y, z)[0] * 5, [x, y]), on_unused_input="ignore")
    assert f(2.0, 3.0, 4.0) == [5, 10]
    given = [lambda inputs, points: points[0] * inputs[1] + points[1] * inputs[0]]
    along = Rop(product(rop_overrides=given)(x, y), x, T.constant(1.0))
    still = Rop(product(rop_overrides=DisconnectedType()())(x, y), x, T.constant(1.0))
    assert theano.function([x, y], [along, still], on_unused_input="ignore")(2.0, 3.0) == [3, 0]


@both
def test_a_gradient_that_is_undefined_inside_is_returned_to_who_wants_it(inline):
    x, y = T.dscalars("x", "y")
    op = OpFromGraph([x, y], [theano.gradient.undefined_grad(x) * y], inline=inline)
    first, second = T.grad(op(x, y), [x, y], null_gradients="return")
    assert isinstance(first.type, NullType) and second.type == y.type
    with pytest.raises(theano.gradient.NullTypeGradError):
        T.grad(op(x, y), x)


def test_pickles_and_copies():
    x, y = variables()
    op = inner(name="kept")
    f = theano.function([x, y], op(x, y)[0])
    expected = f(A, B)
    for again in (pickle.loads(pickle.dumps(op)), copy.deepcopy(op)):
        np.testing.assert_allclose(theano.function([x, y], again(x, y)[0])(A, B), expected)
        assert str(again) == "kept{inline=False}" and again != op
    np.testing.assert_allclose(pickle.loads(pickle.dumps(f))(A, B), expected)


def test_ops_of_one_name_are_not_taken_for_each_other():
    x = T.dscalar("x")
    results = []
    for number in (1.0, 2.0, 3.0):
        op = OpFromGraph([x], [x + number], name="same")
        results.append(float(theano.function([x], op(x) * 2)(10.0)))
    assert results == [22, 24, 26]


def test_an_op_in_an_op():
    x, y = variables()
    op = inner()
    outer = OpFromGraph([x], [op(x, x)[0] + 1])
    np.testing.assert_allclose(theano.function([x], outer(x))(A), A * np.sin(A) + 1)
    np.testing.assert_allclose(theano.function([x], T.grad(outer(x).sum(), x))(A), np.sin(A) + A * np.cos(A))


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda x, y: OpFromGraph(x, [x]), TypeError, "inputs must be a list of variables, not x"),
        (lambda x, y: OpFromGraph([x], [1.0]), TypeError, "outputs must be variables, but there is 1.0"),
        (lambda x, y: OpFromGraph([T.constant(1.0)], [x]), TypeError, "has a value"),
        (lambda x, y: OpFromGraph([theano.shared(1.0, name="w")], [x]), TypeError, "w has a value"),
        (lambda x, y: OpFromGraph([x], [x + y]), TypeError, "the outputs depend on y, which is not among the inputs"),
        (lambda x, y: OpFromGraph([x], [x], updates=[]), TypeError, "no updates"),
        (lambda x, y: OpFromGraph([x], [x], grad_overrides=[], lop_overrides=[]), ValueError, "say the same thing"),
        (lambda x, y: OpFromGraph([x], [x])(x, y), ValueError, "takes 1 inputs, got 2"),
        (lambda x, y: OpFromGraph([x], [x])(T.dvector("v")), TypeError, "v"),
        (lambda x, y: T.grad(OpFromGraph([x], [x], grad_overrides=[])(x), x), ValueError, "0 elements, but 1 are needed"),
        (lambda x, y: T.grad(OpFromGraph([x], [x], grad_overrides=lambda *a: [])(x), x), ValueError, "returned 0 variables"),
        (lambda x, y: T.grad(OpFromGraph([x], [x], grad_overrides=x)(x), x), ValueError, "DisconnectedType or NullType, not x"),
        (lambda x, y: T.grad(OpFromGraph([x], [x], grad_overrides=3)(x), x), TypeError, "not 3"),
    ],
)  # fmt: skip
def test_wrong_use(build, error, words):
    with pytest.raises(error, match=words):
        build(*T.dscalars("x", "y"))


@pytest.mark.parametrize("inline", [False, True])
def test_gradient_where_one_output_is_made_of_another(inline):
    a, b = T.dvectors("a", "b")
    e = T.exp(a)
    op = OpFromGraph([a, b], [e, e * b, a, e], inline=inline)
    x, y = T.dvectors("x", "y")

    def cost(first, second, third, fourth):
        return (first * 2 + second * 3 + third * 5 + fourth * 7 + second * first).sum()

    slopes = theano.grad(cost(*op(x, y)), [x, y])
    wanted = theano.grad(cost(T.exp(x), T.exp(x) * y, x, T.exp(x)), [x, y])
    f = theano.function([x, y], [*slopes, *wanted])
    found = f([0.5, -1.0], [2.0, 3.0])
    np.testing.assert_allclose(found[:2], found[2:], rtol=1e-12)
