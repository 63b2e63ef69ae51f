"""How fast matrices are multiplied, and by what: ``python -m theano.misc.check_blas``."""

from __future__ import annotations

import argparse
import time
from typing import Literal

import numpy as np

import theano
import theano.tensor as T
from theano.layers import lazily
from theano.tensor.blas.library import find_blas


def execute(
    execute: bool = True, verbose: bool = True, M: int = 2000, N: int = 2000, K: int = 2000, iters: int = 10,
    order: Literal["C", "F"] = "C",
) -> tuple[float, str]:  # fmt: skip
    """Add the product of two matrices to a third, several times, and time it.

    Parameters
    ----------
    execute : bool
        Whether to run it; without it nothing is timed, and the time is 0.
    verbose : bool
        Print the settings that matter.
    M, N, K : int
        The matrices are M by K and K by N.
    iters : int
    order : "C" or "F"
        Their memory layout.

    Returns
    -------
    (float, str)
        Seconds, and what multiplied.

    Examples
    --------
    >>> seconds, what = execute(verbose=False, M=8, N=8, K=8, iters=2)
    >>> seconds > 0
    True
    """
    blas = find_blas()
    if verbose:
        print(f"blas.ldflags={theano.config.blas.ldflags}\nblas.gemm={theano.config.blas.gemm}")
        print(f"found: {blas.source} {blas.path or ''}\nfloatX={theano.config.floatX}")
    rng, dtype = np.random.default_rng(0), theano.config.floatX
    a, b, c = (theano.shared(np.asarray(rng.normal(size=s), dtype, order=order)) for s in ((M, K), (K, N), (M, N)))
    f = theano.function([], updates=[(c, 0.4 * c + 0.8 * T.dot(a, b))])
    what = f"CPU, {blas.source}"
    if not execute:
        return 0.0, what
    f()  # the first call asks for memory
    start = time.perf_counter()
    for _ in range(iters):
        f()
    return time.perf_counter() - start, what


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    for name, default in (("M", 2000), ("N", 2000), ("K", 2000), ("iters", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--order", choices=("C", "F"), default="C")
    parser.add_argument("-q", "--quiet", action="store_true")
    given = parser.parse_args()
    seconds, what = execute(True, not given.quiet, given.M, given.N, given.K, given.iters, given.order)
    work = 2.0 * given.M * given.N * given.K * given.iters
    print(f"{given.iters} calls of gemm took {seconds:.3f} s by {what}: {work / seconds / 1e9:.1f} GFLOP/s")


__getattr__, __dir__ = lazily(globals())

if __name__ == "__main__":
    main()
