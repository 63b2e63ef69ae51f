"""Tells the version, which all layers share; everything else is in pyproject.toml."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent


def version() -> str:
    """Return the version of all layers: it stands in theano/__init__.py, and in PKG-INFO of a source archive."""
    archive, core = HERE / "PKG-INFO", HERE.parent / "graph-core/src/theano/__init__.py"
    place, line = (archive, "Version: (.+)") if archive.is_file() else (core, '__version__ = "(.+)"')
    return re.search(f"(?m)^{line}$", place.read_text("utf-8"))[1].replace("-", "")


setup(version=version(), install_requires=[f"theano-graph-core=={version()}", "numpy>=2.0", "scipy>=1.11"])
