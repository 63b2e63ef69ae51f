"""Builds the C kernels that ship with the layer; everything else is in pyproject.toml.

parameters.h, the structs that kernels are told of, is written from the declarations in theano/sparse/kernels into
``build/generated``. theano.sparse.kernels.library decides which level of instructions is loaded.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # its copy in an archive comes first
import layer_build as build  # noqa: E402

SOURCES = Path("src/theano/sparse/kernels/c")
FOREIGN = build.Foreign(SOURCES / "foreign", {
    "abi.h": ("graph-core", "loader"),
    "parameters.py": ("graph-core", "graph"),
    "building.py": ("tensor", "tensor/kernels"),
})  # fmt: skip
BUILDING = FOREIGN.load("building.py", "theano.tensor.kernels.building")
FOLDERS = sorted(Path("src/theano/sparse").glob("*/c"))


def write_header() -> str:
    """Write parameters.h from its declaration, and return its path."""
    vocabulary = FOREIGN.load("parameters.py", "theano.graph.parameters")
    declared = build.load("theano.sparse.kernels.parameters", HERE / SOURCES.parent / "parameters.py")
    return build.write_if_changed("parameters.h", vocabulary.header(vars(declared), "parameters.py"))


setup(
    version=build.version(),
    install_requires=[f"theano-tensor=={build.version()}", "numpy>=2.0", "scipy>=1.11"],
    ext_modules=build.libraries(
        "theano.sparse.kernels",
        BUILDING.LEVELS,
        BUILDING.FLAGS,
        sources=build.files(FOLDERS, "*.c"),
        depends=[*build.files(FOLDERS, "*.h"), write_header()],
        include_dirs=[str(SOURCES), str(build.GENERATED), *FOREIGN.include_dirs()],
    ),
    cmdclass={"sdist": FOREIGN.archive(), "build_ext": build.Build},
    options=build.STABLE_OPTIONS,
)
