"""Builds the compiled half of ``theano.loader``; everything else is in pyproject.toml.

Only ``_loader.cpp`` includes pybind11, whose headers cost seconds; the machine itself is plain C++.
"""

from __future__ import annotations

import os

import numpy
import pybind11
from setuptools import Extension, setup

LOADER = "src/theano/loader"
UNITS = (
    *("_loader", "apart", "boundary", "callbacks", "cpu", "elementwise", "frame", "function", "locks", "machine"),
    *("memory", "move", "pool", "profile", "program", "rows", "thunk"),
)
HEADERS = ("core", "abi", "move", "move_level", "profile")

loader = Extension(
    "theano.loader._loader",
    sources=[f"{LOADER}/{unit}.cpp" for unit in UNITS],
    depends=[f"{LOADER}/{header}.h" for header in HEADERS],
    include_dirs=[numpy.get_include(), pybind11.get_include(), LOADER],
    define_macros=[("NDEBUG", None)],
    extra_compile_args=[
        "-std=c++17",
        "-O2",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-Wno-missing-field-initializers",
    ],
    extra_link_args=["-pthread"] + ([] if os.uname().sysname == "Darwin" else ["-ldl"]),
    language="c++",
)

setup(ext_modules=[loader])
