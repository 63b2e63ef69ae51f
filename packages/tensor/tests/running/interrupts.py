"""Ctrl-C at the n-th place at which Python can deliver it, counted inside one action.

Python looks for signals where a function begins and where a call of C has ended; both are events of a profiler.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import threading
import traceback
from functools import partial

PLACES = ("call", "c_return")


def interrupt():
    """Do what Python does on Ctrl-C."""
    raise KeyboardInterrupt


def run(action, at=None, happens=interrupt):
    """Run an action, and let something happen at the place ``at``; return what it returned and how many it passed."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        if event in PLACES:
            count += 1
            if count == at:
                sys.setprofile(None)
                happens()

    sys.setprofile(note)
    try:
        return action(), count
    finally:
        sys.setprofile(None)


def spread(count, samples, offset=0.5, ends=3):
    """Return numbers from 1 to ``count``: the first and the last ones, and some at equal distances between them."""
    between = [1 + int((i + offset) * count / samples) for i in range(samples)]
    return sorted({n for n in (*range(1, ends + 1), *between, *range(count - ends, count + 1)) if 1 <= n <= count})


def state():
    """Return what an action must leave behind as it was in this process."""
    # Here, for `first_time` interrupts the import itself.
    import theano
    from theano.compile import program_source
    from theano.graph.source import tracing
    from theano.rewriting.context import current

    free = []
    thread = threading.Thread(target=lambda: free.append(_take(program_source._making)))
    thread.start()
    thread.join()
    return theano.config.all_given(), gc.isenabled(), tracing.untraced, current.get(), free


def _take(lock):
    taken = lock.acquire(blocking=False)
    if taken:
        lock.release()
    return taken


def interrupted_everywhere(prepare, act, answer, samples):
    """Interrupt ``act(prepare())`` in many places, each time on something fresh; then it must do its work after all.

    Parameters
    ----------
    prepare : callable
        Makes what is acted upon.
    act : callable
        Takes it.
    answer : callable
        Takes what was prepared and what ``act`` returned; returns what must be the same each time.
    samples : int

    Returns
    -------
    tuple of (int, int)
        How many interrupts there were, and how many came out as what they are.
    """
    thing = prepare()
    act(prepare())
    result, count = run(lambda: act(thing))
    want, before = answer(thing, result), state()
    seen, sent = 0, []

    def send():
        sent.append(1)
        interrupt()

    for at in spread(count, samples):
        thing = prepare()
        try:
            run(lambda: act(thing), at, send)  # noqa: B023
        except KeyboardInterrupt:
            seen += 1
        after = state()
        assert after == before, f"place {at} of {count} left {after}"
        try:
            found = answer(thing, act(thing))
        except Exception as error:
            raise AssertionError(f"after an interrupt at place {at} of {count}: {error!r}") from error
        assert found == want, f"after an interrupt at place {at} of {count}: {found} instead of {want}"
    return len(sent), seen


# -- what a process does once ------------------------------------------------------------------------------------


def first_time(prepare, act, samples, offset=0.5):
    """Interrupt what a process does once in many places, each time in a process of its own; then it must be done.

    Parameters
    ----------
    prepare, act : callable
        What comes before, and what is interrupted; it returns what can be compared as text.
    samples : int
    offset : float
        Which of equal parts of the way.

    Returns
    -------
    list of str
        What went wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        os.environ["THEANO_FLAGS"] = f"base_compiledir={folder}/cache"
        prepare()
        in_child = partial(_in_child, folder)
        count = int(in_child(lambda: run(act)[1]))
        want = in_child(act)
        wrong = [want] if "Traceback" in want else []
        for at in spread(count, samples, offset, ends=min(samples // 4, 3)):

            def both(at=at):
                try:
                    run(act, at)
                except KeyboardInterrupt:
                    pass
                return act()

            found = in_child(both)
            if found != want:
                wrong.append(f"place {at} of {count}: {found} instead of {want}")
    return wrong


def _in_child(folder, act):
    """Return the text of what ``act`` returns in a forked process, or of its error; the cache stays as it was."""
    kept, cache = f"{folder}/kept", f"{folder}/cache"
    if os.path.exists(cache):
        shutil.copytree(cache, kept, symlinks=True)
    child = os.fork()
    if child == 0:
        try:
            text = str(act())
        except BaseException:
            text = traceback.format_exc()
        with open(f"{folder}/answer", "w") as file:
            file.write(text)
        os._exit(0)
    os.waitpid(child, 0)
    shutil.rmtree(cache, ignore_errors=True)
    if os.path.exists(kept):
        os.rename(kept, cache)
    with open(f"{folder}/answer") as file:
        return file.read()
