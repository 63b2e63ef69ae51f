"""Numbers: computed without dimensions, joined, read by loops as they are, and cut from and joined to one vector."""

import numpy as np
import pytest

import theano
import theano.scalar as scal
import theano.tensor as T
from theano.compile.mode import Mode
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.numbers import ElemwiseOfNumbers
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.join.op import Join, MakeVector
from theano.tensor.reduce.careduce import Max, Sum
from theano.tensor.reduce.map_reduce import MapReduceOfNumbers
from theano.tensor.shape.basic import Rebroadcast
from theano.tensor.shape.reshape import Reshape

v, m = T.dvector("v"), T.dmatrix("m")
s, t = T.dscalars("s", "t")
V = np.array([0.5, -1.0, 3.0])
M = np.arange(6.0).reshape(2, 3)


def ops(function):
    return [node.op for node in function.maker.fgraph.toposort()]


@pytest.mark.parametrize("x, value", [(v, V), (v, V[:0]), (v, V[::-1]), (m, M), (m, M.T), (m, M[:, 1:2])])
def test_loops_read_numbers_without_dimensions(x, value):
    f = theano.function([x, s, t], [(x - s) / t, T.sum((x - s) ** 2 * t), T.max(x * s + t, axis=0)], mode="FAST_RUN")
    assert not any(isinstance(op, DimShuffle) for op in ops(f))
    if not len(value):
        f = theano.function([x, s, t], [(x - s) / t, T.sum((x - s) ** 2 * t)], mode="FAST_RUN")
    found = f(value, 0.3, 1.7)
    np.testing.assert_allclose(found[0], (value - 0.3) / 1.7, rtol=1e-15)
    np.testing.assert_allclose(found[1], ((value - 0.3) ** 2 * 1.7).sum(), rtol=1e-14)
    if len(value):
        np.testing.assert_allclose(found[2], (value * 0.3 + 1.7).max(axis=0), rtol=1e-15)


def test_lengths_are_compared_as_before():
    w = T.dvector("w")
    f = theano.function([v, w, s], T.exp(v * s) - w, mode="FAST_RUN")
    with pytest.raises(ValueError, match="mis-?match"):
        f(V, V[:2], 1.0)


def test_a_number_that_is_written_over_is_read_before():
    f = theano.function([v, theano.In(s, mutable=True)], [v * s, T.exp(s) + 1], mode="FAST_RUN")
    made = f(V, np.array(2.0))
    np.testing.assert_array_equal(made[0], V * 2)
    np.testing.assert_allclose(made[1], np.exp(2) + 1)


@pytest.mark.parametrize("op", [ElemwiseOfNumbers(scal.mul), MapReduceOfNumbers(scal.mul, [Sum()]),
                                MapReduceOfNumbers(scal.mul, [Max(axis=(0,))])])  # fmt: skip
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", Mode("py", None)])
def test_the_ops_by_themselves(op, mode):
    y = op(m, s)
    compute = {"E": lambda z: z, "S": np.sum, "M": lambda z: z.max(axis=0)}
    kind = "E" if isinstance(op, ElemwiseOfNumbers) else "S" if op.reductions[0].axis is None else "M"
    np.testing.assert_array_equal(theano.function([m, s], y, mode=mode)(M, 2.0), compute[kind](M * 2))
    assert theano.function([m, s], y.shape, mode=mode)(M, 2.0).tolist() == list(compute[kind](M).shape)


def test_the_gradient_is_that_with_dimensions():
    y = ElemwiseOfNumbers(scal.mul)(m, s)
    found = theano.function([m, s], T.grad(T.sum(y * m), [m, s]))(M, 2.0)
    np.testing.assert_array_equal(found[0], 4 * M)
    np.testing.assert_allclose(found[1], (M * M).sum())


def test_a_rewritten_graph_can_be_compiled_again():
    first = theano.function([v, s], [v * s + 1, T.sum(v * s)], mode="FAST_RUN")
    graph = first.maker.fgraph.clone()
    again = theano.function(graph.inputs, [y + 1 for y in graph.outputs], mode="FAST_RUN")
    np.testing.assert_array_equal(again(V, 2.0)[0], V * 2 + 2)
    assert again(V, 2.0)[1] == V.sum() * 2 + 1


def test_what_has_one_element_is_computed_as_a_number():
    a, b = s.dimshuffle("x"), t.dimshuffle("x", "x")
    f = theano.function([s, t, v], [T.exp(a) * a, T.sqr(b) + b, v * (a + 1)], mode="FAST_RUN")
    loops = [node for node in f.maker.fgraph.toposort() if isinstance(node.op, Elemwise)]
    assert sorted(node.outputs[0].type.ndim for node in loops) == [0, 1]
    found = f(0.4, 3.0, V)
    np.testing.assert_allclose(found[0], [np.exp(0.4) * 0.4])
    np.testing.assert_array_equal(found[1], [[12.0]])
    np.testing.assert_allclose(found[2], V * 1.4)


def test_numbers_that_have_nothing_in_common_are_one_node():
    numbers = T.dscalars("a", "b", "c", "d", "e")
    outputs = [T.exp(numbers[0]), T.sin(numbers[1]), T.sqr(numbers[2]), T.tanh(numbers[3])]
    # These wait for a sum, and those above are needed for it: two nodes are enough.
    total = T.sum(v * outputs[0])
    late = [total + outputs[1], total * numbers[4], T.log(total), total - outputs[3]]
    f = theano.function([*numbers, v], [*outputs, *late], mode="FAST_RUN")
    assert sum(isinstance(op, Elemwise) for op in ops(f)) == 2
    given = [0.1, 0.2, 0.3, 0.4, 0.5]
    first = [np.exp(0.1), np.sin(0.2), 0.09, np.tanh(0.4)]
    sum_ = (V * first[0]).sum()
    np.testing.assert_allclose(f(*given, V), [*first, sum_ + first[1], sum_ * 0.5, np.log(sum_), sum_ - first[3]])


def test_a_few_numbers_are_left_to_compiled_kernels():
    f = theano.function([s, t], [T.exp(s), T.sin(t)], mode="FAST_RUN")
    assert sum(isinstance(op, Elemwise) for op in ops(f)) == 2


def test_parameters_in_one_vector():
    one, two = (T.addbroadcast(v[i : i + 1], 0) for i in (0, 2))
    f = theano.function([v], [one.dimshuffle() * 2, two + v], mode="FAST_RUN")
    assert not any(isinstance(op, (Rebroadcast, DimShuffle)) for op in ops(f))
    found = f(V)
    np.testing.assert_array_equal(found[0], 1.0)
    np.testing.assert_array_equal(found[1], V + 3)
    with pytest.raises((IndexError, ValueError)):
        f(V[:2])


def test_gradients_joined_to_one_vector():
    parts = [T.exp(s).reshape((-1,)), T.addbroadcast(t.reshape((-1,)), 0), v, t.reshape((-1,))]
    f = theano.function([s, t, v], T.concatenate(parts), mode="FAST_RUN")
    kinds = ops(f)
    assert sum(isinstance(op, MakeVector) for op in kinds) == 2 and sum(isinstance(op, Join) for op in kinds) == 1
    assert not any(isinstance(op, (Reshape, Rebroadcast)) for op in kinds)
    np.testing.assert_allclose(f(0.1, 2.0, V), [np.exp(0.1), 2, *V, 2])


def test_numbers_of_several_dtypes_are_joined():
    n = T.bscalar("n")
    f = theano.function([n, s, v], T.concatenate([T.stack([n, n]), T.stack([s]), v]), mode="FAST_RUN")
    np.testing.assert_array_equal(f(3, 0.5, V), [3, 3, 0.5, *V])
