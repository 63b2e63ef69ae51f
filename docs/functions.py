"""The reference: what the public modules have, one page for each kind of thing that it does.

Docstrings become reStructuredText by numpydoc, below a directive of Sphinx's domain ``py``. So the index, the inventory
for other projects and references between pages follow. Names of the same object share one entry.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from numpydoc.docscrape_sphinx import SphinxDocString

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import check_examples
import theano.tensor as T
from theano import scalar as scal
from theano.graph import Op, Type

#: The modules whose names are public. An object belongs to the first one that has it.
MODULES = (
    "theano", "theano.tensor", "theano.tensor.nnet", "theano.sparse", "theano.scan", "theano.distributed",
    "theano.gpuarray", "theano.tensor.signal.pool", "theano.tensor.signal.conv", "theano.tensor.linalg",
    "theano.tensor.nlinalg", "theano.tensor.slinalg", "theano.tensor.fft", "theano.gradient", "theano.printing",
    "theano.scalar",
)  # fmt: skip
WHOLE = MODULES[:7]  #: Of these, all that a star import brings has an entry, be it defined elsewhere.

FIRST = {"theano.function", "theano.shared", "theano.grad", "theano.scan"}
CONSTANTS = (tuple, list, frozenset, float, str)

#: numpydoc's, which it would read and compile for each docstring.
TEMPLATE = SphinxDocString("").template

#: Classes whose methods programs call.
CLASSES = {
    "Apply", "Config", "DistributedFunction", "Function", "FunctionGraph", "GpuArray", "Mode", "Op", "OpFromGraph",
    "ProfileStats", "ShardedArray", "SharedVariable", "SparseVariable", "TensorSharedVariable", "TensorVariable",
    "Type", "Variable",
}  # fmt: skip


class Page(NamedTuple):
    """A page: where it is, its title, what it says first, and what is on it by the modules that define it."""

    file: str
    title: str
    head: str
    modules: tuple[str, ...]


PAGES = (
    Page("theano", "Functions, shared variables, gradients",
         "What ``theano`` itself has: it compiles expressions, keeps values between calls and differentiates.",
         ("compile", "gradient", "aot", "batching", "updates", "settings", "tensor.callbacks", "runtime.profile")),
    Page("scan", "Loops", "``theano.scan`` and its relatives. :doc:`The tutorial <../tutorial/loops>` introduces them.",
         ("scan",)),
    Page("tensor/creation", "New tensors", "Constants, ranges, and tensors filled with a value.",
         ("tensor.create", "tensor.arange")),
    Page(
        "tensor/types", "Types and variables",
        "A type is a dtype and a pattern, which says of each dimension whether its length is always 1. "
        "``T.dmatrix``, ``T.lvector`` and so on consist of a letter for the dtype (``b w i l`` for int8 to int64, "
        "``f d`` for float32 and float64, ``c z`` for complex64 and complex128) and a kind.",
        ("tensor.constructors", "tensor.type", "tensor.type_other", "tensor.closeness", "tensor.convert",
         "tensor.sharedvar", "tensor.variable", "tensor.var"),
    ),
    Page(
        "tensor/elementwise", "Element by element",
        "Functions of numbers, computed for each element. Inputs of fewer dimensions get new ones on the left; a "
        "dimension stretches where its type says that its length is 1. A NaN in gives a NaN out, where nothing else "
        "is said; empty arrays give empty arrays. :doc:`A table <../maths>` has errors and speeds.",
        ("tensor.elemwise", "tensor.functions", "tensor.xlogx"),
    ),
    Page("tensor/reductions", "Reductions", "Sums, extremes and means, along some axes or all.", ("tensor.reduce",)),
    Page("tensor/shapes", "Shapes", "Reshape, reorder, join, split.", ("tensor.shape", "tensor.join")),
    Page(
        "tensor/indexing", "Indexing",
        "``x[...]`` takes the indices that NumPy takes. Assignment to a part makes a new tensor.", ("tensor.index",),
    ),
    Page("tensor/sorting", "Sorting and counting", "Orders, the largest few, distinct values.", ("tensor.sort",)),
    Page("tensor/products", "Products", "Products of vectors, matrices and batches of them.", ("tensor.blas",)),
    Page("tensor/linalg", "Linear algebra",
         "``T.nlinalg`` and ``T.slinalg``: factors, inverses, equations. ``T.linalg`` takes stacks of matrices, too.",
         ("tensor.linalg",)),
    Page(
        "tensor/numpy", "Further functions of NumPy",
        "Their parameters and results are NumPy's, whose documentation has the details. ``T.linalg`` takes matrices "
        "and stacks of matrices. :doc:`All names <../numpy>`.",
        ("tensor.composed",),
    ),
    Page("tensor/fft", "Fourier transforms", "``T.fft``: complex numbers are pairs along the last axis.",
         ("tensor.fft",)),
    Page(
        "tensor/extra_ops", "Extra operations", "Cumulative sums, repeats, windows, diagonals and others.",
        ("tensor.expressions", "tensor.device", "tensor.testing.verify", "tensor.io", "tensor.batching", "tensor.rows",
         "tensor.control"),
    ),
    Page("tensor/nnet", "Neural networks", "``T.nnet``: activations, softmax and cross entropies.", ("tensor.nnet",)),
    Page(
        "tensor/convolution", "Convolution and pooling",
        "``T.nnet``: filters over images; ``T.signal``: pooling.", ("tensor.conv", "tensor.pool", "tensor.signal"),
    ),
    Page("sparse_functions", "Functions of sparse matrices",
         "``theano.sparse``. :doc:`sparse` has a table by purpose, and what is promised.", ("sparse",)),
    Page("distributed", "Distributed functions",
         "``theano.distributed``. :doc:`The tutorial <../tutorial/distributed>` introduces it.", ("distributed",)),
    Page("gpuarray", "Devices", "``theano.gpuarray``. :doc:`The tutorial <../tutorial/devices>` introduces it.",
         ("gpuarray",)),
    Page("tensor/helpers", "Helpers of extensions", "Functions that ops and rules call.",
         ("tensor.utils", "tensor.memory", "tensor.index.results", "tensor.index.lengths", "tensor.elemwise.symbols")),
    Page("tensor/scalar", "Numbers", "``theano.scalar``: functions of tensors consist of these.", ("scalar",)),
    Page("graph", "Graphs and printing", "Variables, ops and types, and how they are printed.", ("",)),
)  # fmt: skip


class Entry(NamedTuple):
    """An object, with all its public names."""

    names: list[str]
    thing: Any


def module_of(thing: Any) -> str:
    """Return where something is defined, without the leading ``theano.``."""
    return str(getattr(thing, "__module__", None) or type(thing).__module__).removeprefix("theano.")


def listed(module: str) -> Collection[str]:
    """Return what a star import of a module brings, where that is said."""
    return getattr(importlib.import_module(module), "__all__", ())


def public_names(module: str) -> Iterator[tuple[str, Any]]:
    """Yield the names of a module that a reference has, with their objects."""
    here = importlib.import_module(module)
    for name in sorted({*dir(here), *listed(module)}):
        thing = getattr(here, name, None)
        if isinstance(thing, ModuleType):
            thing = getattr(thing, "__wrapped__", thing)  # theano.scan is a module and a function
        where = str(getattr(thing, "__module__", None) or type(thing).__module__)
        constant = isinstance(thing, CONSTANTS) and name in listed(module)
        ours = where.partition(".")[0] == "theano" and not isinstance(thing, ModuleType)
        if (ours or constant) and not name.startswith(("_", "register_")):
            yield name, thing


def public() -> list[str]:
    """Return the names that the inventory must have: what ``theano`` shows, and what star imports of `WHOLE` bring.

    Examples
    --------
    >>> {"theano.grad", "theano.tensor.where", "theano.tensor.nnet.relu", "theano.sparse.dot"} <= set(public())
    True
    """
    return [f"{module}.{name}" for module in WHOLE for name, _ in public_names(module)
            if module == "theano" or name in listed(module)]  # fmt: skip


@cache
def entries() -> dict[str, list[Entry]]:
    """Return what is on each page: objects in the order of their names."""
    found: dict[Any, Entry] = {}
    for module in MODULES:
        for name, thing in public_names(module):
            inside = module == "theano" or f"{module_of(thing)}.".startswith(f"{module.removeprefix('theano.')}.")
            if id(thing) in found and not inside and not (module in WHOLE and name in listed(module)):
                continue
            # Types differ in their dtypes alone, functions of several variables likewise.
            same = _kind(name, thing) or id(thing)
            found.setdefault(same, Entry([], thing)).names.append(f"{module}.{name}")
    pages: dict[str, list[Entry]] = {page.file: [] for page in PAGES}
    for entry in found.values():
        entry.names.sort(key=lambda name: _rank(name, entry.thing))
        pages[_page_of(entry)].append(entry)
    for found_there in pages.values():
        found_there.sort(key=_place)
    return pages


def _place(entry: Entry) -> tuple[bool, bool, str]:
    """Return what puts the functions that all programs call first, then the others, and classes last."""
    name = entry.names[0].rpartition(".")[2]
    return isinstance(entry.thing, type), entry.names[0] not in FIRST, name.lower()


def _rank(name: str, thing: Any) -> tuple[int, bool, int, str]:
    """Return what puts the name under which something is defined before its aliases."""
    module, _, short = name.rpartition(".")
    return MODULES.index(module), short != getattr(thing, "__name__", short), len(short), name


def _kind(name: str, thing: Any) -> str:
    """Return a key for what differs in its dtype alone: ``T.dmatrix``, ``T.dmatrices``."""
    if isinstance(thing, Type) and hasattr(thing, "dtype"):
        return f"{type(thing).__name__} {name[1:] if hasattr(thing, 'broadcastable') else name}"
    if getattr(thing, "__module__", "") == "theano.tensor.constructors" and name.endswith("s"):
        return name[1:] if name[0] in "bwilfdcz" and hasattr(T, name[1:]) else name
    return ""


def _page_of(entry: Entry) -> str:
    where = module_of(entry.thing)
    if isinstance(entry.thing, CONSTANTS):
        where = entry.names[0].rpartition(".")[0].removeprefix("theano.") + ".type"

    def closeness(page: Page) -> int:
        return max((len(m) for m in page.modules if f"{where}.".startswith(m and f"{m}.")), default=-1)

    return max(PAGES, key=closeness).file


def signature(thing: Any) -> str:
    """Return how something is called, without annotations."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return re.sub(r"<(?:\w+\.)*(?:function|class|object)? ?'?([\w.]+)[^>]*>", r"\1", str(inspect.Signature(plain)))


@cache
def _public() -> dict[int, list[str]]:
    """Return the public names of objects, by their identities."""
    return {id(entry.thing): entry.names for found in entries().values() for entry in found}


def as_users_write(name: str, thing: Any, doc: str) -> str:
    """Return a docstring in whose examples functions are called as users do, not as their module itself.

    Examples
    --------
    >>> as_users_write("theano.tensor.arange", T.arange, ">>> arange(len(x)).eval()\\narray([0])")
    '>>> T.arange(len(x)).eval()\\narray([0])'
    """
    package, module = name.rpartition(".")[0], sys.modules.get(getattr(thing, "__module__", ""))

    def spelled(found: re.Match[str]) -> str:
        names = _public().get(id(getattr(module, found[0], None)), [])
        near = [n for n in names if n.rpartition(".")[0] == package] or names or [found[0]]
        return near[0].replace("theano.tensor.", "T.", 1)

    called = r"(?<=@)\w+|(?<![\w.])(?:[A-Z]\w*(?=[(.)])|[a-z_]\w*(?=\())"
    return re.sub(r"(?m)^(?:>>>|\.\.\.) .*$", lambda line: re.sub(called, spelled, line[0]), doc)


def documentation(entry: Entry) -> str:
    """Return the docstring of an object, with examples as users write them; of a class of ops, the first paragraph.

    Programs meet these as ``node.op``; what makes them is of interest to who extends them.
    """
    doc = re.sub(r"\A\w+\(.*\)\n\n", "", check_examples.documentation(entry.thing))  # pages have the call as a heading
    cls = type(entry.thing)
    if isinstance(entry.thing, Op) and entry.thing.__doc__ == cls.__doc__ and inspect.signature(cls).parameters:
        # Of an instance the parameters of its class are settled.
        doc = re.sub(r"(?ms)^Parameters\n-+\n.*?(?=^\w[\w ]+\n--|\Z)", "", doc)
    if isinstance(entry.thing, type) and issubclass(entry.thing, Op) and entry.thing.__name__ not in CLASSES:
        doc = doc.split("\n\n")[0] + "\n"
    return as_users_write(entry.names[0], entry.thing, doc)


def directive(kind: str, names: list[str], doc: str, inside: str = "", listed: bool = True) -> str:
    """Return a directive of the domain py, with a docstring as its content; the page's contents may list it."""
    first, *rest = names
    lines = [f".. py:{kind}:: {first}", *(f"   {' ' * len(kind)}      {name}" for name in rest)]
    # Each page has the contents of all pages in it: a build takes twice as long with all objects there.
    lines += [] if listed else ["   :no-contents-entry:"]
    text = re.sub(r"\n{3,}", "\n\n", str(SphinxDocString(doc, config={"template": TEMPLATE})))
    content = f"{text.strip()}\n\n{inside}".strip()
    return "\n".join(lines) + "\n\n" + textwrap.indent(content, "   ") + "\n"


def _shown(entry: Entry) -> str:
    """Return the directive of an object."""
    names, thing = entry
    if isinstance(thing, CONSTANTS):
        items = [thing] if isinstance(thing, (float, str)) else sorted(thing, key=str)
        return directive("data", names, ", ".join(str(getattr(item, "__name__", item)) for item in items) + "\n")
    if isinstance(thing, type):
        members = thing.__name__ in CLASSES
        called = "" if issubclass(thing, Op) and not members else signature(thing)
        return directive("class", [name + called for name in names], documentation(entry),
                         _members(thing) if members else "", listed=members or not issubclass(thing, Op))  # fmt: skip
    if inspect.isfunction(thing) or isinstance(thing, (Op, Type)):
        return directive("function", [f"{name}{signature(thing)}" for name in names], documentation(entry))
    return directive("data", names, documentation(entry))


def _members(cls: type) -> str:
    """Return the directives of the methods and properties of a class that have documentation."""
    found = []
    for name, member in inspect.getmembers(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), object)
        elsewhere = owner is not cls and owner.__name__ in CLASSES
        if name.startswith("_") or elsewhere or not owner.__module__.startswith("theano") or not inspect.getdoc(member):
            continue
        if inspect.isroutine(member):
            said = re.sub(r"^\(self(, )?", "(", signature(member))
            found.append(directive("method", [name + said], inspect.getdoc(member) or "", listed=False))
        elif isinstance(member, property):
            found.append(directive("property", [name], inspect.getdoc(member) or "", listed=False))
    return "\n".join(found)


def page_text(page: Page) -> str:
    """Return a page: functions and classes, then one sentence for each class of ops."""
    lines = [page.title, "=" * len(page.title), "", page.head, ""]
    found = entries()[page.file]
    ops = [entry for entry in found if isinstance(entry.thing, type) and issubclass(entry.thing, Op)]
    lines += [_shown(entry) for entry in found if entry not in ops]
    if ops:
        lines += ["Classes of ops", "--------------", ""]
        lines += ["Their instances are what the functions apply; ``isinstance(node.op, ...)`` finds them.", ""]
        lines += [_shown(entry) for entry in ops]
    return "\n".join(lines)


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

Every public name of `theano.tensor` (as `T`) and `theano.scalar`. The tests run the examples. The build of the
documentation writes these pages from the code.

```{toctree}
:maxdepth: 1

"""


def pages() -> dict[str, str]:
    """Return the text of each file, by its place below docs."""
    found = {f"library/{page.file}.rst": page_text(page) for page in PAGES}
    found["library/tensor/dtypes.md"] = dtypes_page()
    inside = [page.file.removeprefix("tensor/") for page in PAGES if page.file.startswith("tensor/")]
    found["library/tensor/index.md"] = INDEX + "\n".join([*inside, "dtypes"]) + "\n```\n"
    return found
