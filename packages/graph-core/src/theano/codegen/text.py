"""Small tools for writing C that users read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

COMMENT_LIMIT = 240
"""Longest piece of user text that a comment shows."""


def comment_text(text: str, limit: int = COMMENT_LIMIT) -> str:
    r"""Make any text safe to stand inside a C comment.

    Nothing that a user writes may end the comment, join the next line to it or hide
    what the compiler really sees, so everything outside printable ASCII is spelled out.

    Examples
    --------
    >>> comment_text("x */ int y; /*")
    'x * / int y; / *'
    >>> print(comment_text("caf\u00e9\n"))
    caf\xe9\n
    """
    if len(text) > limit:
        text = text[: limit - 3] + "..."
    plain = "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode() for c in text)
    # '??/' is a trigraph for a backslash, and a backslash at the end of a line joins two lines.
    plain = plain.replace("??/", "? ?/").replace("*/", "* /").replace("/*", "/ *")
    # A blank would not do: some compilers join lines at a backslash with blanks behind it.
    return plain + " ." if plain.endswith("\\") else plain


class CText:
    """Lines of C with indentation kept by ``with`` blocks.

    Examples
    --------
    >>> c = CText()
    >>> c.comment("out = x + 1")
    >>> with c.block("for (int64_t i = 0; i < n; ++i)"):
    ...     c("out[i] = x[i] + 1;")
    >>> print(c)
    /* out = x + 1 */
    for (int64_t i = 0; i < n; ++i) {
        out[i] = x[i] + 1;
    }
    """

    def __init__(self, indent: str = "    ") -> None:
        self._indent = indent
        self.depth = 0
        self._lines: list[str] = []

    def __call__(self, *lines: str) -> None:
        """Append lines; each may itself hold several, which are all indented."""
        prefix = self._indent * self.depth
        for text in lines:
            for line in text.split("\n"):
                # A preprocessor line stays at the margin, where readers look for it.
                self._lines.append((prefix + line if line and line[0] != "#" else line).rstrip())

    def extend(self, lines: Iterable[str]) -> None:
        """Append many lines."""
        self(*lines)

    def verbatim(self, text: str) -> None:
        """Append text as it is, without indentation."""
        self._lines += text.split("\n")

    def comment(self, text: str) -> None:
        """Append a one-line comment holding any text."""
        self(f"/* {comment_text(text)} */")

    @contextmanager
    def block(self, head: str = "", tail: str = "") -> Iterator[None]:
        """Indent what is written inside between ``head {`` and ``}tail``."""
        self(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self("}" + tail)

    @property
    def line_count(self) -> int:
        """Number of lines written so far."""
        return len(self._lines)

    def __str__(self) -> str:
        return "\n".join(self._lines)
