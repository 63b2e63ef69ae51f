"""Prove who may import whom, from the source alone.

    python tools/check_layers.py            check the tree; exit 1 if a rule is broken
    python tools/check_layers.py --graph    also print what each room imports

The rules:

1. no import cycle between modules, counting imports inside functions;
2. a distribution imports only itself and the distributions below it, not even for a type checker
   (but for theano/__init__.py, which tells type checkers what it shows when the upper layers are there);
3. inside graph-core a room imports only rooms of the floors below its own (`FLOORS`);
4. graph-core's Python does not import NumPy or SciPy;
5. an import inside a function has a comment that says why, on its line or on the line above;
6. below the floor of ``compile`` nothing imports ``theano.settings``: values are passed down;
7. a facade is imported by nobody but those that `FACADES` names, not even for a type checker.

Imports below ``if TYPE_CHECKING:`` never happen when a program runs; rules 1, 3, 5 and 6 leave them alone.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# From the ground up: each distribution may import those before it.
DISTRIBUTIONS = ["graph-core", "scalar", "tensor", "sparse", "gpu-backend"]

# Rooms of graph-core from the ground up; rooms on one floor do not know each other.
FLOORS = [
    {"errors"},
    {"settings", "layers", "graph"},
    {"gradient", "rewriting", "printing", "cache"},
    {"toolchain", "loader"},
    {"codegen"},
    {"lowering"},
    {"runtime"},
    {"compile"},
]
# What is in none of these rooms stands on the roof: the public door, the doctor, old spellings that re-export.
ROOF = len(FLOORS)

# Facades: modules that hold classes and spellings for users and adapt what users bring to the core, which knows nothing
# of them; with each, the modules outside that may import it or what is below it.
FACADES = {
    "theano.rewriting.userdefined": {
        "theano.compile",
        "theano.compile.mode",
        "theano.compile.print_current",
        "theano.gof",
        "theano.gof.opt",
        "theano.gof.optdb",
        "theano.tensor.opt",
    },
    "theano.gof": {"theano.tensor.io"},
    "theano.link": set(),
    "theano.tensor.opt": {"theano.tensor"},
}

# Rooms that may read theano.settings although they are below compile: programs that people start themselves.
READS_SETTINGS = {"theano.cache.command", "theano.cache.__main__"}
FOREIGN = {"numpy", "scipy"}


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
    """

    importer: str
    target: str
    place: str
    inside: bool
    explained: bool
    typing: bool


@dataclass
class Tree:
    """The modules of all distributions and their imports."""

    owner: dict[str, str] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)

    def add(self, distribution: str, source: Path, root: Path) -> None:
        """Read the modules of one distribution, below ``source``."""
        files = {module_name(path, source): path for path in sorted(source.rglob("*.py"))}
        self.owner.update(dict.fromkeys(files, distribution))
        for name, path in files.items():
            text = path.read_text(encoding="utf-8")
            place = path.relative_to(root).as_posix()
            self.imports.extend(_imports(name, path.name == "__init__.py", text, place))

    def resolve(self) -> None:
        """Turn the names imported into names of modules: theano.graph.Op is theano.graph."""
        self.imports = [
            replace(i, target=module)
            for i in self.imports
            for module in [self._module(i.target)]
            if module != i.importer
        ]

    def _module(self, name: str) -> str:
        while name not in self.owner and "." in name and name.startswith("theano"):
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


def _imports(importer: str, is_package: bool, text: str, place: str) -> Iterator[Import]:
    lines = text.splitlines()
    for node, inside, typing in _statements(ast.parse(text)):
        at = f"{place}:{node.lineno}"
        explained = _has_comment(lines, node.lineno, node.end_lineno or node.lineno)
        for target in _targets(node, importer, is_package):
            yield Import(importer, target, at, inside, explained, typing)


def _has_comment(lines: list[str], first: int, last: int) -> bool:
    """Tell whether an import has a comment: on its own lines, above it, or above the imports it follows."""
    if any("#" in line for line in lines[first - 1 : last]):
        return True
    above = lines[first - 2].strip() if first > 1 else ""
    if above.startswith(("import ", "from ")):
        return _has_comment(lines, first - 1, first - 1)
    return above.startswith("#")


Found = tuple[ast.Import | ast.ImportFrom, bool, bool]


def _statements(node: ast.AST, inside: bool = False, typing: bool = False) -> Iterator[Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, inside, typing
        else:
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
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
    tree.resolve()
    return tree


def room(module: str) -> str:
    """Return the room of a module: ``theano.graph.op`` lives in ``graph``."""
    return module.split(".")[1] if "." in module else ""


def floor(module: str) -> int:
    """Return the floor of a module of graph-core."""
    return next((level for level, rooms in enumerate(FLOORS) if room(module) in rooms), ROOF)


def problems(tree: Tree) -> Iterator[str]:
    """Yield each broken rule in words."""
    yield from _cycles(tree)
    for imported in tree.imports:
        yield from _upward(tree, imported)
        yield from _of_facades(imported)
        if imported.inside and not imported.explained and not imported.typing:
            yield f"{imported.place}: imports {imported.target} inside a function without saying why in a comment"


def _upward(tree: Tree, imported: Import) -> Iterator[str]:
    here, there = imported.importer, imported.target
    mine, theirs = tree.owner[here], tree.owner.get(there)
    says = f"{imported.place}: {here} imports {there}"
    if mine == "graph-core" and there in FOREIGN:
        yield f"{says}; graph-core knows no arrays"
    if theirs is None:
        if there.startswith("theano"):
            yield f"{says}, which does not exist"
        return
    shown = here == "theano" and imported.typing
    if DISTRIBUTIONS.index(theirs) > DISTRIBUTIONS.index(mine) and not shown:
        yield f"{says}, and {theirs} stands above {mine}"
    if mine == theirs == "graph-core" and not imported.typing:
        yield from _upstairs(says, here, there)


def _of_facades(imported: Import) -> Iterator[str]:
    for facade, importers in FACADES.items():
        inside = _is_within(imported.importer, facade)
        if _is_within(imported.target, facade) and not inside and imported.importer not in importers:
            yield f"{imported.place}: {imported.importer} imports {imported.target}, a facade not meant for it"


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _upstairs(says: str, here: str, there: str) -> Iterator[str]:
    if room(here) != room(there) and there != "theano" and floor(there) >= floor(here) and floor(here) < ROOF:
        yield f"{says}, and {room(there)} is not on a floor below {room(here)}"
    if there == "theano" and floor(here) < ROOF:
        yield f"{says}: the public door is for users; name the module that has it"
    below = floor(here) < floor("theano.compile")
    if below and room(there) == "settings" and room(here) != "settings" and here not in READS_SETTINGS:
        yield f"{says}; below compile values are passed down"


def _cycles(tree: Tree) -> Iterator[str]:
    edges: dict[str, set[str]] = {name: set() for name in tree.owner}
    for imported in tree.imports:
        if imported.target in edges and not imported.typing:
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
    parser.add_argument("--graph", action="store_true", help="print what each room imports")
    options = parser.parse_args(arguments)
    tree = read_tree(options.root)
    if options.graph:
        _print_rooms(tree)
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


def _print_rooms(tree: Tree) -> None:
    seen: dict[tuple[str, str], set[str]] = {}
    for i in tree.imports:
        if i.target in tree.owner:
            key = (tree.owner[i.importer], room(i.importer))
            seen.setdefault(key, set()).add(room(i.target) or "theano")
    for (distribution, name), targets in sorted(seen.items()):
        print(f"  {distribution}: {name or 'theano'} -> {', '.join(sorted(targets - {name}))}")


if __name__ == "__main__":
    sys.exit(main())
