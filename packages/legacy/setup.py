"""Tells the version, which all layers share; everything else is in pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]  # its copy in an archive comes first
import layer_build as build  # noqa: E402

setup(
    version=build.version(),
    install_requires=[f"theano-sparse=={build.version()}", "numpy>=2.0", "scipy>=1.11", "six>=1.16"],
    cmdclass={"sdist": build.Archive},
)
