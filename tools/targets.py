"""Wheels for other machines and other versions of Python than this one: the compiler is zig, from its wheel.

Zig has the headers and the stubs of the C libraries of all systems, so that nothing but Python has to be installed.
What is made for Linux needs no newer C library than that of manylinux2014; zig's library of C++ is linked into the
loader. Of a version of Python only its headers count. Those of x86-64 stand for those of aarch64: with 64 bits both
have types of the same sizes, which is all that extension modules take from them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from check_wheels import Trouble, build_wheels, expect, run

GLIBC = "2.17"
MACHINES = ("x86_64", "aarch64")
PYTHONS = ("3.11", "3.12", "3.13")


class Target(NamedTuple):
    """Linux on a machine, with a version of CPython.

    Parameters
    ----------
    machine : str
        As `platform.machine` says it there.
    python : str
        Such as "3.11".

    Examples
    --------
    >>> Target("aarch64", "3.12").tags()
    ('cp312', 'manylinux_2_17_aarch64.manylinux2014_aarch64')
    """

    machine: str
    python: str

    def tags(self) -> tuple[str, str]:
        """Return the tags of a wheel for one version of Python: that of the interpreter, and that of the platform."""
        older = GLIBC.replace(".", "_")
        return f"cp{self.python.replace('.', '')}", f"manylinux_{older}_{self.machine}.manylinux2014_{self.machine}"


def zig() -> str:
    """Return the path of the compiler that the wheel ``ziglang`` brings."""
    try:
        import ziglang  # only where something is built for another machine
    except ModuleNotFoundError as error:
        raise Trouble("wheels for other machines are compiled by zig: pip install ziglang") from error
    return str(Path(ziglang.__file__).parent / "zig")


@cache
def headers(python: str) -> str | None:
    """Return the folder with the headers of a version of Python, as that says itself; None if it is not here."""
    mine = sorted((Path.home() / ".pyenv" / "versions").glob(f"{python}.*/bin/python{python}"), reverse=True)
    for interpreter in (f"python{python}", *map(str, mine)):
        asked = "import sysconfig; print(sysconfig.get_path('include'))"
        try:
            done = subprocess.run([interpreter, "-c", asked], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if done.returncode == 0 and (Path(done.stdout.strip()) / "Python.h").is_file():
            return done.stdout.strip()
    return None


def environment(target: Target, compiler: str, include: str) -> dict[str, str]:
    """Return the variables under which setuptools builds for a target.

    Parameters
    ----------
    target : Target
        What for.
    compiler : str
        The command that is zig.
    include : str
        The folder with the headers of its Python.

    Examples
    --------
    >>> variables = environment(Target("aarch64", "3.12"), "/z/zig", "/p/include")
    >>> variables["CC"]
    '/z/zig cc -target aarch64-linux-gnu.2.17'
    >>> variables["SETUPTOOLS_EXT_SUFFIX"]
    '.cpython-312-aarch64-linux-gnu.so'
    """
    there = f"-target {target.machine}-linux-gnu.{GLIBC}"
    cc, cxx = f"{compiler} cc {there}", f"{compiler} c++ {there}"
    return {
        "CC": cc, "CXX": cxx, "AR": f"{compiler} ar", "LDSHARED": f"{cc} -shared", "LDCXXSHARED": f"{cxx} -shared",
        "CFLAGS": f"-I{include} -g0", "CXXFLAGS": f"-I{include} -g0", "LDFLAGS": "-s",
        "_PYTHON_HOST_PLATFORM": f"linux-{target.machine}",
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{target.tags()[0][2:]}-{target.machine}-linux-gnu.so",
    }  # fmt: skip


def build(target: Target, copy: Path, folder: Path, layers: list[str]) -> dict[str, Path]:
    """Build wheels of copied packages for a target, with the tags of manylinux, and return them by layer.

    Parameters
    ----------
    target : Target
        What for.
    copy : Path
        The packages, from `check_wheels.copy_packages` or out of source archives.
    folder : Path
        Where the wheels go.
    layers : list of str
        Which of them.
    """
    include = headers(target.python)
    expect(include is not None, f"the headers of Python {target.python} are not here: install that version")
    for layer in layers:  # what was built for another version would be taken along
        shutil.rmtree(copy / layer / "build", ignore_errors=True)
    built = build_wheels(copy, folder, layers, environment(target, f"{sys.executable} {__file__}", include))
    return {layer: _tagged(wheel, target) for layer, wheel in built.items()}


def as_zig_says(option: str) -> str:
    """Return an option of gcc and clang as zig spells it: levels of x86-64 have other names there.

    Examples
    --------
    >>> as_zig_says("-march=x86-64-v3"), as_zig_says("-O3")
    ('-march=x86_64_v3', '-O3')
    """
    return option.replace("x86-64-v", "x86_64_v") if option.startswith("-march=") else option


def _tagged(wheel: Path, target: Target) -> Path:
    """Give a wheel the tags of its target, unless it is for all; see, and say, that it keeps what they promise."""
    if wheel.stem.endswith("-any"):
        return wheel
    interpreter, platform = target.tags()
    for_each = [] if "-abi3-" in wheel.name else [f"--python-tag={interpreter}", f"--abi-tag={interpreter}"]
    if for_each:
        is_for(wheel, target.python)
    verdict = needs(wheel)
    print(f"auditwheel: {verdict}", flush=True)
    expect(keeps(verdict, target.machine), verdict)
    said = run(sys.executable, "-m", "wheel", "tags", "--remove", *for_each, f"--platform-tag={platform}", wheel)
    return wheel.parent / said.split()[-1]


def is_for(wheel: Path, python: str) -> None:
    """Fail unless the compiled parts of a wheel are for a version of Python, which pybind11 has them hold as text."""
    with zipfile.ZipFile(wheel) as files:
        parts = {name: files.read(name) for name in files.namelist() if name.endswith(".so")}
    for name, part in parts.items():
        said = {found.decode() for found in re.findall(rb"\x00(3\.\d+)\x00", part)}
        versions = ", ".join(sorted(said)) or "no version"
        expect(said == {python}, f"{wheel.name}: {name} is compiled for Python {versions}")


def keeps(verdict: str, machine: str) -> bool:
    """Return whether a wheel needs no newer C library than its tags say, by auditwheel's verdict.

    Examples
    --------
    >>> verdicts = [f'a.whl is consistent with the following platform tag: "{tag}".' for tag in (
    ...     "manylinux_2_5_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64", "linux_x86_64")]
    >>> [keeps(verdict, "x86_64") for verdict in verdicts]
    [True, True, False, False]
    """
    found = re.search(rf'platform tag: "manylinux_(\d+)_(\d+)_{machine}"', verdict)
    return found is not None and (int(found[1]), int(found[2])) <= tuple(map(int, GLIBC.split(".")))


def needs(wheel: Path) -> str:
    """Return what auditwheel says of the oldest system that a wheel works on, in one line."""
    said = run(sys.executable, "-m", "auditwheel", "show", wheel)
    return " ".join(said.split()).replace(" The wheel requires no external shared libraries! :)", "")


def build_all(copy: Path, folder: Path, layers: list[str]) -> Iterator[tuple[Target, dict[str, Path]]]:
    """Build the wheels of all targets whose Python is here, one after the other; yield a whole set for each.

    A wheel that serves several targets is built once: those without compiled parts, and those that use so little of
    Python that they serve all versions.
    """
    for machine in MACHINES:
        once: dict[str, Path] = {}
        for python in PYTHONS:
            target = Target(machine, python)
            if headers(python) is None:
                print(f"no wheels for Python {python} on {machine}: that version is not here", flush=True)
                continue
            made = build(target, copy, folder, [layer for layer in layers if layer not in once])
            once |= {layer: wheel for layer, wheel in made.items() if "-abi3-" in wheel.name or "-any" in wheel.name}
            yield target, {layer: {**once, **made}[layer] for layer in layers}


if __name__ == "__main__":  # as the compiler: python targets.py cc -target ...
    os.execv(zig(), [zig(), *map(as_zig_says, sys.argv[1:])])
