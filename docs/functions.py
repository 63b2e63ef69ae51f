"""The pages of functions and ops, from their documentation: one page for each kind of thing that they do."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import check_examples
import theano.tensor as T
from theano import scalar as scal


class Page(NamedTuple):
    """A page: where it is, what it is called, what it says first, and the packages whose functions are on it."""

    file: str
    title: str
    head: str
    modules: tuple[str, ...]


PAGES = (
    Page("creation", "New tensors", "Constants, ranges, and tensors filled with something.",
         ("tensor.create", "tensor.arange")),
    Page(
        "types", "Types and variables",
        "A type is a dtype and a pattern, which says of each dimension whether its length is always 1. "
        "`T.dmatrix`, `T.lvector` and their like are made of a letter for the dtype (`b w i l` for int8 to int64, "
        "`f d` for float32 and float64, `c z` for complex64 and complex128) and a kind.",
        ("tensor.constructors", "tensor.type", "tensor.type_other", "tensor.convert", "tensor.sharedvar",
         "tensor.utils", "tensor.memory"),
    ),
    Page(
        "elementwise", "Element by element",
        "Functions of numbers, taken for each element. Inputs of fewer dimensions get new ones on the left; a "
        "dimension stretches where its type says that its length is 1. How exact they are: [the table](../maths.md).",
        ("tensor.elemwise", "tensor.functions", "tensor.xlogx"),
    ),
    Page("reductions", "Reductions", "Sums, extremes, means, along some axes or all.", ("tensor.reduce",)),
    Page("shapes", "Shapes", "Reshape, reorder, join, split.", ("tensor.shape", "tensor.join")),
    Page(
        "indexing", "Indexing", "`x[...]` takes what NumPy takes. What is written to a part makes a new tensor.",
        ("tensor.index",),
    ),
    Page("sorting", "Sorting and counting", "Orders, the largest few, what is there.", ("tensor.sort",)),
    Page("products", "Products", "Products of vectors, matrices and batches of them.", ("tensor.blas",)),
    Page("linalg", "Linear algebra", "`T.nlinalg` and `T.slinalg`: factors, inverses, equations.", ("tensor.linalg",)),
    Page(
        "numpy", "Further functions of NumPy",
        "Their parameters and results are NumPy's, which has more to say of each. `T.linalg` takes matrices and stacks "
        "of matrices. [All names](../numpy.md).",
        ("tensor.composed",),
    ),
    Page("fft", "Fourier transforms", "`T.fft`: complex numbers are pairs along the last axis.", ("tensor.fft",)),
    Page(
        "extra_ops", "Extra operations", "Cumulative sums, repeats, windows, diagonals, and what stands by itself.",
        ("tensor.expressions", "tensor.device", "tensor.testing.verify", "tensor.io", "tensor.batching", "tensor.rows",
         "tensor.control"),
    ),
    Page("nnet", "Neural networks", "`T.nnet`: activations, softmax and cross entropies.", ("tensor.nnet",)),
    Page(
        "convolution", "Convolution and pooling", "`T.nnet`: filters over images; `theano.tensor.signal`: pooling.",
        ("tensor.conv", "tensor.pool"),
    ),
    Page("scalar", "Numbers", "`theano.scalar`: what the functions of tensors are made of.", ("scalar",)),
)  # fmt: skip


def module_of(thing: Any) -> str:
    """Return where something is defined, without the leading ``theano.``."""
    return str(getattr(thing, "__module__", None) or type(thing).__module__).removeprefix("theano.")


def of_page(page: Page) -> dict[str, Any]:
    """Return what is on a page, by the name that programs use."""
    found = {}
    for name, thing in check_examples.public():
        if any(module_of(thing) == module or module_of(thing).startswith(module + ".") for module in page.modules):
            found[name.replace("theano.tensor.", "T.").replace("theano.scalar.", "theano.scalar.")] = thing
    return found


def signature(name: str, thing: Any) -> str:
    """Return how something is called, without annotations."""
    scalar_op = getattr(thing, "scalar_op", thing)
    if isinstance(scalar_op, scal.ScalarOp) and not inspect.isfunction(thing):
        names = getattr(scalar_op, "arguments", ()) if scalar_op.nin >= 0 else ("*xs",)
        return f"{name}({', '.join(names)})"
    function = thing if inspect.isfunction(thing) else thing.make_node
    parameters = [
        p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(function).parameters.values()
    ]
    return f"{name}{inspect.Signature(parameters)}"


SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def body(doc: str) -> Iterator[str]:
    """Yield the pieces of a page that a docstring makes: text, lists of parameters, examples.

    Examples
    --------
    >>> list(body("Do it.\\n\\nParameters\\n----------\\nx : tensor\\n    What.\\n"))
    ['Do it.', '**Parameters**', '`x : tensor`\\n: What.\\n']
    """
    first, *rest = SECTION.split(doc)
    if first.strip():
        yield _prose(first.strip())
    for title, text in zip(rest[::2], rest[1::2], strict=True):
        yield f"**{title}**"
        if title == "Examples":
            yield f"```pycon\n{text.strip()}\n```"
        elif title in ("Notes", "See Also", "Warnings", "References"):
            yield _prose(text.strip())
        else:
            yield _entries(text)


def _entries(text: str) -> str:
    """Return a list of definitions: lines without indent are the terms."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line and not line.startswith(" "):
            lines.append(f"\n`{line}`" if lines else f"`{line}`")
        elif line.strip():
            said = _prose(line.strip())
            lines.append(f": {said}" if lines[-1].lstrip().startswith("`") else f"  {said}")
    return "\n".join(lines) + "\n"


def _prose(text: str) -> str:
    """Return text of reStructuredText as Markdown: names of functions and code in backquotes."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)


def as_users_write(name: str, thing: Any, doc: str) -> str:
    """Return a docstring in whose examples functions of its module are called as users do, not as the module itself.

    Examples
    --------
    >>> as_users_write("T.arange", T.arange, ">>> arange(len(x)).eval()\\narray([0])")
    '>>> T.arange(len(x)).eval()\\narray([0])'
    """
    prefix, _, _ = name.rpartition(".")
    module = sys.modules.get(getattr(thing, "__module__", ""))
    shown = sys.modules["theano.scalar" if prefix == "theano.scalar" else f"theano.tensor{prefix.removeprefix('T')}"]

    def spelled(found: re.Match[str]) -> str:
        there = getattr(module, found[0], None)
        return f"{prefix}.{found[0]}" if there is not None and getattr(shown, found[0], None) is there else found[0]

    called = r"(?<=@)\w+|(?<![\w.])[A-Za-z_]\w*(?=\()"
    return re.sub(r"(?m)^(?:>>>|\.\.\.) .*$", lambda line: re.sub(called, spelled, line[0]), doc)


def page_text(page: Page) -> str:
    """Return a page: functions with all that is said of them, then one line for each class of ops."""
    found = of_page(page)
    functions = {name: thing for name, thing in found.items() if not isinstance(thing, type)}
    classes = {name: thing for name, thing in found.items() if isinstance(thing, type)}
    lines = [f"# {page.title}", "", page.head, ""]
    plain = {n: f for n, f in functions.items() if isinstance(getattr(f, "scalar_op", f), scal.ScalarOp)}
    if plain:
        lines += ["| call | example |", "|---|---|"]
        lines += [_row(name, thing) for name, thing in plain.items()]
        lines.append("")
    for name, thing in functions.items():
        if name in plain:
            continue
        lines += [f"## {name}", "", f"```text\n{signature(name, thing)}\n```", ""]
        for piece in body(as_users_write(name, thing, check_examples.documentation(thing))):
            lines += [piece, ""]
    if classes:
        lines += ["## Classes of ops", ""]
        lines += ["Their instances are what the functions apply; `isinstance(node.op, ...)` finds them.", ""]
        lines += ["| class | what its instances do |", "|---|---|"]
        for name, thing in classes.items():
            said = check_examples.documentation(thing).split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            lines.append(f"| `{name}` | {_prose(said)} |")
    return "\n".join(lines) + "\n"


def _row(name: str, thing: Any) -> str:
    """Return an operation on elements as a row of a table: of its documentation the sentence, and the example's end."""
    doc = check_examples.documentation(thing)
    lines = [line for line in doc.split("Examples\n")[-1].splitlines() if line and not line.startswith("-")]
    example = "<br>".join(f"`{line.removeprefix('>>> ')}`" for line in lines if not line.startswith(">>> import"))
    said = doc.split("\n\n")[0].replace("\n", " ")
    call, example = (text.replace("|", "\\|") for text in (f"`{signature(name, thing)}`<br>{_prose(said)}", example))
    return f"| {call} | {example} |"


DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip

DTYPE_HEAD = """# Dtypes of results

Which dtype comes out is decided when an expression is written, from the dtypes of the inputs alone. With
`config.cast_policy=custom`, the default, a plain Python number becomes a constant of the smallest dtype that holds it
(of floats: the first of `config.autocast_float_as` that holds it exactly, floatX where that is narrower), so that it
rarely widens what it meets; with `numpy+floatX` it is what NumPy makes of it, and float64 becomes floatX.

```python
>>> import theano, theano.tensor as T
>>> (T.bvector() + 1).dtype, (T.bvector() + 1000).dtype, (T.fvector() * 0.5).dtype
('int8', 'int16', 'float32')
>>> (T.bvector() / T.bvector()).dtype, (T.bvector() // T.bvector()).dtype
('float64', 'int8')
>>> T.bvector().sum().dtype, T.fvector().sum().dtype, T.bvector().mean().dtype
('int64', 'float32', 'float64')

```

Division of whole numbers by `/` gives floatX; `config.int_division` says what `T.div_proxy`, Python 2's division, does.
Sums and products of whole numbers are of 64 bits; of floats they keep their dtype, while what is added up inside
has the dtype `acc_dtype`.

## Two inputs

The dtype of `x + y`, of all pairs:

"""


def dtypes_page() -> str:
    """Return the page of the dtypes of results: of sums and of quotients of all pairs."""
    lines = [DTYPE_HEAD + _pairs(lambda a, b: scal.upcast(a, b)), "\nThe dtype of `x / y`:\n"]
    lines.append(_pairs(lambda a, b: T.true_div(T.TensorType(a, ())(), T.TensorType(b, ())()).dtype))
    lines.append("\n## One input\n\n| | `exp` | `abs_` | `sum` | `prod` | `mean` | `max` | `argmax` | `cumsum` |")
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for dtype in DTYPES:
        x = T.TensorType(dtype, (False,))()
        row = [_dtype(f, x) for f in (T.exp, T.abs_, T.sum, T.prod, T.mean, T.max, T.argmax, T.cumsum)]
        lines.append(f"| **{dtype}** | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _dtype(function: Any, x: Any) -> str:
    try:
        return str(function(x).dtype)
    except TypeError:
        return ""


def _pairs(rule: Any) -> str:
    lines = [f"| | {' | '.join(DTYPES)} |", "|---" * (len(DTYPES) + 1) + "|"]
    return "\n".join([*lines, *(f"| **{a}** | {' | '.join(rule(a, b) for b in DTYPES)} |" for a in DTYPES)])


INDEX = """# Tensors

Every public function of `theano.tensor` (as `T`) and `theano.scalar`, with an example that is run by the tests. These
pages are written from the code when the documentation is built.

```{toctree}
:maxdepth: 1

"""


def pages() -> dict[str, str]:
    """Return the text of each file, by its place below docs."""
    found = {f"library/tensor/{page.file}.md": page_text(page) for page in PAGES}
    found["library/tensor/dtypes.md"] = dtypes_page()
    found["library/tensor/index.md"] = INDEX + "\n".join([*(page.file for page in PAGES), "dtypes"]) + "\n```\n"
    return found
