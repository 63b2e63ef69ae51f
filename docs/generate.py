"""Write the pages whose content is in the code or measured: the flags, the errors, the functions, the rules."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import functions
import gallery
import numpy_names
import pymc_models
import speed
import stages

import theano
import theano.compile.checkpoint  # the rules of these come with them
import theano.scan
import theano.sparse
import theano.tensor
import theano.tensor.conv.op
import theano.tensor.nnet.blocksparse
import theano.typed_list
from theano import errors
from theano.lowering.table import Lowering, lowerings
from theano.rewriting import PatternRule, Phase, Phases, phases
from theano.scalar.cbody import SEQUENTIAL
from theano.scalar.registry import OPS
from theano.settings.flags import TABLE
from theano.settings.kinds import ConfigParam

CONFIG_HEAD = """# Flags

`theano.config` holds the flags. They are read once, when theano is imported: first from the rc file, then from the
environment, which wins.

```sh
THEANO_FLAGS=floatX=float32,optimizer=fast_compile python3 program.py
```

The rc file is `~/.theanorc`, or the files that `THEANORC` lists; the last one wins.

```ini
[global]
floatX = float32

[gcc]
cxxflags = -g
```

A program can read and set most flags, for good or for a while:

```python
>>> import theano
>>> theano.config.floatX
'float64'
>>> with theano.config.change_flags(floatX="float32"):
...     print(theano.tensor.matrix().dtype)
float32

```

Names with a dot can also be written with two underscores: `gcc__cxxflags` is `gcc.cxxflags`. A name or value that
does not exist is an error that says which ones do. The same list, with the values in force, is printed by
`python -c "import theano; print(theano.config)"`.

"""

ERRORS_HEAD = """# Errors

Where the old Theano documents the class of an exception, the one raised here is that class or one made from it, so
that programs which catch it work. All are in `theano.errors`.

"""


def version() -> str:
    """Return the version that the pages describe."""
    return theano.__version__


def config_page() -> str:
    """Return the page of flags."""
    works = [param for param in TABLE if not param.inert]
    inert = [param for param in TABLE if param.inert]
    lines = [CONFIG_HEAD, "## Flags that do something\n"]
    lines += [_flag(param) for param in works]
    lines.append("\n## Flags that are accepted and do nothing\n")
    lines.append("Programs and rc files may set them; their values are checked, and nothing depends on them.\n")
    lines.append("| flag | default | why |\n|---|---|---|")
    lines += [f"| `{param.name}` | {_default(param)} | {param.inert} |" for param in inert]
    return "\n".join(lines) + "\n"


def _flag(param: ConfigParam) -> str:
    accepts = param.accepts().removeprefix("one of ")
    fixed = "" if param.mutable else "; fixed at import"
    takes = f"*Takes* {_escape(accepts)}{fixed}. *Default:* {_default(param)}"
    return f"`{param.name}`\n: {_escape(param.doc)}\n: {takes}\n"


def _default(param: ConfigParam) -> str:
    if callable(param.default):
        return "found on the machine"
    return "empty" if param.default == "" else f"`{param.default}`"


def _escape(text: str) -> str:
    return re.sub(r"([*_<|])", r"\\\1", text)


def errors_page() -> str:
    """Return the page of errors."""
    lines = [ERRORS_HEAD]
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, BaseException) and kind.__module__ == errors.__name__:
            bases = ", ".join(f"`{base.__name__}`" for base in kind.__mro__[1:-3] if base is not errors.TheanoError)
            doc = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
            lines.append(f"## {name}\n\n{doc}\n" + (f"\n*Is a* {bases}.\n" if bases else ""))
    return "\n".join(lines)


MATHS_HEAD = """# How exact and how fast the functions are

Every operation of floats whose C form is an approximation, evaluated at {points:,} points or more for each dtype:
uniformly over the interval where its tests draw, uniformly over all exponents, around zero, one and other landmarks
at all distances, where exponentials overflow and underflow.
Functions computed for one number after the other (those of an order or shape, owens_t, ndtri_exp) at {few:,} points or
more, of orders of both signs up to some hundreds, near the argument and far from it. Shapes of gamma functions go up to
2,000, of beta functions to 1,000; inverses have shapes above 1/50. The exact values have proven digits (Arb);
an error is given in units of the last place (ULP) of the exact value. float16 is computed as float32 and rounded once.

- *special values*: signed zeros, infinities, nan, the least and the largest numbers, small whole and half numbers, in
  all pairs where there are two arguments;
- *time*: nanoseconds per element, 16,384 elements in the cache, one thread. NumPy stands for the form that computes
  without a compiler, NumPy's or SciPy's; libm is the C library's function called for one number after the other;
- *gcc*: milliseconds of the compiler for the function, above a loop that copies.

Measured on {date}: {processor}; {software}. Written by `nox -s maths`, never by hand.
"""


def maths_page() -> str:
    """Return the page of measured errors and speeds."""
    found = json.loads((Path(__file__).parent / "library" / "maths.json").read_text(encoding="utf-8"))
    counts = [(name, row["points"]) for name, rows in found["functions"].items() for row in rows.values()]
    points, few = (min(n for name, n in counts if (name in SEQUENTIAL) == one_by_one) for one_by_one in (False, True))
    lines = [MATHS_HEAD.format(points=points, few=few, **found["machine"])]
    for dtype in ("float64", "float32"):
        lines.append(f"## {dtype}\n")
        lines.append("| function | max ULP | mean | worst at | special values | ns | NumPy | libm | gcc ms |")
        lines.append("|---|---|---|---|---|---|---|---|---|")
        lines += [_maths_row(name, row[dtype]) for name, row in found["functions"].items()]
        lines.append("")
    lines.append("(*) computed by the C library.\n")
    notes = [(name, OPS[name].ulp_floor) for name in found["functions"] if getattr(OPS[name], "ulp_floor", 0)]
    if notes:
        lines.append(FLOOR_NOTE)
        lines += [f"- `{name}`: {inspect.getdoc(f) if callable(f) else f'{f:g}'}" for name, f in notes]
        lines.append("")
    return "\n".join(lines)


FLOOR_NOTE = """Near a zero that is not itself a float, a relative error has no bound that any library keeps: the
function changes more from one float to the next. There an error is counted in units of the last place of:
"""


def _maths_row(name: str, row: dict[str, Any]) -> str:
    ns = {key: "" if value is None else f"{value:.2f}" for key, value in row["ns"].items()}
    worst = ", ".join(f"{float.fromhex(at):.6g}" for at in row["at"])
    wrong = f"{len(row['wrong'])} wrong" if row["wrong"] else "right"
    return (f"| `{name}`{'' if row['own'] else ' (*)'} | {row['max']:.2f} | {row['mean']:.2f} | {worst} | {wrong} "
            f"| {ns['ours']} | {ns['numpy']} | {ns['libm']} | {max(round(row['gcc_ms']), 0)} |")  # fmt: skip


RULES_HEAD = """# Rules

Before a function is compiled its graph is rewritten by rules, in the phases of this table. A mode picks some of them
by tags: a tag of their own, the name of the phase they stand in, or their own name.

```python
>>> import theano, theano.tensor as T
>>> x = T.dvector("x")
>>> mode = theano.Mode("cvm", "fast_run").excluding("local_func_inv")
>>> theano.pp(theano.function([x], T.log(T.exp(x)), mode=mode).maker.fgraph.outputs[0])
'Elemwise{Composite{log(exp(i0))}}(x)'
>>> theano.function([x], T.log(T.exp(x))).maker.fgraph.outputs[0].owner.inputs
[x]

```

`mode.including(...)`, `mode.excluding(...)` and `mode.requiring(...)` take any number of tags; the flags
`optimizer_including`, `optimizer_excluding` and `optimizer_requiring` take them with colons between, for all functions
that name no mode. Inner names of Theano's classes (`TopoOptimizer`, `FromFunctionLocalOptimizer`, `PatternSub`, ...),
which it also takes as tags, pick nothing here.

What a rule *keeps*: `exact` is the same bits; `close` the same within rounding (often it is the better of the two);
`finite` the same where everything is finite and no divisor is zero; `approximate` only that one has to ask for it.

"""


def rules_page() -> str:
    """Return the page of rewriting: the sequence, each rule, and the documented names that are not here."""
    sequence: list[tuple[float, str, str, str]] = []
    rules: dict[str, tuple[Any, list[str], set[str]]] = {}
    _survey(phases, "", sequence, rules)
    lines = [RULES_HEAD, "| position | entry | tags |\n|---|---|---|"]
    lines += [f"| {position:g} | {inside}`{name}` | {tags} |" for position, inside, name, tags in sequence]
    patterns = sum(isinstance(rule, PatternRule) for rule, _, _ in rules.values())
    counted = f"{patterns} of these {len(rules)} rules are patterns, the others functions of a node."
    lines += ["\n## Each rule\n", f"{counted}\n"]
    lines += ["| rule | in | tags | keeps | what it does |\n|---|---|---|---|---|"]
    for name in sorted(rules, key=str.lower):
        rule, places, tags = rules[name]
        lines.append(f"| `{name}` | {_names(places)} | {_names(sorted(tags))} | {rule.keeps} | {_says(rule)} |")
    lines.append("\n## Documented names that are not here\n")
    absent = json.loads((Path(__file__).parent / "data" / "rules_absent.json").read_text(encoding="utf-8"))
    lines += [f"- {about}: {_names(group['names'])}: {group['why']}." for about, group in absent.items()]
    return "\n".join(lines) + "\n"


def _says(rule: Any) -> str:
    """Return what a rule does: the first paragraph that its author wrote, or its formula."""
    if isinstance(rule, PatternRule) and rule.__doc__ == PatternRule.__doc__:
        # Ops as they are written; what a function puts there is said by its pattern alone.
        text = re.sub(r"Elemwise\{(\w+),no_inplace\}", r"\1", repr(rule).partition(": ")[2].removesuffix(">"))
        text = f"`{re.sub(r'<function .*>', '...', text)}`"
    else:
        text = " ".join((inspect.getdoc(rule) or "").split("\n\n")[0].split()).replace("``", "`")
    return text.replace("|", "\\|")


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _survey(
    entries: Phases,
    inside: str,
    sequence: list[tuple[float, str, str, str]],
    rules: dict[str, tuple[Any, list[str], set[str]]],
) -> None:
    """Gather the entries of a sequence and the rules in them."""
    for name in entries.names():
        what, tags = entries[name], entries.tags(name)
        sequence.append((entries.position(name), inside, name, _names(sorted(tags - {name}))))
        if isinstance(what, Phases):
            _survey(what, f"{name}, ", sequence, rules)
        elif isinstance(what, Phase):
            for rule in what:
                _, places, own = rules.setdefault(rule.name, (rule, [], set()))
                places.append(name)
                own.update(what.tags(rule.name) - {rule.name, name})


COMPILED_HEAD = """# What is compiled

Each row is an entry of the lowering table: nodes of this op, and of classes made from it, become that kernel if their
operands are what it accepts. An op may have several entries, the first that fits counts. What fits none runs as NumPy
code. A kernel with a name was compiled with its layer; the others are written in C for each expression and compiled
when a function is.

Operands have names of the entry's own, inputs before the arrow and outputs behind it; a star stands for any number of
them. Where nothing else is said, an operand may be bool, any integer, float or complex number.

"""


def compiled_page() -> str:
    """Return the page of what is compiled, from the lowering table."""
    rows: dict[str, list[str]] = {}
    for entry in lowerings():
        if not entry.op.__module__.startswith("theano."):
            continue
        family = ".".join(entry.op.__module__.split(".")[:3])
        rows.setdefault(family, []).append(_lowering_row(entry))
    lines = [COMPILED_HEAD.rstrip() + "\n"]
    for family in sorted(rows):
        lines.append(f"## {family}\n\n| op | operands | accepted | kernel | what it does |\n|---|---|---|---|---|")
        lines += [*sorted(rows[family]), ""]
    return "\n".join(lines)


def _lowering_row(entry: Lowering) -> str:
    kernel = getattr(entry.becomes, "symbol", "")
    signature = f"`{entry.accepts.signature}`" if entry.accepts else ""
    told = [str(entry.accepts)] if entry.accepts else []
    if entry.when:
        told.append((inspect.getdoc(entry.when) or "").removeprefix("Tell whether ").rstrip("."))
    accepted = "; ".join(told)
    made = "" if entry.becomes is None else f"`{kernel}`" if kernel else "written in C"
    does = entry.doc.removeprefix("Return ").replace("``", "`").rstrip(".")
    return f"| `{entry.op.__name__}` | {signature} | {accepted} | {made} | {does} |"


DIFFERENCES_HEAD = """# What calls give otherwise than in Theano 1.0.5

`tools/conformance` keeps what Theano 1.0.5 answered to {calls:,} calls of its public interface: the dtype, broadcast
pattern and digits of each result, or the class of the error. The tests compare this Theano with all of them. These are
the differences, and why they are there. What could decide about a program is said again in
[Coming from another version](../coming_from.md).

| what differs, and why | calls |
|---|---|
"""


def differences_page() -> str:
    """Return the page of the differences from Theano: each reason, and of how many recorded calls."""
    folder = Path(__file__).parent
    table = tomllib.loads((folder.parent / "tools" / "conformance" / "reasons.toml").read_text(encoding="utf-8"))
    found = json.loads((folder / "data" / "conformance.json").read_text(encoding="utf-8"))
    reasons = dict.fromkeys(each["because"] for each in table["reason"])
    counts = sorted(((found["reasons"].get(each, 0), each) for each in reasons), key=lambda pair: -pair[0])
    rows = "".join(f"| {because.replace('|', chr(92) + '|')} | {count:,} |\n" for count, because in counts)
    return DIFFERENCES_HEAD.format(calls=found["calls"]) + rows


def pages() -> dict[str, str]:
    """Return the text of each page, by its place below docs."""
    return {
        "library/config.md": config_page(), "library/maths.md": maths_page(), "library/rules.md": rules_page(),
        "library/compiled.md": compiled_page(), "library/differences.md": differences_page(),
        "library/numpy.md": numpy_names.page(), "errors.md": errors_page(),
        **functions.pages(), **stages.pictures(), **gallery.pages(), **speed.pages(),
        **pymc_models.pages(),
    }  # fmt: skip


def is_tracked(place: str) -> bool:
    """Return whether git has a page. The build writes all others, which ``.gitignore`` lists."""
    return not place.startswith(("library/tensor/", "library/numpy.md", "gallery/")) and not place.endswith(".rst")


def write_pages(docs: Path, places: Callable[[str], bool] = lambda place: True) -> None:
    """Write the pages of some places, where they have changed."""
    for place, text in pages().items():
        if not places(place):
            continue
        path = docs / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(__file__).parent)
