"""Shards that are not in memory: parts of files, dask arrays and futures; with Dask in ``nox -s cluster``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from local_cluster import cluster, with_dask

import theano
import theano.tensor as T
from theano import distributed
from theano.distributed.data import Mapped, mapped

EXAMPLES = Path(__file__).parents[4] / "examples"


def on_disk(folder: Path, array: np.ndarray) -> Any:
    np.save(folder / "x.npy", array)
    return np.load(folder / "x.npy", mmap_mode="r")


@pytest.mark.parametrize(
    "part", [np.s_[:], np.s_[2:4], np.s_[:, 1:3], np.s_[3:3], np.s_[::2, 1], np.s_[5]], ids=lambda part: str(part)
)
def test_parts_of_a_file(part: Any, tmp_path: Path) -> None:
    whole = on_disk(tmp_path, np.arange(24.0).reshape(6, 4))
    for view in (whole[part], np.asarray(whole)[part], whole[part].T):
        found = mapped(view)
        assert isinstance(found, Mapped)
        np.testing.assert_array_equal(found.open(), view)
        assert found.open().shape == view.shape and found.open().dtype == view.dtype


def test_what_is_no_part_of_a_file(tmp_path: Path) -> None:
    whole = on_disk(tmp_path, np.arange(24.0).reshape(6, 4))
    changed = np.load(tmp_path / "x.npy", mmap_mode="c")
    changed[0] = 7
    for array in (whole[[1, 2]], whole + 1, whole[::-1], changed, changed[1:], 3, np.arange(3)):
        assert mapped(array) is array


def test_a_file_in_one_process(tmp_path: Path) -> None:
    value = np.random.default_rng(0).normal(size=(50, 3))
    x = T.dmatrix("x")
    f = distributed.function([x], T.dot(x.T, x), shard={x: 0}, on="serial", shards=7)
    assert (f(on_disk(tmp_path, value)) == f(value)).all()


def test_a_file_of_another_dtype_is_read(tmp_path: Path) -> None:
    x = T.dmatrix("x")
    f = distributed.function([x], T.sum(x), shard={x: 0}, on="serial", shards=2)
    assert f(on_disk(tmp_path, np.ones((4, 3), "float32"))) == 12


@with_dask
def test_files_dask_arrays_and_futures(tmp_path: Path) -> None:
    import dask.array as da
    value = np.random.default_rng(0).normal(size=(40, 3))
    x, w = T.dmatrix("x"), theano.shared(np.ones(3), "w")
    scores = T.nnet.softmax(T.dot(x, w).dimshuffle("x", 0))  # in two stages, the first of which keeps something
    outputs = [T.sum(scores * T.sum(x, axis=1)), scores]
    with cluster(2) as client:
        here, there = (distributed.function([x], outputs, shard={x: 0}, shards=5, on=on) for on in ("serial", client))
        wanted = here(value)
        array = da.from_array(value, chunks=(8, 2))
        given = {
            "array": value,
            "file": on_disk(tmp_path, value),
            "dask": array,
            "persisted": array.persist(),
            "futures": [client.submit(np.asarray, part) for part in np.split(value, 5)],
        }
        for name, each in given.items():
            data = there.scatter(each)
            for _ in range(2):
                total, found = there(data)
                assert total == wanted[0], name
                np.testing.assert_array_equal(found.gather(), wanted[1].gather(), err_msg=name)
        # And in this process.
        assert here(array)[0] == wanted[0]
        single = distributed.function([x], T.sum(x), shard={x: 0}, on=client)
        assert single(da.ones((6, 2), chunks=4, dtype="float32")) == 12
        with pytest.raises(TypeError, match="complex128 cannot be turned into without loss"):
            single(da.ones((6, 2), dtype=complex))
        with pytest.raises(TypeError, match="2 dimensions, but the dask array has 1"):
            single(da.ones(6))
        with pytest.raises(TypeError, match="a future has an array of int64 with 1 dimensions"):
            single([client.submit(np.arange, 3)])
        with pytest.raises(ValueError, match=r"compute_chunk_sizes"):
            single(array[array[:, 0] > 0])


@pytest.fixture
def sharded(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    for name in ("matplotlib", "tqdm"):
        pytest.importorskip(name, reason="nox -s cluster installs it")
    import sharded

    yield sharded
    sys.modules.pop("sharded")


@with_dask
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it does not say how much memory it had")
def test_the_example_has_one_shard_at_a_time(sharded: Any, tmp_path: Path) -> None:
    sharded.write(tmp_path, 40)
    data = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "xy"}
    little = {name: np.array(each[:100]) for name, each in data.items()}
    course = sharded.Course(str(tmp_path / "picture.png"), "a test")
    found = {}
    for workers in (1, 2, 4):
        # Dask ends a worker that has more.
        with cluster(workers, quick=True, memory_limit="240MB") as client:
            sharded.fit(little, 1, 4, course, client)  # what is loaded once
            before, pids = client.run(sharded.most_memory), client.run(os.getpid)
            found[workers] = sharded.fit(data, 2, 20, course, client)
            after = client.run(sharded.most_memory)
            assert client.run(os.getpid) == pids and all(after[w] - before[w] < 30 for w in before), (before, after)
    assert found[1] == found[2] == found[4]
    plain = sharded.fit(data, 2, 1, course)
    for name, losses in plain.items():
        np.testing.assert_allclose(found[1][name], losses, rtol=1e-10, atol=0, err_msg=name)
        assert losses[-1] < losses[0]
    assert (tmp_path / "picture.png").stat().st_size > 10_000


@with_dask
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not say how much memory a process has")
def test_data_ten_times_the_memory_of_a_worker(sharded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are refused more than a tenth of the data, beside the libraries that they have loaded."""
    monkeypatch.setattr(sharded, "MODELS", {"network": sharded.network})
    megabytes = 240
    sharded.write(tmp_path, megabytes)
    data = {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "xy"}
    course = sharded.Course(str(tmp_path / "picture.png"), "a test")

    def limit_to(more: float) -> None:
        sharded.limit(sharded.memory("VmRSS") + more)

    def refused(more: float) -> bool:
        try:
            return not np.ones(int(more * 1e6 / 8)).all()
        except MemoryError:
            return True

    with cluster(2, quick=True) as client:
        sharded.fit({name: np.array(each[:100]) for name, each in data.items()}, 1, 4, course, client)
        pids = client.run(os.getpid)
        client.run(limit_to, megabytes / 10)
        assert all(client.run(refused, megabytes / 5).values())
        found = sharded.fit(data, 2, 80, course, client)
        assert client.run(os.getpid) == pids
    np.testing.assert_allclose(found["network"], sharded.fit(data, 2, 1, course)["network"], rtol=1e-10, atol=0)
