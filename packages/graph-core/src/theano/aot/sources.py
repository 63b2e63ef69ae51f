"""The texts of C files of a layer, with the headers that they include."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from theano.aot.exports import SourceTree

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


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
