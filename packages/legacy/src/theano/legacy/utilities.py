"""Small functions that stood among the old graph code: of sequences, functions, names and source lines."""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, Self, TypeVar

from theano.compile.test_values import get_debug_values
from theano.graph.source import created_at, user_trace

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def memoize(f: Callable[..., T]) -> Callable[..., T]:
    """Return a function that calls ``f`` once for the same hashable arguments.

    Examples
    --------
    >>> calls = []
    >>> noted = memoize(calls.append)
    >>> noted(1), noted(1), calls
    (None, None, [1])
    """
    return functools.cache(f)


def memodict(f: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return a function of one hashable argument that calls ``f`` once for it.

    Examples
    --------
    >>> memodict(len)("abc")
    3
    """
    return _Remembering(f).__getitem__


class _Remembering(dict[Any, Any]):
    def __init__(self, f: Callable[[Any], Any]) -> None:
        self.f = f

    def __missing__(self, key: Any) -> Any:
        self[key] = value = self.f(key)
        return value


def deprecated(filename: str, msg: str = "") -> Callable[[F], F]:
    """Return a decorator of functions of ``filename`` that warn at their first call.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     deprecated("shapes.py", "use size")(len)("abc")
    3
    """

    def decorate(f: F) -> F:
        told = False

        @functools.wraps(f)
        def warns(*args: Any, **kwargs: Any) -> Any:
            nonlocal told
            if not told:
                told = True
                warnings.warn(
                    f"{filename}.{f.__name__} is deprecated. {msg}".rstrip(), DeprecationWarning, stacklevel=2
                )
            return f(*args, **kwargs)

        return warns  # type: ignore[return-value]

    return decorate


class Keyword:
    """A name that stands for itself, for instance for any type.

    Examples
    --------
    >>> Keyword("NOTHING", nonzero=False), bool(Keyword("NOTHING", nonzero=False))
    (<NOTHING>, False)
    """

    def __init__(self, name: str, nonzero: bool = True) -> None:
        self.name = name
        self.nonzero = nonzero

    def __bool__(self) -> bool:
        return self.nonzero

    def __repr__(self) -> str:
        return f"<{self.name}>"


ABORT = Keyword("ABORT", False)
RETRY = Keyword("RETRY", False)
FAILURE = Keyword("FAILURE", False)
ANY_TYPE = Keyword("ANY_TYPE")
FALL_THROUGH = Keyword("FALL_THROUGH")


def _is_a(value: Any, wanted: Any) -> bool:
    return wanted is ANY_TYPE or isinstance(value, wanted)


def comm_guard(type1: Any, type2: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: the function is for two arguments of these types in either order.

    Other arguments, or a result `FALL_THROUGH`, lead to the function that had its name before it.

    Examples
    --------
    >>> @comm_guard(int, str)
    ... def times(n, text): return n * text
    >>> times(2, "ab"), times("ab", 2)
    ('abab', 'abab')
    """

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        before = f.__globals__.get(f.__name__)

        @functools.wraps(f)
        def guarded(a: Any, b: Any, *rest: Any) -> Any:
            if _is_a(a, type1) and _is_a(b, type2):
                found = f(a, b, *rest)
            elif _is_a(a, type2) and _is_a(b, type1):
                found = f(b, a, *rest)
            else:
                found = FALL_THROUGH
            if found is not FALL_THROUGH:
                return found
            if before is None:
                raise TypeError(f"{f.__name__} has no case for {type(a).__name__} and {type(b).__name__}")
            return before(a, b, *rest)

        return guarded

    return decorate


def type_guard(type1: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: the function is for a first argument of this type, otherwise as `comm_guard`.

    Examples
    --------
    >>> @type_guard(int)
    ... def half(n): return n // 2
    >>> half(5)
    2
    """

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        before = f.__globals__.get(f.__name__)

        @functools.wraps(f)
        def guarded(a: Any, *rest: Any) -> Any:
            found = f(a, *rest) if _is_a(a, type1) else FALL_THROUGH
            if found is not FALL_THROUGH:
                return found
            if before is None:
                raise TypeError(f"{f.__name__} has no case for {type(a).__name__}")
            return before(a, *rest)

        return guarded

    return decorate


def flatten(a: Any) -> list[Any]:
    """Return what nested lists, tuples and sets hold; anything else alone.

    Examples
    --------
    >>> flatten([1, (2, [3])]), flatten("ab")
    ([1, 2, 3], ['ab'])
    """
    return [leaf for x in a for leaf in flatten(x)] if isinstance(a, (list, tuple, set)) else [a]


def unique(x: Iterable[Hashable]) -> bool:
    """Return whether nothing is twice in ``x``.

    Examples
    --------
    >>> unique("abc"), unique("aba")
    (True, False)
    """
    things = list(x)
    return len(set(things)) == len(things)


def hist(coll: Iterable[Hashable]) -> dict[Any, int]:
    """Return how often each thing occurs.

    Examples
    --------
    >>> hist("aba")
    {'a': 2, 'b': 1}
    """
    return dict(Counter(coll))


def remove(predicate: Callable[[T], Any], coll: Iterable[T]) -> list[T]:
    """Return the things for which ``predicate`` does not hold.

    Examples
    --------
    >>> remove(str.isdigit, "a1b2")
    ['a', 'b']
    """
    return list(itertools.filterfalse(predicate, coll))


def D(**d: Any) -> dict[str, Any]:
    """Return the keyword arguments.

    Examples
    --------
    >>> D(a=1)
    {'a': 1}
    """
    return d


def give_variables_names(variables: Iterable[Any]) -> None:
    """Name the variables that have no name, or one that another has too, so that all names differ.

    Examples
    --------
    >>> from theano.graph import generic
    >>> both = [generic(), generic()]
    >>> give_variables_names(both)
    >>> [v.name for v in both]
    ['variable_0', 'variable_1']
    """
    every = list(variables)
    counts = hist(v.name for v in every)
    taken = {name for name in counts if name is not None}
    for number, v in enumerate(v for v in every if v.name is None or counts[v.name] > 1):
        base = v.name or "variable"
        name = next(n for i in itertools.count(number) if (n := f"{base}_{i}") not in taken)
        taken.add(name)
        v.name = name


def hash_from_code(msg: str | bytes) -> str:
    """Return a hash of a text, beginning with a letter.

    Examples
    --------
    >>> hash_from_code("a")[:4]
    'mca9'
    """
    return "m" + hashlib.sha256(msg.encode() if isinstance(msg, str) else msg).hexdigest()


def hash_from_file(file_path: str) -> str:
    """Return the SHA-256 sum of a file, in hexadecimal digits.

    Examples
    --------
    >>> import os
    >>> hash_from_file(os.devnull)[:8]
    'e3b0c442'
    """
    return hashlib.sha256(Path(file_path).read_bytes()).hexdigest()


def simple_extract_stack(
    f: FrameType | None = None, limit: int | None = None, skips: Iterable[str] = ()
) -> list[tuple[str, int | None, str, str | None]]:
    """Return file, line, function and text of the frames from the outermost to ``f``.

    Parameters
    ----------
    f : frame, optional
        Where to begin; the caller's frame otherwise.
    limit : int, optional
        How many frames at most.
    skips : iterable of str
        Parts of the names of files whose innermost frames are left out.

    Examples
    --------
    >>> simple_extract_stack(limit=1)[0][2]
    '<module>'
    """
    frame = f or inspect.currentframe().f_back  # type: ignore[union-attr]
    frames = list(traceback.walk_stack(frame))
    unwanted = tuple(skips)
    inner = itertools.dropwhile(lambda entry: any(s in entry[0].f_code.co_filename for s in unwanted), frames)
    chosen = list(itertools.islice(inner, limit))[::-1]
    return [(s.filename, s.lineno, s.name, s.line) for s in traceback.StackSummary.extract(iter(chosen))]


def add_tag_trace(thing: Any, user_line: int | None = None) -> Any:
    """Note on ``thing.tag`` the lines of the user that are running, and return ``thing``.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x = generic("x")
    >>> add_tag_trace(x) is x
    True
    """
    thing.tag.trace = [list(user_trace(user_line))]
    return thing


def get_variable_trace_string(v: Any) -> str:
    """Return in one line where a variable was written, nothing where this is not known.

    Examples
    --------
    >>> get_variable_trace_string(object())
    ''
    """
    line = created_at(v)
    return "" if line is None else f"written at {line}"


class Singleton:
    """Base of singleton classes: every call returns the same object.

    Examples
    --------
    >>> class Nothing(Singleton):
    ...     pass
    >>> Nothing() is Nothing()
    True
    """

    _instance: ClassVar[Any]

    def __new__(cls) -> Self:
        """Return the object of this class."""
        if "_instance" not in vars(cls):
            cls._instance = super().__new__(cls)
        made: Self = cls._instance
        return made

    def __str__(self) -> str:
        return type(self).__name__


def add_excepthook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function, besides what there is, when an error ends the program; return what there was.

    Examples
    --------
    >>> import sys
    >>> before = add_excepthook(lambda kind, value, trace: None)
    >>> sys.excepthook is before
    False
    >>> sys.excepthook = before
    """
    before = sys.excepthook

    def both(kind: Any, value: Any, trace: Any) -> None:
        before(kind, value, trace)
        hook(kind, value, trace)

    sys.excepthook = both
    return before


def get_test_values(*args: Any) -> Iterator[list[Any]]:
    """Yield the test values of some variables in a list; nothing if one has none, or the flag is off.

    Examples
    --------
    >>> import theano
    >>> list(get_test_values(theano.generic("x")))
    []
    """
    yield from ([values] if len(args) == 1 else list(values) for values in get_debug_values(*args))
