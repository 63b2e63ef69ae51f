"""Prove that signatures say as much as they did: how often `Any` stands in each layer, and no more.

    python tools/check_any.py        check the tree; exit 1 where a layer has more than `MOST`

`Any` tells neither a reader nor mypy anything. Who adds some to a layer has to find the class that is meant; who takes
some away is asked to write the new number down here, so that nobody adds them again.
"""

from __future__ import annotations

import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: How often the name stands in the Python of each layer, imports included; 10,664 times with theano-legacy in the
#: beginning. Layers that are not named are not counted: what programs hand to theano-legacy may be anything.
MOST = {"graph-core": 1138, "scalar": 144, "tensor": 2151, "sparse": 196, "gpu-backend": 222}


def times(text: str) -> int:
    """Return how often a source names `Any`; comments and texts do not count.

    Examples
    --------
    >>> times("from typing import Any  # Any"), times("def f(x: Any) -> list[Any]: ..."), times("AnyOf = 'Any'")
    (1, 2, 0)
    """
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(t.type == tokenize.NAME and t.string == "Any" for t in tokens)


def by_layer(root: Path) -> dict[str, int]:
    """Return how often each layer of `MOST` names it."""
    found = {}
    for layer in MOST:
        files = (root / "packages" / layer / "src").rglob("*.py")
        found[layer] = sum(times(path.read_text(encoding="utf-8")) for path in files)
    return found


def remarks(found: dict[str, int]) -> tuple[list[str], list[str]]:
    """Return what is wrong with these numbers, and what their author is asked to do.

    Examples
    --------
    >>> remarks(MOST)
    ([], [])
    >>> remarks(MOST | {"scalar": MOST["scalar"] + 2})[0]
    ['scalar names Any 2 times more than before: say which class is meant']
    """
    wrong, asked = [], []
    for layer, n in found.items():
        if n > MOST[layer]:
            wrong.append(f"{layer} names Any {n - MOST[layer]} times more than before: say which class is meant")
        elif n < MOST[layer]:
            asked.append(f"{layer} names Any {n} times now, not {MOST[layer]}: write that into tools/check_any.py")
    return wrong, asked


def main(root: Path = ROOT) -> int:
    """Print the numbers and what there is to say of them."""
    found = by_layer(root)
    wrong, asked = remarks(found)
    for line in wrong:
        print(f"BROKEN {line}")
    for line in asked:
        print(f"PLEASE {line}")
    print(f"Any stands {sum(found.values()):,} times: {', '.join(f'{n:,} in {layer}' for layer, n in found.items())}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
