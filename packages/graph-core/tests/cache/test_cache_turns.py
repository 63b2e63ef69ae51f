"""Processes that need the same at the same time: one compiles, and nobody waits for ever."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from theano.cache import turns
from theano.cache.turns import turn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere everybody compiles")

HOLD = """
import sys, time
from theano.cache.turns import turn
with turn(sys.argv[1], ["key"], lambda: False):
    print("begun", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process whose turn it is."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    yield process
    process.kill()
    process.communicate()


def in_thread(root: Path, done: list[bool], found: list[bool]) -> threading.Thread:
    """Note whether it was this process's turn to compile something."""

    def wait() -> None:
        with turn(str(root), ["key"], lambda: done[0]) as needed:
            found.append(needed and bool(turns._held))

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize("done", [True, False])
def test_who_waits_goes_on_when_the_other_is_killed(
    done: bool, other: subprocess.Popen[str], tmp_path: Path
) -> None:
    found: list[bool] = []
    now = [False]
    thread = in_thread(tmp_path, now, found)
    time.sleep(0.2)
    assert found == []
    now[0] = done
    other.send_signal(signal.SIGKILL)
    thread.join(20)
    assert found == [not done], "it compiles what the other has not"


def test_other_keys_and_other_caches_are_not_waited_for(other: subprocess.Popen[str], tmp_path: Path) -> None:
    for root, key in ((str(tmp_path), "another"), (str(tmp_path / "other"), "key"), ("", "key")):
        with turn(root, [key], lambda: False) as needed:
            assert needed


def test_patience_ends(other: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 0.2)
    with turn(str(tmp_path), ["key"], lambda: False) as needed:
        assert needed


def test_another_users_process_is_not_waited_for(
    other: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = turns._name(str(tmp_path), ["key"])
    monkeypatch.setattr(turns, "_name", lambda root, keys: name)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with turn(str(tmp_path), ["key"], lambda: False) as needed:
        assert needed


def test_a_forked_child_does_not_hold_its_parents_turn(tmp_path: Path) -> None:
    with turn(str(tmp_path), ["key"], lambda: False):
        child = os.fork()
        if child == 0:
            time.sleep(20)
            os._exit(0)
    try:
        found: list[bool] = []
        thread = in_thread(tmp_path, [False], found)
        thread.join(10)
        assert found == [True] and os.waitpid(child, os.WNOHANG) == (0, 0)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_where_sockets_are_forbidden_everybody_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "socket", forbidden)
    with turn(str(tmp_path), ["key"], lambda: False) as needed:
        assert needed


def test_an_error_ends_the_turn(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ValueError), turn(str(tmp_path), ["key"], lambda: False) as needed:
            raise ValueError(needed)
    assert not turns._held
