"""Texts of programs: filling in, and laying out by braces."""

from __future__ import annotations

from collections.abc import Mapping


def render_string(string: str, sub: Mapping[str, object]) -> str:
    """Return ``string % sub``; where that fails, the error shows how far it is right.

    Raises
    ------
    ValueError
        A name is missing in ``sub``, or a mark is none that ``%`` knows.

    Examples
    --------
    >>> render_string("%(kind)s x;", {"kind": "int"})
    'int x;'
    >>> render_string("int %(name)s;", {})
    Traceback (most recent call last):
    ValueError: KeyError('name') at the end of 'int %(name)'
    """
    try:
        return string % sub
    except (KeyError, TypeError, ValueError) as problem:
        for end in range(len(string) + 1):
            try:
                string[:end] % sub
            except (KeyError, TypeError, ValueError) as first:
                if repr(first) == repr(problem):
                    raise ValueError(f"{problem!r} at the end of {string[:end]!r}") from None
        raise


def pretty_format(string: str) -> str:
    r"""Return a text in C with each line indented by how many braces are open.

    Examples
    --------
    >>> print(pretty_format("if (x) {\n  y();\n    }"))
    if (x) {
        y();
    }
    """
    depth, lines = 0, []
    for line in string.split("\n"):
        bare = strip_leading_white_space(line)
        depth = max(0, depth - bare.count("}"))
        lines.append("    " * depth + bare)
        depth += bare.count("{")
    return "\n".join(lines)


def strip_leading_white_space(line: str) -> str:
    """Return ``line`` without blanks and tabs at its start.

    Examples
    --------
    >>> strip_leading_white_space("  x ")
    'x '
    """
    return line.lstrip(" \t")
