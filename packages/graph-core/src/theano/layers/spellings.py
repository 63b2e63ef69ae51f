"""Old spellings: modules and names that are made from tables on first access.

A layer of this project has a small table, ``OLD_NAMES`` of ``theano/layers/documented_<layer>.py``. It holds the
spellings that Theano's documentation calls its interface; theano-legacy has tables of all others. The description of a
layer names its tables (``Layer.spellings``). A table says for a module what is found in it, by the module
that really has it::

    OLD_NAMES = {
        "theano.gof.optdb": {
            "theano.rewriting": "Query",
            "theano.rewriting.userdefined": "DB EquilibriumDB GlobalDB=SequenceDB",
        },
    }

A word is a name that is the same there, ``old=new`` a name with another spelling, ``old=.`` the other module itself,
and ``*`` all that a star import would bring; a package that only holds modules has an empty entry. If no
such module exists, `OldNames` makes one; an existing one shows these names besides its own if its `__getattr__` is that
of `theano.layers.lazily` or asks `theano.layers.attribute`. Several layers may add to one module.

The tables are read when a module below ``theano`` is not found, or an attribute of one is missing: not before.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: For a module, by the module that has them, the names that are found in it.
Table = Mapping[str, Mapping[str, str]]


def spellings(entry: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each name of a module's entry, and where it is; of stars, the names that they stand for.

    Examples
    --------
    >>> list(spellings({"json": "loads write=dump codec=."}))
    [('loads', 'json:loads'), ('write', 'json:dump'), ('codec', 'json')]
    >>> dict(spellings({"json": "*"}))["dumps"]
    'json:dumps'
    """
    for source, names in entry.items():
        for word in names.split():
            old, _, new = word.partition("=")
            if old == "*":
                yield from ((name, f"{source}:{name}") for name in public_names(importlib.import_module(source)))
            else:
                yield old, source if new == "." else f"{source}:{new or old}"


def place(entry: Mapping[str, str], name: str) -> str | None:
    """Return where a name of a module's entry is; modules are imported for stars only.

    Examples
    --------
    >>> place({"json": "*", "os": "write=getcwd"}, "write"), place({"json": "*"}, "loads"), place({}, "loads")
    ('os:getcwd', 'json:loads', None)
    """
    spelled = {source: " ".join(w for w in names.split() if w != "*") for source, names in entry.items()}
    found = dict(spellings(spelled)).get(name)
    stars = (source for source, names in entry.items() if "*" in names.split())
    return found or next(
        (f"{source}:{name}" for source in stars if name in public_names(importlib.import_module(source))), None
    )


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a star import of a module brings.

    Examples
    --------
    >>> import json
    >>> public_names(json) == json.__all__
    True
    """
    listed: Sequence[str] | None = getattr(module, "__all__", None)
    return [name for name in vars(module) if not name.startswith("_")] if listed is None else list(listed)


class OldNames:
    """What the tables of all layers say; as a finder, it makes the modules that are nowhere else.

    Parameters
    ----------
    tables : callable
        From whether to look for layers without a description, too, to the tables.
    hint : callable, optional
        From the full name of something that is nowhere to what an error says besides.

    Examples
    --------
    >>> table = {"theano.notation": {"json": "loads write=dump"}, "theano.notation.inner": {"json": "*"}}
    >>> names = OldNames(lambda declared: [table])
    >>> names.place("theano.notation", "write"), names.place("theano.notation", "inner")
    ('json:dump', 'theano.notation.inner')
    >>> names.all_of("theano.notation")
    ['inner', 'loads', 'write']
    """

    def __init__(self, tables: Callable[[bool], Iterable[Table]], hint: Callable[[str], str] = lambda name: "") -> None:
        self.tables, self.hint = tables, hint
        self._wanted: set[str] = set()

    def place(self, module: str, name: str, declared: bool = True) -> str | None:
        """Return ``"module:attribute"``, or the module, that a name of a module stands for."""
        if name.startswith("__"):
            return None
        whole = f"{module}.{name}"
        for table in self.tables(declared):
            found = place(table.get(module, {}), name)
            if found is not None:
                return found
            if whole in table:
                return whole
        return None

    def all_of(self, module: str) -> list[str]:
        """Return the names that the tables add to a module, modules below it among them."""
        tables = list(self.tables(True))
        names = {name for table in tables for name, _ in spellings(table.get(module, {}))}
        below = f"{module}."
        return sorted(names | {k.removeprefix(below).split(".")[0] for t in tables for k in t if k.startswith(below)})

    def public(self, module: str) -> list[str]:
        """Return what a star import of a module brings: of our modules only those below it."""
        entries = [table.get(module, {}) for table in self.tables(True)]
        elsewhere = {old for entry in entries for old, where in spellings(entry) if _is_our_module(where)}
        below = {name for name in elsewhere if any(f"{module}.{name}" in table for table in self.tables(True))}
        return [name for name in self.all_of(module) if not name.startswith("_") and name not in elsewhere - below]

    def sources(self, module: str) -> list[str]:
        """Return the modules that have what the tables say of a module."""
        return list(dict.fromkeys(source for table in self.tables(True) for source in table.get(module, ())))

    # -- as a finder and loader of modules ---------------------------------------------------------------------

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return how to make a module that a table names; descriptions of layers and tables are never old.

        Raises
        ------
        ModuleNotFoundError
            No table names it, and there is more to say than that. The error has no `name`, for an import of the form
            ``from package import name`` would keep silent about one that has.
        """
        if not name.startswith("theano.") or name.startswith("theano.layers.") or name in self._wanted:
            return None
        self._wanted.add(name)  # to look for layers may ask for the same module
        try:
            known = any(name in table for declared in (False, True) for table in self.tables(declared))
            below = known and any(key.startswith(f"{name}.") for table in self.tables(True) for key in table)
        finally:
            self._wanted.discard(name)
        hint = self.hint(name)
        if known:
            # Of a package Python asks for a module where a name is missing: so it comes here, and the hint is read.
            return ModuleSpec(name, self, origin=__name__, is_package=below or bool(hint))  # type: ignore[arg-type]
        if hint:
            raise ModuleNotFoundError(f"No module named {name!r}{hint}")
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, which holds nothing yet."""
        return OldModule(spec.name, self)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module gets its names when it is asked for them."""


class OldModule(ModuleType):
    """A module that is nowhere but in tables: it gets a name from where it really is, when it is asked for it."""

    def __init__(self, name: str, old_names: OldNames) -> None:
        sources = ", ".join(f":mod:`{source}`" for source in old_names.sources(name)) or "the modules below it"
        super().__init__(name, f"Old spelling; what ``{name}`` shows is in {sources}.")
        self._old_names = old_names

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self._old_names.public(self.__name__)
        found = self._old_names.place(self.__name__, name)
        if found is None:
            hint = "" if name.startswith("__") else self._old_names.hint(f"{self.__name__}.{name}")
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{hint}")
        value = named(found)
        setattr(self, name, value)
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what has the module's own name: packages showed the function `pfunc` of their module ``pfunc``."""
        called = getattr(self, self.__name__.rpartition(".")[2], None)
        if called is None:
            raise TypeError(f"the module {self.__name__} cannot be called")
        return called(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        # Python puts a module into its package when it is imported. Where the table has something else under that name
        # (`theano.scan_module.scan` is the function), this stays.
        found = self._old_names.place(self.__name__, name, False) if isinstance(value, ModuleType) else None
        super().__setattr__(name, value if found is None else named(found))

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self._old_names.all_of(self.__name__)} - {"_old_names"})


def _is_our_module(place: str) -> bool:
    return ":" not in place and place.partition(".")[0] == "theano"


def named(place: str) -> Any:
    """Return the module, or the ``"module:attribute"``, that a text names.

    Examples
    --------
    >>> named("json:loads")("1"), named("json").__name__
    (1, 'json')
    """
    module, _, attribute = place.partition(":")
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found


def install(names: OldNames) -> None:
    """Let imports that find no module ask the tables, after all other finders: they cost nothing to those that do."""
    if names not in sys.meta_path:
        sys.meta_path.append(names)
