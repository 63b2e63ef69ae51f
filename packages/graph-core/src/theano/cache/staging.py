"""Private working directories inside the cache, and whether their process still lives."""

from __future__ import annotations

import contextlib
import hashlib
import os
from functools import cache

from theano.cache.names import StageName


@cache
def machine_tag() -> str:
    """Name the set of processes among which a process id means something.

    A cache may be shared over a network or between containers, where somebody else's live
    process would look dead from here: such staging directories are left alone for longer.
    """
    facts = [os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")]
    for path in ("/proc/sys/kernel/random/boot_id",):
        try:
            with open(path) as file:
                facts.append(file.read().strip())
        except OSError:
            pass
    with contextlib.suppress(OSError):
        facts.append(str(os.stat("/proc/self/ns/pid").st_ino))
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:8]


def start_time(pid: int) -> int | None:
    """Return when a process was started, in the system's own ticks; 0 if unknown, None if it is dead."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        # A zombie will never write again. Field 22 of the line, the 20th after the name, is the start.
        return None if fields[0] in (b"Z", b"X") else int(fields[19])
    except (FileNotFoundError, ProcessLookupError):
        if os.path.isdir("/proc/self"):
            return None
    except (OSError, IndexError, ValueError):
        return 0
    if os.name != "posix":
        return 0  # on Windows os.kill(pid, 0) would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return 0


def is_alive(name: StageName) -> bool | None:
    """Say whether the process that made a staging directory still runs; None if it cannot be known."""
    if name.machine != machine_tag():
        return None
    start = start_time(name.pid)
    return start is not None and (start == 0 or name.start == 0 or start == name.start)


def stage_path(root: str) -> str:
    """Return a name that nobody else uses, by which a sweep knows whose it is."""
    pid = os.getpid()
    name = StageName(pid, start_time(pid) or 0, machine_tag(), os.urandom(6).hex())
    return os.path.join(root, name.file)


def make_stage(root: str) -> str:
    """Create a staging directory for this process and return its path."""
    path = stage_path(root)
    os.mkdir(path, 0o700)
    return path


def remove_tree(path: str) -> None:
    """Remove a file, link or directory if that is possible, and say nothing if not."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        import shutil  # brings in much that a process that only reads has no use for

        # Either it is a directory, or it cannot be removed at all.
        shutil.rmtree(path, ignore_errors=True)
