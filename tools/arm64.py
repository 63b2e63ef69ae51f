"""Build the wheels for aarch64, and try them on this machine: the doctor, the digits, a part of each layer's tests.

    python tools/arm64.py              (nox -s arm64) all of it; minutes
    python tools/arm64.py --keep       with the wheels of the last time

Programs for aarch64 run under QEMU's emulation of one process. What they need lies in ``.nox/arm64``: a root of Debian
with Python and the C library, wheels from the package index, and those built here by zig. The compiler of the tests is
Debian's cross compiler, a program for this machine, which runs at its speed: an emulated process starts it as any
other. Nothing has to be registered with the kernel: the environment's ``python`` is a script that
starts the emulator, and what Python starts again is that script.

Rounding is that of the emulator, which follows IEEE 754; the C library is the real one for aarch64. So results may
differ from those on x86-64 by what the two C libraries and the two orders of additions do, and by nothing else.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import check_wheels
import targets
from check_wheels import LAYERS, Trouble, expect, run

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".nox" / "arm64"
SUITE, PYTHON, CPU = "bookworm", "3.11", "neoverse-n1"
TARGET = targets.Target("aarch64", PYTHON)
PACKAGES = (f"python{PYTHON}", "libstdc++6")
#: What has to be here, and the package of Debian that brings it.
PROGRAMS = {
    "qemu-aarch64-static": "qemu-user-static",
    "debootstrap": "debootstrap",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
}
NEEDED = (
    *("numpy>=2.0", "scipy>=1.11", "platformdirs", "six>=1.16", "scikit-learn", "matplotlib", "tqdm"),
    *("pytest>=8.2", "pytest-xdist", "hypothesis", "mpmath", "python-flint", "pydot", "syrupy", "sympy"),
)
#: The part of each layer's tests: those whose code depends on the CPU, and a tour of the rest.
TESTS = {
    "graph-core": ("test_tiny.py", "loader/test_loader_machine.py", "loader/test_loader_memory.py"),
    "scalar": ("test_tiny.py", "test_maths_elementary.py"),
    "tensor": ("elemwise/test_tiny.py", "kernels/test_kernels_levels.py", "kernels/test_kernels_gemm.py::test_gemm"),
    "sparse": ("test_values.py",),
    "legacy": ("test_names.py",),
    "gpu-backend": (),  # they need a device; that the layer loads, the doctor says
}


def lacking(which=shutil.which, root: bool | None = None) -> list[str]:
    """Return what this machine lacks, each with what to do; nothing if all is there.

    Parameters
    ----------
    which : callable
        Finds a program.
    root : bool, optional
        Whether this user may make a root; asked of the system by default.
    """
    found = [f"{name} is not here" for name in PROGRAMS if which(name) is None]
    if found:
        packages = " ".join(PROGRAMS[said.split()[0]] for said in found)
        found.append(f"all of it on Debian: apt-get install {packages}")
    if not (root if root is not None else hasattr(os, "geteuid") and os.geteuid() == 0):
        found.append("debootstrap works for root only")
    return found


def make_root(folder: Path) -> Path:
    """Unpack Debian's packages for aarch64 into a folder, once; nothing of them is run."""
    if not (folder / f"usr/bin/python{PYTHON}").exists():
        print(f"unpacking Debian's packages for aarch64 into {folder} ...", flush=True)
        part = folder.with_name(f"{folder.name}.part")  # what was interrupted is not taken for a whole root
        for old in (part, folder):
            shutil.rmtree(old, ignore_errors=True)
        options = ("--foreign", "--arch=arm64", "--variant=minbase", f"--include={','.join(PACKAGES)}")
        run("debootstrap", *options, SUITE, part)
        for package in sorted((part / "var/cache/apt/archives").glob("*.deb")):
            run("dpkg-deb", "-x", package, part)
        part.rename(folder)
    return folder


def make_environment(folder: Path, root: Path) -> Path:
    """Make an environment whose Python is emulated, with what the wheels need; return its interpreter.

    ``venv`` would link to an interpreter that this system cannot start.
    """
    python, site = folder / "bin" / "python", folder / "lib" / f"python{PYTHON}" / "site-packages"
    wanted = "\n".join(NEEDED)
    if not (folder / "needed.txt").is_file() or (folder / "needed.txt").read_text() != wanted:
        print(f"installing what Theano and its tests need into {folder} ...", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        python.parent.mkdir(parents=True)
        (folder / "pyvenv.cfg").write_text(f"home = {root / 'usr/bin'}\nversion = {PYTHON}\n")
        write_scripts(python.parent, root)
        install(site, *NEEDED)
        (folder / "needed.txt").write_text(wanted)
    return python


#: A compiler on aarch64 asks its CPU what -march=native means; this one is not there.
COMPILER = f"""\
for word do
    shift
    [ "$word" = -march=native ] && word=-mcpu={CPU}
    set -- "$@" "$word"
done
exec aarch64-linux-gnu-%s "$@"
"""


def write_scripts(folder: Path, root: Path) -> None:
    """Write what is run in place of Python and of the compilers, which tests ask for by name, as Theano does."""
    scripts = {"python": f'exec qemu-aarch64-static -L "{root}" -0 "$0" "{root}/usr/bin/python{PYTHON}" "$@"\n'}
    for name, real in (("gcc", "gcc"), ("cc", "gcc"), ("g++", "g++"), ("c++", "g++")):
        scripts[name] = COMPILER % real
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)


def install(site: Path, *what: object) -> None:
    """Put wheels for aarch64 into a folder of packages, by the pip of this machine."""
    systems = [f"--platform=manylinux_{version}_aarch64" for version in ("2_28", "2_27", "2_17")]
    here = ("--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp", "--abi=cp311", "--abi=abi3")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--upgrade")
    run(*pip, *systems, "--platform=manylinux2014_aarch64", *here, "--target", site, *what)


def make_wheels(folder: Path) -> list[Path]:
    """Build the wheels of the working tree for aarch64, and see that nothing in them is for another CPU."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        wheels = targets.build(TARGET, check_wheels.copy_packages(Path(temporary) / "packages"), folder, LAYERS)
    check_wheels.check_owners(check_wheels.owners(wheels), "aarch64")
    for wheel in wheels.values():
        print(f"built {wheel.name}: {wheel.stat().st_size // 1024} KiB", flush=True)
    return list(wheels.values())


def counted(text: str) -> dict[str, int]:
    r"""Return how many tests passed, failed and so on, from the last line that pytest prints.

    Examples
    --------
    >>> counted("....\\n1 failed, 20 passed, 3 skipped in 5.01s\\n")
    {'failed': 1, 'passed': 20, 'skipped': 3}
    """
    lines = text.strip().splitlines() or [""]
    return {kind: int(number) for number, kind in re.findall(r"(\d+) (\w+)(?=,| in )", lines[-1])}


def environment(python: Path) -> dict[str, str]:
    """Return the environment of emulated programs: compilers for aarch64, and a cache of their own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "PYTHONPATH")}
    first = f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**kept, "PATH": first, "THEANO_FLAGS": f"base_compiledir={HOME / 'cache'}", "OPENBLAS_NUM_THREADS": "1"}


def emulated(python: Path, *arguments: object) -> tuple[int, str]:
    """Run the emulated Python and show what it prints; return its status and that."""
    command = [str(python), *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, env=environment(python), stdout=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stdout or ():
            print(line, end="", flush=True)
            said.append(line)
    return process.returncode, "".join(said)


def try_all(python: Path, layers: list[str]) -> int:
    """Run the doctor, the digits and tests; print what came of each, and return how many went wrong."""
    status, said = emulated(python, "-m", "theano.doctor")
    came = {"doctor": "all is well, NEON" if status == 0 and "NEON on aarch64" in said else "WRONG"}
    with tempfile.TemporaryDirectory() as folder:
        options = ("--epochs", "2", "--picture", f"{folder}/digits.png")
        status, said = emulated(python, ROOT / "examples" / "digits.py", *options)
    found = re.search(r"Accuracy.*?: ([\d.]+)%", said)
    came["digits"] = f"{found[1]}% after 2 epochs" if found and status == 0 and float(found[1]) > 85 else "WRONG"
    for layer in filter(TESTS.get, layers):
        paths = [f"packages/{layer}/tests/{name}" for name in TESTS[layer]]
        pytest = ("-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--durations", "5")
        status, said = emulated(python, *pytest, *paths)
        counts = counted(said)
        words = ", ".join(f"{n} {kind}" for kind, n in counts.items())
        came[f"tests of {layer}"] = words + (" WRONG" if status else "")
    print(f"\nUnder {run('qemu-aarch64-static', '--version').splitlines()[0]}, on {platform.machine()}:")
    for what, words in came.items():
        print(f"  {what}: {words}")
    return sum("WRONG" in words for words in came.values())


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help="take the wheels that are in .nox/arm64")
    parser.add_argument("--layers", nargs="*", choices=LAYERS, default=LAYERS, help="whose tests to run")
    options = parser.parse_args()
    missing = lacking()
    for said in missing:
        print(f"LACKING {said}", file=sys.stderr)
    if missing:
        return 1
    python = make_environment(HOME / "environment", make_root(HOME / "root"))
    kept = sorted((HOME / "wheels").glob("*.whl")) if options.keep else []
    wheels = kept or make_wheels(HOME / "wheels")
    expect(len(wheels) == len(LAYERS), f"{HOME / 'wheels'} does not have a wheel of each layer")
    site = python.parents[1] / "lib" / f"python{PYTHON}" / "site-packages"
    for old in (site / "theano", *site.glob("theano_*")):
        shutil.rmtree(old, ignore_errors=True)
    install(site, "--no-deps", "--no-index", *wheels)
    return min(try_all(python, options.layers), 1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"TROUBLE {trouble}", file=sys.stderr)
        sys.exit(1)
