"""Another Python, with Dask and as much of Theano as a worker needs to say which version it has; for tests of workers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
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
    # With the pip of this environment: to install one takes longer than what it is to install.
    subprocess.run([python, "-m", "venv", "--without-pip", str(own)], stdin=subprocess.DEVNULL, check=True)
    made = str(own / ("Scripts" if os.name == "nt" else "bin") / "python")
    pip = [sys.executable, "-m", "pip", "--python", made, "install", "-q", "--disable-pip-version-check", "--no-compile"]
    source = folder / "graph-core"
    built = shutil.ignore_patterns("*.so", "*.pyd", "build", "__pycache__", "*.egg-info", "tests")
    shutil.copytree(PACKAGES / "graph-core", source, ignore=built)
    shutil.copy2(PACKAGES / "layer_build.py", folder)
    setup = source / "setup.py"
    setup.write_text(setup.read_text("utf-8").replace('"-O2"', '"-O0"'), "utf-8")  # it computes nothing
    build = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    for wanted in ([f"distributed=={version('distributed')}", *build], ["--no-build-isolation", str(source)]):
        env = {**os.environ, **_compiled_once(folder)}
        subprocess.run([*pip, *wanted], env=env, stdin=subprocess.DEVNULL, check=True, capture_output=True, text=True)
    sources = os.pathsep.join(str(PACKAGES / layer / "src") for layer in ("scalar", "tensor"))
    return made, {**os.environ, "PYTHONPATH": sources}


def _compiled_once(folder: Path) -> dict[str, str]:
    """Return the variables by which nothing is compiled that was compiled in another folder before; see noxfile.py."""
    ccache = Path(sys.executable).with_name("ccache")
    if not ccache.exists():
        return {}
    return {"CC": f"{ccache} cc", "CXX": f"{ccache} c++", "CCACHE_DIR": str(PACKAGES.parent / ".nox" / "ccache"),
            "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}  # fmt: skip
