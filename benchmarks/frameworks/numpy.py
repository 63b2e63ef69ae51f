"""NumPy: the peer that is always there, and the reference for all others."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from benchmarks.frameworks.base import Built, Framework, NotAvailable, clock, copies, copies_by_name
from benchmarks.workload import Workload

try:
    from scipy.special import erf
except ImportError:
    erf = np.vectorize(math.erf, otypes=[float])


try:
    from scipy.linalg import solve_triangular

    solve_lower = partial(solve_triangular, lower=True, check_finite=False)
except ImportError:
    solve_lower = np.linalg.solve


def logsumexp(x: Any, axis: int) -> Any:
    top = np.max(x, axis, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis)) + np.squeeze(top, axis)


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, 1, keepdims=True))
    e /= e.sum(1, keepdims=True)
    return e


def log_softmax(x: Any) -> Any:
    x = x - np.max(x, 1, keepdims=True)
    x -= np.log(np.sum(np.exp(x), 1, keepdims=True))
    return x


def softplus(x: Any) -> Any:
    return np.logaddexp(x, 0).astype(x.dtype, copy=False)


def set_block(x: Any, block: tuple[int, int], values: Any) -> Any:
    x = x.copy()
    x[slice(*block), slice(*block)] = values
    return x


class NumPy(Framework):
    """Expressions as one writes them in NumPy; gradients by hand."""

    version = np.__version__

    def __init__(self) -> None:
        same = "exp log log1p tanh sin cos sqrt where clip dot outer sum mean var std max min prod argmax argmin any"
        for word in f"{same} all cumsum concatenate stack reshape".split():
            setattr(self, word, getattr(np, word))
        self.batched_dot = np.matmul
        self.sigmoid = lambda x: 1 / (1 + np.exp(-x))
        self.relu = lambda x: np.maximum(x, 0)
        self.erf, self.softplus, self.logsumexp = erf, softplus, logsumexp
        self.softmax, self.log_softmax, self.set_block = softmax, log_softmax, set_block
        self.take = self.where_true = lambda x, index: x[index]
        self.contiguous = np.ascontiguousarray
        self.sort, self.argsort, self.searchsorted = np.sort, np.argsort, np.searchsorted
        self.largest = lambda x, k: np.sort(np.partition(x, -k)[-k:])[::-1]
        self.inverse, self.diagonal = np.linalg.inv, np.diagonal
        self.singular_values = partial(np.linalg.svd, compute_uv=False)
        self.svd, self.solve_lower = partial(np.linalg.svd, full_matrices=False), solve_lower
        for word in "cholesky solve det eigh qr".split():
            setattr(self, word, getattr(np.linalg, word))
        generator = np.random.default_rng(1)
        draw = {"normal": generator.standard_normal, "uniform": generator.random}
        self.random = lambda kind, size, from_counter=False: draw[kind](size, dtype=self.dtype)

    def states(self, step: Any, sequence: Any, starts: Any, constants: Any) -> list[Any]:
        """Return the states after each step, stacked."""
        past, stacks = starts, [np.empty((len(sequence), *v.shape), v.dtype) for v in starts]
        for t, xt in enumerate(sequence):
            past = step(xt, *past, *constants)
            for stack, row in zip(stacks, past, strict=True):
                stack[t] = row
        return stacks

    def build(self, workload: Workload, dtype: str) -> Built:
        """Call it once; there is nothing to compile."""
        inputs, state = workload.arrays(dtype)
        self.dtype = dtype
        body = workload.by_hand or partial(workload.body, self)
        before = clock()
        if not state:
            results = copies(body(**inputs))
            names = list(inputs)
            function = body if names == list("x") else lambda *values: body(**dict(zip(names, values)))
            return Built(function, tuple(inputs.values()), results, {}, {"total": clock() - before})
        results, new = body(**inputs, **state)
        kept = [new]

        def call() -> None:
            kept[0] = body(**inputs, **kept[0])[1]

        return Built(call, (), copies(results), copies_by_name(new), {"total": clock() - before})


def reference(workload: Workload, dtype: str) -> dict[str, np.ndarray]:
    """Return what the workload gives in float64 for the inputs of a row, results as 0, 1, ... and state by name.

    Raises
    ------
    NotAvailable
        No reference can predict it.
    """
    if workload.accept is not None:
        raise NotAvailable("judged by itself")
    inputs, state = workload.arrays(dtype)

    def widened(value: Any) -> Any:
        return value.astype("float64") if value.dtype in ("float16", "float32") else value

    everything = {**inputs, **state}
    everything = {name: widened(value) for name, value in (workload.sample or dict)(everything).items()}
    numpy = NumPy()
    body = workload.by_hand or partial(workload.body, numpy)
    results, new = workload.gives(body(**everything))
    return {**{str(i): np.asarray(r) for i, r in enumerate(results)}, **copies_by_name(new)}
