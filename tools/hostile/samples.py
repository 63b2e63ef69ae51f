"""Programs that NumPy and Theano both understand: what the one says of them the other is held to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import theano
import theano.tensor as T

#: What one vector x of float64 comes to, with ``lib`` numpy or theano.tensor.
SAMPLES: dict[str, Callable[[Any, Any], Any]] = {
    "affine": lambda lib, x: 2 * x + 1,
    "nan": lambda lib, x: lib.isnan(lib.sqrt(x)) + 0.0,
    "infinite": lambda lib, x: lib.isinf(lib.exp(1000 * x)) + 0.0,
    "zeros": lambda lib, x: 1 / lib.ceil(x),
    "softmax": lambda lib, x: lib.exp(x - x.max()) / lib.exp(x - x.max()).sum(),
    "sums": lambda lib, x: x.sum() + (x * x).mean() - x.min(),
    "waves": lambda lib, x: lib.sin(x) * lib.tanh(x) + lib.sqrt(abs(x)),
    "products": lambda lib, x: lib.dot(lib.outer(x, x), x[::-1]),
    "order": lambda lib, x: lib.sort(x)[::-1] + lib.argsort(x),
    "choice": lambda lib, x: lib.where(x > 0, x[::-1], lib.cumsum(x)),
    "pieces": lambda lib, x: lib.concatenate([x[1:], x[:1], x[[0, 0]]]),
    "rounded": lambda lib, x: lib.floor(x) + (x // 2) + x % 3,
    "whole": lambda lib, x: (x * 7).astype("int32") * 3 - 1,
}


def numbers(rng: np.random.Generator) -> np.ndarray:
    """Return a vector that every sample takes."""
    return np.round(rng.uniform(-4, 4, int(rng.choice([2, 5, 8, 33, 1000]))), 1)


def wanted(name: str, x: np.ndarray) -> np.ndarray:
    """Return what NumPy says."""
    with np.errstate(all="ignore"):
        return np.asarray(SAMPLES[name](np, x))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Tell whether two answers are equal up to rounding, NaN and infinities included."""
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True)


def compiled(name: str, **options: Any) -> Any:
    """Return the sample as a function."""
    x = T.dvector("x")
    return theano.function([x], SAMPLES[name](T, x), **options)


def chosen(rng: np.random.Generator, count: int) -> list[str]:
    """Return names of some samples."""
    return [str(name) for name in rng.choice(sorted(SAMPLES), count, replace=False)]


def wrong_answers(names: Iterable[str], rng: np.random.Generator) -> list[str]:
    """Compile some samples, call each, and return what came out wrong.

    Examples
    --------
    >>> wrong_answers(["affine", "nan"], np.random.default_rng(0))
    []
    """
    found = []
    for name in names:
        x = numbers(rng)
        answer = np.asarray(compiled(name)(x))
        if not same(answer, wanted(name, x)):
            found.append(f"{name} of {x!r}: {answer!r} instead of {wanted(name, x)!r}")
    return found
