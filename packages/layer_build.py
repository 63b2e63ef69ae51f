"""How the layers are compiled: what their ``setup.py`` files share. A source archive carries a copy of it.

setuptools finds, names and links the libraries. `Build` replaces the one step that takes time, compiling: the files of
all libraries of a layer wait in one queue for all cores. Meson and scikit-build-core would do that too, but each layer
would need a second list of its sources, the headers that are written from Python would become targets, and an editable
install would compile on import.

On x86-64 a library is built for several levels of instructions, and a process loads the one that suits its CPU.
Wheels have all of them. A working copy is for one machine, so it has that machine's level alone: a third of the time.
The environment variable ``THEANO_LEVELS``, ``native`` or ``all``, decides otherwise.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

# All paths are relative to the folder of a layer, in which its setup.py runs.
GENERATED = Path("build/generated")
#: What has said how libraries are compiled: with other options they are compiled again.
READ = ["setup.py", __file__]
# So little of Python is used that one wheel serves all versions from 3.11. In place, where an older library would be
# found first, it has the name for one version.
STABLE = "bdist_wheel" in sys.argv and not sysconfig.get_config_var("Py_GIL_DISABLED")
STABLE_OPTIONS = {"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {}
# What Linux calls the features of x86-64-v3 and v4 that a CPU may lack (x86-64 psABI, table 3.1).
FEATURES = {
    3: {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    4: {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def version() -> str:
    """Return the version of all layers: it stands in theano/__init__.py, and in PKG-INFO of a source archive."""
    place, line = Path("../graph-core/src/theano/__init__.py"), '__version__ = "(.+)"'
    if is_archive():
        place, line = Path("PKG-INFO"), "Version: (.+)"
    return re.search(f"(?m)^{line}$", place.read_text("utf-8"))[1].replace("-", "")


def is_archive() -> bool:
    """Return whether this is a source archive, and no working copy."""
    return Path("PKG-INFO").is_file()


def load(name: str, path: Path) -> ModuleType:
    """Return a module under its name, of which the packages around it need not be installed."""
    READ.append(str(path))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def write_if_changed(name: str, text: str) -> str:
    """Write a generated header unless it is the same, so that nothing is compiled again then; return its path."""
    path = GENERATED / name
    if not path.is_file() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return str(path)


class Archive(sdist):
    """A source archive that builds alone, so it carries this file."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copy the package's own files, then this one."""
        super().make_release_tree(base_dir, files)
        shutil.copy2(__file__, base_dir)


class Foreign:
    """Files of lower layers that a layer is built with.

    They are taken from the packages next to this one in the repository, else from the source archive, which carries
    them in the folder ``foreign`` of the layer's C sources, else from installed copies.

    Parameters
    ----------
    carried : Path
        The folder ``foreign``.
    files : mapping
        From the name of a file to its layer and the folder in ``theano`` that it is in.
    """

    def __init__(self, carried: Path, files: Mapping[str, tuple[str, str]]):
        self.carried, self.files = carried, files

    def folder_of(self, name: str) -> Path:
        """Return the folder that holds a file."""
        layer, folder = self.files[name]
        package, *inside = folder.split("/")
        try:
            spec = importlib.util.find_spec(f"theano.{package}")
        except ModuleNotFoundError:
            spec = None
        installed = [Path(place, *inside) for place in (spec.submodule_search_locations or [] if spec else [])]
        places = [Path("..", layer, "src/theano", folder), self.carried, *installed]
        for place in places:
            if (place / name).is_file():
                return place
        raise SystemExit(f"{name} of theano/{folder} was not found in {', '.join(map(str, places))}")

    def load(self, name: str, module: str) -> ModuleType:
        """Return the module that a file is."""
        return load(module, self.folder_of(name) / name)

    def include_dirs(self) -> list[str]:
        """Return the folders of all headers."""
        return list(dict.fromkeys(str(self.folder_of(name)) for name in self.files if name.endswith(".h")))

    def archive(self) -> type[sdist]:
        """Return the command that makes a source archive with these files."""

        class ArchiveWithForeign(Archive):
            """A source archive that carries files of other layers."""

            def make_release_tree(inner, base_dir: str, files: list[str]) -> None:
                """Copy the package's own files, then the others."""
                super().make_release_tree(base_dir, files)
                for name in self.files:
                    target = Path(base_dir) / self.carried / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(self.folder_of(name) / name, target)

        return ArchiveWithForeign


def files(folders: Iterable[Path | str], pattern: str) -> list[str]:
    """Return the paths of files in some folders."""
    return sorted(str(path) for folder in folders for path in Path(folder).glob(pattern))


class Archived(Extension):
    """A library whose object files are archived beside it, for programs that link some of them."""


def libraries(
    package: str,
    levels: Mapping[str, tuple[str, ...]],
    options: Iterable[str],
    kind: type[Extension] = Extension,
    **others: Any,
) -> list[Any]:
    """Return a library for each level of instructions, from the same sources.

    Parameters
    ----------
    package : str
        Where the libraries are put.
    levels : mapping
        From the name of a library to the options that choose its level; the first one runs on any CPU.
    options : iterable of str
        Those of the compiler for all levels.
    kind : type
        `Archived` or `setuptools.Extension`.
    **others
        As for `setuptools.Extension`.
    """
    on_x86_64 = sysconfig.get_platform().endswith(("x86_64", "amd64"))
    chosen = levels if on_x86_64 else dict(list(levels.items())[:1])
    limited = [("Py_LIMITED_API", "0x030B0000")] if STABLE else []
    return [
        kind(
            f"{package}.{name}",
            define_macros=[("TH_MODULE", name), *limited],
            py_limited_api=STABLE,
            extra_compile_args=[*options, *level],
            optional=bool(level),  # a compiler may not know it
            **others,
        )
        for name, level in chosen.items()
    ]


def level_of(name: str) -> int:
    """Return the level of x86-64 in the name of a library: 3 for ``_kernels_v3``, 1 for ``_kernels``."""
    found = re.search(r"_v(\d)$", name)
    return int(found[1]) if found else 1


def native_level() -> int:
    """Return the level of this CPU; 0 where the system does not say its features as Linux does."""
    try:
        there = set(re.search(r"(?m)^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"))[1].split())
    except (OSError, TypeError):
        return 0
    return max((n for n in (3, 4) if set().union(*(FEATURES[k] for k in FEATURES if k <= n)) <= there), default=1)


def every_level() -> bool:
    """Return whether libraries are built for all levels: a source archive may be built for others, a copy is not."""
    wish = os.environ.get("THEANO_LEVELS") or ("all" if is_archive() else "native")
    if wish not in ("all", "native"):
        raise SystemExit(f"THEANO_LEVELS={wish}: it is native, the level of this CPU alone, or all")
    return wish == "all"


class Progress:
    """One line that says how far the compiler is: on a terminal as it goes, elsewhere at the end."""

    def __init__(self, title: str):
        self.title, self.count, self.done, self.start = title, 0, 0, time.perf_counter()
        self.is_terminal = sys.stderr.isatty()

    def step(self, source: str) -> None:
        """Count a file that has been compiled."""
        self.done += 1
        if self.is_terminal:
            full = 30 * self.done // self.count
            line = f"{self.title} [{'#' * full}{'.' * (30 - full)}] {self.done}/{self.count} {Path(source).name}"
            print(f"\r\x1b[K{line[:110]}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Say what it took."""
        if self.done:
            line = f"{self.title}: {self.done} files in {time.perf_counter() - self.start:.1f} s"
            print("\r\x1b[K" * self.is_terminal + line, file=sys.stderr, flush=True)


class Build(build_ext):
    """Compile the files of all libraries on all cores, the longest first, and say how far it is."""

    def build_extensions(self) -> None:
        """Build the libraries at once: what each compiles waits in the same queue."""
        if hasattr(self.compiler, "compiler_so_cxx"):  # clang refuses a standard of C++ for C
            self.compiler.compiler_so_cxx += ["-std=c++17"]
        if not every_level() and (own := native_level()):
            self.extensions = self._of_level(own)
        for ext in self.extensions:
            ext.depends = [*ext.depends, *READ]
        highest = max(level_of(ext.name) for ext in self.extensions)
        levels = f" for x86-64-v{highest}" if highest > 1 and len(self.extensions) == 1 else ""
        self.progress = Progress(f"compiling {self.distribution.get_name()}{levels}")
        with ThreadPoolExecutor(int(self.parallel or os.cpu_count() or 1)) as self.queue:
            self.compiler.compile = self._compile
            self.parallel = len(self.extensions)  # threads that wait for their files
            super().build_extensions()
        self.progress.end()

    def build_extension(self, ext: Any) -> None:
        """Build one library, with a folder of its own for what is between."""
        apart = copy.copy(self)
        apart.build_temp = str(Path(self.build_temp) / ext.name)
        build_ext.build_extension(apart, ext)
        if isinstance(ext, Archived) and sys.platform == "linux":  # other linkers cannot hide what an archive defines
            objects = self.compiler.object_filenames(ext.sources, output_dir=apart.build_temp)
            of_kernels = [path for path in objects if Path(path).stem != "module"]  # that one is Python's
            place = self._archive(ext)
            place.unlink(missing_ok=True)
            self.compiler.create_static_lib(of_kernels, ext.name.rpartition(".")[2], str(place.parent))

    def copy_extensions_to_source(self) -> None:
        """Copy what was built into a working copy, the archives too."""
        super().copy_extensions_to_source()
        for ext in self.extensions:
            target, self.inplace = self._archive(ext), False
            built, self.inplace = self._archive(ext), True
            if built.is_file():
                self.copy_file(str(built), str(target))

    def _archive(self, ext: Any) -> Path:
        """Return where the archive of a library is."""
        return Path(self.get_ext_fullpath(ext.name)).with_name(f"lib{ext.name.rpartition('.')[2]}.a")

    def _compile(self, sources, output_dir=None, macros=None, include_dirs=None, debug=False, extra_preargs=None,
                 extra_postargs=None, depends=None):  # fmt: skip
        """Stand for ``compiler.compile``: the same steps, with the files in the queue."""
        compiler = self.compiler
        _, objects, extra, options, build = compiler._setup_compile(
            output_dir, macros, include_dirs, sources, depends, extra_postargs
        )
        arguments = compiler._get_cc_args(options, debug, extra_preargs)
        if compiler.compiler_type == "unix" and "-g" not in os.environ.get("CFLAGS", ""):
            extra = [*extra, "-g0"]  # Python was often built with -g: a quarter of the time, and most of the size

        def compile_one(target: str) -> None:
            source, suffix = build[target]
            compiler._compile(target, source, suffix, arguments, extra, options)
            self.progress.step(source)

        self.progress.count += len(build)
        longest_first = sorted(build, key=lambda target: -os.path.getsize(build[target][0]))
        for each in [self.queue.submit(compile_one, target) for target in longest_first]:
            each.result()
        return objects

    def _of_level(self, own: int) -> list[Any]:
        """Return the library of the highest level up to one that the compiler knows; remove what is left of others."""
        by_level = sorted(self.extensions, key=lambda ext: -level_of(ext.name))
        kept = next(ext for ext in by_level if level_of(ext.name) <= own and (not ext.optional or self._accepts(ext)))
        for ext in by_level:
            if ext is not kept:
                Path(self.get_ext_fullpath(ext.name)).unlink(missing_ok=True)
                self._archive(ext).unlink(missing_ok=True)
        return [kept]

    def _accepts(self, ext: Any) -> bool:
        """Return whether the compiler knows the options of a library."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "empty.c")
            source.write_text("int nothing;\n")
            try:
                self.compiler.compile([str(source)], folder, extra_postargs=ext.extra_compile_args)
            except Exception:  # noqa: BLE001  (each compiler of setuptools has its own)
                return False
        return True
