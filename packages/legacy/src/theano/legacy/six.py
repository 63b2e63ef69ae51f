"""Functions of `six` for programs that Theano 0.7 and 0.8 gave a copy of it (``theano.compat.six``)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

PY2, PY3 = False, True
string_types, integer_types, class_types = (str,), (int,), (type,)


def iterkeys(d: Mapping[Any, Any]) -> Iterator[Any]:
    """Return an iterator over the keys.

    Examples
    --------
    >>> list(iterkeys({"a": 1})), list(itervalues({"a": 1})), list(iteritems({"a": 1}))
    (['a'], [1], [('a', 1)])
    """
    return iter(d.keys())


def itervalues(d: Mapping[Any, Any]) -> Iterator[Any]:
    """Return an iterator over the values."""
    return iter(d.values())


def iteritems(d: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Return an iterator over pairs of key and value."""
    return iter(d.items())


def viewkeys(d: Mapping[Any, Any]) -> Any:
    """Return the keys.

    Examples
    --------
    >>> viewkeys({"a": 1}), viewvalues({"a": 1}), viewitems({"a": 1})
    (dict_keys(['a']), dict_values([1]), dict_items([('a', 1)]))
    """
    return d.keys()


def viewvalues(d: Mapping[Any, Any]) -> Any:
    """Return the values."""
    return d.values()


def viewitems(d: Mapping[Any, Any]) -> Any:
    """Return pairs of key and value."""
    return d.items()


def b(s: str) -> bytes:
    r"""Return a literal as bytes, and by :func:`u` as text.

    Examples
    --------
    >>> b("a\xe9"), u("a"), int2byte(97), byte2int(b("a"))
    (b'a\xe9', 'a', b'a', 97)
    """
    return s.encode("latin-1")


def u(s: str) -> str:
    """Return a literal as text."""
    return s


def int2byte(i: int) -> bytes:
    """Return one byte."""
    return bytes((i,))


def byte2int(bs: bytes) -> int:
    """Return the number of the first byte."""
    return bs[0]


def reraise(tp: Any, value: BaseException | None, tb: Any = None) -> NoReturn:
    """Raise an exception with its traceback.

    Examples
    --------
    >>> reraise(ValueError, None)
    Traceback (most recent call last):
    ValueError
    """
    raise (tp() if value is None else value).with_traceback(tb)


def with_metaclass(meta: type, *bases: type) -> type:
    """Return a base of which derived classes have a metaclass.

    Examples
    --------
    >>> type(with_metaclass(type, dict)).__name__, with_metaclass(type, dict).__bases__
    ('type', (<class 'dict'>,))
    """
    made: type = meta("temporary_class", bases or (object,), {})
    return made


def add_metaclass(metaclass: type) -> Callable[[type], type]:
    """Return a decorator that makes a class again with a metaclass.

    Examples
    --------
    >>> add_metaclass(type)(type("A", (), {"x": 1})).x
    1
    """

    def again(cls: type) -> type:
        own = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
        made: type = metaclass(cls.__name__, cls.__bases__, own)
        return made

    return again


def ensure_str(s: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return text.

    Examples
    --------
    >>> ensure_str(b"a"), MAXSIZE > 1
    ('a', True)
    """
    return s.decode(encoding, errors) if isinstance(s, bytes) else s


def python_2_unicode_compatible(cls: type) -> type:
    """Return a class as it is.

    Examples
    --------
    >>> python_2_unicode_compatible(int)
    <class 'int'>
    """
    return cls


MAXSIZE = sys.maxsize
