"""What compilers say, made fit to be shown: a program may write anything."""

from __future__ import annotations

import re

_ESCAPE = (  # seldom needed, so not compiled when a process starts
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
)
_LOOKED_AT = 1 << 16


def readable(text: str, limit: int = 200) -> str:
    r"""Return one line without what cannot be printed, cut to a length.

    Examples
    --------
    >>> readable("\x1b[1mcc:\x1b[0m no\x00 such\x07 option")
    'cc: no such option'
    """
    shown = "".join(c for c in re.sub(_ESCAPE, "", text) if c.isprintable() and c != "\ufffd").strip()
    return shorten(shown, limit)


def first_words(output: str) -> str:
    r"""Return the first line of a program's output that users can read; "" if it has none.

    Examples
    --------
    >>> first_words("\x7fELF\ufffd\ufffd\x01\ufffdq\ufffd\x03\ufffd\n\ncc: no such option\n")
    'cc: no such option'
    """
    for line in output[:_LOOKED_AT].splitlines():
        shown = readable(line)
        # Of noise some bytes are letters by chance.
        if sum(c.isalnum() or c.isspace() for c in shown) * 2 > min(400, len(re.sub(_ESCAPE, "", line).strip())) > 2:
            return shown
    return ""


def shorten(text: str, limit: int = 120) -> str:
    """Return a text cut to a length.

    Examples
    --------
    >>> shorten("a long story", 8)
    'a lon...'
    """
    return text if len(text) <= limit else text[: limit - 3] + "..."
