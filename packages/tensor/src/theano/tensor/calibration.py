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
from theano.tensor.blas.choice import ALWAYS, choose_gemm, size_text
from theano.tensor.blas.library import find_blas
from theano.tensor.constructors import matrix, tensor3
from theano.tensor.kernels import tuning
from theano.tensor.reduce.functions import sum as sum_of
from theano.toolchain.build import core_count
from theano.toolchain.checks import Line

SIDES = (16, 32, 64, 100, 200, 320, 500, 1000)
"""Of square matrices: our products are the faster ones up to one of these sizes, if at all."""
SHAPES = (((100, 200, 300), 1), ((2000, 2500), 0))
"""Of arrays that come from memory, with the axis over which they are summed: short rows and long ones."""
ROUNDS = 5
REST = 0.15
"""Seconds that threads of OpenBLAS keep their cores busy after a product, in which ours would have none to work on."""
WORTH = 0.02
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
            values[f"own_{dtype}"] = own_products(dtype)
            yield Line("calibrated", f"products of {dtype}: ours up to {size_text(values[f'own_{dtype}'])}")
    for dtype, name in (("float64", "row_by_row"), ("float32", "row_by_row_widened")):
        values[name] = row_by_row(dtype, name)
        how = "one row after the other" if values[name] else "four rows at a time"
        yield Line("calibrated", f"sums over rows of big arrays of {dtype}: {how}")
    tuning.keep(values)
    yield Line("calibrated", f"in {time.perf_counter() - begin:.1f} s, and kept in the cache")


def own_products(dtype: str) -> int:
    """Return up to how many multiplications our products are to run, by measuring both at several sizes."""
    x, y = matrix(dtype=dtype), matrix(dtype=dtype)
    product = function([In(x, borrow=True), In(y, borrow=True)], dot(x, y))
    values = [np.random.default_rng(side).normal(size=(side, side)).astype(dtype) for side in SIDES]
    times = [dict.fromkeys((ALWAYS, -1), math.inf) for _ in SIDES]
    for own in (ALWAYS, -1, ALWAYS, -1):
        time.sleep(REST if own == ALWAYS and (config.threads or core_count()) > 1 else 0)
        for value, found in zip(values, times, strict=True):
            found[own] = min(found[own], shortest(partial(product, value, value), f"own_{dtype}", (own,), 2)[own])
    known = tuning.stored().values[f"own_{dtype}"]
    limits = [-1, *(side**3 for side in SIDES[:-1]), ALWAYS]
    # With the k-th limit the first k sizes are ours.
    costs = [sum(math.log(t[ALWAYS if at < k else -1]) for at, t in enumerate(times)) for k in range(len(limits))]
    better = costs[sum(side**3 <= known for side in SIDES)] - min(costs) > WORTH * len(SIDES)
    return limits[costs.index(min(costs))] if better else known


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
