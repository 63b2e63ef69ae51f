"""Kernels become addresses: once in a process, once in a cache, and never the wrong ones."""

from __future__ import annotations

import os
import platform
import re
import struct
import subprocess
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from theano.cache.contents import survey
from theano.cache.names import EntryName, digest_of
from theano.cache.store import CacheSettings
from theano.codegen import unit as units
from theano.codegen import unit_text
from theano.codegen.key import kernel_key
from theano.codegen.unit import abi_text, compile_counts, compile_kernels, current_toolchain, drop_unused_units
from theano.errors import CacheWarning, KernelCompileError, NoCompilerError
from theano.graph.kernel import Kernel
from theano.toolchain.description import Toolchain, ToolchainSettings

Number = Callable[..., Kernel]
Call = Callable[[int], int]
FRESH = pytest.mark.usefixtures("fresh_process")


@FRESH
def test_addresses_come_in_order(cache: CacheSettings, number: Number, call: Call) -> None:
    addresses = compile_kernels([number(n) for n in (3, 1, 2, 1)], None, cache)
    assert [call(address) for address in addresses] == [3, 1, 2, 1]
    assert addresses[1] == addresses[3]
    assert compile_kernels([], None, cache) == []


@FRESH
def test_second_time_in_a_process_needs_no_cache(cache: CacheSettings, number: Number) -> None:
    first = compile_kernels([number(1)], None, cache)
    elsewhere = CacheSettings(root=cache.root + "2")
    current_toolchain(None, units.open_cache(elsewhere))
    assert compile_kernels([number(1, "another name")], None, elsewhere) == first
    assert survey(elsewhere.root).units == []


def test_single_kernels_are_found_again(
    cache: CacheSettings, number: Number, call: Call, fresh_process: Callable[[], None]
) -> None:
    compile_kernels([number(1), number(2)], None, cache)
    fresh_process()
    addresses = compile_kernels([number(2), number(3)], None, cache)
    assert [call(address) for address in addresses] == [2, 3]
    counts = compile_counts()
    assert (counts.from_cache, counts.compiled, counts.units_built) == (1, 1, 1)


@FRESH
def test_parameters_and_names_are_not_part_of_the_code(cache: CacheSettings, number: Number) -> None:
    one = number(5)
    other = replace(one, name="*/ other", params=b"12345678", work=9.0)
    assert len(set(compile_kernels([one, other], None, cache))) == 1


@FRESH
def test_plain_loops_are_compiled_apart(cache: CacheSettings, number: Number, call: Call) -> None:
    one, two = number(5), number(6)
    kernels = [replace(one, plain_loops=True), one, two]
    addresses = compile_kernels(kernels, None, cache)
    assert [call(address) for address in addresses] == [5, 5, 6]
    assert len(set(addresses)) == 3
    (source,) = [Path(path.path).read_text() for path in survey(cache.root).sources]
    before, mark, after = source.partition(unit_text.FEWER_PASSES)
    assert mark and "return 6" in before and "return 6" not in after and "return 5" in before and "return 5" in after


@FRESH
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other CPUs have no such state")
def test_plain_loops_leave_no_upper_halves_of_vectors(cache: CacheSettings, number: Number) -> None:
    loop = "float *x = (float *)ctx; for (int i = 0; i < 4096; ++i) x[i] = x[i] * x[i]; return 0;"
    kernel = replace(number(0), source=f"int KERNEL(th_ctx *ctx) {{ {loop} }}", plain_loops=True)
    compile_kernels([kernel], ToolchainSettings(extra_flags=("-mavx2",)), cache)
    (unit,) = survey(cache.root).units
    code = Path(unit.path).read_bytes()
    assert b"\xc5\xf8\x77" in code  # vzeroupper


@FRESH
@pytest.mark.parametrize(
    ("line", "maths"),
    [
        ("return (int)th_twice(2);", False),
        ("if (ctx) return 3; /* not sin(x) */", False),
        ("char a[4]; memset(a, 0, sizeof a); return a[0];", False),
        ("typedef int four __attribute__((vector_size(16), aligned(16))); return 0;", False),
        ("return (int)floor(2.5);", True),
        ("return INFINITY > 3;", True),
        ("return (int)M_PI;", True),
        ("double _Complex z = 1; return (int)creal(z);", True),
        ("return isnan((double)NAN);", True),
    ],
)
def test_headers_of_maths_come_where_they_are_used(cache: CacheSettings, call: Call, line: str, maths: bool) -> None:
    support = ("static double th_twice(double x) { return 2 * x; }",)
    kernel = Kernel("k", f"int KERNEL(th_ctx *ctx) {{ (void)ctx; {line} return 0; }}", support)
    call(compile_kernels([kernel], None, cache)[0])
    text = Path(survey(cache.root).sources[0].path).read_text()
    assert ("#include <math.h>" in text) == maths


@FRESH
def test_support_is_written_once(cache: CacheSettings, call: Call) -> None:
    support = ("static int twice(int x) { return 2 * x; }",)
    kernels = [Kernel(f"{n}", f"int KERNEL(th_ctx *ctx) {{ (void)ctx; return twice({n}); }}", support) for n in (1, 2)]
    assert [call(address) for address in compile_kernels(kernels, None, cache)] == [2, 4]
    text = Path(survey(cache.root).sources[0].path).read_text()
    assert text.count("static int twice") == 1


@FRESH
def test_helpers_named_after_the_kernel_do_not_clash(cache: CacheSettings, call: Call) -> None:
    source = "static int KERNEL_help(void) { return %d; } int KERNEL(th_ctx *ctx) { (void)ctx; return KERNEL_help(); }"
    kernels = [Kernel("a", source % 1), Kernel("b", source % 2)]
    assert [call(address) for address in compile_kernels(kernels, None, cache)] == [1, 2]


@FRESH
def test_many_kernels_are_spread_over_cores(cache: CacheSettings, number: Number, call: Call) -> None:
    tools = ToolchainSettings(jobs=3)
    addresses = compile_kernels([number(n) for n in range(30)], tools, cache)
    assert [call(address) for address in addresses] == list(range(30))
    assert compile_counts().units_built == 3


def test_kernels_are_spread_by_what_they_cost() -> None:
    """A call of our maths in a loop is much, numbers without a loop are little, whatever the length of the text."""
    head = "int KERNEL(th_ctx *ctx) { double x = 0;"
    loop = "for (int i = 0; i < 9; ++i)"
    calls = Kernel("calls", f"{head} {loop} x = {' + '.join(['th_exp_f64(x)'] * 8)}; return 0; }}")
    loops = {f"loop{n}": Kernel("loop", f"{head} {loop} x += {n}; {'x += 2;' * 300} return 0; }}") for n in range(4)}
    numbers = {f"number{n}": Kernel("number", f"{head} x += {n}; {'x += 2;' * 300} return 0; }}") for n in range(4)}
    tools = current_toolchain(ToolchainSettings(jobs=2))
    first, second = units._shards({"calls": calls, **numbers, **loops}, tools)
    assert {*first, *second} == {"calls", *numbers, *loops}
    alone = first if "calls" in first else second
    assert not loops.keys() & alone.keys()
    costs = [sum(map(units._cost, shard.values())) for shard in (first, second)]
    assert abs(costs[0] - costs[1]) <= units._cost(numbers["number0"])


def test_text_of_a_unit(number: Number) -> None:
    tools = current_toolchain()
    unit = units.write_unit({"0" * 32: number(7, "x */ + 1"), "1" * 32: number(8)}, tools)
    assert "/* x * / + 1 */\nint th_" + "0" * 32 + "(th_ctx *ctx)" in unit.job.text
    assert unit.job.text.endswith(f'const char theano_unit_key[] = "{unit.key}";\n')
    lines = unit.job.text.split("\n")
    for span, name in zip(unit.job.spans, ("0", "1"), strict=True):
        assert any("th_" + name * 32 in line for line in lines[span.start - 1 : span.stop - 1])


def test_generated_text_has_no_warnings(number: Number, tmp_path: Path) -> None:
    tools = current_toolchain()
    unit = units.write_unit({"0" * 32: number(7, 'x */ "\\\n?' + "??/")}, tools)
    (tmp_path / "u.c").write_text(unit.job.text)
    command = tools.command("u.c", "u.so", (units.LOADER_FOLDER,))
    command.remove("-w")
    subprocess.run([*command, "-Wall", "-Wextra", "-Werror"], cwd=tmp_path, check=True, timeout=120)


@FRESH
def test_error_names_the_line_and_the_kernel(cache: CacheSettings, number: Number) -> None:
    bad = Kernel("exp(x) + y", "int KERNEL(th_ctx *ctx) {\n    return undeclared_thing;\n}")
    with pytest.raises(KernelCompileError) as caught:
        compile_kernels([number(1), bad, number(2)], None, cache)
    text = str(caught.value)
    assert "`exp(x) + y`" in text and "undeclared_thing" in text and re.search(r"\d+ >     return", text)
    assert len(text.splitlines()) <= 10
    assert caught.value.kernel == "exp(x) + y"
    assert "theano_unit_key" in caught.value.source and "error" in caught.value.log
    assert survey(cache.root).stages == [] and survey(cache.root).units == []


@FRESH
def test_unknown_function_is_an_error_not_a_crash_later(cache: CacheSettings) -> None:
    bad = Kernel("calls", "int no_such(void); int KERNEL(th_ctx *ctx) { (void)ctx; return no_such(); }")
    with pytest.raises((KernelCompileError, NoCompilerError)), warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        compile_kernels([bad], None, cache)


@FRESH
def test_no_compiler(cache: CacheSettings, number: Number) -> None:
    with pytest.raises(NoCompilerError, match="switched off"):
        compile_kernels([number(1)], ToolchainSettings(compiler=""), cache)
    with pytest.raises(NoCompilerError, match="not installed"):
        compile_kernels([number(1)], ToolchainSettings(compiler="no-such-compiler"), cache)


@FRESH
def test_units_are_unloaded_when_nobody_holds_them(cache: CacheSettings, number: Number) -> None:
    kept = compile_kernels([number(1)], None, cache)
    compile_kernels([number(2)], None, cache)
    assert drop_unused_units() == 1
    assert drop_unused_units() == 0
    assert compile_kernels([number(1)], None, cache) == kept
    before = compile_counts()
    compile_kernels([number(2)], None, cache)
    assert compile_counts().from_cache == before.from_cache + 1


@FRESH
def test_threads(cache: CacheSettings, number: Number, call: Call) -> None:
    results: list[list[int]] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait(60)
        results.append([call(address) for address in compile_kernels([number(n) for n in range(3)], None, cache)])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert results == [[0, 1, 2]] * 8


class TestDamage:
    """What the name cannot tell, the loader does: a file may be whole and still be the wrong one."""

    def path(self, cache: CacheSettings) -> Path:
        return Path(survey(cache.root).units[0].path)

    def put(self, cache: CacheSettings, name: EntryName, data: bytes) -> Path:
        """Place a file whose name agrees with its bytes, and a reference to it."""
        old = self.path(cache)
        path = Path(cache.root, EntryName(name.key, digest_of(data), "so").relative)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o500)
        for reference in Path(cache.root).glob("*/*.ref"):
            reference.rename(reference.with_name(f"{reference.name[:32]}.{name.key}.{digest_of(data)}.ref"))
        old.unlink()
        return path

    def rebuilds(self, cache: CacheSettings, number: Number, call: Call, bad: Path, fresh: Callable[[], None]) -> None:
        fresh()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (address,) = compile_kernels([number(1)], None, cache)
        assert call(address) == 1
        assert compile_counts().compiled == 1
        assert not bad.exists()

    def test_wrong_architecture(
        self, cache: CacheSettings, number: Number, call: Call, fresh_process: Callable[[], None]
    ) -> None:
        compile_kernels([number(1)], None, cache)
        data = bytearray(self.path(cache).read_bytes())
        if data[:4] != b"\x7fELF":
            pytest.skip("not an ELF system")
        data[18:20] = struct.pack("=H", 20)  # e_machine: PowerPC
        name = EntryName.parse(self.path(cache).name)
        assert name is not None
        self.rebuilds(cache, number, call, self.put(cache, name, bytes(data)), fresh_process)

    def test_truncated_with_the_right_digest(
        self, cache: CacheSettings, number: Number, call: Call, fresh_process: Callable[[], None]
    ) -> None:
        compile_kernels([number(1)], None, cache)
        data = self.path(cache).read_bytes()[:100]
        name = EntryName.parse(self.path(cache).name)
        assert name is not None
        self.rebuilds(cache, number, call, self.put(cache, name, data), fresh_process)

    def test_another_units_bytes_under_this_key(
        self, cache: CacheSettings, number: Number, call: Call, fresh_process: Callable[[], None]
    ) -> None:
        other = replace(cache, root=cache.root + "2")
        compile_kernels([number(2)], None, other)
        fresh_process()
        compile_kernels([number(1)], None, cache)
        name = EntryName.parse(self.path(cache).name)
        assert name is not None
        self.rebuilds(cache, number, call, self.put(cache, name, self.path(other).read_bytes()), fresh_process)

    def test_reference_to_a_unit_without_the_kernel(
        self, cache: CacheSettings, number: Number, call: Call, fresh_process: Callable[[], None]
    ) -> None:
        compile_kernels([number(2)], None, cache)
        (reference,) = Path(cache.root).glob("*/*.ref")
        key = kernel_key(number(1), abi_text(), current_toolchain(None, units.open_cache(cache)).identity)
        wrong = Path(cache.root, key[:2], key + reference.name[32:])
        wrong.parent.mkdir(mode=0o700, exist_ok=True)
        wrong.touch()
        fresh_process()
        assert [call(address) for address in compile_kernels([number(1), number(2)], None, cache)] == [1, 2]

    @FRESH
    def test_the_loader_tells_two_files_of_one_unit_apart(
        self, cache: CacheSettings, number: Number, call: Call
    ) -> None:
        """The dynamic loader takes one path for one library, for ever: so other bytes are another path."""
        (first,) = compile_kernels([number(1)], None, cache)
        assert first.unit is not None
        store = units.open_cache(cache)
        with store.stage() as stage:
            staged = Path(stage, "other.so")
            staged.write_bytes(self.path(cache).read_bytes() + bytes(4096))
            name, path = store.publish_unit(str(staged), first.unit.name.key)
        second = units._load(store, path, name)
        assert second is not None and path != first.unit.path
        (key,) = units._loaded.kernels
        assert second.kernel(key) != first
        assert call(second.kernel(key)) == call(first) == 1

    @pytest.mark.parametrize("mode", ["empty", "zero", "directory", "link", "cut"])
    def test_the_ordinary_kind(
        self, cache: CacheSettings, number: Number, call: Call, fresh_process: Callable[[], None], mode: str
    ) -> None:
        compile_kernels([number(1)], None, cache)
        path = self.path(cache)
        data = path.read_bytes()
        path.unlink()
        if mode == "directory":
            path.mkdir()
        elif mode == "link":
            path.symlink_to("nowhere")
        else:
            path.write_bytes({"empty": b"", "zero": bytes(len(data)), "cut": data[:-512]}[mode])
            path.chmod(0o500)
        fresh_process()
        assert [call(address) for address in compile_kernels([number(1)], None, cache)] == [1]
        assert self.path(cache).read_bytes() == data  # the same text makes the same bytes


def _child(number: Number, cache: CacheSettings, address: int, call: Call) -> int:
    assert call(address) == 1
    return call(compile_kernels([number(1), number(2)], None, cache)[1])


@FRESH
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_fork(cache: CacheSettings, number: Number, call: Call) -> None:
    """A child uses what its parent has loaded and compiles more, even if a lock was held at the fork."""
    (address,) = compile_kernels([number(1)], None, cache)
    store = units.open_cache(cache)
    with units._loaded.lock, store._lock:
        child = os.fork()
        if child == 0:
            os._exit(_child(number, cache, address, call))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert call(compile_kernels([number(2)], None, cache)[0]) == 2
    assert compile_counts().compiled == 1


class TestStale:
    """Anything that may change the machine code changes the key."""

    @pytest.mark.parametrize("what", ["version", "target", "flags", "cpu_class", "libc", "abi"])
    def test_never_the_old_module(
        self,
        cache: CacheSettings,
        number: Number,
        fresh_process: Callable[[], None],
        monkeypatch: pytest.MonkeyPatch,
        what: str,
    ) -> None:
        compile_kernels([number(1)], None, cache)
        fresh_process()
        tools = current_toolchain(None, units.open_cache(cache))
        other: Toolchain = tools
        if what in ("version", "target"):
            other = replace(tools, compiler=replace(tools.compiler, **{what: "another"}))
        elif what == "flags":
            other = replace(tools, flags=(*tools.flags, "-fno-unroll-loops"))
        elif what in ("cpu_class", "libc"):
            other = replace(tools, **{what: "another"})
        else:
            text = abi_text().replace("#define TH_ABI_VERSION ", "#define TH_ABI_VERSION 100")
            for module in (units, unit_text):
                monkeypatch.setattr(module, "abi_text", lambda: text)
        monkeypatch.setattr(units, "find_toolchain", lambda *args, **kwargs: other)
        compile_kernels([number(1)], None, cache)
        assert compile_counts().compiled == 1
        assert len(survey(cache.root).units) == 2
        fresh_process()
        compile_kernels([number(1)], None, cache)
        assert compile_counts().from_cache == 1

    @FRESH
    def test_source_and_support(self, cache: CacheSettings, number: Number) -> None:
        base = number(1)
        kernels = [base, number(2), replace(base, support=("static int a;",)), replace(base, source=base.source + " ")]
        assert len(set(compile_kernels(kernels, None, cache))) == 4


class TestPlaces:
    @FRESH
    def test_unusable_cache_costs_one_warning(self, cache: CacheSettings, number: Number, call: Call) -> None:
        os.makedirs(cache.root)
        os.chmod(cache.root, 0o777)
        with pytest.warns(CacheWarning) as caught:
            addresses = compile_kernels([number(1)], None, cache)
            addresses += compile_kernels([number(2)], None, cache)
        assert [call(address) for address in addresses] == [1, 2]
        assert len(caught) == 1 and os.listdir(cache.root) == []

    @FRESH
    def test_directory_disappears_and_comes_back(self, cache: CacheSettings, number: Number, call: Call) -> None:
        compile_kernels([number(1)], None, cache)
        os.rename(cache.root, cache.root + "-away")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert call(compile_kernels([number(2)], None, cache)[0]) == 2
        assert len(survey(cache.root).units) == 1

    @FRESH
    @pytest.mark.parametrize("operation", ["mkdir", "replace", "chmod"])
    def test_disk_full_in_mid_run(
        self, cache: CacheSettings, number: Number, call: Call, monkeypatch: pytest.MonkeyPatch, operation: str
    ) -> None:
        compile_kernels([number(1)], None, cache)
        function = getattr(os, operation)

        def full(path: str, *args: object, **kwargs: object) -> object:
            if str(path).startswith(cache.root):
                raise OSError(28, "No space left on device", str(path))
            return function(path, *args, **kwargs)

        monkeypatch.setattr(os, operation, full)
        with pytest.warns(CacheWarning, match="No space left") as caught:
            addresses = compile_kernels([number(n) for n in range(4)], None, cache)
        assert [call(address) for address in addresses] == [0, 1, 2, 3]
        assert len(caught) == 1

    @FRESH
    @pytest.mark.parametrize(("shared", "failures", "works"), [
        (True, 1, "again"), (True, 2, "privately"), (True, 3, ""), (False, 1, "again"), (False, 2, ""),
    ])  # fmt: skip
    def test_what_fails_is_tried_once_more_in_each_place(
        self, shared: bool, failures: int, works: str, cache: CacheSettings, number: Number, call: Call, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = units.open_cache(cache)
        current_toolchain(None, store)
        if not shared:
            with pytest.warns(CacheWarning):
                store.give_up(OSError(5, "Input/output error"))
        left, build = [failures], units._build_and_load

        def fails(*arguments: Any) -> None:
            left[0] -= 1
            if left[0] >= 0:
                raise OSError(28, "No space left on device")
            build(*arguments)

        monkeypatch.setattr(units, "_build_and_load", fails)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if works:
                assert call(compile_kernels([number(7)], None, cache)[0]) == 7
            else:
                with pytest.raises(NoCompilerError, match="no space left to compile: No space left on device"):
                    compile_kernels([number(7)], None, cache)
        assert left[0] == (-1 if works else 0) and len(caught) == (shared and works != "again")
        assert store.is_private == (not shared or works != "again")

    @FRESH
    def test_no_space_anywhere(self, cache: CacheSettings, number: Number, monkeypatch: pytest.MonkeyPatch) -> None:
        current_toolchain(None, units.open_cache(cache))

        def full(*args: object, **kwargs: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "mkdir", full)
        with pytest.raises(NoCompilerError, match="no space"), warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            compile_kernels([number(1)], None, cache)
