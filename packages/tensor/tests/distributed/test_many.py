"""`theano.distributed.map`: results, failures, and the state of shared variables; on all engines in ``nox -s cluster``."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import many_tasks
import numpy as np
import pytest
from local_cluster import ALL, cluster, with_dask
from many_tasks import Chain, Fit, expected

import theano
import theano.tensor as T
from theano import distributed
from theano.distributed.dask_engine import same
from theano.tensor.random.mrg import MRG_RandomStreams

RATES = [0.01, 0.02, 0.005, 0.03]
BAD = {1: "raise", 3: "kill", 5: "lambda", 6: "odd", 7: "exit"}
KINDS = {
    "raise": (ValueError, "rate 0.25 is not good"), "kill": (distributed.LostTaskError, "worker"),
    "lambda": (TypeError, "pickle"), "odd": (RuntimeError, "Odd: 1 and 2"), "exit": (RuntimeError, "SystemExit: 3"),
}  # fmt: skip


def _compare(found: Any, rate: float, steps: int) -> None:
    costs, w = expected(rate, steps)
    np.testing.assert_allclose(found[0], costs, rtol=1e-12)
    np.testing.assert_allclose(found[1], w, rtol=1e-12)


def _check_all(on: Any, folder: Any, workers: int | None) -> None:
    """Run tasks that do well beside some that fail in each way."""
    given = [(BAD.get(i, "fit"), 0.25 if i in BAD else RATES[i % 4], 3) for i in range(10)]
    fit = Fit(str(folder))
    fit.w.set_value([1.0, 2.0])
    with pytest.raises(distributed.FailedTasksError, match=r"5 of 10 tasks failed") as caught:
        distributed.map(fit, given, on, workers=workers)
    error = caught.value
    assert [f.index for f in error.failures] == list(BAD)
    assert f"task 1, {given[1]!r}: ValueError: rate 0.25 is not good" in str(error)
    for i, result in enumerate(error.results):
        if i in BAD:
            kind, text = KINDS[BAD[i]]
            assert type(result.error) is kind and text in str(result.error) and result.parameters == given[i]
        else:
            _compare(result, RATES[i % 4], 3)
    assert "__call__" in error.failures[0].traceback
    np.testing.assert_array_equal(fit.w.get_value(), [1.0, 2.0])


def test_processes(tmp_path):
    _check_all(None, tmp_path, 2)
    # It was loaded once in each worker: the two of the start, and the one in the place of that which was killed.
    loaded = [p.name.partition("-")[0] for p in tmp_path.iterdir()]
    assert len(loaded) == len(set(loaded)) and 2 <= len(loaded) <= 3


@pytest.mark.parametrize("streams", [T.shared_randomstreams.RandomStreams, MRG_RandomStreams])
def test_state_is_per_task(streams):
    chain = Chain(streams(5))
    here = [chain.draw() for _ in range(4)]
    chain.streams.seed(5)
    chain.draw()
    chain.draw()
    found = distributed.map(chain, [None, None, 8, None, 8, 9], workers=0)
    for i in (0, 1, 3):  # from the values at the time of the call, whatever was drawn in between
        np.testing.assert_array_equal(found[i], here[2:])
    np.testing.assert_array_equal(found[2], found[4])
    assert not np.array_equal(found[2], found[5]) and not np.array_equal(found[2], found[0])
    np.testing.assert_array_equal([chain.draw(), chain.draw()], here[2:])
    chain.streams.seed(8)
    np.testing.assert_array_equal(found[2], [chain.draw(), chain.draw()])


def test_parameters():
    x, y = T.dscalar("x"), T.dscalar("y")
    f = theano.function([x, theano.In(y, value=10.0)], x - y)
    assert distributed.map(f, iter([(5, 3), {"x": 5, "y": 1}, {"x": 1}, 20]), workers=0) == [2, 4, -9, 10]
    assert distributed.map(f, [], workers=0) == [] == distributed.map(f, [])
    v = T.dvector("v")
    assert distributed.map(theano.function([v], T.sum(v)), [[1, 2]], workers=0) == [3]


def test_failures_are_returned_where_that_is_asked_for():
    found = distributed.map(Fit(), [("raise", 0.25), ("fit", 0.01, 2), (threading.Lock(),)], workers=0, on_error="return")
    assert isinstance(found[0], distributed.Failure) and "rate 0.25" in str(found[0].error)
    assert isinstance(found[2], distributed.Failure) and found[2].index == 2
    _compare(found[1], 0.01, 2)


def test_error_can_be_split_and_pickled():
    with pytest.raises(distributed.FailedTasksError) as caught:
        distributed.map(Fit(), [("raise", 0.25), ("fit",), ("odd",)], workers=0)
    error = caught.value
    values, rest = error.split(ValueError)
    assert [type(e) for e in values.exceptions] == [ValueError] and [type(e) for e in rest.exceptions] == [RuntimeError]
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and [f.index for f in again.failures] == [0, 2]
    many = distributed.FailedTasksError([error.failures[0]] * 20)
    assert "20 of 20" in str(many) and len(str(many).splitlines()) <= 10


def test_what_is_wrong_is_said():
    with pytest.raises(TypeError, match="on is to be None"):
        distributed.map(abs, [1], on=3)
    with pytest.raises(ValueError, match='"raise" or "return"'):
        distributed.map(abs, [1], on_error="ignore", workers=0)
    with pytest.raises(ValueError, match="number of processes"):
        distributed.map(abs, [1], workers=-1)
    with pytest.raises(TypeError, match="leave workers out"):
        distributed.map(abs, [1], on=types.SimpleNamespace(submit=1, gather=2), workers=2)
    with pytest.raises(TypeError, match="cannot be pickled"):
        distributed.map(threading.Lock().acquire, [1], workers=0)
    with pytest.raises(RuntimeError, match="make the function from its bytes: no such device"):
        distributed.map(many_tasks.CannotBeLoaded(), [1], workers=0)


def test_joblib_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ImportError, match="pip install joblib"):
        distributed.map(abs, [1], on="joblib")


def test_progress(monkeypatch, capfd):
    seen: list[Any] = []

    class Bar:
        def __init__(self, total: int, disable: bool | None):
            seen.append((total, disable))

        def update(self, n: int) -> None:
            seen.append(n)

        def close(self) -> None:
            seen.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    given = [-1, threading.Lock(), 3]
    for progress in (True, None, False):
        distributed.map(abs, given, workers=0, progress=progress, on_error="return")
    one = [1, 1, 1, "closed"]
    assert seen == [(3, False), *one, (3, None), *one]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert distributed.map(abs, [-1], workers=0) == [1]
    with pytest.raises(ImportError, match="pip install tqdm"):
        distributed.map(abs, [-1], workers=0, progress=True)
    assert capfd.readouterr() == ("", "")


SCRIPT = """
import theano, theano.distributed, theano.tensor as T
x = T.dscalar("x")
f = theano.function([x], x + 1)
print(theano.distributed.map(f, [1, 2], workers=1))
"""


@pytest.mark.skipif(not ALL, reason="starts processes: nox -s cluster")
def test_a_script_without_a_guard_is_told_so(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and 'if __name__ == "__main__":' in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.skipif(not ALL, reason="starts processes: nox -s cluster")
def test_many_killed_workers():
    given = [("kill" if i % 3 == 0 else "fit", RATES[i % 4], 2) for i in range(12)]
    found = distributed.map(Fit(), given, workers=2, on_error="return")
    for (what, rate, steps), result in zip(given, found, strict=True):
        if what == "kill":
            assert isinstance(result.error, distributed.LostTaskError) and "SIGKILL" in str(result.error)
        else:
            _compare(result, rate, steps)


def _dask() -> Any:
    # A task is given up when one worker has ended with it: also tasks that were there by chance, which are repeated.
    return cluster(2, threads=2, failures=0)


@contextmanager
def _joblib() -> Iterator[Any]:
    import joblib

    yield joblib.Parallel(n_jobs=2)


ENGINES = [
    pytest.param(engine, marks=pytest.mark.skipif(importlib.util.find_spec(name) is None or not ALL, reason=f"nox -s cluster installs {name}"))
    for name, engine in (("dask", _dask), ("joblib", _joblib))
]


@with_dask
@pytest.mark.parametrize("failures", [0, None], ids=["given up at once", "Dask's default"])
def test_several_tasks_that_kill_workers_of_dask(failures):
    given = [("kill" if i in (3, 8) else "fit", RATES[i % 4], 2) for i in range(12)]
    with cluster(2, threads=2, failures=failures, quick=True) as on:
        found = distributed.map(Fit(), given, on, on_error="return")
    for (what, rate, steps), result in zip(given, found, strict=True):
        if what == "kill":
            assert isinstance(result.error, distributed.LostTaskError)
            assert f"in each of {1 if failures == 0 else 4} attempts" in str(result)
            assert "('kill', 0." in str(result)
        else:
            _compare(result, rate, steps)


class KilledWorker(Exception):
    allowed_failures = 0

    def __init__(self, task: Any):
        self.task = task


class Ends:
    """A client whose workers end before they have the function, for some time."""

    def __init__(self, times: int):
        self.left = times

    def submit(self, function: Any, *args: Any, pure: bool) -> Any:
        if function is same:
            self.left -= 1
            broken = self.left >= 0
            return types.SimpleNamespace(key="function", broken=broken, result=lambda: args[0])
        there, task = args
        return Ended(there, task, function)

    def gather(self, futures: Any) -> Any:
        return [f.result() for f in futures]

    def cancel(self, futures: Any) -> None:
        assert not futures


class Ended:
    def __init__(self, there: Any, task: Any, function: Any):
        self.there, self.task, self.function = there, task, function

    def result(self) -> Any:
        if self.there.broken:
            raise KilledWorker("function")
        return self.function(self.there.result(), self.task)

    def release(self) -> None:
        pass

    def done(self) -> bool:
        return True


@pytest.mark.parametrize("times", [1, 2, 5, 9])
def test_workers_of_dask_that_end_before_they_have_the_function(times, monkeypatch):
    module = types.SimpleNamespace(KilledWorker=KilledWorker, as_completed=lambda futures: futures)
    monkeypatch.setitem(sys.modules, "distributed", module)
    found = distributed.map(abs, [-1, 2], Ends(times), on_error="return")
    if times < 9:
        assert found == [1, 2]
    else:
        assert [str(f.error) for f in found] == ["workers ended before they had the function, in each of 3 attempts"] * 2


@pytest.mark.parametrize("engine", ENGINES)
def test_engines(engine, tmp_path):
    with engine() as on:
        _check_all(on, tmp_path, None)
        loaded = [p.name.partition("-")[0] for p in tmp_path.iterdir()]
        assert len(loaded) <= 2 * len(set(loaded))  # once for each thread of a worker
        found = distributed.map(Fit(), [("fit", rate, 5) for rate in RATES * 6], on)
        for rate, result in zip(RATES * 6, found, strict=True):
            _compare(result, rate, 5)
        chain = Chain(T.shared_randomstreams.RandomStreams(5))
        wanted = distributed.map(chain, [1, 2, None, 3], workers=0)
        np.testing.assert_array_equal(distributed.map(chain, [1, 2, None, 3], on), wanted)


@pytest.mark.skipif(importlib.util.find_spec("joblib") is None or not ALL, reason="nox -s cluster installs joblib")
def test_joblib_by_name_and_by_threads(tmp_path):
    import joblib

    _check_all("joblib", tmp_path, 2)
    found = distributed.map(Fit(), [("fit", rate, 5) for rate in RATES * 6], joblib.Parallel(n_jobs=4, backend="threading"))
    for rate, result in zip(RATES * 6, found, strict=True):
        _compare(result, rate, 5)


@pytest.mark.skipif(importlib.util.find_spec("cloudpickle") is None or not ALL, reason="nox -s cluster installs cloudpickle")
def test_a_lambda():
    w = theano.shared(3.0, "w")
    f = theano.function([], w, updates={w: w + 1})
    assert distributed.map(lambda n: [float(f()) for _ in range(n)][-1], [1, 2, 1], workers=1) == [3, 4, 3]
