"""Random loops, said once as data like those of ``matrix.py``: for Theano, and as a plain loop over NumPy arrays.

The seed of a loop is its name. A step is a few trees of operations over what it sees: rows of sequences, the past of
its results, non-sequences, a shared variable that it may update, random numbers. Any of these may be numbers or vectors.
"""

from __future__ import annotations

import random
from copy import deepcopy
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano.ifelse import ifelse

_TAPS = ((0,), (0,), (1,), (-1, 1), (0, 2), (-2, -1), (-1, 0))
_PAST = ((-1,), (-1,), (-1,), (-2,), (-2, -1), (-3, -1))
_VIEWS = ("all", "last", "last", "last two", "sum", "reversed", "none")
_MODULUS = 13


class RandomLoop:
    """A loop whose properties follow from a seed.

    Attributes
    ----------
    sequences : list of (taps, kind, how many rows more than steps need)
    states : list of (taps, kind, tree)
    mapped : list of (kind, tree)
    order : list of int
        The places of results, states first, among what the step returns.
    """

    def __init__(self, seed: int):
        self.seed = seed
        self.choose = choose = random.Random(seed)
        self.nested_steps = 1 if seed % 8 > 3 else None  # of loops inside steps of which the last row is read
        self.dtype = choose.choice(("float64", "float64", "float64", "float32", "int64"))
        self.is_int = self.dtype == "int64"
        self.columns = choose.choice((1, 2, 3))
        self.steps = choose.choice((0, 1, 2, 3, 4, 5, 6, 7))
        self.backwards, self.strict = choose.random() < 0.3, choose.random() < 0.3
        self.declared = self.strict or choose.random() < 0.5
        self.truncate = choose.choice((-1, -1, -1, 1, 2, 3))
        self.shared = choose.choice((None, None, "number", "vector"))
        self.updated = self.shared is not None and choose.random() < 0.7
        self.draws = [] if self.is_int or choose.random() < 0.75 else [self._kind() for _ in range(choose.choice((1, 2)))]
        self.sequences = [(choose.choice(_TAPS), self._kind(), choose.choice((0, 0, 1, 3))) for _ in range(choose.choice((0, 1, 1, 2)))]
        past = [(choose.choice(_PAST), self._kind()) for _ in range(choose.choice((0, 1, 1, 2)))]
        if self.sequences and all(more for *_, more in self.sequences):
            self.given_steps = True
        else:
            self.given_steps = not self.sequences or choose.random() < 0.3
        self.symbolic_steps = choose.random() < 0.5
        self.leaves = self._leaves(past)
        self.states = [(taps, kind, self._bounded(kind)) for taps, kind in past]
        self.mapped = [(kind, self._bounded(kind)) for kind in (self._kind() for _ in range(choose.choice((0, 1, 2))))]
        if not self.states and not self.mapped:
            self.mapped = [("number", self._bounded("number"))]
        self.order = choose.sample(range(len(self.states) + len(self.mapped)), len(self.states) + len(self.mapped))
        self.update = self._bounded(self.shared) if self.updated and self.shared else None
        self.until = choose.random() < 0.25 and self.steps > 1
        self.views = [choose.choice(_VIEWS) if self.steps > 2 and not self.until else "all" for _ in self.order]
        if all(view == "none" for view in self.views):
            self.views[0] = "all"

    # -- trees -------------------------------------------------------------------------------------------------

    def _kind(self) -> str:
        return self.choose.choice(("number", "vector"))

    def _leaves(self, past: list[Any]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {"number": ["w"], "vector": ["v"]}
        for i, (taps, kind, _) in enumerate(self.sequences):
            found[kind] += [f"x{i}[{k}]" for k in taps] * 2
        for i, (taps, kind) in enumerate(past):
            found[kind] += [f"y{i}[{k}]" for k in taps] * 3
        for i, kind in enumerate(self.draws):
            found[kind] += [f"r{i}"] * 2
        if self.shared:
            found[self.shared] += ["s", "s"]
        return found

    def _bounded(self, kind: str) -> tuple[Any, ...]:
        inside = self._tree(kind, self.choose.choice((1, 2, 2, 3)))
        return ("modulo", inside) if self.is_int else (self.choose.choice(("tanh", "sin", "tanh", "identity")), inside)

    def _tree(self, kind: str, depth: int) -> tuple[Any, ...]:
        choose = self.choose
        if depth == 0 or choose.random() < 0.1:
            return ("leaf", choose.choice(self.leaves[kind]))
        ways = ["add", "subtract", "multiply", "maximum", "choice", "lazy", "identity"] + ([] if self.is_int else ["tanh", "sin"])
        ways += ["dot", "dot", "reverse", "running"] if kind == "vector" else ["total", "first", "last of nested"]
        way = choose.choice(ways)
        vector, number = (lambda: self._tree("vector", depth - 1)), (lambda: self._tree("number", depth - 1))
        own = vector if kind == "vector" else number
        if way in ("add", "subtract", "multiply", "maximum"):
            return way, own(), (number if choose.random() < 0.3 else own)()
        if way in ("choice", "lazy"):
            return way, number(), own(), own()
        if way in ("running", "last of nested"):
            return way, vector(), number()
        return (way, vector()) if way in ("dot", "reverse", "total", "first") else (way, own())

    # -- values ------------------------------------------------------------------------------------------------

    def numbers(self) -> dict[str, np.ndarray]:
        """Return values for all that the loop is given."""
        rng, c = np.random.default_rng(self.seed), self.columns
        shapes: dict[str, tuple[int, ...]] = {"w": (), "v": (c,), "M": (c, c)}
        for i, (taps, kind, more) in enumerate(self.sequences):
            shapes[f"x{i}"] = (self.steps + _span(taps) + more, *self.row(kind))
        for i, (taps, kind, _) in enumerate(self.states):
            shapes[f"y{i}"] = self.row(kind) if taps == (-1,) else (-min(taps), *self.row(kind))
        if self.shared:
            shapes["s"] = self.row(self.shared)
        if self.is_int:
            return {name: np.asarray(rng.integers(0, _MODULUS, shape)) for name, shape in shapes.items()}
        return {name: np.asarray(rng.uniform(-1, 1, shape), self.dtype) for name, shape in shapes.items()}

    def row(self, kind: str) -> tuple[int, ...]:
        """Return the shape of a number or a vector."""
        return () if kind == "number" else (self.columns,)


def _span(taps: tuple[int, ...]) -> int:
    return max(0, *taps, 0) - min(0, *taps, 0)


def value(tree: tuple[Any, ...], known: dict[str, Any], m: Any) -> Any:
    """Return what a tree is worth, by the operations of ``m``."""
    way, *parts = tree
    if way == "leaf":
        return known[parts[0]]
    given = [value(part, known, m) for part in parts]
    return m.dot(known["M"], *given) if way == "dot" else getattr(m, way.replace(" ", "_"))(*given)


# -- with Theano -----------------------------------------------------------------------------------------------------


def _scan_over(row: Any, first: Any, dtype: str, steps: int | None = None) -> Any:
    def fn(x: Any, before: Any) -> Any:
        return (x + before * 2) % _MODULUS if dtype == "int64" else T.cast(T.tanh(x + before * 0.5), dtype)

    return theano.scan(fn, sequences=row, outputs_info=T.cast(first, dtype), n_steps=steps)[0]


def _larger(maximum: Any, a: Any, b: Any) -> Any:
    """Return the larger of two numbers that are hardly ever the same: where they are, slopes jump."""
    return maximum(a, b) if str(a.dtype).startswith("int") else maximum(a * 1.1 - 0.03, b * 0.9 + 0.05)


def _operations(dtype: str, nested_steps: int | None) -> SimpleNamespace:
    return SimpleNamespace(
        add=T.add, subtract=T.sub, multiply=T.mul, maximum=partial(_larger, T.maximum), tanh=T.tanh, sin=T.sin, dot=T.dot,
        identity=lambda a: a, modulo=lambda a: a % _MODULUS, choice=lambda c, a, b: T.switch(T.gt(c, 0), a, b),
        lazy=lambda c, a, b: ifelse(T.gt(c, 0), T.cast(a, dtype), T.cast(b, dtype)),
        reverse=lambda a: a[::-1], total=lambda a: a.sum(), first=lambda a: a[0],
        running=lambda row, first: _scan_over(T.cast(row, dtype), first, dtype),
        last_of_nested=lambda row, first: _scan_over(T.cast(row, dtype), first, dtype, nested_steps)[-1],
    )  # fmt: skip


def symbolic(loop: RandomLoop, numbers: dict[str, np.ndarray], limit: float) -> SimpleNamespace:
    """Return the loop as an expression: inputs, results in the order of `RandomLoop.order`, updates, random states."""
    inputs = {name: T.TensorType(loop.dtype, (False,) * v.ndim)(name) for name, v in numbers.items() if name != "s"}
    shared = theano.shared(numbers["s"], name="s") if loop.shared else None
    stream = T.shared_randomstreams.RandomStreams(loop.seed % 1000)
    n, m = T.lscalar("n"), _operations(loop.dtype, loop.nested_steps)
    names = [f"x{i}[{k}]" for i, (taps, *_) in enumerate(loop.sequences) for k in taps]
    in_order = [loop.order.index(place) for place in range(len(loop.order))]
    names += [f"y{i}[{k}]" for i in in_order if i < len(loop.states) for k in loop.states[i][0]]
    others = {"w": inputs["w"], "v": inputs["v"], "M": inputs["M"]}
    if shared is not None:
        others["s"] = shared
    if loop.declared:
        names += others

    def fn(*arguments: Any) -> Any:
        known = {**others, **dict(zip(names, arguments, strict=True))}
        for i, kind in enumerate(loop.draws):
            known[f"r{i}"] = T.cast(stream.uniform(size=loop.row(kind), ndim=len(loop.row(kind))), loop.dtype)
        trees = [*(tree for *_, tree in loop.states), *(tree for _, tree in loop.mapped)]
        made = [T.cast(value(tree, known, m), loop.dtype) for tree in trees]
        parts: list[Any] = [[made[i] for i in in_order]]
        if shared is not None and loop.update is not None:
            parts.append({shared: T.cast(value(loop.update, known, m), loop.dtype)})
        if loop.until:
            parts.append(theano.scan.until(made[0].sum() > limit))
        return tuple(parts) if len(parts) > 1 else parts[0]

    info: list[Any] = [None] * len(loop.order)
    for i, (taps, *_) in enumerate(loop.states):
        given = inputs[f"y{i}"]
        plainly = given if loop.seed % 2 else {"initial": given}
        info[loop.order[i]] = plainly if taps == (-1,) else {"initial": given, "taps": list(taps)}
    results, updates = theano.scan(
        fn,
        sequences=[{"input": inputs[f"x{i}"], "taps": list(taps)} for i, (taps, *_) in enumerate(loop.sequences)],
        outputs_info=info,
        non_sequences=list(others.values()) if loop.declared else None,
        n_steps=None if not loop.given_steps else n if loop.symbolic_steps else loop.steps,
        truncate_gradient=loop.truncate, go_backwards=loop.backwards, strict=loop.strict, return_list=True,
    )  # fmt: skip
    states = [deepcopy(state.get_value()) for state, _ in stream.state_updates]
    return SimpleNamespace(inputs=inputs, n=n, shared=shared, results=results, updates=updates, states=states)


# -- with NumPy ------------------------------------------------------------------------------------------------------


def _loop_over(row: Any, first: Any) -> list[Any]:
    rows, is_int = [first], np.asarray(row).dtype.kind == "i"
    for x in row:
        rows.append((x + rows[-1] * 2) % _MODULUS if is_int else np.tanh(x + rows[-1] * 0.5))
    return rows[1:]


_NUMPY = SimpleNamespace(
    add=np.add, subtract=np.subtract, multiply=np.multiply, maximum=partial(_larger, np.maximum), tanh=np.tanh, sin=np.sin, dot=np.dot,
    identity=lambda a: a, modulo=lambda a: a % _MODULUS, choice=lambda c, a, b: a if c > 0 else b,
    lazy=lambda c, a, b: a if c > 0 else b, reverse=lambda a: a[::-1], total=np.sum, first=lambda a: a[0],
    running=lambda row, first: np.array(_loop_over(row, first)), last_of_nested=lambda row, first: _loop_over(row, first)[-1],
)  # fmt: skip
_NUMPY_ONE_STEP = SimpleNamespace(**{**vars(_NUMPY), "last_of_nested": lambda row, first: _loop_over(row[:1], first)[-1]})


def plain(
    loop: RandomLoop, numbers: dict[str, np.ndarray], states: list[Any], limit: float, moved: dict[str, Any] | None = None
) -> tuple[list[np.ndarray], Any]:
    """Return the results, in the order in which the step has them, and the last value of the shared variable.

    With ``moved`` numbers only the steps that let a gradient through see these; the others see ``numbers``.
    """
    steps, m = loop.steps, _NUMPY_ONE_STEP if loop.nested_steps else _NUMPY
    if moved is not None:
        steps = len(plain(loop, numbers, states, limit)[0][0])
    first = 0 if moved is None or loop.truncate < 0 else max(0, steps - loop.truncate)
    seen = numbers if moved is None else moved
    begin = numbers if first else seen
    generators = deepcopy(states)
    pasts = [list(np.reshape(begin[f"y{i}"], (-min(taps), *loop.row(kind)))) for i, (taps, kind, _) in enumerate(loop.states)]
    s = begin.get("s")
    trees = [*((kind, tree) for _, kind, tree in loop.states), *loop.mapped]
    results: list[list[Any]] = [[] for _ in trees]
    for t in range(steps):
        now = numbers if t < first else seen
        if t == first and loop.update is None:
            s = now.get("s")
        known: dict[str, Any] = {"w": now["w"], "v": now["v"], "M": now["M"], "s": s}
        for i, (taps, *_) in enumerate(loop.sequences):
            rows = now[f"x{i}"]
            at = len(rows) - 1 - max(0, *taps, 0) - t if loop.backwards else t - min(0, *taps, 0)
            known.update({f"x{i}[{k}]": rows[at + k] for k in taps})
        for i, (taps, *_) in enumerate(loop.states):
            known.update({f"y{i}[{k}]": pasts[i][k] for k in taps})
        for i, kind in enumerate(loop.draws):
            known[f"r{i}"] = generators[i].uniform(size=loop.row(kind))
        # A number may stand where a vector is meant, and is one of each element then.
        made = [np.broadcast_to(value(tree, known, m), loop.row(kind)) for kind, tree in trees]
        s = np.broadcast_to(value(loop.update, known, m), np.shape(s)) if loop.update is not None else s
        for rows, v in zip(results, made, strict=True):
            rows.append(v)
        pasts = [[*past[1:], v] for past, v in zip(pasts, made, strict=False)]
        if moved is None and loop.until and made[0].sum() > limit:
            break
    stacks = [np.array(rows).reshape(len(rows), *loop.row(kind)) for rows, (kind, _) in zip(results, trees, strict=True)]
    return [stacks[loop.order.index(k)] for k in range(len(stacks))], s


def limit_of(loop: RandomLoop, numbers: dict[str, np.ndarray], states: list[Any]) -> float:
    """Return a limit that a middle step exceeds, to which none comes near; infinity without a condition."""
    if not loop.until:
        return np.inf
    found = plain(loop, numbers, states, np.inf)[0][loop.order[0]]
    sums = np.sort(found.reshape(len(found), -1).sum(axis=1))
    gap = int(np.argmax(np.diff(sums)))
    # Where all steps make the same, rounding would decide.
    return float(sums[gap] + sums[gap + 1]) / 2 if sums[gap + 1] - sums[gap] > 1e-3 else np.inf


def viewed(result: Any, view: str) -> Any:
    """Return the part of a result that is asked for; works for both kinds."""
    if view == "sum":
        return result.sum(axis=0)
    return {"all": result, "last": result[-1:], "last two": result[-2:], "reversed": result[::-1]}[view]
