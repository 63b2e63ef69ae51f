"""Nobody's arguments get into another's code: each way to give a compiler something is in the key of what it makes.

A process with a changed compiler fills a cache; a plain one then finds nothing there, compiles, and is right.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from portion import portion
from theano.cache.store import Cache, CacheSettings
from theano.codegen import block_unit
from theano.codegen import unit as units
from theano.codegen.blocks import Block, Needs
from theano.codegen.key import kernel_key
from theano.errors import KernelCompileError, NoCompilerError
from theano.graph.kernel import Kernel
from theano.toolchain import select
from theano.toolchain.description import Toolchain, ToolchainSettings
from theano.toolchain.environment import KEPT_VARIABLES
from theano.toolchain.fingerprint import _mark, _without_places

GCC = shutil.which("gcc")
pytestmark = pytest.mark.skipif(os.name != "posix" or GCC is None, reason="needs gcc")

KERNEL = Kernel(
    "what a compiler makes of IEEE 754",
    """\
enum small { ONE };
int KERNEL(th_ctx *ctx)
{
    volatile double zero = ctx == 0 ? 0.0 : 1.0, nan = zero / zero, minus = -zero;
    double plus = minus + 0.0;
    int right = isnan(nan) ? 1 : 0;
    right |= nan != nan ? 2 : 0;
    right |= signbit(plus) ? 0 : 4;
    right |= NAN != NAN ? 8 : 0;
    right |= sizeof(enum small) == sizeof(int) ? 16 : 0;
    right |= sizeof(1.0) == sizeof(double) ? 32 : 0;
    right |= (zero + 1e16) + 1.0 - 1e16 == 0.0 ? 64 : 0;
    return right;
}
""",
)
RIGHT = 127
WRONG_HEADER = "#include_next <math.h>\n#undef isnan\n#define isnan(x) 0\n"
ARGUMENTS = {
    "fast": "-ffast-math",
    "unsafe": "-funsafe-math-optimizations",
    "finite": "-ffinite-math-only",
    "signs": "-fno-signed-zeros",
    "single": "-fsingle-precision-constant",
    "enums": "-fshort-enums",
    "slow": "-O0",
    "bits": "-m32",
    "macro": "-D__builtin_isnan(x)=0",
    "function": "-D__builtin_nanf(x)=0.0f",
    "header": "-include {folder}/wrong.h",
    "folder": "-I{folder}/shadow",
}
WRONG_WITH = {"fast", "finite", "enums", "macro", "function", "header", "folder"}
"""Where the result is known to be wrong: there the test sees that its own filling has worked."""


class Place:
    """A folder with programs that come first in PATH, and a cache."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        (folder / "bin").mkdir()
        (folder / "shadow").mkdir()
        (folder / "shadow" / "math.h").write_text(WRONG_HEADER)
        (folder / "wrong.h").write_text("#include <math.h>\n#undef isnan\n#define isnan(x) 0\n")
        self.cache = CacheSettings(root=str(folder / "cache"))

    def script(self, name: str, text: str) -> str:
        path = self.folder / "bin" / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def forget(self) -> None:
        """Be another process."""
        select.forget()
        self.monkeypatch.setattr(units, "_loaded", units._Loaded())
        self.monkeypatch.setattr(block_unit, "_loaded", {})

    def tools(self, settings: ToolchainSettings) -> Toolchain:
        return units.current_toolchain(settings, Cache(self.cache))

    def run(self, settings: ToolchainSettings) -> tuple[int, int]:
        """Return what the kernel says, and how many kernels were compiled for that."""
        self.forget()
        (address,) = units.compile_kernels([KERNEL], settings, self.cache)
        return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address)(None), units.compile_counts().compiled

    def plain_is_right(self, *, alone: bool = True) -> None:
        """Check that a plain process is right, and that it has found nothing if it is `alone` in its ways."""
        plain = ToolchainSettings(compiler=GCC)
        self.forget()
        key = kernel_key(KERNEL, units.abi_text(), self.tools(plain).identity)
        assert not alone or not list(Cache(self.cache).references(key))
        found, compiled = self.run(plain)
        assert found == RIGHT and (compiled == 1 or not alone)

    def fill(self, settings: ToolchainSettings, *, wrong: bool) -> None:
        try:
            found, compiled = self.run(settings)
        except (NoCompilerError, KernelCompileError):
            assert not wrong, "this compiler should have worked"
            return
        assert compiled == 1 and (found != RIGHT or not wrong)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("theano.toolchain.find._zig_of_wheel", lambda: "")
    yield Place(tmp_path, monkeypatch)
    select.forget()


def by_setting(place: Place, arguments: str) -> ToolchainSettings:
    return ToolchainSettings(compiler=f"{GCC} {arguments}")


def by_environment(place: Place, arguments: str) -> ToolchainSettings:
    place.monkeypatch.setenv("CC", f"{GCC} {arguments}")
    return ToolchainSettings()


def by_flags(place: Place, arguments: str) -> ToolchainSettings:
    return ToolchainSettings(compiler=GCC, extra_flags=tuple(arguments.split()))


def by_wrapper(place: Place, arguments: str) -> ToolchainSettings:
    quoted = " ".join(f"'{word}'" for word in arguments.split())
    return ToolchainSettings(compiler=place.script("wrapper", f'exec {GCC} {quoted} "$@"'))


def by_path(place: Place, arguments: str) -> ToolchainSettings:
    by_wrapper(place, arguments)
    place.script("cc", 'exec wrapper "$@"')  # two on the way
    place.monkeypatch.setenv("PATH", f"{place.folder}/bin:{os.environ['PATH']}")
    return ToolchainSettings()


def by_list(place: Place, arguments: str) -> ToolchainSettings:
    (place.folder / "list").write_text(arguments)
    return ToolchainSettings(compiler=f"{GCC} @{place.folder}/list")


WAYS = (by_setting, by_environment, by_flags, by_wrapper, by_path, by_list)


@pytest.mark.parametrize(("name", "way"), portion(product(ARGUMENTS, WAYS), one_in=5, always=6))
def test_arguments(place: Place, name: str, way: Callable[[Place, str], ToolchainSettings]) -> None:
    settings = way(place, ARGUMENTS[name].format(folder=place.folder))
    place.fill(settings, wrong=name in WRONG_WITH)
    # Where nothing can be compiled for 32 bits, the next compiler of PATH does it, and that is a plain one.
    place.plain_is_right(alone=name != "bits")


@pytest.mark.parametrize("way", WAYS)
def test_the_same_again_is_found(place: Place, way: Callable[[Place, str], ToolchainSettings]) -> None:
    settings = way(place, "-ffinite-math-only")
    found = place.run(settings)[0]
    assert place.run(settings) == (found, 0)


# -- what changes while its name stays -----------------------------------------------------------------------


def later(path: Path) -> None:
    """Let a change show in the time of a file, whatever its clock's steps are."""
    os.utime(path, (time.time() + 5, time.time() + 5))


@pytest.mark.parametrize("what", ["header", "shadow", "list", "inner script", "environment of the script"])
def test_what_a_command_names_has_changed(place: Place, what: str) -> None:
    """The very same command makes something else: a second process must see it."""
    folder = place.folder
    wrong, right = folder / "change", ""
    if what == "header":
        wrong.write_text("#include <math.h>\n#undef isnan\n#define isnan(x) 0\n")
        settings = by_setting(place, f"-include {wrong}")
    elif what == "shadow":
        wrong, right = folder / "shadow" / "math.h", "#include_next <math.h>\n"
        settings = by_wrapper(place, f"-I{folder}/shadow")
    elif what == "list":
        wrong.write_text("-ffast-math")
        settings = by_setting(place, f"@{wrong}")
    elif what == "inner script":
        wrong = Path(place.script("inner", f'exec {GCC} -ffast-math "$@"'))
        right = f'#!/bin/sh\nexec {GCC} "$@"\n'
        settings = ToolchainSettings(compiler=place.script("outer", f'exec {wrong} "$@"'))
    else:
        wrong.write_text("FLAGS=-ffast-math\n")
        settings = ToolchainSettings(compiler=place.script("sourced", f'. {wrong}\nexec {GCC} $FLAGS "$@"'))
    place.fill(settings, wrong=True)
    wrong.write_text(right)
    later(wrong)
    assert place.run(settings) == (RIGHT, 1)


def test_a_link_that_means_another_program(place: Place) -> None:
    link = place.folder / "bin" / "cc"
    link.symlink_to(place.script("wrapper", f'exec {GCC} -ffast-math "$@"'))
    settings = ToolchainSettings(compiler=str(link))
    place.fill(settings, wrong=True)
    link.unlink()
    link.symlink_to(str(GCC))
    assert place.run(settings) == (RIGHT, 1)


def test_the_order_of_path(place: Place) -> None:
    """A script that calls what comes first in PATH is the same script in another order."""
    script = place.script("mine", 'exec chosen "$@"')
    for name, arguments in (("wrong", "-ffast-math"), ("right", "")):
        folder = place.folder / name
        folder.mkdir()
        (folder / "chosen").write_text(f'#!/bin/sh\nexec {GCC} {arguments} "$@"\n')
        (folder / "chosen").chmod(0o755)
    settings = ToolchainSettings(compiler=script)
    path = os.environ["PATH"]
    place.monkeypatch.setenv("PATH", f"{place.folder}/wrong:{path}")
    place.fill(settings, wrong=True)
    place.monkeypatch.setenv("PATH", f"{place.folder}/right:{path}")
    assert place.run(settings) == (RIGHT, 1)


def test_an_inner_program_of_another_build(place: Place) -> None:
    """The driver stays, says the same version, and runs another program of the same name."""
    inner = subprocess.run(
        [str(GCC), "-print-prog-name=cc1"], capture_output=True, text=True, check=True
    ).stdout.strip()
    fake = place.folder / "inner" / "cc1"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\nexec {inner} "$@" -ffast-math\n')
    fake.chmod(0o755)
    settings = by_setting(place, f"-B{fake.parent}")
    place.fill(settings, wrong=True)
    first = place.tools(settings).identity
    fake.write_text(f'#!/bin/sh\nexec {inner} "$@"\n')
    later(fake)
    assert place.run(settings) == (RIGHT, 1)
    second = place.tools(settings)
    assert second.identity != first and second.compiler.version in first


@pytest.mark.parametrize("what", ["the number of the build", "the end", "the size"])
def test_builds_of_a_program_are_told_apart(tmp_path: Path, what: str) -> None:
    """Of one version and, mostly, of one size."""
    first, second = tmp_path / "1", tmp_path / "2"
    data = bytearray(b"\x7fELF" + bytes(1 << 20))
    first.write_bytes(data)
    place = {"the number of the build": 700, "the end": -1, "the size": None}[what]
    if place is None:
        data += b"\0"
    else:
        data[place] = 1
    second.write_bytes(data)
    shutil.copyfile(first, tmp_path / "3")
    assert _mark(str(first)) != _mark(str(second)) and _mark(str(first)) == _mark(str(tmp_path / "3"))


def test_a_compiler_that_changes_while_a_process_lives(place: Place) -> None:
    """What the new one has made does not lie under the name of the old one."""
    script = Path(place.script("cc", f'exec {GCC} "$@"'))
    settings = ToolchainSettings(compiler=str(script))
    place.forget()
    store = Cache(place.cache)
    key = kernel_key(KERNEL, units.abi_text(), units.current_toolchain(settings, store).identity)
    place.script("cc", f'exec {GCC} -ffast-math "$@"')
    later(script)
    units.compile_kernels([KERNEL], settings, place.cache)
    assert not list(store.references(key))
    place.script("cc", f'exec {GCC} "$@"')
    assert place.run(settings)[0] == RIGHT


# -- the environment -----------------------------------------------------------------------------------------

VARIABLES = {
    "CPATH": "{folder}/shadow",
    "C_INCLUDE_PATH": "{folder}/shadow",
    "CPLUS_INCLUDE_PATH": "{folder}/shadow",
    "LIBRARY_PATH": "{folder}/shadow",
    "COMPILER_PATH": "{folder}/inner",
    "GCC_EXEC_PREFIX": "{folder}/inner/",
    "CFLAGS": "-ffast-math",
    "CPPFLAGS": "-D__builtin_isnan(x)=0",
    "LDFLAGS": "-L/nowhere",
    "SOURCE_DATE_EPOCH": "1",
    "CCC_OVERRIDE_OPTIONS": "+-ffast-math",
    "CCACHE_PREFIX": "false",
    "LD_PRELOAD": "/nowhere.so",
}


@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.parametrize("plain", [True, False], ids=["gcc", "script"])
def test_variables_do_not_reach_the_compiler(place: Place, name: str, plain: bool) -> None:
    assert name not in KEPT_VARIABLES
    settings = ToolchainSettings(compiler=GCC) if plain else by_wrapper(place, "-g0")
    with place.monkeypatch.context() as patch:
        patch.setenv(name, VARIABLES[name].format(folder=place.folder))
        assert place.run(settings) == (RIGHT, 1)
    assert place.run(settings) == (RIGHT, 0), "nothing was different, so it is found"


@pytest.mark.parametrize("name", ["CPATH", "C_INCLUDE_PATH"])
def test_variables_that_a_script_sets(place: Place, name: str) -> None:
    """They show in no argument, only in what the preprocessor sees."""
    script = place.script("wrapper", f'{name}={place.folder}/shadow exec {GCC} "$@"')
    place.fill(ToolchainSettings(compiler=script), wrong=True)
    place.plain_is_right()


@pytest.mark.parametrize("name", ["HOME", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "SDKROOT"])
def test_variables_that_a_script_reads(place: Place, name: str) -> None:
    """What a compiler is told of the environment may decide what a script does."""
    script = place.script("wrapper", f'test "${name}" = /wrong && set -- -ffast-math "$@"\nexec {GCC} "$@"')
    settings = ToolchainSettings(compiler=script)
    with place.monkeypatch.context() as patch:
        patch.setenv(name, "/wrong")
        place.fill(settings, wrong=True)
    assert place.run(settings) == (RIGHT, 1)


# -- other places where a compiler counts --------------------------------------------------------------------


def block() -> Block:
    parts = "".join(
        f'extern "C" __attribute__((visibility("default"))) int theano_block_{name}(void *x) {{ {body} }}\n'
        for name, body in (
            ("new", "return 0;"),
            ("run", "volatile double zero = x ? 1.0 : 0.0, nan = zero / zero; return __builtin_isnan(nan) ? 1 : 0;"),
            ("failed", "return 0;"),
            ("delete", "return 0;"),
        )
    )
    return Block("isnan", parts, Needs(), "", (1,), [], [], [], [])


@pytest.mark.parametrize("way", [by_setting, by_environment, by_flags, by_wrapper, by_list])
def test_what_people_write_in_c(place: Place, way: Callable[[Place, str], ToolchainSettings]) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    settings = way(place, "-ffast-math")

    def run(settings: ToolchainSettings) -> int:
        place.forget()
        (loaded,) = block_unit.compile_blocks([block()], settings, place.cache)
        result: int = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(loaded.run)(None)
        return result

    assert run(settings) == 0
    before = sorted((place.folder / "cache").glob("*/*.so"))
    assert run(ToolchainSettings(compiler=GCC)) == 1
    assert len(before) == 1 and len(list((place.folder / "cache").glob("*/*.so"))) == 2


def test_a_machine_without_a_compiler_prefers_a_plain_one(place: Place) -> None:
    """It takes what was compiled for machines like it, but not what somebody's CC has made."""
    tools = place.folder / "tools"
    tools.mkdir()
    for name in ("sh", "as", "ld"):
        (tools / name).symlink_to(str(shutil.which(name)))
    place.monkeypatch.setenv("PATH", str(tools))
    place.monkeypatch.setenv("CC", f"{GCC} -ffast-math")
    place.fill(ToolchainSettings(), wrong=True)
    place.monkeypatch.delenv("CC")
    with pytest.raises(NoCompilerError):
        place.run(ToolchainSettings())
    compiler = tools / "cc"
    compiler.write_text(f'#!/bin/sh\nexec {GCC} -ffast-math "$@"\n')
    compiler.chmod(0o755)
    place.fill(ToolchainSettings(), wrong=True)
    compiler.unlink()
    compiler.symlink_to(str(GCC))
    assert place.run(ToolchainSettings()) == (RIGHT, 1)
    compiler.unlink()
    assert place.run(ToolchainSettings()) == (RIGHT, 0)


def test_a_plain_driver_is_only_asked(place: Place) -> None:
    """Where nobody has changed anything, the preprocessor is not started: it takes as long as a fifth of a kernel."""
    place.forget()
    found = place.tools(ToolchainSettings(compiler=GCC))
    assert found.compiler.plain and not any(path.endswith(".h") for path, _, _ in found.compiler.witnesses)
    place.forget()
    other = place.tools(ToolchainSettings(compiler=f"{GCC} -DX"))
    assert not other.compiler.plain and any(path.endswith("/math.h") for path, _, _ in other.compiler.witnesses)


def test_of_parameters_only_the_sizes_of_caches_are_not_in_the_key() -> None:
    words = ["cc1", "--param", "l1-cache-size=32", "-O2", "--param", "max-unroll-times=4", "--param", "l2-cache-size=9", "l1-cache-x"]
    assert _without_places(words, "/nowhere").split("\n") == ["cc1", "-O2", "--param", "max-unroll-times=4", "l1-cache-x"]


def test_the_place_of_a_cache_is_not_in_the_key(place: Place, tmp_path: Path) -> None:
    first = place.tools(by_wrapper(place, "-ffinite-math-only"))
    place.forget()
    place.cache = CacheSettings(root=str(tmp_path / "another place"))
    assert place.tools(first.settings).identity == first.identity
