"""Profiles of functions on arrays: shapes, bytes, kernels."""

from __future__ import annotations

import numpy as np

import theano
import theano.tensor as T


def make(outputs, inputs, **kwargs):
    with theano.config.change_flags(profile_memory=True, **kwargs):
        return theano.function(inputs, outputs, profile=True, mode=theano.Mode("cvm", "fast_run").excluding("fusion"))


def test_shapes_and_strides_are_those_of_the_largest_values():
    x, y = T.matrices("x", "y")
    f = make(T.dot(x, y).max(axis=1), [x, y])  # a sum of a product would not make the product
    for rows in (2, 30, 5):
        f(np.ones((rows, 4)), np.ones((4, 7)))
    p = f.profile
    dot, total = (n.outputs[0] for n in f.maker.fgraph.toposort())
    assert p.variable_shape == {dot: (30, 7), total: (30,)} and p.variable_strides == {dot: (56, 8), total: (8,)}
    memory = p.memory(f, search=True)
    assert memory.peak == memory.least == memory.without_gc == 30 * 7 * 8 + 30 * 8


def test_the_part_about_memory():
    x = T.matrix("x")
    f = make(T.nnet.softmax(T.dot(x, x)).T, [x])
    f(np.ones((50, 50)))
    with theano.config.change_flags({"profile_memory": True, "profiling.min_peak_memory": True}):
        text = f.profile.summary_text()
    assert "Memory Profile" in text and "Minimum peak from all valid apply node order is 39KB" in text
    assert "[(50, 50)]" in text and "/v" not in text.split("Memory Profile")[0]
    with theano.config.change_flags({"profiling.min_memory_size": 10**6}):
        assert "[(50, 50)]" not in f.profile.summary_text()
    plain = theano.function([x], x + 1, profile=True)
    plain(np.ones((2, 2)))
    assert "Memory Profile" not in plain.profile.summary_text()


def test_one_kernel_serves_nodes_of_several_shapes():
    x, y = T.matrices("x", "y")
    f = make(T.dot(T.dot(x, y), x), [x, y])
    f(np.ones((3, 4)), np.ones((4, 3)))
    (sums,) = f.profile.by_kernel().values()
    assert sums.nodes == 2 and sums.calls == 2 and sums.implementation == "C"
    assert all(f.profile.apply_cimpl.values())


def test_nodes_that_share_a_kernel_keep_their_names():
    x, y = T.vectors("x", "y")
    f = theano.function([x, y], [T.exp(x) * 3 + 1, T.exp(y) * 3 + 1], profile=True)
    first, second = f(np.zeros(2), np.ones(3))
    np.testing.assert_allclose(first, [4, 4])
    np.testing.assert_allclose(second, [np.e * 3 + 1] * 3)
    names = list(f.profile.by_kernel())
    assert len(names) == 2 and {name.rpartition("(")[2] for name in names} == {"x)", "y)"}
    assert len({name.rpartition("(")[0] for name in names}) == 1
