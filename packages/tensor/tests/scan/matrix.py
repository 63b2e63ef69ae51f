"""Loops of all kinds, said once as data: the same loop for Theano and as a plain loop of Python over NumPy arrays."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

import theano
import theano.tensor as T

COLUMNS = 2


@dataclass(frozen=True)
class Loop:
    """A kind of loop."""

    rows: tuple[int, ...] | None  # taps of the sequence, None without one
    past: tuple[int, ...] | None  # taps of the state, None: the result does not depend on its past
    until: bool
    nested: bool
    truncate: int
    backwards: bool
    shared: str  # "no", "read" or "updated"
    strict: bool
    dtype: str

    def __str__(self) -> str:
        words = [
            f"x{list(self.rows)}" if self.rows else "no x", f"y{list(self.past)}" if self.past else "mapped",
            *(word for word in ("until", "nested", "backwards", "strict") if getattr(self, word)),
            "" if self.truncate < 0 else f"last {self.truncate}", "" if self.shared == "no" else self.shared, self.dtype,
        ]  # fmt: skip
        return " ".join(filter(None, words))

    @property
    def span(self) -> int:
        """How many rows more than steps there are."""
        return 0 if self.rows is None else max(0, *self.rows, 0) - min(0, *self.rows, 0)

    @property
    def depth(self) -> int:
        """How many rows the state begins with."""
        return 0 if self.past is None else -min(self.past)


def loops(count: int) -> list[Loop]:
    """Return as many kinds of loops, in all ways to combine their properties, chosen by chance but always the same."""
    every = [
        Loop(*choice)
        for choice in product(
            (None, (0,), (-1, 1), (0, 2), (-2, -1)), (None, (-1,), (-2,), (-3, -1)), (False, True), (False, True),
            (-1, 2), (False, True), ("no", "read", "updated"), (False, True), ("float64", "float32"),
        )
    ]  # fmt: skip
    # A shared variable that a step updates and does not name is one that strict refuses.
    fit = [loop for loop in every if loop.rows or loop.past or loop.shared == "updated"]
    return random.Random(11).sample(fit, count)


def values(loop: Loop, steps: int) -> dict[str, np.ndarray]:
    """Return numbers for a loop of so many steps."""
    rng = np.random.default_rng([steps, *map(ord, str(loop))])
    found = {"w": rng.uniform(0.5, 1.0), "s": rng.uniform(0.5, 1.0)}
    if loop.rows is not None:
        found["x"] = rng.uniform(-1, 1, (steps + loop.span, COLUMNS))
    if loop.past is not None:
        found["y"] = rng.uniform(-1, 1, COLUMNS if loop.past == (-1,) else (loop.depth, COLUMNS))
    return {name: np.asarray(value, loop.dtype) for name, value in found.items()}


def step(loop: Loop, m: Any, rows: list[Any], past: list[Any], w: Any, s: Any) -> Any:
    """Return the result of a step: what both forms of the loop have in common."""
    total = s * 0.5 if loop.shared != "no" else w * 0.1
    for k, row in enumerate(rows):
        total = total + (m.nested(row, w) if loop.nested else m.tanh(row * w) * (k + 1))
    for k, y in enumerate(past):
        total = total + m.sin(y) * w * (0.4 + 0.2 * k)
    return total * m.ones


def update(s: Any, w: Any) -> Any:
    """Return the new value of the shared variable."""
    return s * 0.7 + w * w * 0.1


# -- with Theano -----------------------------------------------------------------------------------------------------


def symbolic(loop: Loop, numbers: dict[str, np.ndarray], steps: int, limit: float) -> SimpleNamespace:
    """Return the loop as an expression: variables, results, updates."""
    kinds = {
        name: T.TensorType(loop.dtype, (False,) * np.ndim(value))(name)
        for name, value in numbers.items()
        if name != "s"
    }
    s = theano.shared(numbers["s"], name="s")
    ones = T.constant(np.ones(COLUMNS, loop.dtype))

    def nested(row: Any, w: Any) -> Any:
        sums, _ = theano.scan(
            lambda x, so_far, w: T.tanh(x * w) + so_far * w, sequences=row, outputs_info=w * 0, non_sequences=w
        )
        return sums[-1]

    m = SimpleNamespace(tanh=T.tanh, sin=T.sin, nested=nested, ones=ones)

    def fn(*arguments: Any) -> Any:
        given = list(arguments)
        rows = [given.pop(0) for _ in loop.rows or ()]
        past = [given.pop(0) for _ in loop.past or ()]
        w, own = given if loop.strict else (kinds["w"], s)
        new = T.cast(step(loop, m, rows, past, w, own), loop.dtype)
        parts = [new]
        if loop.shared == "updated":
            parts.append({s: T.cast(update(own, w), loop.dtype)})
        if loop.until:
            parts.append(theano.scan.until(new.sum() > limit))
        return tuple(parts) if len(parts) > 1 else new

    result, updates = theano.scan(
        fn,
        sequences=None if loop.rows is None else {"input": kinds["x"], "taps": list(loop.rows)},
        outputs_info=None if loop.past is None else {"initial": kinds["y"], "taps": list(loop.past)},
        non_sequences=[kinds["w"], s] if loop.strict else None,
        n_steps=steps if loop.rows is None else None,
        truncate_gradient=loop.truncate,
        go_backwards=loop.backwards,
        strict=loop.strict,
    )
    return SimpleNamespace(inputs=kinds, s=s, result=result, updates=updates)


# -- with NumPy ------------------------------------------------------------------------------------------------------


def _nested(row: Any, w: Any) -> Any:
    so_far = 0.0
    for x in row:
        so_far = np.tanh(x * w) + so_far * w
    return so_far


_NUMPY = SimpleNamespace(tanh=np.tanh, sin=np.sin, nested=_nested, ones=np.ones(COLUMNS))


def plain(
    loop: Loop, numbers: dict[str, np.ndarray], steps: int, limit: float, moved: dict[str, Any] | None = None
) -> tuple[np.ndarray, Any]:
    """Return the results and the last value of the shared variable.

    With ``moved`` numbers only the steps that let a gradient through see these; the others see ``numbers``.
    """
    numbers = {name: np.asarray(value, "float64") for name, value in numbers.items()}
    rows_of = numbers if moved is None else moved
    ran = steps
    if moved is not None:
        ran = len(plain(loop, numbers, steps, limit)[0])
    first = 0 if moved is None or loop.truncate < 0 else max(0, ran - loop.truncate)
    begin = numbers if first else rows_of
    past = [] if loop.past is None else list(np.reshape(begin["y"], (loop.depth, COLUMNS)))
    s = begin["s"]
    results: list[Any] = []
    for t in range(ran):
        now = numbers if t < first else rows_of
        if t == first and loop.shared != "updated":
            s = now["s"]
        rows = []
        if loop.rows is not None:
            at = (steps - 1 - t if loop.backwards else t) - min(0, *loop.rows, 0)
            rows = [now["x"][at + k] for k in loop.rows]
        seen = [past[k] for k in loop.past or ()]
        new = step(loop, _NUMPY, rows, seen, now["w"], s)
        s = update(s, now["w"]) if loop.shared == "updated" else s
        results.append(new)
        past = [*past[1:], new]
        if moved is None and loop.until and new.sum() > limit:
            break
    return np.array(results).reshape(len(results), COLUMNS), s


def limit_of(loop: Loop, numbers: dict[str, np.ndarray], steps: int) -> float:
    """Return the limit that one of the middle steps exceeds, or none, and none comes near."""
    if not loop.until:
        return np.inf
    sums = np.sort(plain(loop, numbers, steps, np.inf)[0].sum(axis=1))
    gap = int(np.argmax(np.diff(sums)))
    return float((sums[gap] + sums[gap + 1]) / 2)
