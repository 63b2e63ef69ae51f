"""``theano.export``: compiled functions as C source and a shared library that need no Python."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from theano.aot.build import Commands, Unit, for_cpu, kernel_flags, members
from theano.aot.exports import SourceTree
from theano.aot.model_text import Tables, header_text, json_text, loader_text, metadata
from theano.aot.plan import Plan, plan
from theano.aot.sources import header, read, with_headers
from theano.aot.values import npy_bytes
from theano.cache.store import CacheSettings, open_cache
from theano.codegen.unit import LOADER_FOLDER, current_toolchain
from theano.codegen.unit_text import kernels_text
from theano.compile.executable import Function
from theano.settings import config
from theano.toolchain.description import Toolchain, ToolchainSettings

_MACHINE = os.path.join(LOADER_FOLDER, "model")
#: What runs the tables, and what of the loader it uses; these are C as well as C++.
RUNTIME = ("machine.c", "calls.c", "loop.c", "npy.c")
OF_THE_LOADER = ("elementwise", "move")
#: The functions that a model has beside those that are exported.
RESERVED = frozenset(("open", "get", "set", "copy", "save", "message", "set_parallel", "close"))
#: What else a file beside ``NAME.h`` and ``NAME.py`` is called, or what these and programs that use them import.
TAKEN = frozenset(
    "theano_model assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign"
    " stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype"
    " ctypes json numpy pathlib".split()
)
#: How the names of what runs the tables begin, and those of the tables.
OWN_NAMES = re.compile(r"(theano|th|p\d+)(_.*)?")
#: Whole numbers wrap, as in the kernels.
RUNTIME_FLAGS = ("-std=gnu11", "-O2", "-fwrapv", "-fno-strict-aliasing")


def export(
    functions: Function | Mapping[str, Function],
    folder: str | os.PathLike[str],
    name: str | None = None,
    *,
    library: bool = True,
    blas: str | Sequence[str] | None = None,
    cpu: str = "native",
) -> str:
    """Write functions as a C library that runs without Python.

    The folder gets the header ``NAME.h``, the sources (``src``: the program as tables, what runs it, and each
    kernel that it uses), a ``Makefile``, the shared library ``libNAME.so``, the values of shared variables and
    constants as ``.npy`` (``values``), what is in it as ``NAME.json``, and ``NAME.py``, with which Python loads it
    by ctypes and NumPy alone.

    Parameters
    ----------
    functions : Function, or dict from str to Function
        What `theano.function` returned; several that use the same shared variables go on using the same. One by itself
        is called ``call``.
    folder : str or path
        It is made if need be; files of the same names are written anew.
    name : str, optional
        What functions of the library begin with; the name of the folder without one.
    library : bool
        Compile it. Otherwise ``make`` does so later.
    blas : str or list of str, optional
        Options with which the library is linked to a BLAS and LAPACK of the usual Fortran names and 32-bit integers,
        such as ``"-lopenblas"``. Without them, products and factorisations are those of Theano's own kernels.
    cpu : str
        For which CPU: ``"native"`` for one that can what this one can, with the kernels that run here; ``"baseline"``
        for each of the architecture; else what the compiler's option ``-march`` takes, such as ``"x86-64-v3"``.

    Returns
    -------
    str
        The path of the library, or of ``src/NAME_tables.c`` if it is not compiled.

    Raises
    ------
    ExportError
        An op is computed in Python, or a value is no array; the text names the expressions and where they were written.
    TypeError
        Something given is no compiled function.
    ValueError
        A name is none in C.
    NoCompilerError
        No C compiler was found, or it refused a file.

    See Also
    --------
    theano.function, theano.scipy_callable

    Notes
    -----
    The functions of the library, and what they return, are in ``NAME.h`` and ``theano_model.h``. A result is
    in memory of the model until the next call of that function; an error leaves all stored values as they were. One
    model that was opened serves one thread at a time, and computes in that thread, until ``NAME_set_parallel`` gives it
    others.

    Results are those of this process, bit for bit, where the same kernels run: with ``cpu="native"``, and where no BLAS
    takes part, or the same one. Sorting by NumPy's routines, and what else is in no kernel, cannot be exported.

    Examples
    --------
    >>> import tempfile, os, theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> total = theano.shared(0.0, "total")
    >>> f = theano.function([x], x / 2, updates=[(total, total + x.sum())])
    >>> folder = tempfile.mkdtemp()
    >>> _ = theano.export(f, folder, "halves", library=False)
    >>> sorted(os.listdir(folder))
    ['Makefile', 'halves.h', 'halves.json', 'halves.py', 'src', 'theano_model.h', 'values']
    """
    given = _checked(functions)
    folder = os.path.abspath(os.fspath(folder))
    name = _model_name(name or re.sub(r"\W", "_", os.path.basename(folder)))
    linked = tuple([blas] if isinstance(blas, str) else blas or ())
    linked = tuple(word for each in linked for word in each.split())
    made = plan(given, bool(linked))
    cache = open_cache(CacheSettings.from_config(config))
    tools = current_toolchain(ToolchainSettings.from_config(config), cache)
    files, units = _sources(made, name, tools, cpu)
    path = _library_name(name)
    commands = Commands(tools, units, path, linked)
    files["Makefile"] = commands.makefile()
    files[f"{name}.json"] = json_text(metadata(made, name))
    files[f"{name}.py"] = loader_text(name, path)
    _write(folder, files, {cell.file: npy_bytes(cell.value, cell.dtype) for cell in made.cells})
    if not library:
        return os.path.join(folder, *_tables(name).split("/"))
    commands.run(folder, files, cache)
    return os.path.join(folder, path)


# -- arguments ------------------------------------------------------------------------------------------------------


def _checked(functions: Any) -> dict[str, Function]:
    given = {"call": functions} if isinstance(functions, Function) else dict(functions)
    if not given:
        raise ValueError("export: no function is given")
    for name, function in given.items():
        if not isinstance(function, Function):
            raise TypeError(f"export: {name} is a {type(function).__name__}, not what theano.function returns")
        if _c_name(name, "a function") in RESERVED:
            raise ValueError(f"export: each model has a function {name} of its own; use another name")
    return given


def _c_name(name: str, what: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(
            f"export: {name!r} cannot be the name of {what} in C: letters, digits and _ are, digits not first"
        )
    return name


def _model_name(name: str) -> str:
    if _c_name(name, "the model") in TAKEN or OWN_NAMES.fullmatch(name):
        raise ValueError(
            f"export: {name} is what a file or a function of each model is called, or of the language; name the model "
            f"otherwise: theano.export(f, folder, name={'my_' + name!r})"
        )
    return name


def _library_name(name: str) -> str:
    return f"{name}.dll" if os.name == "nt" else f"lib{name}.so"


# -- files ----------------------------------------------------------------------------------------------------------


def _sources(made: Plan, name: str, tools: Toolchain, cpu: str) -> tuple[dict[str, str], list[Unit]]:
    """Return all texts by their paths, and what is to be compiled."""
    tables = _tables(name)
    files = {tables: Tables(made, name).write(), f"{name}.h": header_text(made, name)}
    units = [Unit(tables, _flags(RUNTIME_FLAGS, tools))]
    runtime = {each: _text(_MACHINE, each) for each in RUNTIME}
    runtime |= {f"{each}.c": _text(LOADER_FOLDER, f"{each}.cpp") for each in OF_THE_LOADER}
    runtime = with_headers({**runtime, "theano_model.h": _text(_MACHINE, "theano_model.h")}, _runtime_header)
    files["theano_model.h"] = runtime.pop("theano_model.h")
    files.update({f"src/{each}": text for each, text in runtime.items()})
    units += [Unit(f"src/{each}", _flags(RUNTIME_FLAGS, tools)) for each in runtime if each.endswith(".c")]
    if made.kernels:
        files["src/kernels.c"] = kernels_text(made.kernels)
        units.append(Unit("src/kernels.c", kernel_flags(tools, cpu)))
    trees = {tree.name: tree for tree in made.builtins.values()}
    for tree in trees.values():
        symbols = [symbol for symbol, home in made.builtins.items() if home is tree]
        # A driver that generated kernels call comes with the library that has it.
        symbols += [each for each in made.symbols.values() if each.startswith("th_")]
        names, archive = _of_layer(tree, symbols, tools, cpu)
        texts = with_headers({each: read(tree, each) for each in names}, partial(header, tree))
        files.update({f"src/{tree.name}/{each}": text for each, text in texts.items()})
        units += [Unit(f"src/{tree.name}/{each}", _layer_flags(tree, tools, cpu), archive) for each in names]
    return files, units


def _tables(name: str) -> str:
    """Return the path of the tables of a model: no file of what runs them is called so, whatever its name."""
    return f"src/{name}_tables.c"


def _text(folder: str, file: str) -> str:
    with open(os.path.join(folder, file), encoding="utf-8") as opened:
        return opened.read()


def _runtime_header(name: str) -> str | None:
    for folder in (_MACHINE, LOADER_FOLDER):
        if os.path.isfile(os.path.join(folder, name)):
            return _text(folder, name)
    return None


def _flags(flags: Sequence[str], tools: Toolchain) -> tuple[str, ...]:
    """Return options with those of the user's, which come last and so win."""
    return (*flags, *tools.settings.extra_flags)


def _layer_flags(tree: SourceTree, tools: Toolchain, cpu: str) -> tuple[str, ...]:
    return _flags((*tree.flags, *tree.level) if cpu == "native" else for_cpu(tree.flags, cpu), tools)


def _of_layer(tree: SourceTree, symbols: Sequence[str], tools: Toolchain, cpu: str) -> tuple[list[str], str]:
    """Return the C files of a layer that some kernels need, and the archive that has them compiled; "" for none.

    Without any archive, all files are needed.
    """
    level = tree.level if cpu == "native" else for_cpu((), cpu)
    there = {options: path for options, path in tree.archives.items() if os.path.isfile(path)}
    # One for another CPU has the same files.
    asked = there.get(level) or next(iter(there.values()), "")
    linked = members(tools.compiler.argv, asked, symbols) if asked else []
    if not linked:
        return [each for each in tree.files if each.endswith(".c")], ""
    # Options of the user's compile all anew.
    return [f"{each}.c" for each in linked], "" if tools.settings.extra_flags else there.get(level, "")


def _write(folder: str, texts: Mapping[str, str], values: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for path, data in (*((p, t.encode("utf-8")) for p, t in texts.items()), *values.items()):
        whole = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(data)
