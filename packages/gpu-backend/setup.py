"""Builds the host halves of kernels and the drivers; everything else is in pyproject.toml.

parameters.h, the structs that kernels are told of, is written from the declarations in theano/gpuarray/kernels into
``build/generated``.

Some files belong to other layers: abi.h and parameters.py (graph-core), headers of tensor. They are taken from the
packages next to this one in the repository, else from this package's own source archive, which carries them, else from
an installed copy.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

from setuptools import Extension, setup
from setuptools.command.sdist import sdist

HERE = Path(__file__).parent
SOURCES = Path("src/theano/gpuarray/kernels/c")
GENERATED = Path("build/generated")
FOREIGN = {
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
}


def version() -> str:
    """Return the version of all layers: it stands in theano/__init__.py, and in PKG-INFO of a source archive."""
    archive, core = HERE / "PKG-INFO", HERE.parent / "graph-core/src/theano/__init__.py"
    place, line = (archive, "Version: (.+)") if archive.is_file() else (core, '__version__ = "(.+)"')
    return re.search(f"(?m)^{line}$", place.read_text("utf-8"))[1].replace("-", "")


def folder_of(name: str) -> Path:
    """Return the folder that holds a file of another layer."""
    layer, folder = FOREIGN[name]
    places = [HERE.parent / layer / "src/theano" / folder, HERE / SOURCES / "foreign"]
    package, *inside = folder.split("/")
    try:
        spec = importlib.util.find_spec(f"theano.{package}")
    except ModuleNotFoundError:
        spec = None
    places += (Path(place, *inside) for place in (spec.submodule_search_locations or [] if spec else []))
    for place in places:
        if (place / name).is_file():
            return place
    raise SystemExit(f"{name} of theano/{folder} was not found in {', '.join(map(str, places))}")


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
    of_tensor = folder_of("kernels/parameters.py") / "kernels/parameters.py"
    declared = [
        load("theano.tensor.kernels.parameters", of_tensor),
        load("theano.gpuarray.kernels.parameters", HERE / SOURCES.parent / "parameters.py"),
    ]
    text = "".join(vocabulary.header(vars(module), "parameters.py") for module in declared)
    path = HERE / GENERATED / "parameters.h"
    if not path.is_file() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return str(GENERATED / path.name)


class SourceArchive(sdist):
    """A source archive builds alone, so it carries the files of the other layers."""

    def make_release_tree(self, base_dir, files):
        """Copy the package's own files, then the others."""
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / SOURCES / "foreign"
        for name in FOREIGN:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder_of(name) / name, target / name)


# So little of Python is used that one wheel serves all versions from 3.11. In place, where an older library would be
# found first, it has the name for one version.
STABLE = "bdist_wheel" in sys.argv and not sysconfig.get_config_var("Py_GIL_DISABLED")

HEADER = write_header()
library = Extension(
    "theano.gpuarray.kernels._kernels",
    sources=sorted(str(path.relative_to(HERE)) for path in (HERE / SOURCES).glob("*.c")),
    depends=[*sorted(str(path.relative_to(HERE)) for path in (HERE / SOURCES).glob("*.h")), HEADER],
    include_dirs=[
        str(SOURCES), str(GENERATED), *dict.fromkeys(str(folder_of(name)) for name in FOREIGN if name.endswith(".h")),
    ],
    py_limited_api=STABLE,
    extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden", "-fno-strict-aliasing"],
    extra_link_args=["-pthread", *(["-ldl"] if sysconfig.get_platform().startswith("linux") else [])],
)

setup(
    version=version(),
    install_requires=[f"theano-tensor=={version()}", "numpy>=2.0"],
    ext_modules=[library],
    cmdclass={"sdist": SourceArchive},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
