"""Builds the compiled half of ``theano.loader``; everything else is in pyproject.toml.

What C++ reads of a program is written from its declaration, ``loader/schema.py``, into ``build/generated``.

Only ``_loader.cpp`` includes pybind11, whose headers cost seconds; the machine itself is plain C++.
"""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path
from runpy import run_path

import numpy
import pybind11
from pybind11.setup_helpers import ParallelCompile
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

LOADER = "src/theano/loader"
UNITS = (
    *("_loader", "argument_aliasing", "boundary", "callbacks", "cpu", "device_array", "direct", "dlpack"),
    *("elementwise", "frame", "function", "locks", "loop", "machine", "memory", "move", "platform", "pool", "profile"),
    *("program", "thunk"),
)
# The machine of exported models, which also serves calls from C in this process (direct.cpp).
MODELS = "src/theano/aot/c"
MODEL_UNITS = ("calls", "loop", "machine", "npy")
HEADERS = ("core", "abi", "layout", "move", "move_level", "platform", "profile")
GENERATED = Path("build/generated")


def version() -> str:
    """Return the version, as installers write it."""
    text = Path("src/theano/__init__.py").read_text("utf-8")
    return re.search('(?m)^__version__ = "(.+)"$', text)[1].replace("-", "")


def write_program_schema() -> str:
    """Write the header if it has changed, so that an unchanged one makes nothing be compiled again; return its path."""
    schema, types = (Path("src/theano", file).read_text("utf-8") for file in ("loader/schema.py", "graph/type.py"))
    text = run_path(f"{LOADER}/schema_header.py")["header"](schema, types)
    path = GENERATED / "program_schema.h"
    if not path.is_file() or path.read_text("utf-8") != text:
        GENERATED.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return str(path)


loader = Extension(
    "theano.loader._loader",
    sources=[*(f"{LOADER}/{unit}.cpp" for unit in UNITS), *(f"{MODELS}/{unit}.c" for unit in MODEL_UNITS)],
    depends=[
        *(f"{LOADER}/{header}.h" for header in HEADERS),
        *(f"{MODELS}/{header}.h" for header in ("machine", "model", "theano_model")),
        write_program_schema(),
    ],
    include_dirs=[numpy.get_include(), pybind11.get_include(), LOADER, MODELS, str(GENERATED)],
    define_macros=[("NDEBUG", None)],
    extra_compile_args=[
        "-O2",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-Wno-missing-field-initializers",
    ],
    extra_link_args=["-pthread", *(["-ldl"] if sysconfig.get_platform().startswith("linux") else [])],
    language="c++",
)


class Build(build_ext):
    """Some units are C, some C++, and clang refuses the standard of one for the other."""

    def build_extensions(self):
        """Name the standard of C++ where only C++ is compiled."""
        self.compiler.compiler_so_cxx += ["-std=c++17"]
        super().build_extensions()


ParallelCompile().install()  # the files of the one library on all cores
setup(version=version(), ext_modules=[loader], cmdclass={"build_ext": Build})
