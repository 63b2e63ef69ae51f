"""How the C library of this layer is compiled, for those who build the layer and those who take its sources along.

This module needs nothing but the standard library: ``setup.py`` loads it where nothing is installed.
"""

from __future__ import annotations

FLAGS = (
    *("-std=gnu11", "-O3", "-falign-functions=64", "-fno-math-errno", "-fno-trapping-math"),
    *("-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing"),
)
"""The options for all levels of instructions.

Functions begin at a line of the cache, so that code before a kernel does not move its loops: by that alone the same
topk took 6 % longer. ``-O2 -fvect-cost-model=dynamic`` saves 3 of 33 processor seconds where it saves most, in
reduce_plain, argmax and the convolutions. Sums of rows of 4 elements and argmax of rows then take 1.4 to 2.3 times as
long (gcc 12, AVX-512).
"""

LEVELS = {
    "_kernels": (),
    "_kernels_v3": ("-march=x86-64-v3",),
    "_kernels_v4": ("-march=x86-64-v4", "-mprefer-vector-width=512"),
}
"""The library for each level of x86-64, and the options that choose it; elsewhere there is the first one only."""

FOREIGN_HEADERS = ("base", "exponential", "floating", "logarithm", "rare", "trigonometric", "wide")
"""Headers of the scalar layer, in its folder ``c``, that kernels include."""
