"""Compile all C and C++ of loader, kernels and generated code for macOS on arm64 and Windows on x86-64; none is run.

    python tools/cross.py                       (nox -s cross) both, file by file
    python tools/cross.py --only windows --match loader

The compiler is zig. The headers of Python, NumPy and pybind11 are those of the environment this runs in. Of them, only
``pyconfig.h`` and ``_numpyconfig.h`` depend on the system. Those of Linux stand for those of macOS, where types have
the same sizes; for Windows, the sizes that differ are put into copies.
Generated code is what the compiler writes on this machine (``generated.py``), so that what Python decides by
the system is decided for this one. The GPU layer is for Linux: it is not among these.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy
import pybind11

import generated
import targets
from check_wheels import Trouble, expect

PACKAGES = Path(__file__).resolve().parent.parent / "packages"
TRIPLES = {"macos": "aarch64-macos", "windows": "x86_64-windows-gnu"}
#: What the headers ask, and Windows answers otherwise than Linux; what Linux HAVE_, it has not.
WINDOWS = {"SIZEOF_LONG": 4, "SIZEOF_WCHAR_T": 2, "SIZEOF_PID_T": 4, "NPY_SIZEOF_LONG": 4, "NPY_SIZEOF_WCHAR_T": 2}
NAMES_OF_WINDOWS = "#define MS_WINDOWS 1\n#define MS_WIN64 1\n#define HAVE_DECLSPEC_DLL 1\n#define NT_THREADS 1\n"


def stand_in(system: str, folder: Path) -> list[str]:
    """Copy the headers of Python and NumPy as they would be on a system; return the options that find them."""
    of_numpy = Path(shutil.copytree(numpy.get_include(), folder / "numpy"))
    python = Path(shutil.copytree(sysconfig.get_path("include"), folder / "python"))
    for config in (python / "pyconfig.h", of_numpy / "numpy" / "_numpyconfig.h"):
        text = config.read_text().replace("#define NPY_HAVE_ENDIAN_H 1", "")
        if system == "windows":
            text = NAMES_OF_WINDOWS + re.sub(r"(?m)^#define HAVE_.*$", "", text)
            for name, value in WINDOWS.items():
                text = re.sub(rf"(?m)^(#define {name}) .*$", rf"\1 {value}", text)
        config.write_text(text)
    return ["-isystem", str(python), f"-I{of_numpy}"]


def folders(layer: str) -> list[Path]:
    """Return the folders of a layer's C sources."""
    return [*sorted((PACKAGES / layer / "src" / "theano").glob("*/*/c")), PACKAGES / layer / "build" / "generated"]


def sources() -> Iterator[tuple[Path, list[Path]]]:
    """Yield each source with the folders of its headers, as the ``setup.py`` of its layer has them."""
    core = PACKAGES / "graph-core" / "src" / "theano"
    loader, models = core / "loader", core / "loader" / "model"
    among = [loader, models, PACKAGES / "graph-core" / "build" / "generated"]
    for path in (*sorted(loader.glob("*.cpp")), *sorted(models.glob("*.c"))):
        yield path, [Path(pybind11.get_include()), *among]
    for layer in ("tensor", "sparse"):
        among = [*folders(layer), loader]
        for path in sorted(file for folder in folders(layer) for file in folder.glob("*.c")):
            yield path, among


def generated_sources(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield a unit of generated code after the other, with the folder of the header that all of them include."""
    for path in generated.generate(folder):
        yield path, [PACKAGES / "graph-core" / "src" / "theano" / "loader"]


def command(triple: str, source: Path, headers: list[Path], options: list[str], out: Path) -> list[str]:
    """Return the command that compiles a source for a system into an object file.

    Parameters
    ----------
    triple : str
        The system, in zig's words.
    source : Path
        The file.
    headers : list of Path
        The folders of its headers.
    options : list of str
        From `stand_in`.
    out : Path
        The object file.
    """
    language = ["c++", "-std=c++17"] if source.suffix == ".cpp" else ["cc", "-std=gnu11"]
    always = ["-target", triple, "-O1", "-DNDEBUG", "-DTH_MODULE=_kernels", "-w"]
    return [targets.zig(), *language, *always, *(f"-I{folder}" for folder in headers), *options,
            "-c", str(source), "-o", str(out)]  # fmt: skip


def main() -> int:
    """Compile all, print what fails and how many there were; 1 if something fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=TRIPLES, help="one of the systems")
    parser.add_argument("--match", default="", help="files with this in their path only")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        written = Path(temporary) / "generated"
        written.mkdir(mode=0o700)
        every = {"sources": list(sources()), "units of generated code": list(generated_sources(written))}
        chosen = {what: [one for one in found if options.match in str(one[0])] for what, found in every.items()}
        expect(any(chosen.values()), "no source matches")
        for system in [options.only] if options.only else TRIPLES:
            headers = stand_in(system, Path(temporary) / system)
            for what, found in chosen.items():
                bad = sum(not compiles(system, *one, headers, Path(temporary) / "object.o") for one in found)
                print(f"{system}: {len(found) - bad} of {len(found)} {what} compile for {TRIPLES[system]}", flush=True)
                failed += bad
    return min(failed, 1)


def compiles(system: str, path: Path, among: list[Path], headers: list[str], out: Path) -> bool:
    """Compile a file; if that fails, print the first errors."""
    line = command(TRIPLES[system], path, among, headers, out)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        first = [said for said in done.stderr.splitlines() if "error:" in said][:3]
        print(f"FAILED {system}: {path}", *first, sep="\n  ", flush=True)
    return not done.returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"TROUBLE {trouble}", file=sys.stderr)
        sys.exit(1)
