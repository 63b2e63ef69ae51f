"""Another Python, with Dask and as much of Theano as a worker needs to say which version it has; for tests of workers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[3]
KNOWN = [(3, minor) for minor in range(11, 15) if (3, minor) != sys.version_info[:2]]


def interpreters() -> list[str]:
    """Return Pythons of other versions that Theano runs on: those on the path, and those of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for major, minor in KNOWN:
        name = f"python{major}.{minor}"
        ways = [shutil.which(name), *sorted(map(str, root.glob(f"{major}.{minor}.*/bin/{name}")))]
        found += [way for way in ways if way is not None and _is(way, f"{major}.{minor}")]
    return found


def _is(python: str, wanted: str) -> bool:
    ask = [python, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(ask, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == wanted


def environment(python: str, folder: Path) -> tuple[str, dict[str, str]]:
    """Return the Python of a new environment with Dask and the lowest layer, and the variables to find the others by.

    Only what is compiled in the lowest layer is loaded until a worker has said its versions.
    """
    own = folder / "environment"
    subprocess.run([python, "-m", "venv", str(own)], stdin=subprocess.DEVNULL, check=True)
    made = str(own / ("Scripts" if os.name == "nt" else "bin") / "python")
    source = folder / "graph-core"
    built = shutil.ignore_patterns("*.so", "*.pyd", "build", "__pycache__", "*.egg-info", "tests")
    shutil.copytree(PACKAGES / "graph-core", source, ignore=built)
    distributed = f"distributed=={version('distributed')}"
    install = [made, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(source), "numpy>=2", distributed]
    quick = {**os.environ, "CFLAGS": "-O0"}  # it computes nothing
    subprocess.run(install, env=quick, stdin=subprocess.DEVNULL, check=True, capture_output=True, text=True)
    sources = os.pathsep.join(str(PACKAGES / layer / "src") for layer in ("scalar", "tensor"))
    return made, {**os.environ, "PYTHONPATH": sources}
