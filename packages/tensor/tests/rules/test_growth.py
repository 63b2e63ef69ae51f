"""Rewriting ends, and twice the graph is about twice the work (counted in calls, not in seconds)."""

from __future__ import annotations

import inspect
import os
import sys

import counted
import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import everything
from theano.graph import FunctionGraph
from theano.rewriting import rewrite
from theano.tensor.blas.routines import Gemm
from theano.tensor.elemwise.lowering import elemwise_kernel

#: How many steps the largest graphs have.
LARGE = 10_000 if os.environ.get("SIZES") == "sweep" else 1_100 if everything() else 400
#: How deep calls may be while a large graph is rewritten: less than it has steps.
DEPTH = 250


def chain(n):
    """Return input and output of n steps, each on the result of the one before."""
    x = h = T.dvector("x")
    for i in range(n):
        h = T.tanh(h * (1 + 0.01 * (i % 7)) + 0.1 * (i % 5)) if i % 3 else h + T.exp(-h * h) / (2 + h * h)
    return x, h.sum()


def fan(n):
    """Return input and output of n steps that all read the same input."""
    x = T.dvector("x")
    return x, T.add(*[T.exp(x * (i + 1.5)) / (x + i) for i in range(n)]).sum()


def unrolled(n):
    """Return input and output of a recurrent network: the gradient of its weights is a sum of n products."""
    w = T.dmatrix("w")
    h = T.dot(w, w)
    for i in range(n):
        h = T.tanh(T.dot(h, w) + T.dot(w[i % 7 : i % 7 + 3], w))
    return w, (h**2).sum()


def densities(n):
    """Return input and output of n log-densities with their own parameters, which are constants here."""
    x = T.dvector("x")
    return x, T.add(*[(-0.5 * ((x - 0.1 * i) / (1 + i)) ** 2 - np.log(1.0 + i)).sum() for i in range(n)])


def turned(n):
    """Return input and output of n products, each of the transpose of the one before."""
    w = h = T.dmatrix("w")
    for i in range(n):
        h = T.tanh(T.dot(h.T, w)) if i % 3 else T.dot(w, h.T)
    return w, h.sum()


def turned_after(n):
    """Return input and output of n products that are transposed themselves."""
    w = h = T.dmatrix("w")
    for _ in range(n):
        h = T.dot(h, w.T).T
    return w, h.sum()


def accumulated(n):
    """Return input and output of a sum that is written one term after the other."""
    x = h = T.dvector("x")
    for i in range(n):
        h = h + x * (i + 0.5)
    return x, h.sum()


def repeated(n):
    """Return input and output of one term added n times."""
    x = h = T.dvector("x")
    for _ in range(n):
        h = h + x
    return x, h.sum()


def written(n):
    """Return input and output of n writes into one matrix, each of a part of what was written before."""
    m = h = T.dmatrix("m")
    for i in range(n):
        h = T.set_subtensor(h[i % 3], T.tanh(h[(i + 1) % 3]))
    return m, h.sum()


def stacked(n):
    """Return input and output of n elements put together."""
    x = T.dvector("x")
    return x, T.stack([x[i % 5] * (i + 0.5) for i in range(n)]).sum()


def chosen(n):
    """Return input and output of n choices, one inside the other."""
    x = h = T.dvector("x")
    for i in range(n):
        h = T.switch(x > i, T.exp(T.switch(h < 0.5, h, -h)), h * x)
    return x, h.sum()


FORMS = [chain, fan, unrolled, densities, turned, turned_after, accumulated, repeated, written, stacked, chosen]


def calls(build, n):
    """Return how many Python calls it takes to rewrite a graph and its gradient."""
    x, cost = build(n)
    fgraph = FunctionGraph([x], [cost, theano.grad(cost, x)], clone=False)
    count, report = counted.calls(lambda: rewrite(fgraph))
    assert report.complete
    return count


@pytest.mark.parametrize("build", FORMS)
def test_twice_the_graph_is_twice_the_work(build):
    calls(build, 5)  # what is remembered for ever is remembered now
    n = 100 if build is stacked else 60 if everything() else 40  # from about 80 parts on the steps are those of many
    small, large = calls(build, n), calls(build, 2 * n)
    assert large < 2.2 * small


@pytest.mark.parametrize("build", FORMS)
def test_large_graphs_stop_within_limits(build):
    """Deeper and wider than Python's stack, which is made small: 400 steps, and 10,000 in the sweep."""
    calls(build, 5)  # modules that are loaded when they are needed are loaded now: that takes deep calls
    x, cost = build(LARGE)
    fgraph = FunctionGraph([x], [cost], clone=False)
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + DEPTH)
    try:
        report = rewrite(fgraph)
    finally:
        sys.setrecursionlimit(usual)
    assert report.complete, report
    fgraph.check_integrity()


@pytest.mark.parametrize("fill", ["number", "row"])
def test_a_length_of_one_that_the_type_does_not_know(fill):
    r, v = T.drow("r"), T.dvector("v")
    model = T.exp(T.unbroadcast(r, 0))
    f = theano.function([r, v], T.second(model, v[0] if fill == "number" else v.dimshuffle("x", 0)))
    assert f.maker.rewriting.complete
    assert f.maker.rewriting.uses["local_fill_to_alloc"] <= 3
    values = np.array([5.0, 6.0])
    want = np.full((1, 2), 5.0) if fill == "number" else values[None]
    np.testing.assert_array_equal(f(np.ones((1, 2)), values), want)


@pytest.mark.parametrize("first", ["product", "matrix", "scaled"])
def test_a_sum_of_products_is_read_once(first):
    m = T.dmatrix("m")
    parts = [T.dot(m + i, T.exp(m) - i) * (1 if i % 3 else -0.5) for i in range(20)]
    given = {"product": [], "matrix": [m], "scaled": [2 * m]}[first]
    f = theano.function([m], T.add(*given, *parts[:7], m, *parts[7:]))
    assert f.maker.rewriting.uses["gemm_optimizer"] == 1
    # A product that stands first is what the second is added to.
    kinds = [isinstance(node.op, Gemm) for node in f.maker.fgraph.apply_nodes]
    assert sum(kinds) == (19 if first == "product" else 20)
    value = np.random.default_rng(0).normal(size=(5, 5))
    terms = [(value + i) @ (np.exp(value) - i) * (1 if i % 3 else -0.5) for i in range(20)]
    want = sum(terms) + value * {"product": 1, "matrix": 2, "scaled": 3}[first]
    np.testing.assert_allclose(f(value), want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "int8", "float16"])
@pytest.mark.parametrize("op", [T.add, T.mul])
@pytest.mark.parametrize("form", ["one term", "two in turn", "all different"])
def test_wide_sums_are_loops_of_few_operands_and_the_same_bits(form, op, dtype):
    n, length = 80, 7
    count = {"one term": 1, "two in turn": 2, "all different": n}[form]
    variables = [T.vector(dtype=dtype) for _ in range(count)]
    f = theano.function(variables, op(*[variables[i % count] for i in range(n)]))
    values = [(1 + np.random.default_rng(i).normal(size=length) / 64).astype(dtype) for i in range(count)]
    want = values[0].astype("float32") if dtype == "float16" else values[0]
    for i in range(1, n):
        term = values[i % count]
        want = (want + term if op == T.add else want * term).astype(want.dtype)
    np.testing.assert_array_equal(f(*values), want.astype(dtype))
    widest = max(len(node.inputs) for node in f.maker.fgraph.apply_nodes)
    assert widest <= (n if dtype == "float16" else 24)


def test_a_kernel_of_twice_the_operands_is_twice_the_work():
    small, large = (_calls_for_kernel(n) for n in (200, 400))
    assert large < 2.2 * small


def _calls_for_kernel(n):
    node = T.add(*[T.dvector() for _ in range(n)]).owner
    count, kernel = counted.calls(lambda: elemwise_kernel(node.op, node))
    assert kernel is not None
    return count
