"""From the folder of a model to its library: the commands, and running them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Sequence

from theano.errors import NoCompilerError
from theano.records import record
from theano.toolchain.build import core_count
from theano.toolchain.description import Toolchain
from theano.toolchain.flags import KERNELS_ALONE
from theano.toolchain.messages import readable, shorten
from theano.toolchain.run import Running, StartError

#: What says for which CPU a compiler works.
_CPU = ("-march=", "-mcpu=", "-mtune=", "-mprefer-vector-width=")
#: Which file the text that follows comes from; 1: it begins here, 3: it is of the system.
_MARK = re.compile(r'^# \d+ ("(?:[^"\\\n]|\\.)*")((?: \d)*)$', re.MULTILINE)
_OF_LIBRARIES = ("-shared", "-g0", KERNELS_ALONE)


@record
class Unit:
    """A C file of a model: its path below the folder, and the options that it is compiled with."""

    path: str
    flags: tuple[str, ...]


def kernel_flags(tools: Toolchain, cpu: str) -> tuple[str, ...]:
    """Return the options for generated kernels: those of this process, for a CPU."""
    flags = tuple(flag for flag in tools.flags if flag not in _OF_LIBRARIES and not flag.startswith("-Wl,"))
    return for_cpu(flags, cpu)


def for_cpu(flags: Sequence[str], cpu: str) -> tuple[str, ...]:
    """Return options for a CPU: ``"native"`` leaves them as they are, ``"baseline"`` says nothing of it.

    Examples
    --------
    >>> for_cpu(("-O3", "-march=native"), "x86-64-v3"), for_cpu(("-O3", "-march=native"), "baseline")
    (('-O3', '-march=x86-64-v3'), ('-O3',))
    """
    if cpu == "native":
        return tuple(flags)
    kept = tuple(flag for flag in flags if not flag.startswith(_CPU))
    return kept if cpu == "baseline" else (*kept, f"-march={cpu}")


class Commands:
    """How a model is compiled and linked, relative to its folder."""

    def __init__(self, compiler: Sequence[str], units: Sequence[Unit], library: str, linked: Sequence[str]):
        self.compiler, self.units, self.library, self.linked = list(compiler), list(units), library, list(linked)

    def object_of(self, unit: Unit) -> str:
        """Return the path of a unit's object file."""
        return os.path.splitext(unit.path)[0] + ".o"

    def compile(self, unit: Unit) -> list[str]:
        """Return the command that compiles a unit."""
        folder = os.path.dirname(unit.path)
        include = dict.fromkeys((f"-I{folder}", "-Isrc", "-I."))
        flags = (*unit.flags, "-fPIC", "-fvisibility=hidden")
        return [*self.compiler, *dict.fromkeys(flags), *include, "-c", unit.path, "-o", self.object_of(unit)]

    def link(self) -> list[str]:
        """Return the command that links the library."""
        objects = [self.object_of(unit) for unit in self.units]
        return [*self.compiler, "-shared", "-o", self.library, *objects, *self.linked, "-lm"]

    def makefile(self) -> str:
        """Return the same as a Makefile."""
        lines = [
            "# Written by theano.export: `make` compiles the library again.",
            f"CC = {shlex.join(self.compiler)}",
            "",
        ]
        objects = " ".join(self.object_of(unit) for unit in self.units)
        strip = len(self.compiler)
        lines += [f"{self.library}: {objects}", f"\t$(CC) {shlex.join(self.link()[strip:])}", ""]
        for unit in self.units:
            lines += [f"{self.object_of(unit)}: {unit.path}", f"\t$(CC) {shlex.join(self.compile(unit)[strip:])}", ""]
        lines += ["clean:", f"\trm -f {self.library} {objects}", ""]
        return "\n".join(lines)

    def run(self, folder: str, timeout: float) -> None:
        """Compile and link in a folder, as many files at a time as there are cores.

        Raises
        ------
        NoCompilerError
            The compiler cannot be started, or refused a file; the text has its command and what it said.
        """
        width = core_count()
        logs = tempfile.mkdtemp(prefix="theano-export-")
        running: list[tuple[list[str], Running]] = []
        try:
            for number, unit in enumerate(self.units):
                if number >= width:
                    _finish(*running[number - width], timeout)
                command = self.compile(unit)
                running.append((command, _start(command, folder, os.path.join(logs, f"{number}.log"))))
            for command, process in running[-width:]:
                _finish(command, process, timeout)
            running.append((self.link(), _start(self.link(), folder, os.path.join(logs, "link.log"))))
            _finish(*running[-1], timeout)
        finally:
            for _, process in running:
                process.kill()
            shutil.rmtree(logs, ignore_errors=True)
            for unit in self.units:
                path = os.path.join(folder, self.object_of(unit))
                if os.path.exists(path):
                    os.unlink(path)


def _start(command: list[str], folder: str, log: str) -> Running:
    try:
        return Running(command, folder, log)
    except StartError as error:
        raise NoCompilerError(f"the C compiler {command[0]} cannot be started: {error.strerror}") from error


def _finish(command: list[str], process: Running, timeout: float) -> None:
    outcome = process.wait(process.started + timeout)
    if outcome.status != 0 or outcome.timed_out:
        seconds = time.monotonic() - process.started
        raise NoCompilerError(
            f"the C compiler {outcome.ending(seconds)}\n  It ran: {shorten(shlex.join(command), 400)}\n"
            f"  {readable(outcome.output[:2000])}"
        )


def preprocess(compiler: Sequence[str], flags: Sequence[str], folder: str, names: Sequence[str]) -> dict[str, str]:
    """Return the texts of C files in a folder after the preprocessor, without those of the system's headers.

    Raises
    ------
    NoCompilerError
        The compiler cannot do it.
    """
    made: dict[str, str] = {}
    running: list[tuple[str, list[str], Running]] = []
    for name in names:
        command = [*compiler, *flags, "-E", f"-I{folder}", name, "-o", f"{name}.i"]
        running.append((name, command, _start(command, folder, f"{name}.log")))
        if len(running) >= core_count():
            _finish_text(running, made, folder)
    _finish_text(running, made, folder)
    return made


def _finish_text(running: list[tuple[str, list[str], Running]], made: dict[str, str], folder: str) -> None:
    for name, command, process in running:
        _finish(command, process, 60.0)
        with open(os.path.join(folder, f"{name}.i"), encoding="utf-8", errors="replace") as file:
            made[name] = without_system(file.read())
    running.clear()


def without_system(text: str) -> str:
    r"""Return preprocessed text without what comes from headers of the system, often a hundred times as much.

    Examples
    --------
    >>> without_system('# 1 "a.c"\nint a;\n# 1 "/usr/b.h" 1 3 4\nint b;\n# 3 "a.c" 2\nint c;\n').split()
    ['int', 'a;', 'int', 'c;']
    """
    first, *parts = _MARK.split(text)
    names, flags, texts = parts[::3], parts[1::3], parts[2::3]
    system = {name for name, flag in zip(names, flags) if flag.startswith(" 1 3")}
    return first + "".join(part for name, part in zip(names, texts) if name not in system)
