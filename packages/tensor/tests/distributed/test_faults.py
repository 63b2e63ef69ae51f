"""What goes wrong on clusters, and what comes of it; ``nox -s cluster`` runs all of it.

``THEANO_TESTS_KILLS=100`` kills that many workers, which takes two minutes.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import other_python
import pytest
import sharded_training
from launcher import MPIEXEC
from local_cluster import cluster, with_dask, with_mpi

import theano
import theano.tensor as T
from theano import distributed
from theano.distributed import dask_engine, workers

KILLS = int(os.environ.get("THEANO_TESTS_KILLS", "6"))


class Slow(theano.Op):
    """Takes a while, so that a step is not over before somebody is killed in it."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        time.sleep(0.1)
        output_storage[0][0] = inputs[0]

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        return output_gradients


@with_dask
def test_workers_that_are_killed_in_mid_step() -> None:
    distributed.carries(Slow)(lambda given: given.axes[0])
    x, w = T.dmatrix("x"), theano.shared(np.ones(3), "w")
    cost = T.mean(T.tanh(T.dot(Slow()(x), w)))
    value = np.random.default_rng(0).normal(size=(60, 3))
    killed = []

    def kill(client: Any, i: int) -> None:
        """Kill a worker while it works on the step that begins now: one after the other."""
        found = list(client.run(os.getpid, on_error="ignore").values())
        pid = found[i % len(found)]
        threading.Timer(0.05, lambda: (os.kill(pid, signal.SIGKILL), killed.append(pid))).start()

    def descend(on: Any) -> list[str]:
        w.set_value(np.ones(3))
        step = distributed.function([x], cost, updates={w: w - T.grad(cost, w)}, shard={x: 0}, shards=4, on=on)
        data, found = step.scatter(value), []
        for i in range(KILLS):
            if on != "serial":
                kill(on, i)
            found.append(float(step(data)).hex())
        return found

    try:
        # A task that was with several workers when these were killed is not to blame.
        with cluster(4, failures=20, quick=True) as client:
            assert descend(client) == descend("serial") and len(set(killed)) == KILLS
            sys.stdout.write(f"{len(set(killed))} workers killed in mid-step, {KILLS} steps right\n")
    finally:
        distributed.TABLE.pop(Slow, None)


def compiled() -> tuple[int, int]:
    from theano.codegen.unit import compile_counts  # in the worker

    counts = compile_counts()
    return counts.compiled, counts.from_cache


@with_dask
def test_a_worker_without_a_compiler_and_without_our_files(tmp_path: Path) -> None:
    env = {"PATH": "/nowhere", "CC": "", "THEANO_FLAGS": f"base_compiledir={tmp_path}"}
    with cluster(1, env=env) as client:
        assert sharded_training.train(client) == sharded_training.train("serial")
        ((new, found),) = client.run(compiled).values()
        assert new == 0 and found > 0, "it takes what its client has compiled"


def fill_the_disk() -> None:
    """Let the worker find no space for anything that is compiled."""
    from theano.cache.store import Cache

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    Cache.stage = full  # type: ignore[method-assign, assignment]  # the process ends with the test


@with_dask
@pytest.mark.filterwarnings("ignore")
def test_a_worker_whose_disk_is_full(tmp_path: Path) -> None:
    with cluster(1, env={"THEANO_FLAGS": f"base_compiledir={tmp_path}"}) as client:
        client.run(fill_the_disk)
        found = [float.fromhex(c) for c in sharded_training.train(client)]
        wanted = [float.fromhex(c) for c in sharded_training.train("serial")]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)  # in Python sums are added up in another order


@with_dask
@pytest.mark.parametrize("part", ["Theano", "Python", "NumPy"])
def test_a_worker_with_other_versions(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, client_has = dask_engine.pack, re.sub(rf"{part} [\w.]+", f"{part} 0.1", workers.VERSIONS)
    monkeypatch.setattr(dask_engine, "pack", lambda stage: real(stage)._replace(versions=client_has))
    said = f"has {workers.VERSIONS}, and its client {client_has}: install the same versions"
    with cluster(1) as client, pytest.raises(RuntimeError, match=re.escape(said)):
        sharded_training.train(client)


@with_dask
def test_a_worker_of_another_python(tmp_path: Path) -> None:
    """A real one; in the test above only what the client says it has is another version."""
    others = other_python.interpreters()
    if not others:
        pytest.skip("no other Python that Theano runs on is on the path, or below pyenv's folder")
    python, env = other_python.environment(others[0], tmp_path)
    with cluster(0, quick=True) as client:
        address = client.cluster.scheduler_address
        command = [python, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        worker = subprocess.Popen(
            command, env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            client.wait_for_workers(1, timeout=120)
            said = r"has Theano \S+, Python 3\.(\d+) and NumPy 2, and its client Theano \S+, Python 3\.(\d+) and NumPy 2"
            with pytest.raises(RuntimeError, match=said) as caught:
                sharded_training.train(client)
            theirs, ours = re.search(said, str(caught.value)).groups()  # type: ignore[union-attr]
            assert int(ours) == sys.version_info[1] != int(theirs)
        finally:
            worker.kill()
            worker.wait()


@with_mpi
@pytest.mark.parametrize("kind", ["raise", "kill"])
def test_a_rank_that_fails(kind: str) -> None:
    """Its error is that of all; if it is killed, the others end."""
    command = [str(MPIEXEC), "-n", "2", sys.executable, str(Path(__file__).with_name("ranks_failing.py")), kind]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    if kind == "kill":
        assert done.returncode != 0 and "end" not in done.stdout
        return
    said = sorted(done.stdout.splitlines())
    assert done.returncode == 0 and said[:2] == ["end 17", "end 17"], done.stdout + done.stderr
    assert len(said) == 4 and all(
        line.startswith(f"rank {r} step 2 w 9: ") and "the third step of rank 1" in line
        for r, line in enumerate(said[2:])
    ), done.stdout
