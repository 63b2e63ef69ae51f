"""The workers that `theano.distributed` starts itself: for which programs, with which settings, and how they end."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from local_cluster import cluster, with_dask

import theano.tensor as T
from theano import distributed
from theano.distributed import cluster_process, local

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc says which processes there are, and where they run")

#: It has no ``if __name__ == "__main__"``, and an op of its own.
PROGRAM = """
import os, sys, theano.distributed, theano.tensor as T
import beside, numpy as np

class Twice(theano.Op):
    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        import beside
        output_storage[0][0] = beside.TWO * inputs[0]

theano.distributed.carries(Twice)(lambda given: given.axes[0])
x = T.dmatrix("x")
total = T.sum(T.tanh(Twice()(x)))
f, g, h = (theano.distributed.function([x], total, shard={x: 0}, shards=4, on=on) for on in (None, "serial", "dask"))
value = np.random.default_rng(0).normal(size=(61, 3))
data = f.scatter(value)
assert {float(f(data)) for _ in range(3)} == {float(g(value))}
client = f.engine.client
assert h.engine.client is client, "they are started once"
"""

SETTINGS = PROGRAM + """
def seen(dask_worker):
    every = [sorted(os.sched_getaffinity(int(t))) for t in os.listdir("/proc/self/task")]
    return "profile" in dask_worker.periodic_callbacks, every, os.environ.get("MALLOC_TRIM_THRESHOLD_")

found = client.run(seen).values()
allowed = os.sched_getaffinity(0)
assert len(found) == len(allowed) and not any(profiled or trim for profiled, _, trim in found)
bound = [every[0] for _, every, _ in found]
assert all(every == [one] * len(every) for (_, every, _), one in zip(found, bound))
assert sorted(n for (n,) in bound) == sorted(allowed)

import dask, distributed
assert dask.config.get("distributed.worker.profile.enabled"), "only theirs"
try:
    distributed.default_client()
except ValueError:
    pass
else:
    raise AssertionError("dask.compute of this program would go there")

if os.fork() == 0:
    sys.exit()  # and it ends nothing of its parent's
os.wait()
assert float(f(data)) == float(g(value))
print("end")
"""

WAITS = PROGRAM + """
print(*client.run(os.getpid).values(), theano.distributed.local._started[0]._process.pid, flush=True)
if os.fork() == 0:
    sys.stdin.read()  # it has what its parent has opened
sys.stdin.read()
"""


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be two processors, one thread of the test each."""
    monkeypatch.setattr(local, "processors", lambda: 2)


def started(folder: Path, program: str) -> subprocess.Popen[str]:
    (folder / "scripts").mkdir()
    (folder / "scripts" / "beside.py").write_text("TWO = 2.0\n")
    (folder / "scripts" / "program.py").write_text(program)
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC")}
    return subprocess.Popen(
        [sys.executable, str(folder / "scripts" / "program.py")], cwd=folder, env=env, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def there(pid: int) -> bool:
    """Tell whether there is a process of that number that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@with_dask
@on_linux
@pytest.mark.skipif(local.processors() == 1, reason="one processor needs no workers")
def test_a_program_that_says_nothing_about_processes(tmp_path: Path):
    said, complaints = started(tmp_path, SETTINGS).communicate(timeout=200)
    assert (said, complaints) == ("end\n", "")


@with_dask
@on_linux
@pytest.mark.skipif(local.processors() == 1, reason="one processor needs no workers")
def test_a_program_that_is_killed_leaves_nothing(tmp_path: Path):
    program = started(tmp_path, WAITS)
    assert program.stdout is not None
    pids = [int(pid) for pid in program.stdout.readline().split()]
    assert len(pids) == local.processors() + 1 and all(map(there, pids))
    program.kill()
    end = time.monotonic() + 60
    while any(map(there, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(there, pids))
    program.communicate()  # now the forked process ends, too


#: Stands in for both packages of Dask: a cluster leaves a file when it begins and when it is closed.
CLUSTER = """
from pathlib import Path
from types import SimpleNamespace

config = SimpleNamespace(config={}, update=lambda old, new: old.update(new))

class LocalCluster:
    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "begun").touch()

    def close(self, timeout):
        (self.folder / "closed").touch()
"""

#: Starts the program of a cluster, and ends when the cluster has begun.
STARTS = """
import subprocess, sys, time
from pathlib import Path
subprocess.Popen([sys.executable, sys.argv[1]], stdin=0)
while not Path(sys.argv[2], "begun").exists():
    time.sleep(0.01)
"""


@on_linux
@pytest.mark.parametrize("by", ["the end of its input", "the end of its parent"])
def test_a_cluster_ends_by(by: str, tmp_path: Path):
    (tmp_path / "dask.py").write_text(CLUSTER)
    (tmp_path / "distributed.py").write_text(CLUSTER)
    program = [cluster_process.__file__] if "input" in by else ["-c", STARTS, cluster_process.__file__, str(tmp_path)]
    started = subprocess.Popen([sys.executable, *program], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert started.stdin is not None and started.stderr is not None
    with started.stdin, started.stderr:
        try:
            for thing in ([str(tmp_path), *sys.path], ({}, {"folder": str(tmp_path)})):
                pickle.dump(thing, started.stdin)
            started.stdin.flush()
            if "input" in by:
                started.stdin.close()
            started.wait(20)
            end = time.monotonic() + 20
            while not (tmp_path / "closed").exists() and time.monotonic() < end:
                time.sleep(0.01)
            assert (tmp_path / "closed").exists()
            assert started.stderr.read() == b"", "and in order"
        finally:
            started.kill()
            started.wait()


@with_dask
def test_workers_that_have_ended_are_started_again(several: None):
    x = T.dmatrix("x")

    def total() -> float:
        return float(distributed.function([x], T.sum(x), shard={x: 0}, on="dask")(np.ones((4, 2))))

    try:
        assert total() == 8
        first = local.local_client()
        local._started[0]._process.kill()
        local._started[0]._process.wait()
        assert total() == 8 and local.local_client() is not first
    finally:
        local._started.pop().end()


def engine() -> str:
    """Return what computes where nothing is said about it."""
    x = T.dmatrix("x")
    return type(distributed.function([x], T.sum(x), shard={x: 0}).engine).__name__


@with_dask
def test_workers_start_no_workers():
    from dask.distributed import Client

    with cluster(1) as client:
        assert client.submit(engine).result() == "SerialEngine"
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        assert client.submit(engine).result() == "SerialEngine"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(engine) == "SerialEngine"


def test_where_workers_are_of_no_use(monkeypatch: pytest.MonkeyPatch, several: None):
    def has(**names: Any) -> None:
        monkeypatch.setattr(local.importlib.util, "find_spec", lambda name: names.get(name))

    monkeypatch.setattr(local, "_in_a_task", lambda: False)
    has(distributed="it")
    assert local.worthwhile()
    with monkeypatch.context() as patch:
        patch.setattr(local, "processors", lambda: 1)
        assert engine() == "SerialEngine"
    with monkeypatch.context() as patch:
        mpi = SimpleNamespace(
            COMM_WORLD=SimpleNamespace(Get_size=lambda: 2), Is_initialized=lambda: True, Is_finalized=lambda: False
        )
        patch.setitem(sys.modules, "mpi4py.MPI", mpi)
        assert engine() == "SerialEngine"
    has()
    assert engine() == "SerialEngine"
    with pytest.raises(ImportError, match=r"pip install theano-tensor\[dask\]"):
        distributed.function([T.dmatrix("x")], [], shard={}, on="dask")
