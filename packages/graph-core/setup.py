"""Builds the compiled half of ``theano.loader``; everything else is in pyproject.toml.

What C++ reads of a program is written from its declaration, ``loader/schema.py``, into ``build/generated``.

Only ``_loader.cpp`` includes pybind11, whose headers cost seconds; the machine itself is plain C++.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from runpy import run_path

import numpy
import pybind11
from setuptools import Extension, setup

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]  # its copy in an archive comes first
import layer_build as build  # noqa: E402

LOADER = "src/theano/loader"
# The machine of exported models, which also serves calls from C in this process (direct.cpp).
MODELS = "src/theano/loader/model"


def write_program_schema() -> str:
    """Write the header of a program's records, and return its path."""
    schema, types = (Path("src/theano", file).read_text("utf-8") for file in ("loader/schema.py", "graph/type.py"))
    return build.write_if_changed("program_schema.h", run_path(f"{LOADER}/schema_header.py")["header"](schema, types))


loader = Extension(
    "theano.loader._loader",
    sources=[*build.files([LOADER], "*.cpp"), *build.files([MODELS], "*.c")],
    depends=[*build.files([LOADER, MODELS], "*.h"), write_program_schema()],
    include_dirs=[numpy.get_include(), pybind11.get_include(), LOADER, MODELS, str(build.GENERATED)],
    define_macros=[("NDEBUG", None)],
    extra_compile_args=["-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-missing-field-initializers"],
    extra_link_args=["-pthread", *(["-ldl"] if sysconfig.get_platform().startswith("linux") else [])],
    language="c++",
)

setup(
    version=build.version(),
    ext_modules=[loader],
    cmdclass={"sdist": build.Archive, "build_ext": build.Build},
)
