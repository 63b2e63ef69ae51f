"""Which C files of a layer some kernels need.

What a file defines and what it uses is read from its text after the preprocessor, since names are pasted together by
macros. A file that is needed brings all that define what it uses; headers follow their ``#include`` lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping

from theano.aot.exports import SourceTree
from theano.records import NamedTuple

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NOISE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^#.*$', re.MULTILINE)
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)(?!\))|_Alignas\s*\([^()]*\)", re.DOTALL)


def definitions(text: str) -> set[str]:
    """Return the functions and variables that preprocessed C defines for other files.

    Examples
    --------
    >>> sorted(definitions("static int a(int x) { return x; } int b(void) { return a(1); } extern int c;"))
    ['b']
    >>> sorted(definitions("struct s { int n; }; int b(void) { return 1; } const int d[] = {1};"))
    ['b', 'd']
    """
    found = set()
    for head in _statements(_NOISE.sub(" ", text)):
        bare = _ATTRIBUTE.sub(" ", head)
        words = set(_WORD.findall(bare))
        if words & {"static", "extern", "typedef"}:
            continue
        name = re.search(r"([A-Za-z_]\w*)\s*(?:\(|\[[^\]]*\]\s*=|=)", bare)
        if name is not None and name[1] not in ("struct", "enum", "union", "_Static_assert"):
            found.add(name[1])
    return found


def _statements(text: str) -> Iterable[str]:
    """Yield the beginnings of definitions at file level: up to the brace of a body, or with the ``=`` of a value."""
    depth = begin = 0
    for match in re.finditer(r"[{};]", text):
        at = match.start()
        if match[0] == "{":
            if depth == 0:
                head = text[begin:at]
                if "(" in head or "=" in head:
                    yield head
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                begin = at + 1
        elif depth == 0:
            head = text[begin:at]
            if "=" in head and "{" not in head:
                yield head
            begin = at + 1


class Contents(NamedTuple):
    """What a C file defines for others, and all names in it."""

    defined: set[str]
    names: set[str]

    @classmethod
    def of(cls, text: str) -> Contents:
        """Return that of a text after the preprocessor."""
        return cls(definitions(text), set(_WORD.findall(text)))


def closure(tree: SourceTree, symbols: Iterable[str], contents: Mapping[str, Contents]) -> dict[str, str]:
    """Return the files of a tree that define some symbols, and all that these need: from name to text.

    Parameters
    ----------
    tree : SourceTree
    symbols : list of str
    contents : dict from str to Contents
        Of each ``.c`` file of the tree.

    Raises
    ------
    LookupError
        No file defines one of them.
    """
    owner = {symbol: name for name, each in contents.items() for symbol in each.defined}
    needed: dict[str, None] = {}
    waiting = []
    for symbol in symbols:
        if symbol not in owner:
            raise LookupError(f"no C source of {tree.name} defines {symbol}")
        waiting.append(owner[symbol])
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = None
            waiting += {owner[word] for word in contents[name].names if word in owner}
    return with_headers({name: read(tree, name) for name in sorted(needed)}, lambda name: header(tree, name))


def read(tree: SourceTree, name: str) -> str:
    """Return the text of a file of a tree."""
    if name in tree.written:
        return tree.written[name]
    with open(tree.files[name], encoding="utf-8") as file:
        return file.read()


def header(tree: SourceTree, name: str) -> str | None:
    """Return the text of a header of a tree, or None where it is none of it."""
    return read(tree, name) if name in tree.written or name in tree.files else None


def with_headers(texts: Mapping[str, str], find: Callable[[str], str | None]) -> dict[str, str]:
    """Return files with the headers that they include, and those that these include.

    Parameters
    ----------
    texts : dict from str to str
        Files by name.
    find : callable
        From the name by which a header is included to its text; None: it is no business of ours.
    """
    found = dict(texts)
    waiting = list(texts)
    while waiting:
        name = waiting.pop()
        for included in _INCLUDE.findall(found[name]):
            # By its own folder first, as a compiler looks.
            beside = os.path.normpath(os.path.join(os.path.dirname(name), included)).replace(os.sep, "/")
            for known in dict.fromkeys((beside, included)):
                if known in found:
                    break
                text = find(known)
                if text is not None:
                    found[known] = text
                    waiting.append(known)
                    break
    return found
