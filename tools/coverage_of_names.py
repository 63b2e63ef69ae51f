"""Compare the names that Theano's packages offer, and their parameters, with ours.

    python tools/coverage_of_names.py                     write docs/library/coverage.json and coverage.md
    python tools/coverage_of_names.py --check             say whether these two are up to date; exit 1 if not
    python tools/coverage_of_names.py --facts NAMES.json MODULES.json
                                                          take the facts anew from full lists of names

The facts are in docs/data/names.json: for each package its names, for each name its parameters or what it is. Why a
name is missing, or differs, is written by users, in docs/data/names_absent.json.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from theano.legacy.gone import Gone

ROOT = Path(__file__).resolve().parents[1]
FACTS = ROOT / "docs" / "data" / "names.json"
REASONS = ROOT / "docs" / "data" / "names_absent.json"
RESULTS = ROOT / "docs" / "library" / "coverage.json"
PAGE = ROOT / "docs" / "library" / "coverage.md"

#: Where the two versions spell a thing differently both spellings work; where they mean different things, the first's.
VERSIONS = ("Theano 1.0.5", "Theano-PyMC 1.1.2")
PACKAGES = (
    "theano",
    "theano.misc",
    "theano.scalar",
    "theano.scalar.basic",
    "theano.sparse",
    "theano.sparse.basic",
    "theano.tensor",
    "theano.tensor.basic",
    "theano.tensor.elemwise",
    "theano.tensor.extra_ops",
    "theano.tensor.fft",
    "theano.tensor.nlinalg",
    "theano.tensor.slinalg",
    "theano.tensor.subtensor",
    "theano.updates",
)
METHODS = "theano.tensor.TensorVariable"
#: Modules that hold tests, by a part of their names.
ELSEWHERE = (".tests", ".test_")
#: Packages whose inner modules programs import from: names count once more where they are defined.
INNER = ("theano.scalar.", "theano.tensor.")

HEAD = """# Which of Theano's names are here

Every name that the packages below offer in Theano 1.0.5 and Theano-PyMC 1.1.2, compared with what is installed:

- *present*: there, and it takes each listed parameter, by the same name, at the same place, with the same default.
  The operations on elements take their inputs by position; of these the number is compared.
- *differs*: there, but it takes other parameters, or is another kind of thing;
- *gone*: it can be imported, and says in one line what takes its place, when somebody uses it;
- *missing*: not there.

Every function and op of numbers, tensors and sparse matrices that is present is used by a test.

The inner modules (`theano.gof.opt`, `theano.graph.basic`, ...) count the functions and classes that they define; of
those that only inner modules have, the names are compared, not the parameters.
Written by `python tools/coverage_of_names.py`, never by hand; a test keeps it true.

"""


# -- the facts ---------------------------------------------------------------------------------------


def facts_from(names: dict[str, Any], modules: dict[str, Any]) -> dict[str, dict[str, dict[str, str]]]:
    """Return what is compared, from the full lists: per version and package, ``{name: parameters or kind}``.

    Parameters
    ----------
    names : dict
        What the packages show.
    modules : dict
        The functions and classes that each module defines.
    """
    first, second = (names[version] for version in VERSIONS)
    known = {package: _described(first[package]) for package in PACKAGES}
    known.update(_inner(first))
    known[METHODS] = dict.fromkeys(names["tensor_variable_methods"][VERSIONS[0]], "method")
    later = {package: _described(second[package]) for package in PACKAGES}
    later.update(_inner(second))
    changed = {
        package: {name: text for name, text in entries.items() if _adds(known.get(package, {}).get(name), text)}
        for package, entries in later.items()
    }
    facts = {VERSIONS[0]: known, VERSIONS[1]: {package: entries for package, entries in changed.items() if entries}}
    for version, entries in facts.items():
        _add_modules(entries, modules[version])
    return facts


def _add_modules(facts: dict[str, dict[str, str]], modules: dict[str, dict[str, str]]) -> None:
    """Add what inner modules define: kinds only, for parameters are compared where packages show a name."""
    for module, entries in modules.items():
        if module not in PACKAGES and not any(part in module for part in ELSEWHERE):
            own = facts.setdefault(module, {})
            for name, text in sorted(entries.items()):
                own.setdefault(name, "class" if text.startswith("class") else "function")


def _adds(before: str | None, after: str) -> bool:
    return before is None or (after.startswith("(") and before.startswith("(") and before != after)


def _described(entries: dict[str, dict[str, str]]) -> dict[str, str]:
    return {name: _describe(entry) for name, entry in sorted(entries.items())}


def _describe(entry: dict[str, str]) -> str:
    kind, signature = entry["kind"].split()[0], entry.get("sig", "")
    if kind not in ("module", "value") and signature.startswith("("):
        return signature.replace("(self, ", "(").replace("(self)", "()") if kind == "class" else signature
    return kind


def _inner(packages: dict[str, dict[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    """Return the names of modules that have no list of their own, from where listed names are defined."""
    found: dict[str, dict[str, str]] = {}
    for package in PACKAGES:
        for name, entry in sorted(packages[package].items()):
            where = entry.get("defined_in", "")
            said = _describe(entry)
            if where.startswith(INNER) and where not in PACKAGES and "random" not in where and said != "module":
                found.setdefault(where, {})[name] = said
    return found


# -- the comparison ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """What became of one name.

    Parameters
    ----------
    status : str
        "present", "differs", "gone" or "missing".
    note : str
        How it differs.
    why : str
        The reason that users gave.
    """

    status: str
    note: str = ""
    why: str = ""


def compare(facts: dict[str, dict[str, dict[str, str]]], reasons: dict[str, str]) -> dict[str, dict[str, Finding]]:
    """Return a finding for each name of each package; a name of both versions must suit both."""
    found: dict[str, dict[str, Finding]] = {}
    # All first: a module that somebody has imported is an attribute of its package.
    owners = {package: find(package) for version in VERSIONS for package in facts[version]}
    for version in VERSIONS:
        for package, entries in facts[version].items():
            for name, text in entries.items():
                finding = _finding(owners[package], name, text)
                before = found.setdefault(package, {}).get(name)
                if before is not None and (before.status not in HERE or finding.status in HERE):
                    continue
                why = next((reasons[key] for key in _keys(package, name) if key in reasons), "")
                found[package][name] = Finding(finding.status, finding.note, why if finding.status not in HERE else "")
    return {package: dict(sorted(found[package].items())) for package in sorted(found)}


def _keys(package: str, name: str) -> list[str]:
    """Return under what a reason for a name may stand: the name, or ``package.*``."""
    parts = package.split(".")
    whole = [".".join(parts[:n]) + ".*" for n in range(len(parts), 0, -1)]
    return [f"{package}.{name}", name, *whole]


#: What needs no reason.
HERE = ("present", "gone")
_ABSENT = object()


def find(path: str) -> Any:
    """Return the module, or what is inside one, that a dotted name says.

    Examples
    --------
    >>> find("json.decoder.JSONDecoder").__name__, find("json.no_such_module") is _ABSENT
    ('JSONDecoder', True)
    """
    try:
        return importlib.import_module(path)
    except ImportError:
        owner, _, name = path.rpartition(".")
        return getattr(find(owner), name, _ABSENT) if owner else _ABSENT


def _finding(owner: Any, name: str, text: str) -> Finding:
    ours = getattr(owner, name, _ABSENT)
    if ours is _ABSENT:
        return Finding("missing")
    if text == "method":
        return Finding("present")
    if isinstance(ours, Gone):
        return Finding("gone", ours.instead)
    if text == "module":
        return Finding("present") if isinstance(ours, ModuleType) else Finding("differs", "is not a module")
    if text == "class":
        return Finding("present") if callable(ours) else Finding("differs", "cannot be called")
    if not text.startswith("("):
        return Finding("present")
    note = parameters_differ(text, ours)
    return Finding("differs", note) if note else Finding("present")


def parameters_differ(text: str, ours: Any) -> str:
    """Return how the parameters of something differ from those listed, in words; nothing if they do not.

    Parameters
    ----------
    text : str
        The listed ones, as they stand in a definition.
    ours : callable

    Examples
    --------
    >>> parameters_differ("(x, axis=None)", lambda x, axis=None, more=0: x)
    ''
    >>> parameters_differ("(x, axis=None)", lambda y, axis=0: y)
    'place 1 is y, not x'
    """
    listed = _parse(text)
    if not callable(ours):
        return "cannot be called"
    if all(p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) for p in listed) and listed:
        return ""  # that says nothing
    count = _inputs_of(ours)
    if count is not None:
        return _arity(listed, count)
    mine = _parameters(ours)
    return _places(listed, mine) or _extras(listed, mine)


def _parameters(ours: Any) -> list[inspect.Parameter]:
    if isinstance(ours, type) and type(ours) is not type:
        # A class whose own class is called first takes what its instances are made of.
        return list(inspect.signature(ours.__init__).parameters.values())[1:]  # type: ignore[misc]
    return list(inspect.signature(ours).parameters.values())


def _parse(text: str) -> list[inspect.Parameter]:
    """Return the parameters of a text; a default that is not a literal is compared as nothing."""
    arguments = ast.parse(f"def f{text}: pass").body[0].args  # type: ignore[attr-defined]
    found = []
    plain = [*arguments.posonlyargs, *arguments.args]
    without = len(plain) - len(arguments.defaults)
    defaults = [inspect.Parameter.empty] * without + [_value(d) for d in arguments.defaults]
    for argument, default in zip(plain, defaults, strict=True):
        found.append(inspect.Parameter(argument.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    if arguments.vararg:
        found.append(inspect.Parameter(arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = inspect.Parameter.empty if given is None else _value(given)
        found.append(inspect.Parameter(argument.arg, inspect.Parameter.KEYWORD_ONLY, default=default))
    if arguments.kwarg:
        found.append(inspect.Parameter(arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    return found


_UNKNOWN = object()


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _UNKNOWN


def _inputs_of(ours: Any) -> int | None:
    """Return how many inputs an operation on elements takes; -1 for any number, None if it is something else."""
    scalar_op = getattr(ours, "scalar_op", None)
    if scalar_op is None or isinstance(ours, type):
        return None
    return int(scalar_op.nin)


def _arity(listed: list[inspect.Parameter], count: int) -> str:
    plain = [p for p in listed if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    least = sum(p.default is inspect.Parameter.empty for p in plain)
    any_number = len(plain) != len(listed)
    if count == -1 or (any_number and count >= least) or least <= count <= len(plain):
        return ""
    return f"takes {count} inputs, not {len(plain)}"


def _places(listed: list[inspect.Parameter], mine: list[inspect.Parameter]) -> str:
    """Return the first listed parameter that is not at its place."""
    swallow = {p.kind for p in mine}
    named = {p.name: p for p in mine}
    for place, wanted in enumerate(listed):
        if wanted.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            if wanted.kind not in swallow:
                return f"does not take {'*' if wanted.kind is inspect.Parameter.VAR_POSITIONAL else '**'}{wanted.name}"
            continue
        got = mine[place] if place < len(mine) else None
        if wanted.kind is inspect.Parameter.KEYWORD_ONLY:
            got = named.get(wanted.name)
        if got is None:
            return f"does not take {wanted.name}"
        if got.name != wanted.name and wanted.name in named:
            return f"{wanted.name} is at another place"
        if got.name != wanted.name:
            return f"place {place + 1} is {got.name}, not {wanted.name}"
        if got.kind is inspect.Parameter.KEYWORD_ONLY is not wanted.kind:
            return f"takes {wanted.name} by name only"
        if not _same_default(wanted.default, got.default):
            return f"default of {wanted.name} is {got.default!r}"
    return ""


def _same_default(wanted: Any, got: Any) -> bool:
    if wanted is _UNKNOWN:
        return True
    if wanted is inspect.Parameter.empty or got is inspect.Parameter.empty:
        return wanted is inspect.Parameter.empty  # a default that was none is no harm
    empty = ([], (), {}, None)  # what stands for nothing is written in several ways
    return bool(wanted == got) or (wanted in empty and got in empty)


def _extras(listed: list[inspect.Parameter], mine: list[inspect.Parameter]) -> str:
    known = {p.name for p in listed}
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for p in mine:
        if p.name not in known and p.default is inspect.Parameter.empty and p.kind not in variable:
            return f"also wants {p.name}"
    return ""


# -- the table ---------------------------------------------------------------------------------------


SECTIONS = (
    ("missing", "Missing", ("name", "why")),
    ("differs", "Different", ("name", "how", "why")),
    ("gone", "Gone", ("name", "instead")),
)


def page(found: dict[str, dict[str, Finding]]) -> str:
    """Return the page: counts, then what is missing and what differs, then all that is there."""
    lines = [HEAD + "| package | names | present | differ | gone | missing | present or gone, % |"]
    lines.append("|---|---|---|---|---|---|---|")
    lines += [_row(f"`{package}`", entries.values()) for package, entries in found.items()]
    lines.append(_row("**all**", [f for entries in found.values() for f in entries.values()]))
    for status, title, columns in SECTIONS:
        lines += [f"\n## {title}\n", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
        lines += _exceptions(found, status, columns)
    lines.append("\n## Present")
    for package, entries in found.items():
        there = [f"`{name}`" for name, finding in entries.items() if finding.status == "present"]
        lines.append(f"\n### {package}\n\n{', '.join(there)}")
    return "\n".join(lines) + "\n"


def _row(title: str, findings: Any) -> str:
    counts = Counter(finding.status for finding in findings)
    total = sum(counts.values())
    share = 100 * sum(counts[status] for status in HERE) / total
    numbers = " | ".join(str(counts[status]) for status in ("present", "differs", "gone", "missing"))
    return f"| {title} | {total} | {numbers} | {share:.1f} |"


def _exceptions(found: dict[str, dict[str, Finding]], status: str, columns: tuple[str, ...]) -> Iterator[str]:
    """Yield a row for each name; packages that show the same one share it."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for package, entries in found.items():
        for name, finding in entries.items():
            if finding.status == status:
                rows.setdefault((name, finding.note, finding.why), []).append(package)
    for (name, note, why), packages in sorted(rows.items(), key=lambda row: (row[1][0], row[0])):
        where = ", ".join(f"`{package}`" for package in packages)
        texts = {"how": note.replace("|", chr(92) + "|"), "instead": note, "why": why}
        yield f"| `{name}` ({where}) | {' | '.join(texts[column] for column in columns[1:])} |"


def share(found: dict[str, dict[str, Finding]]) -> float:
    """Return which part of all names is present."""
    every = [finding.status for entries in found.values() for finding in entries.values()]
    return sum(status in HERE for status in every) / len(every)


def stale_reasons(found: dict[str, dict[str, Finding]], reasons: dict[str, str]) -> list[str]:
    """Return reasons for names that are there, or that nobody lists."""
    open_names = {
        spelling
        for package, entries in found.items()
        for name, finding in entries.items()
        if finding.status not in HERE
        for spelling in _keys(package, name)
    }
    return sorted(set(reasons) - open_names)


def unexplained(found: dict[str, dict[str, Finding]]) -> list[str]:
    """Return the names that are missing or differ without a reason."""
    return [f"{package}.{name}" for package, entries in found.items() for name, finding in entries.items()
            if finding.status not in HERE and not finding.why]  # fmt: skip


@cache
def names_in_tests() -> set[str]:
    """Return all names that the tests of the layers use, in code or in a table of texts."""
    found: set[str] = set()
    for path in (ROOT / "packages").rglob("tests/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.alias):
                found.add(node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(node.value.split())
    return found


def untested(found: dict[str, dict[str, Finding]], prefix: str) -> list[str]:
    """Return the functions and ops of packages, those with listed parameters, that no test names."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))[VERSIONS[0]]
    named = names_in_tests()
    return [
        f"{package}.{name}"
        for package, entries in facts.items()
        if package.startswith(prefix)
        for name, text in entries.items()
        if text.startswith("(") and name not in named and found[package][name].status == "present"
    ]


def measure() -> dict[str, dict[str, Finding]]:
    """Return the comparison with what is installed."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    return compare(facts, json.loads(REASONS.read_text(encoding="utf-8")))


def texts(found: dict[str, dict[str, Finding]]) -> dict[Path, str]:
    """Return what the two files should hold."""
    data = {
        package: {name: {k: v for k, v in asdict(finding).items() if v} for name, finding in entries.items()}
        for package, entries in found.items()
    }
    return {RESULTS: json.dumps(_by_status(data), indent=1) + "\n", PAGE: page(found)}


def _by_status(data: dict[str, dict[str, dict[str, str]]]) -> dict[str, Any]:
    return {
        package: {
            "present": [name for name, row in entries.items() if row["status"] == "present"],
            **{
                status: {
                    name: {k: v for k, v in row.items() if k != "status"}
                    for name, row in entries.items()
                    if row["status"] == status
                }
                for status in ("differs", "gone", "missing")
            },
        }
        for package, entries in data.items()
    }


def main(arguments: list[str] | None = None) -> int:
    """Write or check the table, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether the table is up to date")
    parser.add_argument(
        "--facts", type=Path, nargs=2, metavar=("NAMES", "MODULES"), help="full lists, to take the facts anew from"
    )
    options = parser.parse_args(arguments)
    if options.facts:
        facts = facts_from(*(json.loads(path.read_text(encoding="utf-8")) for path in options.facts))
        FACTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    found = measure()
    for package, entries in found.items():
        print(_row(package, entries.values()))
    for path, text in texts(found).items():
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(ROOT)} is not up to date")
            return 1
    print(f"{100 * share(found):.2f} % present")
    return 0


if __name__ == "__main__":
    sys.exit(main())
