"""Workers of Dask on this machine that do little beside what they are called for.

Dask's workers, their nannies and the scheduler look many times a second what each is doing, for a dashboard, and
whether it is late. On a small machine the processors that do this are those that the blocks need.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from theano.distributed.pools import processors

#: Dask's settings for these workers, their nannies and their scheduler.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "2s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "500ms",
    # With it an array of 128 kB or more goes back to the system when it is freed, and the next one comes page by page.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}
START = 60.0
"""How many seconds the processes may take to start, on a machine that has much else to do."""

_lock = threading.Lock()
_started: list[_LocalWorkers] = []


def worthwhile() -> bool:
    """Tell whether workers of this process's own would be of use.

    They need Dask, and more than one processor. A process that is itself one of several (of `multiprocessing`, a worker
    of Dask's, a rank of MPI) shares the processors with the others, and starts none.
    """
    if processors() == 1 or multiprocessing.parent_process() is not None or _ranks() > 1:
        return False
    return importlib.util.find_spec("distributed") is not None and not _in_a_task()


def _ranks() -> int:
    """Return how many ranks of MPI there are, if this process is one."""
    mpi = sys.modules.get("mpi4py.MPI")
    return int(mpi.COMM_WORLD.Get_size()) if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() else 1


def _in_a_task() -> bool:
    """Tell whether this is called by a task of Dask's, whose worker may be a thread."""
    if "distributed" not in sys.modules:
        return False
    try:
        importlib.import_module("distributed").get_worker()
    except ValueError:
        return False
    return True


def local_client() -> Any:
    """Return a client of a worker for each processor, which are started once and end with this process."""
    if importlib.util.find_spec("distributed") is None:
        raise ImportError('distributed.function: on="dask" needs Dask: pip install theano-tensor[dask]')
    with _lock:
        # A process that was forked has what its parent started, and may not use it.
        if not _started or _started[0].owner != os.getpid() or not _started[0].running:
            while _started:
                _started.pop().end()
            _started.append(_LocalWorkers(processors()))
        return _started[0].client


class _LocalWorkers:
    """A process that has a scheduler and starts workers (`cluster_process`), and a client of theirs.

    Parameters
    ----------
    count : int
        Of workers.
    """

    def __init__(self, count: int):
        self.owner = os.getpid()
        program = Path(__file__).with_name("cluster_process.py")
        # -P: what it imports is not looked for beside it.
        self._process = subprocess.Popen([sys.executable, "-P", str(program)], stdin=subprocess.PIPE)
        atexit.register(self.end)
        self.client: Any = None
        try:
            self.client = self._connected(count)
            self.client.wait_for_workers(count, timeout=START)
        except BaseException:
            self.end()
            raise
        if count == len(_processors()) > 1:
            self.client.register_worker_callbacks(bind)

    def _connected(self, count: int) -> Any:
        """Say what cluster is wanted, and return a client of its scheduler."""
        stream = self._process.stdin
        assert stream is not None
        pickle.dump(sys.path, stream)
        stream.flush()
        dask, distributed = importlib.import_module("dask"), importlib.import_module("distributed")
        security = _security(distributed)
        with tempfile.TemporaryDirectory() as folder:
            address = Path(folder) / "scheduler.json"
            cluster = {
                "n_workers": count, "threads_per_worker": 1, "security": security, "dashboard_address": None,
                "scheduler_kwargs": {"scheduler_file": str(address), "dashboard_address": ":0"},
            }  # fmt: skip
            with dask.config.set(QUIET):
                pickle.dump((dask.config.config, cluster), stream)
            stream.flush()
            end = time.monotonic() + START
            while not address.exists():
                if self._process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("distributed: Dask's scheduler did not start on this machine; see above why")
                time.sleep(0.01)
            # What a program does with Dask itself is not to go to these workers because Theano has some.
            return distributed.Client(scheduler_file=str(address), security=security, set_as_default=False)

    @property
    def running(self) -> bool:
        """Whether they can be used."""
        return self._process.poll() is None and self.client.status == "running"

    def end(self) -> None:
        """End the client and all processes."""
        atexit.unregister(self.end)
        if self.owner != os.getpid():
            return  # they are those of the process that this one was forked by
        if self.client is not None:
            self.client.close()  # first: what it has would otherwise seem to be lost with the workers
        self._process.communicate()  # it ends with its standard input


def _security(distributed: Any) -> Any:
    """Return keys that only these processes have: a client that can connect to a worker can let it run anything."""
    if importlib.util.find_spec("cryptography") is None:
        return None  # then all users of this machine can
    return distributed.Security.temporary()


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
    """Return the numbers of the processors that this process may use; none if they cannot be chosen."""
    can = hasattr(os, "sched_setaffinity") and os.path.isdir("/proc/self/task")
    return sorted(os.sched_getaffinity(0)) if can else []
