"""``theano.distributed.map``: one function for many sets of parameters, each a task of its own."""

from __future__ import annotations

import importlib
import pickle
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from theano.distributed.pools import Lost, pool
from theano.distributed.workers import Outcome, dumps, pack


@dataclass(frozen=True)
class Failure:
    """A task that has no result.

    Attributes
    ----------
    index : int
        Its place among the parameters.
    parameters : object
        What it was to be called with.
    error : Exception
        What it raised; a `LostTaskError` if its process ended.
    traceback : str
        Where it was raised, in the worker.
    """

    index: int
    parameters: Any
    error: Exception
    traceback: str = ""

    def __str__(self) -> str:
        """Return the failure in one line."""
        text = str(self.error).partition("\n")[0]
        return f"task {self.index}, {described(self.parameters)}: {type(self.error).__name__}: {text}"


class LostTaskError(RuntimeError):
    """The process ended in which a task ran: it was killed, or crashed."""


class FailedTasksError(ExceptionGroup):
    """Some tasks of `map` failed; the others were done.

    Attributes
    ----------
    results : list
        The results in order, with a `Failure` for each task that has none.
    failures : list of Failure
    exceptions : tuple of Exception
        Their errors, for ``except*``.

    Examples
    --------
    >>> import theano.distributed
    >>> try:
    ...     theano.distributed.map(divmod, [(7, 2), (1, 0)], workers=0)
    ... except theano.distributed.FailedTasksError as error:
    ...     error.results[0], str(error.failures[0])
    ((3, 1), 'task 1, (1, 0): ZeroDivisionError: ...')
    """

    results: list[Failure | tuple[int, ...]]
    failures: list[Failure]

    def __new__(cls, results: Sequence[Failure | tuple[int, ...]]) -> FailedTasksError:
        """Return the error for results among which are failures."""
        failures = [r for r in results if isinstance(r, Failure)]
        lines = [f"{len(failures)} of {len(results)} tasks failed", *(str(f) for f in failures[:8])]
        if len(failures) > 8:
            lines.append("... and more: the attribute failures has all, results has what the others returned")
        made = super().__new__(cls, "\n  ".join(lines), [f.error for f in failures])
        made.results, made.failures = list(results), failures
        return made

    def __init__(self, results: Sequence[object]):
        super().__init__(self.message, self.exceptions)

    def derive(self, excs: Sequence[Exception]) -> ExceptionGroup:  # type: ignore[override]  # as Python's own
        """Return a plain group, for ``except*``, which takes some of the errors."""
        return ExceptionGroup(self.message, excs)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.results,)


_short = reprlib.Repr()
_short.maxother = _short.maxstring = 60


def described(parameters: Sequence[int] | Mapping[str, float | list[int]]) -> str:
    """Return parameters in one short line.

    Examples
    --------
    >>> described({"rate": 0.1, "layers": [3, 4]})
    "{'layers': [3, 4], 'rate': 0.1}"
    """
    return " ".join(_short.repr(parameters).split())


def map(
    function: Callable[..., Any], parameters: Iterable[Any], on: object = None, *, workers: int | None = None,
    on_error: Literal["raise", "return"] = "raise", progress: bool | None = None,
) -> list[Any]:  # fmt: skip
    """Call a function for many sets of parameters, in several processes; return the results in order.

    The function is pickled once, with the values that its shared variables have at the time of this call, and sent once
    to each worker. **The state of shared variables, those of random streams among them, is per task**: each task starts
    from the values at the time of the call, whatever another task did before it in the same worker, and what a task
    changes is invisible to the others, here too. Tasks that are to draw different numbers are therefore given a seed
    each. This holds for all shared variables that are pickled with the function: of a compiled function, of the
    attributes of an object, of what a function of the main program names (where cloudpickle is installed). Those that
    an imported module keeps, and other objects that a function changes, stay with the worker.

    Parameters
    ----------
    function : callable
        A function of `theano.function`, or any that can be pickled: one of a module, an object with ``__call__``.
        Where cloudpickle is installed (Dask brings it), also a lambda or a function of a notebook.
    parameters : iterable
        For each task a tuple of arguments, a dict of arguments with names, or anything else for the only argument.
    on : None, "joblib", joblib.Parallel or dask.distributed.Client
        Who computes: None is processes of this machine, which end with the call.
    workers : int, optional
        How many processes, where ``on`` is None or "joblib"; as many as there are processors if it is not given.
        0 is this process, one task after the other, for a debugger; shared variables are copies there, too.
    on_error : {"raise", "return"}
        What is done at the end where tasks failed: raise a `FailedTasksError`, or return a `Failure` in the place of
        each result that is missing. In both cases the other tasks are done.
    progress : bool, optional
        Whether to show a progress bar, which needs tqdm. If it is not given, there is one on a terminal where tqdm is
        installed.

    Returns
    -------
    list
        What the function returned for each set of parameters.

    Raises
    ------
    FailedTasksError
        Some tasks failed; it has their parameters, and the results of the others. A worker that is killed is the
        failure of the task that it had, a `LostTaskError`. With joblib and Dask this is known only after tasks were
        repeated that ran at that time: they should do no harm when they run twice.
    TypeError
        The function cannot be pickled, or ``on`` is something else.
    RuntimeError
        Workers cannot start, or cannot make the function from its bytes.

    Examples
    --------
    These are of functions that are quick, and run in this process; without ``workers=0`` they run in others.

    >>> import theano, theano.distributed, theano.tensor as T
    >>> rate, w = T.dscalar("rate"), theano.shared(8.0, "w")
    >>> step = theano.function([rate], w, updates={w: w * (1 - rate)})
    >>> theano.distributed.map(step, [0.5, 0.25], workers=0)
    [array(8.), array(8.)]

    A fit is several calls. As an object it has what it needs, and starts from the same values in each task:

    >>> class Fit:
    ...     def __init__(self, step):
    ...         self.step = step
    ...     def __call__(self, rate, steps):
    ...         return [float(self.step(rate)) for _ in range(steps)]
    >>> theano.distributed.map(Fit(step), [(0.5, 3), {"rate": 0.25, "steps": 2}], workers=0)
    [[8.0, 4.0, 2.0], [8.0, 6.0]]
    """
    if on_error not in ("raise", "return"):
        raise ValueError(f'distributed.map: on_error is "raise" or "return", not {on_error!r}')
    given = list(parameters)
    runner, packed = pool(on, workers), pack(function)
    results: list[Any] = [None] * len(given)
    tasks, numbers = [], []
    for i, each in enumerate(given):
        try:
            tasks.append(dumps(each))
            numbers.append(i)
        except Exception as exc:  # noqa: BLE001  (whatever pickling raises is the failure of this task)
            results[i] = Failure(i, each, exc)
    bar = _bar(len(given), progress)
    with closing(bar), closing(runner.run(packed, tasks)) as outcomes:
        bar.update(len(given) - len(tasks))
        for number, outcome in outcomes:
            i = numbers[number]
            results[i] = _result(i, given[i], outcome)
            bar.update(1)
    if on_error == "raise" and any(isinstance(r, Failure) for r in results):
        raise FailedTasksError(results)
    return results


def _result(i: int, parameters: object, data: bytes | Lost) -> Any:
    if isinstance(data, Lost):
        return Failure(i, parameters, LostTaskError(data.reason))
    try:
        outcome: Outcome = pickle.loads(data)
    except Exception as exc:  # noqa: BLE001  (a result that only the worker could make sense of)
        return Failure(i, parameters, exc)
    if outcome.kind == "unloadable":
        raise RuntimeError(
            f"distributed.map: a worker cannot make the function from its bytes: {outcome.value}"
        ) from outcome.value
    if outcome.kind == "error":
        return Failure(i, parameters, outcome.value, outcome.traceback)
    return outcome.value


class _NoBar:
    def update(self, n: int) -> None:
        pass

    def close(self) -> None:
        pass


def _bar(total: int, progress: bool | None) -> Any:
    """Return a progress bar: on a terminal where tqdm is installed, or where one is asked for."""
    if progress is False:
        return _NoBar()
    try:
        module = importlib.import_module("tqdm.auto")
    except ImportError as exc:
        if progress:
            raise ImportError("distributed.map: a progress bar needs tqdm: pip install tqdm") from exc
        return _NoBar()
    # None: not where the output goes into a file.
    return module.tqdm(total=total, disable=None if progress is None else False)
