"""Builds the C kernels that ship with the layer; everything else is in pyproject.toml.

parameters.h, the structs that kernels are told of, is written from the declarations in theano/sparse/kernels into
``build/generated``. Two files belong to graph-core: they are taken from the package next to this one in the repository,
else from this package's own source archive, which carries them, else from an installed copy.

On x86-64 the library is built once for each level of instructions, from the same sources, as that of the tensor layer
is, which also decides what is loaded (`theano.tensor.kernels.common`).
"""

from __future__ import annotations

import copy
import importlib.util
import re
import shutil
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).parent
SOURCES = Path("src/theano/sparse/kernels/c")
GENERATED = Path("build/generated")
FOREIGN = {"abi.h": "loader", "parameters.py": "graph"}


def version() -> str:
    """Return the version of all layers: it stands in theano/__init__.py, and in PKG-INFO of a source archive."""
    archive, core = HERE / "PKG-INFO", HERE.parent / "graph-core/src/theano/__init__.py"
    place, line = (archive, "Version: (.+)") if archive.is_file() else (core, '__version__ = "(.+)"')
    return re.search(f"(?m)^{line}$", place.read_text("utf-8"))[1].replace("-", "")


def folder_of(name: str) -> Path:
    """Return the folder that holds a file of graph-core."""
    package = FOREIGN[name]
    places = [HERE.parent / "graph-core/src/theano" / package, HERE / SOURCES / "foreign"]
    try:
        spec = importlib.util.find_spec(f"theano.{package}")
    except ModuleNotFoundError:
        spec = None
    places += map(Path, spec.submodule_search_locations or [] if spec else [])
    for place in places:
        if (place / name).is_file():
            return place
    raise SystemExit(f"{name} of theano.{package} was not found in {', '.join(map(str, places))}")


def load(name: str, path: Path) -> ModuleType:
    """Return a module under its name, of which the packages around it need not be installed."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def write_header() -> str:
    """Write parameters.h if it has changed, so that nothing is compiled again if not, and return its path."""
    vocabulary = load("theano.graph.parameters", folder_of("parameters.py") / "parameters.py")
    declared = load("theano.sparse.kernels.parameters", HERE / SOURCES.parent / "parameters.py")
    text, path = vocabulary.header(vars(declared), "parameters.py"), HERE / GENERATED / "parameters.h"
    if not path.is_file() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return str(GENERATED / path.name)


class SourceArchive(sdist):
    """A source archive builds alone, so it carries the files of the other layer."""

    def make_release_tree(self, base_dir, files):
        """Copy the package's own files, then the others."""
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / SOURCES / "foreign"
        target.mkdir(parents=True, exist_ok=True)
        for name in FOREIGN:
            shutil.copy2(folder_of(name) / name, target / name)


class ApartBuild(build_ext):
    """The same sources become several libraries, which are built at once, each with a folder for what is between."""

    def finalize_options(self):
        """Use all cores unless a number is asked for."""
        super().finalize_options()
        self.parallel = self.parallel or True

    def build_extension(self, ext):
        """Build one library."""
        apart = copy.copy(self)
        apart.build_temp = str(Path(self.build_temp) / ext.name)
        build_ext.build_extension(apart, ext)


# So little of Python is used that one wheel serves all versions from 3.11. In place, where an older library would be
# found first, it has the name for one version.
STABLE = "bdist_wheel" in sys.argv and not sysconfig.get_config_var("Py_GIL_DISABLED")

LEVELS = {"_kernels": ()}
if sysconfig.get_platform().endswith(("x86_64", "amd64")):
    LEVELS["_kernels_v3"] = ("-march=x86-64-v3",)
    LEVELS["_kernels_v4"] = ("-march=x86-64-v4", "-mprefer-vector-width=512")

HEADER = write_header()
FOLDERS = sorted(path for path in (HERE / SOURCES).parents[1].glob("*/c"))


def files(pattern: str) -> list[str]:
    """Return the paths of files in all folders of C sources."""
    return sorted(str(path.relative_to(HERE)) for folder in FOLDERS for path in folder.glob(pattern))


def library(name: str, level: tuple[str, ...]) -> Extension:
    """Return the library for one level of instructions."""
    return Extension(
        f"theano.sparse.kernels.{name}",
        sources=files("*.c"),
        depends=[*files("*.h"), HEADER],
        include_dirs=[str(SOURCES), str(GENERATED), str(folder_of("abi.h"))],
        define_macros=[("TH_MODULE", name), *([("Py_LIMITED_API", "0x030B0000")] if STABLE else [])],
        py_limited_api=STABLE,
        extra_compile_args=[
            *("-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math"),
            *("-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing"),
            *level,
        ],
        optional=bool(level),
    )


setup(
    version=version(),
    install_requires=[f"theano-tensor=={version()}", "numpy>=2.0", "scipy>=1.11"],
    ext_modules=[library(*each) for each in LEVELS.items()],
    cmdclass={"sdist": SourceArchive, "build_ext": ApartBuild},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
