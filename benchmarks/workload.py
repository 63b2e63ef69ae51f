"""What a workload is: an expression in a neutral vocabulary, with inputs from a fixed seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 20261121
BOTH = ("float64", "float32")

# Largest error allowed, relative to the largest number of the result, where a workload does not say otherwise.
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-3}

# Of results too large for NumPy, every so-manieth row is compared.
SAMPLED = 64

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """One piece of work, said once for all frameworks.

    Parameters
    ----------
    name : str
        Begins with the letter of its group and an underscore.
    inputs : callable
        Takes a `numpy.random.RandomState`, gives the arrays by name; float64 ones are cast to the row's dtype.
    body : callable
        ``body(xp, **arrays)`` with a framework's vocabulary (see `frameworks.base`) gives the list of results; with
        state, the list of results and the new state by name.
    state : tuple of str
        The arrays that each call replaces: shared variables, where a framework has them.
    dtypes : tuple of str
        The rows to measure. Anything but a float dtype is a label, and nothing is cast.
    by_hand : callable, optional
        The same in NumPy, where ``body`` cannot be run by NumPy (because it takes gradients) or would be unfair.
    numexpr : str, optional
        The same for numexpr.
    plain : callable, optional
        The same as a plain loop, that Numba can compile: a function of the arrays, in their order.
    reads, writes : float
        Numbers read and written at least, for the share of the memory bandwidth; 0 where memory is not the limit.
    flops : float
        Floating-point operations, where they are the limit.
    tolerance : dict
        Exceptions from `TOLERANCE`.
    accept : callable, optional
        Judges a list of results that no reference can predict.
    compiled : bool
        Whether the time to compile, cold and warm, is measured too.
    sample : callable, optional
        Where NumPy would take too long: cuts the arrays so that ``body`` gives every `SAMPLED`-th row of each result.
    stretched : bool
        Whether lengths of 1 are there to be broadcast, so that a framework which wants to know may know.
    jumps : bool
        Whether a result jumps where a number next to zero is cut off: among millions some round to the other side, so
        errors are compared by norm, not by the largest one.
    """

    name: str
    inputs: Callable[[np.random.RandomState], Arrays]
    body: Callable[..., Any]
    state: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ("float64",)
    by_hand: Callable[..., Any] | None = None
    numexpr: str | None = None
    plain: Callable[..., Any] | None = None
    reads: float = 0
    writes: float = 0
    flops: float = 0
    tolerance: dict[str, float] | None = None
    accept: Callable[[list], bool] | None = None
    compiled: bool = False
    sample: Callable[[Arrays], Arrays] | None = None
    stretched: bool = False
    jumps: bool = False

    @property
    def group(self) -> str:
        """The letter of its group."""
        return self.name[0]

    def arrays(self, dtype: str) -> tuple[Arrays, Arrays]:
        """Return the inputs and the first state of a row."""

        def cast(value: Any) -> Any:
            return value.astype(dtype) if dtype in TOLERANCE and value.dtype == "float64" else value

        made = {name: cast(value) for name, value in self.inputs(np.random.RandomState(SEED)).items()}
        return {k: v for k, v in made.items() if k not in self.state}, {k: made[k] for k in self.state}

    def allowed(self, dtype: str) -> float:
        """Return the largest relative error of a right result."""
        return (self.tolerance or {}).get(dtype, TOLERANCE.get(dtype, 1e-5))

    def gives(self, outcome: Any) -> tuple[list, Arrays]:
        """Return what ``body`` gave as results and new state."""
        return outcome if self.state else (outcome, {})


def registry(table: dict[str, Workload]) -> Callable[..., None]:
    """Return the function with which a module of workloads fills its table."""

    def add(name: str, inputs: Callable, body: Callable, **rest: Any) -> None:
        if name in table:
            raise ValueError(f"two workloads are called {name}")
        table[name] = Workload(name, inputs, body, **rest)

    return add


def normal(**shapes: Any) -> Callable[[np.random.RandomState], Arrays]:
    """Return a maker of normal numbers: ``normal(x=(3, 4), y=5)``."""
    return lambda rng: {name: np.asarray(rng.standard_normal(shape)) for name, shape in shapes.items()}
