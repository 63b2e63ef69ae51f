"""Measures on this machine what kernels choose between, in two seconds: ``python -m theano.doctor --calibrate``.

Each choice is tried in turn with the alternatives, on compiled functions and through the struct that kernels read
(`theano.tensor.kernels.tuning`), so that what is measured is what programs will run. Of the times of one alternative
the shortest counts, since whatever else goes on in a machine makes times longer. The alternative is taken whose times
are the shortest as a geometric mean over the cases; one that is no more than `WORTH` better than what is stored for
the machine's kind is no reason to change.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from theano.compile import In, function
from theano.settings import config
from theano.tensor.blas import dot
from theano.tensor.blas.choice import ALWAYS, choose_gemm, products_text
from theano.tensor.blas.library import find_blas
from theano.tensor.constructors import matrix, tensor3
from theano.tensor.kernels import tuning
from theano.tensor.reduce.functions import sum as sum_of
from theano.toolchain.build import core_count
from theano.toolchain.checks import Line

SIDES = (16, 32, 64, 100, 200, 320, 500, 1000)
"""Of square matrices: our products are taken up to one of these sizes, but for some small ones.

The smallest one is always ours: so are vectors and narrow matrices of as many multiplications, and all batches of such.
"""
SMALL_WITH_THREADS = 64
"""Rows up to which products are the library's as small ones where it has threads: for more it may start them, and they
keep cores busy after that."""
SHAPES = (((100, 200, 300), 1), ((2000, 2500), 0))
"""Of arrays that come from memory, with the axis over which they are summed: short rows and long ones."""
ROUNDS = 5
REST = 0.15
"""Seconds that threads of OpenBLAS keep their cores busy after a product, in which ours would have none to work on."""
WORTH = 0.03
"""By so much of the geometric mean an alternative has to be better: less is noise."""
SHORTEST = 2e-3
"""Seconds: calls that take less are made in groups."""

Call = Callable[[], object]


def calibrate() -> Iterator[Line]:
    """Measure everything, keep it for later processes, and yield a line for each choice.

    Examples
    --------
    >>> list(calibrate())  # doctest: +SKIP
    [Line(topic='calibrated', text='products of float64: ours up to 500 x 500 x 500', ...), ...]
    """
    begin, values = time.perf_counter(), tuning.current()
    for dtype in ("float64", "float32"):
        if choose_gemm(find_blas()).by_size:
            values |= own_products(dtype)
            yield Line("calibrated", f"products of {dtype}: {products_text(values, dtype)}")
    for dtype, name in (("float64", "row_by_row"), ("float32", "row_by_row_widened")):
        values[name] = row_by_row(dtype, name)
        how = "one row after the other" if values[name] else "four rows at a time"
        yield Line("calibrated", f"sums over rows of big arrays of {dtype}: {how}")
    tuning.keep(values)
    yield Line("calibrated", f"in {time.perf_counter() - begin:.1f} s, and kept in the cache")


def own_products(dtype: str) -> dict[str, int]:
    """Return up to how many multiplications products are to be ours, all but which small ones, by measuring both."""
    x, y = matrix(dtype=dtype), matrix(dtype=dtype)
    product = function([In(x, borrow=True), In(y, borrow=True)], dot(x, y))
    values = [np.random.default_rng(side).normal(size=(side, side)).astype(dtype) for side in SIDES]
    several = (config.threads or core_count()) > 1
    times = [dict.fromkeys((ALWAYS, -1), math.inf) for _ in SIDES]
    with tuning.tuned(**{f"small_up_to_{dtype}": 0}):
        for own in (ALWAYS, -1, ALWAYS, -1):
            time.sleep(REST if own == ALWAYS and several else 0)
            for value, found in zip(values, times, strict=True):
                found[own] = min(found[own], shortest(partial(product, value, value), f"own_{dtype}", (own,), 2)[own])
    names = [f"{name}_{dtype}" for name in ("own", "small_above", "small_up_to")]
    known = [tuning.stored().values[name] for name in names]
    sides = [side for side in SIDES if side <= SMALL_WITH_THREADS or not several]

    def cost(up_to: int, above: int, small: int) -> float:
        ours = (side**3 <= up_to and not above < side**3 <= small for side in SIDES)
        return sum(math.log(found[ALWAYS if own else -1]) for found, own in zip(times, ours, strict=True))

    windows = [(0, 0), *((a**3, b**3) for a in sides for b in sides if a < b)]
    limits = [*(side**3 for side in SIDES[:-1]), ALWAYS]
    best = min(((up_to, *window) for up_to in limits for window in windows), key=lambda each: cost(*each))
    chosen = best if cost(*known) - cost(*best) > WORTH * len(SIDES) else known
    return dict(zip(names, chosen, strict=True))


def row_by_row(dtype: str, name: str) -> bool:
    """Return whether rows of arrays that come from memory are better summed one after the other.

    Parameters
    ----------
    dtype : str
        Of the arrays.
    name : str
        The choice, among the fields of `theano.tensor.kernels.parameters.Tuning`.
    """
    cost: dict[int, float] = {True: 0.0, False: 0.0}
    for shape, axis in SHAPES:
        x = tensor3(dtype=dtype) if len(shape) == 3 else matrix(dtype=dtype)
        call = partial(function([In(x, borrow=True)], sum_of(x, axis=axis)), np.ones(shape, dtype))
        for way, seconds in shortest(call, name, tuple(cost)).items():
            cost[way] += math.log(seconds)
    known = bool(tuning.stored().values[name])
    return not known if cost[known] - cost[not known] > WORTH * len(SHAPES) else known


def shortest(call: Call, name: str, values: Sequence[int], rounds: int = ROUNDS) -> dict[int, float]:
    """Return for each value of a choice the shortest time of a call, in seconds; the values take turns."""
    with tuning.tuned(**{name: values[0]}):  # no other may run before it: its threads would be busy still
        call()
        begin = time.perf_counter()
        call()
        count = max(1, math.ceil(SHORTEST / (time.perf_counter() - begin)))
    found = dict.fromkeys(values, math.inf)
    for _ in range(rounds):
        for value in values:
            with tuning.tuned(**{name: value}):
                begin = time.perf_counter()
                for _ in range(count):
                    call()
                found[value] = min(found[value], (time.perf_counter() - begin) / count)
    return found
