"""Write what type checkers and editors read of modules that make their names when they are loaded.

    python tools/stubs.py            write the stubs, files `.pyi` beside the sources
    python tools/stubs.py --check    say which are not up to date; exit 1 if there are any

`theano`, `theano.tensor` and others bring names of several layers, load some when they are first used, and make others
from tables: of ``theano.tensor.exp`` there is no statement that a type checker could read. A stub has one line for each
name. It says where a name is defined; or, of an op that works element by element, which arguments it takes, as the
scalar layer states them. mypy, pyright and jedi read stubs in wheels, and in editable installs as well.

The stubs are committed. A layer is built alone, in an environment without the layers below it, and so cannot be
imported while it is built. `tools/tests/test_stubs.py` compares them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
import typing
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import theano.tensor as T
from theano import layers, scalar, sparse
from theano.graph import Op, Variable
from theano.layers.spellings import spellings
from theano.settings import flags, kinds
from theano.tensor.constructors import SEVERAL
from theano.tensor.elemwise.op import Elemwise

PACKAGES = Path(__file__).resolve().parent.parent / "packages"
HEAD = '"""{doc}"""\n# Written by tools/stubs.py; do not edit.\n# mypy: ignore-errors\n# ruff: noqa\n\n'
#: The modules, and whether what upper layers add to them is there, too.
FACADES = (
    "theano", "theano.tensor", "theano.tensor.linalg", "theano.tensor.nnet", "theano.sparse",
)  # fmt: skip
#: Above each other layer's part of the package `theano`: without a file there, pyright looks no further than the first.
MARKER = '"""A part of the package: `theano/__init__.py` of graph-core is all of it."""\n'
MARKED = ("scalar", "tensor", "sparse", "legacy", "gpu-backend")

VARIABLE, SEVERAL_OF = "TensorVariable", "list[TensorVariable]"
#: What a function of a lower layer makes of tensors, which that layer does not know: annotations, one call each.
CALLS = {
    "function": [
        {"outputs": "None", "return": "Function[None]"},
        {"outputs": VARIABLE, "return": "Function[np.ndarray]"},
        {"outputs": f"Sequence[{VARIABLE}]", "return": "Function[list[np.ndarray]]"},
        {"outputs": f"Mapping[str, {VARIABLE}]", "return": "Function[dict[str, np.ndarray]]"},
        {"outputs": "Any", "return": "Function[Any]"},
    ],
    "grad": [{"wrt": VARIABLE, "return": VARIABLE}, {"wrt": f"Sequence[{VARIABLE}]", "return": SEVERAL_OF}, {}],
    "subgraph_grad": [{"return": f"tuple[{SEVERAL_OF}, {SEVERAL_OF}]"}],
    "Rop": [{"f": VARIABLE, "return": VARIABLE}, {"f": f"Sequence[{VARIABLE}]", "return": SEVERAL_OF}, {}],
    "Lop": [{"wrt": VARIABLE, "return": VARIABLE}, {"wrt": f"Sequence[{VARIABLE}]", "return": SEVERAL_OF}, {}],
    "clone": [{"output": VARIABLE, "return": VARIABLE}, {"output": f"Sequence[{VARIABLE}]", "return": SEVERAL_OF}, {}],
}
#: What loops return: one result where one is begun with; how many there are else, type checkers cannot see.
_ONE = {"outputs_info": "Variable | dict[str, Any]", "return": f"tuple[{VARIABLE}, OrderedUpdates]"}
_SOME = {"return": f"tuple[{VARIABLE} | Any, OrderedUpdates]"}
_LIST = {"return_list": "Literal[True]", "return": f"tuple[{SEVERAL_OF}, OrderedUpdates]"}
CALLS |= {"scan": [_ONE | {"return_list": "Literal[False]"}, _LIST, _SOME], "map": [_SOME], "reduce": [_ONE, _SOME]}
#: What makes shared variables, by the values that each takes.
SHARED = (
    "theano.tensor.sharedvar:scalar_constructor", "theano.tensor.sharedvar:tensor_constructor",
    "theano.tensor.random.var:randomstate_constructor", "theano.compile.shared:shared",
)  # fmt: skip
FUNCTION = """
Result = TypeVar("Result", default=Any)

class Function(_Function, _Generic[Result]):
    def __call__(self, *args: Any, **kwargs: Any) -> Result: ...

"""
WORDS = {bool: "bool", int: "int", float: "float", str: "str"}


# -- where things are ------------------------------------------------------------------------------------------------


@cache
def statements(module: str) -> tuple[dict[str, tuple[str, str]], list[str], set[str]]:
    """Return of a module's source what is imported, as (module, name), from where all is, and what is defined there."""
    found = importlib.import_module(module)
    imported: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    defined: set[str] = set()
    source = getattr(found, "__file__", None)
    tree = ast.parse(Path(source).read_text("utf-8")) if source and source.endswith(".py") else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                if each.name == "*":
                    stars.append(str(node.module))
                else:
                    imported.setdefault(each.asname or each.name, (str(node.module), each.name))
        elif isinstance(node, ast.Import):
            imported.update({each.asname or each.name: (each.name, "") for each in node.names})
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Assign):
            defined.update(n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
    return imported, stars, defined


def place(module: str, name: str) -> tuple[str, str] | None:
    """Return the module and the name from which a stub can import what a module shows, or None.

    Examples
    --------
    >>> place("theano.tensor", "sum"), place("theano.tensor", "inverse"), place("theano.tensor", "dmatrix")
    (('theano.tensor.reduce.functions', 'sum'), None, None)
    """
    imported, stars, _ = statements(module)
    if name in imported:
        return imported[name]
    for star in stars:
        if name in vars(importlib.import_module(star)):
            return (star, name) if name in statements(star)[2] else place(star, name)
    return None


def is_function(module: str, name: str) -> bool:
    """Return whether a name is that of a function or class whose statement is in a module."""
    source = getattr(importlib.import_module(module), "__file__", None)
    return bool(source) and re.search(rf"(?m)^(def|class) {name}\b", Path(source).read_text("utf-8")) is not None


def results(op: Op) -> list[Variable]:
    """Return what an op makes of matrices, vectors and so on, the first that it takes; nothing if it takes none.

    Examples
    --------
    >>> [x.type for x in results(T.nlinalg.eig)], results(T.nlinalg.det)[0].type
    ([TensorType(float64, vector), TensorType(float64, matrix)], TensorType(float64, scalar))
    """
    parameters = inspect.signature(op.make_node).parameters.values()
    several = sum(p.kind is p.VAR_POSITIONAL for p in parameters)
    count = sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) + several
    kinds = (T.dmatrix, T.dvector, T.lscalar, T.lvector, sparse.csr_matrix, scalar.float64)
    for each in product(kinds, repeat=count) if count < 5 else ():
        try:
            made = op(*(kind() for kind in each), return_list=True)
        except Exception:  # noqa: BLE001  (each op has its own way to say that it takes no such thing)
            continue
        return made if all(isinstance(v, (T.TensorVariable, sparse.SparseVariable)) for v in made) else []
    return []


# -- one stub ---------------------------------------------------------------------------------------------------------


class Stub:
    """The text of a stub: imports, and a line or a few for each name."""

    def __init__(self, module: str):
        self.module, self.thing = module, importlib.import_module(module)
        self.imports: dict[str, set[str]] = defaultdict(set)
        self.lines: dict[str, str] = {}
        self.elsewhere = getattr(self.thing, "_LATER", {}) | getattr(self.thing, "_ELSEWHERE", {}) | added(module)

    def needs(self, module: str, name: str, shown: str) -> None:
        """Import a name for the stub's own use."""
        self.imports[module].add(name if name == shown else f"{name} as {shown}")

    def annotation(self, text: str, module: str) -> str:
        """Return an annotation of a function of a module, whose names are imported."""
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and not hasattr(__builtins__, node.id):
                if node.id in ("Tensor", VARIABLE):
                    node.id = VARIABLE
                    self.needs("theano.tensor.var", VARIABLE, VARIABLE)
                elif node.id == "np":
                    self.imports["numpy"].add("")
                elif node.id in statements(module)[0] and statements(module)[0][node.id][1]:
                    self.needs(*statements(module)[0][node.id], node.id)
                elif node.id in statements(module)[2]:
                    self.needs(module, node.id, node.id)
                elif node.id in typing.__all__:
                    self.needs("typing", node.id, node.id)
        return ast.unparse(tree)

    def call(self, name: str, function: Any, instead: dict[str, str] | None = None, doc: str = "") -> str:
        """Return the statement of a function with its own annotations, or others instead."""
        hints, module = {**function.__annotations__, **(instead or {})}, function.__module__
        parts, star = [], False
        for p in inspect.signature(function).parameters.values():
            if p.name == "self":
                continue
            sign = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            if p.kind is p.KEYWORD_ONLY and not star:
                parts.append("*")
            star = star or p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)
            hint = self.annotation(hints.get(p.name, "Any"), module)
            simple = type(p.default) in (*WORDS, type(None))
            needed = p.default is p.empty or p.default is None and "None" not in (instead or {}).get(p.name, "None")
            needed = needed or hints.get(p.name) == "Literal[True]"
            default = "" if needed else f" = {p.default!r}" if simple else " = ..."
            if needed and not sign and not star and parts and " = " in parts[-1]:
                parts.append("*")  # what one form of a call needs follows what it may leave out
                star = True
            parts.append(f"{sign}{p.name}: {hint}{default}")
        result = self.annotation(hints.get("return", "Any"), module)
        body = f'\n    """{doc}"""' if doc else " ..."
        line = f"def {name}({', '.join(parts)}) -> {result}:{body}"
        if len(line.split("\n")[0]) > 120:
            inside = textwrap.fill(", ".join(parts), 116, break_on_hyphens=False)
            line = f"def {name}(\n{textwrap.indent(inside, '    ')},\n) -> {result}:{body}"
        return line

    def overloads(self, name: str, calls: list[str]) -> str:
        """Return several statements of one function."""
        if len(calls) == 1:
            return calls[0]
        self.needs("typing", "overload", "overload")
        return "\n".join(f"@overload\n{call}" for call in calls)

    def elementwise(self, name: str, op: Elemwise) -> str:
        """Return the statement of an op that works element by element, from that of the scalar layer."""
        self.needs("theano.tensor.annotations", "TensorLike", "TensorLike")
        self.needs("theano.tensor.var", VARIABLE, VARIABLE)
        scalar_op = op.scalar_op
        arguments = [f"{n}: TensorLike" for n in scalar_op.arguments]
        inside = f"{', '.join(arguments)}, /, *" if scalar_op.nin >= 0 else "*xs: TensorLike"
        sentence = inspect.getdoc(op).split("\n\n")[0].replace("\n", " ").replace("\\", "\\\\")
        return f'def {name}({inside}, name: str | None = ...) -> {VARIABLE}:\n    """{sentence}"""'

    def callable_module(self, name: str, module: ModuleType) -> str:
        """Return a class with the functions of a module that can be called itself, and a value of it."""
        own = [self.call("__call__", getattr(module, name), hints) for hints in CALLS[name]]
        lines = [self.overloads(name, [each.replace("(", "(self, ", 1) for each in own])]
        for inner in module.__all__:
            thing = getattr(module, inner)
            if isinstance(thing, type):
                self.needs(thing.__module__, inner, f"_{inner}")
                lines.append(f"{inner}: type[_{inner}]")
            else:
                calls = [f"@staticmethod\n{self.call(inner, thing, hints)}" for hints in CALLS.get(inner, [{}])]
                lines.append(self.overloads(inner, calls))
        return f"class _{name}:\n" + textwrap.indent("\n".join(lines), "    ") + f"\n\n{name}: _{name}"

    def value(self, thing: Any) -> str:
        """Return what a value is of."""
        if isinstance(thing, (tuple, list)) and thing and len({type(each) for each in thing}) == 1:
            inner = self.value(thing[0])
            return f"tuple[{inner}, ...]" if isinstance(thing, tuple) else f"list[{inner}]"
        kind = type(thing)
        if kind in WORDS:
            return WORDS[kind]
        if kind.__module__.startswith("theano.") and kind.__name__ in statements(kind.__module__)[2]:
            self.needs(kind.__module__, kind.__name__, kind.__name__)
            return kind.__name__
        self.needs("typing", "Any", "Any")
        return "Any"

    def add(self, name: str) -> None:
        """Write what there is to say of a name of the module."""
        thing = getattr(self.thing, name)
        home: Any = place(self.module, name)
        if ":" in self.elsewhere.get(name, ""):
            home = tuple(self.elsewhere[name].split(":"))
        if home is not None:
            home = place(*home) or home
        if name in CALLS and inspect.isfunction(thing):
            self.lines[name] = self.overloads(name, [self.call(name, thing, hints) for hints in CALLS[name]])
        elif name == "shared":
            self.lines[name] = self.overloads(name, [self.call(name, layers.named(made)) for made in SHARED])
        elif name == "Function":
            pass
        elif isinstance(thing, ModuleType) and callable(thing) and name in thing.__all__:
            self.lines[name] = self.callable_module(name, thing)
        elif isinstance(thing, ModuleType):
            if self.module == "theano" and f"theano.{name}" in documented("graph_core") and not has_file(thing):
                self.needs(self.module, f"{name} as {name}", f"{name} as {name}")
            elif not has_file(thing):
                self.lines[name] = f"{name}: {self.value(thing)}"
            elif self.module == "theano" and Path(thing.__file__).parents[1] != Path(self.thing.__file__).parent:
                # Of another folder where layers are used from their sources: pyright finds it by its full name.
                self.imports["import"].add(f"{thing.__name__} as _{name}")
                self.lines[name] = f"{name} = _{name}"
            elif thing.__name__ == f"{self.module}.{name}":
                self.needs(self.module, f"{name} as {name}", f"{name} as {name}")
            elif thing.__name__.startswith("theano."):
                package, _, last = thing.__name__.rpartition(".")
                self.needs(package, f"{last} as {name}", f"{last} as {name}")
        elif isinstance(thing, Elemwise):
            self.lines[name] = self.elementwise(name, thing)
        elif name in SEVERAL:
            self.lines[name] = self.call(name, thing, {"names": "Any", "kwargs": "Any"})
        elif isinstance(thing, Op) and (made := results(thing)):
            for each in {type(variable) for variable in made}:
                self.needs(each.__module__, each.__name__, each.__name__)
            kind = type(made[0]).__name__
            result = kind if len(made) == 1 else f"list[{kind}]"
            self.lines[name] = self.call(name, thing.make_node.__func__, {"return": result})
        elif isinstance(thing, FunctionType) and home is not None and not is_function(*home):
            self.lines[name] = self.call(name, thing)
        elif home is not None and home[1] and hasattr(importlib.import_module(home[0]), home[1]):
            self.imports[home[0]].add(f"{home[1]} as {name}")
        elif isinstance(thing, (FunctionType, type)) and thing.__name__ in statements(thing.__module__)[2]:
            self.imports[thing.__module__].add(f"{thing.__name__} as {name}")
        elif isinstance(thing, FunctionType):
            self.lines[name] = self.call(name, thing)
        else:
            self.lines[name] = f"{name}: {self.value(thing)}"

    def text(self) -> str:
        """Return the file."""
        head = []
        for module, wanted in sorted(self.imports.items()):
            names = {name for name in wanted if f"{name} as {name}" not in wanted}
            if module in ("numpy", "import"):
                head += sorted(f"import {name}" for name in names) if module == "import" else ["import numpy as np"]
                continue
            whole = f"from {module} import {', '.join(sorted(names))}"
            listed = textwrap.indent(textwrap.fill(", ".join(sorted(names)), 116, break_on_hyphens=False), "    ")
            head.append(whole if len(whole) <= 120 else f"from {module} import (\n{listed},\n)")
        doc = (self.thing.__doc__ or "").strip().split("\n")[0]
        body = "\n".join(line for _, line in sorted(self.lines.items(), key=lambda pair: pair[0]))
        extra = FUNCTION if "Function[" in body else ""
        return HEAD.format(doc=doc) + "\n".join(head) + "\n" + extra + "\n" + body + "\n"


def has_file(module: ModuleType) -> bool:
    """Return whether a module has a source, or a stub."""
    inside = module.__name__.removeprefix("theano.tensor.").replace(".", "/")
    return bool(getattr(module, "__file__", None)) or f"tensor/src/theano/tensor/{inside}.pyi" in of_tables()


def added(module: str) -> dict[str, str]:
    """Return what layers add to a module, and where it is."""
    full = {name: where for layer in layers.installed() for name, where in layer.names.items()}
    return {name.rpartition(".")[2]: where for name, where in full.items() if name.rpartition(".")[0] == module}


def names(module: str) -> list[str]:
    """Return the names of a module's stub: what it shows, and what else programs may have from it."""
    found = importlib.import_module(module)
    all_names = {*dir(found), *getattr(found, "__all__", ())} - NO_NAMES
    listed = {name for name in all_names if not isinstance(getattr(found, name), ModuleType)}
    # Which modules are attributes of others depends on what was loaded before.
    modules = dir(found) if module in ("theano", "theano.tensor") else layers.names_in_use(module, ())
    listed |= {*modules, *getattr(found, "_LATER", ())}
    return sorted(name for name in listed if not name.startswith("_"))


#: What modules have because they are written with it.
NO_NAMES = {"annotations", "lazily", "Any", "TYPE_CHECKING", "COUNTERPARTS", "FUNCTIONS", "SEVERAL", "TYPES"}


def stub(module: str) -> str:
    """Return the stub of a module."""
    written = Stub(module)
    for name in names(module):
        written.add(name)
    if module == "theano":
        written.lines["__version__"] = "__version__: str"
        written.imports["theano.compile.executable"].add("Function as _Function")
        written.imports["theano.settings.declared"].add("Flags")
        written.imports["typing"] |= {"Any", "Generic as _Generic"}
        written.imports["typing_extensions"].add("TypeVar")
        written.imports["collections.abc"] |= {"Mapping", "Sequence"}
        written.imports["numpy"].add("")
        written.imports["theano.settings"].discard("config as config")
        written.lines["config"] = "config: Flags"
    return written.text()


# -- flags, and modules that are nowhere but in tables ---------------------------------------------------------------


def of_flags() -> str:
    """Return the stub that says which flags there are, and of what they are."""
    sections: dict[str, dict[str, str]] = defaultdict(dict)
    for flag in flags.TABLE:
        *inside, name = flag.name.split(".")
        doc = re.sub(r"\s*\n\s*", " ", flag.doc).strip()
        sections["_".join(inside)][name] = f'{_kind(flag)}\n    """{doc}"""'
        for i, each in enumerate(inside):
            sections["_".join(inside[:i])][each] = f"_{'_'.join(inside[: i + 1])}"
    lines = ["from typing import Any", "from theano.settings.config import Config, Section", ""]
    for section in sorted(sections, reverse=True):
        lines.append(f"class {f'_{section}' if section else 'Flags'}({'Section' if section else 'Config'}):")
        lines += [f"    {name}: {said}" for name, said in sorted(sections[section].items())] + [""]
    return HEAD.format(doc="Flags, and of what they are.") + "\n".join(lines)


def _kind(flag: kinds.ConfigParam) -> str:
    made = getattr(flag, "make", None)
    if isinstance(made, type):
        return WORDS.get(made, "Any")
    if getattr(made, "__name__", "") == "_boolean":
        return "bool"
    return "str" if isinstance(flag, kinds.EnumStr) else "Any"


#: The tables, and the packages of which modules that only they make get a stub, each in a folder of sources.
TABLES = {
    "graph_core": {"theano": "graph-core/src/theano/"},
    "tensor": {
        "theano.tensor": "tensor/src/theano/tensor/", "theano.tensor.nnet": "tensor/src/theano/tensor/nnet/",
        "theano.tensor.signal": "tensor/src/theano/tensor/signal/",
    },
}


def documented(layer: str) -> dict[str, Any]:
    """Return the table of a layer's documented spellings."""
    table: dict[str, Any] = importlib.import_module(f"theano.layers.documented_{layer}").OLD_NAMES
    return table


@cache
def of_tables() -> dict[str, str]:
    """Return stubs of the modules that Theano documents and that only a table makes."""
    written = {}
    for layer, folders in TABLES.items():
        table = documented(layer)
        for module, entries in table.items():
            package, _, last = module.rpartition(".")
            file = f"{folders.get(package, '')}{last}.pyi"
            exists = (PACKAGES / file).with_suffix(".py").exists() or (PACKAGES / file).with_suffix("").is_dir()
            if package not in folders or exists:
                continue
            made = Stub(module)
            made.elsewhere = dict(spellings(entries))
            for name in sorted(made.elsewhere):
                if not name.startswith("_"):
                    made.add(name)
            for name in below(module, table) if layer == "tensor" else ():
                made.imports[package].add(f"{name} as {name}")
            written[file] = made.text()
    return written


def below(module: str, table: dict[str, Any]) -> list[str]:
    """Return the modules below a module of a table, which are found where its package is."""
    return [name.rpartition(".")[2] for name in table if name.rpartition(".")[0] == module]


def texts() -> dict[Path, str]:
    """Return all stubs, by their files."""
    found = {f"{layer}/src/theano/__init__.pyi": MARKER for layer in MARKED}
    for module in FACADES:
        file = Path(importlib.import_module(module).__file__)
        found[str(file.relative_to(PACKAGES).with_suffix(".pyi"))] = stub(module)
    found["graph-core/src/theano/settings/declared.pyi"] = of_flags()
    found |= of_tables()
    return {PACKAGES / file: text for file, text in found.items()}


def main(check: bool = False) -> int:
    """Write the stubs, or say which are not up to date."""
    stale = {path: text for path, text in texts().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in stale.items():
        if not check:
            path.write_text(text, "utf-8")
        print(f"{'stale' if check else 'wrote'} {path.relative_to(PACKAGES.parent)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
