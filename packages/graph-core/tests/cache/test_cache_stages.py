"""What killed processes leave is removed by the next one that compiles; what a living one works in never is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from theano.cache import staging
from theano.cache.command import main
from theano.cache.names import StageName
from theano.cache.staging import LOCK, StagingFolder, machine_tag, reclaim_stage
from theano.cache.store import Cache, CacheSettings

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="start times come from /proc")

WORKER = """
import os, sys, time
from theano.cache.staging import hold, stage_path
from theano.cache.store import Cache, CacheSettings
cache = Cache(CacheSettings(root=sys.argv[1]))
if sys.argv[2] == "directory":
    work = cache.stage()
    path = work.__enter__()
    open(os.path.join(path, "half.so"), "w").close()
    os.mkdir(os.path.join(path, "inner"))
else:
    path = stage_path(cache.root)
    file = open(path, "w")
    hold(file.fileno())
print(path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def root(tmp_path: Path) -> str:
    return Cache(CacheSettings(root=str(tmp_path / "cache"))).root


@contextmanager
def worker(root: str, kind: str = "directory", before: tuple[str, ...] = ()) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a process that works in a stage until it is killed."""
    command = [*before, sys.executable, "-c", WORKER, root, kind]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout is not None
        path = process.stdout.readline().strip()
        assert os.path.lexists(path)
        yield path, process
    finally:
        kill(process)
        if process.stdout is not None:
            process.stdout.close()


def kill(process: subprocess.Popen[str]) -> None:
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)


def compile_something(root: str) -> None:
    """Be the next process that compiles."""
    with Cache(CacheSettings(root=root)).stage() as path:
        assert os.path.isdir(path)


def move_to_another_container(monkeypatch: pytest.MonkeyPatch) -> None:
    """See other processes from now on, on the same kernel."""
    here = machine_tag()
    monkeypatch.setattr(staging, "machine_tag", lambda: here[:8] + "f" * 8)


@pytest.mark.parametrize("kind", ["directory", "file"])
@pytest.mark.parametrize("container", [False, True], ids=["here", "container"])
def test_of_the_killed_goes_at_once_of_the_living_never(
    root: str, kind: str, container: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with worker(root, kind) as (living, _), worker(root, kind) as (dead, process):
        if container:
            move_to_another_container(monkeypatch)
        compile_something(root)
        assert os.path.lexists(living) and os.path.lexists(dead)
        kill(process)
        compile_something(root)
        assert os.path.lexists(living) and not os.path.lexists(dead)
        if kind == "directory":
            assert sorted(os.listdir(living)) == [LOCK, "half.so", "inner"]


def test_in_another_container_really(root: str) -> None:
    """The worker has process ids of its own, as in a container; its death shows by the lock alone."""
    before = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    try:
        subprocess.run([*before, "true"], check=True, timeout=60, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("no namespaces here")
    with worker(root, before=before) as (path, process):
        name = StageName.parse(os.path.basename(path))
        assert name is not None and name.machine[:8] == machine_tag()[:8] and name.machine != machine_tag()
        compile_something(root)
        assert os.path.isdir(path)
        kill(process)
        deadline = time.monotonic() + 60  # its child is killed a moment later than `unshare`
        while os.path.isdir(path) and time.monotonic() < deadline:
            compile_something(root)
        assert not os.path.exists(path)


def test_a_process_looks_again(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that lives long does so after a while."""
    cache = Cache(CacheSettings(root=root))
    with worker(root) as (path, process):
        with cache.stage():
            pass
        kill(process)
        with cache.stage():
            assert os.path.isdir(path)
        monkeypatch.setattr("theano.cache.store.RECLAIM_AFTER", 0.0)
        with cache.stage():
            assert not os.path.exists(path)


def stage_of(machine: str) -> StageName:
    return StageName(os.getpid(), staging.start_time(os.getpid()) or 0, machine, "abc")


@pytest.mark.parametrize("why", ["kernel", "network", "no name of the kernel", "old name", "no lock file", "no locks"])
def test_where_nothing_is_certain_it_waits_a_day(root: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_tag()[:8] + "f" * 8
    if why == "kernel":
        machine = "f" * 16
    elif why == "network":
        monkeypatch.setattr(staging, "_is_local", lambda path: False)
    elif why == "no name of the kernel":
        machine = "0" * 8 + "f" * 8
        monkeypatch.setattr(staging, "machine_tag", lambda: "0" * 8 + "e" * 8)
    elif why == "old name":
        machine = "f" * 8
    elif why == "no locks":
        monkeypatch.setattr(staging, "fcntl", None)
    path = Path(root, stage_of(machine).file)
    path.mkdir()
    if why != "no lock file":
        (path / LOCK).touch()
    old = time.time() - 80000
    os.utime(path, (old, old))
    compile_something(root)
    assert path.exists()
    assert main(["--root", root, "clear"]) == 0 and path.exists()
    os.utime(path, (old - 10000, old - 10000))
    compile_something(root)
    assert not path.exists()


def test_a_file_system_without_locks(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There must be no lock file that looks free; who sees the process still knows."""

    def refuse(*arguments: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    stage = StagingFolder(root)
    assert os.listdir(stage.path) == []
    name = StageName.parse(os.path.basename(stage.path))
    assert name is not None
    assert reclaim_stage(stage.path, name) and os.path.isdir(stage.path)
    stage.remove()
    assert not os.path.exists(stage.path)


def test_one_that_is_being_made_is_not_taken_for_a_dead_ones(root: str) -> None:
    """Between the making of a directory and of its lock somebody in another container may look at it."""
    done = threading.Event()
    removed = []

    def reclaim() -> None:
        while not done.is_set():
            for file in os.listdir(root):
                name = StageName.parse(file)
                if name is not None:
                    elsewhere = name._replace(machine=name.machine[:8] + "f" * 8)
                    removed.append(not reclaim_stage(os.path.join(root, file), elsewhere))

    thread = threading.Thread(target=reclaim)
    thread.start()
    try:
        for _ in range(300):
            stage = StagingFolder(root)
            path = os.path.join(stage.path, "half.so")
            with open(path, "w") as file:
                file.write("text")
            with open(path) as file:
                assert file.read() == "text"
            stage.remove()
    finally:
        done.set()
        thread.join(60)
    assert [name for name in os.listdir(root) if StageName.parse(name)] == []


def test_the_lock_does_not_outlive_the_stage(root: str) -> None:
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(20):
        compile_something(root)
    with pytest.raises(ValueError, match="x"), Cache(CacheSettings(root=root)).stage():
        raise ValueError("x")
    assert len(set(os.listdir("/proc/self/fd"))) <= len(before)


def test_a_compiler_does_not_keep_the_lock(root: str) -> None:
    """It may outlive its parent, which must not make the parent look alive."""
    with Cache(CacheSettings(root=root)).stage() as path:
        # Not even where descriptors are handed on.
        done = subprocess.run(["ls", "-l", "/proc/self/fd"], capture_output=True, text=True, timeout=60, close_fds=False)
        assert "pipe:" in done.stdout and path not in done.stdout


def test_a_lock_file_that_is_a_link_is_nobodys_lock(root: str, tmp_path: Path) -> None:
    """What it leads to is free, which says nothing about who works there."""
    path = Path(root, stage_of(machine_tag()[:8] + "f" * 8).file)
    path.mkdir()
    (tmp_path / "free").touch()
    (path / LOCK).symlink_to(tmp_path / "free")
    compile_something(root)
    assert path.is_dir()


def test_a_lock_file_that_is_a_fifo_does_not_block(root: str) -> None:
    path = Path(root, stage_of(machine_tag()[:8] + "f" * 8).file)
    path.mkdir()
    os.mkfifo(path / LOCK)
    waits = threading.Thread(target=compile_something, args=(root,), daemon=True)
    waits.start()
    waits.join(30)
    assert not waits.is_alive()
