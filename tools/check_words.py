"""Find words that say nothing to an engineer of this field, in names and on pages.

    python tools/check_words.py

Names are identifiers of Python, and names of modules. A word is in `WORDS` if each use of it in a name is a metaphor.
Pages are the README and the documentation, without code blocks. `PHRASES` are habits that make sentences hard to read:
persons in place of parts, and relative clauses in place of nouns. They are looked for on pages, and in all strings and
comments of the layers: docstrings, messages of errors and warnings, comments of Python and C.
"""

from __future__ import annotations

import ast
import io
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
# Each phrase of pages, as a pattern, and what is said instead.
PHRASES = {
    r"whoever|nobody|somebody": "the part that acts, or the passive",
    r"who (?:asks|has|knows|looks|overwrites|reads|receives|sends|updates|wants)": "the part that acts",
    r"(?:is|are|was|were|be|been) told": "receives, is passed, is given by",
    r"what (?:is|are|was) (?:asked|given|known|left|made|read|said|there|told|wanted)": "the noun",
    r"lies?": "is, is stored",
    r"so many": "the number of",
    r"there (?:is|are) (?:no|none|nothing)": "is missing, does not exist",
}
PAGES = ("README.md", "docs/**/*.md")
# Not read: pages that are written from docstrings.
WRITTEN = ("docs/_build/", "docs/errors.md", "docs/gallery/", "docs/library/")
LAYERS = "packages/*/src/**/*"
COMMENT_IN_C = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
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


def phrases_in(text: str) -> Iterator[tuple[int, str, str]]:
    r"""Yield line, phrase and remedy of each phrase of the table in the text of a page.

    Examples
    --------
    >>> list(phrases_in("Nobody reads it.\n\n```text\nnobody\n```\n"))
    [(1, 'Nobody', 'the part that acts, or the passive')]
    """
    prose = re.sub(r"(?ms)^ *(```+).*?^ *\1", lambda block: "\n" * block[0].count("\n"), text)
    for pattern, instead in PHRASES.items():
        spaced = pattern.replace(" ", r"\s+")
        for found in re.finditer(rf"(?i)\b(?:{spaced})\b", prose):
            yield prose.count("\n", 0, found.start()) + 1, " ".join(found[0].split()), instead


def problems_on_pages(root: Path = ROOT) -> Iterator[str]:
    """Yield each place of a page that has such a phrase."""
    for path in sorted({path for pattern in PAGES for path in root.glob(pattern)}):
        where = path.relative_to(root).as_posix()
        if not where.startswith(WRITTEN):
            for line, phrase, instead in sorted(phrases_in(path.read_text(encoding="utf-8"))):
                yield f"{where}:{line}: {phrase!r}; say: {instead}"


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string of a source, joined ones as one; ``{}`` stands for values.

    Examples
    --------
    >>> list(strings(ast.parse("raise KeyError(f'no {name} ' 'in it', 'or', 0)")))
    [(1, 'no {} in it'), (1, 'or')]
    """
    if isinstance(tree, ast.JoinedStr):
        yield tree.lineno, "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in tree.values)
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.lineno, tree.value
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(tree, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from strings(child)


def comments(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment of a source of Python (``.py``), C or C++.

    Examples
    --------
    >>> list(comments("x = 1  # one", ".py")), list(comments("int x; /* one */", ".c"))
    ([(1, '# one')], [(1, '/* one */')])
    """
    if suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        yield from ((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)
    else:
        yield from ((text.count("\n", 0, found.start()) + 1, found[0]) for found in COMMENT_IN_C.finditer(text))


def problems_in_layers(root: Path = ROOT) -> Iterator[str]:
    """Yield each place of a docstring, a message, a comment or another string of a layer that has such a phrase."""
    for path in sorted(path for path in root.glob(LAYERS) if path.suffix in {".py", ".h", ".c", ".cpp"}):
        source = path.read_text(encoding="utf-8")
        texts = list(comments(source, path.suffix))
        texts += strings(ast.parse(source)) if path.suffix == ".py" else ()
        for first, text in sorted(texts):
            for line, phrase, instead in phrases_in(text):
                yield f"{path.relative_to(root).as_posix()}:{first + line - 1}: {phrase!r}; say: {instead}"


def main() -> int:
    """Print what is found; exit with 1 if there is anything."""
    found = list(dict.fromkeys([*problems(), *problems_on_pages(), *problems_in_layers()]))
    print(*found, f"{len(found)} names and sentences with words of the tables", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
