"""The distribution ``theano`` has nothing but metadata: in a clone it names folders, in a release versions."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from environments import LAYERS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packages" / "theano"
BROUGHT = [layer for layer in LAYERS if layer != "gpu-backend"]
HOOK = "import setuptools.build_meta as b, sys; print(getattr(b, sys.argv.pop(1))(sys.argv.pop(1)))"


def hook(folder: Path, name: str, target: Path) -> Path:
    """Call a hook of the build in a folder, and return what it made."""
    command = [sys.executable, "-c", HOOK, name, str(target)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target / done.stdout.splitlines()[-1]


def requirements(folder: Path, target: Path) -> list[str]:
    """Return what the metadata of a wheel ask for, but for extras."""
    target.mkdir()
    text = (hook(folder, "prepare_metadata_for_build_wheel", target) / "METADATA").read_text(encoding="utf-8")
    asked = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("Requires-Dist")]
    return [each for each in asked if "extra ==" not in each]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return the folder of the distribution in a copy of the packages, where layers lie beside it."""
    packages = tmp_path / "packages"
    shutil.copytree(FOLDER, packages / "theano", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    shutil.copy2(ROOT / "packages" / "layer_build.py", packages)
    version = Path("graph-core/src/theano/__init__.py")
    (packages / version).parent.mkdir(parents=True)
    shutil.copy2(ROOT / "packages" / version, packages / version)
    for layer in BROUGHT:
        (packages / layer).mkdir(exist_ok=True)
    return packages / "theano"


def test_in_a_clone_the_layers_are_those_beside_it(clone: Path, tmp_path: Path) -> None:
    asked = requirements(clone, tmp_path / "metadata")
    assert asked == [f"theano-{layer} @ {(clone.parent / layer).as_uri()}" for layer in BROUGHT]


def test_a_release_asks_for_its_version(clone: Path, tmp_path: Path) -> None:
    archive = hook(clone, "build_sdist", tmp_path)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    assert "file://" not in (folder / "PKG-INFO").read_text(encoding="utf-8")
    version = archive.name.removesuffix(".tar.gz").partition("-")[2]
    assert requirements(folder, tmp_path / "metadata") == [f"theano-{layer}=={version}" for layer in BROUGHT]
