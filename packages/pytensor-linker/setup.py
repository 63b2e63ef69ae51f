"""Tells the version, which all layers share, and what is needed; everything else is in pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # its copy in an archive comes first
import layer_build as build  # noqa: E402

setup(
    version=build.version(),
    install_requires=[f"theano-tensor=={build.version()}", f"theano-sparse=={build.version()}", "pytensor>=3.3"],
    cmdclass={"sdist": build.Archive},
)
