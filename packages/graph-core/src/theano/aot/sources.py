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
    >>> definitions("static const struct { int n; } table[] = {{1}};")
    set()
    """
    return CNames.of(text).defined


def _defined(head: str) -> str | None:
    """Return what a definition that begins so defines for other files."""
    bare = _ATTRIBUTE.sub(" ", head)
    if set(_WORD.findall(bare)) & {"static", "extern", "typedef"}:
        return None
    name = re.search(r"([A-Za-z_]\w*)\s*(?:\(|\[[^\]]*\]\s*=|=)", bare)
    return name[1] if name is not None and name[1] not in ("struct", "enum", "union", "_Static_assert") else None


def _statements(text: str) -> Iterable[tuple[str, str]]:
    """Yield the definitions at file level: the beginning, up to a body's brace or to the end, and the whole.

    The body of a struct belongs to neither, so that what it is the type of is seen with what stands before it.
    """
    depth = begin = 0
    before = head = ""
    for match in re.finditer(r"[{};]", text):
        at = match.start()
        if match[0] == "}":
            depth -= 1
            if depth == 0:
                defines = "(" in head or "=" in head
                if defines:
                    yield head, head + text[begin:at]
                before, begin = "" if defines else head, at + 1
        elif depth == 0:
            head = before + text[begin:at]
            if match[0] == ";" and "=" in head:
                yield head, head
            before, begin = "", at + 1
        depth += match[0] == "{"


class CNames(NamedTuple):
    """What a C file defines for others, and the names in its definitions: declarations alone need nothing."""

    defined: set[str]
    names: set[str]

    @classmethod
    def of(cls, text: str) -> CNames:
        """Return that of a text after the preprocessor.

        Examples
        --------
        >>> sorted(CNames.of("int far(int); int near(int); int b(int x) { return near(x); }").names)
        ['b', 'int', 'near', 'return', 'x']
        """
        heads, wholes = [], []
        for head, whole in _statements(_NOISE.sub(" ", text)):
            heads.append(head)
            wholes.append(whole)
        return cls({name for name in map(_defined, heads) if name}, set(_WORD.findall(" ".join(wholes))))


def closure(tree: SourceTree, symbols: Iterable[str], contents: Mapping[str, CNames]) -> dict[str, str]:
    """Return the files of a tree that define some symbols, and all that these need: from name to text.

    Parameters
    ----------
    tree : SourceTree
    symbols : list of str
    contents : dict from str to CNames
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
