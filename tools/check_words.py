"""Find names with words that say nothing to an engineer of this field, where the field has a word of its own.

    python tools/check_words.py

Only names count: identifiers of Python, and the names of modules. Prose may use any word that is clear. A word is in
the table if no meaning of it in this project is anything but a metaphor, so that what is found is never right.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("packages/*/src/**/*.py", "tools/**/*.py", "benchmarks/**/*.py", "docs/*.py")

# Each word, and what is said instead.
WORDS = {
    "desk": "workspace",
    "door": "facade, public module, entry point",
    "doors": "facades, public modules, entry points",
    "grants": "limits, quotas",
    "house": "sources, project",
    "people": "users",
    "roof": "top tier",
    "room": "package; space, capacity, buffer",
    "rooms": "packages; buffers",
    "shelf": "bucket",
    "shelves": "buckets",
    "stepper": "interpreter",
    "surroundings": "environment",
    "unwind": "flatten",
    "witness": "recorder",
}
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def found_in(name: str) -> Iterator[str]:
    """Yield the words of the table that are parts of a name.

    Examples
    --------
    >>> list(found_in("room_of")), list(found_in("FrontDoor")), list(found_in("mushroom"))
    (['room'], ['door'], [])
    """
    yield from (part for part in map(str.lower, PART.findall(name)) if part in WORDS)


def problems(root: Path = ROOT) -> Iterator[str]:
    """Yield each place where such a name stands, with what to say instead."""
    for path in sorted({path for pattern in SOURCES for path in root.glob(pattern)}):
        where = path.relative_to(root)
        for word in found_in(path.stem):
            yield f"{where}: the name of the module has the word {word!r}; say: {WORDS[word]}"
        with tokenize.open(path) as file:
            for token in tokenize.generate_tokens(file.readline):
                for word in found_in(token.string) if token.type == tokenize.NAME else ():
                    yield f"{where}:{token.start[0]}: {token.string} has the word {word!r}; say: {WORDS[word]}"


def main() -> int:
    """Print what is found; exit with 1 if there is anything."""
    found = list(dict.fromkeys(problems()))
    print(*found, f"{len(found)} names with words of the table", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
