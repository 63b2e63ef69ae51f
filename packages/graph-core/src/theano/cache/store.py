"""Looking up and publishing compiled units: the protocol that lets processes share a directory.

Write: compile in a private staging directory of the same file system, make the file read-only, hash
it, rename it to ``<k1k2>/<key>.<digest>.so``. Read: list the folder, try the names that begin with the
key, open without following links, check owner and mode, hash, compare with the name. It needs no
lock on any path, no second file that could disagree, and nothing is ever unpickled. Whatever is
wrong with an entry makes it a miss; whatever is wrong with the directory makes this process
work in a private temporary one, with one warning. A path is never used again for other bytes: the
dynamic loader takes two loads of one path for the same library.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from theano.cache import trust
from theano.cache.names import NOTE, PLAN, SOURCE, UNIT, EntryName, ReferenceName, digest_of, is_bucket
from theano.cache.ownership import adopt, is_marked, remove_entry
from theano.cache.private import private_directory
from theano.cache.staging import StagingFolder, hold, reclaim_stages, remove_tree, stage_path
from theano.cache.sweep import sweep_if_due
from theano.errors import CacheWarning
from theano.graph.signals import let_signals_through
from theano.records import record, replace

COMPILED = "compiled"
"""The folder of the cache, in a directory that is only named as the base of it."""
MAX_UNIT_BYTES = 1 << 28
"""No compiled unit is as large as this; a file that is was not made by us."""
RECLAIM_AFTER = 600.0
"""Seconds after which a process that compiles looks again for what killed ones have left."""
STAMP_AGE = 86400.0
"""An entry's time of last use is written again only when it is this old."""


@record(frozen=True)
class CacheSettings:
    """Where the cache is and how large it may grow. A value, passed down by ``theano.compile``.

    Parameters
    ----------
    root : str, optional
        The directory; the user's cache directory of the platform if empty.
    readonly : tuple of str
        Pre-filled caches that are searched after the first and never written to.
    size_cap : int
        Bytes of compiled code beyond which the entries unused for longest are removed.

    Examples
    --------
    >>> CacheSettings(root="/var/tmp/mine").directory()
    '/var/tmp/mine'
    """

    root: str = ""
    readonly: tuple[str, ...] = ()
    size_cap: int = 1 << 30

    @classmethod
    def from_config(cls, config: object) -> CacheSettings:
        """Build the settings from an object with the attributes of ``theano.config``.

        ``compiledir`` names the directory itself, ``base_compiledir`` the one it is made in, and behind it, separated
        as in PATH, pre-filled ones; ``cache.readonly`` names more of those, ``cache.size_cap`` the bytes allowed.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> CacheSettings.from_config(SimpleNamespace(base_compiledir=os.pathsep.join(["/fast", "/shared"])))
        CacheSettings(root='/fast/compiled', readonly=('/shared',), size_cap=1073741824)
        """
        base, behind = str(getattr(config, "base_compiledir", "") or ""), ""
        if os.pathsep in base and base != _default_place():  # a user's home may have one in its name
            base, _, behind = base.partition(os.pathsep)
        root = str(getattr(config, "compiledir", "") or "") or (os.path.join(base, COMPILED) if base else "")
        own = getattr(config, "cache", None)
        others = [*behind.split(os.pathsep), *str(getattr(own, "readonly", "") or "").split(os.pathsep)]
        cap = getattr(own, "size_cap", None)
        return cls(root, tuple(path for path in others if path), 1 << 30 if cap is None else int(cap))

    def directory(self) -> str:
        """Return the absolute path of the cache; "" if the user has no place for one."""
        if trust.process_is_privileged():
            return _home_of_effective_user()
        root = self.root or _default_place()
        expanded = os.path.expanduser(root)
        if not self.root and not os.path.isabs(expanded):
            return ""  # no HOME and no entry in the user database
        return os.path.abspath(expanded)

    def pre_filled(self) -> tuple[str, ...]:
        """Return the absolute paths of the pre-filled caches: what is named, the folder in it that has one, or both."""
        if trust.process_is_privileged():
            return ()
        named = [os.path.abspath(os.path.expanduser(path)) for path in self.readonly]
        places: list[str] = []
        for path in named:
            inside = os.path.join(path, COMPILED)
            has_one = os.path.isdir(inside)
            places += [inside] if has_one else []
            places += [path] if is_marked(path) or not has_one else []
        return tuple(dict.fromkeys(places))


def _default_place() -> str:
    import platformdirs  # only for those whose settings name no place

    return platformdirs.user_cache_dir("theano", appauthor=False)


def _home_of_effective_user() -> str:
    import pwd  # only on POSIX, and only there is a process privileged in this sense

    try:
        return os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, ".cache", "theano")
    except KeyError:
        return ""


class Cache:
    """One directory of compiled units, perhaps with pre-filled ones behind it.

    Use `open_cache`, which makes one object for each directory in a process.
    """

    def __init__(self, settings: CacheSettings):
        self.settings = settings
        self._lock = threading.Lock()  # within this process only; held for no input or output
        self._private: tuple[int, str] | None = None
        self.refusal: trust.Refusal | None = None
        self.root = self._open_root(settings.directory())
        self._published = 0
        self._reclaimed = -RECLAIM_AFTER
        self._readonly = [path for path in settings.pre_filled() if self._readonly_is_trusted(path)]

    # -- places ------------------------------------------------------------------------------

    def _open_root(self, root: str) -> str:
        """Return the directory to write to; "" if it must be a private one."""
        self.refusal = create_trusted(root)
        if self.refusal is None:
            # One that holds other users' things is used all the same, but never swept.
            adopt(root)
            return root
        self._warn(self.refusal)
        return ""

    def _readonly_is_trusted(self, path: str) -> bool:
        refusal = trust.pre_filled_refusal(path)
        if refusal is not None:
            _warn_once(f"The pre-filled cache of compiled functions {path} is not used: {refusal}")
        return refusal is None

    def _warn(self, refusal: trust.Refusal) -> None:
        _warn_once(
            f"The cache of compiled functions cannot be used: {refusal.path} {refusal.reason}. "
            "This process compiles in a private temporary directory and keeps nothing."
            + (f" To mend it: {refusal.remedy}" if refusal.remedy else "")
        )

    def give_up(self, error: OSError) -> None:
        """Work in a private directory from now on: the shared one failed in mid-run."""
        with self._lock:
            if not self.root:
                return
            root, self.root = self.root, ""
            place = error.filename if isinstance(error.filename, str) else root
            reason = "is on a file system that is full" if _is_full(root) else f"failed ({error.strerror or error})"
            self.refusal = trust.Refusal(place, reason, "theano-cache clear" if _is_full(root) else "")
        self._warn(self.refusal)

    def renew_lock(self) -> None:
        """Take a new lock, in a forked child."""
        self._lock = threading.Lock()

    @property
    def is_private(self) -> bool:
        """Whether this process works in a temporary directory of its own."""
        return not self.root

    def writable_root(self) -> str:
        """Return the directory that this process writes to; made now if it is a private one.

        Raises
        ------
        OSError
            Even the temporary directory has no space.
        """
        return self.root or self._private_root()

    def _private_root(self) -> str:
        with self._lock:
            if self._private is None or self._private[0] != os.getpid() or not os.path.isdir(self._private[1]):
                self._private = (os.getpid(), private_directory())
            return self._private[1]

    def folders(self) -> list[tuple[str, bool]]:
        """Return the directories to search, each with whether it is ours to write to."""
        own = self.root or (self._private[1] if self._private else "")
        return ([(own, True)] if own else []) + [(path, False) for path in self._readonly]

    # -- reading -----------------------------------------------------------------------------

    def references(self, kernel: str) -> Iterator[tuple[EntryName, str]]:
        """Yield the units said to hold a kernel, and their paths, not yet verified."""
        for folder, _ in self.folders():
            for name in _listing(os.path.join(folder, kernel[:2]), kernel):
                reference = ReferenceName.parse(name)
                if reference is not None and reference.kernel == kernel:
                    yield reference.unit, os.path.join(folder, reference.unit.relative)

    def read(self, path: str, name: EntryName) -> bytes | None:
        """Return the bytes of an entry that is all that its name says; remove it if it is ours and is not."""
        ours = any(mine and path.startswith(folder + os.sep) for folder, mine in self.folders())
        return self._read(path, name, ours)

    def units(self, key: str) -> Iterator[tuple[EntryName, str, bytes]]:
        """Yield the verified units with this key, their paths, and their bytes."""
        return self._entries(key, UNIT)

    def notes(self, key: str) -> list[str]:
        """Return the texts noted under this key."""
        return self._texts(key, NOTE)

    def plans(self, key: str) -> list[str]:
        """Return the plans kept under this key."""
        return self._texts(key, PLAN)

    def holds_plans(self) -> bool:
        """Return whether a plan of any function may be kept here; in an empty cache none need be looked for."""
        for folder, _ in self.folders():
            try:
                buckets = [name for name in os.listdir(folder) if is_bucket(name)]
            except OSError as error:
                let_signals_through(error)
                return True
            if any(name.endswith(f".{PLAN}") for b in buckets for name in _listing(os.path.join(folder, b), "")):
                return True
        return False

    def _texts(self, key: str, kind: str) -> list[str]:
        return [data[len(name.head) :].decode("utf-8", "replace") for name, _, data in self._entries(key, kind)]

    def _entries(self, key: str, kind: str) -> Iterator[tuple[EntryName, str, bytes]]:
        for folder, ours in self.folders():
            for file in _listing(os.path.join(folder, key[:2]), key):
                name = EntryName.parse(file)
                if name is not None and name.key == key and name.kind == kind:
                    path = os.path.join(folder, name.relative)
                    data = self._read(path, name, ours)
                    if data is not None:
                        yield name, path, data

    def _read(self, path: str, name: EntryName, ours: bool) -> bytes | None:
        """Return an entry's bytes if everything about it is right; remove it if it is the cache's own and wrong."""
        try:
            data = read_verified(path, name, root_may_own=not ours)
        except FileNotFoundError:
            return None
        except OSError as error:
            let_signals_through(error)
            data = None
        if data is None and ours:
            self.discard(path)
        return data

    def discard(self, path: str) -> None:
        """Remove an entry that is wrong, if we may write to its directory."""
        name = EntryName.parse(os.path.basename(path))
        for folder, ours in self.folders():
            if ours and name is not None and path.startswith(folder + os.sep):
                remove_entry(path, name)

    # -- writing -----------------------------------------------------------------------------

    @contextmanager
    def stage(self, *, elsewhere: bool = False) -> Iterator[str]:
        """Give a private working directory, in the cache's own file system unless it shall be elsewhere."""
        root = self._private_root() if elsewhere else self.writable_root()
        stage = StagingFolder(root)
        try:
            self._reclaim(root)
            yield stage.path
        finally:
            stage.remove()

    def _reclaim(self, root: str) -> None:
        """Remove what killed processes have left: who compiles has the time, and needs the space."""
        now = time.monotonic()
        if root == self.root and now - self._reclaimed >= RECLAIM_AFTER:
            self._reclaimed = now
            with suppress(OSError):
                if is_marked(root):
                    reclaim_stages(root)

    def publish_unit(
        self, staged: str, key: str, kernels: Iterable[str] = (), source: str = ""
    ) -> tuple[EntryName, str]:
        """Move a compiled unit from staging to its final name.

        Parameters
        ----------
        staged : str
            The compiled file, in a directory that `stage` gave.
        key : str
            The unit's key.
        kernels : iterable of str
            Keys of the kernels in it; a reference is left for each.
        source : str
            Its C text, left beside it for users.

        Returns
        -------
        name, path
            What was published and where.

        Raises
        ------
        OSError
            It could not be published; the staged file is where it was, or already final.
        """
        root = self.writable_root()
        os.chmod(staged, 0o500)
        with open(staged, "rb") as file:
            data = file.read()
        name = EntryName(key, digest_of(data), UNIT)
        path = os.path.join(root, name.relative)
        if not rename(staged, path):
            return name, path  # the next lookup misses, and compiles it again
        try:
            self._describe(root, os.path.dirname(staged), name, kernels, source)
        except OSError as error:
            # Without references, only a lookup of the whole unit finds it.
            let_signals_through(error)
        self._published += len(data)
        if self.root and sweep_if_due(root, self.settings.size_cap, self._published):
            self._published = 0
        return name, path

    def _describe(self, root: str, stage: str, unit: EntryName, kernels: Iterable[str], source: str) -> None:
        for kernel in kernels:
            target = os.path.join(root, ReferenceName(kernel, unit).relative)
            _make_bucket(os.path.dirname(target))
            # If the target is a FIFO, opening it must not wait for its reader.
            flags = os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)
            os.close(os.open(target, flags, 0o400))
        if source:
            beside = os.path.join(stage, "source")
            name = unit._replace(kind=SOURCE)
            with open(beside, "wb") as file:
                file.write(name.head + source.encode("utf-8", "surrogateescape"))
            os.chmod(beside, 0o400)
            rename(beside, os.path.join(root, name.relative))

    def add_note(self, key: str, text: str) -> None:
        """Keep a small text under a key; if that fails, nothing happens."""
        self._add_text(key, text, NOTE)

    def add_plan(self, key: str, text: str) -> None:
        """Keep a plan under a key; if that fails, nothing happens."""
        self._published += self._add_text(key, text, PLAN)
        if self.root and sweep_if_due(self.root, self.settings.size_cap, self._published):
            self._published = 0

    def _add_text(self, key: str, text: str, kind: str) -> int:
        """Publish a text; return how many bytes it has, 0 if it could not be published."""
        data = EntryName(key, "", kind).head + text.encode()
        staged = ""
        try:
            root = self.writable_root()
            # A directory for one file would take longer than the file.
            staged = stage_path(root)
            with open(staged, "wb") as file:
                hold(file.fileno())
                file.write(data)
            os.chmod(staged, 0o400)
            if rename(staged, os.path.join(root, EntryName(key, digest_of(data), kind).relative)):
                return len(data)
        except OSError as error:
            remove_tree(staged)
            let_signals_through(error)
            return 0
        remove_tree(staged)
        return 0


def create_trusted(root: str) -> trust.Refusal | None:
    """Create a cache directory if it is missing and say what speaks against using it."""
    if not root:
        return trust.Refusal("the home directory", "is not known", "export HOME=/path/to/your/home")
    try:
        # What exists is judged before anything is created in it.
        existing = root
        while not os.path.lexists(existing):
            existing = os.path.dirname(existing)
        if existing != root:
            refusal = trust.directory_refusal(existing, root=root) if not _is_shared(existing) else None
            if refusal is not None:
                return refusal
            _make_private_directories(root, existing)
        refusal = trust.directory_refusal(root) or trust.mount_refusal(root)
    except OSError as error:
        let_signals_through(error)
        return trust.Refusal(error.filename or root, error.strerror or str(error), trust.ELSEWHERE)
    if refusal is None and trust.read_only(root):
        return trust.Refusal(root, "is on a file system mounted read-only", trust.ELSEWHERE)
    if refusal is None and not os.access(root, os.W_OK | os.X_OK):
        return trust.Refusal(root, "is not writable", trust.change_of_rights("u+rwx", root, root))
    return refusal


def _is_full(root: str) -> bool:
    """Say whether there is hardly space for another file: compilers often fail there without saying why."""
    if not hasattr(os, "statvfs"):
        return False
    try:
        facts = os.statvfs(root)
    except OSError:
        return False
    return facts.f_bavail * facts.f_frsize < 1 << 20 or (facts.f_files > 0 and facts.f_favail < 10)


def _is_shared(path: str) -> bool:
    """Say whether this is a directory like /tmp, fit to hold ours but not to be ours."""
    return bool(os.stat(path).st_mode & 0o1000)


def _make_private_directories(root: str, existing: str) -> None:
    # os.makedirs gives the mode to the last directory only.
    missing = os.path.relpath(root, existing).split(os.sep)
    for depth in range(len(missing)):
        try:
            os.mkdir(os.path.join(existing, *missing[: depth + 1]), 0o700)
        except FileExistsError:
            pass  # another process was faster; the check that follows inspects the result


def read_verified(path: str, name: EntryName, *, root_may_own: bool) -> bytes | None:
    """Return the bytes of an entry, or None if it is not what its name says.

    Raises
    ------
    OSError
        It cannot be opened or read.
    """
    with open(trust.open_regular(path), "rb") as file:
        info = os.fstat(file.fileno())
        if trust.file_refusal(path, info, root_may_own=root_may_own) or info.st_size > MAX_UNIT_BYTES:
            return None
        data = file.read()
        if not is_what_it_says(data, name):
            return None
        # A cache that others have filled is never swept, so its files need no fresh mtime.
        if not root_may_own and abs(time.time() - info.st_mtime) > STAMP_AGE:
            _touch(file.fileno())
        return data


def is_what_it_says(data: bytes, name: EntryName) -> bool:
    """Say whether an entry has the digest in its name, and is the one of the key there, not another's renamed."""
    if digest_of(data) != name.digest:
        return False
    if name.kind == UNIT:
        # The loader looks at the symbol itself; this spares the system a library that is not the right one.
        return not data.startswith(b"\x7fELF") or name.key.encode() in data
    return data.startswith(name.head)


def _touch(descriptor: int) -> None:
    """Note that an entry was used: its time of change serves the sweep, which removes the oldest first."""
    if os.utime in os.supports_fd:
        try:
            os.utime(descriptor)
        except OSError:
            pass  # a file system that has become read-only


def _bucket_refusal(bucket: str, info: os.stat_result) -> trust.Refusal | None:
    """Check the facts of one of the two-character folders, whose parents are already trusted."""
    if not stat.S_ISDIR(info.st_mode):
        return trust.Refusal(bucket, "is not a directory")
    if os.name == "posix" and (info.st_mode & trust.WRITABLE_BY_OTHERS or info.st_uid not in (0, os.geteuid())):
        return trust.Refusal(bucket, "is in other hands")
    return None


def _listing(folder: str, prefix: str) -> list[str]:
    """Return the names that begin with a key, in a fixed order; none if the folder does not exist."""
    try:
        return sorted(name for name in _names_in(folder) if name.startswith(prefix))
    except FileNotFoundError:  # the usual case, where the origin of the error does not matter
        return []
    except OSError as error:
        let_signals_through(error)
        return []


def _names_in(bucket: str) -> list[str]:
    """Return all names in one of the two-character folders, none if it is not to be trusted.

    On a network each operation on a path is a question to another computer: opening the folder is the only one here.
    """
    if os.listdir not in os.supports_fd:
        return [] if _bucket_refusal(bucket, os.lstat(bucket)) else os.listdir(bucket)
    descriptor = os.open(bucket, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return [] if _bucket_refusal(bucket, os.fstat(descriptor)) else os.listdir(descriptor)
    finally:
        os.close(descriptor)


def _make_bucket(bucket: str) -> None:
    """Make sure that a two-character folder is there and ours."""
    try:
        os.mkdir(bucket, 0o700)
    except FileExistsError:
        refusal = _bucket_refusal(bucket, os.lstat(bucket))
        if refusal is not None:
            raise PermissionError(errno.EACCES, refusal.reason, refusal.path) from None


def rename(source: str, target: str) -> bool:
    """Publish: give a finished file its final name; False if something that is not ours is in the way."""
    _make_bucket(os.path.dirname(target))
    try:
        os.replace(source, target)
    except (IsADirectoryError, FileExistsError, PermissionError):
        if os.name != "posix" and os.path.isfile(target):
            return True  # Windows: the same bytes are loaded somewhere, and they are already there
        if not os.path.isdir(target) or os.path.islink(target):
            raise
        try:
            os.rmdir(target)
        except OSError:
            return False  # a directory with something in it
        os.replace(source, target)
    return True


_caches: dict[CacheSettings, Cache] = {}
_warned: set[str] = set()
_guard = threading.Lock()


def open_cache(settings: CacheSettings | None = None) -> Cache:
    """Return this process's cache for some settings.

    Its directory is created and checked once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = open_cache(CacheSettings(root=folder + "/cache"))
    ...     cache.add_note("0" * 32, "a text")
    ...     cache.notes("0" * 32)
    ['a text']
    """
    settings = settings or CacheSettings()
    with _guard:
        found = _caches.get(settings)
    if found is None:
        place = replace(settings, root=settings.directory(), readonly=settings.pre_filled())
        made = Cache(settings)
        with _guard:
            # The same place may be asked for in several ways.
            found = _caches.setdefault(place, made)
            _caches[settings] = found
    return found


def _renew_locks() -> None:
    """Another thread may have held a lock when this process was forked."""
    global _guard
    _guard = threading.Lock()
    for cache in _caches.values():
        cache.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def _warn_once(text: str) -> None:
    with _guard:
        if text in _warned:
            return
        _warned.add(text)
    warnings.warn(text, CacheWarning, stacklevel=2)
