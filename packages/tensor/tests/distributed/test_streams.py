"""Random numbers in sharded functions: each shard draws its rows from a part of the stream, which its number tells."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from launcher import MPIEXEC
from local_cluster import cluster, with_dask, with_mpi
from scipy import stats

import theano
import theano.tensor as T
from theano import distributed
from theano.tensor.random import MRG_RandomStreams, PhiloxStreams, RandomStream, RandomStreams
from theano.tensor.random.basic import normal as normal_numbers
from theano.tensor.random.mrg31k3p import M1, M2
from theano.tensor.random.substates import next_state, substate

X = np.arange(21.0).reshape(7, 3) / 10
SPLITS = ([4], [0, 3, 3, 7], [2, 7])
KINDS: dict[str, Callable[[int], Any]] = {
    "numpy": RandomStreams, "mrg": MRG_RandomStreams, "philox": PhiloxStreams, "random variables": RandomStream,
}  # fmt: skip


def normal(streams: Any, mean: Any, deviation: Any, size: Any) -> Any:
    if isinstance(streams, RandomStream):
        return streams.normal(mean, deviation, size=size)
    return streams.normal(size=size, avg=mean, std=deviation)


def states_of(streams: Any) -> list[Any]:
    return [update[0] for update in streams.state_updates]


DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "as x": lambda s, x: s.uniform(size=x.shape),
    "as x in another dtype": lambda s, x: s.uniform(size=T.cast(x.shape, "int32")),
    "rows by two": lambda s, x: s.uniform(size=(x.shape[0], 2)),
    "rows": lambda s, x: s.uniform(size=(x.shape[0],)),
    "two by rows": lambda s, x: s.uniform(size=(2, x.shape[0])),
    "as what is computed": lambda s, x: s.uniform(size=T.dot(x, T.ones((3, 2))).shape),
    "coins": lambda s, x: s.binomial(size=x.shape, n=1, p=0.5),
    "its parameter": lambda s, x: normal(s, x, 2.0, x.shape),
    "its parameter only": lambda s, x: normal(s, x, 0.1, None),
    "a sharded and a common one": lambda s, x: normal(s, x, np.array([1.0, 2.0, 3.0]), None),
    "several a row": lambda s, x: s.multinomial(n=1, pvals=T.nnet.softmax(x)),
}
#: Draws that these streams have not, or that are no draws of rows there.
WITHOUT = {
    "mrg": ("its parameter", "its parameter only", "a sharded and a common one", "several a row"),
    "philox": ("its parameter only", "a sharded and a common one", "several a row"),
    "random variables": ("several a row",),
}


def cases() -> Iterator[Any]:
    for kind in KINDS:
        for name, draw in DRAWS.items():
            if name not in WITHOUT.get(kind, ()):
                yield pytest.param(kind, draw, id=f"{kind}: {name}")


def same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else repr(a.get_state()) == repr(b.get_state())


@pytest.mark.parametrize("kind, draw", list(cases()))
def test_each_shard_draws_from_its_part(kind, draw):
    """What the graph itself draws for the rows of the shard, from that part of the state; the state goes on once a call."""
    x, streams = T.dmatrix("x"), KINDS[kind](3)
    numbers = draw(streams, x)
    f = distributed.function([x], [numbers, T.sum(x)], shard={x: 0}, on="serial")
    states = states_of(streams)
    of_rows = theano.function([x], numbers, no_default_updates=True)
    for split in SPLITS:
        shards, before = np.split(X, split), [v.get_value() for v in states]
        got, total = f(f.scatter(shards))
        np.testing.assert_allclose(total, X.sum())
        assert all(same(v.get_value(), next_state(b)) for v, b in zip(states, before, strict=True))
        after = [v.get_value() for v in states]
        for i, rows in enumerate(shards):
            for v, b in zip(states, before, strict=True):
                v.set_value(substate(b, i))
            np.testing.assert_array_equal(got.shards[i], of_rows(rows))
        for v, a in zip(states, after, strict=True):
            v.set_value(a)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_the_same_everywhere_is_drawn_as_ever(kind):
    """Numbers of a length that is not sharded are those of an ordinary function, call by call, also on the shards."""
    results = []
    for sharded in (True, False):
        x, streams = T.dmatrix("x"), KINDS[kind](5)
        noise = streams.uniform(size=(3,))
        outputs = [noise, T.sum(x * noise)]
        f = distributed.function([x], outputs, shard={x: 0}, on="serial") if sharded else theano.function([x], outputs)
        results.append([f(X) for _ in range(3)])
    for got, want in zip(*results, strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_stages_see_the_same_numbers(kind):
    """A mean over all shards is taken off in the next stage; parameters that are found in an earlier one."""
    x, streams = T.dmatrix("x"), KINDS[kind](7)
    size = {"size": x.shape}
    noise = streams.uniform(0.0, T.mean(x), **size) if kind == "random variables" else streams.uniform(**size) * T.mean(x)
    f = distributed.function([x], [noise - T.mean(noise, axis=0), noise], shard={x: 0}, on="serial")
    centred, raw = (v.gather() for v in f(X))
    np.testing.assert_allclose(centred, raw - raw.mean(0), atol=1e-12)
    assert raw.min() >= 0 and raw.max() < X.mean() and len(np.unique(raw)) == raw.size


def test_the_state_stays_where_a_step_fails():
    x, y, streams = T.dmatrix("x"), T.dvector("y"), RandomStreams(1)
    f = distributed.function([x, y], T.sum(streams.uniform(size=x.shape) * y), shard={x: 0}, on="serial")
    (state,) = states_of(streams)
    before = state.get_value()
    with pytest.raises(ValueError, match="mis-match"):
        f(X, np.ones(2))
    assert same(state.get_value(), before)
    f(X, np.ones(3))
    assert not same(state.get_value(), before)


def test_an_update_that_is_given():
    x, streams = T.dmatrix("x"), RandomStreams(1)
    noise = streams.uniform(size=x.shape)
    w = theano.shared(np.zeros(3), "w")
    f = distributed.function([x], [], updates=[noise.update, (w, w + T.sum(noise, axis=0))], shard={x: 0}, on="serial")
    f(X)
    first = w.get_value()
    f(X)
    assert first.min() > 0 and not np.allclose(w.get_value(), 2 * first)


def test_dropout_has_its_gradient():
    """The gradient goes through the same coins as the cost: both are sums over shards."""
    x, w, streams = T.dmatrix("x"), theano.shared(np.ones(3), "w"), MRG_RandomStreams(2)
    kept = x * streams.binomial(size=x.shape, p=0.5)
    cost = T.sum(T.dot(kept, w))
    f = distributed.function([x], [kept, T.grad(cost, w)], shard={x: 0}, on="serial")
    dropped, slope = f(X)
    np.testing.assert_allclose(slope, dropped.gather().sum(0))


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_unlike_and_uniform(kind):
    (state,) = _states(kind)
    x, streams = T.dvector("x"), KINDS[kind](11)
    f = distributed.function([x], streams.uniform(size=x.shape), shard={x: 0}, shards=64, on="serial")
    drawn = np.concatenate([f(np.zeros(64 * 100)).gather().reshape(64, 100) for _ in range(3)])
    assert len(np.unique(drawn)) > drawn.size - 20  # of float32 some are twice
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > 1e-4
    between = np.corrcoef(drawn)[np.triu_indices(len(drawn), 1)]
    assert abs(between.mean()) < 0.01 and 0.08 < between.std() < 0.12  # 0.1 for independent rows of 100
    assert same(substate(state, 3), substate(state, 3))
    assert type(substate(state, 3)) is type(state)


def _states(kind: str) -> list[Any]:
    streams = KINDS[kind](11)
    streams.uniform(size=(2,))
    return [v.get_value() for v in states_of(streams)]


def test_states_of_mrg_are_states():
    (state,) = _states("mrg")
    for made in (substate(state, 0), substate(state, 10**6), next_state(state)):
        assert made.dtype == state.dtype
        assert made.shape == state.shape
        assert made.min() > 0 and made[:, :3].max() < M1 and made[:, 3:].max() < M2


def test_what_cannot_be_drawn_on_shards():
    """A parameter as long as all shards, states that are no shared variable, and what is drawn as one long vector."""
    x, g, s = T.dmatrix("x"), theano.shared(np.random.RandomState(1)), RandomStreams(1)
    after, _ = normal_numbers(size=(1,), rng=g).owner.outputs
    for y in (
        normal(s, T.ones((7, 3)), 1.0, x.shape), normal_numbers(size=x.shape, rng=after), s.uniform(size=(7, 3)) + x,
        MRG_RandomStreams(1).normal(size=x.shape) + x, MRG_RandomStreams(1).multinomial(pvals=x), normal(s, x, x.T, (7, 7)),
    ):  # fmt: skip
        with pytest.raises(distributed.NotCarriedError, match="cannot be computed shard by shard"):
            distributed.function([x], y, shard={x: 0}, on="serial")


@with_dask
def test_workers_do_not_matter():
    """Bit for bit the same on 1 and 2 workers and in this process, step after step."""
    found = []
    for workers in (0, 1, 2):
        x, streams, w = T.dmatrix("x"), RandomStreams(9), theano.shared(np.zeros(3), "w")
        noise = streams.normal(size=x.shape) + MRG_RandomStreams(4).uniform(size=x.shape)
        updates = {w: w + T.sum(x * noise, axis=0)}
        if workers == 0:
            f = distributed.function([x], noise, updates=updates, shard={x: 0}, shards=4, on="serial")
            found.append([*(f(X).gather() for _ in range(3)), w.get_value()])
            continue
        with cluster(workers) as client:
            f = distributed.function([x], noise, updates=updates, shard={x: 0}, shards=4, on=client)
            found.append([*(f(X).gather() for _ in range(3)), w.get_value()])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


RANKS = """
import numpy as np, theano, theano.tensor as T
from mpi4py import MPI

def run(on):
    x, streams, w = T.dmatrix("x"), T.shared_randomstreams.RandomStreams(9), theano.shared(np.zeros(3), "w")
    updates = {w: w + T.sum(x * streams.normal(x.shape), axis=0)}
    f = theano.distributed.function([x], T.sum(streams.uniform((2,))), updates=updates, shard={x: 0}, shards=4, on=on)
    return [float(f(np.arange(21.0).reshape(7, 3))) for _ in range(3)], w.get_value().tolist()

assert run(MPI.COMM_WORLD) == run("serial")
print("alike", flush=True)
"""


@with_mpi
def test_ranks_do_not_matter(tmp_path):
    script = tmp_path / "draws.py"
    script.write_text(RANKS)
    done = subprocess.run([str(MPIEXEC), "-n", "2", sys.executable, str(script)], capture_output=True, text=True)
    assert done.stdout.split() == ["alike", "alike"], done.stderr
