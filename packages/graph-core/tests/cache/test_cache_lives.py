"""Whether a process still lives, what holds a working directory and who may remove it: each decision on both sides."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any

import pytest
from systems import System

from theano.cache import staging
from theano.cache.names import StageName
from theano.cache.staging import (
    LOCK,
    StagingFolder,
    hold,
    is_alive,
    machine_tag,
    reclaim_stage,
    remove_tree,
    start_time,
)

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="start times come from /proc")
HERE = "a" * 8 + "b" * 8  # a kernel, and a set of processes on it
CONTAINER, NAMELESS, OTHER = "a" * 8 + "c" * 8, "0" * 8 + "b" * 8, "d" * 8 + "b" * 8
DAY = 86400


def on(monkeypatch: pytest.MonkeyPatch, *without: str, **answers: Any) -> None:
    monkeypatch.setattr(staging, "os", System(without, **answers))


def stage_of(machine: str, pid: int = 12, start: int = 34) -> StageName:
    return StageName(pid, start, machine, "abc")


def descriptors() -> list[str]:
    """Return what this process has open, but for what an earlier test has left to the garbage collector."""
    gc.collect()
    return os.listdir("/proc/self/fd")


# -- the name of the machine -----------------------------------------------------------------------------------


def test_the_tag_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first half is the kernel's; in the other half are the computer's name and the set of processes too."""

    def tag(kernel: str = "kernel", node: str = "node", processes: int | None = 7) -> str:
        def stat(path: str) -> Any:
            if processes is None:
                raise FileNotFoundError(path)
            assert path == "/proc/self/ns/pid"
            return type("Facts", (), {"st_ino": processes})

        monkeypatch.setattr(staging, "_read", lambda path: {"/proc/sys/kernel/random/boot_id": kernel}[path])
        on(monkeypatch, uname=lambda: type("Name", (), {"nodename": node}), stat=stat)
        return machine_tag.__wrapped__()

    found = [tag(), tag("other"), tag(node="other"), tag(processes=8), tag(processes=None), tag("")]
    assert len(set(found)) == 6 and {len(name) for name in found} == {16}
    kernels = [name[:8] for name in found]
    assert kernels == [kernels[0], kernels[1], *[kernels[0]] * 3, "0" * 8] and kernels[0] != kernels[1]
    on(monkeypatch, "uname", environ={"COMPUTERNAME": "node"}, stat=os.stat)
    with_a_name = machine_tag.__wrapped__()
    on(monkeypatch, "uname", environ={}, stat=os.stat)
    assert machine_tag.__wrapped__() != with_a_name


# -- processes -------------------------------------------------------------------------------------------------


def facts(state: str = "S", start: str = "4711") -> bytes:
    """A line of /proc/<pid>/stat; the name of the program may hold what separates."""
    fields = [state, *(str(1000 + k) for k in range(18)), start, "9999"]
    return f"12 (a ) program) {' '.join(fields)}".encode()


@pytest.mark.parametrize(("line", "start"), [
    (facts(), 4711), (facts("R", "1"), 1), (facts("Z"), None), (facts("X"), None), (b"12 (cut", 0),
    (facts(start="x"), 0), (facts()[:30], 0),
])  # fmt: skip
def test_the_start_of_a_process(
    line: bytes, start: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stat").write_bytes(line)
    monkeypatch.setattr(staging, "open", lambda path, mode: (tmp_path / "stat").open(mode), raising=False)
    assert start_time(12) == start


@pytest.mark.parametrize(("error", "proc", "system", "answer", "start"), [
    (FileNotFoundError(), True, "posix", None, None), (ProcessLookupError(), True, "posix", None, None),
    (PermissionError(), True, "posix", ProcessLookupError(), 0),
    (FileNotFoundError(), False, "posix", None, 0), (FileNotFoundError(), False, "posix", PermissionError(), 0),
    (FileNotFoundError(), False, "posix", ProcessLookupError(), None),
    (FileNotFoundError(), False, "nt", ProcessLookupError(), 0),
])  # fmt: skip
def test_a_process_of_which_no_start_is_told(
    error: OSError, proc: bool, system: str, answer: OSError | None, start: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without /proc a signal that does nothing asks; never on Windows, where it would end the process."""

    def opened(path: str, mode: str) -> Any:
        raise error

    def kill(pid: int, signal: int) -> None:
        assert (pid, signal, system) == (12, 0, "posix")
        if answer is not None:
            raise answer

    monkeypatch.setattr(staging, "open", opened, raising=False)
    monkeypatch.setattr(os.path, "isdir", lambda path: proc)
    on(monkeypatch, name=system, kill=kill)
    assert start_time(12) == start


def test_a_process_that_has_ended_and_nobody_has_asked_for() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert start_time(child) is None, "a zombie never writes again"
    os.waitpid(child, 0)
    assert start_time(child) is None and start_time(os.getpid())


@pytest.mark.parametrize(("machine", "start", "now", "alive"), [
    (HERE, 34, 34, True), (HERE, 34, 35, False), (HERE, 34, 0, True), (HERE, 0, 35, True), (HERE, 34, None, False),
    (HERE, 0, None, False), (HERE, 34, 1, False), (HERE, 1, 34, False), (OTHER, 34, 34, None), (CONTAINER, 34, 34, None),
])  # fmt: skip
def test_alive(machine: str, start: int, now: int | None, alive: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process id may have been given again; 0 is a start that nobody knows."""
    monkeypatch.setattr(staging, "machine_tag", lambda: HERE)
    monkeypatch.setattr(staging, "start_time", lambda pid: {12: now}[pid])
    assert is_alive(stage_of(machine, 12, start)) is alive


@pytest.mark.parametrize(("told", "start"), [(34, 34), (0, 0), (None, 0)])
def test_the_name_of_a_new_working_directory(told: int | None, start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "start_time", lambda pid: told)
    names = [StageName.parse(os.path.relpath(staging.stage_path("/root"), "/root")) for _ in range(2)]
    for name in names:
        assert name is not None and name[:3] == (os.getpid(), start, machine_tag())
        assert len(bytes.fromhex(name.random)) == 6
    assert names[0] != names[1]


# -- holding a working directory -------------------------------------------------------------------------------


def test_a_working_directory_is_made_for_this_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def recorded(path: str, flags: int, mode: int) -> int:
        opened.append((os.path.basename(path), flags, mode))
        return os.open(path, flags, mode)

    on(monkeypatch, open=recorded)
    old = os.umask(0)
    try:
        stage = StagingFolder(str(tmp_path))
    finally:
        os.umask(old)
    assert os.stat(stage.path).st_mode & 0o7777 == 0o700
    assert opened == [(LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)]
    with open(os.path.join(stage.path, LOCK)) as file:
        assert not hold(file.fileno()), "it is held"
        (Path(stage.path) / "half.so").touch()
        stage.remove()
        assert hold(file.fileno()) and os.listdir(tmp_path) == []
    stage.remove()  # a second time does nothing


def test_after_ten_trials_it_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(StagingFolder, "_hold", lambda stage: tried.append(stage.path))
    with pytest.raises(FileNotFoundError) as caught:
        StagingFolder(str(tmp_path))
    assert len(set(tried)) == len(tried) == 10 and caught.value.filename == tried[-1] and caught.value.errno == 2


@pytest.mark.parametrize("how", ["directory removed", "file removed", "file replaced", "lock taken"])
def test_what_was_taken_for_a_dead_processs_is_made_anew(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else looks at it between the making of the directory and the taking of the lock."""
    paths: list[str] = []
    flock = fcntl.flock

    def opened(path: str, flags: int, mode: int) -> int:
        paths.append(os.path.dirname(path))
        if how == "directory removed" and len(paths) == 1:
            remove_tree(os.path.dirname(path))
        return os.open(path, flags, mode)

    def locked(descriptor: int, how_to: int) -> None:
        if len(paths) == 1:
            file = os.path.join(paths[0], LOCK)
            if how == "lock taken":
                raise BlockingIOError(11, "Resource temporarily unavailable")
            os.unlink(file)
            if how == "file replaced":
                Path(file).touch()
        flock(descriptor, how_to)

    on(monkeypatch, open=opened)
    monkeypatch.setattr(fcntl, "flock", locked)
    before = len(descriptors())
    stage = StagingFolder(str(tmp_path))
    assert len(paths) == 2 and stage.path == paths[1] != paths[0]
    assert len(descriptors()) == before + 1, "one lock is held, that of the directory in use"
    stage.remove()
    assert len(descriptors()) == before


def test_where_there_are_no_locks_none_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "fcntl", None)
    stage = StagingFolder(str(tmp_path))
    before = descriptors()
    assert os.listdir(stage.path) == [] and not hold(int(before[0]))
    stage.remove()
    assert os.listdir(tmp_path) == [] and descriptors() == before


# -- removing what others have left ------------------------------------------------------------------------------


@pytest.mark.parametrize(("alive", "free", "age", "stays"), [
    (True, True, 10 * DAY, True), (False, False, 0, False),  # whoever sees the process, knows
    (None, True, 0, False), (None, False, DAY - 1, True), (None, False, DAY, False), (None, False, -DAY, True),
])  # fmt: skip
def test_who_may_remove_it(
    alive: bool | None, free: bool, age: int, stays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / stage_of(OTHER).file
    path.mkdir()
    now = 1 << 30
    os.utime(path, (now - age, now - age))
    locks: list[int] = []

    def take(path: str, name: StageName) -> int | None:
        assert alive is None, "otherwise nobody need ask"
        locks.append(os.open(tmp_path, os.O_RDONLY))
        return locks[0] if free else None

    monkeypatch.setattr(staging, "is_alive", lambda name: alive)
    monkeypatch.setattr(staging, "_take_lock", take)
    monkeypatch.setattr(time, "time", lambda: float(now))
    assert reclaim_stage(str(path), stage_of(OTHER)) == ("process 12 may still work in it" if stays else "")
    assert path.exists() is stays
    for lock in locks:
        if free:
            with pytest.raises(OSError, match="descriptor"):
                os.fstat(lock)  # released, whatever came of it
        else:
            os.close(lock)


def test_what_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / stage_of(OTHER).file
    monkeypatch.setattr(staging, "is_alive", lambda name: False)
    assert reclaim_stage(str(path), stage_of(OTHER)) == ""
    path.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(staging, "remove_tree", lambda path: None)
        assert reclaim_stage(str(path), stage_of(OTHER)) == "cannot be removed"
        for error, said in ((OSError(5, "Input/output error"), "Input/output error"), (OSError("odd"), "odd")):
            patch.setattr(staging, "remove_tree", lambda path, error=error: exec("raise error", {"error": error}))
            assert reclaim_stage(str(path), stage_of(OTHER)) == said
    monkeypatch.setattr(staging, "is_alive", lambda name: None)
    assert reclaim_stage(str(path) + "x", stage_of(OTHER)) == "", "somebody else was quicker"


def test_all_that_dead_processes_have_left_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, living, linked = (stage_of(HERE, pid).file for pid in (1, 2, 3))
    (tmp_path / "elsewhere").mkdir()
    for name in (dead, living, stage_of(HERE, 1, 35).file, "other"):
        (tmp_path / name).mkdir()
    (tmp_path / linked).symlink_to("elsewhere")
    monkeypatch.setattr(staging, "is_alive", lambda name: name.pid == 2)
    assert staging.reclaim_stages(str(tmp_path)) == 2
    assert sorted(os.listdir(tmp_path)) == sorted([living, linked, "elsewhere", "other"])
    assert staging.reclaim_stages(str(tmp_path)) == 0


@pytest.mark.parametrize("kind", ["directory", "file"])
@pytest.mark.parametrize(("machine", "here", "local", "taken"), [
    (CONTAINER, HERE, True, True), (OTHER, HERE, True, False), (CONTAINER, HERE, False, False),
    (NAMELESS, NAMELESS, True, False), ("a" * 7 + "c" * 9, HERE, True, False),
])  # fmt: skip
def test_whose_lock_may_be_taken(
    kind: str, machine: str, here: str, local: bool, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of a process on this kernel, on a disk of this computer, if it is free."""
    path = tmp_path / "stage"
    if kind == "directory":
        path.mkdir()
    file = path / LOCK if kind == "directory" else path
    file.touch()
    flags = []
    monkeypatch.setattr(staging, "machine_tag", lambda: here)
    monkeypatch.setattr(staging, "_is_local", lambda path: local)
    on(monkeypatch, open=lambda path, how: flags.append(how) or os.open(path, how))
    with file.open() as other:
        lock = staging._take_lock(str(path), stage_of(machine))
        assert (lock is not None) is taken
        if lock is not None:
            assert flags == [os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC]
            assert not hold(other.fileno())
            os.close(lock)
        assert hold(other.fileno())
        before = descriptors()
        assert staging._take_lock(str(path), stage_of(machine)) is None, "a living process has it"
        assert descriptors() == before
    file.unlink()
    assert staging._take_lock(str(path), stage_of(machine)) is None
    monkeypatch.setattr(staging, "fcntl", None)
    assert staging._take_lock(str(path), stage_of(machine)) is None


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:30 / /run rw - tmpfs tmpfs rw
24 22 0:31 /a /net rw,noatime master:1 propagate_from:2 - nfs4 server:/x rw
"""


@pytest.mark.parametrize(("device", "local"), [
    ((8, 1), True), ((0, 30), True), ((0, 31), False), ((8, 2), False), ((1, 8), False), (None, False),
])  # fmt: skip
def test_local_file_systems(device: tuple[int, int] | None, local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def stat(path: str) -> Any:
        if device is None:
            raise FileNotFoundError(path)
        return type("Facts", (), {"st_dev": os.makedev(*device)})

    monkeypatch.setattr(staging, "_read", lambda path: {"/proc/self/mountinfo": MOUNTS.strip()}[path])
    on(monkeypatch, stat=stat)
    assert staging._is_local("/place") is local


def test_removing_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "kept").mkdir()
    for name in ("folder", "file", "link", "nothing"):
        remove_tree(str(tmp_path / name))
    assert os.listdir(tmp_path) == ["kept"]
    on(monkeypatch, unlink=lambda path: exec("raise OSError(5, 'Input/output error')"))
    (tmp_path / "file").touch()
    remove_tree(str(tmp_path / "file"))
    assert (tmp_path / "file").exists()
