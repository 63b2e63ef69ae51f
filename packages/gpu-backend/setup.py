"""Builds the host halves of kernels and the drivers; everything else is in pyproject.toml.

parameters.h, the structs that kernels are told of, is written from the declarations in theano/gpuarray/kernels into
``build/generated``.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # its copy in an archive comes first
import layer_build as build  # noqa: E402

SOURCES = Path("src/theano/gpuarray/kernels/c")
FOREIGN = build.Foreign(SOURCES / "foreign", {
    "abi.h": ("graph-core", "loader"),
    "parameters.py": ("graph-core", "graph"),
    **{f"{name}.h": ("tensor", "tensor/kernels/c") for name in ("buffers", "marks")},
    **{f"{name}.h": ("tensor", "tensor/pool/c") for name in ("pool_axes", "pool_sizes")},
    "conv_sizes.h": ("tensor", "tensor/conv/c"),
    "expm.h": ("tensor", "tensor/linalg/c"),
    **{f"{name}.h": ("tensor", "tensor/nnet/c") for name in ("neighbours_sizes", "ctc_labels")},
    # What kernels of the CPU are told, of which those of devices are told parts.
    "kernels/parameters.py": ("tensor", "tensor"),
    "draw.h": ("tensor", "tensor/random/c"),
})  # fmt: skip


def write_header() -> str:
    """Write parameters.h from its declarations, and return its path."""
    vocabulary = FOREIGN.load("parameters.py", "theano.graph.parameters")
    declared = [
        FOREIGN.load("kernels/parameters.py", "theano.tensor.kernels.parameters"),
        build.load("theano.gpuarray.kernels.parameters", HERE / SOURCES.parent / "parameters.py"),
    ]
    text = "".join(vocabulary.header(vars(module), "parameters.py") for module in declared)
    return build.write_if_changed("parameters.h", text)


setup(
    version=build.version(),
    install_requires=[f"theano-tensor=={build.version()}", "numpy>=2.0"],
    ext_modules=build.libraries(
        "theano.gpuarray.kernels",
        {"_kernels": ()},
        ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden", "-fno-strict-aliasing"],
        sources=build.files([SOURCES], "*.c"),
        depends=[*build.files([SOURCES], "*.h"), write_header()],
        include_dirs=[str(SOURCES), str(build.GENERATED), *FOREIGN.include_dirs()],
        extra_link_args=["-pthread", *(["-ldl"] if sysconfig.get_platform().startswith("linux") else [])],
    ),
    cmdclass={"sdist": FOREIGN.archive(), "build_ext": build.Build},
    options=build.STABLE_OPTIONS,
)
