"""Who may write here? A cache of machine code is a directory of programs, treated like ``~/.ssh``.

Nothing here repairs anything. A place that another user could write to is described and then left alone. A command
that changes rights is advised for our own files only: the user's directory of compiled code and its entries.
For all other files the message is the name, and what to set instead.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
import struct
from functools import cache

from theano.records import NamedTuple

WRITABLE_BY_OTHERS = 0o022
ELSEWHERE = "set the flag base_compiledir to a directory that is yours alone"
"""The advice where nothing may be changed."""
_MAX_LINKS = 40  # as many as the kernel itself follows
_AT_SECURE = 23


class Refusal(NamedTuple):
    """Why a place is not trusted.

    Parameters
    ----------
    path : str
        The component of the path that is at fault.
    reason : str
        What is wrong with it.
    remedy : str
        The command that mends it, or what to set instead; "" if there is neither.
    """

    path: str
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.path}: {self.reason}"
        return f"{text} (to mend it: {self.remedy})" if self.remedy else text


def open_regular(path: str) -> int:
    """Open a file of a cache for reading; neither follow a link, nor wait for what has the place of a file (a FIFO).

    Raises
    ------
    OSError
        It does not exist, or is not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     os.close(open_regular(file.name))
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@cache
def process_is_privileged() -> bool:
    """Say whether this process has more rights than the user who started it.

    Then nothing that the user could set, the environment above all, may name a cache or a compiler.
    """
    if os.name != "posix":
        return False
    if os.getuid() != os.geteuid() or os.getgid() != os.getegid():
        return True
    try:
        with open("/proc/self/auxv", "rb") as file:
            data = file.read()
    except OSError:
        return False  # no such file outside Linux; the comparison above is then all there is
    width = struct.calcsize("@L")
    words = struct.unpack(f"@{len(data) // width}L", data[: len(data) // width * width])
    return any(kind == _AT_SECURE and value for kind, value in zip(words[::2], words[1::2], strict=False))


def is_ours(path: str, root: str) -> bool:
    """Say whether rights may be changed: a directory of compiled code at `root`, this user's, or an entry of it.

    Never a home directory or one above it, a shared or mounted directory, a link, or what is mounted read-only.

    Parameters
    ----------
    path : str
        What is in question.
    root : str
        The directory of compiled code that the settings name.

    Examples
    --------
    >>> is_ours("/", "/"), is_ours("/tmp", "/tmp"), is_ours("/home", "/home/theano")
    (False, False, False)
    """
    if os.name != "posix" or not os.path.isabs(path) or not _is_below(path, root) or not _carries_our_name(root):
        return False
    try:
        if os.statvfs(path).f_flag & getattr(os, "ST_RDONLY", 1):
            return False
        for place in dict.fromkeys((root, path)):
            info = os.lstat(place)
            if info.st_uid != os.geteuid() or not (stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode)):
                return False
            if stat.S_ISDIR(info.st_mode) and (info.st_mode & stat.S_ISVTX or os.path.ismount(place)):
                return False
        # Two names for one place: what the last link leads to may be anybody's.
        return os.path.realpath(path) == os.path.join(os.path.realpath(os.path.dirname(root)), _from_parent(path, root))
    except OSError:
        return False


def _from_parent(path: str, root: str) -> str:
    return os.path.relpath(os.path.normpath(path), os.path.dirname(os.path.normpath(root)))


def _is_below(path: str, root: str) -> bool:
    path, root = os.path.normpath(path), os.path.normpath(root)
    return path == root or path.startswith(root.rstrip("/") + "/")


def _carries_our_name(root: str) -> bool:
    """Say whether the last or last but one component of a path is a directory named after Theano, and no home's."""
    root = os.path.normpath(root)
    if any(_is_below(home, root) for home in _homes()):
        return False
    name, above = os.path.basename(root), os.path.basename(os.path.dirname(root))
    return "theano" in name.lower() or (name == "compiled" and "theano" in above.lower())


def _homes() -> list[str]:
    """Return this user's home directories, as the environment and the system name them."""
    homes = [os.path.expanduser("~")]
    try:
        import pwd  # only on POSIX

        homes.append(pwd.getpwuid(os.geteuid()).pw_dir)
    except (ImportError, KeyError):
        pass
    known = [home for home in homes if os.path.isabs(home)]
    return [os.path.normpath(place) for place in (*known, *map(os.path.realpath, known))]


def change_of_rights(change: str, path: str, root: str) -> str:
    """Return the command that changes the rights of what is ours; otherwise what to set instead."""
    return f"chmod {change} {shlex.quote(path)}" if is_ours(path, root) else ELSEWHERE


def read_only(path: str) -> bool:
    """Say whether a path is on a file system that is mounted read-only."""
    try:
        return bool(os.statvfs(path).f_flag & getattr(os, "ST_RDONLY", 1)) if hasattr(os, "statvfs") else False
    except OSError:
        return False


def directory_refusal(path: str, *, root: str | None = None) -> Refusal | None:
    """Check each component of `path`, from the root of the file system down.

    Each is owned by this user or by root and is writable by its owner only, unless it is sticky
    and its next part on the way belongs to one of the two. The last two are not symbolic links.

    Parameters
    ----------
    path : str
        An absolute path.
    root : str, optional
        The directory of compiled code, if `path` is one on the way to it.

    Returns
    -------
    Refusal or None
        None if the place may be used.

    Examples
    --------
    >>> directory_refusal("/")
    >>> directory_refusal("relative").reason
    'is not an absolute path'
    """
    if not os.path.isabs(path):
        return Refusal(path, "is not an absolute path")
    if os.name != "posix":
        # The access lists of a Windows profile directory already keep other users out.
        return None if os.path.isdir(path) else Refusal(path, "is not a directory")
    try:
        return _walk(os.path.normpath(path), frozenset((0, os.geteuid())), path if root is None else root)
    except OSError as error:
        return Refusal(error.filename or path, error.strerror or str(error))


def _walk(path: str, allowed: frozenset[int], root: str) -> Refusal | None:
    """Follow the path as the kernel does, looking at every directory and link on the way."""
    names = [part for part in path.split("/") if part]
    # Each with whether it may be a link: the last two, which are the cache's own, may not.
    todo = [(name, position < len(names) - 2) for position, name in enumerate(names)]
    here, links = "/", 0
    shared = False  # `here` is sticky and others may write to it
    refusal = _component_refusal("/", os.lstat("/"), allowed, root)
    while todo and refusal is None:
        name, may_be_link = todo.pop(0)
        if name == "..":
            here = os.path.dirname(here)
            continue
        child = os.path.join(here, name)
        info = os.lstat(child)
        if stat.S_ISLNK(info.st_mode):
            links += 1
            if not may_be_link:
                return Refusal(child, f"is a symbolic link (to {os.path.realpath(child)})", ELSEWHERE)
            if links > _MAX_LINKS:
                return Refusal(child, "has too many symbolic links", ELSEWHERE)
            if info.st_uid not in allowed:
                return _owner_refusal(child, info)
            target = os.readlink(child)
            todo = [(part, True) for part in target.split("/") if part not in ("", ".")] + todo
            here = "/" if target.startswith("/") else here
            continue
        refusal = _component_refusal(child, info, allowed, root)
        shared = bool(info.st_mode & WRITABLE_BY_OTHERS)
        here = child
    if refusal is None and shared:
        return Refusal(here, "is a directory that all users share", ELSEWHERE)
    return refusal


def _owner_refusal(path: str, info: os.stat_result) -> Refusal:
    return Refusal(path, f"belongs to user {info.st_uid}, not to you ({os.geteuid()}) or root", ELSEWHERE)


def _component_refusal(path: str, info: os.stat_result, allowed: frozenset[int], root: str) -> Refusal | None:
    if not stat.S_ISDIR(info.st_mode):
        return Refusal(path, "is not a directory", ELSEWHERE)
    if info.st_uid not in allowed:
        return _owner_refusal(path, info)
    if info.st_mode & WRITABLE_BY_OTHERS and not info.st_mode & stat.S_ISVTX:
        who = {0o020: "g-w", 0o002: "o-w", 0o022: "go-w"}[info.st_mode & WRITABLE_BY_OTHERS]
        return Refusal(path, "is writable by other users", change_of_rights(who, path, root))
    return None


def mount_refusal(path: str) -> Refusal | None:
    """Say whether the file system forbids running what is stored on it."""
    flag = getattr(os, "ST_NOEXEC", 0)
    if flag and os.statvfs(path).f_flag & flag:
        return Refusal(path, "is on a file system mounted noexec", ELSEWHERE)
    return None


def pre_filled_refusal(path: str) -> Refusal | None:
    """Say what speaks against reading a directory of compiled code that others have filled."""
    refusal = directory_refusal(path) or mount_refusal(path)
    if refusal is not None and refusal.remedy == ELSEWHERE:
        return refusal._replace(remedy="name another directory in the flag cache.readonly")
    return refusal


def file_refusal(path: str, info: os.stat_result, *, root_may_own: bool) -> Refusal | None:
    """Check the facts (`fstat`) of an opened entry.

    It is a regular file of this user (or, in a pre-filled cache, of root) with one name that
    no other user may write to.
    """
    if not stat.S_ISREG(info.st_mode):
        return Refusal(path, "is not a regular file")
    if os.name != "posix":
        return None
    if info.st_uid != os.geteuid() and not (root_may_own and info.st_uid == 0):
        return _owner_refusal(path, info)
    if info.st_mode & WRITABLE_BY_OTHERS:
        return Refusal(path, "is writable by other users")
    if info.st_nlink != 1:
        return Refusal(path, f"has {info.st_nlink} names, some perhaps in other hands")
    return None
