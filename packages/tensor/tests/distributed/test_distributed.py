"""Functions of sharded data against the same functions of the whole; ``nox -s cluster`` runs all cases and engines."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sharded_cases
import sharded_training
from launcher import MPIEXEC
from local_cluster import ALL

import theano
import theano.tensor as T
from theano import distributed

#: In the usual tests each expression is sharded along one axis and split in one way.
CASES = [c for c in sharded_cases.cases() if not c.gradient and c.dtype == "float64"]
USUAL = {c.name: c._replace(split=s) for c, s in zip(CASES, sharded_cases.SPLITS * len(CASES), strict=False)}


@pytest.mark.parametrize("case", USUAL.values(), ids=lambda c: c.name)
def test_table(case: sharded_cases.Case):
    sharded_cases.check(case, {})


@pytest.mark.parametrize("name", ["softmax", "logsoftmax", "logsumexp sharded", "sum sharded"])
@pytest.mark.parametrize("axis", [0, 1])
def test_all_shards_are_empty(name, axis):
    """As the function without shards: values and gradients of no elements."""
    x, y, v = T.dmatrix("x"), T.dmatrix("y"), T.dvector("v")
    out = {**sharded_cases.UNARY, **sharded_cases.FLOATING}[name](x, y, v, axis, 1 - axis)
    outs = [out, T.grad(T.sum(T.sqr(out)), x)]
    sharded = distributed.function([x, y, v], outs, shard={x: axis, y: axis}, on="serial")
    empty = np.zeros((0, 3) if axis == 0 else (3, 0))
    wanted = theano.function([x, y, v], outs, on_unused_input="ignore")(empty, empty, np.ones(3))
    for pieces in ([], [0], [0, 0]):
        found = sharded(sharded.scatter(*(np.split(empty, pieces, axis=axis) for _ in "xy")), np.ones(3))
        for got, want in zip(found, wanted, strict=True):
            whole = got.gather() if isinstance(got, distributed.ShardedArray) else got
            assert np.shape(whole) == np.shape(want) and np.array_equal(whole, want, equal_nan=True), (pieces, whole, want)


@pytest.mark.parametrize("name", ["softmax", "logsoftmax"])
def test_rows_of_huge_and_infinite_numbers(name):
    x = T.dmatrix("x")
    out = getattr(T.nnet, name)(x)
    rows = np.array([[1e300, 0, -1e300, 1e300], [-np.inf, 0, 1, -np.inf], [800, 801, 802, -800], [-1e5, -1e5, -1e5, -1e5]])
    sharded = distributed.function([x], out, shard={x: 1}, on="serial")
    np.testing.assert_allclose(sharded(sharded.scatter(np.split(rows, [1, 1, 3], axis=1))).gather(), theano.function([x], out)(rows), rtol=1e-12)


#: The table is in pieces, for several processes to work on; cases of one expression share its compiled functions.
PIECES = 12
GRAPHS = int(os.environ.get("THEANO_TESTS_GRAPHS", "300"))


@pytest.mark.skipif(not ALL, reason="minutes: nox -s cluster runs all cases")
@pytest.mark.parametrize("piece", range(PIECES))
def test_table_wholly(piece: int):
    names = sorted({c.name for c in sharded_cases.cases()})[piece::PIECES]
    made: dict[Any, Any] = {}
    for case in sharded_cases.cases():
        if case.name in names:
            sharded_cases.check(case, made)


def test_size_of_the_table():
    assert sum(1 for _ in sharded_cases.cases()) > 2000


def _random_graph(rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    x, w = T.dmatrix("x"), theano.shared(rng.normal(size=(3, 3)), "w")
    steps = [
        lambda a, b: T.tanh(T.dot(a, w)), lambda a, b: a * b, lambda a, b: a - T.mean(b, axis=0),
        lambda a, b: T.nnet.softmax(a + b), lambda a, b: a / (1 + T.sum(b**2)),
        lambda a, b: T.dot(a, T.dot(a.T, b)) / 9, lambda a, b: a - T.logsumexp(b, axis=0),
        lambda a, b: T.maximum(a, b), lambda a, b: a + T.max(b, axis=0), lambda a, b: a * T.sum(b, axis=1, keepdims=True),
        lambda a, b: T.concatenate([a[:, 1:], b[:, :1]], axis=1),
    ]  # fmt: skip
    found = [x, T.dot(x, w)]
    for _ in range(4):
        i, j = rng.integers(0, len(found), 2)
        found.append(steps[rng.integers(len(steps))](found[i], found[j]))
    return x, w, T.mean(found[-1]), found[-1]


@pytest.mark.parametrize("seed", range(GRAPHS if ALL else 6))
def test_random_graphs_with_gradients(seed: int):
    """The first ones as they are compiled, more in Python, since it is the stages that differ."""
    mode = None if seed < 300 else theano.Mode(linker="py", optimizer="fast_compile")
    rng = np.random.default_rng(seed)
    x, w, cost, last = _random_graph(rng)
    outs = [cost, last, *T.grad(cost, [w, x], disconnected_inputs="ignore")]
    value = rng.normal(size=(7, 3))
    f = distributed.function([x], outs, shard={x: 0}, on="serial", mode=mode)
    found = f(f.scatter(np.split(value, np.sort(rng.integers(0, 8, 3)))))
    for got, want in zip(found, theano.function([x], outs, on_unused_input="ignore", mode=mode)(value), strict=True):
        np.testing.assert_allclose(
            got.gather() if isinstance(got, distributed.ShardedArray) else got, want, rtol=1e-8, atol=1e-8
        )


def test_mixture_by_em():
    x = T.dvector("x")
    mu = theano.shared(np.array([-1.0, 2.0]), "mu")
    score = -0.5 * (x.dimshuffle(0, "x") - mu.dimshuffle("x", 0)) ** 2
    total = T.logsumexp(score, axis=1)
    share = T.exp(score - total.dimshuffle(0, "x"))
    new = T.dot(x, share) / share.sum(axis=0)
    value = np.random.default_rng(0).normal(size=40) + np.repeat([-2.0, 2.0], 20)
    found = {}
    for name in ("plain", "sharded"):
        mu.set_value([-1.0, 2.0])
        if name == "plain":
            step = theano.function([x], total.sum(), updates={mu: new})
        else:
            step = distributed.function([x], total.sum(), updates={mu: new}, shard={x: 0}, on="serial", shards=7)
        found[name] = [step(value) for _ in range(5)], mu.get_value()
    np.testing.assert_allclose(found["sharded"][0], found["plain"][0], rtol=1e-12)
    np.testing.assert_allclose(found["sharded"][1], found["plain"][1], rtol=1e-12)


def test_logistic_regression():
    x, y = T.dmatrix("x"), T.dvector("y")
    w, b = theano.shared(np.zeros(3), "w"), theano.shared(0.0, "b")
    p = T.nnet.sigmoid(T.dot(x, w) + b)
    cost = T.mean(T.nnet.binary_crossentropy(p, y)) + 0.01 * T.sum(w**2)
    updates = [(v, v - g) for v, g in zip([w, b], T.grad(cost, [w, b]), strict=True)]
    rng = np.random.default_rng(0)
    rows, classes = rng.normal(size=(50, 3)), rng.integers(0, 2, 50).astype(float)
    plain = theano.function([x, y], cost, updates=updates)
    sharded = distributed.function([x, y], cost, updates, shard={x: 0, y: 0}, on="serial", shards=7)
    found = []
    for step in (plain, sharded):
        w.set_value(np.zeros(3))
        b.set_value(0.0)
        found.append([*(step(rows, classes) for _ in range(6)), *w.get_value(), b.get_value()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_gradient_of_rows_taken_from_a_table():
    y, table = T.lvector("y"), theano.shared(np.arange(6.0).reshape(3, 2), "table")
    g = T.grad(T.sum(table[y] ** 2), table)
    found = distributed.function([y], g, shard={y: 0}, on="serial")([0, 2, 2, 1, 0])
    np.testing.assert_array_equal(found, theano.function([y], g)([0, 2, 2, 1, 0]))


def test_one_stage_for_a_step_of_descent():
    x, w = T.dmatrix("x"), theano.shared(np.ones(3), "w")
    cost = T.mean(T.sqr(T.dot(x, w)))
    f = distributed.function([x], cost, updates={w: w - T.grad(cost, w)}, shard={x: 0}, on="serial")
    assert [stage is not None for _, stage, *_ in f._steps] == [True, False]


@pytest.mark.parametrize(
    "expression", [lambda x: x[::-1], lambda x: T.sort(x, axis=0), lambda x: T.argmax(x, axis=0), lambda x: x.flatten()]
)
def test_what_is_not_carried_is_refused(expression: Any):
    x = T.dmatrix("x")
    with pytest.raises(distributed.NotCarriedError, match=r"(?s)shard by shard.*written at.*sharded, axis 0.*to do"):
        distributed.function([x], expression(x), shard={x: 0}, on="serial")


def test_what_is_wrong_is_said():
    x, y, w = T.dvector("x"), T.dvector("y"), theano.shared(np.ones(3), "w")
    with pytest.raises(ValueError, match="nothing is sharded"):
        distributed.function([x], x, shard={}, on="serial")
    with pytest.raises(ValueError, match="not an input"):
        distributed.function([x], x, shard={y: 0}, on="serial")
    with pytest.raises(ValueError, match="along axis 1"):
        distributed.function([x], x, shard={x: 1}, on="serial")
    with pytest.raises(TypeError, match="update of w is sharded"):
        distributed.function([x], [], updates={w: x}, shard={x: 0}, on="serial")
    with pytest.raises(TypeError, match="on is to be"):
        distributed.function([x], x, shard={x: 0}, on=3)
    f = distributed.function([x, y], T.sum(x * y), shard={x: 0, y: 0}, on="serial")
    with pytest.raises(ValueError, match="split at the same places"):
        f(np.ones(4), np.ones(5))
    with pytest.raises(TypeError, match="2 inputs are needed"):
        f(np.ones(4))


def test_a_list_of_rows_is_one_array():
    x, a = T.dmatrix("x"), T.dscalar("a")
    f = distributed.function([a, x], [a, x], shard={x: 0}, on="serial")
    found = f(3, [np.ones(2), np.ones(2), np.ones(2)])
    assert found[0].dtype == "float64" and [s.shape for s in found[1].shards] == [(2, 2), (1, 2)]
    with pytest.raises(TypeError):
        f("three", np.ones((2, 2)))


def test_maximum_of_nothing_is_an_error():
    x = T.dvector("x")
    with pytest.raises(ValueError, match="no rows"):
        distributed.function([x], T.max(x), shard={x: 0}, on="serial")([])
    assert distributed.function([x], T.sum(x), shard={x: 0}, on="serial")([]) == 0


def test_failure_names_the_shard_and_leaves_shared_variables():
    x, i, w = T.dmatrix("x"), T.lscalar("i"), theano.shared(1.0, "w")
    f = distributed.function([x, i], [], updates={w: T.sum(x[:, i])}, shard={x: 0}, on="serial")
    with pytest.raises(IndexError) as caught:
        f(np.ones((3, 2)), 5)
    assert w.get_value() == 1 and any("shard 0" in note and "(2, 2)" in note for note in caught.value.__notes__)


def test_a_rule_of_a_user():
    class Doubled(theano.Op):
        __props__ = ()

        def make_node(self, x: Any) -> Any:
            return theano.Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = 2 * inputs[0]

    x = T.dvector("x")
    try:
        distributed.carries(Doubled)(lambda given: given.axes[0])
        assert distributed.function([x], T.sum(Doubled()(x)), shard={x: 0}, on="serial")([1, 2, 3]) == 12
    finally:
        distributed.TABLE.pop(Doubled, None)


@pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="nox -s cluster installs dask")
def test_dask():
    from dask.distributed import Client, LocalCluster

    wanted = sharded_training.train("serial")
    for n in (1, 2, 4):
        with (
            LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            assert sharded_training.train(client) == wanted
            assert sharded_training.fail(client) == "IndexError"


@pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="nox -s cluster installs dask")
def test_dask_without_a_worker_that_was_killed():
    from dask.distributed import Client, LocalCluster

    x, w = T.dmatrix("x"), theano.shared(np.ones(3), "w")
    cost = T.mean(T.tanh(T.dot(x, w)))
    value = np.random.default_rng(0).normal(size=(60, 3))

    def descend(on: Any, kills: tuple[int, ...]) -> list[float]:
        w.set_value(np.ones(3))
        step = distributed.function([x], cost, updates={w: w - T.grad(cost, w)}, shard={x: 0}, shards=4, on=on)
        data, found = step.scatter(value), []
        for i in range(6):
            if i in kills:
                os.kill(next(iter(on.run(os.getpid).values())), signal.SIGKILL)
            found.append(float(step(data)))
        return found

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        assert descend(client, (2, 4)) == descend("serial", ())


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="nox -s cluster installs mpi4py")
@pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec is here: nox -s cluster installs one")
def test_mpi():
    command = [str(MPIEXEC), "-n", "2", sys.executable, str(Path(sharded_training.__file__))]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False
    )  # fmt: skip
    assert sorted(done.stdout.split("\n")) == ["", "rank 0 agrees", "rank 1 agrees"], done.stdout + done.stderr
