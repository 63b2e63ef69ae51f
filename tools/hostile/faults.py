"""Faults to plant, each of which attacks must find: a harness that finds nothing must not be one that cannot."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import theano

_function = theano.function


class Faulty:
    """A function of Theano with something wrong in its call."""

    def __init__(self, f: Any, updates: Any, call: Callable[..., Any]) -> None:
        self.f, self.call = f, call
        self.shared = [pair[0] for pair in (updates.items() if isinstance(updates, dict) else updates or ())]
        self.count = 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call, and do what is wrong."""
        self.count += 1
        return self.call(self, arguments, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.f, name)

    def __reduce__(self) -> Any:
        """Pickle as what is right of it."""
        return pickle.loads, (pickle.dumps(self.f),)


def _in_calls(call: Callable[..., Any]) -> Callable[[], None]:
    """Return a fault that is in the calls of all functions."""

    def function(*arguments: Any, **options: Any) -> Any:
        return Faulty(_function(*arguments, **options), options.get("updates"), call)

    def plant() -> None:
        theano.function = function  # type: ignore[attr-defined]

    return plant


def _off_by_one(faulty: Faulty, arguments: Any, named: Any) -> Any:
    found = faulty.f(*arguments, **named)
    first = found[0] if isinstance(found, list) and found else found
    if isinstance(first, np.ndarray) and first.size and first.dtype.kind != "b":
        first += 1
    return found


def _lose_update(faulty: Faulty, arguments: Any, named: Any) -> Any:
    before = [s.get_value() for s in faulty.shared]
    found = faulty.f(*arguments, **named)
    if faulty.count % 3 == 0:
        for shared, value in zip(faulty.shared, before, strict=True):
            shared.set_value(value)
    return found


def _change_at_failure(faulty: Faulty, arguments: Any, named: Any) -> Any:
    try:
        return faulty.f(*arguments, **named)
    except Exception:
        for shared in faulty.shared:
            shared.set_value(shared.get_value() + 1)
        raise


def _overwrite_input(faulty: Faulty, arguments: Any, named: Any) -> Any:
    found = faulty.f(*arguments, **named)
    for value in arguments:
        if isinstance(value, np.ndarray) and value.size and value.flags.writeable:
            value[...] = 0
    return found


def _crash(faulty: Faulty, arguments: Any, named: Any) -> Any:
    os.abort()


def _hang(faulty: Faulty, arguments: Any, named: Any) -> Any:
    time.sleep(10_000)


def _wrong_rule() -> None:
    import theano.tensor as T  # these three only where this is planted
    from theano.rewriting.declare import local_rule
    from theano.tensor.elemwise import functions as F

    @local_rule([F.maximum], phases=("canonicalize",))
    def local_maximum_is_sum(node: Any) -> Any:
        return [T.cast(node.inputs[0] + node.inputs[1], node.outputs[0].type.dtype)]


def _purge_all() -> None:
    from theano.cache import command  # only where this is planted

    def main(arguments: list[str]) -> int:
        shutil.rmtree(command.configured_settings().directory(), ignore_errors=True)
        return 0

    command.main = main  # type: ignore[assignment]


def _leave_running() -> None:
    subprocess.Popen(["sleep", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _other_pickle() -> None:
    x = theano.tensor.dvector("x")
    other = pickle.dumps(_function([x], x * 3 + 0.25))
    theano.compile.executable.Function.__reduce__ = lambda self: (pickle.loads, (other,))  # type: ignore[method-assign]


def _plain_markup() -> None:
    from theano.printing import drawing  # only where this is planted

    drawing.escape = lambda text, quote=True: text  # type: ignore[attr-defined]


#: Each fault with what plants it in a process of attacks or in a victim.
FAULTS: dict[str, Callable[[], None]] = {
    "off_by_one": _in_calls(_off_by_one),
    "lose_update": _in_calls(_lose_update),
    "change_at_failure": _in_calls(_change_at_failure),
    "overwrite_input": _in_calls(_overwrite_input),
    "crash": _in_calls(_crash),
    "hang": _in_calls(_hang),
    "wrong_rule": _wrong_rule,
    "purge_all": _purge_all,
    "leave_running": _leave_running,
    "other_pickle": _other_pickle,
    "plain_markup": _plain_markup,
}


def plant(name: str) -> None:
    """Make a process faulty."""
    FAULTS[name]()
