"""Private working directories inside the cache, and whether their process still lives.

The name of a working directory says which process made it, and a living process holds a lock on a file in it, which
the system releases when the process ends, however it ends. So what a killed process has left can be removed at once:
by who sees the same processes, and, on a disk of this computer, by who runs on the same kernel, in another container.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from functools import cache

from theano.cache.names import StageName

try:
    import fcntl
except ImportError:  # Windows: the process's number and start are all there is
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
FOREIGN_STAGE_AGE = 86400.0
"""A working directory of another machine, of which nothing can be known, is removed when it is this old."""
LOCAL_FILE_SYSTEMS = frozenset("ext2 ext3 ext4 xfs btrfs f2fs zfs bcachefs tmpfs ramfs overlay".split())
"""Where a lock that is free was not taken on another computer, or on this one past the kernel's knowledge."""
TRIALS = 10
"""A new working directory may be taken for a dead process's in the moment before it is locked."""
_TAG = 8


@cache
def machine_tag() -> str:
    """Name the running kernel, and on it the set of processes among which a process id means something.

    A cache may be shared over a network or between containers, where another machine's live
    process would look dead from here. The first half is the kernel's, zeros if it has no name.
    """
    kernel = _read("/proc/sys/kernel/random/boot_id")
    facts = [os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", ""), kernel]
    with contextlib.suppress(OSError):
        facts.append(str(os.stat("/proc/self/ns/pid").st_ino))
    return (_tag(kernel) if kernel else "0" * _TAG) + _tag("\0".join(facts))


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def _tag(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_TAG]


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
    """Return a unique name from which a sweep knows the owner."""
    pid = os.getpid()
    name = StageName(pid, start_time(pid) or 0, machine_tag(), os.urandom(6).hex())
    return os.path.join(root, name.file)


class StagingFolder:
    """A working directory of this process, which it holds by a lock until `remove`.

    Parameters
    ----------
    root : str
        The cache's directory.

    Raises
    ------
    OSError
        It cannot be made.
    """

    def __init__(self, root: str):
        self._lock: int | None = None
        for _ in range(TRIALS):
            self.path = stage_path(root)
            os.mkdir(self.path, 0o700)
            if self._hold():
                return
        raise FileNotFoundError(2, "another process removes working directories", self.path)

    def _hold(self) -> bool:
        """Lock the directory; False if it was taken for a dead process's in the moment before."""
        file = os.path.join(self.path, LOCK)
        if fcntl is None:
            return True
        try:
            self._lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(self._lock), os.stat(file)):
                return True
        except FileNotFoundError:
            pass
        except BlockingIOError:
            pass
        except OSError:
            # The file system has no locks; a file without a lock must not stay.
            self._release()
            os.unlink(file)
            return True
        self._release()
        return False

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Remove the directory with all that is in it."""
        remove_tree(self.path)
        self._release()


def reclaim_stage(path: str, name: StageName) -> str:
    """Remove what a dead process has left; return why it stays if it does."""
    alive = is_alive(name)
    lock = _take_lock(path, name) if alive is None else None
    try:
        if alive is None and lock is None:
            alive = time.time() - os.lstat(path).st_mtime < FOREIGN_STAGE_AGE
        if alive:
            return f"process {name.pid} may still work in it"
        remove_tree(path)
        return "cannot be removed" if os.path.lexists(path) else ""
    except OSError as error:
        return "" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
    finally:
        if lock is not None:
            os.close(lock)


def reclaim_stages(root: str) -> int:
    """Remove what dead processes have left in a cache, and return how many working directories that were."""
    removed = 0
    for file in os.listdir(root):
        name = StageName.parse(file)
        path = os.path.join(root, file)
        if name is not None and not os.path.islink(path):
            removed += not reclaim_stage(path, name)
    return removed


def _take_lock(path: str, name: StageName) -> int | None:
    """Take the lock of a process in another container of this computer that has certainly ended; else None."""
    kernel = name.machine[:_TAG]
    if fcntl is None or kernel == "0" * _TAG or kernel != machine_tag()[:_TAG] or not _is_local(path):
        return None
    try:
        file = os.path.join(path, LOCK) if os.path.isdir(path) else path
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not hold(descriptor):
        os.close(descriptor)
        return None
    return descriptor


def hold(descriptor: int) -> bool:
    """Lock a file until it is closed, if locks exist and no other process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (OSError, AttributeError):
        return False
    return True


def _is_local(path: str) -> bool:
    """Say whether this is on a file system whose locks this kernel knows all of."""
    try:
        device = os.stat(path).st_dev
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in _read("/proc/self/mountinfo").splitlines():
        if line.split(" ")[2] == number:
            return line.partition(" - ")[2].split(" ")[0] in LOCAL_FILE_SYSTEMS
    return False


def remove_tree(path: str) -> None:
    """Remove a file, link or directory if that is possible, and say nothing if not."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        pass
    # Either it is a directory, or it cannot be removed at all.
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                os.unlink(entry)
        os.rmdir(path)
    except OSError:
        import shutil  # takes longer to import than most directories, which hold files only, to be removed

        shutil.rmtree(path, ignore_errors=True)
