"""``theano.compat``: what programs took from here to run with Python 2 and 3, as Python 3 has it."""

from __future__ import annotations

import logging
import pickle
import sys
from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Callable, Iterable
from functools import partial, reduce
from itertools import chain, zip_longest
from typing import Any

PY3 = True
integer_types, string_types = (int,), (str,)
imap, ifilter, izip, izip_longest = map, filter, zip, zip_longest
DictMixin = UserDict
DefaultOrderedDict = defaultdict  # dictionaries keep their order
cPickle = pickle
maxsize = sys.maxsize
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
    >>> has_handlers(logging.getLogger("nobody.listens")) == logging.getLogger().hasHandlers()
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


__all__ = [
    "PY3", "DefaultOrderedDict", "DictMixin", "OrderedDict", "b", "cPickle", "chain", "cmp", "decode", "decode_iter",
    "decode_with", "disable_log_handler", "exc_message", "get_unbound_function", "has_handlers", "ifilter", "imap",
    "integer_types", "izip", "izip_longest", "maxsize", "operator_div", "partial", "reduce", "string_types",
]  # fmt: skip
