"""Functions of the mode: updates, memory, pickles, copies, errors, threads, sparse matrices, random numbers, PyMC."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from comparing import RNG, compare
from pytensor import In, Out, function
from theano_pytensor.convert import standing_for
from theano_pytensor.performed import performed

from theano.graph.canonical import NoCanonicalForm, form_of, object_of


def test_the_mode_by_name_and_by_flag() -> None:
    x = pt.dvector("x")
    assert isinstance(function([x], x + 1, mode="THEANO").maker.linker, pytensor.compile.mode.get_mode("THEANO").linker.__class__)
    with pytensor.config.change_flags(mode="THEANO"):
        np.testing.assert_array_equal((x + 1).eval({x: [1.0, 2.0]}), [2, 3])


def test_updates_of_shared_variables() -> None:
    x, state = pt.dvector("x"), pytensor.shared(np.arange(3.0))
    f = function([x], state * x, updates={state: state + x}, mode="THEANO")
    for expected in ([0, 1, 2], [1, 2, 3]):
        np.testing.assert_array_equal(f(np.ones(3)), expected)
    np.testing.assert_array_equal(state.get_value(), [2, 3, 4])


def test_arguments_stay_and_results_are_new() -> None:
    x = pt.dvector("x")
    f = function([In(x, borrow=True)], [x[1:].set(0.0), Out(x, borrow=False), x * 1], mode="THEANO")
    given = np.arange(3.0)
    _, same, product = f(given)
    assert not np.shares_memory(given, same)
    assert not np.shares_memory(given, product)
    np.testing.assert_array_equal(given, [0, 1, 2])


def test_what_may_be_overwritten_is() -> None:
    state, i = pytensor.shared(np.zeros(3)), pt.lvector("i")
    row, updates = state.get_value(borrow=True), {state: pt.inc_subtensor(state[i], 1.0)}
    function([i], [], updates=updates, mode="THEANO")([1, 1])
    assert state.get_value(borrow=True) is row
    np.testing.assert_array_equal(row, [0, 2, 0])
    np.testing.assert_array_equal(function([i], state, updates=updates, mode="THEANO")([0]), [0, 2, 0])
    np.testing.assert_array_equal(state.get_value(), [1, 2, 0])

    x = pt.dvector("x")
    given = np.ones(3)
    function([In(x, mutable=True)], x[1:].inc(1.0), mode="THEANO")(given)
    np.testing.assert_array_equal(given, [1, 2, 2])


def test_pickles_and_copies() -> None:
    x, state = pt.dscalar("x"), pytensor.shared(1.0)
    f = function([x], x + state, updates={state: state + 1}, mode="THEANO")
    for g in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        assert [float(g(1.0)), float(g(1.0))] == [2, 3]
    assert float(f(1.0)) == 2


def test_errors_name_the_line_that_was_written() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    f = function([x, y], x + y, mode="THEANO")
    with pytest.raises(ValueError, match=r"(?s)test_functions.py:\d+.*x \+ y"):
        f(np.ones(2), np.ones(3))


def test_threads() -> None:
    x = pt.dvector("x")
    made = [function([x], pt.exp(x).sum() * k, mode="THEANO") for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda f: [float(f(np.zeros(50))) for _ in range(200)], made))
    assert found == [[50.0 * k] * 200 for k in range(4)]


@pytest.mark.parametrize(
    ("draw", "parameters"),
    [(pt.random.normal, (0.0, 1.0)), (pt.random.poisson, (3.0,)), (pt.random.dirichlet, ([0.2, 0.3, 0.5],)),
     (pt.random.categorical, ([0.2, 0.3, 0.5],)), (pt.random.multivariate_normal, ([0.0, 1.0], [[1.0, 0.2], [0.2, 2.0]]))],
)  # fmt: skip
def test_random_numbers_are_those_of_the_mode_c(draw: Any, parameters: Any) -> None:
    found = []
    for mode in ("THEANO", "CVM"):
        rng = pytensor.shared(np.random.default_rng(7))
        state, numbers = draw(*parameters, size=(4,), rng=rng).owner.outputs
        f = function([], numbers, updates={rng: state}, mode=mode)
        found.append(np.stack([f(), f()]))
    np.testing.assert_array_equal(*found)


def test_a_program_that_draws_is_known_in_other_processes() -> None:
    rng = pytensor.shared(np.random.default_rng(1))
    node = pt.random.multinomial(5, pt.dmatrix("p"), rng=rng, size=None).owner
    op = performed(node, [standing_for(v) for v in node.inputs], "")[0].owner.op
    again = object_of(form_of(op))
    assert form_of(again) == form_of(op)
    assert again.node.op == op.node.op
    assert [v.type for v in again.node.inputs] == [v.type for v in node.inputs]

    class Own(pytensor.graph.op.Op):
        """Of no package that is known."""

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            """Compute nothing."""

    op.node = pytensor.graph.basic.Apply(Own(), [], [])
    with pytest.raises(NoCanonicalForm, match="Own"):
        form_of(op)


def test_the_shape_of_what_pytensor_computes_is_known_before() -> None:
    n, rng = pt.lscalar("n"), pytensor.shared(np.random.default_rng(1))
    drawn = pt.random.normal(0.0, -1.0, size=(n, 3), rng=rng)  # who draws it is told that it has no scale
    np.testing.assert_array_equal(function([n], drawn.shape, mode="THEANO")(2), [2, 3])
    stretched = pt.random.normal([0.0], pt.ones(n), rng=rng)
    np.testing.assert_array_equal(function([n], stretched.shape, mode="THEANO")(2), [2])


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_sparse_matrices(format: str) -> None:
    import pytensor.sparse as ps
    import scipy.sparse as sp

    x, d = ps.matrix(format, name="x", dtype="float64"), pt.dmatrix("d")
    S = sp.random(5, 4, 0.4, format=format, random_state=1)
    S = getattr(sp, f"{format}_matrix")(S)
    made = [ps.structured_dot(x, d), x + x, x.T, ps.sp_sum(x, axis=0), ps.dense_from_sparse(x) * 2, ps.mul(x, x), x[1:3, :2]]
    made.append(pytensor.grad(ps.structured_dot(x, d).sum(), d))
    compare([x, d], made, [S, RNG.normal(size=(4, 3))])


def test_a_model_of_pymc() -> None:
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", shape=3)
        pm.Normal("y", mu + tau * z, [1.0, 2, 3], observed=[0.5, 1, 2])
    found = []
    for mode in ("THEANO", "FAST_COMPILE"):
        f = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        f.set_extra_values({})
        found.append(f(np.array([0.3, -0.2, 0.1, 0.5, -1])))
    np.testing.assert_allclose(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1])
    bounded = pm.pytensorf.compile([s := pt.dscalar()], pm.logp(pm.Normal.dist(0, s), 1.0), mode="THEANO")
    assert bounded(-1.0) == -np.inf


def test_functions_that_are_dropped_are_freed() -> None:
    x, state = pt.dvector("x"), pytensor.shared(np.zeros(3))
    steps = pytensor.scan(lambda h, v: pt.tanh(h * v), x, [pt.zeros(())], return_updates=False)
    references = []
    for number in range(3):
        f = function([x], [x * number + state, steps[-1]], updates={state: state + 1}, mode="THEANO")
        f(np.ones(3))
        references += [weakref.ref(f.vm), weakref.ref(f.maker.fgraph)]
    del f
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)


def test_calls_do_not_allocate_what_stays() -> None:
    x, state = pt.dvector("x"), pytensor.shared(np.zeros(3))
    f = function([x], [pt.exp(x).sum(), x[:, None] * x], updates={state: state + x}, mode="THEANO")
    given, seen = np.ones(3), []
    tracemalloc.start()
    try:
        for calls in (200, 20_000):
            for _ in range(calls):
                f(given)
            gc.collect()
            seen.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert seen[1] - seen[0] < 2_000, "a byte a call would be 20,000"
