"""Prove who may import whom, from the source alone.

    python tools/check_layers.py            check the tree; exit 1 if a rule is broken
    python tools/check_layers.py --graph    also print what each package imports

The rules:

1. no import cycle between modules, counting imports inside functions;
2. a distribution imports only itself and the distributions below it;
3. inside graph-core a package imports only packages of the tiers below its own (`TIERS`);
4. graph-core's Python does not import NumPy or SciPy;
5. an import inside a function has a comment that says why, on its line or on the line above;
6. below the tier of ``compile`` nothing imports ``theano.settings``: values are passed down;
7. a facade is imported by nobody but those that `FACADES` names;
8. a module is loaded by a name that the source spells out, but where `BY_NAME` says where the name comes from;
9. nothing is imported by an old spelling, which is a name that only tables know (`TABLES`), by
   tests and tools neither, but for those that `OLD_PROGRAMS` names; and no folder without sources is left where such a
   module was, for Python would take it for a package;
10. inside the tensor, sparse and GPU layers a package imports from those before it (`order.ORDER`), by statements;
11. C and C++ files include headers by the same order (`includes`);
12. no sentence outside theano-legacy speaks of older programs, but in the files that `past.MAY` names;
13. no two public classes have one name, and public methods are documented, here or in the contract (`classes`).

An import is a statement, one below ``if TYPE_CHECKING:``, or a text: each text that is the name of a module of ours (or
of something in it, ``"theano.tensor:dot"``) counts for rules 2, 3 and 7, be it handed to `importlib` or kept in a table
for later; so does the beginning of one that is completed when the program runs (``f"theano.compile.{name}"``).
Statements for type checkers, and texts, close no cycle when a module is loaded: rules 1 and 5 leave them alone. So does
rule 7 with the tables of old spellings that public modules have, above the tiers: they load a facade for who asks.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import classes
import includes
import order
import past

ROOT = Path(__file__).resolve().parent.parent

# From the ground up: each distribution may import those before it.
DISTRIBUTIONS = ["graph-core", "scalar", "tensor", "sparse", "gpu-backend", "legacy"]

# Packages of graph-core from the lowest tier up; packages of one tier do not know each other.
TIERS = [
    {"errors", "messages", "records"},
    {"extensions"},
    {"settings", "layers", "graph"},
    {"batching", "gradient", "rewriting", "printing", "cache"},
    {"toolchain", "loader"},
    {"codegen"},
    {"lowering"},
    {"runtime"},
    {"compile"},
    {"aot"},
]
# What is in none of these packages is above all tiers: the public module, the doctor, and the tables of old spellings.
TOP = len(TIERS)
# Modules that have tables of old spellings, and those that only older programs ask for: they may name old ones.
SPELLINGS = "theano.layers.spellings"
TABLES = ("theano.layers.documented_", "theano.legacy.")

# Facades: modules that hold classes and spellings for users and adapt what users bring to the core, which knows nothing
# of them; with each, the modules outside that may import it or what is below it.
FACADES = {
    "theano.rewriting.userdefined": {
        "theano.compile",
        "theano.compile.mode",
        "theano.compile.print_current",
        "theano.legacy.rewriters",
        "theano.legacy.rewriting",
        "theano.legacy.rewriting_helpers",
        "theano.legacy.gpu_building_blocks",
        "theano.legacy.gpu_merging",
        "theano.gpuarray.lifting",
        "theano.legacy.scan_passes",
    },
}

# Modules that may read theano.settings although they are below compile: programs that users start themselves.
READS_SETTINGS = {"theano.cache.command", "theano.cache.__main__"}
FOREIGN = {"numpy", "scipy"}

# What loads a module whose name it is given.
LOADERS = {"import_module", "__import__", "layers.load", "layers.named", "named"}
# Modules that load others by names that they do not spell out, and why these are none of what lies above.
BY_NAME = {
    "theano": "modules of this layer, from the tables beside it",
    "theano.layers": "what descriptions of layers name: the one way up",
    "theano.compile.from_function": "the user's module, in which a decorated function is found again",
    "theano.compile.mode": "modes made to order, from the table beside it",
    "theano.aot.exports": "what descriptions of layers name",
    "theano.graph.canonical": "classes that a program in the cache names: those of the graph that it was made of",
    "theano.graph.documentation": "the modules that write docstrings, from the classes that have them",
    "theano.graph.op": "modules of this package, from the table beside it",
    "theano.graph.type": "modules of this package, from the table beside it",
    SPELLINGS: "what tables of old spellings name",
    "theano.layers.tensor": "its own kernels, from the table beside it",
    "theano.sparse.kernels.library": "its own libraries, from the table above",
    "theano.layers.gpu_backend": "its own modules, from the functions beside it",
    "theano.gpuarray.placement": "ops of lower layers, from the table above",
    "theano.legacy.gpu_rules": "ops of lower layers, from the table above",
    "theano.tensor.rules.every": "its own families, from the table above",
    "theano.lowering.table": "what layers have registered at the extension point `modules`",
    "theano.printing.tex": "what layers have registered at the extension point `latex_tables`",
    "theano.rewriting.families": "what layers have registered at the extension point `packages`",
    "theano.tensor.testing.classes": "the package that its caller names, and its modules",
    "theano.scalar.base": "a module of SciPy that the operation's statement names",
    "theano.scalar.canonical": "the module of an operation that a program in the cache names",
    "theano.scalar.define": "the module of an operation that a pickle names",
}
# Tests that are programs as older versions had them: they may import by old spellings.
OLD_PROGRAMS = (
    "packages/graph-core/tests/rewriting/test_userdefined.py",
    "packages/graph-core/tests/test_names.py",
    "packages/tensor/tests/programs/",
    "packages/tensor/tests/seeds/",
    "packages/tensor/tests/scan/test_scan.py",
    "packages/tensor/tests/random/",
    "packages/legacy/tests/",
)
# Texts that name a module and load nothing.
SHOWN = {
    ("theano.graph.apply", "theano.gof.graph"): "the name under which the documentation always printed a class",
    ("theano.rewriting.userdefined.graph_rewriters", "theano.gof.opt"): "as above",
}
NAME = re.compile(r"theano(\.\w+)+(:\w+)?")
PREFIX = re.compile(r"theano((\.\w+)*)\.(\w*)")


@dataclass(frozen=True)
class Import:
    """One import: which module wants which, where, and how.

    Parameters
    ----------
    importer, target : str
        Names of modules.
    place : str
        File and line.
    inside : bool
        It is inside a function.
    explained : bool
        A comment stands beside or above it.
    typing : bool
        It is for type checkers only.
    text : bool
        It is a text that names the module.
    """

    importer: str
    target: str
    place: str
    inside: bool
    explained: bool
    typing: bool = False
    text: bool = False


@dataclass
class Tree:
    """The modules of all distributions, their imports, and where modules are loaded whose name is not spelled out."""

    owner: dict[str, str] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    by_name: list[tuple[str, str]] = field(default_factory=list)
    old: set[str] = field(default_factory=set)
    left_over: list[str] = field(default_factory=list)
    by_others: list[tuple[str, str]] = field(default_factory=list)
    includes: list[tuple[str, str, str]] = field(default_factory=list)
    past: list[tuple[str, str]] = field(default_factory=list)
    defined: list[classes.Defined] = field(default_factory=list)

    def add(self, distribution: str, source: Path, root: Path) -> None:
        """Read the modules of one distribution, below ``source``."""
        files = {module_name(path, source): path for path in sorted(source.rglob("*.py"))}
        self.owner.update(dict.fromkeys(files, distribution))
        for name, path in files.items():
            text = path.read_text(encoding="utf-8")
            parsed, place = ast.parse(text), path.relative_to(root).as_posix()
            self.defined.extend(classes.classes_of(distribution, place, parsed))
            if _is_table(name):
                self.old |= _old_modules(text)
            self.imports.extend(_imports(name, path.name == "__init__.py", text, parsed, place))
            found = list(_texts(parsed))
            self.imports.extend(
                Import(name, target, f"{place}:{line}", inside=False, explained=False, text=True)
                for target, line in found
                if target is not None and (name, target) not in SHOWN
            )
            self.by_name.extend((name, f"{place}:{line}") for target, line in found if target is None)

    def resolve(self, root: Path) -> None:
        """Turn the names imported into names of modules: theano.graph.Op is theano.graph; an old spelling stays."""
        self.old -= set(self.owner)
        self.left_over = [
            folder.relative_to(root).as_posix()
            for name in sorted(self.old)
            for folder in root.glob(f"packages/*/src/{name.replace('.', '/')}")
        ]
        self.imports = [
            replace(i, target=module)
            for i in self.imports
            # The beginning of a text, up to a dot: it may go on in any way, but where it begins with a module's name.
            if not i.target.endswith(".") or i.target[:-1] in self.owner
            for module in [self._module(i.target.removesuffix("."))]
            if module != i.importer
        ]

    def is_old(self, name: str) -> bool:
        """Tell whether a name is an old module, or is in one."""
        return self._module(name) in self.old

    def _module(self, name: str) -> str:
        while name not in self.owner and name not in self.old and "." in name and name.startswith("theano"):
            name = name.rpartition(".")[0]
        return name if name.startswith("theano") else name.partition(".")[0]


def module_name(path: Path, source: Path) -> str:
    """Return the dotted name of a file below a source folder.

    Examples
    --------
    >>> module_name(Path("src/theano/graph/__init__.py"), Path("src"))
    'theano.graph'
    """
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(importer: str, is_package: bool, text: str, parsed: ast.Module, place: str) -> Iterator[Import]:
    lines = text.splitlines()
    for node, inside, typing in _statements(parsed):
        at = f"{place}:{node.lineno}"
        explained = _has_comment(lines, node.lineno, node.end_lineno or node.lineno)
        for target in _targets(node, importer, is_package):
            yield Import(importer, target, at, inside, explained, typing)


def _texts(tree: ast.AST) -> Iterator[tuple[str | None, int]]:
    """Yield the names of modules that a source has as texts, and None where it loads a module by another text."""
    nodes = list(ast.walk(tree))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    unnamed = documentation | parts
    for node in nodes:
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).removeprefix("importlib.") in LOADERS:
            yield from _loaded(node)
        elif isinstance(node, ast.Constant) and id(node) not in unnamed:
            if isinstance(node.value, str) and NAME.fullmatch(node.value):
                yield node.value.replace(":", "."), node.lineno
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            beginning = PREFIX.fullmatch(str(node.values[0].value))
            if beginning is not None and beginning[1]:
                yield f"theano{beginning[1]}.", node.lineno


def _loaded(call: ast.Call) -> Iterator[tuple[str | None, int]]:
    """Yield what a call loads, unless it spells the full name of a module, which is found by itself."""
    name = call.args[0]
    if not isinstance(name, ast.Constant):
        yield None, call.lineno
    elif ast.unparse(call.func) == "layers.load":
        yield f"theano.{name.value}", call.lineno


def _has_comment(lines: list[str], first: int, last: int) -> bool:
    """Tell whether an import has a comment: on its own lines, above it, or above the imports it follows."""
    if any("#" in line for line in lines[first - 1 : last]):
        return True
    above = lines[first - 2].strip() if first > 1 else ""
    if above.startswith(("import ", "from ")):
        return _has_comment(lines, first - 1, first - 1)
    return above.startswith("#")


Found = tuple[ast.Import | ast.ImportFrom, bool, bool]


BLOCKS = ("body", "cases", "handlers", "orelse", "finalbody")
"""Where a statement has others; expressions have none."""


def _statements(node: ast.AST, inside: bool = False, typing: bool = False) -> Iterator[Found]:
    for child in (each for block in BLOCKS for each in getattr(node, block, ())):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, inside, typing
        else:
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            guarded = isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
            yield from _statements(child, inside or function, typing or guarded)


def _targets(node: ast.Import | ast.ImportFrom, importer: str, is_package: bool) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        parents = importer.split(".")
        parents = parents[: len(parents) - node.level + is_package]
        base = ".".join([*parents, base] if base else parents)
    return [f"{base}.{alias.name}" for alias in node.names]


def read_tree(root: Path) -> Tree:
    """Read all packages of a repository.

    Parameters
    ----------
    root : Path
        The folder that holds ``packages``.
    """
    tree = Tree()
    for distribution in DISTRIBUTIONS:
        source = root / "packages" / distribution / "src"
        if source.is_dir():
            tree.add(distribution, source, root)
    tree.resolve(root)
    tree.by_others.extend(_other_imports(root))
    tree.includes.extend(includes.includes(root, DISTRIBUTIONS))
    tree.past.extend(past.sentences(root, DISTRIBUTIONS))
    return tree


def _other_imports(root: Path) -> Iterator[tuple[str, str]]:
    """Yield what is imported by the files beside the sources, and where."""
    folders = [root / name for name in ("benchmarks", "docs", "examples", "tools")]
    folders += [root / "packages" / name / "tests" for name in DISTRIBUTIONS]
    for path in (*root.glob("*.py"), *(path for folder in folders for path in sorted(folder.rglob("*.py")))):
        place = path.relative_to(root).as_posix()
        if not place.startswith(OLD_PROGRAMS):
            for node, _, _ in _statements(ast.parse(path.read_text(encoding="utf-8"))):
                yield from ((target, f"{place}:{node.lineno}") for target in _targets(node, "", False))


def _is_table(module: str) -> bool:
    return module.startswith(TABLES)


def _old_modules(text: str) -> set[str]:
    """Return the modules that a table of old spellings has."""
    statements = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    tables = [node.value for node in statements if ast.unparse(node.targets[0]) == "OLD_NAMES"]
    keys = [key for table in tables if isinstance(table, ast.Dict) for key in table.keys]
    return {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def package_of(module: str) -> str:
    """Return the package of a module: ``theano.graph.op`` is in ``graph``."""
    return module.split(".")[1] if "." in module else ""


def tier(module: str) -> int:
    """Return the tier of a module of graph-core."""
    if _is_table(module):
        return TOP
    return next((level for level, packages in enumerate(TIERS) if package_of(module) in packages), TOP)


def problems(tree: Tree) -> Iterator[str]:
    """Yield each broken rule in words."""
    yield from _cycles(tree)
    for module, layer in tree.owner.items():
        if layer in order.ORDER and order.package_of(layer, module) is None:
            yield f"{module} has no place in the order of packages; see ORDER in tools/order.py"
    for imported in tree.imports:
        yield from _upward(tree, imported)
        yield from _of_facades(tree, imported)
        if imported.inside and not imported.explained and not imported.typing:
            yield f"{imported.place}: imports {imported.target} inside a function without saying why in a comment"
    for target, place in tree.by_others:
        if tree.is_old(target):
            yield f"{place}: imports {target}, an old spelling; name the module that has it"
    yield from classes.problems(tree.defined)
    for place, here, there in tree.includes:
        if _is_above(here, there):
            yield f"{place}, of {there}, which stands above {here}"
    for said, place in tree.past:
        yield f"{place}: speaks of {said!r}; say what holds now, or see MAY in tools/past.py"
    for folder in tree.left_over:
        yield f"{folder}: nothing but an old spelling has this name; remove the folder, which hides it"
    for module, place in tree.by_name:
        if module not in BY_NAME:
            yield f"{place}: {module} loads a module by a name that it does not spell out; see BY_NAME"


def _upward(tree: Tree, imported: Import) -> Iterator[str]:
    here, there = imported.importer, imported.target
    mine, theirs = tree.owner[here], tree.owner.get(there)
    says = f"{imported.place}: {here} {'names' if imported.text else 'imports'} {there}"
    if mine == "graph-core" and there in FOREIGN:
        yield f"{says}; graph-core knows no arrays"
    if there in tree.old:
        if not _is_table(here):
            yield f"{says}, an old spelling; name the module that has it"
        return
    if theirs is None:
        if there.startswith("theano"):
            yield f"{says}, which does not exist"
        return
    if DISTRIBUTIONS.index(theirs) > DISTRIBUTIONS.index(mine):
        yield f"{says}, and {theirs} is above {mine}"
    if mine == theirs == "graph-core":
        yield from _within_core(says, here, there)
    elif mine == theirs and mine in order.ORDER and not imported.text and not imported.typing:
        if order.is_upward(mine, here, there):
            yield f"{says}, and {order.package_of(mine, there)} stands after {order.package_of(mine, here)}"


def _is_above(here: str, there: str) -> bool:
    """Return whether a package of C files stands above another one of its layer."""
    layer = next((each for each in order.ORDER if order.package_of(each, here) is not None), None)
    if layer is not None:
        return order.is_upward(layer, here, there)
    return package_of(here) != package_of(there) and tier(here) <= tier(there) < TOP


def _of_facades(tree: Tree, imported: Import) -> Iterator[str]:
    if imported.text and (tree.owner[imported.importer] != "graph-core" or tier(imported.importer) == TOP):
        return
    for facade, importers in FACADES.items():
        inside = _is_within(imported.importer, facade)
        if _is_within(imported.target, facade) and not inside and imported.importer not in importers:
            verb = "names" if imported.text else "imports"
            yield f"{imported.place}: {imported.importer} {verb} {imported.target}, a facade not meant for it"


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _within_core(says: str, here: str, there: str) -> Iterator[str]:
    if package_of(here) != package_of(there) and there != "theano" and tier(there) >= tier(here) and tier(here) < TOP:
        yield f"{says}, and {package_of(there)} is not in a tier below {package_of(here)}"
    if there == "theano" and tier(here) < TOP:
        yield f"{says}: the public module is for users; name the module that has it"
    below = tier(here) < tier("theano.compile")
    if below and package_of(there) == "settings" and package_of(here) != "settings" and here not in READS_SETTINGS:
        yield f"{says}; below compile values are passed down"


def _cycles(tree: Tree) -> Iterator[str]:
    edges: dict[str, set[str]] = {name: set() for name in tree.owner}
    for imported in tree.imports:
        if imported.target in edges and not imported.typing and not imported.text:
            edges[imported.importer].add(imported.target)
    for knot in strongly_connected(edges):
        if len(knot) > 1:
            yield f"import cycle of {len(knot)} modules: " + " -> ".join(_ring(sorted(knot), edges))


def _ring(knot: list[str], edges: dict[str, set[str]]) -> list[str]:
    """Return one shortest way around inside a knot, to print."""
    start = knot[0]
    came: dict[str, str] = {}
    queue = [start]
    for module in queue:
        for target in sorted(edges[module] & set(knot)):
            if target == start:
                way = [module]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return [*reversed(way), start]
            if target not in came:
                came[target] = module
                queue.append(target)
    return knot


def strongly_connected(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of nodes that reach each other (Kosaraju's two walks).

    Examples
    --------
    >>> sorted(map(sorted, strongly_connected({"a": {"b"}, "b": {"a", "c"}, "c": set()})))
    [['a', 'b'], ['c']]
    """
    backward: dict[str, set[str]] = {node: set() for node in edges}
    for node, targets in edges.items():
        for target in targets:
            backward[target].add(node)
    found: list[set[str]] = []
    placed: set[str] = set()
    for node in reversed(_finished(edges)):
        if node not in placed:
            group = set(_reach(node, backward, placed))
            placed |= group
            found.append(group)
    return found


def _finished(edges: dict[str, set[str]]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for start in edges:
        stack = [(start, iter(sorted(edges[start])))] if start not in seen else []
        seen.add(start)
        while stack:
            node, targets = stack[-1]
            step = next((t for t in targets if t not in seen), None)
            if step is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(step)
                stack.append((step, iter(sorted(edges[step]))))
    return order


def _reach(start: str, edges: dict[str, set[str]], barred: Iterable[str]) -> Iterator[str]:
    seen, queue = {start, *barred}, [start]
    while queue:
        node = queue.pop()
        yield node
        queue.extend(new := edges[node] - seen)
        seen |= new


def main(arguments: list[str] | None = None) -> int:
    """Check the tree, print what was found, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--graph", action="store_true", help="print what each package imports")
    options = parser.parse_args(arguments)
    tree = read_tree(options.root)
    if options.graph:
        _print_packages(tree)
    inside = [i for i in tree.imports if i.inside]
    for imported in inside:
        print(f"  inside a function: {imported.place}: {imported.target}")
    found = list(dict.fromkeys(problems(tree)))
    for problem in found:
        print(f"BROKEN {problem}")
    print(
        f"{len(tree.owner)} modules, {len(tree.imports)} imports, {len(inside)} inside functions, "
        f"{len(found)} rules broken"
    )
    return 1 if found else 0


def _print_packages(tree: Tree) -> None:
    seen: dict[tuple[str, str], set[str]] = {}
    for i in tree.imports:
        if i.target in tree.owner:
            key = (tree.owner[i.importer], package_of(i.importer))
            seen.setdefault(key, set()).add(package_of(i.target) or "theano")
    for (distribution, name), targets in sorted(seen.items()):
        print(f"  {distribution}: {name or 'theano'} -> {', '.join(sorted(targets - {name}))}")


if __name__ == "__main__":
    sys.exit(main())
