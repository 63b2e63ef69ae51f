"""Workers of Dask on this machine that do little beside what they are called for.

Dask's workers, their nannies and the scheduler look many times a second what each is doing, for a dashboard, and
whether it is late. On a small machine the processors that do this are those that the blocks need.
"""

from __future__ import annotations

import atexit
import importlib
import os
import threading
from typing import Any

from theano.misc.cpucount import cpuCount

#: Dask's settings for these workers, their nannies and their scheduler.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "2s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "500ms",
    # With it an array of 128 kB or more goes back to the system when it is freed, and the next one comes page by page.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}

_lock = threading.Lock()
_started: list[Any] = []


def local_client() -> Any:
    """Return a client of a worker for each processor, which are started once and end with this process."""
    with _lock:
        if not _started or _started[0].status != "running":
            _started[:] = [_start(cpuCount())]
        return _started[0]


def _start(workers: int) -> Any:
    try:
        distributed, dask = importlib.import_module("distributed"), importlib.import_module("dask")
    except ImportError as exc:
        raise ImportError('distributed.function: on="dask" needs Dask: pip install theano-tensor[dask]') from exc
    with dask.config.set(QUIET):
        cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        client = distributed.Client(cluster)
    atexit.register(_end, client, cluster)
    if workers == len(_processors()) > 1:
        client.register_worker_callbacks(bind)
    return client


def _end(client: Any, cluster: Any) -> None:
    client.close()  # first: what it has would otherwise seem to be lost with the workers
    cluster.close()


def bind(dask_worker: Any) -> None:
    """Bind a worker to a processor of its own, as programs of MPI are; Dask calls this in each worker.

    Otherwise a block that begins while the client still writes to other workers is often put where another block runs,
    and stays there for milliseconds while the client's processor has nothing to do.
    """
    processors = _processors()
    processor = processors[int(dask_worker.name) % len(processors)]
    for task in os.listdir("/proc/self/task"):  # its threads, and those that they will start
        os.sched_setaffinity(int(task), {processor})


def _processors() -> list[int]:
    """Return the numbers of the processors that this process may use; none where there is no way to choose."""
    can = hasattr(os, "sched_setaffinity") and os.path.isdir("/proc/self/task")
    return sorted(os.sched_getaffinity(0)) if can else []
