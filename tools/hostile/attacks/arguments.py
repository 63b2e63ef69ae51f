"""Things given to functions that are none of what they take, and numbers that no array can have.

The four modes agree: each gives the same answer, or each refuses with an error of a documented class in at most ten
lines. Shared values stay as they were, and the next call is right.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from hostile.attacks.memory import limited
from hostile.finding import Finding, expect
from theano.errors import TheanoError

LINES = 10
SIZE_LIMIT = 1 << 30  # bytes that a call may ask for: an array of 2**40 elements is to be refused at once
ALLOWED = (TypeError, ValueError, IndexError, OverflowError, MemoryError, ZeroDivisionError, TheanoError)
MODES = ("FAST_RUN", "FAST_COMPILE", "plain", "py")
DTYPES = ("float64", "float32", "int64", "int8", "uint8", "uint64", "bool", "complex128", "float16")


class Raising:
    """An object whose every use is an error of its own."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        raise RuntimeError("no array")

    def __len__(self) -> int:
        raise RuntimeError("no length")


def things(rng: np.random.Generator) -> list[Callable[[], Any]]:
    """Return makers of things that are seldom given to functions."""
    n = int(rng.integers(0, 6))
    dtype = str(rng.choice(DTYPES))
    shape = tuple(int(k) for k in rng.integers(0, 4, int(rng.integers(0, 4))))
    data = np.ones(shape, dtype)
    return [
        lambda: None, object, lambda: "text", lambda: b"bytes", lambda: [1, 2, 3], lambda: [[1, 2], [3]], list,
        dict, lambda: {1, 2}, lambda: (i for i in range(3)), lambda: 2**70, lambda: -(2**70), lambda: 10**400,
        lambda: float("nan"), lambda: float("inf"), lambda: -0.0, lambda: 1j, lambda: True, lambda: np.nan,
        lambda: np.array([1, None]), lambda: np.array(["a"]), lambda: np.array(["2020-01-01"], "datetime64[D]"),
        lambda: np.zeros(3, [("a", "f8")]), lambda: np.ma.masked_array([1.0, 2, 3], [0, 1, 0]),
        lambda: np.matrix("1 2; 3 4"),
        lambda: memoryview(b"abcdefgh"), lambda: bytearray(3), Raising, lambda: np, lambda: T.dvector("v"), lambda: len,
        lambda: data, lambda: data.astype(data.dtype.newbyteorder()), lambda: np.asfortranarray(data),
        lambda: data[..., None],
        lambda: np.broadcast_to(np.float64(1), (n, n)), lambda: np.ones((1,) * 33 if n > 3 else (1, 1, 1)),
        lambda: np.longdouble(1), lambda: np.frombuffer(b"\1" * 17, "u1")[1:].view("f8"),
        lambda: np.full(n, np.nan), lambda: np.full(n, -1), lambda: np.full(n, 2**63 - 1), lambda: np.arange(n)[::-1],
        lambda: range(n), lambda: [True] * n, lambda: [[[1.0]]], lambda: np.int64(-1), lambda: np.float64(1e308),
    ]  # fmt: skip


def programs() -> dict[str, Callable[[], tuple[list[Any], Any, list[Any]]]]:
    """Return makers of inputs, an output, and good values."""
    v, w, m, i, j = T.dvector("v"), T.fvector("w"), T.dmatrix("m"), T.lvector("i"), T.lscalar("j")
    s, b, col, x = T.dscalar("s"), T.bvector("b"), T.dcol("col"), T.dtensor3("x")
    V, M, I = np.array([1.0, -2.0, 3.0]), np.arange(6.0).reshape(3, 2), np.array([0, 2, -1])
    return {
        "add": lambda: ([v, w], v * 2 + w, [V, V.astype("float32")]),
        "outer": lambda: ([v, m], T.dot(v, m), [V, M]),
        "gather": lambda: ([m, i], m[i], [M, I]),
        "gather2": lambda: ([m, i], m[i, i % 2], [M, I]),
        "element": lambda: ([v, j], v[j], [V, 1]),
        "slice": lambda: ([v, j], v[j:] + 1, [V, 1]),
        "write": lambda: ([v, i], T.inc_subtensor(v[i], 1.0), [V, I]),
        "zeros": lambda: ([j], T.zeros((j, 2)) + 1, [3]),
        "filled": lambda: ([s, j], T.alloc(s, j).sum(), [1.5, 4]),
        "shape": lambda: ([j], T.zeros((j, j)).shape[0], [3]),
        "reshape": lambda: ([v, j], v.reshape((j,)) * 2, [V, 3]),
        "range": lambda: ([j], T.arange(j), [5]),
        "range3": lambda: ([j, s], T.arange(0, s, j), [2, 7.0]),
        "repeat": lambda: ([v, i], T.repeat(v, i % 3), [V, I]),
        "tile": lambda: ([v, j], T.tile(v, (j,)), [V, 2]),
        "eye": lambda: ([j], T.eye(j), [3]),
        "cholesky": lambda: ([m], theano.tensor.slinalg.cholesky(T.dot(m.T, m)), [M]),
        "inverse": lambda: ([m], theano.tensor.nlinalg.matrix_inverse(T.dot(m.T, m) + T.eye(2)), [M]),
        "softmax": lambda: ([m, i], -T.log(T.nnet.softmax(m))[T.arange(i.shape[0]), i], [M, I % 2]),
        "bytes": lambda: ([b, v], b + v, [np.array([1, 2, 3], "int8"), V]),
        "column": lambda: ([col, m], col + m, [M[:, :1], M]),
        "deep": lambda: ([x], x.sum(axis=1).max(), [np.ones((2, 3, 4))]),
        "cast": lambda: ([v], [T.cast(v, "uint32"), T.cast(v, "int8")], [abs(V)]),
        "whole": lambda: ([v, j], [v // j, v % j], [V, 2]),
        "remainder": lambda: ([i, j], [i // j, i % j], [I, 2]),
        "split": lambda: ([v, j], T.split(v, [j, 3 - j], 2)[0], [V, 1]),
        "join": lambda: ([v, m], T.concatenate([m.flatten(), v]), [V, M]),
        "bins": lambda: ([i], T.bincount(i % 5), [I]),
        "top": lambda: ([v, j], T.sort(v)[-j:], [V, 2]),
        "power": lambda: ([i, j], i**j, [I, 2]),
    }


def attack(rng: np.random.Generator) -> Finding | None:
    """Give bad arguments to a function in four modes."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        made = programs()
        name = str(rng.choice(sorted(made)))
        inputs, output, good = made[name]()
        functions = {mode: Stateful(inputs, output, mode) for mode in MODES}
        for _ in range(10):
            said, arguments, named = bad_call(inputs, good, rng)
            answers = {mode: f.call(arguments(), named, f"{name}, {mode}: {said}") for mode, f in functions.items()}
            shaken = functions["plain"].call(shake(arguments(), rng), named, f"{name}, shaken: {said}")
            _agree(name, said, answers, huge(arguments()), shaken)
            fine = {mode: f.call(good, {}, f"{name}, {mode}: {good}") for mode, f in functions.items()}
            expect(not any(isinstance(a, str) for a in fine.values()), f"a good call of {name} fails", fine)
            _agree(name, f"after {said}", fine, False, fine["plain"])
    return None


class Stateful:
    """A program as a function in one mode that counts its calls in a shared variable."""

    def __init__(self, inputs: list[Any], output: Any, mode: str) -> None:
        from theano.compile.mode import Mode

        chosen = {"plain": Mode(optimizer=None), "py": Mode(linker="py")}.get(mode, mode)
        self.count = theano.shared(np.zeros(3), "count")
        self.f = theano.function(inputs, output, updates=[(self.count, self.count + 1)], mode=chosen)

    def call(self, arguments: list[Any], named: dict[str, Any], said: str) -> Any:
        """Return the answers, or the name of the class of the error."""
        before = self.count.get_value()
        try:
            with limited(SIZE_LIMIT):
                found = self.f(*arguments, **named)
        except Exception as error:  # noqa: BLE001  (which classes are right is the question)
            text = str(error)
            where = f"{said}\n{type(error).__name__}: {text[:3000]}"
            known = isinstance(error, ALLOWED) or (isinstance(error, RuntimeError) and text.startswith("no "))
            expect(known, f"an error of class {type(error).__name__}", where)
            expect(len(text.splitlines()) <= LINES, f"an error of more than {LINES} lines", where)
            expect(np.array_equal(before, self.count.get_value()), "a failing call changed a shared value", where)
            return type(error).__name__
        expect(np.array_equal(before + 1, self.count.get_value()), "an update was lost", said)
        return [np.array(a) for a in (found if isinstance(found, list) else [found])]


def painful(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return an array of the right type with numbers that hurt, sometimes of another shape."""
    hard: list[float]
    if np.dtype(dtype).kind in "iu":
        whole = np.iinfo(dtype)
        hard = [0, -1, 1, 2, -3, whole.max, whole.min, whole.max // 2, 40, 7]
    else:
        real = np.finfo(dtype)
        hard = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.5, 0.5, real.max, real.tiny, 3e9, -3e9, 300.0]
    if shape and rng.random() < 0.3:
        shape = tuple(int(n) for n in rng.integers(0, 5, len(shape)))
    return np.asarray(rng.choice(np.array(hard, dtype), shape))


Call = tuple[str, Callable[[], list[Any]], dict[str, Any]]


def bad_call(inputs: list[Any], good: list[Any], rng: np.random.Generator) -> Call:
    """Return a description, a maker of arguments, and arguments by name."""
    kind = rng.random()
    if kind < 0.06:
        return "one too few", lambda: good[:-1], {}
    if kind < 0.12:
        return "one too many", lambda: [*good, 1.0], {}
    if kind < 0.18:
        return "one that there is not", lambda: good, {"nothing": 1}
    if kind < 0.24:
        return "one twice", lambda: good, {inputs[0].name: good[0]}
    at = int(rng.integers(len(good)))
    if kind < 0.6:
        value = painful(inputs[at].type.dtype, np.shape(good[at]), rng)
        return f"{inputs[at]} = {value!r}", lambda: [*good[:at], value, *good[at + 1 :]], {}
    makers = things(rng)
    maker = makers[rng.integers(len(makers))]
    return f"{inputs[at]} = {maker()!r:.300}", lambda: [*good[:at], maker(), *good[at + 1 :]], {}


def huge(arguments: list[Any]) -> bool:
    """Tell whether some number could be the length of an array for which there is no space."""
    numbers = [a for a in arguments if isinstance(a, int | float | np.ndarray | np.number)]
    return any(np.asarray(a).dtype.kind in "iuf" and bool((np.asarray(a) > 2**28).any()) for a in numbers)


def shake(arguments: list[Any], rng: np.random.Generator) -> list[Any]:
    """Return arguments with another last bit: what this changes is no question of agreement."""

    def shaken(a: Any) -> Any:
        if not isinstance(a, np.ndarray) or type(a) is not np.ndarray or a.dtype.char not in "fd":
            return a
        return np.asarray(a * (1 + np.finfo(a.dtype).eps * rng.choice([-1, 1], a.shape)), a.dtype)

    return [shaken(a) for a in arguments]


def _agree(name: str, said: str, answers: dict[str, Any], no_space: bool, shaken: Any) -> None:
    """See that all modes answer as the one without rules does, or refuse.

    Where an array would have no space, a mode that makes none of it may answer. Numbers that are not those of the
    ``shaken`` arguments are not compared.
    """
    reference = answers["plain"]
    for mode, other in answers.items():
        both = f"{said}\nplain: {reference!r:.1000}\n{mode}: {other!r:.1000}"
        refused = isinstance(reference, str), isinstance(other, str)
        if any(refused) and (no_space or "MemoryError" in (str(reference), str(other))):
            continue
        expect(refused[0] == refused[1], f"{name} is refused in some modes only", both)
        if not refused[0]:
            certain = [shaken] * len(reference) if isinstance(shaken, str) else shaken
            expect(all(map(_same, reference, other, certain)), f"{name} has several answers", both)


def _same(wanted: np.ndarray, found: np.ndarray, shaken: Any) -> bool:
    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return False
    # Rules may answer where the expression as written overflows, or overflow where it hardly does not.
    where = np.isfinite(wanted)
    if wanted.dtype.kind == "f":
        where &= np.abs(wanted) < np.finfo(wanted.dtype).max / 1e8
    if not isinstance(shaken, np.ndarray) or shaken.shape != wanted.shape:
        return True
    where &= np.isclose(shaken, wanted, rtol=1e-7)
    return np.allclose(found[where], wanted[where], rtol=1e-5)
