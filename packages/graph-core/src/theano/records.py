"""Records and named tuples: classes that are their fields, made without generating code.

`dataclasses` writes and compiles about five functions for each class whenever its module is imported, which takes
0.2 to 2 ms: a fifth of ``import theano.tensor`` for the 35 classes that it needs. All records share the functions below
instead. Objects made by the thousand are better named tuples, which are made faster; `typing.NamedTuple` compiles a
function and each annotation, in 0.1 to 0.3 ms. For type checkers records are dataclasses, and for the functions of
`dataclasses`, too, and our named tuples are those of `typing`.

Examples
--------
>>> @record(frozen=True)
... class Point:
...     x: int
...     y: int = 0
...     tags: list[str] = field(default_factory=list)
>>> Point(1), replace(Point(1), y=2) == Point(1, 2)
(Point(x=1, y=0, tags=[]), True)
>>> Point(1).x = 2
Traceback (most recent call last):
 ...
AttributeError: cannot change x of a Point
"""

from __future__ import annotations

# What `collections.namedtuple` reads fields with, in C as a property is not; no stub declares it.
from collections import _tuplegetter  # type: ignore[attr-defined]
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")


class _Factory:
    """A default that is made anew for each record."""

    def __init__(self, make: Callable[[], Any]):
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """Return the default of a field whose value is made anew for each record."""
    return _Factory(default_factory)


class _Shape:
    """What the shared functions know of a class."""

    def __init__(self, types: dict[str, Any], defaults: dict[str, Any], checked: bool):
        self.names, self.types = tuple(types), types
        self.defaults = defaults
        self.constants = {name: value for name, value in defaults.items() if not isinstance(value, _Factory)}
        """The defaults that all records share."""
        self.made = [(name, value.make) for name, value in defaults.items() if isinstance(value, _Factory)]
        """The defaults that each record has of its own."""
        self.checked = checked


@dataclass_transform(field_specifiers=(field,))
def record(cls: Any = None, /, *, frozen: bool = False, eq: bool = True) -> Any:
    """Make a class of annotated fields a record; a decorator, with options or without.

    Parameters
    ----------
    frozen : bool
        Whether fields cannot be set; then records that compare have a hash.
    eq : bool
        Whether two of them are compared by their fields, else by identity.
    """
    return _made(cls, frozen, eq) if cls is not None else lambda cls: _made(cls, frozen, eq)


def _made(cls: type, frozen: bool, eq: bool) -> type:
    own = cls.__dict__
    types = {name: kind for name, kind in own.get("__annotations__", {}).items() if "ClassVar" not in str(kind)}
    defaults = {name: own[name] for name in types if name in own}
    shape = _Shape(types, defaults, hasattr(cls, "__post_init__"))
    for name in defaults.keys() - shape.constants.keys():
        delattr(cls, name)
    shared: dict[str, Any] = {"__init__": _init, "__repr__": _repr, "__match_args__": tuple(types)}
    if eq:
        shared.update(__eq__=_eq)
    if frozen:
        shared.update(__setattr__=_refuse, __delattr__=_refuse)
    for name, what in shared.items():
        if name not in own:
            setattr(cls, name, what)
    if eq and own.get("__hash__") is None:  # Python sets it to None beside an own __eq__
        cls.__hash__ = _hash if frozen else None  # type: ignore[assignment]
    made: Any = cls
    made.__record__ = shape
    made.__dataclass_fields__ = _Fields()
    made.__signature__ = _Signature()
    return cls


def replace(record: T, **changes: Any) -> T:
    """Return a record like this one, some fields changed."""
    shape: _Shape = record.__record__  # type: ignore[attr-defined]
    return type(record)(**{name: getattr(record, name) for name in shape.names} | changes)


# -- the functions that all records share ------------------------------------------------------------------------


def _init(self: Any, /, *values: Any, **named: object) -> None:
    """Set the fields; those that are not given have their defaults."""
    shape: _Shape = self.__record__
    own = self.__dict__
    own.update(shape.constants)
    own.update(zip(shape.names, values, strict=False))
    own.update(named)
    for name, make in shape.made:
        if name not in own:
            own[name] = make()
    twice = values and named and not named.keys().isdisjoint(shape.names[: len(values)])
    if twice or len(values) > len(shape.names) or own.keys() != shape.types.keys():
        _check_call(type(self).__name__, shape.names, shape.defaults, values, named)
    if shape.checked:
        self.__post_init__()


def _check_call(
    name: str, fields: tuple[str, ...], optional: Collection[str], values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    """Say what is wrong with how a class was called, if anything is."""
    if len(values) > len(fields):
        raise TypeError(f"{name} takes {len(fields)} arguments, not {len(values)}")
    for given in named:
        if given not in fields:
            raise TypeError(f"{name} has no field {given}; it has {', '.join(fields)}")
        if given in fields[: len(values)]:
            raise TypeError(f"{name} is given {given} twice")
    missing = [field for field in fields[len(values) :] if field not in named and field not in optional]
    if missing:
        raise TypeError(f"{name} wants {', '.join(missing)}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__record__.names])


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__record__.names)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _refuse(self: Any, name: str, value: object = None) -> None:
    raise AttributeError(f"cannot change {name} of a {type(self).__name__}")


# -- named tuples ----------------------------------------------------------------------------------------------------


def _new(cls: Any, /, *values: Any, **named: Any) -> Any:
    """Return a tuple of the fields; those that are not given have their defaults."""
    if named or len(values) != len(cls._fields):
        _check_call(cls.__name__, cls._fields, cls._field_defaults, values, named)
        given = {**cls._field_defaults, **named}
        values = (*values, *[given[field] for field in cls._fields[len(values) :]])
    return tuple.__new__(cls, values)


def _make(cls: Any, values: Iterable[Any]) -> Any:
    """Return a tuple of as many values as there are fields."""
    made = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    """Return a tuple like this one, some fields changed."""
    made = self._make(map(changes.pop, self._fields, self))
    if changes:
        raise TypeError(f"{type(self).__name__} has no field {', '.join(changes)}")
    return made


def _asdict(self: Any) -> dict[str, Any]:
    """Return the fields by their names."""
    return dict(zip(self._fields, self, strict=True))


def _shown(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in _asdict(self).items())})"


def _as_tuple(self: Any) -> tuple[Any, ...]:
    return tuple(self)


class _TupleSignature:
    """``__signature__``, for `inspect` and the documentation."""

    def __get__(self, made: Any, cls: Any) -> Any:
        from inspect import Parameter, Signature  # only for those who ask

        defaults, either = cls._field_defaults, Parameter.POSITIONAL_OR_KEYWORD
        return Signature([
            Parameter(name, either, default=defaults.get(name, Parameter.empty), annotation=kind)
            for name, kind in cls.__annotations__.items()
        ])  # fmt: skip


class _MakesTuples(type):
    """Makes of a class with annotated fields a subclass of `tuple`."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        fields = tuple(body.setdefault("__annotations__", {}))
        defaults = {field: body.pop(field) for field in fields if field in body}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one that has one")
        getters = {field: _tuplegetter(place, f"Field {place}.") for place, field in enumerate(fields)}
        known = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields, "__slots__": ()}
        return type(name, (tuple,), {**_SHARED_BY_TUPLES, **known, **getters, **body})


_SHARED_BY_TUPLES = {
    "__new__": _new, "_make": classmethod(_make), "_replace": _replace, "__replace__": _replace, "_asdict": _asdict,
    "__repr__": _shown, "__getnewargs__": _as_tuple, "__signature__": _TupleSignature(),
}  # fmt: skip

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    #: The base of named tuples: a class of annotated fields that derives from it is a subclass of `tuple`.
    NamedTuple = type.__new__(_MakesTuples, "NamedTuple", (), {})


# -- for those who ask -------------------------------------------------------------------------------------------


def _as_dataclass(cls: Any) -> Any:
    """Return a dataclass with the fields of a record."""
    import dataclasses  # it is what records do without

    shape: _Shape = cls.__record__
    body: dict[str, Any] = {
        name: dataclasses.field(default_factory=default.make) if isinstance(default, _Factory) else default
        for name, default in shape.defaults.items()
    }
    body |= {"__annotations__": shape.types, "__module__": cls.__module__}
    return dataclasses.dataclass(type(cls.__name__, (), body))


class _Fields:
    """``__dataclass_fields__``, by which `dataclasses` knows its own."""

    def __get__(self, record: object, cls: Any) -> Any:
        return _as_dataclass(cls).__dataclass_fields__


class _Signature:
    """``__signature__``, for `inspect` and the documentation."""

    def __get__(self, record: Any, cls: Any) -> Any:
        import inspect  # only for those who ask

        own = cls.__init__
        if own is _init:
            return inspect.signature(_as_dataclass(cls))
        signature = inspect.signature(own)
        return signature.replace(parameters=list(signature.parameters.values())[1:])
