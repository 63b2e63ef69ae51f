"""Text that users gave us or that their objects make, on its way out: to a file, a terminal, a compiler, a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.graph.signals import let_signals_through


def printable(text: str) -> str:
    r"""Return ``text`` with halves of surrogate pairs written as escapes: no encoding has them.

    Examples
    --------
    >>> printable("a\ud800b")
    'a\\ud800b'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def text_of(thing: Any, how: Callable[[Any], str] = str) -> str:
    """Return the text of an object that anybody may have written; its class where it has none.

    Parameters
    ----------
    thing : object
    how : callable
        ``str`` or ``repr``.

    Examples
    --------
    >>> class Mute(Exception):
    ...     def __str__(self):
    ...         raise ValueError("no words")
    >>> text_of(Mute()), text_of(ValueError("too long"))
    ('<Mute, whose text cannot be had>', 'too long')
    """
    try:
        return printable(how(thing))
    except Exception as error:  # noqa: BLE001  (the boundary to code that anybody may have written)
        let_signals_through(error)
        return f"<{type(thing).__name__}, whose text cannot be had>"
