"""Reductions joined with what they reduce and with each other: what is joined, what is not, and that values stay."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from interpret import rewritten

import theano
import theano.tensor as T
from theano.compile.mode import get_default_mode
from theano.graph import Apply, Op
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.map_reduce import MapReduce
from theano.tensor.rules.joining import MAX_STEPS

x, y, v, c = T.dmatrix("x"), T.dmatrix("y"), T.dvector("v"), T.dscalar("c")
R = np.random.default_rng(0)
VALUES = {"x": R.normal(size=(7, 9)), "y": R.normal(size=(7, 9)), "v": R.normal(size=9), "c": np.array(0.7)}


def both(inputs, outputs):
    """Return the function with and without fusion."""
    mode = get_default_mode()
    modes = mode, mode.excluding("fusion")
    return tuple(theano.function(inputs, outputs, mode=m, on_unused_input="ignore") for m in modes)


def same(inputs, outputs, values=None):
    """Compute with and without fusion and in Python; return the fused graph's ops."""
    values = values or [VALUES[i.name] for i in inputs]
    outputs = outputs if isinstance(outputs, list) else [outputs]
    joined, apart = both(inputs, outputs)
    plain = theano.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    for got, want, third in zip(joined(*values), apart(*values), plain(*values), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(got, third, rtol=1e-10, atol=1e-12)
    assert not any(isinstance(n.op, MapReduce) for n in apart.maker.fgraph.apply_nodes)
    return [n.op for n in joined.maker.fgraph.toposort()]


def count(ops, kind):
    return sum(isinstance(op, kind) for op in ops)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize(
    "term", [lambda: (x - y) ** 2, lambda: x * y, lambda: T.exp(x - v), lambda: x * v.dimshuffle("x", 0) + c, lambda: T.sqr(x)]
)
def test_one_kernel_and_no_temporary(term, axis):
    ops = same([x, y, v, c], term().sum(axis=axis))
    assert count(ops, MapReduce) == 1 and count(ops, Elemwise) == 0


@pytest.mark.parametrize("reduce_", ["sum", "prod", "max", "min"])
def test_every_reduction(reduce_):
    for axis in (None, 0, 1):
        ops = same([x, v], getattr(T.tanh(x) + v, reduce_)(axis=axis))
        assert count(ops, MapReduce) == 1
    ops = same([x, y], [T.any(x > y, axis=0), T.all(x > y - 9)])
    assert count(ops, MapReduce) == 2 and count(ops, Elemwise) == 0


def test_reductions_of_one_array_are_one_pass():
    ops = same([x], [x.sum(1), T.sqr(x).sum(1), x.max(1), T.exp(x).min(1)])
    assert count(ops, MapReduce) == 1 and len(ops) == 1


def test_other_axes_are_another_loop():
    assert count(same([x], [T.exp(x).sum(0), T.exp(-x).sum(1)]), MapReduce) == 2


def test_a_reduction_that_needs_another_is_not_joined_to_it():
    largest = x.max(axis=1, keepdims=True)
    ops = same([x], [T.exp(x - largest).sum(1), largest])
    assert count(ops, MapReduce) == 1 and count(ops, CAReduce) == 1
    weighted = T.tanh(x * T.sqr(y).sum()).sum()
    ops = same([x, y], [T.exp(x * y).sum(), weighted, T.tanh(y - weighted).sum()])
    assert [len(op.reductions) for op in ops if isinstance(op, MapReduce)] == [2, 1, 1]


def test_what_others_need_is_computed_once():
    e = T.exp(x)
    ops = same([x], [e.sum(), e])
    assert count(ops, Elemwise) == 1 and count(ops, MapReduce) == 0


def test_what_is_cheap_is_computed_twice_and_never_stored():
    d = x - y
    ops = same([x, y], [T.sqr(d).sum(), T.tanh(d)])
    assert count(ops, MapReduce) == 1 and count(ops, Elemwise) == 1
    # ... unless it is wanted anyway.
    (reduced,) = [op for op in same([x, y], [T.sqr(d).sum(), d]) if isinstance(op, MapReduce)]
    assert len(reduced.scalar_op.program.inputs) == 1


def test_two_reductions_share_what_both_compute():
    e = T.exp(x - v)
    ops = same([x, y, v], [e.sum(0), (e * y).sum(0)])
    (reduced,) = ops[-1:]
    assert isinstance(reduced, MapReduce) and str(reduced).count("exp") == 1


def test_what_takes_long_is_computed_once():
    e, f = T.exp(-T.sqrt(x * x + c)), T.exp(x - v)
    both = e * (1 + x + x * x / 3)
    ops = same([x, c], [both.sum(0), both.sum(1), (both * x).sum()])
    assert count(ops, Elemwise) == 1 and count(ops, CAReduce) == 2 and count(ops, MapReduce) == 1 and str(ops).count("exp") == 1
    # What it is used for is stored, where that is one thing only, ...
    (stored,) = [op for op in same([x, v], [(f * (1 + f)).sum(0), (f * (1 + f)).sum(1)]) if isinstance(op, Elemwise)]
    assert len(stored.scalar_op.program.outputs) == 1
    # ... else it is itself, and what is cheap is computed of it.
    ops = same([x, y, v], [(f + y).sum(0), (f + y).sum(1), (f * 2).max(0), (f * 2).max(1)])
    (stored,) = [op for op in ops if isinstance(op, Elemwise)]
    assert len(stored.scalar_op.program.outputs) == 1 and str(stored).count("exp") == str(ops).count("exp") == 1


@pytest.mark.parametrize("dtype, most", [("float64", 7), ("float32", 3), ("int64", 7), ("bool", 0)])
def test_what_takes_little_is_computed_again(dtype, most):
    """Of so many additions, or comparisons."""
    a, b = T.TensorType(dtype, (False, False))("a"), T.TensorType(dtype, (True, False))("b")
    values = [np.arange(12).reshape(3, 4) % 5, np.array([[0, 1, 2, 3]])]
    for steps in range(max(most, 1), most + 2):
        term = a
        for i in range(steps):
            term = T.eq(term, b) if dtype == "bool" else T.sqr(term) if i % 2 else term + b
        results = [T.any(term, axis=k) if dtype == "bool" else term.max(axis=k) for k in (0, 1)]
        ops = same([a, b], results, [value.astype(dtype) for value in values])
        assert (count(ops, Elemwise) == 0) == (steps <= most), steps


class Choose(Op):
    """Stands for an op that asks for its inputs one by one."""

    __props__ = ()
    lazy = True

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [inputs[0].type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]


def test_what_is_computed_on_demand_computes_for_itself():
    e = T.exp(x)
    fgraph, _ = rewritten([x], [Choose()(e.sum(), (e * 2).max(), T.sqr(x).sum())])
    ops = [node.op for node in fgraph.toposort()]
    assert count(ops, MapReduce) == 2 and all(len(op.reductions) == 1 for op in ops if isinstance(op, MapReduce))


def test_limits_are_kept():
    many = [T.dvector(f"a{i}") for i in range(40)]
    total = many[0]
    for a in many[1:]:
        total = T.exp(total) * 0.001 + a
    f, _ = both(many, [total.sum()])
    (node,) = [n for n in f.maker.fgraph.apply_nodes if isinstance(n.op, MapReduce)]
    assert 20 <= len(node.inputs) <= 24
    same(many, [total.sum()], [R.normal(size=11) for _ in many])
    ops = same([v], [T.sqr(v * k).sum() for k in range(2, 32)], [VALUES["v"]])
    assert all(len(op.reductions) <= 8 for op in ops if isinstance(op, MapReduce))


@pytest.mark.parametrize("steps", [MAX_STEPS, MAX_STEPS + 1, 2 * MAX_STEPS + 1])
def test_a_reduction_takes_in_as_many_steps_as_a_kernel_may_have(steps):
    term = v
    for _ in range(steps):
        term = T.tanh(term)
    ops = same([v], term.sum())
    (reduced,) = [op for op in ops if isinstance(op, MapReduce)]
    assert len(reduced.scalar_op.program.steps) == MAX_STEPS
    assert count(ops, Elemwise) == -(-steps // MAX_STEPS) - 1  # the others are a kernel or two before it


def test_lengths_that_differ_are_an_error():
    f, _ = both([x, y], [(x * y).sum(axis=0)])
    with pytest.raises(ValueError, match=r"(?i)dimension mis-?match"):
        f(np.ones((3, 4)), np.ones((3, 5)))


def test_nothing_to_reduce():
    for shape in [(0, 3), (3, 0), (0, 0)]:
        empty = np.zeros(shape)
        for axis in (None, 0, 1):
            same([x], [T.exp(x).sum(axis), T.sqr(x).prod(axis)], [empty])
    with pytest.raises(ValueError, match="zero-size"):
        both([x], [T.exp(x).max(0)])[0](np.zeros((0, 3)))


def test_infer_shape_and_gradients_of_what_is_left():
    f = theano.function([x, v], (x * v).sum(axis=1).shape)
    assert not any(isinstance(n.op, MapReduce) for n in f.maker.fgraph.apply_nodes)
    assert f(VALUES["x"], VALUES["v"]).tolist() == [7]


def test_pickled_functions_compute_the_same():
    import pickle

    f, _ = both([x, y], [((x - y) ** 2).sum(axis=1)])
    g = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(f(VALUES["x"], VALUES["y"])[0], g(VALUES["x"], VALUES["y"])[0])


# -- random graphs ---------------------------------------------------------------------------------------------------


def random_graph(rng):
    """Return inputs and outputs: element-wise operations and reductions of them, mixed."""
    dtypes = ["float64", "float64", "float32", "int32", "bool"]
    patterns = [(False, False), (False, False), (True, False), (False, True), (True, True)]
    leaves = [
        T.TensorType(dtypes[rng.integers(5)], patterns[0] if i == 0 else patterns[rng.integers(5)])(f"i{i}")
        for i in range(5)
    ]
    pool, outputs = [*leaves], []
    unary = [T.tanh, T.sqr, T.exp, T.abs_, lambda a: -T.cast(a, "float64"), T.sigmoid if hasattr(T, "sigmoid") else T.tanh]
    binary = [lambda a, b: a * 1.5 - b, lambda a, b: a * b, T.maximum, lambda a, b: T.switch(a > b, a, b * 1.0), lambda a, b: a + b]
    for _ in range(rng.integers(6, 14)):
        a, b = pool[rng.integers(len(pool))], pool[rng.integers(len(pool))]
        kind = rng.integers(10)
        if kind < 3:
            pool.append(unary[rng.integers(len(unary))](T.clip(T.cast(a, "float64"), -3, 3)))
        elif kind < 7:
            pool.append(binary[rng.integers(len(binary))](a, b))
        else:
            axis = [None, 0, 1, (0, 1)][rng.integers(4)]
            a = T.cast(a, "float64") if a.dtype == "bool" else a
            reduced = [T.sum, T.max, T.min, T.mean][rng.integers(4)](a, axis=axis, keepdims=True)
            outputs.append(reduced)
            pool.append(T.tanh(reduced))
    return leaves, [*outputs, pool[-1]]


def random_value(rng, variable, shape):
    shape = [1 if one else n for one, n in zip(variable.broadcastable, shape, strict=True)]
    data = rng.normal(size=shape) * 2
    data = data > 0 if variable.dtype == "bool" else data.astype(variable.dtype)
    layout = rng.integers(4)
    if layout == 1:
        return np.asfortranarray(data)
    if layout == 2:
        return np.repeat(data, 2, axis=1)[:, ::2]
    return data[::-1] if layout == 3 else data


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed):
    rng = np.random.default_rng(seed)
    inputs, outputs = random_graph(rng)
    mode = get_default_mode()
    joined = theano.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    apart = theano.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    for shape in itertools.product((1, 7, 70), (2, 33, 300)):
        values = [random_value(rng, i, shape) for i in inputs]
        for got, want in zip(joined(*values), apart(*values), strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-4)
