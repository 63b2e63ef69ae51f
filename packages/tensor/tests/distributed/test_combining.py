"""The tree in which parts are combined: it is the same in all engines, and so are the bits of results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import rank_threads
import sharded_combining
from launcher import MPIEXEC
from local_cluster import cluster, with_dask, with_mpi

import theano
from theano.distributed import DaskEngine, MPIEngine, SerialEngine, direct
from theano.distributed.combining import COMBINATIONS, Combination, tree


class Value:
    """A stage that returns what is in a shard, for each kind of combination."""

    keeps = 0

    def __init__(self, kinds: tuple[str, ...]):
        self.kinds = kinds

    def __call__(self, arrays: Any, values: Any) -> Any:
        return list(arrays), [arrays[0].astype(int) if kind in ("and", "or") else arrays[0] for kind in self.kinds]


def test_groups_of_eight_and_groups_of_groups():
    assert tree(8) == list(range(8)) and tree(1) == [0]
    assert tree(17) == [list(range(8)), list(range(8, 16)), [16]]
    assert len(tree(65)) == 2 and tree(65)[1] == [[64]] and tree(65)[0][7] == list(range(56, 64))
    kinds = tuple(COMBINATIONS)
    shards = [[np.random.default_rng(i).normal(size=5) * 10.0 ** (i % 7)] for i in range(17)]
    _, (found,) = SerialEngine().run(Value(kinds), shards, [], Combination(kinds))
    for i, kind in enumerate(kinds):
        values = [Value((kind,))(s, [])[1][0] for s in shards]
        groups = [values[:8], values[8:16], values[16:]]
        whole = None
        for group in groups:
            part = group[0]
            for value in group[1:]:
                part = COMBINATIONS[kind](part, value)
            whole = part if whole is None else COMBINATIONS[kind](whole, part)
        assert whole.tobytes() == found[i].tobytes(), kind


def test_few_shards_are_combined_one_after_the_other():
    shards = [[np.float64(10.0 ** (3 * i))] for i in (1, -5, 5, -4, 2, 0, -1, 3)]
    _, ((found,),) = SerialEngine().run(Value(("sum",)), shards, [], Combination(("sum",)))
    wanted = np.float64(0)
    for (value,) in shards:
        wanted += value
    assert found == wanted


def test_all_kinds_against_the_whole():
    x, outputs = sharded_combining.reductions()
    whole = theano.function([x], outputs)
    for n, exact in sharded_combining.found("serial").items():
        for wanted, text in zip(whole(np.concatenate(sharded_combining.rows(n))), exact[: len(outputs)], strict=True):
            np.testing.assert_allclose(np.frombuffer(text, np.asarray(wanted).dtype), wanted, rtol=1e-12)


@with_dask
@pytest.mark.parametrize(("threads", "few"), [(1, 1), (2, 64)])
def test_workers_of_dask_find_the_same_bits(threads: int, few: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(DaskEngine, "FEW", few)  # of so many shards the client combines all
    wanted = sharded_combining.found("serial")
    with cluster(3, threads=threads, quick=True) as client:
        assert sharded_combining.found(client) == wanted, "the first step by tasks, others by calls where it can be"
        monkeypatch.setattr(client, "direct_to_workers", False)
        assert sharded_combining.found(client) == wanted


@with_dask
def test_an_error_comes_through_the_tree(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(direct.DirectCalls, "SECONDS", 1000.0)
    monkeypatch.setattr(DaskEngine, "FEW", 1)
    with cluster(3, quick=True) as client:
        f, bad, good = sharded_combining.refused(client)
        for way in ("tasks", "calls", "calls"):
            with pytest.raises(ArithmeticError, match="thirteen") as caught:
                f(bad)
            assert any("on shard 13" in note for note in caught.value.__notes__), way
            assert f(good).tolist() == [20, 20]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_ranks_find_the_same_bits(size: int, monkeypatch: pytest.MonkeyPatch):
    """Results that every rank combines, and those of which each combines a slice; the ranks are threads here."""
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=rank_threads.MPI))
    monkeypatch.setattr(sharded_combining, "COUNTS", (1, 9, 17))
    comm, wanted = rank_threads.Ranks(size), sharded_combining.drawn(SerialEngine())
    for found in comm.each(lambda: sharded_combining.drawn(MPIEngine(comm))):
        assert found == wanted

    def fails() -> None:
        engine = MPIEngine(comm)
        with pytest.raises(ValueError, match="shapes"):
            engine.run(sharded_combining.Uneven(2000), engine.scatter([[i] for i in range(3)]), [], Combination(("sum",)))

    comm.each(fails)


@with_mpi
@pytest.mark.parametrize("ranks", [1, 3, 5])
def test_ranks_of_mpi_find_the_same_bits(ranks: int):
    command = [str(MPIEXEC), "-n", str(ranks), sys.executable, str(Path(sharded_combining.__file__))]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False
    )  # fmt: skip
    assert all(f"rank {r} agrees" in done.stdout for r in range(ranks)), done.stdout + done.stderr
