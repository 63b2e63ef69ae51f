"""Workers of Dask on this machine, for tests that kill some of them, and which tests have workers and ranks."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from launcher import MPIEXEC

ALL = os.environ.get("THEANO_TESTS_CLUSTER") == "1"
with_dask = pytest.mark.skipif(
    not ALL or importlib.util.find_spec("distributed") is None, reason="nox -s cluster has workers of Dask"
)
with_mpi = pytest.mark.skipif(
    not ALL or MPIEXEC is None or importlib.util.find_spec("mpi4py") is None, reason="nox -s cluster has ranks of MPI"
)


@contextmanager
def cluster(workers: int, *, threads: int = 1, failures: int | None = None, quick: bool = False, **options: Any) -> Iterator[Any]:
    """Give a client.

    Parameters
    ----------
    workers : int
        Processes.
    threads : int
        Of each.
    failures : int, optional
        With how many workers that ended a task may have been; Dask's default if it is not given.
    quick : bool
        Whether workers are forked by a process that has loaded Theano, and start in a tenth of a second. They have its
        environment.
    **options
        For each worker.
    """
    import dask
    from dask.distributed import Client, LocalCluster
    from distributed.utils import get_mp_context

    settings: dict[str, Any] = {
        # Dask gives a place up where no worker is so long after one was lost there, be it that the next one but one is
        # just starting: by default 15 seconds.
        "distributed.deploy.lost-worker-timeout": "1h",
        "distributed.worker.multiprocessing-method": "forkserver" if quick else "spawn",
    }
    if failures is not None:
        settings["distributed.scheduler.allowed-failures"] = failures
    with dask.config.set(settings):
        if quick:
            get_mp_context().set_forkserver_preload(["distributed", "theano.distributed.function"])
        with (
            LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=None, **options) as started,
            Client(started) as client,
        ):
            yield client
