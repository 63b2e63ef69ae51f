"""The compiler is found by trying, described exactly, and run where nothing can mislead it."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from portion import portion
from theano.cache.store import Cache, CacheSettings
from theano.codegen import unit as units
from theano.codegen.key import digest_parts
from theano.errors import KernelCompileError, NoCompilerError
from theano.graph.kernel import Kernel
from theano.toolchain import flags, select
from theano.toolchain.build import BuildEnvironmentError, Job, Span, _blame_the_disk, build, core_count
from theano.toolchain.description import Toolchain, ToolchainSettings
from theano.toolchain.environment import clean_environment
from theano.toolchain.find import candidates
from theano.toolchain.messages import readable
from theano.toolchain.run import ProcessResult, Running, run_to_end
from theano.toolchain.select import find_toolchain

REAL = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(os.name != "posix" or REAL is None, reason="needs a POSIX system with a compiler")
Find = Callable[..., Toolchain]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only one in PATH; the real compiler needs no other."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "sed", "cat", "sleep", "as", "ld", "env"):
        program = shutil.which(name)
        if program:
            (folder / name).symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("theano.toolchain.find._zig_of_wheel", lambda: "")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


@pytest.fixture
def find(cache: Cache) -> Find:
    def run(**settings: object) -> Toolchain:
        select.forget()
        privileged = bool(settings.pop("privileged", False))
        wish = ToolchainSettings(**settings)  # type: ignore[arg-type]
        return find_toolchain(wish, cache, privileged=privileged, digest=digest_parts)

    return run


@pytest.fixture(autouse=True)
def forget_afterwards() -> object:
    yield
    select.forget()


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def wrapper(path: Path, before: str = "", after: str = "") -> Path:
    """A compiler around the real one."""
    return script(path, f'{before}\n{REAL} "$@" {after}')


class TestFinding:
    def test_order(self, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("cc", "gcc", "clang", "mine"):
            script(tools / name, "exit 1")
        monkeypatch.setattr("theano.toolchain.find._zig_of_wheel", lambda: "/w/zig")
        names = [(Path(c.argv[0]).name, c.origin) for c in candidates(None)]
        assert names == [("cc", "PATH"), ("gcc", "PATH"), ("clang", "PATH"), ("zig", "ziglang")]
        monkeypatch.setenv("CC", "mine --option")
        assert next(candidates(None)).argv == (str(tools / "mine"), "--option")
        assert next(candidates(None, privileged=True), None) is None or os.defpath
        assert [c.argv[1:] for c in candidates("mine -a 'b c'")] == [("-a", "b c")]
        assert list(candidates("")) == []

    def test_the_last_one_may_take_all_of_the_time(
        self, tools: Path, find: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Zig needs more than half of it at its first start."""
        started = tmp_path / "started"
        zig = script(tools / "zig", f'[ -e {started} ] || {{ : > {started}; sleep 3.2; }}\nshift\nexec {REAL} "$@"')
        monkeypatch.setattr("theano.toolchain.find._zig_of_wheel", lambda: str(zig))
        assert find(question_timeout=6.0).compiler.origin == "ziglang"

    def test_one_program_under_two_names_is_tried_once(self, tools: Path) -> None:
        script(tools / "gcc", "exit 1")
        (tools / "cc").symlink_to("gcc")
        assert len(list(candidates(None))) == 1

    def test_a_broken_one_is_passed_over(self, tools: Path, find: Find) -> None:
        script(tools / "cc", "exit 1")
        wrapper(tools / "gcc")
        assert Path(find().compiler.argv[0]).name == "gcc"

    def test_one_that_answers_but_does_not_compile(self, tools: Path, find: Find) -> None:
        script(tools / "cc", "echo 'gcc version 9.9'; echo 'Target: x'")
        with pytest.raises(NoCompilerError, match="no C compiler works here"):
            find()

    def test_none(self, tools: Path, find: Find) -> None:
        with pytest.raises(NoCompilerError, match="no C compiler was found"):
            find()

    def test_privileged_process_believes_nothing(self, tools: Path, find: Find) -> None:
        wrapper(tools / "evil")
        try:
            found = find(compiler=str(tools / "evil"), extra_flags=("-DX",), privileged=True)
        except NoCompilerError:
            return
        assert not found.compiler.argv[0].startswith(str(tools)) and "-DX" not in found.flags

    @pytest.mark.parametrize("name", ["spa ce", "ünï", "a'b\"c$(touch x)"])
    def test_unusual_names(self, tools: Path, find: Find, name: str) -> None:
        folder = tools.parent / name
        folder.mkdir()
        wrapper(folder / "cc")
        os.environ["PATH"] = f"{folder}:{tools}"  # undone with the fixture's own
        assert find().compiler.argv[0] == str(folder / "cc")


class TestElsewhere:
    """A machine without a compiler uses what a like one has compiled."""

    def test_what_a_like_machine_has_noted(self, tools: Path, find: Find) -> None:
        wrapper(tools / "cc")
        first = find()
        assert first.can_compile
        (tools / "cc").unlink()
        second = find()
        assert not second.can_compile and second.identity == first.identity

    @pytest.mark.parametrize("what", ["cpu_description", "c_library"])
    def test_not_for_another_machine(self, tools: Path, find: Find, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
        wrapper(tools / "cc")
        find()
        (tools / "cc").unlink()
        monkeypatch.setattr(flags if what == "cpu_description" else select, what, lambda: "another")
        with pytest.raises(NoCompilerError):
            find()

    def test_compiled_code_is_loaded_and_the_rest_refused(
        self, tools: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wrapper(tools / "cc")
        monkeypatch.setattr(units, "_loaded", units._Loaded())
        kernel = Kernel("x", "int KERNEL(th_ctx *ctx) { return ctx != 0; }")
        kept = units.compile_kernels([kernel], None, cache.settings)
        (tools / "cc").unlink()
        select.forget()
        monkeypatch.setattr(units, "_loaded", units._Loaded())
        assert len(units.compile_kernels([kernel], None, cache.settings)) == len(kept)
        other = Kernel("y", "int KERNEL(th_ctx *ctx) { return ctx != 0 ? 2 : 3; }")
        with pytest.raises(NoCompilerError, match="1 kernels are not in the pre-filled cache"):
            units.compile_kernels([kernel, other], None, cache.settings)


class TestDescription:
    def test_second_process_asks_nobody(self, tools: Path, find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
        wrapper(tools / "cc")
        first = find()

        def never(*arguments: object, **options: object) -> None:
            raise AssertionError("a program was started")

        monkeypatch.setattr("theano.toolchain.run.subprocess.Popen", never)
        assert find() == first

    def test_another_version_is_noticed(self, tools: Path, find: Find) -> None:
        compiler = wrapper(tools / "cc")
        first = find()
        wrapper(compiler, before='case "$*" in *"-###"*) echo "gcc version 99.1 (other)" >&2; esac')
        second = find()
        assert first.identity != second.identity and "99.1" in second.compiler.version

    def test_change_of_an_inner_program_is_noticed(self, tools: Path, find: Find, cache: Cache) -> None:
        inner = script(tools / "cc1", "exit 0")
        log = tools / "log"
        wrapper(tools / "cc", before=f'echo x >> {log}; case "$*" in *"-###"*) echo " {inner} -quiet" >&2; esac')
        first = find()
        assert str(inner) in [path for path, _, _ in first.compiler.witnesses]
        asked = log.read_text()
        find()
        assert log.read_text() == asked
        os.utime(inner, (1, 1))
        find()
        assert log.read_text() != asked

    def test_wrapper_of_a_changed_program_of_the_same_name(self, tools: Path, find: Find, tmp_path: Path) -> None:
        behind = tmp_path / "behind"
        behind.mkdir()
        wrapper(behind / "cc")
        script(tools / "cc", f'exec {behind}/cc "$@"')
        os.environ["PATH"] = f"{tools}:{behind}"
        first = find()
        wrapper(behind / "cc", before='case "$*" in *"-###"*) echo "gcc version 77.0" >&2; esac')
        assert find().identity != first.identity

    def test_damaged_note_is_no_note(self, tools: Path, find: Find, cache: Cache) -> None:
        wrapper(tools / "cc")
        first = find()
        paths = list(Path(cache.root).glob("*/*.txt"))
        facts = json.loads(cache.notes(paths[0].name[:32])[0])
        for text in ("", "[]", "{", json.dumps({**facts, "witnesses": 3}), json.dumps({**facts, "flags": None})):
            for path in Path(cache.root).glob("*/*.txt"):
                path.unlink()
            for path in paths:
                cache.add_note(path.name[:32], text)
            assert find() == first
            assert find() == first  # the right note is found beside the wrong one

    def test_unknown_options_are_dropped(self, tools: Path, find: Find) -> None:
        refuse = 'for a in "$@"; do [ "$a" = -fopenmp-simd ] && { echo "unrecognized option" >&2; exit 1; }; done; true'
        wrapper(tools / "cc", before=refuse)
        found = find()
        assert "-fopenmp-simd" not in found.flags and "-ffp-contract=off" in found.flags

    def test_one_without_native(self, tools: Path, find: Find) -> None:
        refuse = 'case "$*" in *=native*) echo "error: unknown native" >&2; exit 1; esac'
        wrapper(tools / "cc", before=refuse)
        found = find()
        assert not [flag for flag in found.flags if "native" in flag] and found.cpu_class == ""

    def test_native_is_resolved(self, tools: Path, find: Find) -> None:
        wrapper(tools / "cc")
        found = find()
        assert "-march=native" in found.flags
        assert found.cpu_class and "native" not in found.cpu_class
        assert "l1-cache-size" not in found.cpu_class
        assert found.cpu_class in found.identity

    def test_a_native_that_is_not_resolved_says_nothing_of_this_cpu(self, tools: Path, find: Find) -> None:
        # What a compiler for another machine does, such as a cross compiler under an emulator.
        shown = 'case "$*" in *-march=native*-###*) echo "gcc version 12" >&2; echo " /x/cc1 -march=native -mabi=lp64" >&2; exit;; esac'
        wrapper(tools / "cc", before=shown)
        found = find()
        assert "native" not in found.cpu_class

    def test_users_choice_of_a_cpu(self, tools: Path, find: Find) -> None:
        wrapper(tools / "cc")
        option = "-march=x86-64" if flags.platform.machine() == "x86_64" else "-mcpu=generic"
        found = find(extra_flags=(option,))
        assert found.cpu_class == "" and found.flags[-1] == option
        assert not any(flag.startswith("-mprefer") or "native" in flag for flag in found.flags)

    def test_cxx_driver_compiles_c(self, tools: Path, find: Find) -> None:
        real = shutil.which("g++", path=os.defpath)
        if real is None:
            pytest.skip("no g++")
        (tools / "g++").symlink_to(real)
        assert find(compiler="g++").compiler.is_cxx_driver

    def test_never_fast_math(self) -> None:
        everything = (*flags.ALWAYS, *flags.OPTIMISATION, *flags.NUMERIC, *flags.WISHED)
        assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"} & set(everything)
        assert "-ffp-contract=off" in everything


class TestBelieving:
    """A compiler that says that it knows the options is not tried before there is something to compile."""

    KERNEL = Kernel("x", "int KERNEL(th_ctx *ctx) { return ctx != 0; }")

    @pytest.fixture(autouse=True)
    def nothing_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(units, "_loaded", units._Loaded())
        select.forget()

    def test_it_is_only_asked(self, tools: Path, find: Find, cache: Cache) -> None:
        log = tools / "log"
        kinds = '*"-###"*) echo asked;; *" -E "*) echo preprocessed;; *) echo run;;'
        wrapper(tools / "cc", before=f'case "$*" in {kinds} esac >> {log}')
        found = find()
        asked = "asked\npreprocessed\n"
        assert log.read_text() == asked and not found.proven
        assert find() == found and log.read_text() == asked
        units.compile_kernels([self.KERNEL], found.settings, cache.settings)
        assert log.read_text() == asked + "run\n"
        assert find().proven and find() == found

    def test_an_answer_without_inner_programs_is_not_enough(self, tools: Path, find: Find) -> None:
        wrapper(tools / "cc", before='case "$*" in *"-###"*) echo "gcc version 9.9 (hides its work)"; exit 0;; esac')
        assert find().proven

    @pytest.mark.parametrize("complaint", portion(["warning: unused -fwrapv", "error: unknown -fwrapv"], 2, always=0))
    def test_a_complaint_is_heard(self, tools: Path, find: Find, complaint: str) -> None:
        wrapper(tools / "cc", before=f'case "$*" in *-fwrapv*) echo "cc: {complaint}" >&2;; esac')
        found = find()
        assert found.proven and "-fwrapv" not in found.flags

    def test_what_fails_after_all_is_tried_option_by_option(self, tools: Path, find: Find, cache: Cache) -> None:
        refuse = 'case "$*" in *"-###"*) ;; *-fwrapv*) echo "cc: error: not that" >&2; exit 1;; esac'
        wrapper(tools / "cc", before=refuse)
        assert "-fwrapv" in find().flags
        assert len(units.compile_kernels([self.KERNEL], ToolchainSettings(), cache.settings)) == 1
        found = find()
        assert found.proven and "-fwrapv" not in found.flags and "-ffp-contract=off" in found.flags

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("words", ["unit.c:1:1: fatal error: stddef.h: nothing there", "ld: cannot find crti.o"])
    def test_what_answers_and_compiles_nothing(self, tools: Path, find: Find, cache: Cache, words: str) -> None:
        wrapper(tools / "cc", before=f'case "$*" in *"-###"*) ;; *) echo "{words}" >&2; exit 1;; esac')
        find()
        for _ in range(2):
            with pytest.raises(NoCompilerError, match="no C compiler works here"):
                units.compile_kernels([self.KERNEL], ToolchainSettings(), cache.settings)
            select.forget()

    def test_the_next_compiler_is_taken_then(self, tools: Path, find: Find, cache: Cache) -> None:
        wrapper(tools / "cc", before='case "$*" in *"-###"*) ;; *) exit 1;; esac')
        wrapper(tools / "gcc")
        assert Path(find().compiler.argv[0]).name == "cc"
        assert len(units.compile_kernels([self.KERNEL], ToolchainSettings(), cache.settings)) == 1
        known = select.find_toolchain(ToolchainSettings(), cache, digest=digest_parts)
        assert Path(known.compiler.argv[0]).name == "gcc" and known.proven

    def test_the_text_is_to_blame_where_the_compiler_works(self, tools: Path, find: Find, cache: Cache) -> None:
        wrapper(tools / "cc")
        with pytest.raises(KernelCompileError, match="oops"):
            units.compile_kernels([Kernel("y", "int KERNEL(th_ctx *ctx) { return oops; }")], None, cache.settings)

    def test_other_wishes_are_asked_for(self, tools: Path, find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
        wrapper(tools / "cc")
        assert "-fno-plt" not in find().flags
        monkeypatch.setattr(flags, "WISHED", (*flags.WISHED, "-fno-plt"))
        assert "-fno-plt" in find().flags


class TestRunning:
    def test_environment_is_clean(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_PRELOAD", "GCC_EXEC_PREFIX", "CFLAGS", "SECRET"):
            monkeypatch.setenv(name, "x")
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
        found = clean_environment(str(tmp_path))
        assert not {"CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_PRELOAD", "CFLAGS", "SECRET"} & set(found)
        assert found["LC_ALL"] == "C" and found["TMPDIR"] == str(tmp_path)

    def test_no_shell(self, tmp_path: Path) -> None:
        code = "import sys; print(sys.argv[1])"
        result = run_to_end([sys.executable, "-c", code, "$(touch x); `touch y`"], str(tmp_path), timeout=60)
        assert result.output == "$(touch x); `touch y`\n"
        assert os.listdir(tmp_path) == []

    def test_timeout_ends_the_whole_group(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        child = f"import os, time; open({str(pids)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(300)"
        code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}]).wait()"
        running = Running([sys.executable, "-c", code], str(tmp_path), "log")
        deadline = time.monotonic() + 60
        while not (pids.exists() and pids.read_text().endswith(" ")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        outcome = running.wait(time.monotonic())
        assert outcome.timed_out and outcome.status < 0
        while os.path.isdir(f"/proc/{pids.read_text().strip()}"):
            state = Path(f"/proc/{pids.read_text().strip()}/stat").read_text().rpartition(")")[2].split()[0]
            if state == "Z":
                break
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def test_what_cannot_be_started(self, tmp_path: Path) -> None:
        with pytest.raises(OSError):
            run_to_end([str(tmp_path / "nothing")], str(tmp_path), timeout=5)
        assert os.listdir(tmp_path) == []


class TestBuilding:
    @pytest.fixture
    def found(self, tools: Path, find: Find) -> Toolchain:
        wrapper(tools / "cc")
        return find()

    def test_side_by_side(self, found: Toolchain, tmp_path: Path) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        jobs = [Job(f"unit{n}", f"int value(void) {{ return {n}; }}\n") for n in range(5)]
        limited = replace(found, settings=replace(found.settings, jobs=2))
        paths = build(limited, jobs, str(folder))
        assert [Path(path).name for path in paths] == [f"unit{n}.so" for n in range(5)]
        assert all(Path(path).read_bytes()[:4] for path in paths)

    def test_equal_text_equal_bytes(self, found: Toolchain, tmp_path: Path) -> None:
        made = []
        for name in ("a", "b ü"):
            folder = tmp_path / name
            folder.mkdir()
            made.append(Path(build(found, [Job("unit", "int f(void) { return 1; }\n")], str(folder))[0]).read_bytes())
        assert made[0] == made[1]

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere linkers want to know all libraries")
    def test_kernels_find_what_they_are_not_linked_with(self, found: Toolchain, tmp_path: Path) -> None:
        """The C library through the process, the compiler's own by being linked."""
        assert found.command("a.c", "a.so")[-1] == flags.COMPILERS_OWN and flags.KERNELS_ALONE in found.flags
        text = """#include <string.h>
        void *copy(void *to, const void *from, size_t n) { return memmove(to, from, n); }
        long long divide(long long a, long long b) { volatile __int128 x = a; return (long long)(x * x / b); }
        """
        library = ctypes.CDLL(build(found, [Job("unit", text)], str(tmp_path))[0])
        library.divide.argtypes, library.divide.restype = [ctypes.c_longlong] * 2, ctypes.c_longlong
        assert library.divide(10**10, 10**2) == 10**18
        to = ctypes.create_string_buffer(4)
        library.copy(to, b"abc", ctypes.c_size_t(3))
        assert to.value == b"abc"

    def test_what_users_write_is_linked_as_always(self, found: Toolchain, find: Find) -> None:
        command = found.command("a.cpp", "a.so", language="c++")
        assert flags.KERNELS_ALONE not in command and flags.COMPILERS_OWN not in command
        assert flags.KERNELS_ALONE not in find(extra_flags=("-DNAME",)).flags

    def test_error_names_line_and_owner(self, found: Toolchain, tmp_path: Path) -> None:
        text = "int a(void) { return 0; }\n/* x + y */\nint b(void) { return oops; }\n"
        job = Job("unit", text, (Span(1, 2, "first"), Span(2, 4, "x + y")))
        with pytest.raises(KernelCompileError) as caught:
            build(found, [job], str(tmp_path))
        message = str(caught.value)
        assert "`x + y`" in message and "oops" in message and "3 > int b(void)" in message
        assert len(message.splitlines()) <= 10 and caught.value.kernel == "x + y"

    def test_time_limit(self, tools: Path, found: Toolchain, tmp_path: Path) -> None:
        script(tools / "cc", "sleep 300")
        slow = replace(found, settings=replace(found.settings, timeout=0.2))
        with pytest.raises(BuildEnvironmentError, match="more than"):
            build(slow, [Job("unit", "int a;\n")], str(tmp_path))

    @pytest.mark.parametrize("why", ["No space left on device", "File too large", "Cannot allocate memory"])
    def test_no_space_is_not_the_texts_fault(self, tools: Path, found: Toolchain, tmp_path: Path, why: str) -> None:
        script(tools / "cc", f'echo "unit.c:1:1: fatal error: error writing to x.s: {why}" >&2; exit 1')
        with pytest.raises(BuildEnvironmentError, match=why):
            build(found, [Job("unit", "int a;\n")], str(tmp_path))

    def test_compiler_killed(self, tools: Path, found: Toolchain, tmp_path: Path) -> None:
        script(tools / "cc", "kill -9 $$")
        with pytest.raises(BuildEnvironmentError):
            build(found, [Job("unit", "int a;\n")], str(tmp_path))


def test_cores() -> None:
    assert 1 <= core_count() <= (os.cpu_count() or 1)


# -- facts and words --------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "brand"), [(0, "Apple M2"), (-1, "")])
def test_where_there_is_no_proc_the_c_library_names_the_cpu(status: int, brand: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        def sysctlbyname(self, name: bytes, buffer: ctypes.Array[ctypes.c_char], *_: object) -> int:
            buffer.value = name.replace(b"machdep.cpu.brand_string", b"Apple M2")
            return status

    def missing(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    monkeypatch.setattr(flags, "open", missing, raising=False)
    assert flags.cpu_description.__wrapped__() == f"{flags.platform.machine()} {brand}"


@pytest.mark.parametrize(("room", "full"), [(0, True), (1 << 16, True), ((1 << 20) - 1, True), (1 << 20, False)])
def test_a_place_with_room_for_less_than_a_mebibyte_is_full(room: int, full: bool, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    said, before = "", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        _blame_the_disk(str(tmp_path), ProcessResult(1, "it failed without a reason"))
    except BuildEnvironmentError as error:
        said = str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (str(tmp_path) in said) == full == bool(said)


@pytest.mark.parametrize(("text", "shown"), [
    ("\x1b[1mcc:\x1b[0m no\x00 such\x07 option", "cc: no such option"), ("\ufffdüber\ufffd\n", "über"), ("\t \x7f", ""),
    ("a" * 200, "a" * 200), ("a" * 201, "a" * 197 + "..."),
])  # fmt: skip
def test_what_compilers_say_is_one_line_that_can_be_read(text: str, shown: str) -> None:
    assert readable(text) == shown


@pytest.mark.parametrize(
    ("cpu", "tuned"),
    [
        ("x86_64 AuthenticAMD 23 49 avx avx2 fma", "-mtune=skylake"),
        ("x86_64 AuthenticAMD 26 2 avx avx2 avx512f fma", "-mtune=icelake-server"),
        ("x86_64 GenuineIntel 6 167 avx avx2 avx512f fma", None),
        ("aarch64 0x41 0xd40 asimd sve", None),
    ],
)
def test_amd_cpus_are_tuned_for_as_intels(cpu: str, tuned: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "cpu_description", lambda: cpu)
    optional = flags.wishes(()).optional()
    assert [flag for flag in optional if flag.startswith("-mtune")] == ([tuned] if tuned else [])
    assert ("-mprefer-vector-width=512" in optional) == ("avx512f" in cpu)
    chosen = flags.wishes(("-march=x86-64-v3",)).optional()
    assert not any(flag.startswith("-mtune") for flag in chosen), "a user who chooses a CPU chooses its tuning"
