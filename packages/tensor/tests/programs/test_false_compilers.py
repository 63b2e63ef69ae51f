"""Compilers that lie, hang, crash or leave rubbish: results are right, one line says what happened, nothing is left.

Each is a small script, most of them around the real compiler; the worker is a process of its own, a fork, since what a
false compiler makes may end it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from forked import TENSORS

from theano.toolchain.library import problem_of_library

REAL = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux") or REAL is None, reason="needs Linux and a compiler")

LIMIT = 1.5
BRIEF = 0.5  # where nothing has to be done in time
WORKER = """
from theano.toolchain import progress
progress.LONG_WAIT = 0.1
x = T.dvector("x")
for number in range(int(sys.argv[1])):
    start = time.monotonic()
    f = theano.function([x], T.tanh(x * (number + 2.5)) + number)
    print(f([0.0, 0.5]).tolist(), time.monotonic() - start, flush=True)
"""
# "$out" is the file to make, "$in" the source; asked is 1 where nothing is to be compiled.
HEAD = """#!/bin/sh
asked=1; out=; in=; last=
for word in "$@"; do
  case "$last" in -o) out=$word;; esac
  case "$word" in *.c|*.cpp) in=$word; asked=0;; esac
  last=$word
done
case "$*" in *"-###"*) asked=1;; esac
real() { REAL "$@"; }
""".replace("REAL", str(REAL))
OR_COMPILE = '[ $asked = 1 ] && { real "$@"; exit; }\n'
THEN = 'real "$@" || exit 1\n[ $asked = 1 ] && exit 0\n'


class False_(NamedTuple):
    """A false compiler.

    Parameters
    ----------
    script : str
        What it does.
    says : str
        What the line about it says, as a regular expression; "" if functions are compiled after all.
    functions : int
        How many are made with it.
    compiled : int
        How many units it leaves in the cache.
    limit : float
        Seconds for questions and for a unit.
    """

    script: str
    says: str = ""
    functions: int = 1
    compiled: int = 0
    limit: float = 60.0


def cut(length: str) -> False_:
    script = f'{THEN}size=$(stat -c %s "$out"); head -c {length} "$out" > "$out.t"; cat "$out.t" > "$out"; rm "$out.t"'
    return False_(script, "the library that it makes (was cut short|is empty|is no library)")


TABLE = {
    "says nothing": False_("exit 0", "does not answer as a C compiler"),
    "makes nothing": False_(OR_COMPILE + "exit 0", "the library that it makes is not there"),
    "only fails": False_("exit 3", "does not answer as a C compiler: .* ended with status 3"),
    "fails at compiling": False_(OR_COMPILE + "exit 3", "ended with status 3"),
    "makes an empty file": False_(OR_COMPILE + ': > "$out"', "the library that it makes is empty"),
    "makes garbage": False_(OR_COMPILE + 'echo garbage > "$out"', "the library that it makes is no library"),
    "makes noise": False_(OR_COMPILE + 'head -c 9999 /dev/urandom > "$out"', "the library that it makes is no library"),
    "makes a folder": False_(OR_COMPILE + 'mkdir "$out"', "the library that it makes cannot be read|File exists"),
    "makes a pipe": False_(OR_COMPILE + 'mkfifo "$out"', "the library that it makes is empty"),
    "writes elsewhere": False_(OR_COMPILE + 'real "$@" -o "$out.elsewhere"', "the library that it makes is not there"),
    "makes a program": False_(
        OR_COMPILE + f'cp {os.path.realpath(REAL or "")} "$out"', "the library that it makes is not a shared library|"
        "cannot be used"
    ),
    "another library": False_(
        OR_COMPILE + 'echo "int other;" > "$out.c"; real -shared "$out.c" -o "$out"', "exports no theano_unit_key"
    ),
    "lacks the kernels": False_(
        OR_COMPILE + 'grep -h theano_unit_key "$in" > "$out.c"; echo "int other;" >> "$out.c";'
        ' real -shared "$out.c" -o "$out"', "has no symbol"
    ),
    "another machine": False_(
        THEN + 'printf "\\024" | dd of="$out" bs=1 seek=18 conv=notrunc 2>/dev/null', "makes is for another machine"
    ),
    "needs what is not there": False_(
        OR_COMPILE + 'echo "int nowhere(void); int here(void) { return nowhere(); }" > "$out.x.c"; real "$@" "$out.x.c"',
        "cannot be used|is not there",
    ),
    "says words that no file can have": False_('printf \' a\\000b c\\n\' >&2; real "$@"', compiled=1),
    "noise as words": False_("head -c 5000 /dev/urandom >&2; exit 1", "does not answer as a C compiler"),
    "moves the cursor": False_(
        OR_COMPILE + r"printf '\033]0;evil\007\033[2J\033[31mdo not trust me\033[0m\r\n' >&2; exit 1", "do not trust me"
    ),
    "noise before words": False_(
        OR_COMPILE + r"head -c 200 /dev/urandom | tr '\n' x >&2; printf '\nout of luck\n' >&2; exit 1", "out of luck|status 1"
    ),
    "a very long line": False_(OR_COMPILE + "head -c 300000 /dev/zero | tr '\\0' x >&2; exit 1", "status 1"),
    "many words and works": False_('yes warning | head -c 20000000 >&2; real "$@"', ""),
    "words without end": False_(OR_COMPILE + "yes trouble >&2", "wrote messages without end"),
    "ends by a signal": False_(OR_COMPILE + "kill -SEGV $$", r"ended by signal 11 \(SIGSEGV\)"),
    "killed for memory": False_(OR_COMPILE + "kill -KILL $$", r"ended by signal 9 \(SIGKILL\)"),
    "removes its input": False_(OR_COMPILE + 'rm "$in"; exit 1', "status 1"),
    "removes its input and works": False_(THEN + 'rm "$in"', "", compiled=1),
    "removes itself": False_('rm "$0"; real "$@"', "cannot be started|is not installed"),
    "claims that there is no space": False_(
        OR_COMPILE + 'echo "$in:1:1: fatal error: No space left on device" >&2; exit 1', "No space left on device"
    ),
    "works once": False_(
        OR_COMPILE + '[ -e "$0.done" ] && exit 5; : > "$0.done"; real "$@"', "ended with status 5", functions=3, compiled=1
    ),
    "works once and then cuts": False_(
        THEN + '[ -e "$0.done" ] && : > "$out"; : > "$0.done"', "it (should have made|makes) is empty", functions=3, compiled=1
    ),
    "works once and then makes another": False_(
        OR_COMPILE + '[ -e "$0.done" ] && { echo "int other;" > "$out.c"; real -shared "$out.c" -o "$out"; exit; }\n'
        ': > "$0.done"; real "$@"', "exports no theano_unit_key", functions=3, compiled=1
    ),
    "works once and then crashes": False_(
        OR_COMPILE + '[ -e "$0.done" ] && kill -ABRT $$; : > "$0.done"; real "$@"', "SIGABRT", functions=2, compiled=1
    ),
    "crashes the first time": False_(
        OR_COMPILE + '[ -e "$0.done" ] || { : > "$0.done"; kill -KILL $$; }; real "$@"', "", compiled=1
    ),
    "hangs": False_("exec sleep 1000", "took more than .* s", functions=2, limit=BRIEF),
    "hangs at -###": False_('case "$*" in *"-###"*) sleep 1000;; esac; real "$@"', "-###.* took more than", limit=LIMIT),
    "hangs at --version": False_(
        'case "$*" in *"-###"*) exit 1;; *--version*) sleep 1000;; esac; real "$@"', "--version. took more", limit=LIMIT
    ),
    "hangs at -dM": False_('case "$*" in *-dM*) sleep 1000;; esac; real "$@"', "took more than|^$", compiled=1, limit=LIMIT),
    "hangs at compiling": False_(OR_COMPILE + "sleep 1000", "took more than", functions=2, limit=BRIEF),
    "ignores signals": False_("trap '' TERM INT HUP; sleep 1000; sleep 1000", "took more than", limit=BRIEF),
    "its child hangs": False_(OR_COMPILE + "sleep 1000 & wait", "took more than", limit=BRIEF),
    "leaves a child that hangs": False_('sleep 1000 & real "$@"', "", compiled=1),
    "leaves a child that hangs and fails": False_(OR_COMPILE + "sleep 1000 & exit 4", "status 4"),
    "works once and then hangs": False_(
        '[ -e "$0.done" ] && sleep 1000\n' + OR_COMPILE + ': > "$0.done"; real "$@"',
        "took more than", functions=3, compiled=1, limit=3 * LIMIT,
    ),
    "works but for units": False_(
        OR_COMPILE + 'case "$in" in probe.c) ;; *) sleep 1000;; esac; real "$@"', "took more than", limit=BRIEF
    ),
    **{f"cut to {length}": cut(length) for length in ("1", "40", "64", "700", "4096", "$((size / 2))", "$((size - 1))")},
}  # fmt: skip


def environment(folder: Path, compiler: Path | str, limit: float) -> dict[str, str]:
    flags = (
        f"cxx={compiler},base_compiledir={folder}/theano,compile.question_timeout={limit},compile.unit_timeout={limit}"
    )
    return {**os.environ, "THEANO_FLAGS": flags, "HOME": str(folder), "THEANORC": ""}


def script(folder: Path, text: str) -> Path:
    path = folder / "false-cc"
    path.write_text(HEAD + text + "\n")
    path.chmod(0o755)
    return path


def run(folder: Path, compiler: Path | str, functions: int, limit: float) -> tuple[str, float]:
    """Make functions and compare them; return what was said, and the longest time that one took."""
    done = TENSORS.run(WORKER, str(functions), env=environment(folder, compiler, limit))
    said = done.stderr
    assert done.returncode == 0, (done.returncode, said)
    lines = done.stdout.splitlines()
    assert len(lines) == functions
    import numpy as np

    longest = 0.0
    for number, line in enumerate(lines):
        values, _, seconds = line.rpartition(" ")
        expected = np.tanh(np.array([0.0, 0.5]) * (number + 2.5)) + number
        assert np.allclose([float(v) for v in values.strip("[]").split(",")], expected, rtol=1e-15)
        longest = max(longest, float(seconds))
    return said, longest


def left_running(folder: Path) -> list[str]:
    """Return the commands of processes that were started to compile below a folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                place = Path("/proc", entry, "environ").read_bytes()
                command = Path("/proc", entry, "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(folder) in place and command:
                found.append(command.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def assert_nothing_is_left(folder: Path) -> None:
    deadline = time.monotonic() + 30
    while left_running(folder) and time.monotonic() < deadline:
        time.sleep(0.02)  # killed, and not yet gone
    assert left_running(folder) == []


def about_compilers(said: str) -> list[str]:
    return [line for line in said.splitlines() if "functions run in Python" in line]


@pytest.mark.parametrize("name", TABLE)
def test_false_compiler(name: str, tmp_path: Path) -> None:
    case = TABLE[name]
    compiler = script(tmp_path, case.script)
    said, longest = run(tmp_path, compiler, case.functions, case.limit)
    assert_nothing_is_left(tmp_path)
    lines = about_compilers(said)
    if not case.says:
        assert lines == []
    elif re.search(case.says, ""):
        assert len(lines) <= 1
    else:
        (line,) = lines
        assert re.search(case.says, line) and str(compiler) in line and len(line) < 700
        if "space" not in name:
            assert "no space" not in line and "disk" not in line
        assert "cache" not in said.lower().replace(str(tmp_path).lower(), "")
    assert all(c.isprintable() or c == "\n" for c in said)
    if lines and case.limit <= LIMIT:
        assert longest < 2 * LIMIT + 30  # the rest is for a machine that is busy
        assert re.search("theano: (waiting for|compiling .* waiting for) ", said)
    units = list(tmp_path.glob("theano/**/*.so"))
    assert [problem_of_library(str(path)) for path in units] == [""] * len(units)
    if case.says or case.compiled:
        assert len(units) <= case.compiled
    assert list(tmp_path.glob("theano/**/.stage-*")) == []


NOT_PROGRAMS = {
    "nothing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "no permission": lambda path: path.write_text("#!/bin/sh\n") and path.chmod(0o644),
    "no interpreter": lambda path: path.write_text("#!/no/such/program\n") and path.chmod(0o755),
    "no first line": lambda path: path.write_text("exit 0\n") and path.chmod(0o755),
    "empty": lambda path: (path.write_text(""), path.chmod(0o755)),
    "noise": lambda path: path.write_bytes(bytes(range(256))) and path.chmod(0o755),
    "a cut program": lambda path: path.write_bytes(Path("/bin/sh").read_bytes()[:5000]) and path.chmod(0o755),
    "a link to itself": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("name", NOT_PROGRAMS)
def test_what_is_no_program(name: str, tmp_path: Path) -> None:
    path = tmp_path / "false-cc"
    NOT_PROGRAMS[name](path)
    said, _ = run(tmp_path, path, 1, 60)
    (line,) = about_compilers(said)
    assert str(path) in line and "space" not in line
    assert re.search("is not installed|cannot be started: |cannot be run|ended by signal", line), line


@pytest.mark.parametrize("phase", ["hangs", "hangs at compiling", "its child hangs", "ignores signals"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_compilers_end_with_their_process(number: int, phase: str, tmp_path: Path) -> None:
    marker = tmp_path / "started"
    text = TABLE[phase].script
    compiler = script(tmp_path, text.replace("sleep", f"echo > {marker}; sleep", 1).replace("exec echo", "echo"))
    worker = WORKER
    if number not in (signal.SIGKILL, signal.SIGINT):
        worker = f"import signal; signal.signal({number}, signal.SIG_DFL)\n{WORKER}"  # under nohup
    process = TENSORS.start(worker, "1", env=environment(tmp_path, compiler, 300.0))
    assert process.stderr is not None
    process.stderr.readline()  # somebody has been waiting
    assert marker.exists()
    process.send_signal(number)
    process.communicate(timeout=60)  # nobody else holds the ends of these pipes
    assert process.returncode != 0
    assert_nothing_is_left(tmp_path)


class TestRemembered:
    """That a compiler hangs is believed for some minutes, as long as it is the same."""

    def test_the_next_process_does_not_ask(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        compiler = script(tmp_path, f'echo x >> {log}; sleep 1000')
        first, _ = run(tmp_path, compiler, 2, BRIEF)
        asked = log.read_text()
        second, _ = run(tmp_path, compiler, 2, BRIEF)
        assert log.read_text() == asked
        assert "took more than" in first and "took more than" in second and "it is asked again in" in second

    def test_one_that_hangs_at_units_only(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        compiler = script(tmp_path, f'{OR_COMPILE} echo x >> {log}; sleep 1000')
        run(tmp_path, compiler, 1, BRIEF)
        asked = log.read_text()
        run(tmp_path, compiler, 1, BRIEF)
        assert log.read_text() == asked

    def test_a_mended_one_is_asked_at_once(self, tmp_path: Path) -> None:
        run(tmp_path, script(tmp_path, "sleep 1000"), 1, BRIEF)
        said, _ = run(tmp_path, script(tmp_path, 'real "$@"'), 1, 60)
        assert about_compilers(said) == [] and list(tmp_path.glob("theano/**/*.so"))

    def test_a_compiler_that_fails_at_once_is_asked_again(self, tmp_path: Path) -> None:
        compiler = script(tmp_path, f'[ -e {tmp_path}/mended ] || exit 1; real "$@"')
        run(tmp_path, compiler, 1, 60)
        (tmp_path / "mended").touch()
        said, _ = run(tmp_path, compiler, 1, 60)
        assert about_compilers(said) == []

    def test_what_it_compiled_before_is_used(self, tmp_path: Path) -> None:
        compiler = script(tmp_path, f'{OR_COMPILE} [ -e {tmp_path}/late ] && sleep 1000; real "$@"')
        run(tmp_path, compiler, 1, 60)
        (tmp_path / "late").touch()
        flags = [f"{UNITS_LOADED}", "1"]
        for _ in range(2):
            said, _ = run(tmp_path, compiler, 2, LIMIT)
            assert about_compilers(said)
        done = TENSORS.run(*flags, env=environment(tmp_path, compiler, LIMIT))
        assert about_compilers(done.stderr) == [] and done.stdout.split()[-1] != "0"


UNITS_LOADED = WORKER + """
from theano.codegen import unit
print(len(unit._loaded.units))
"""
