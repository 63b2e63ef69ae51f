"""Which sentences speak of older programs: only theano-legacy and few other files may.

A reader of the other layers meets what they do now. `check_layers` proves it of all texts: names, comments, messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_GAP = r"[\s\"#*]+"
_SAID = (
    rf"old(er)?{_GAP}(programs?|theano|systems?|implementations?)\b",
    rf"older{_GAP}(versions?(?! of)|names?|forms?|layouts?|spellings?)\b",
    r"theano-pymc\b|theano 1\.|1\.0\.5\b",
)
PAST = re.compile(rf"\b({'|'.join(_SAID)})", re.IGNORECASE)

#: Files that may, and why.
MAY = {
    "theano/__init__.py": "it looks for files of an older Theano in its folder",
    "theano/older.py": "what is said of these files",
    "theano/layers/__init__.py": "what is said where theano-legacy is not installed",
    "theano/settings/flags.py": "values of a documented flag",
}
PAGES = ("docs/tutorial", "docs/extending")


def sentences(root: Path, distributions: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what files outside theano-legacy say of older programs, and where.

    Parameters
    ----------
    root : Path
        The folder that holds ``packages``.
    distributions : iterable of str
    """
    sources = [root / "packages" / name / "src" for name in distributions if name != "legacy"]
    kinds = {".py", ".c", ".h", ".cpp", ".cl", ".cu", ".md"}
    for folder in (*sources, *(root / page for page in PAGES)):
        for path in sorted(folder.rglob("*")):
            if path.suffix not in kinds or path.relative_to(folder).as_posix() in MAY:
                continue
            text = path.read_text(encoding="utf-8")
            for found in PAST.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                yield " ".join(found[0].split()), f"{path.relative_to(root).as_posix()}:{line}"
