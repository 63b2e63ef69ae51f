"""Tells the version, which all layers share, and what comes along; everything else is in pyproject.toml.

In a clone the layers lie beside this folder, and are taken from there: no index need have them. A source archive, and
what is built from one, asks for them by name.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # its copy in an archive comes first
import layer_build as build  # noqa: E402

LAYERS = ("graph-core", "scalar", "tensor", "sparse", "legacy")


def needed(layer: str) -> str:
    """Return how a layer is asked for: by its folder, or where an archive is made or was unpacked, by its version."""
    folder = HERE.parent / layer
    if build.is_archive() or "sdist" in sys.argv or not folder.is_dir():
        return f"theano-{layer}=={build.version()}"
    return f"theano-{layer} @ {folder.as_uri()}"


setup(
    version=build.version(),
    install_requires=[needed(layer) for layer in LAYERS],
    cmdclass={"sdist": build.Archive},
)
