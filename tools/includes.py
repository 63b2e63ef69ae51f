"""Where C and C++ files include headers that stand above them.

A file belongs to the package of its folder: ``tensor/blas/c/gemm.c`` to ``theano.tensor.blas``. A header is found by
its name, first beside the file, then in its layer, then in those below. Headers that a build writes do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cl", ".cu"}


def includes(root: Path, layers: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the place of each include of a file of ours, and the packages of the two files.

    Parameters
    ----------
    root : Path
        The folder that holds ``packages``.
    layers : list of str
        From the lowest up.
    """
    below: dict[str, list[Path]] = {}
    for layer in layers:
        source = root / "packages" / layer / "src"
        mine = [path for path in sorted(source.rglob("*")) if path.suffix in SUFFIXES]
        headers = {path.name: [path] for path in reversed(mine)}
        for path in mine:
            for match in INCLUDE.finditer(path.read_text(encoding="utf-8")):
                name = Path(match[1]).name
                beside = path.parent / match[1]
                found = [beside] if beside.is_file() else headers.get(name) or below.get(name, [])
                place = f"{path.relative_to(root).as_posix()}: includes {match[1]}"
                yield from ((place, package_of(path), package_of(header)) for header in found)
        below = {**below, **headers}


def package_of(path: Path) -> str:
    """Return the package of a C file.

    Examples
    --------
    >>> package_of(Path("packages/tensor/src/theano/tensor/blas/c/gemm.c"))
    'theano.tensor.blas'
    >>> package_of(Path("packages/graph-core/src/theano/loader/model/machine.c"))
    'theano.loader.model'
    """
    parts = path.parent.parts
    inside = parts[len(parts) - 1 - parts[::-1].index("theano") :]
    return ".".join(part for part in inside if part != "c")
