"""Finding the C compiler and saying exactly what it is.

Nothing is guessed from the name of the platform: a candidate counts once it has compiled something.
What it said about itself is noted in the cache under the size and time of its files, so that a
later process asks the file system only and starts no program.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from theano.records import NamedTuple, record, replace
from theano.toolchain.environment import Stamp, find_program, stamp, words_of

if TYPE_CHECKING:
    from theano.toolchain.run import ProcessResult


@record(frozen=True)
class Compiler:
    """A C compiler driver.

    Parameters
    ----------
    argv : tuple of str
        The program with the arguments that always come first (``zig cc`` has one).
    origin : str
        Where it was found: ``"setting"``, ``"CC"``, ``"PATH"``, ``"ziglang"``, or ``"elsewhere"`` if it is
        not on this machine but has filled a cache that is read here.
    version : str
        Its own line about its version.
    target : str
        The system it compiles for.
    witnesses : tuple of (str, int, int)
        Path, size and time (ns) of the files it consists of: if these change, so may its output.
    fingerprint : str
        What the command really runs, see `theano.toolchain.fingerprint`.
    plain : bool
        Whether it is a compiler's own driver without arguments that change what a header says.

    Examples
    --------
    >>> Compiler(("/usr/bin/cc",), "PATH", "gcc version 12.2.0", "x86_64-linux-gnu", fingerprint="e3b0c4").identity
    'gcc version 12.2.0|x86_64-linux-gnu|e3b0c4'
    """

    argv: tuple[str, ...]
    origin: str
    version: str = ""
    target: str = ""
    witnesses: tuple[Stamp, ...] = ()
    fingerprint: str = ""
    plain: bool = False

    @property
    def identity(self) -> str:
        """What of it is part of every key: not its place, which does not change its output."""
        return f"{self.version}|{self.target}|{self.fingerprint}"

    def described(self, answer: Answer, flags: tuple[str, ...], folder: str) -> Compiler:
        """Return this compiler with all that it has answered and what it runs for these options.

        Raises
        ------
        OSError
            The disk has no space for a trial.
        """
        # Mostly what compilers run is noted in the cache.
        from theano.toolchain.fingerprint import fingerprint

        language = "c++" if self.is_cxx_driver else "c"
        runs = fingerprint(self.argv, flags, answer.output, language, folder, _answer)
        witnesses = tuple(dict.fromkeys((*answer.witnesses, *runs.witnesses)))
        return replace(
            self,
            version=answer.version,
            target=answer.target,
            witnesses=witnesses,
            fingerprint=runs.digest,
            plain=runs.plain,
        )

    @property
    def is_unchanged(self) -> bool:
        """Whether its files are still those that were looked at."""
        return all(stamp(path) == (path, size, time) for path, size, time in self.witnesses)

    @property
    def is_cxx_driver(self) -> bool:
        """Whether it takes files for C++ unless told."""
        return re.search(r"(\+\+|cxx)(-[\d.]+)?(\.exe)?$", self.argv[0]) is not None


def candidates(setting: str | None, *, privileged: bool = False) -> Iterator[Compiler]:
    """Yield the compilers to try, best first.

    Parameters
    ----------
    setting : str or None
        The user's choice, a command with arguments; "" for no compiler at all; None to search.
    privileged : bool
        The environment is not to be believed.
    """
    path = os.defpath if privileged else None
    if setting == "":
        return
    if setting is not None:
        found = _resolve(shlex.split(setting, posix=os.name == "posix"), path)
        if found:
            yield Compiler(found, "setting")
        return
    if not privileged and os.environ.get("CC", "").strip():
        found = _resolve(_split(os.environ["CC"]), path)
        if found:
            yield Compiler(found, "CC")
    seen = set()
    for name in ("cc", "gcc", "clang"):
        program = find_program(name, path)
        if program and os.path.realpath(program) not in seen:
            seen.add(os.path.realpath(program))
            yield Compiler((program,), "PATH")
    zig = _zig_of_wheel()
    if zig:
        yield Compiler((zig, "cc"), "ziglang")


def cxx_command(compiler: Compiler) -> str:
    """Return the command that compiles C++ beside a C compiler: of the same kind, and where there is one, same version.

    Examples
    --------
    >>> cxx_command(Compiler(("/opt/bin/g++-12", "-m64"), "setting"))
    '/opt/bin/g++-12 -m64'
    """
    program, *rest = compiler.argv
    if compiler.is_cxx_driver:
        return shlex.join(compiler.argv)
    if rest[:1] == ["cc"]:
        return shlex.join([program, "c++", *rest[1:]])  # zig
    folder, name = os.path.split(program)
    named = re.sub(r"(?:^|(?<=[-_]))(gcc|clang|cc)(?![a-z])", lambda m: _CXX_NAMES[m[1]], name)
    beside = os.path.join(folder, named)
    return shlex.join([beside if os.access(beside, os.X_OK) else named, *rest])


_CXX_NAMES = {"gcc": "g++", "clang": "clang++", "cc": "c++"}


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _resolve(words: list[str], path: str | None) -> tuple[str, ...]:
    program = find_program(words[0], path) if words else None
    return (os.path.abspath(program), *words[1:]) if program else ()


def _zig_of_wheel() -> str:
    """Return the compiler of the ``ziglang`` wheel without importing it; "" if it is not installed."""
    try:
        spec = importlib.util.find_spec("ziglang")
    except (ImportError, ValueError):
        return ""
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        program = os.path.join(folder, "zig.exe" if sys.platform == "win32" else "zig")
        if os.access(program, os.X_OK):
            return program
    return ""


def own_files(compiler: Compiler) -> tuple[Stamp, ...]:
    """Stamp the files by which a change of the compiler shows without asking it.

    A name such as ``cc`` may be a wrapper (ccache in masquerade, a script) around the next program
    of that name in PATH, so all of that name are looked at, as are the assembler and the linker.
    """
    program = compiler.argv[0]
    paths = [program, os.path.realpath(program), *(find_program(name) or name for name in ("as", "ld"))]
    name = os.path.basename(program)
    paths += [os.path.join(folder, name) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    return tuple(found for found in map(stamp, dict.fromkeys(paths)) if found[1] >= 0)


class Answer(NamedTuple):
    """What a compiler says when asked about itself and this machine.

    Parameters
    ----------
    version, target : str
        As in `Compiler`.
    native : str
        What ``-march=native`` means here, in the compiler's own words; "" if it does not know.
    witnesses : tuple of (str, int, int)
        Stamps of the inner programs it named.
    content : bool
        Whether it has shown how it would go about it, and said nothing against any of the options.
    output : str
        All that it said.
    """

    version: str
    target: str
    native: str
    witnesses: tuple[Stamp, ...]
    content: bool = False
    output: str = ""


def ask(compiler: Compiler, native: tuple[str, ...], folder: str, rest: tuple[str, ...] = ()) -> Answer | None:
    """Start the compiler once, to learn its version, its target and what this CPU is to it.

    It shows what it would do and does not do it, which takes it a twentieth of the time of compiling something.

    Parameters
    ----------
    compiler : Compiler
        Whom to ask.
    native : tuple of str
        The option that means this machine's CPU, such as ``("-march=native",)``.
    folder : str
        A private working directory.
    rest : tuple of str
        Other options that it shall look at.

    Returns
    -------
    Answer or None
        None if it does not answer as a C compiler.
    """
    arguments = [*compiler.argv, *native, *rest, "-###", "-x", "c", os.devnull, "-o", "nothing.so"]
    result = _answer(arguments, folder)
    if result.timed_out:
        return None
    version = re.search(r"^.*\bversion \d.*$", result.output, re.MULTILINE)
    if result.status != 0 or version is None:
        return _ask_plainly(compiler, folder) if not native else None
    target = re.search(r"^Target: (.*)$", result.output, re.MULTILINE)
    words = _inner_command(result.paths)
    witnesses = tuple(found for found in map(stamp, words[:1]) if found[1] >= 0)
    return Answer(
        version[0].strip(),
        target[1].strip() if target else "",
        " ".join(word for word in _cpu_words(words) if word not in rest) if native else "",
        witnesses,
        bool(witnesses) and _COMPLAINT.search(result.output) is None,
        result.paths,
    )


_COMPLAINT = re.compile(r"^[^\s:]+: (?:fatal )?(?:error|warning): ", re.MULTILINE)


def _answer(arguments: list[str], folder: str) -> ProcessResult:
    # Mostly what compilers would say is noted in the cache.
    from theano.toolchain.probe_budget import run_probe

    return run_probe(arguments, folder)


def _ask_plainly(compiler: Compiler, folder: str) -> Answer | None:
    """Ask a compiler that does not show its inner commands for its version only."""
    result = _answer([*compiler.argv, "--version"], folder)
    if result.status != 0 or not result.output.strip():
        return None
    return Answer(result.output.strip().splitlines()[0], "", "", ())


def _inner_command(output: str) -> list[str]:
    """Return the words of the command that would do the compiling itself."""
    for line in output.splitlines():
        words = words_of(line) if "cc1" in line else []
        if words and (os.path.basename(words[0]) == "cc1" or "-cc1" in words[:2]):
            return words
    return []


def _cpu_words(words: list[str]) -> Iterator[str]:
    """Yield the words of the inner command that say which instructions may be used.

    A compiler for another machine hands ``-march=native`` on as it is, which says nothing of this one.
    """
    takes_value = ("-target-cpu", "-target-feature", "-tune-cpu", "-target-abi")
    previous = ""
    for word in words:
        # Sizes of caches tune the code but leave it valid, and differ between like machines.
        if previous in takes_value:
            yield f"{previous}={word}"
        elif word.startswith("-m") and not word.endswith("=native") and "-cc1" not in words[:2]:
            yield word
        previous = word
