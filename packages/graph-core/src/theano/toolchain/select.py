"""One description of how C is compiled here, found once and noted in the cache."""

from __future__ import annotations

import json
import os
import re
import shlex
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from theano.errors import NoCompilerError
from theano.graph.signals import let_signals_through
from theano.records import replace
from theano.toolchain import flags as options
from theano.toolchain.description import NOT_HERE, Notes, Toolchain, ToolchainSettings, c_library
from theano.toolchain.environment import FOR_PROGRAMS, is_script, kept_environment
from theano.toolchain.find import Compiler, ask, candidates, own_files
from theano.toolchain.library import problem_of_library
from theano.toolchain.messages import readable

if TYPE_CHECKING:
    from theano.toolchain.probe_budget import ProbeBudget

NOTHING_FOUND = "no C compiler was found (looked for CC, cc, gcc, clang, and the ziglang package)"
NO_ANSWER = "it does not answer as a C compiler"
NOTE_VERSION = "toolchain 3"
PROBE = """#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <complex.h>
double th_probe(double x) { return fma(x, x, floor(x)); }
"""


class NotesAndFolders(Notes, Protocol):
    """Notes, and private folders to work in."""

    def stage(self, *, elsewhere: bool = False) -> AbstractContextManager[str]:
        """Give a private working directory; outside the cache if that is wanted."""


_Key = tuple[ToolchainSettings, str, tuple[tuple[str, str], ...]]
_found: dict[_Key, Toolchain | str] = {}
_budgets: dict[_Key, ProbeBudget] = {}
_hung: dict[_Key, str] = {}
_guard = threading.Lock()


def find_toolchain(
    settings: ToolchainSettings, notes: NotesAndFolders, *, privileged: bool = False, digest: Callable[[list[str]], str]
) -> Toolchain:
    """Find the compiler and the options it takes.

    The answer is remembered in this process, and in the notes under the stamps of the compiler's files
    and the description of the CPU, so that usually no program is started. A compiler that says that it
    knows all the options is believed: to compile something on trial would take as long as one kernel. The code
    that has compiled with it says so with `confirm`; after a failure it calls `reconsider`.

    Parameters
    ----------
    settings : ToolchainSettings
        The user's wishes.
    notes : NotesAndFolders
        The cache.
    privileged : bool
        Believe neither the environment nor the settings.
    digest : callable
        Makes a note's key from a list of texts.

    Raises
    ------
    NoCompilerError
        None works; the message says why.
    """
    if privileged:
        settings = replace(settings, compiler=None if settings.compiler != "" else "", extra_flags=())
    key = _key_in_process(settings)
    with _guard:
        known = _found.get(key)
    if known is None:
        known = _search(settings, notes, privileged, digest)
        with _guard:
            _found[key] = known
    if isinstance(known, str):
        raise NoCompilerError(known)
    return known


def confirm(toolchain: Toolchain, notes: NotesAndFolders, digest: Callable[[list[str]], str]) -> None:
    """Note that a toolchain has compiled something."""
    proven = replace(toolchain, proven=True)
    with _guard:
        for key in [key for key, found in _found.items() if found is toolchain]:
            _found[key] = proven
    _note(proven, notes, digest)


def reconsider(
    toolchain: Toolchain, notes: NotesAndFolders, *, privileged: bool = False, digest: Callable[[list[str]], str]
) -> Toolchain:
    """Find the compiler and the options again, by trying them all: one that was only believed has failed.

    One that is proven may have begun to hang; then what is noted about it does not count.

    Raises
    ------
    NoCompilerError
        None works; the message says why.
    """
    key = _key_in_process(toolchain.settings)
    if toolchain.proven:
        with _guard:
            _budgets.pop(key, None)
    found = _search(toolchain.settings, notes, privileged, digest, believing=False, noted=not toolchain.proven)
    with _guard:
        if toolchain.proven and isinstance(found, str):
            _hung[key] = found  # what it has compiled before is as good as ever
        else:
            _found[key] = found
    if isinstance(found, str):
        raise NoCompilerError(found)
    return found


def hangs(toolchain: Toolchain, notes: NotesAndFolders, digest: Callable[[list[str]], str]) -> str:
    """Return why a compiler must not be started now: it hung a while ago, here or in another process; "" if it may.

    Raises
    ------
    NoCompilerError
        Others have been looked for in vain.
    """
    with _guard:
        known = _hung.get(_key_in_process(toolchain.settings))
    if known is not None:
        raise NoCompilerError(known)
    # Only those that compile want to know.
    from theano.toolchain.probe_budget import Verdicts

    return Verdicts(notes, digest).find(_identity_now(toolchain.compiler))


def _identity_now(compiler: Compiler) -> str:
    return json.dumps([compiler.argv, own_files(compiler)])


def _key_in_process(settings: ToolchainSettings) -> _Key:
    return (settings, os.environ.get("CC", ""), kept_environment())


def _probe_budget(settings: ToolchainSettings) -> ProbeBudget:
    """Return the remaining time for probes in this process."""
    # Mostly what compilers would say is noted in the cache.
    from theano.toolchain.probe_budget import ProbeBudget

    with _guard:
        made = ProbeBudget(settings.question_timeout, settings.progress)
        return _budgets.setdefault(_key_in_process(settings), made)


def unit_limit(toolchain: Toolchain) -> float:
    """Return how many seconds one unit may take: half of the rest if the compiler has not been seen to work."""
    if toolchain.proven:
        return toolchain.settings.timeout
    return min(toolchain.settings.timeout, max(0.0, _probe_budget(toolchain.settings).left) / 2)


def charge(toolchain: Toolchain, seconds: float) -> None:
    """Note that a unit has used up time; what it took until a compiler has been seen to work is one sum."""
    if not toolchain.proven:
        _probe_budget(toolchain.settings).left -= seconds


def _renew_lock() -> None:
    """Another thread may have held the lock when this process was forked."""
    global _guard
    _guard = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def forget() -> None:
    """Forget what was found in this process, as after the installation of a compiler."""
    with _guard:
        _found.clear()
        _budgets.clear()
        _hung.clear()


def _search(
    settings: ToolchainSettings,
    notes: NotesAndFolders,
    privileged: bool,
    digest: Callable[[list[str]], str],
    believing: bool = True,
    noted: bool = True,
) -> Toolchain | str:
    if settings.compiler == "":
        return "the C compiler is switched off (cxx is empty)"
    tried = []
    wish = options.wishes(settings.extra_flags)
    for compiler in candidates(settings.compiler, privileged=privileged):
        found = _describe(compiler, settings, notes, digest, believing, noted)
        if isinstance(found, Toolchain):
            return found
        tried.append(f"{shlex.join(compiler.argv)}: {found}")
    if tried:
        return "no C compiler works here; " + "; ".join(tried)
    if settings.compiler is not None:
        return f"the C compiler {settings.compiler!r} is not installed"
    texts = notes.notes(_key_without_compiler(wish, digest))
    known = (_from_note(text, Compiler(("cc",), NOT_HERE), settings) for text in texts)
    # The output of a script around a compiler is taken only as a last resort.
    elsewhere = sorted((n for n in known if n is not None), key=lambda n: not n.compiler.plain)
    return elsewhere[0] if elsewhere else NOTHING_FOUND


def _describe(
    compiler: Compiler,
    settings: ToolchainSettings,
    notes: NotesAndFolders,
    digest: Callable[[list[str]], str],
    believing: bool,
    noted: bool = True,
) -> Toolchain | str:
    """Return the toolchain of one compiler, from the notes or by asking it; else what is wrong.

    Without `believing`, only what has compiled something counts.
    """
    texts = notes.notes(_key_of_note(compiler, settings, digest)) if noted else []
    described = [_from_note(text, compiler, settings) for text in texts]
    known = sorted((n for n in described if n is not None and (n.proven or believing)), key=lambda n: not n.proven)
    if known:
        return known[0]
    # Those for whom all is noted have no use for this.
    from theano.toolchain.probe_budget import Verdicts

    verdicts, identity = Verdicts(notes, digest), _identity_now(compiler)
    found: Toolchain | str = verdicts.find(identity)
    if found:
        return found
    budget = _probe_budget(settings)
    # Where others may come next, they are left enough time to answer. Zig comes last, and compiles much of its own at
    # its first start: 32 s of one core.
    last = settings.compiler is not None or compiler.origin == "ziglang"
    with budget.to(shlex.join(compiler.argv), 1.0 if last else 0.5):
        found = _asked(compiler, settings, notes, believing)
    if isinstance(found, Toolchain):
        _note(found, notes, digest)
    elif budget.hung:
        found = budget.hung
        verdicts.add(identity, found)
    elif budget.failure and found == NO_ANSWER:
        found = f"{NO_ANSWER}: {budget.failure}"
    return found


def _asked(compiler: Compiler, settings: ToolchainSettings, notes: NotesAndFolders, believing: bool) -> Toolchain | str:
    """Return the toolchain of one compiler by asking it; else what is wrong."""
    found: Toolchain | None = None
    if believing:
        try:
            with notes.stage() as folder:
                found = _believed(compiler, settings, folder)
        except OSError as error:
            let_signals_through(error)  # otherwise there is another place for trials
    return found or _tried(compiler, settings, notes)


def _believed(compiler: Compiler, settings: ToolchainSettings, folder: str) -> Toolchain | None:
    """Return the toolchain of a compiler that has nothing to say against any option; else None."""
    wish = options.wishes(settings.extra_flags)
    native = options.NATIVE_FORMS[0] if wish.native else ()
    flags = (*options.ALWAYS, *options.OPTIMISATION, *native, *wish.optional(), *wish.extra)
    answer = ask(compiler, native, folder, tuple(flag for flag in flags if flag not in native))
    if answer is None or not answer.content or (native and not answer.native):
        return None
    return Toolchain(compiler.described(answer, flags, folder), flags, answer.native, settings, proven=False)


def _tried(compiler: Compiler, settings: ToolchainSettings, notes: NotesAndFolders) -> Toolchain | str:
    """Return the toolchain of a compiler that has compiled something with the options it takes; else what is wrong."""
    wish = options.wishes(settings.extra_flags)
    native = options.NATIVE_FORMS[0] if wish.native else ()
    wished = len((*options.ALWAYS, *options.OPTIMISATION, *native, *wish.optional(), *wish.extra))
    found: Toolchain | str = ""
    # On a full disk a compiler fails, sometimes without a word, so what did not go well is tried in another place.
    for elsewhere in (False, True):
        try:
            with notes.stage(elsewhere=elsewhere) as folder:
                tried = _probe(compiler, wish, settings, options.cpu_description(), folder)
        except OSError as error:
            let_signals_through(error)
            tried = error.strerror or str(error)
        if not isinstance(found, Toolchain) or (isinstance(tried, Toolchain) and len(tried.flags) > len(found.flags)):
            found = tried
        if isinstance(found, Toolchain) and len(found.flags) == wished:
            break
    return found


def _note(found: Toolchain, notes: NotesAndFolders, digest: Callable[[list[str]], str]) -> None:
    notes.add_note(_key_of_note(found.compiler, found.settings, digest), _to_note(found))
    for_others = note_for_others(found, digest)
    if for_others:
        notes.add_note(*for_others)


def note_for_others(found: Toolchain, digest: Callable[[list[str]], str]) -> tuple[str, str] | tuple[()]:
    """Return key and text of the note by which a machine like this one without a compiler knows a toolchain.

    None for a compiler that was chosen here by name.
    """
    if found.settings.compiler is not None or found.compiler.origin == "CC":
        return ()
    return _key_without_compiler(options.wishes(found.settings.extra_flags), digest), _to_note(found)


def _key_of_note(compiler: Compiler, settings: ToolchainSettings, digest: Callable[[list[str]], str]) -> str:
    """Return the key of what is noted about a compiler: its files, the CPU, all that is asked of it."""
    wish = options.wishes(settings.extra_flags)
    asked = [*options.ALWAYS, *options.OPTIMISATION, repr(options.NATIVE_FORMS), *wish.optional(), *wish.extra, PROBE]
    environment = kept_environment() if is_script(compiler.argv[0]) else kept_environment(FOR_PROGRAMS)
    files = json.dumps([compiler.argv, own_files(compiler), environment])
    return digest([NOTE_VERSION, files, options.cpu_description(), repr(wish), *asked])


def _key_without_compiler(wish: options.Wishes, digest: Callable[[list[str]], str]) -> str:
    """Return the key under which a machine like this one without a compiler finds what was used.

    It can then take from a pre-filled cache what has been compiled for its CPU and C library.
    """
    return digest([NOTE_VERSION, "without compiler", options.cpu_description(), c_library(), repr(wish)])


def _to_note(toolchain: Toolchain) -> str:
    compiler = toolchain.compiler
    facts = {
        "version": compiler.version,
        "target": compiler.target,
        "witnesses": compiler.witnesses,
        "fingerprint": compiler.fingerprint,
        "plain": compiler.plain,
        "flags": toolchain.flags,
        "cpu_class": toolchain.cpu_class,
        "proven": toolchain.proven,
    }
    return json.dumps(facts, indent=1, sort_keys=True)


def _from_note(text: str, compiler: Compiler, settings: ToolchainSettings) -> Toolchain | None:
    try:
        facts: dict[str, Any] = json.loads(text)
        witnesses = tuple((str(path), int(size), int(time)) for path, size, time in facts["witnesses"])
        described = replace(
            compiler,
            version=str(facts["version"]),
            target=str(facts["target"]),
            witnesses=witnesses,
            fingerprint=str(facts["fingerprint"]),
            plain=facts["plain"] is True,
        )
        if compiler.origin != NOT_HERE and not described.is_unchanged:
            return None  # an inner program of the compiler was exchanged
        flags = tuple(map(str, facts["flags"]))
        return Toolchain(described, flags, str(facts["cpu_class"]), settings, proven=facts["proven"] is True)
    except (ValueError, KeyError, TypeError):
        return None


def _probe(
    compiler: Compiler, wish: options.Wishes, settings: ToolchainSettings, cpu: str, folder: str
) -> Toolchain | str:
    """Ask the compiler about itself, then find by compiling which options it takes; else what is wrong."""
    problem = NO_ANSWER
    for native in options.NATIVE_FORMS if wish.native else ((),):
        answer = ask(compiler, native, folder)
        if answer is None:
            continue
        # A compiler that will not say what its CPU is gets the kernel's description instead.
        cpu_class = (answer.native or cpu) if native else ""
        base = Toolchain(compiler, (*options.ALWAYS, *options.OPTIMISATION, *native), cpu_class, settings)
        accepted, problem = _accepted(base, wish, folder)
        if not problem:
            rest = tuple(flag for flag in accepted if flag not in native)
            known = compiler.described(ask(compiler, native, folder, rest) or answer, accepted, folder)
            return replace(base, compiler=known, flags=accepted)
    return problem


def _accepted(base: Toolchain, wish: options.Wishes, folder: str) -> tuple[tuple[str, ...], str]:
    """Return the options that work together, or why it cannot even do without the optional ones."""

    def problem(optional: tuple[str, ...]) -> str:
        return _problem(replace(base, flags=(*base.flags, *optional, *wish.extra)), folder)

    if not problem(wish.optional()):
        return (*base.flags, *wish.optional(), *wish.extra), ""
    without = problem(())
    if without:
        return (), without
    taken: tuple[str, ...] = ()
    for flag in wish.optional():
        if not problem((*taken, flag)):
            taken = (*taken, flag)
    return (*base.flags, *taken, *wish.extra), ""


def _problem(toolchain: Toolchain, folder: str) -> str:
    """Compile a small file; return "" or the first thing that went wrong.

    Raises
    ------
    OSError
        The disk has no space for it, so nothing is known.
    """
    output = os.path.join(folder, "probe.so")
    with open(os.path.join(folder, "probe.c"), "w", encoding="utf-8") as file:
        file.write(PROBE)
    # Mostly what compilers would say is noted in the cache.
    from theano.toolchain.probe_budget import run_probe

    result = run_probe(toolchain.command("probe.c", "probe.so"), folder, "probe.log")
    if result.is_environments_fault:
        raise OSError(None, f"it {result.ending(0)}")
    cut = problem_of_library(output) if result.status == 0 else ""
    with suppress(OSError):
        os.unlink(output)
    # Some compilers only warn about an option they do not know.
    words = "error|undefined|cannot|not found" if result.status else "error|unknown|unrecognized|unused"
    match = re.search(rf"^.*\b(?:{words})\b.*$", result.output, re.MULTILINE)
    if match and (said := readable(match[0])):
        return said
    if cut:
        return f"it ends well, but the library that it makes {cut}"
    return "" if result.status == 0 else f"it {result.ending(0)}"
