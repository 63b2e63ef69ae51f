"""Builds the C kernels that ship with the layer; everything else is in pyproject.toml.

parameters.h and reduction.h, the structs that kernels are told of, are written from the declarations in
theano/tensor/kernels into ``build/generated``.

Some files belong to other layers: abi.h and parameters.py (graph-core), headers of scalar. They are taken from the
packages next to this one in the repository, else from this package's own source archive, which carries them, else from
an installed copy.

On x86-64 the library is built once for each level of instructions, from the same sources; theano.tensor.kernels.common
decides which one is loaded. A level that the compiler does not know is left out.
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
SOURCES = Path("src/theano/tensor/kernels/c")
GENERATED = Path("build/generated")
DECLARATIONS = ("parameters", "reduction")
FOREIGN = {
    "abi.h": ("graph-core/src/theano/loader", "theano.loader"),
    "parameters.py": ("graph-core/src/theano/graph", "theano.graph"),
}


def version() -> str:
    """Return the version of all layers: it stands in theano/__init__.py, and in PKG-INFO of a source archive."""
    archive, core = HERE / "PKG-INFO", HERE.parent / "graph-core/src/theano/__init__.py"
    place, line = (archive, "Version: (.+)") if archive.is_file() else (core, '__version__ = "(.+)"')
    return re.search(f"(?m)^{line}$", place.read_text("utf-8"))[1].replace("-", "")


def folder_of(header: str) -> Path:
    """Return the folder that holds another layer's header."""
    sibling, package = FOREIGN[header]
    places = [HERE.parent / sibling, HERE / SOURCES / "foreign"]
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        spec = None
    for location in (spec.submodule_search_locations or []) if spec else []:
        places.append(Path(location))
    for place in places:
        if (place / header).is_file():
            return place
    raise SystemExit(f"{header} of {package} was not found in {', '.join(map(str, places))}")


def load(name: str, path: Path) -> ModuleType:
    """Return a module under its name, of which the packages around it need not be installed."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


BUILDING = load("theano.tensor.kernels.building", HERE / SOURCES.parent / "building.py")
# Found through its parent: that folder also has a complex.h, which must not hide the C library's.
FOREIGN |= {f"c/{name}.h": ("scalar/src/theano/scalar", "theano.scalar") for name in BUILDING.FOREIGN_HEADERS}


def write_headers() -> list[str]:
    """Write those headers that have changed, so that nothing is compiled again for the others; return all paths."""
    vocabulary = load("theano.graph.parameters", folder_of("parameters.py") / "parameters.py")
    paths = []
    for name in DECLARATIONS:
        declared = load(f"theano.tensor.kernels.{name}", HERE / SOURCES.parent / f"{name}.py")
        text, path = vocabulary.header(vars(declared), f"{name}.py"), HERE / GENERATED / f"{name}.h"
        if not path.is_file() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        paths.append(str(GENERATED / path.name))
    return paths


class SourceArchive(sdist):
    """A source archive builds alone, so it carries the headers of the other layers."""

    def make_release_tree(self, base_dir, files):
        """Copy the package's own files, then the headers."""
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / SOURCES / "foreign"
        for header in FOREIGN:
            (target / header).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder_of(header) / header, target / header)


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

ON_X86_64 = sysconfig.get_platform().endswith(("x86_64", "amd64"))
LEVELS = BUILDING.LEVELS if ON_X86_64 else {"_kernels": ()}


HEADERS = write_headers()
# What families share, and what each family has.
FOLDERS = [HERE / SOURCES, *sorted(path for path in (HERE / SOURCES).parents[1].glob("*/c") if path != HERE / SOURCES)]


def files(pattern: str) -> list[str]:
    """Return the paths of files in all folders of C sources."""
    return sorted(str(path.relative_to(HERE)) for folder in FOLDERS for path in folder.glob(pattern))


def library(name: str, level: tuple[str, ...]) -> Extension:
    """Return the library for one level of instructions."""
    return Extension(
        f"theano.tensor.{name}",
        sources=files("*.c"),
        depends=[*files("*.h"), *HEADERS],
        include_dirs=[
            *(str(path.relative_to(HERE)) for path in FOLDERS),
            str(GENERATED),
            *dict.fromkeys(str(folder_of(h)) for h in FOREIGN if h.endswith(".h")),
        ],
        define_macros=[("TH_MODULE", name), *([("Py_LIMITED_API", "0x030B0000")] if STABLE else [])],
        py_limited_api=STABLE,
        extra_compile_args=[*BUILDING.FLAGS, *level],
        optional=bool(level),
    )


setup(
    version=version(),
    install_requires=[f"theano-scalar=={version()}", "numpy>=2.0", "scipy>=1.11"],
    ext_modules=[library(*each) for each in LEVELS.items()],
    cmdclass={"sdist": SourceArchive, "build_ext": ApartBuild},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
