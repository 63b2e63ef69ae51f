"""Compiling C units side by side, and saying what went wrong in the user's terms."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from theano.errors import KernelCompileError
from theano.records import NamedTuple
from theano.toolchain.description import Toolchain
from theano.toolchain.library import problem_of_library
from theano.toolchain.messages import first_words, readable, shorten
from theano.toolchain.progress import ProgressLine
from theano.toolchain.select import charge, unit_limit

if TYPE_CHECKING:
    from theano.toolchain.run import ProcessResult, Running


_SPACE = 1 << 20
"""Bytes that are written on trial where a compiler has failed: on a full disk many do so without a word."""


class Span(NamedTuple):
    """The lines of a unit that came from one kernel: the first, the one after the last, whose."""

    start: int
    stop: int
    name: str


class Job(NamedTuple):
    """One C file to compile.

    Parameters
    ----------
    stem : str
        The file's name without extension.
    text : str
        The C text.
    spans : tuple of Span
        The position of each kernel's text.
    language : {'c', 'c++'}
    extra : tuple of str
        Further options.
    without : tuple of str
        Options that are left out.
    """

    stem: str
    text: str
    spans: tuple[Span, ...] = ()
    language: str = "c"
    extra: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The file's name."""
        return self.stem + (".c" if self.language == "c" else ".cpp")


class BuildEnvironmentError(OSError):
    """The compiler failed for a reason that is not in the C text: no space, no memory, no time, itself."""


class CompilerFaultError(BuildEnvironmentError):
    """The reason is the compiler itself.

    Parameters
    ----------
    text : str
        Which one, what it did, and the command.
    timed_out : bool
        Whether it had not ended in time.
    """

    def __init__(self, text: str, timed_out: bool = False):
        super().__init__(None, text)
        self.timed_out = timed_out

    def __str__(self) -> str:
        return str(self.strerror)


@cache
def core_count() -> int:
    """Return how many processors this process may use: its affinity, cut to its control group's share.

    Examples
    --------
    >>> core_count() >= 1
    True
    """
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
        if quota != "max":
            count = min(count, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass
    return count


def build(toolchain: Toolchain, jobs: Sequence[Job], folder: str, include: tuple[str, ...] = ()) -> list[str]:
    """Compile each job to a library in `folder`, as many at a time as there are cores.

    Parameters
    ----------
    toolchain : Toolchain
        What to compile with.
    jobs : sequence of Job
        What to compile.
    folder : str
        A private working directory, removed by the caller whatever happens.
    include : tuple of str
        Folders of header files.

    Returns
    -------
    list of str
        The libraries' paths.

    Raises
    ------
    KernelCompileError
        The compiler refused the C text.
    BuildEnvironmentError
        The disk is full.
    CompilerFaultError
        It does not work.
    """
    # Starting programs brings in much that a process which finds all kernels has no use for.
    from theano.toolchain.run import Running, StartError

    width = max(1, toolchain.settings.jobs or core_count())
    running: list[Running] = []
    kernels = sum(len(job.spans) for job in jobs)
    progress = ProgressLine(kernels, toolchain.settings.progress, waits_for=shlex.join(toolchain.compiler.argv))
    limit = unit_limit(toolchain)
    commands: list[list[str]] = []
    try:
        for index, job in enumerate(jobs):
            if index >= width:
                done = index - width
                _finish(toolchain, jobs[done], commands[done], running[done], limit, progress)
            with open(os.path.join(folder, job.source), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(job.text)
            # Relative names: nothing of the place gets into the file, so equal units are equal bytes.
            extra, without = job.extra, job.without
            if toolchain.settings.show_warnings:
                extra, without = (*extra, "-Wall"), (*without, "-w")
            command = toolchain.command(job.source, job.stem + ".so", include, job.language, extra, without)
            commands.append(command)
            try:
                running.append(Running(command, folder, job.stem + ".log"))
            except StartError as error:
                raise fault(toolchain, command, f"cannot be started: {error.strerror}") from error
        for job, command, process in zip(jobs[-width:], commands[-width:], running[-width:], strict=True):
            _finish(toolchain, job, command, process, limit, progress)
    finally:
        progress.finish()
        for process in running:
            process.kill()
    return [os.path.join(folder, job.stem + ".so") for job in jobs]


def _finish(
    toolchain: Toolchain,
    job: Job,
    command: list[str],
    process: Running,
    limit: float,
    progress: ProgressLine,
) -> None:
    """Wait for one unit, until `limit` seconds after its start, and see that it is there."""
    outcome = process.wait(process.started + limit, progress.tick)
    progress.advance(len(job.spans))
    if outcome.status == 0 and not outcome.timed_out:
        cut = problem_of_library(os.path.join(process.folder, job.stem + ".so"))
        if cut:
            _blame_the_disk(process.folder, outcome)
            raise fault(toolchain, command, f"ended well, but the library that it should have made {cut}")
        if toolchain.settings.show_warnings and outcome.output.strip():
            sys.stderr.write(outcome.output.rstrip() + "\n")
        return
    found = _first_error(job, outcome)
    if found is None:
        seconds = time.monotonic() - process.started
        if outcome.timed_out:
            charge(toolchain, seconds)
        else:
            _blame_the_disk(process.folder, outcome)
        raise fault(toolchain, command, outcome.ending(seconds), timed_out=outcome.timed_out)
    line, message = found
    text = _explanation(toolchain, job, line, readable(message, 300))
    if toolchain.settings.keep_failed:
        text += f"\n  The C text and all that the compiler said are in {_kept(job, outcome)}"
    raise KernelCompileError(
        text, kernel=_owner(job, line), log=outcome.output, source=job.text
    )


def fault(toolchain: Toolchain, command: list[str], what: str, *, timed_out: bool = False) -> CompilerFaultError:
    """Return the error that says what a compiler did at a command."""
    name = shlex.join(toolchain.compiler.argv)
    return CompilerFaultError(f"the C compiler {name} {what}\n  It ran: {shorten(shlex.join(command), 500)}", timed_out)


def _blame_the_disk(folder: str, outcome: ProcessResult) -> None:
    """Raise an error if a compilation failed because of the place where it worked."""
    if outcome.lacked_space:
        raise BuildEnvironmentError(None, f"the C compiler said: {first_words(outcome.output)}")
    trial = os.path.join(folder, "space")
    try:
        os.stat(folder)
        with open(trial, "wb") as file:
            file.write(bytes(_SPACE))
        os.unlink(trial)
    except OSError as error:
        raise BuildEnvironmentError(error.errno, error.strerror, folder) from error


def _kept(job: Job, outcome: ProcessResult) -> str:
    """Return a folder of its own that holds what was refused."""
    import tempfile  # brings in much, and a compiler rarely refuses

    folder = tempfile.mkdtemp(prefix="theano-refused-")
    for name, text in ((job.source, job.text), (job.stem + ".log", outcome.output)):
        path = os.path.join(folder, os.path.basename(name))
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    return folder


def _first_error(job: Job, outcome: ProcessResult) -> tuple[int, str] | None:
    """Return line and text of the first error that the C text is to blame for; None if it has none."""
    if outcome.is_environments_fault:
        return None
    match = re.search(
        rf"^{re.escape(job.source)}:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", outcome.output, re.MULTILINE
    )
    if match:
        return int(match[1]), match[2]
    # In an included header, or found by the linker: still the text's, but without a line of it.
    trouble = r"^.*(?:\.h:\d+:\d+: (?:fatal )?error: |undefined (?:reference|symbol)|multiple definition).*$"
    match = re.search(trouble, outcome.output, re.MULTILINE)
    return (0, match[0].strip()) if match else None


def _owner(job: Job, line: int) -> str:
    return next((span.name for span in job.spans if span.start <= line < span.stop), "")


def _explanation(toolchain: Toolchain, job: Job, line: int, message: str) -> str:
    """Write at most ten lines: what was refused, the C line, whose it is, what to do."""
    owner = _owner(job, line)
    names = sorted({span.name for span in job.spans})
    example = f", `{shorten(names[0])}` among them" if names else ""
    where = f"`{shorten(owner)}`" if owner else f"a unit of {len(names)} kernels{example}"
    lines = [f"the C compiler refused the code of {where}", f"    {message}"]
    text = job.text.splitlines()
    if 0 < line <= len(text):
        lines += [
            f"{number:6d} {'>' if number == line else '|'} {shorten(text[number - 1], 160)}"
            for number in range(max(1, line - 1), min(len(text), line + 1) + 1)
        ]
    lines.append(f"compiler: {readable(toolchain.compiler.version)}")
    lines.append("The whole unit is in this error's `source`, all the compiler said in its `log`.")
    return "\n".join(lines)
