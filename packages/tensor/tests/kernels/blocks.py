"""The sizes at which kernels cut their work, and the counts around them.

``c/blocks.h`` of the layer and ``small_blocks.h`` here say what they are; the loader's element-wise loops and copies have
their own at the top of their files, small enough to be met as they are.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
from kernel_harness import ABI, COMMON_C, HERE
from kernel_toys import DTYPES

from portion import portion

REAL_HEADER, SMALL_HEADER = COMMON_C / "blocks.h", HERE / "small_blocks.h"
LOOPS = (ABI.parent / "elementwise.cpp", ABI.parent / "move.cpp")
met: set[str] = set()
"""The sizes whose edges some test meets: `edges` notes them when the tests are collected."""


def value_of(text: str) -> int:
    """Return the value of a size as C has it: a number, perhaps shifted."""
    number, _, shift = text.partition("<<")
    return int(number) << int(shift or 0)


def sizes_of(header: Path) -> dict[str, int]:
    """Return the sizes that a header's table names, without the prefix that all have.

    Examples
    --------
    >>> sizes_of(REAL_HEADER)["ARGMAX_BLOCK"]
    4096
    """
    return {n: value_of(v) for n, v in re.findall(r"^ +TH_(\w+) = ([\d <]+)", header.read_text(), re.MULTILINE)}


def sizes_of_loops() -> dict[str, int]:
    """Return the sizes of the loader's loops, by the names they have there."""
    found = re.findall(r"\b(k[A-Z]\w+) = ([\d <]+)[,;]", "".join(path.read_text() for path in LOOPS))
    return {name: value_of(value) for name, value in found}


SMALL, OF_LOOPS = sizes_of(SMALL_HEADER), sizes_of_loops()


def edges(*names: str, products: tuple[tuple[str | int, ...], ...] = (), most: int = 10_000) -> list[int]:
    """Return the counts just below, at and above some sizes, twice them, and products of them.

    Parameters
    ----------
    names : str
        Sizes; those of bytes count for elements of every width.
    products : tuple of tuples
        Names, or numbers that are no sizes: what is met when blocks themselves fill a block.
    most : int
        Larger counts are left out.
    """
    sizes = SMALL | OF_LOOPS
    met.update(names, *({name for name in row if isinstance(name, str)} for row in products))
    at = set()
    for name in names:
        widths = (1, 2, 4, 8, 16) if name.endswith(("BYTES", "SMALL_TILE")) or name in ("kTileBytes", "kTransposedBytes") else (1,)
        at |= {times * sizes[name] // width for width in widths for times in (1, 2)}
    for row in products:
        product = 1
        for factor in row:
            product *= sizes[factor] if isinstance(factor, str) else factor
        at |= {product, 2 * product}
    return sorted({n for n, by in itertools.product(at, (-1, 0, 1)) if 0 < n + by <= most for n in [n + by]})


# -- operands --------------------------------------------------------------------------------------------------------

REAL = [d for d in DTYPES if not d.startswith("complex")]
FLOATS = ["float32", "float64"]
ORDERS = ["CC", "CF", "FC", "FF", "SS"]
KEYS = [*DTYPES, *ORDERS]
rng = np.random.default_rng(11)
# All loops are met on one thread and on several.
edges("SERIAL_NS", "PIECE_NS")


def whole(shape, dtype, low=-3, high=4):
    """Whole numbers, of complex numbers in both parts."""
    kind = np.dtype(dtype).kind
    x = rng.integers(0 if kind in "bu" else low, 2 if kind == "b" else high, shape)
    return (x + 1j * rng.integers(low, high, shape) if kind == "c" else x).astype(dtype)


def spread(x):
    """The same numbers where they are no neighbours."""
    buffer = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    buffer[..., ::2] = x
    return buffer[..., ::2]


def share(cases, one_in, *names):
    """Return a part of a table, another one for each dtype: between them, dtypes try all of it."""
    return portion(cases, one_in, always=0, which=sum(map(KEYS.index, names)))
