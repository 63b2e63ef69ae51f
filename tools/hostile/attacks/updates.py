"""Functions with updates, givens and borrowed memory, called with one array in several places.

The oracle is a simulation: the same expressions computed by NumPy from copies of all that goes in. Numbers are whole
and small, so that every answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from hostile.finding import Finding, expect

SLICES = (slice(1, None), slice(None, -1), slice(None, None, -1), slice(None, None, 2), slice(0, 2), slice(1, 3))
Expression = Callable[[Any, list[Any]], Any]


class NumPy:
    """What expressions are made of, computed at once; `Symbolic` has the same names."""

    clip, concatenate, cumsum, maximum = np.clip, np.concatenate, np.cumsum, np.maximum

    @staticmethod
    def put(x: Any, where: slice, y: Any, add: bool) -> Any:
        """Return x with some elements replaced or added to."""
        x = np.array(x)
        x[where] = x[where] + y if add else y
        return x


class Symbolic:
    """What expressions are made of, as variables."""

    clip, concatenate, cumsum, maximum = T.clip, T.concatenate, T.cumsum, T.maximum

    @staticmethod
    def put(x: Any, where: slice, y: Any, add: bool) -> Any:
        """Return x with some elements replaced or added to."""
        return T.inc_subtensor(x[where], y) if add else T.set_subtensor(x[where], y)


def expression(rng: np.random.Generator, count: int, depth: int) -> tuple[str, Expression]:
    """Return a random expression of vectors ``v[0]``... of one length, as text and as a function of a library."""
    if depth == 0:
        i = int(rng.integers(count))
        return f"v[{i}]", lambda lib, v: v[i]
    a_text, a = expression(rng, count, depth - 1)
    b_text, b = expression(rng, count, int(rng.integers(depth)))
    c, where = int(rng.integers(-3, 4)), SLICES[rng.integers(len(SLICES))]
    add = bool(rng.random() < 0.5)
    return [
        (f"({a_text} + {b_text})", lambda lib, v: a(lib, v) + b(lib, v)),
        (f"({a_text} - {b_text})", lambda lib, v: a(lib, v) - b(lib, v)),
        (f"clip({a_text} * {b_text}, -50, 50)", lambda lib, v: lib.clip(a(lib, v) * b(lib, v), -50, 50)),
        (f"({a_text} + {c})", lambda lib, v: a(lib, v) + c),
        (f"{a_text}[::-1]", lambda lib, v: a(lib, v)[::-1]),
        (f"maximum({a_text}, {b_text}[::-1])", lambda lib, v: lib.maximum(a(lib, v), b(lib, v)[::-1])),
        (f"concatenate([{a_text}[1:], {b_text}[:1]])", lambda lib, v: lib.concatenate([a(lib, v)[1:], b(lib, v)[:1]])),
        (f"put({a_text}, {where}, {b_text}, {add})", lambda lib, v: lib.put(a(lib, v), where, b(lib, v)[where], add)),
        (f"put({a_text}, {where}, {c}, {add})", lambda lib, v: lib.put(a(lib, v), where, c, add)),
        (f"clip(cumsum({a_text}), -50, 50)", lambda lib, v: lib.clip(lib.cumsum(a(lib, v)), -50, 50)),
    ][rng.integers(10)]


class Program:
    """A random function, and what NumPy makes of the same calls."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.length = int(rng.choice([3, 4, 5, 8, 33, 1000]))
        self.dtype = str(rng.choice(["float64", "float32", "int64", "int32"]))
        self.text = [f"length {self.length}, {self.dtype}"]
        shared_count, input_count = int(rng.integers(0, 4)), int(rng.integers(1, 4))
        count = shared_count + input_count
        self.state = [self.fresh() for _ in range(shared_count)]
        borrow = [bool(rng.random() < 0.5) for _ in self.state]
        self.shared = [theano.shared(np.array(v), f"s{i}", borrow=borrow[i]) for i, v in enumerate(self.state)]
        x = [T.TensorType(self.dtype, (False,))(f"x{i}") for i in range(input_count)]
        self.variables = [*self.shared, *x]
        self.givens: dict[int, Expression] = {}
        self.outputs = [self.draw(f"out{i} =", count) for i in range(int(rng.integers(1, 4)))]
        self.updates = {i: self.draw(f"s{i} <-", count) for i in range(shared_count) if rng.random() < 0.8}
        self.kinds = [str(rng.choice(["plain", "plain", "borrow", "mutable", "mutable"])) for _ in x]
        if shared_count and rng.random() < 0.3:
            self.givens = {0: self.draw("givens s0:", input_count, shared_count)}
            self.updates.pop(0, None)
        self.text += [f"x{i}: {kind}" for i, kind in enumerate(self.kinds)]
        self.f = self.compiled(x)

    def draw(self, what: str, count: int, first: int = 0) -> Expression:
        """Return a random expression of all variables from the first on, and note it."""
        text, made = expression(self.rng, count, int(self.rng.integers(1, 4)))
        self.text.append(f"{what} {text}{f' where v begins at {first}' if first else ''}")
        return (lambda lib, v: made(lib, v[first:])) if first else made

    def fresh(self) -> np.ndarray:
        """Return a vector of small whole numbers."""
        return self.rng.integers(-4, 5, self.length).astype(self.dtype)

    def cast(self, value: Any) -> Any:
        """Return a value in the program's dtype, which sums of narrow numbers leave."""
        return value.astype(self.dtype)

    def compiled(self, x: list[Any]) -> Any:
        """Return the program as Theano's function."""
        options = {"plain": {}, "borrow": {"borrow": True}, "mutable": {"mutable": True}}
        inputs = [theano.In(v, **options[kind]) for v, kind in zip(x, self.kinds, strict=True)]
        wrap = [bool(self.rng.random() < 0.3) for _ in self.outputs]
        outputs = [self.cast(e(Symbolic, self.variables)) for e in self.outputs]
        outputs = [theano.Out(out, borrow=True) if w else out for out, w in zip(outputs, wrap, strict=True)]
        self.borrowed = wrap
        updates = [(self.shared[i], self.cast(e(Symbolic, self.variables))) for i, e in self.updates.items()]
        givens = [(self.shared[i], self.cast(e(Symbolic, self.variables))) for i, e in self.givens.items()]
        return theano.function(inputs, outputs, updates=updates, givens=givens, on_unused_input="ignore")

    def simulated(self, arguments: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return outputs and the new state."""
        v = [np.array(a) for a in [*self.state, *arguments]]
        for i, e in self.givens.items():
            v[i] = np.array(self.cast(e(NumPy, v)))
        outputs = [self.cast(e(NumPy, v)) for e in self.outputs]
        state = [self.cast(self.updates[i](NumPy, v)) if i in self.updates else s for i, s in enumerate(self.state)]
        return outputs, state

    def arguments(self) -> tuple[str, list[np.ndarray]]:
        """Return arrays that share memory in some way."""
        rng, n, count = self.rng, self.length, len(self.kinds)
        base = rng.integers(-4, 5, 3 * n + count).astype(self.dtype)
        ways = {
            "each its own": lambda i: self.fresh(),
            "one array": lambda i: base[:n],
            "overlapping views": lambda i: base[i : i + n],
            "overlapping backwards": lambda i: base[:n] if i % 2 else base[n - 1 :: -1],
            "interleaved": lambda i: base[i : 2 * n + i : 2],
            "a shared value": lambda i: self.shared[i % len(self.shared)].get_value(borrow=True),
        }
        # Who gives the memory of a shared value to a mutable input has given it away.
        no_shared = not self.shared or "mutable" in self.kinds
        way = str(rng.choice([w for w in ways if w != "a shared value" or not no_shared]))
        return way, [ways[way](i) for i in range(count)]

    def call(self) -> None:
        """Call once and compare everything."""
        way, arguments = self.arguments()
        fails = bool(self.rng.random() < 0.15)
        if fails:
            arguments[int(self.rng.integers(len(arguments)))] = np.ones(self.length + 1, self.dtype)
        before = [np.array(a) for a in arguments]
        said = "\n".join([*self.text, f"called with {way}", f"arguments {before}", f"state {self.state}"])
        try:
            wanted = self.simulated(arguments)
        except ValueError:
            wanted = None
        try:
            found = self.f(*arguments)
        except (ValueError, IndexError) as error:
            expect(wanted is None, "a call failed that should not", f"{said}\n{error}")
            self.compare_state(self.state, "a failing call changed a shared value", said)
            self.compare_arguments(arguments, before, said, way)
            return
        if wanted is None or len({len(a) for a in arguments}) > 1:
            # What the failure belonged to was not needed, so the state is what it is.
            self.state = [s.get_value() for s in self.shared]
            return
        outputs, state = wanted
        for i, (w, f) in enumerate(zip(outputs, found, strict=True)):
            expect(w.dtype == f.dtype and np.array_equal(w, f), "an output is wrong", f"{said}\n{i}: {w} {f}")
        self.compare_state(state, "a shared value is wrong", said)
        self.state = state
        self.compare_arguments(arguments, before, said, way)
        for out, borrowed in zip(found, self.borrowed, strict=True):
            if not borrowed:
                out[...] = 77
        self.compare_state(state, "an output is the memory of a shared value", said)
        if not any(self.borrowed):
            self.compare_arguments(arguments, before, f"{said}\nafter writing into the outputs", way)

    def compare_state(self, wanted: list[np.ndarray], what: str, said: str) -> None:
        """See that the shared variables hold what they should."""
        for i, (w, s) in enumerate(zip(wanted, self.shared, strict=True)):
            expect(np.array_equal(w, s.get_value()), what, f"{said}\ns{i}: {w} {s.get_value()}")

    def compare_arguments(self, arguments: list[Any], before: list[np.ndarray], said: str, way: str) -> None:
        """See that what was not given away is as it was."""
        if way == "a shared value":
            return  # which an update may write over
        written = [a for a, kind in zip(arguments, self.kinds, strict=True) if kind == "mutable"]
        for a, b, kind in zip(arguments, before, self.kinds, strict=True):
            if kind != "mutable" and not any(np.may_share_memory(a, m) for m in written):
                expect(a.tobytes() == b.tobytes(), "an input was overwritten", f"{said}\n{b} {a}")


def attack(rng: np.random.Generator) -> Finding | None:
    """Call a random function a few times."""
    program = Program(rng)
    for _ in range(8):
        program.call()
    return None
