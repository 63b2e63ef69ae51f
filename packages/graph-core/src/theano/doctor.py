"""``python -m theano.doctor``: one page on what works here, and the command that mends what does not.

With ``--calibrate`` the layers first measure what is fastest on this machine, and keep it in the cache for later
processes. Layers above add lines of their own at the point `theano.toolchain.checks.checks`, measurements at
`theano.toolchain.checks.calibrations`.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import metadata

import theano
from theano.cache.command import size_text
from theano.cache.contents import survey
from theano.cache.store import CacheSettings, create_trusted, open_cache
from theano.cache.trust import pre_filled_refusal, process_is_privileged
from theano.codegen.unit import compile_kernels, current_toolchain
from theano.errors import KernelCompileError, NoCompilerError
from theano.graph.kernel import Kernel
from theano.layers import PUBLISHED, installed
from theano.loader.abi import abi_text
from theano.settings import config
from theano.toolchain.build import core_count
from theano.toolchain.checks import Line, calibrations, checks
from theano.toolchain.description import ToolchainSettings


def installer() -> str:
    """Return the command that installs a C compiler on this system."""
    for program, command in (
        ("apt-get", "sudo apt-get install gcc libc6-dev"),
        ("dnf", "sudo dnf install gcc glibc-devel"),
        ("yum", "sudo yum install gcc glibc-devel"),
        ("apk", "apk add gcc musl-dev"),
        ("pacman", "sudo pacman -S gcc"),
        ("zypper", "sudo zypper install gcc glibc-devel"),
    ):
        if sys.platform.startswith("linux") and shutil.which(program):
            return command
    if sys.platform == "darwin":
        return "xcode-select --install"
    return f"{os.path.basename(sys.executable)} -m pip install ziglang"


def _versions() -> Iterator[Line]:
    yield Line("python", f"{platform.python_version()} ({sys.executable}), {platform.platform(terse=True)}")
    found: list[str] = []
    missing: list[str] = []
    own, there = "theano-graph-core", [layer.distribution for layer in installed()]
    for distribution in dict.fromkeys((own, *PUBLISHED, *there)):
        layer = distribution.removeprefix("theano-")
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            version = theano.__version__ if distribution in (own, *there) else ""
        (found if version else missing).append(f"{layer} {version}".strip())
    yield Line("theano", ", ".join(found) + (f"; not installed: {', '.join(missing)}" if missing else ""))
    for name in ("numpy", "scipy"):
        try:
            yield Line(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Line(
                name, "not installed", name != "numpy", f"{sys.executable} -m pip install {name}", name == "numpy"
            )


def _settings() -> Iterator[Line]:
    for name, (origin, why) in config.idle().items():
        yield Line("settings", f"{name} ({origin}) has no effect: {why}")


def _loader() -> Line:
    version = re.search(r"#define\s+TH_ABI_VERSION\s+(\d+)", abi_text())
    number = version[1] if version else "?"
    if importlib.util.find_spec("theano.loader._loader") is None:
        remedy = f"{sys.executable} -m pip install --force-reinstall --no-deps theano-graph-core"
        return Line("loader", "its compiled module is missing", False, remedy, True)
    return Line("loader", f"ABI version {number}")


def _compiler(tools: ToolchainSettings, cache: CacheSettings) -> Iterator[Line]:
    try:
        found = current_toolchain(tools, open_cache(cache))
    except NoCompilerError as error:
        remedy = installer() if tools.compiler != "" else "unset cxx in THEANO_FLAGS and in the rc file"
        yield Line("compiler", f"{error}; everything runs through Python and NumPy", False, remedy, True)
        return
    compiler = found.compiler
    if not found.can_compile:
        text = f"none here; what {compiler.version} has compiled elsewhere is taken from the cache"
        yield Line("compiler", text, False, installer(), True)
        return
    yield Line("compiler", f"{compiler.version} ({' '.join(compiler.argv)}, from {compiler.origin}), {compiler.target}")
    yield Line("flags", " ".join(found.flags))
    wide = ", 512-bit vectors" if "-mprefer-vector-width=512" in found.flags else ""
    names = re.findall(r"-(?:march|target-cpu)=(\S+)", found.cpu_class)
    yield Line(
        "cpu", f"{names[-1] if names else platform.machine()}{wide}" + ("" if found.cpu_class else " (portable code)")
    )
    yield _probe(tools, cache)


def _probe(tools: ToolchainSettings, cache: CacheSettings) -> Line:
    """Compile, publish and load a new kernel."""
    code = f"int KERNEL(th_ctx *ctx) {{ return ctx == 0 && {time.time_ns()}ll % {os.getpid()}; }}"
    start = time.perf_counter()
    try:
        (address,) = compile_kernels([Kernel("probe of the doctor", code)], tools, cache)
    except (NoCompilerError, KernelCompileError) as error:
        return Line("probe", f"compiling and loading a kernel failed: {error}", False, installer(), True)
    milliseconds = (time.perf_counter() - start) * 1e3
    if address.unit is not None:
        open_cache(cache).discard(address.unit.path)  # it is never used again
    return Line("probe", f"compiled and loaded a kernel in {milliseconds:.0f} ms")


def _cache(settings: CacheSettings) -> Iterator[Line]:
    root = settings.directory()
    refusal = create_trusted(root)
    contents = survey(root)
    size = f"{len(contents.units)} units, {size_text(contents.unit_bytes)} of {size_text(settings.size_cap)}"
    if refusal is None:
        yield Line("cache", f"{root}: {size}; trusted, only you can write to it")
    else:
        yield Line("cache", f"{root or 'no place'} is not used: {refusal.path} {refusal.reason}", False, refusal.remedy)
    for path in settings.pre_filled():
        other = pre_filled_refusal(path)
        text = "trusted" if other is None else f"not used: {other.path} {other.reason}"
        yield Line("cache", f"{path} (read-only): {text}", other is None, other.remedy if other else "")
    if process_is_privileged():
        yield Line("cache", "this process is privileged (setuid): settings of cache and compiler are ignored")


def lines() -> Iterator[Line]:
    """Yield the lines of the page, each as soon as it is known."""
    cache = CacheSettings.from_config(config)
    tools = ToolchainSettings.from_config(config)
    yield from _versions()
    yield from _settings()
    yield _loader()
    yield from _compiler(tools, cache)
    yield from _cache(cache)
    yield from _layers()
    yield Line("threads", f"{core_count()} cores for this process, {os.cpu_count()} in the machine")


def _layers() -> Iterator[Line]:
    """Yield what the layers above say of themselves: BLAS, above all."""
    there = list(installed())
    for layer in there:
        try:
            layer.load()  # it registers its checks
        except ImportError as error:
            remedy = f"{sys.executable} -m pip install --force-reinstall {layer.distribution}"
            yield Line(layer.distribution.removeprefix("theano-"), f"cannot be imported: {error}", False, remedy, True)
            return
    for distribution, published in PUBLISHED.items():
        if distribution not in [layer.distribution for layer in there]:
            yield from (Line(topic, f"{distribution} is not installed") for topic in published.checks)
    for check in list(checks.values()):
        yield from check()


def calibrated() -> Iterator[Line]:
    """Measure, and yield a line on each thing that was measured."""
    for layer in installed():
        layer.load()  # it registers what can be measured
    for calibrate in list(calibrations.values()):
        yield from calibrate()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page; 1 if something essential is broken."""
    parser = argparse.ArgumentParser("python -m theano.doctor", description="Say what works here.")
    parser.add_argument("--calibrate", action="store_true", help="measure what is fastest on this machine, and keep it")
    options = parser.parse_args(arguments)
    amiss = []
    for line in itertools.chain(calibrated() if options.calibrate else (), lines()):
        print(line, flush=True)
        if not line.ok:
            amiss.append(line)
    broken = any(line.essential for line in amiss)
    print(f"lines marked ! need attention{'' if broken else '; the rest works'}" if amiss else "all is well")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
