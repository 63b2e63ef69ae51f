"""What compiling depends on beside the user's program: our own sources, versions, flags, rules, the compiler.

The sources are compared by content, so that machines with the same installation agree, but are read only when
their times have changed: what they came to is noted in the cache under the times. A process in which they changed
after it had started runs code that is nowhere on the disk any more; :func:`source_digest` has no answer there.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Set
from typing import TYPE_CHECKING, Any

from theano.graph.canonical import NoCanonicalForm, facts, is_ours, replaced
from theano.records import NamedTuple
from theano.rewriting import families, phases
from theano.settings import config

if TYPE_CHECKING:
    from theano.toolchain.description import Notes

SLACK = 0.1
"""Seconds by which the clocks of a process and of a file system may differ."""
LIBRARIES = (".so", ".pyd")
SUFFIXES = (".py", ".h", ".c", ".cl", *LIBRARIES)

#: Flags that neither what a function computes nor how it is laid out depends on.
WITHOUT_EFFECT = frozenset(
    """base_compiledir compiledir compiledir_format cache.readonly cache.size_cap cache.plans compile.jobs compile.wait
    compile.timeout nocleanup on_unused_input profile profile_memory profiling.time_thunks profiling.n_apply
    profiling.n_ops profiling.output_line_width profiling.min_memory_size profiling.min_peak_memory
    profiling.destination profiling.debugprint profiling.ignore_first_call print_global_stats print_test_value
    pickle_test_value exception_verbosity traceback.limit traceback.compile_limit unpickle_function
    reoptimize_unpickled_function unittests.rseed compile.progress compile.unit_timeout compile.question_timeout mode
    linker optimizer optimizer_including optimizer_excluding optimizer_requiring""".split()
)
#: Flags that ask for something to be seen or checked while a graph is rewritten, with the values that do not ask.
WATCHING = {
    "optimizer_verbose": False, "profile_optimizer": False, "compute_test_value": "off",
    "compute_test_value_opt": "off", "check_stack_trace": "off",
}  # fmt: skip


# -- our own sources -----------------------------------------------------------------------------------------


class _Sources(NamedTuple):
    """The state of our files: how many modules were loaded then, their times, their content."""

    modules: int
    stamp: str
    digest: str


_known: _Sources | None = None
_texts: _Reader | None = None
"""The thread that reads our sources; a caller with time to spare starts it."""
_changed = False


def source_digest(notes: Notes) -> str:
    """Return a text that says what our installed sources are.

    Raises
    ------
    NoCanonicalForm
        They have changed since this process started, or are not there as files.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> len(source_digest(SimpleNamespace(notes=lambda key: [], add_note=lambda key, text: None)))
    32
    """
    return read_sources(notes)()


def read_sources(notes: Notes) -> Callable[[], str]:
    """Begin to find out what `source_digest` says, and return what waits for it: compilers are asked meanwhile."""
    global _changed, _known
    modules = len(sys.modules)
    # A module that was imported since may have been edited since.
    if _known is not None and _known.modules == modules:
        return _said
    stamp = _stamp()
    if _known is not None and stamp != _known.stamp:
        _changed = True
    digest = _reader(stamp, notes) if _known is None else _known.digest
    if isinstance(digest, str):
        _known = _Sources(modules, stamp, digest)
        return _said

    def wait() -> str:
        global _known
        _known = _Sources(modules, stamp, digest())
        return _said()

    return wait


def read_meanwhile() -> None:
    """Go on with what `read_sources` began, for this thread now waits for compilers."""
    global _texts
    texts, _texts = _texts, None
    if texts is not None and _known is None:
        texts.start()


def are_known() -> bool:
    """Return whether `source_digest` has its answer already, so that `read_sources` need not run."""
    return _known is not None


def _said() -> str:
    assert _known is not None
    if _changed:
        raise NoCanonicalForm("the sources of theano have changed since this process started")
    return _known.digest


def check_sources() -> None:
    """Look at the sources once more, before something is kept that will be believed for as long as they stay."""
    global _changed
    if _known is None or _known.stamp != _stamp():
        _changed = True
        raise NoCanonicalForm("the sources of theano have changed since this process started")


#: Packages that each layer puts modules into, by their paths inside `theano`.
_COMMON = {"": "theano", "layers/": "theano.layers"}


def _roots() -> list[tuple[str, str]]:
    """Return the folders in which layers begin, each after its path inside the package."""
    return [(inside, root) for inside, package in _COMMON.items() for root in sys.modules[package].__path__]


def _files(folders: dict[str, int] | None = None) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield the files of all layers with their paths inside the package, in a fixed order.

    Each folder goes into `folders` with the time of its last change before it is read.
    """
    pending = _roots()[::-1]
    # Of two files or folders of one name in two installations, Python imports the one that it meets first.
    met: set[str] = set()
    while pending:
        inside, folder = pending.pop()
        try:
            if folders is not None:
                folders[folder] = os.stat(folder).st_mtime_ns
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda e: e.name)
        except OSError:
            continue  # a path that is not there
        for entry in entries:
            if inside in _COMMON:
                if inside + entry.name in met:
                    continue
                met.add(inside + entry.name)
            if entry.name.endswith(SUFFIXES):
                yield inside + entry.name, entry
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                if f"{inside}{entry.name}/" not in _COMMON:
                    pending.append((f"{inside}{entry.name}/", entry.path))


class _Tree(NamedTuple):
    """Sizes and times of all files as one text, and for each path what was seen of it; of a folder, when it changed."""

    stamp: str
    roots: list[tuple[str, str]]
    files: dict[str, tuple[int, ...]]
    folders: dict[str, int]

    def is_as_it_was(self) -> bool:
        """Return whether nothing has come, gone or changed, in less time than to look at all anew."""
        try:
            changed = [folder for folder, time in self.folders.items() if os.stat(folder).st_mtime_ns != time]
            return not changed and self.roots == _roots() and all(
                _facts(os.stat(path)) == facts for path, facts in self.files.items()
            )  # fmt: skip
        except OSError:
            return False


_tree: _Tree | None = None


def _facts(info: os.stat_result) -> tuple[int, ...]:
    """Return what changes with a file."""
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _stamp() -> str:
    """Return sizes and times of all files as one text; note if one is younger than this process."""
    global _changed, _tree
    if _tree is None or not _tree.is_as_it_was():
        folders: dict[str, int] = {}
        files = {entry.path: _facts(entry.stat()) for _, entry in _files(folders)}
        state = hashlib.sha256()
        for path, facts in files.items():
            state.update("\0".join(map(str, (path, *facts, ""))).encode())
        newest = max((max(times) for _, *times in files.values()), default=0)
        if newest > (sys.modules["theano"].__imported__ - SLACK) * 1e9:
            _changed = True
        _tree = _Tree(state.hexdigest()[:32], _roots(), files, folders)
    _check_loaded(_tree.files.keys())
    return _tree.stamp


def _check_loaded(seen: Set[str]) -> None:
    """Make sure that what was imported is among the files: not in an archive, not without its source."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and file not in seen and is_ours(name):
            raise NoCanonicalForm(f"the source of {name} cannot be found at {file}")


def _reader(stamp: str, notes: Notes) -> str | Callable[[], str]:
    """Return what the files hold, from the note about their times if there is one; else what reads them."""
    for text in notes.notes(stamp):
        if text.startswith("sources "):
            return text.removeprefix("sources ")
    global _texts
    files = list(_files())
    # 40 MB of libraries, for which Python's lock is not needed, and 800 texts, for which it is again and again.
    libraries, texts = (
        _Reader([entry.path for _, entry in files if entry.name.endswith(LIBRARIES) is compiled])
        for compiled in (True, False)
    )
    libraries.start()
    _texts = texts

    def read() -> str:
        state = hashlib.sha256()
        digests = texts.finish() | libraries.finish()
        for name, entry in sorted(files, key=lambda file: file[1].name.endswith(LIBRARIES)):
            state.update(f"{name}\0".encode())
            state.update(digests.get(entry.path) or _digest(entry.path))
        digest = state.hexdigest()[:32]
        notes.add_note(stamp, f"sources {digest}")
        return digest

    return read


def _digest(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return hashlib.sha256(file.read()).digest()


class _Reader(threading.Thread):
    """Reads files beside all else."""

    def __init__(self, paths: list[str]):
        super().__init__(name="theano: reads sources", daemon=True)
        self._digests: dict[str, bytes] = {}
        self._paths = paths

    def finish(self) -> dict[str, bytes]:
        """Return what the files hold, by path, as soon as it is known; one that cannot be read is left out."""
        if self.ident is None:
            self.run()
        else:
            self.join()
        return self._digests

    def run(self) -> None:
        """Read them."""
        for path in self._paths:
            try:
                self._digests[path] = _digest(path)
            except OSError:  # the next read reports the error
                continue


# -- flags and rules -----------------------------------------------------------------------------------------


def flags_in_force() -> list[tuple[str, str]]:
    """Return the flags that were set explicitly and that compiling may depend on.

    The others have their defaults, which are in the sources; what is computed from the environment (the
    compiler) is described for itself.

    Raises
    ------
    NoCanonicalForm
        A flag asks for output while compiling.
    """
    found = []
    for name, value in config.all_given().items():
        if name in WITHOUT_EFFECT:
            continue
        if name in WATCHING and value != WATCHING[name]:
            raise NoCanonicalForm(f"the flag {name} asks to watch the rewriting")
        found.append((name, repr(value)))
    return sorted(found)


_rules: tuple[int, list[Any]] | None = None


def rules_in_force() -> list[Any]:
    """Return what the common sequence of rewriting holds, by name.

    As long as it is as our modules declare it, the packages of rules say so; they need not be loaded.

    Raises
    ------
    NoCanonicalForm
        Something in it is not ours.
    """
    global _rules
    if replaced:
        raise NoCanonicalForm(f"replaced from outside: {', '.join(sorted(replaced))}")
    changes = phases.changes()
    if _rules is None or _rules[0] != changes:
        _rules = changes, [*families.packages] if phases.as_declared() else phases.contents()
    return _rules[1]


def environment(toolchain: str) -> list[Any]:
    """Return all of it but the sources as plain data.

    Parameters
    ----------
    toolchain : str
        The compiler's identity; empty where nothing is compiled.
    """
    python = [sys.implementation.cache_tag, *map(str, sys.version_info[:3]), sys.platform, sys.byteorder]
    return [python, facts(), toolchain, flags_in_force(), rules_in_force()]
