"""Builds the C kernels that ship with the layer; everything else is in pyproject.toml.

parameters.h and reduction.h, the structs that kernels are told of, are written from the declarations in
theano/tensor/kernels into ``build/generated``. Headers of the scalar layer, whose functions are written once for double
and float, are written out there for both. theano.tensor.kernels.common decides which level of instructions is loaded.
"""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # its copy in an archive comes first
import layer_build as build  # noqa: E402

SOURCES = Path("src/theano/tensor/kernels/c")
BUILDING = build.load("theano.tensor.kernels.building", HERE / SOURCES.parent / "building.py")
FOREIGN = build.Foreign(SOURCES / "foreign", {
    "abi.h": ("graph-core", "loader"),
    "parameters.py": ("graph-core", "graph"),
    # What kernels include as "c/exponential.h" is written from these.
    "c/widths.py": ("scalar", "scalar"),
    **{f"c/{name}.h": ("scalar", "scalar") for name in BUILDING.FOREIGN_HEADERS},
})  # fmt: skip
# What families share, and what each family has.
FOLDERS = [SOURCES, *(path for path in sorted(Path("src/theano/tensor").glob("*/c")) if path != SOURCES)]


def write_headers() -> list[str]:
    """Write a header from each declaration, and those of the scalar layer for both widths; return their paths."""
    vocabulary = FOREIGN.load("parameters.py", "theano.graph.parameters")
    paths = []
    for name in ("parameters", "reduction"):
        declared = build.load(f"theano.tensor.kernels.{name}", HERE / SOURCES.parent / f"{name}.py")
        paths.append(build.write_if_changed(f"{name}.h", vocabulary.header(vars(declared), f"{name}.py")))
    widths = FOREIGN.load("c/widths.py", "theano.scalar.c.widths")
    for name in (f"c/{name}.h" for name in BUILDING.FOREIGN_HEADERS):
        text = (FOREIGN.folder_of(name) / name).read_text("ascii")
        paths.append(build.write_if_changed(name, widths.written_out(text)))
    return paths


setup(
    version=build.version(),
    install_requires=[f"theano-scalar=={build.version()}", "numpy>=2.0", "scipy>=1.11"],
    ext_modules=build.libraries(
        "theano.tensor",
        BUILDING.LEVELS,
        BUILDING.FLAGS,
        build.Archived,
        sources=build.files(FOLDERS, "*.c"),
        depends=[*build.files(FOLDERS, "*.h"), *write_headers()],
        include_dirs=[*map(str, FOLDERS), str(build.GENERATED), *FOREIGN.include_dirs()],
    ),
    cmdclass={"sdist": FOREIGN.archive(), "build_ext": build.Build},
    options=build.STABLE_OPTIONS,
)
