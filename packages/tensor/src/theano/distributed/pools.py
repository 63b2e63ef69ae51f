"""Where the tasks of `theano.distributed.map` run: processes of this machine, joblib's, workers of Dask's, or here.

A pool is given a packed function and the tasks as bytes, and yields their outcomes as they come, each once: the number
of the task with the pickled outcome, or with a `Lost` where the process ended that worked on it.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import secrets
import signal
import tempfile
from collections import deque
from collections.abc import Generator, Sequence
from multiprocessing import connection
from pathlib import Path
from typing import Any, Protocol

from theano.distributed.dask_engine import is_client, same
from theano.distributed.workers import Packed, perform, warm
from theano.records import NamedTuple


def processors() -> int:
    """Return how many processors this process may run on.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Lost(NamedTuple):
    """Why a task has no outcome."""

    reason: str


Outcomes = Generator[tuple[int, bytes | Lost], None, None]


class TaskPool(Protocol):
    """What runs tasks."""

    def run(self, packed: Packed, tasks: Sequence[bytes]) -> Outcomes:
        """Yield the outcome of each task."""


def pool(on: object, workers: int | None) -> TaskPool:
    """Return the pool for what a user names: None, "joblib", a ``joblib.Parallel``, or a client of Dask."""
    if workers is not None and workers < 0:
        raise ValueError(f"distributed.map: workers is a number of processes, not {workers}")
    if on is None:
        return ProcessPool(processors() if workers is None else workers) if workers != 0 else SerialPool()
    if isinstance(on, str) and on == "joblib":
        return JoblibPool(_joblib().Parallel(n_jobs=workers or processors(), return_as="generator_unordered"))
    if workers is not None:
        raise TypeError(f"distributed.map: {on!r} says itself how many workers there are: leave workers out")
    if is_client(on):
        return DaskPool(on)
    if callable(on) and hasattr(on, "n_jobs"):
        return JoblibPool(on)
    raise TypeError(f'distributed.map: on is to be None, "joblib", a joblib.Parallel or a Dask client, not {on!r}')


class SerialPool:
    """This process, one task after the other: for looking for an error with a debugger, and for the smallest tasks."""

    def run(self, packed: Packed, tasks: Sequence[bytes]) -> Outcomes:
        """Yield the outcomes in order."""
        for i, task in enumerate(tasks):
            yield i, perform(packed, task)


# -- processes of this machine ------------------------------------------------------------------------------------

#: What a worker says beside outcomes, which are pickles: that it runs, and that it has the function.
_STARTED, _READY = b"started", b"ready"


class _Worker:
    """A process, which is sent the function once and then one task at a time."""

    def __init__(self, context: Any, packed: Packed):
        self.packed, self.task, self.ready = packed, None, False
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # or the end of the process would not end the connection

    task: int | None

    def send(self, i: int, task: bytes) -> None:
        """Give it a task; if it has ended by now, that is seen when it is listened to."""
        self.task = i
        try:
            self.connection.send_bytes(task)
        except OSError:
            pass

    def receive(self) -> bytes | None:
        """Return what it says: an outcome, `_STARTED`, `_READY` for the first task; None where it has ended.

        It is called when there is something to read, or the process has ended; where both is so, what it said last is
        read first.
        """
        try:
            # What a task has started may keep the connection open, on which nothing comes any more.
            if not self.connection.poll():
                return None
            said: bytes = self.connection.recv_bytes()
            if said == _STARTED:
                self.connection.send(self.packed._replace(units=None))  # it has the same cache
        except (EOFError, OSError):
            return None
        self.ready = said != _STARTED
        return said

    def end(self) -> str:
        """Wait for a process that has ended; return how it did."""
        self.connection.close()
        self.process.join(5)
        if self.process.exitcode is None:  # only its connection had ended
            self.process.kill()
            self.process.join()
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


def serve(parent: Any) -> None:
    """Perform tasks until the connection ends: the program of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends its workers
    try:
        parent.send_bytes(_STARTED)
        packed = parent.recv()
        warm(packed)
        parent.send_bytes(_READY)
        while True:
            parent.send_bytes(perform(packed, parent.recv_bytes()))
    except (EOFError, OSError):
        return


class ProcessPool:
    """Processes that are started for one call, and replaced when they end before their time.

    They are spawned: a fork would copy locks that threads of this process hold, and the state of a device.

    Parameters
    ----------
    workers : int
    """

    #: How many workers in a row may end before they are ready, once one has been: something else ends them then.
    ATTEMPTS = 3

    def __init__(self, workers: int):
        self.count = workers

    def run(self, packed: Packed, tasks: Sequence[bytes]) -> Outcomes:
        """Yield the outcomes as they come."""
        context = multiprocessing.get_context("spawn")
        waiting = deque(range(len(tasks)))
        workers: list[_Worker] = []
        left, failures, ever_ready = len(tasks), 0, False
        try:
            for _ in range(min(self.count, len(tasks))):
                workers.append(_Worker(context, packed))
            while left:
                for worker in _with_news(workers):
                    said, i = worker.receive(), worker.task
                    if said == _STARTED:
                        continue
                    worker.task = None
                    if said is None:
                        workers.remove(worker)
                        how = worker.end()
                        failures = 0 if worker.ready else failures + 1
                        if not worker.ready and (not ever_ready or failures >= self.ATTEMPTS):
                            raise RuntimeError(_never_ready(how))
                    ever_ready = ever_ready or worker.ready
                    if i is not None:
                        left -= 1
                        yield i, Lost(f"its worker process {how}") if said is None else said
                    if waiting and said is None:
                        workers.append(_Worker(context, packed))
                    elif waiting:
                        i = waiting.popleft()
                        worker.send(i, tasks[i])
        finally:
            _stop(workers)


def _with_news(workers: Sequence[_Worker]) -> list[_Worker]:
    """Return the workers that have said something or ended, after waiting for one."""
    while True:
        ready = connection.wait([w.connection for w in workers], timeout=1)
        news = [w for w in workers if w.connection in ready or not w.process.is_alive()]
        if news:
            return news


def _stop(workers: Sequence[_Worker]) -> None:
    """End processes: at once those that work on something."""
    for worker in workers:
        worker.connection.close()
        if worker.task is not None or not worker.ready:
            worker.process.kill()
    for worker in workers:
        worker.process.join(5)
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()


def _never_ready(how: str) -> str:
    return (
        f"distributed.map: a worker process {how} before it could take a task. A script is run again by each worker, "
        'up to its functions: what it does must stand below  if __name__ == "__main__":'
    )


# -- joblib -------------------------------------------------------------------------------------------------------


def _joblib() -> Any:
    try:
        return importlib.import_module("joblib")
    except ImportError as exc:
        raise ImportError('distributed.map: on="joblib" needs joblib: pip install joblib') from exc


class JoblibPool:
    """Workers of ``joblib.Parallel`` that see the temporary files of this machine, where they find the function.

    joblib ends all its workers when one of them does, and does not say which task it had. Tasks that were begun and
    have no outcome are then repeated, each alone; one that ends its worker again is lost.

    Parameters
    ----------
    parallel : joblib.Parallel
    """

    def __init__(self, parallel: Any):
        self.parallel = parallel

    def run(self, packed: Packed, tasks: Sequence[bytes]) -> Outcomes:
        """Yield the outcomes as joblib returns them."""
        broken = importlib.import_module("joblib.externals.loky.process_executor").BrokenProcessPool
        left = dict(enumerate(tasks))
        with tempfile.TemporaryDirectory(prefix="theano-map-") as folder:
            (Path(folder) / "function").write_bytes(packed.data)
            while left:
                try:
                    for i, outcome in self._several(packed.digest, folder, left):
                        del left[i]
                        yield i, outcome
                except broken:
                    suspects = [i for i in left if (Path(folder) / f"begun-{i}").exists()]
                    if not suspects:
                        raise
                    for i in suspects:
                        task = left.pop(i)
                        try:
                            yield from self._several(packed.digest, folder, {i: task})
                        except broken:
                            yield i, Lost("its worker process ended, twice")

    def _several(self, digest: str, folder: str, tasks: dict[int, bytes]) -> Generator[tuple[int, bytes], None, None]:
        call = _joblib().delayed(_perform_from_file)
        # After a failure joblib keeps what it has not sent yet, for the next call: what is not of this attempt does
        # nothing there.
        attempt = Path(folder) / f"attempt-{secrets.token_hex(8)}"
        attempt.touch()
        try:
            # A list: joblib takes more from it when some are done, which leave the dict.
            for outcome in self.parallel([call(digest, str(attempt), i, task) for i, task in tasks.items()]):
                if outcome is not None:
                    yield outcome
        finally:
            attempt.unlink()


def _perform_from_file(digest: str, attempt: str, i: int, task: bytes) -> tuple[int, bytes] | None:
    folder = Path(attempt).parent
    if not Path(attempt).exists():
        return None
    (folder / f"begun-{i}").touch()
    return i, perform(_read(digest, folder), task)


#: The function that this process has read last.
_last_read: list[Packed] = []


def _read(digest: str, folder: Path) -> Packed:
    for packed in _last_read:
        if packed.digest == digest:
            return packed
    packed = Packed(digest, (folder / "function").read_bytes())
    _last_read[:] = [packed]
    return packed


# -- Dask ---------------------------------------------------------------------------------------------------------


class DaskPool:
    """Workers of a ``dask.distributed.Client``.

    Dask repeats the tasks of a worker that ended, and gives up on a task that was there each time. So it does on tasks
    that were there by chance: where it gave up on several, these are repeated once all others are done, each alone; one
    that Dask gives up on again is lost. How often Dask tries is its setting ``distributed.scheduler.allowed-failures``,
    3 by default; with 0 a task ends as few workers as can be. With no worker left, Dask waits for one: a
    ``LocalCluster`` starts none where no worker is 15 seconds after one has ended, be it that the next one has ended,
    too, unless ``distributed.deploy.lost-worker-timeout`` is longer.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    def __init__(self, client: Any):
        self.client = client

    def run(self, packed: Packed, tasks: Sequence[bytes]) -> Outcomes:
        """Yield the outcomes as they come."""
        lost = {}
        for i, outcome in self._several(packed, dict(enumerate(tasks))):
            if isinstance(outcome, Lost):
                lost[i] = outcome
            else:
                yield i, outcome
        if len(lost) == 1:  # the only task that was present at each loss
            yield from lost.items()
            return
        for i in lost:
            yield from self._several(packed, {i: tasks[i]})

    #: How often the function is sent to workers that end before they have it, which is the fault of no task.
    SENDINGS = 3

    def _several(self, packed: Packed, tasks: dict[int, bytes]) -> Outcomes:
        distributed = importlib.import_module("distributed")  # there is a client of it
        left = dict(tasks)
        for _ in range(self.SENDINGS):
            there = self.client.submit(same, packed, pure=False)
            number = {self.client.submit(perform, there, task, pure=False): i for i, task in left.items()}
            try:
                for future in distributed.as_completed(list(number)):
                    outcome: bytes | Lost | None
                    try:
                        outcome = future.result()
                    except distributed.KilledWorker as exc:
                        outcome = None
                        if exc.task != there.key:
                            outcome = Lost(f"its worker ended in each of {exc.allowed_failures + 1} attempts of Dask's")
                    future.release()
                    if outcome is not None:
                        del left[number[future]]
                        yield number[future], outcome
            finally:
                self.client.cancel([f for f in number if not f.done()])
            if not left:
                return
        for i in left:
            yield i, Lost(f"workers ended before they had the function, in each of {self.SENDINGS} attempts")
