"""A form for ops, types and values that is the same in each process, and the way back.

Two programs of two processes can be compared only through something that is made of plain data: no addresses, no
hashes of strings, no order of sets. The form of an object is a tree of lists, strings, whole numbers, true, false and
null, so that JSON can hold it. It tells apart what Python holds for equal (``1``, ``1.0`` and ``True``; ``0.0`` and
``-0.0``), and it leaves nothing out: an op or a type is its class and *all* its attributes, not only the parameters
that it compares by.

The world is closed. What has a form is plain Python data, classes and functions of the installed ``theano.*``
modules by name, ops and types of such classes, and what a layer has entered with :func:`register_form`. Everything
else, an op from a user's program above all, has none, and raises :class:`NoCanonicalForm`: a caller that wanted to
remember something about it then does without.

Reading a form never calls anything that the form names: it finds classes of ours, sets attributes, and uses the
readers that layers have entered. It is not a pickle.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable
from importlib import import_module
from types import BuiltinFunctionType, EllipsisType, FunctionType
from typing import Any

from theano.extensions import Chain, Table
from theano.graph.props import Structural
from theano.graph.signals import let_signals_through
from theano.records import record

Tree = Any
"""What a form is made of: lists, strings, integers, booleans and None."""

MAX_BYTES = 1 << 20
"""More bytes than this in one place have no form, and no rewriting makes such a constant of smaller ones."""

#: Keys of a variable's ``tag`` that say nothing about its value that the graph does not say: lines, memories.
derived_tags: Chain[str] = Chain("graph.canonical.derived_tags", "which tags follow from the graph")
derived_tags.extend(("trace", "derived_from", "_merge_signature"))


class NoCanonicalForm(Exception):
    """An object cannot be described so that another process understands the same.

    Examples
    --------
    >>> form_of(lambda: 0)
    Traceback (most recent call last):
      ...
    theano.graph.canonical.NoCanonicalForm: the function theano.graph.canonical.<lambda> is not one of ours
    """


@record(frozen=True)
class Form:
    """How objects of one class are written and read."""

    kind: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


_exact: dict[type, Form] = {}
_inherited: dict[type, Form] = {}
_kinds: dict[str, Form] = {}


def register_form(
    cls: type,
    kind: str,
    write: Callable[[Any], Any],
    read: Callable[[Any], Any],
    subclasses: bool = False,
) -> None:
    """Enter a form for the objects of a class.

    Parameters
    ----------
    cls : type
    kind : str
        What the form begins with.
    write : callable
        From an object to simpler ones that have a form themselves; raises :class:`NoCanonicalForm` if it has none.
    read : callable
        From these to the object.
    subclasses : bool
        Serve the instances of subclasses, too.
    """
    form = Form(kind, write, read)
    (_inherited if subclasses else _exact)[cls] = _kinds[kind] = form


#: What finds out something about this process that compiling may depend on beside our own sources, by its name; each
#: is asked at most once.
fact_finders: Table[str, Callable[[], str]] = Table("graph.canonical.fact_finders", "what compiling depends on")


def facts() -> list[str]:
    """Return what was found out, in the order of the names.

    Examples
    --------
    >>> _ = fact_finders.register("example", lambda: "yes")
    >>> "example=yes" in facts()
    True
    """
    for name, find in fact_finders.items():
        if name not in _found:
            _found[name] = find()
    return [f"{name}={_found[name]}" for name in sorted(_found)]


_found: dict[str, str] = {}

#: What was put in the place of something of ours, so that names do not say any more what they stand for.
replaced: set[str] = set()


# -- whose is it? --------------------------------------------------------------------------------------------

_ours: dict[str, bool] = {}


def is_ours(module: str) -> bool:
    """Return whether a module belongs to an installed layer.

    Examples
    --------
    >>> is_ours("theano.graph.op"), is_ours("json"), is_ours("theano.of_somebody")
    (True, False, False)
    """
    known = _ours.get(module)
    if known is None:
        known = False
        if module == "theano" or module.startswith("theano."):
            file = getattr(sys.modules.get(module), "__file__", None) or ""
            known = file.startswith(tuple(os.path.join(root, "") for root in sys.modules["theano"].__path__))
        if module in sys.modules:  # what is not imported yet may be another thing then
            _ours[module] = known
    return known


def _resolve(module: str, name: str) -> Any:
    """Return what a module of ours (or of NumPy, or Python itself) calls by a dotted name."""
    if not (module.startswith("theano.") or module in ("builtins", "numpy")):
        raise NoCanonicalForm(f"{module} is not a module of ours")
    found: Any = sys.modules.get(module) or import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _named(thing: Callable[..., object] | type, what: str) -> list[str]:
    """Return module and name of a class or function that can be found by them again."""
    module = str(getattr(thing, "__module__", None))
    name = thing.__dict__.get("canonical_name") if isinstance(thing, type) else None
    name = name or thing.__qualname__
    if is_ours(module) or (module in ("builtins", "numpy") and isinstance(thing, type)):
        try:
            if _resolve(module, name) is thing:
                return [module, name]
        except (AttributeError, ImportError):
            pass
    raise NoCanonicalForm(f"the {what} {module}.{name} is not one of ours")


# -- writing -------------------------------------------------------------------------------------------------


def form_of(thing: Any) -> Tree:
    """Return the form of an object.

    Raises
    ------
    NoCanonicalForm
        It has none.

    Examples
    --------
    >>> form_of((1, True, {"axis": None}))
    ['t', 1, True, ['d', 'axis', None]]
    >>> form_of(1.0) == form_of(1), object_of(form_of((1, 2.5)))
    (False, (1, 2.5))
    """
    cls = type(thing)
    if thing is None or cls is bool or cls is int or cls is str:
        return thing
    writer = _PLAIN.get(cls)
    if writer is not None:
        return writer(thing)
    form = _exact.get(cls) or next((_inherited[base] for base in cls.__mro__ if base in _inherited), None)
    if form is not None:
        return ["r", form.kind, form_of(form.write(thing))]
    if isinstance(thing, type):
        return ["c", *_named(thing, "class")]
    return _instance(thing, cls)


def _instance(thing: Any, cls: type) -> Tree:
    named = _named(cls, "class")
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return ["n", *named, *map(form_of, thing)]
    if hasattr(cls, "__record__"):
        return ["n", *named, *(form_of(getattr(thing, name)) for name in cls.__record__.names)]
    # A class that says how it is pickled is more than its attributes.
    if not issubclass(cls, Structural) or cls.__reduce__ is not object.__reduce__:
        raise NoCanonicalForm(f"instances of {cls.__module__}.{cls.__qualname__} have no canonical form")
    state = thing.__dict__
    if state.get("_tag") is not None and state["_tag"].__dict__:
        raise NoCanonicalForm(f"{cls.__qualname__} carries something in its tag")
    return ["o", *named, *_pairs((key, value) for key, value in state.items() if key != "_tag")]


def _pairs(items: Iterable[tuple[Any, Any]]) -> list[Tree]:
    return [form_of(part) for item in items for part in item]


def _sorted(items: Iterable[Any]) -> list[Tree]:
    """Return the forms of the elements of a set, in an order that is the same in each process."""
    from json import dumps  # imported only for a form: building expressions does not need it

    return sorted(map(form_of, items), key=dumps)


def _written(data: bytes) -> Tree:
    """Return bytes as text; many of them packed, for JSON needs six letters for a zero, of which arrays are full."""
    if len(data) > MAX_BYTES:
        raise NoCanonicalForm(f"an array of {len(data):,} bytes is too large for a canonical form")
    if len(data) < 1024:
        return ["b", data.decode("latin-1")]
    return ["p", b2a_base64(zlib.compress(data, 1), newline=False).decode()]


_PLAIN: dict[type, Callable[[Any], Tree]] = {
    float: lambda x: ["f", struct.pack(">d", x).hex()],
    complex: lambda x: ["z", struct.pack(">dd", x.real, x.imag).hex()],
    bytes: _written,
    tuple: lambda x: ["t", *map(form_of, x)],
    list: lambda x: ["l", *map(form_of, x)],
    dict: lambda x: ["d", *_pairs(x.items())],
    set: lambda x: ["s", *_sorted(x)],
    frozenset: lambda x: ["q", *_sorted(x)],
    slice: lambda x: ["i", *map(form_of, (x.start, x.stop, x.step))],
    EllipsisType: lambda x: ["e"],
    FunctionType: lambda x: ["g", *_named(x, "function")],
    BuiltinFunctionType: lambda x: ["g", *_named(x, "function")],
}


def text_of(thing: Any) -> str:
    """Return the form of an object as one line of text.

    Examples
    --------
    >>> text_of({1, 2})
    '["s",1,2]'
    """
    from json import dumps  # as above

    return dumps(form_of(thing), separators=(",", ":"))


def bytes_of(thing: object) -> bytes:
    """Return the form of an object as bytes; quick where the object is mostly bytes itself.

    Examples
    --------
    >>> bytes_of("text")
    b't"text"'
    """
    form = _exact.get(type(thing))
    parts = form.write(thing) if form is not None else None
    if form is not None and type(parts) is tuple and parts and type(parts[-1]) is bytes:
        return b"b%s\0%s" % (text_of((form.kind, *parts[:-1])).encode(), parts[-1])
    return b"t" + text_of(thing).encode()


# -- reading -------------------------------------------------------------------------------------------------


def object_of(tree: Tree) -> Any:
    """Return the object that a form describes.

    Raises
    ------
    NoCanonicalForm
        It is none, or it names something that is not here.
    """
    if not isinstance(tree, list):
        return tree
    try:
        return _READERS[tree[0]](tree[1:])
    except (LookupError, TypeError, ValueError, AttributeError, ImportError, struct.error, zlib.error) as problem:
        let_signals_through(problem)
        raise NoCanonicalForm(f"this describes nothing here: {str(tree)[:80]}: {problem}") from problem


def _objects(parts: Iterable[Tree]) -> list[Any]:
    return [object_of(part) for part in parts]


def _dict(parts: list[Tree]) -> dict[Any, Any]:
    items = _objects(parts)
    return dict(zip(items[::2], items[1::2], strict=True))


def _read_instance(parts: list[Tree]) -> Any:
    cls = _class(parts[:2])
    made = cls.__new__(cls)
    made.__dict__.update(_dict(parts[2:]))
    return made


def _class(parts: list[Tree]) -> Any:
    found = _resolve(*parts)
    if not isinstance(found, type):
        raise TypeError(f"{parts} is no class")
    return found


_READERS: dict[str, Callable[[list[Tree]], Any]] = {
    "f": lambda p: struct.unpack(">d", bytes.fromhex(p[0]))[0],
    "z": lambda p: complex(*struct.unpack(">dd", bytes.fromhex(p[0]))),
    "b": lambda p: p[0].encode("latin-1"),
    "p": lambda p: zlib.decompress(a2b_base64(p[0])),
    "t": lambda p: tuple(_objects(p)),
    "l": _objects,
    "d": _dict,
    "s": lambda p: set(_objects(p)),
    "q": lambda p: frozenset(_objects(p)),
    "i": lambda p: slice(*_objects(p)),
    "e": lambda p: ...,
    "g": lambda p: _resolve(*p),
    "c": _class,
    "n": lambda p: _class(p[:2])(*_objects(p[2:])),
    "o": _read_instance,
    "r": lambda p: _kinds[p[0]].read(object_of(p[1])),
}
