"""The programs and arguments that a compiler's command really runs, wherever the arguments were set.

The command that a user names may be a program with arguments, or a script that adds some, or a link to either.
What counts for machine code is what comes out at the end: the inner commands that the driver would run, the
programs which these are, the text of the scripts on the way, and, unless it is plain that no setting has changed
anything about them, all headers and macros as the preprocessor sees them.

What is found does not depend on where a compiler is installed, nor on the folder in which it was asked.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from theano.records import NamedTuple
from theano.toolchain.environment import Stamp, find_program, is_script, stamp, words_of
from theano.toolchain.flags import HEADERS, MATHS_HEADERS
from theano.toolchain.run import with_paths

if TYPE_CHECKING:
    from theano.toolchain.run import ProcessResult

MAX_SCRIPT_BYTES = 1 << 16
MAX_FILES = 200
"""More files than this are not looked at on the way from a script to the compiler behind it."""
_HEAD, _TAIL = 4096, 1 << 16
_WORD = re.compile(r"(>?)\s*([\w./+@%-]+)")
_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)".*\n', re.MULTILINE)
_PATH = re.compile(r"/[^\s\"'=:,;]+")
_CHANGES_HEADERS = (
    "-I", "-D", "-U", "-i", "-nostdinc", "--sysroot", "-specs", "--specs", "-fplugin", "-Xclang", "--include", "@",
)  # fmt: skip
_USUAL = frozenset(
    ("-imultiarch", "-internal-isystem", "-internal-externc-isystem", "-D__GCC_HAVE_DWARF2_CFI_ASM=1")
)
"""Words that drivers give to the inner compiler by themselves."""


class Fingerprint(NamedTuple):
    """What distinguishes one way to compile from another.

    Parameters
    ----------
    digest : str
        Part of every key.
    witnesses : tuple of (str, int, int)
        Stamps of the files that decide: if these change, so may the digest.
    plain : bool
        Whether the command is a compiler's own driver without arguments that change what a header says.
    """

    digest: str
    witnesses: tuple[Stamp, ...]
    plain: bool


def fingerprint(
    argv: Sequence[str],
    flags: Sequence[str],
    said: str,
    language: str,
    folder: str,
    run: Callable[[list[str], str], ProcessResult],
) -> Fingerprint:
    """Find out what a command runs.

    Parameters
    ----------
    argv : sequence of str
        The command.
    flags : sequence of str
        The options that it is given.
    said : str
        What it answered to ``-###`` with these options.
    language : {'c', 'c++'}
    folder : str
        A private working directory, the one in which it was asked.
    run : callable
        Runs a command in a folder.

    Raises
    ------
    OSError
        The disk has no space for a trial.
    """
    commands = list(_inner_commands(said))
    programs = list(dict.fromkeys(_programs(commands)))
    scripts, files = _scripts(argv)
    parts = [*argv[1:], *(_without_places(words, folder) for words in commands)]
    parts += [f"{os.path.basename(program)} {_mark(program)}" for program in programs]
    parts += [f"script {digest}" for digest in scripts]
    parts += [f"{os.path.basename(path)} {_mark(path)}" for path in _named(argv[1:], folder)]
    plain = not scripts and len(argv) == 1 and _is_driver(argv[0], said, commands) and not _changes_headers(commands)
    witnesses = [argv[0], os.path.realpath(argv[0]), *programs, *files, *_named((*argv[1:], *flags), folder)]
    if not commands and not scripts:
        parts.append(_mark(argv[0]))
    if not plain:
        seen, headers = _preprocessed([*argv, *flags], language, folder, run)
        parts.append(seen)
        witnesses += headers
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        state.update(b"%d:" % len(data) + data)
    stamps = map(stamp, dict.fromkeys(witnesses))
    return Fingerprint(state.hexdigest()[:32], tuple(found for found in stamps if found[1] >= 0), plain)


# -- inner commands ----------------------------------------------------------------------------


def _inner_commands(said: str) -> Iterator[list[str]]:
    """Yield the words of each command that the driver would run: it indents them."""
    for line in said.splitlines():
        if line.startswith(" "):
            words = words_of(line)
            if words and (os.path.isabs(words[0]) or _which(words[0])):
                yield words


def _programs(commands: Iterable[list[str]]) -> Iterator[str]:
    """Yield the paths of what these commands run; the linker hides behind ``collect2``."""
    for words in commands:
        for name in (words[0], *(("ld",) if os.path.basename(words[0]) == "collect2" else ())):
            path = name if os.path.isabs(name) else _which(name)
            if path and os.path.isfile(path):
                yield os.path.realpath(path)


def _without_places(words: list[str], folder: str) -> str:
    """Write a command such that it is the same in every folder and wherever the compiler is installed."""
    kept: list[str] = []
    previous = ""
    for word in words:
        # Sizes of caches tune the code but leave it valid, and differ between like machines.
        if previous == "--param" and re.match(r"l\d-cache-", word):
            kept.pop()
        else:
            kept.append(word)
        previous = word
    text = "\n".join(kept)
    for place in dict.fromkeys((folder, os.path.realpath(folder))):
        text = re.sub(re.escape(place) + r"[^\s\"']*", "(scratch)", text)
    text = _PATH.sub(lambda match: os.path.realpath(match[0]), text)
    prefix = re.match(r"(/.+?)/(?:lib\w*|bin)/", os.path.realpath(words[0]) if os.path.isabs(words[0]) else "")
    return re.sub(rf"{re.escape(prefix[1])}(?=/)", "(prefix)", text) if prefix else text


def _changes_headers(commands: list[list[str]]) -> bool:
    """Say whether an inner compiler gets options about headers or macros that a plain one does not get."""
    for words in commands:
        if "cc1" not in os.path.basename(words[0]) and "-cc1" not in words[:2]:
            continue
        if any(word.startswith(_CHANGES_HEADERS) and word not in _USUAL for word in words[1:]):
            return True
    return False


def _is_driver(program: str, said: str, commands: list[list[str]]) -> bool:
    """Say whether the program is itself what shows the inner commands, not something that calls it."""
    if not commands:
        return False
    collect = re.search(r"^COLLECT_GCC=(.*)$", said, re.MULTILINE)
    if collect:
        return collect[1] == program
    return os.path.realpath(commands[0][0]) == os.path.realpath(program)


def _mark(path: str) -> str:
    """Tell one build of a program from another: by its size, its head (with the build's number) and its end."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            state = hashlib.sha256(b"%d:" % size + file.read(_HEAD))
            file.seek(max(_HEAD, size - _TAIL))
            state.update(file.read(_TAIL))
    except OSError:
        return "cannot be read"
    return state.hexdigest()[:32]


# -- scripts on the way ------------------------------------------------------------------------


def _scripts(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Follow scripts to the programs that they name; return digests of their texts, and all the files met."""
    digests: list[str] = []
    files: list[str] = []
    todo = [os.path.realpath(argv[0])]
    seen = set(todo)
    while todo and len(files) < MAX_FILES:
        path = todo.pop(0)
        files.append(path)
        text = _script_text(path)
        if text is None:
            continue
        digests.append(hashlib.sha256(text).hexdigest()[:32])
        for name in _names_in(with_paths(text), os.path.dirname(path)):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return digests, files


def _script_text(path: str) -> bytes | None:
    if not is_script(path):
        return None
    try:
        with open(path, "rb") as file:
            return file.read(MAX_SCRIPT_BYTES)
    except OSError:
        return None


def _names_in(text: str, folder: str) -> Iterator[str]:
    """Yield the files that a script may mean by its words, but none that it writes to."""
    for output, word in _WORD.findall(text):
        name = os.path.basename(word)
        if output or not name or name in (".", ".."):
            continue
        for path in (word, os.path.join(folder, name), _which(name)):
            if path and os.path.isabs(path) and os.path.isfile(path):
                yield os.path.realpath(path)


def _named(words: Sequence[str], folder: str) -> list[str]:
    """Return the files that arguments name: lists of arguments (``@file``), headers, specifications."""
    found = []
    for word in words:
        path = os.path.join(folder, re.sub(r"^(?:@|-[\w-]+=)", "", word))
        if os.path.isfile(path):
            found.append(path)
    return found


def _which(name: str) -> str | None:
    # A compiler may print anything.
    return None if "/" in name or "\0" in name else find_program(name)


# -- headers and macros ------------------------------------------------------------------------


def _preprocessed(
    command: list[str], language: str, folder: str, run: Callable[[list[str], str], ProcessResult]
) -> tuple[str, list[str]]:
    """Return a digest of all that the headers come to, macros included, and the files that this came from."""
    source, output = ("headers.c" if language == "c" else "headers.cpp"), os.path.join(folder, "headers.i")
    with open(os.path.join(folder, source), "w", encoding="ascii") as file:
        file.write("".join(f"#include <{header}>\n" for header in (*HEADERS, *MATHS_HEADERS)))
    outcome = run([*command, "-E", "-dD", "-x", language, source, "-o", "headers.i"], folder)
    if outcome.is_environments_fault:
        raise OSError(None, outcome.output.strip() or "the compiler was killed")
    if not os.path.isfile(output):  # (nothing would ever come out of a pipe)
        return "does not preprocess", []
    with open(output, "rb") as file:
        text = with_paths(file.read())
    os.unlink(output)
    names = dict.fromkeys(re.sub(r"\\(.)", r"\1", name) for name in _MARKER.findall(text))
    headers = [os.path.join(folder, name) for name in names if not name.startswith("<") and name != source]
    seen = hashlib.sha256(_MARKER.sub("", text).encode("utf-8", "surrogateescape")).hexdigest()
    return seen, [os.path.realpath(path) for path in headers]
