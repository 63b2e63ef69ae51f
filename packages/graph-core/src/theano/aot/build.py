"""From the folder of a model to its library: the commands, and running them."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from theano.aot.sources import with_headers
from theano.cache.store import Cache
from theano.codegen.key import digest_parts
from theano.errors import NoCompilerError
from theano.records import record
from theano.toolchain.build import core_count
from theano.toolchain.description import Toolchain
from theano.toolchain.flags import KERNELS_ALONE
from theano.toolchain.messages import readable, shorten
from theano.toolchain.progress import ProgressLine
from theano.toolchain.run import Running, StartError, run_to_end

#: What says for which CPU a compiler works.
_CPU = ("-march=", "-mcpu=", "-mtune=", "-mprefer-vector-width=")
_OF_LIBRARIES = ("-shared", "-g0", KERNELS_ALONE)


@record
class Unit:
    """A C file of a model: its path below the folder, its options, and the archive that has it compiled, if one has."""

    path: str
    flags: tuple[str, ...]
    archive: str = ""


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

    def __init__(self, tools: Toolchain, units: Sequence[Unit], library: str, linked: Sequence[str]):
        self.tools, self.compiler, self.units = tools, list(tools.compiler.argv), list(units)
        self.library, self.linked = library, list(linked)

    def object_of(self, unit: Unit) -> str:
        """Return the path of a unit's object file."""
        return os.path.splitext(unit.path)[0] + ".o"

    def compile(self, unit: Unit, target: str = "", *more: str) -> list[str]:
        """Return the command that compiles a unit, into another file than that of the Makefile if one is given."""
        folder = os.path.dirname(unit.path)
        include = dict.fromkeys((f"-I{folder}", "-Isrc", "-I."))
        flags = (*unit.flags, "-fPIC", "-fvisibility=hidden")
        options = [*dict.fromkeys(flags), *include, *more]
        return [*self.compiler, *options, "-c", unit.path, "-o", target or self.object_of(unit)]

    def link(self, objects: Sequence[str], archives: Sequence[str] = ()) -> list[str]:
        """Return the command that links the library; nothing of an archive is shown."""
        hidden = [f"-Wl,--exclude-libs,{os.path.basename(path)}" for path in archives]
        return [*self.compiler, "-shared", "-o", self.library, *objects, *archives, *hidden, *self.linked, "-lm"]

    def makefile(self) -> str:
        """Return the commands that compile all from the sources, as a Makefile."""
        lines = [
            "# Written by theano.export: `make` compiles the library again.",
            f"CC = {shlex.join(self.compiler)}",
            "",
        ]
        objects = [self.object_of(unit) for unit in self.units]
        strip = len(self.compiler)
        lines += [f"{self.library}: {' '.join(objects)}", f"\t$(CC) {shlex.join(self.link(objects)[strip:])}", ""]
        for unit in self.units:
            lines += [f"{self.object_of(unit)}: {unit.path}", f"\t$(CC) {shlex.join(self.compile(unit)[strip:])}", ""]
        lines += ["clean:", f"\trm -f {self.library} {' '.join(objects)}", ""]
        return "\n".join(lines)

    def run(self, folder: str, texts: Mapping[str, str], cache: Cache) -> None:
        """Link the library in a folder, from archives, objects of the cache, and what has to be compiled.

        Parameters
        ----------
        folder : str
        texts : dict from str to str
            The files in it, by their paths below it.
        cache : Cache
            It keeps the objects.

        Raises
        ------
        NoCompilerError
            The compiler cannot be started, or refused a file; the text has its command and what it said.
        """
        archives = list(dict.fromkeys(unit.archive for unit in self.units if unit.archive))
        with cache.stage() as stage:
            objects, missing = [], []
            for unit in self.units:
                if not unit.archive:
                    key = self._key(unit, texts)
                    objects.append(os.path.join(stage, f"{key}.o"))
                    if not _from_cache(key, objects[-1], cache):
                        missing.append((unit, key))
            self._compile(folder, missing, stage)
            command = self.link(objects, archives)
            process = _start(command, folder, os.path.join(stage, "link.log"))
            try:
                _finish(command, process, self.tools.settings.timeout)
            finally:
                process.kill()
            if self.tools.compiler.is_unchanged:
                for _, key in missing:
                    with suppress(OSError):  # then it is compiled again next time
                        cache.publish_unit(os.path.join(stage, f"{key}.o"), key)

    def _key(self, unit: Unit, texts: Mapping[str, str]) -> str:
        """Return the key of a unit's object: its text with those of the headers, the compiler and the command."""

        def text(name: str) -> str | None:
            return texts.get(name, texts.get(posixpath.normpath(f"src/{name}")))

        read = with_headers({unit.path: texts[unit.path]}, text)
        texts_by_name = [part for item in sorted(read.items()) for part in item]
        return digest_parts(["object", self.tools.identity, *self.compile(unit), "", *texts_by_name])

    def _compile(self, folder: str, missing: Sequence[tuple[Unit, str]], stage: str) -> None:
        """Compile units into a folder of objects, as many at a time as there are cores."""
        settings = self.tools.settings
        width = settings.jobs or core_count()
        running: list[tuple[list[str], Running]] = []
        progress = ProgressLine(len(missing), settings.progress, waits_for=shlex.join(self.compiler), what="file")

        def finish(command: list[str], process: Running) -> None:
            _finish(command, process, settings.timeout, progress.tick)
            progress.advance(1)

        try:
            for number, (unit, key) in enumerate(missing):
                if number >= width:
                    finish(*running[number - width])
                # As in each unit of the cache: by it the file is known as the one of its name.
                mark = os.path.join(stage, f"{key}.h")
                with open(mark, "w", encoding="ascii") as file:
                    file.write(f'static const char theano_unit_key[] __attribute__((used)) = "{key}";\n')
                command = self.compile(unit, os.path.join(stage, f"{key}.o"), "-include", mark)
                running.append((command, _start(command, folder, os.path.join(stage, f"{key}.log"))))
            for each in running[-width:]:
                finish(*each)
        finally:
            progress.finish()
            for _, process in running:
                process.kill()


def _from_cache(key: str, target: str, cache: Cache) -> bool:
    """Write the object of a key from the cache to a file; return whether it was there."""
    for _, _, data in cache.units(key):
        with open(target, "wb") as file:
            file.write(data)
        return True
    return False


def members(compiler: Sequence[str], archive: str, symbols: Sequence[str]) -> list[str]:
    """Return the names, without ``.o``, of the objects that a linker takes from an archive for some symbols.

    It is empty where it cannot link them, or does not name them.
    """
    options = [*(f"-Wl,-u,{symbol}" for symbol in symbols), "-Wl,--no-undefined", "-Wl,--trace", "-Wl,--trace"]
    command = [*compiler, "-shared", *options, archive, "-lm", "-o", "linked"]
    with tempfile.TemporaryDirectory(prefix="theano-export-") as folder:
        try:
            done = run_to_end(command, folder, 60.0)
        except StartError:
            return []
    if done.status != 0:
        return []
    return sorted(set(re.findall(rf"{re.escape(os.path.basename(archive))}\W+(\w+)\.o\b", done.output)))


def _start(command: list[str], folder: str, log: str) -> Running:
    try:
        return Running(command, folder, log)
    except StartError as error:
        raise NoCompilerError(f"the C compiler {command[0]} cannot be started: {error.strerror}") from error


def _finish(command: list[str], process: Running, timeout: float, tick: Callable[[], None] | None = None) -> None:
    outcome = process.wait(process.started + timeout, tick)
    if outcome.status != 0 or outcome.timed_out:
        seconds = time.monotonic() - process.started
        raise NoCompilerError(
            f"the C compiler {outcome.ending(seconds)}\n  It ran: {shorten(shlex.join(command), 400)}\n"
            f"  {readable(outcome.output[:2000])}"
        )
