"""Whose products of matrices run: ours (``c/gemm.h``) or those of the BLAS library.

The choice is made here and nowhere else, for each kernel when it is made. Where neither a flag nor the library decides,
it is left to the size, and the kernel looks up at each call which sizes are ours (`theano.tensor.kernels.tuning`). The
sizes for machines where nothing was measured rest on one core of an AMD Zen 5 (512-bit vectors), with OpenBLAS 0.3.31
told to use its kernels for AVX2 and for AVX-512 in turn:

- Libraries choose kernels by the CPU's model number, and take old ones for a CPU they do not know: then ours, with
  twice as wide vectors, are twice as fast at every size.
- Against kernels for the same vectors, ours win up to about 500 x 500 x 500 (they pack less), and lose up to a
  tenth above 1000 x 1000 x 1000. With vectors of 256 bits (Zen 3) they win, or are as fast, up to 1200 x 1200 x 1200.
  On Granite Rapids they win up to 2000 x 2000 x 2000 at least, by a sixth at 600 rows and a twentieth at 2,000.
- OpenBLAS has kernels for small matrices, with AVX-512. Where these are measured to win between two sizes, products in
  between are the library's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from theano.records import NamedTuple
from theano.settings import config
from theano.tensor.blas.library import BlasLibrary
from theano.tensor.kernels import tuning
from theano.tensor.kernels.common import library_level

ALWAYS = 1 << 62
"""More multiplications than there are in any product."""
FACTORED = 2000**3
"""Up to where factorisations with 512-bit vectors were measured (Emerald Rapids, one and two cores)."""
# How OpenBLAS calls its kernels for AVX-512.
_WIDE_CORES = ("skylakex", "cooperlake", "sapphirerapids")


class GemmChoice(NamedTuple):
    """Up to how many multiplications a product is ours, and why.

    Where the sizes are measured ones (`by_size`), a kernel that can reads them at each call from `tuning`; `up_to` is
    for kernels that read them once.
    """

    up_to: int
    why: str = ""
    by_size: bool = False

    @property
    def reason(self) -> str:
        """What the doctor says of it."""
        if not self.by_size:
            return self.why
        values = tuning.current()
        return "; ".join(f"{products_text(values, dtype)} ({dtype})" for dtype in ("float64", "float32"))


def choose_gemm(library: BlasLibrary) -> GemmChoice:
    """Return the choice for a library (which may be none), the flag ``blas.gemm``, and the level of our kernels.

    Examples
    --------
    >>> from theano.tensor.blas.library import BlasLibrary
    >>> choose_gemm(BlasLibrary("none")).up_to > 10**18
    True
    """
    wish, level, core = config.blas.gemm, library_level(), library.core.lower()
    if not library.addresses:
        return GemmChoice(ALWAYS, "ours; no BLAS library was found")
    if wish == "own":
        return GemmChoice(ALWAYS, "ours, as the flag blas.gemm says")
    if wish == "library":
        return GemmChoice(-1, "the library's, as the flag blas.gemm says")
    if level not in ("v3", "v4"):
        return GemmChoice(-1, "the library's; ours are fast with AVX2 or AVX-512")
    if level == "v4" and core and core not in _WIDE_CORES:
        return GemmChoice(ALWAYS, f"ours, with 512-bit vectors; the library takes this CPU for a {library.core}")
    return GemmChoice(tuning.CAREFUL["own_float64"], by_size=True)


def factored_by_us(library: BlasLibrary) -> int:
    """Return up to how many multiplications, the rows to the third power, a matrix is factored by us.

    With vectors of 512 bits ours take 0.5 to 0.85 of the time of OpenBLAS's LAPACK up to `FACTORED`, whose products are
    as fast as ours but not what stands around them (QR in float64 takes as long); with 256 bits 0.9 to 1.1.
    """
    choice = choose_gemm(library)
    return max(choice.up_to, FACTORED) if choice.by_size and library_level() == "v4" else choice.up_to


def products_text(values: Mapping[str, int], dtype: str) -> str:
    """Return which products are ours, by the values of `theano.tensor.kernels.tuning`.

    Examples
    --------
    >>> products_text(tuning.CAREFUL, "float64")
    'ours up to 500 x 500 x 500'
    >>> products_text(tuning.CAREFUL | {"small_above_float32": 16**3, "small_up_to_float32": 64**3}, "float32")
    'ours up to 500 x 500 x 500, but not the square ones above 16 x 16 x 16 up to 64 x 64 x 64'
    """
    up_to, above, small = (values[f"{name}_{dtype}"] for name in ("own", "small_above", "small_up_to"))
    text = f"ours up to {size_text(up_to)}"
    if above < min(small, up_to):
        text += f", but not the square ones above {size_text(above)} up to {size_text(small)}"
    return text


def size_text(multiplications: int) -> str:
    """Return the size of square matrices whose product takes this many multiplications.

    Examples
    --------
    >>> size_text(500**3), size_text(-1), size_text(ALWAYS)
    ('500 x 500 x 500', 'no size', 'any size')
    """
    if multiplications <= 0 or multiplications >= ALWAYS:
        return "no size" if multiplications <= 0 else "any size"
    return " x ".join([str(round(multiplications ** (1 / 3)))] * 3)


def thread_limit() -> int:
    """Return how many threads one product may use, or 0: as many as there are.

    The variables that limit BLAS libraries limit ours too.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "")
        if text.isdigit() and int(text) > 0:
            return int(text)
    return 0
