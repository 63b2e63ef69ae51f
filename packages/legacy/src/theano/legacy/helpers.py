"""Functions that only older programs call: the code behind ``theano.compat``, ``theano.gof.utils`` and their like."""

from __future__ import annotations

import logging
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import theano

T = TypeVar("T")

# -- versions: of Theano, and of Python ---------------------------------------------------------------------------

release = not any(part in theano.__version__ for part in ("a", "b", "rc"))
git_revision = "Unknown"  # distributions are built from source archives

PY3 = True
integer_types, string_types = (int,), (str,)
b, decode = (lambda text: text.encode("latin-1")), (lambda data: data.decode("utf-8"))


def cmp(x: Any, y: Any) -> int:
    """Return -1, 0 or 1: whether one thing is smaller than another, equal, or larger.

    Examples
    --------
    >>> cmp(1, 2), cmp("a", "a"), cmp(2, 1)
    (-1, 0, 1)
    """
    return int(x > y) - int(x < y)


def decode_iter(iterable: Iterable[bytes]) -> Iterable[str]:
    """Yield texts of a sequence of bytes."""
    return (data.decode("utf-8") for data in iterable)


def decode_with(data: bytes, encoding: str) -> str:
    """Return the text of bytes."""
    return data.decode(encoding)


def exc_message(exception: BaseException) -> Any:
    """Return what an exception was raised with."""
    return exception.args[0] if exception.args else ""


def get_unbound_function(unbound: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that was read from a class: in Python 3, itself."""
    return unbound


def operator_div(a: Any, b: Any) -> Any:
    """Return the quotient as ``/`` has it."""
    return a / b


# -- messages ---------------------------------------------------------------------------------------------------

theano_logger = logging.getLogger("theano")
logging_default_handler = logging.StreamHandler()


def has_handlers(logger: logging.Logger) -> bool:
    """Return whether anything takes the messages of a logger.

    Examples
    --------
    >>> import logging
    >>> has_handlers(logging.getLogger("silent.logger")) == logging.getLogger().hasHandlers()
    True
    """
    return logger.hasHandlers()


def disable_log_handler(
    logger: logging.Logger = theano_logger, handler: logging.Handler = logging_default_handler
) -> None:
    """Take a handler off a logger, so that a program's own handlers are the only ones.

    Parameters
    ----------
    logger : logging.Logger
    handler : logging.Handler
        The one that Theano brought; nothing happens where it is not there.
    """
    logger.removeHandler(handler)


# -- sequences and functions --------------------------------------------------------------------------------------

#: How many bits an address has, and a C long.
LOCAL_BITWIDTH = 8 * struct.calcsize("P")
PYTHON_INT_BITWIDTH = 8 * struct.calcsize("l")


def hashtype(self: object) -> int:
    """Return a hash of the class of an object, the same in all processes that fix Python's hash seed.

    Examples
    --------
    >>> hashtype(1) == hashtype(2), hashtype(1) == hashtype("")
    (True, False)
    """
    kind = type(self)
    return hash((kind.__module__, kind.__name__))


def uniq(seq: Iterable[T]) -> list[T]:
    """Return the elements of a sequence without those that came before.

    Examples
    --------
    >>> uniq([3, 1, 3, 2, 1])
    [3, 1, 2]
    """
    return list(dict.fromkeys(seq))


def difference(seq1: Iterable[T], seq2: Iterable[T]) -> list[T]:
    """Return the elements of one sequence that are not in another.

    Examples
    --------
    >>> difference([3, 1, 2], [1])
    [3, 2]
    """
    others = list(seq2)
    return [x for x in seq1 if x not in others]


def to_return_values(values: Sequence[T]) -> Sequence[T] | T:
    """Return the only element of a sequence, or the sequence.

    Examples
    --------
    >>> to_return_values([1]), to_return_values([1, 2])
    (1, [1, 2])
    """
    return values[0] if len(values) == 1 else values


def from_return_values(values: Any) -> list[Any]:
    """Return what a function gave as a list, be it one value or several.

    Examples
    --------
    >>> from_return_values(1), from_return_values((1, 2))
    ([1], [1, 2])
    """
    return list(values) if isinstance(values, (list, tuple)) else [values]


def apply_across_args(*fns: Callable[[Any], T]) -> Any:
    """Return functions of several arguments (or one sequence of them) from functions of one.

    Examples
    --------
    >>> integers, texts = apply_across_args(int, str)
    >>> integers("1", "2"), integers(["1", "2"]), texts(1)
    ([1, 2], [1, 2], '1')
    """
    spread = [_across(fn) for fn in fns]
    return spread[0] if len(spread) == 1 else spread


def _across(fn: Callable[[Any], T]) -> Callable[..., T | list[T]]:
    def across(*args: Any) -> T | list[T]:
        several = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        return fn(several[0]) if len(several) == 1 else [fn(x) for x in several]

    return across


def key_to_cmp(key: Callable[[Any], Any]) -> Callable[[Any, Any], int]:
    """Return a function that compares two things by a key, as ``functools.cmp_to_key`` takes them.

    Examples
    --------
    >>> compare = key_to_cmp(len)
    >>> compare("a", "bcd"), compare("ab", "cd"), compare("abc", "")
    (-1, 0, 1)
    """

    def compare(a: Any, b: Any) -> int:
        mine, others = key(a), key(b)
        return int(mine > others) - int(mine < others)

    return compare


def local_bitwidth() -> int:
    """Return how many bits an address has, 32 or 64.

    Examples
    --------
    >>> local_bitwidth() == LOCAL_BITWIDTH
    True
    """
    return LOCAL_BITWIDTH


def python_int_bitwidth() -> int:
    """Return how many bits C's ``long`` has, 32 or 64.

    Examples
    --------
    >>> python_int_bitwidth() == PYTHON_INT_BITWIDTH
    True
    """
    return PYTHON_INT_BITWIDTH


def get_lib_extension() -> str:
    """Return how the name of a module of Python in machine code ends, without its dot.

    Examples
    --------
    >>> get_lib_extension() in ("so", "dll", "pyd")
    True
    """
    return {"win32": "pyd", "cygwin": "dll"}.get(sys.platform, "so")


def short_platform(r: str | None = None, p: str | None = None) -> str:
    """Return the name of a platform without what changes with each release of its kernel.

    Parameters
    ----------
    r : str, optional
        The kernel's release, otherwise that of this machine.
    p : str, optional
        The platform's name, otherwise that of this machine.

    Examples
    --------
    >>> short_platform("3.2.0-70-generic", "Linux-3.2.0-70-generic-x86_64-with-debian-wheezy-sid")
    'Linux-3.2--generic-x86_64-with-debian-wheezy-sid'
    """
    release = platform.release() if r is None else r
    name = platform.platform() if p is None else p
    first, dash, rest = release.partition("-")
    if not dash:
        return name
    numbers = ".".join(first.split(".")[:2])
    return name.replace(release, f"{numbers}-{rest.lstrip('0123456789.')}")
