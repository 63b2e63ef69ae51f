"""What a rule promises of values, tried: the values that instances are computed on, and the comparison of results.

Rounding is not bounded by a number that suits all rules: the expression itself is computed several times, with the
result of each node moved by a rounding error. How far these results lie apart is what rounding does to it.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
from instances import LENGTH
from instances import REFUSALS as REFUSED_WHEN_MADE
from left_sides import LENGTHS, classes, psd, square

from portion import portion
from theano import scalar as scal
from theano.compile.builders import OpFromGraph
from theano.graph import Constant
from theano.graph.traverse import toposort
from theano.tensor.blas.dot import Dot
from theano.tensor.create.alloc import Alloc
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.join.op import Join, MakeVector, Split
from theano.tensor.reduce.careduce import Prod
from theano.tensor.rows.op import MapRows

REFUSALS = (*REFUSED_WHEN_MADE, AssertionError, ArithmeticError, np.linalg.LinAlgError)

# -- values ---------------------------------------------------------------------------------------------------------


@cache
def grid(dtype: str) -> np.ndarray:
    """Return the values of a dtype: all of them, or those on which arithmetic differs, at least 200."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        return _whole(dtype)
    if kind == "c":
        parts = np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 1e-3, 3, 1e30, -1e-30, np.inf, -np.inf, np.nan, 100.25, 7])
        with np.errstate(all="ignore"):
            return np.array([complex(a, b) for a in parts for b in parts], dtype)
    return _real(dtype)


def _whole(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    if info.bits == 8:
        return np.arange(info.min, info.max + 1).astype(dtype)
    powers = [1 << b for b in range(3, info.bits)]
    found = {*range(-50, 51), *(sign * (p + d) for p in powers for d in (-1, 0, 1) for sign in (1, -1))}
    found |= {info.min, info.min + 1, info.max - 1, info.max}
    rng = random.Random(3)
    found |= {rng.randint(info.min, info.max) for _ in range(60)}
    return np.array(sorted(n for n in found if info.min <= n <= info.max), dtype)


def _real(dtype: str) -> np.ndarray:
    info = np.finfo(dtype)
    half = info.smallest_subnormal
    positive = [
        0.0, half, 2 * half, 3 * half, info.tiny - half, info.tiny, info.tiny + half, info.eps / 2, info.eps,
        1 - info.epsneg, 1 + info.eps, 2 - 2 * info.eps, info.max, info.max / 2, np.sqrt(info.max), np.sqrt(info.tiny),
        2.0 ** (info.nmant + 1), 2.0 ** (info.nmant + 1) + 2, 2.0 ** info.nmant - 0.5, np.pi, np.pi / 2, np.e,
        *(k / 8 for k in range(1, 41)), *(1.5 + k for k in range(4, 20)), 1 / 3, 0.1, 0.7, 10.0, 99.0, 1000.5,
        *np.exp(np.linspace(np.log(float(info.tiny)), np.log(float(info.max)), 40)[1:-1]), np.inf,
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        values = np.array(positive, dtype)
        return np.concatenate([values, -values, np.array([np.nan], dtype)])


def moderate(dtype: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return numbers of ordinary size: what a sum of a few does not lose its digits on."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, size).astype(dtype)
    if kind in "iu":
        return rng.integers(0 if kind == "u" else -9, 10, size).astype(dtype)
    scale = rng.choice([0.05, 1.0, 4.0])
    found = rng.normal(size=size) * scale
    return (found + 1j * rng.normal(size=size) * scale if kind == "c" else found).astype(dtype)


#: Other lengths in place of those of the cases: none, one, many.
_OTHER_LENGTHS: tuple[dict[int, int], ...] = ({}, {4: 0}, {3: 0}, {4: 1}, {3: 1}, {4: 5, 3: 2})


def samples(inputs: Sequence[Any], output: Any, name: str, elementwise: bool, thorough: bool) -> Iterator[list[np.ndarray]]:
    """Yield values for the inputs of an instance: a third of those that are made for it if not ``thorough``."""
    seed = zlib.crc32(name.encode())
    rng = np.random.default_rng(seed)

    def tried(turns: Sequence[Any]) -> Sequence[Any]:
        first, *others = turns
        start = seed % 3  # other instances of the expression have the others
        return turns if thorough else portion([first, *others[start:], *others[:start]])

    if elementwise:
        many = sum(v.type.ndim > 0 for v in inputs)
        turns = 8 if many < len(inputs) else 1 if many < 2 else 4 if thorough else 2
        for _ in tried(range(turns)):
            yield [_spread(v, rng, thorough) for v in inputs]
        return
    long = {4: 70}
    if _fails(inputs, output, [_filled(v, long, rng, plain=True) for v in inputs]):
        long = {}
        if _fails(inputs, output, [_filled(v, long, rng, plain=True) for v in inputs]):
            return  # patterns that do not fit each other, or numbers that an op refuses
    ordinary = [(long if turn < 2 else {}, True) for turn in range(12 if thorough else 3)]
    of_any_size = [(long, False)] * (24 if thorough else 4)
    for lengths, plain in tried([*ordinary, *of_any_size, *((other, True) for other in _OTHER_LENGTHS[1:])]):
        yield [_filled(v, lengths, rng, plain=plain) for v in inputs]


def _fails(inputs: Sequence[Any], output: Any, values: list[np.ndarray]) -> bool:
    try:
        with np.errstate(all="ignore"):
            computed([output], dict(zip(inputs, values, strict=True)))
    except REFUSALS:
        return True
    return False


def _spread(v: Any, rng: np.random.Generator, thorough: bool) -> np.ndarray:
    """Return all values of the dtype of ``v`` in any order, as often as there is space; rows are as many as vectors' elements."""
    lengths = (*[2] * (v.type.ndim - 2), LENGTH if thorough else 64, LENGTH)[max(2 - v.type.ndim, 0) :]
    shape = tuple(1 if one else n for one, n in zip(v.type.broadcastable, lengths, strict=True))
    return _drawn(v.type.dtype, shape, rng)


def _drawn(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    values = grid(dtype)
    size = int(np.prod(shape))
    rounds = [rng.permutation(values) for _ in range(-(-size // len(values)))]
    return np.concatenate([*rounds, values[:0]])[:size].reshape(shape)


def _filled(v: Any, lengths: dict[int, int], rng: np.random.Generator, plain: bool) -> np.ndarray:
    """Return values of an input of a case with shapes: of ordinary size if ``plain``, or any."""
    role = getattr(v.tag, "stands_for", v)
    dtype = v.type.dtype
    usual = LENGTHS.get(role, (2, 3, 4, 5)[4 - v.type.ndim - 1 : 3])[: v.type.ndim]
    if role is psd or role is square:
        whole = np.dtype(dtype).kind in "biu"
        root = rng.integers(0 if dtype[0] in "bu" else -2, 3, (3, 3)) if whole else rng.normal(size=(3, 3))
        return np.asarray(root @ root.T + 4 * np.eye(3) if role is psd else root + 4 * np.eye(3)).astype(dtype)
    shape = tuple(
        1 if one else lengths.get(n, n) for one, n in zip(v.type.broadcastable, usual, strict=True)
    )
    if role is classes:
        return rng.integers(0, max(1, min(4, lengths.get(4, 4))), shape).astype(dtype)
    return moderate(dtype, int(np.prod(shape)), rng).reshape(shape) if plain else _drawn(dtype, shape, rng)


# -- computing ------------------------------------------------------------------------------------------------------


def computed(outputs: Sequence[Any], given: dict[Any, Any], order: Any = None, error: Any = None) -> dict[Any, Any]:
    """Return all values of an expression, node by node with ``perform``; ``error`` moves each of them."""
    known = dict(given)
    for node in toposort(outputs, list(given)) if order is None else order:
        inputs = [v.data if isinstance(v, Constant) else known[v] for v in node.inputs]
        results = _results(node, inputs)
        known.update(zip(node.outputs, results if error is None else error(node, inputs, results), strict=True))
    for v in outputs:
        known.setdefault(v, v.data if isinstance(v, Constant) else None)
    return known


def _results(node: Any, inputs: list[Any]) -> list[Any]:
    if isinstance(node.op, OpFromGraph):  # (which would compile a function)
        inner = computed(node.op.local_outputs, dict(zip(node.op.local_inputs, inputs, strict=True)))
        return [inner[v] for v in node.op.local_outputs]
    if isinstance(node.op, MapRows):
        return _rows(node.op, inputs)
    if isinstance(node.op, Elemwise):
        # NumPy computes a function of elements that lie apart otherwise, in its last bits; a power also of a number.
        whole = np.broadcast_arrays(*inputs) if node.op.scalar_op == scal.pow else inputs
        inputs = [np.array(x, order="C") for x in whole]
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    node.op.perform(node, inputs, cells)
    return [cell[0] for cell in cells]


def _rows(op: MapRows, inputs: list[Any]) -> list[Any]:
    """Return what an expression is worth for each row; without rows, that of a row of zeros says the lengths."""
    sequences, fixed = inputs[: op.sequences], inputs[op.sequences :]
    count = min(map(len, sequences))
    rows = zip(*sequences) if count else [[np.zeros(x.shape[1:], x.dtype) for x in sequences]]
    found = []
    for row in rows:
        given = [np.asarray(x) for x in (*row, *fixed)]
        known = computed(op.outputs, dict(zip(op.inner.inputs, given, strict=True)))
        found.append([known[v] for v in op.outputs])
    return [np.array(values)[:count] for values in zip(*found)]


class Rounding:
    """Errors as rounding makes them, in the results of all nodes that round.

    Parameters
    ----------
    seed : int
    reordered : bool
        Whether the terms of a sum may be added in another order: its error is then that of the largest term, also where
        all of them but a small one cancel.
    """

    def __init__(self, seed: int, reordered: bool = False):
        self.rng = np.random.default_rng(seed)
        self.reordered = reordered

    def __call__(self, node: Any, inputs: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        if node.op.view_map or isinstance(node.op, _MOVING):
            return list(results)
        moved = [self.moved(x, _vanishes(node, inputs, x)) for x in results]
        # Where there are more than two terms, what they add up to on the way is rounded as well.
        ordered = not self.reordered and len(inputs) < 3
        if not ordered and isinstance(node.op, Elemwise) and node.op.scalar_op in (scal.add, scal.sub):
            terms = [np.asarray(x, results[0].dtype) for x in inputs]
            return [y + sum(self.moved(x) - x for x in terms) for y in moved]
        if type(node.op).__module__.startswith("theano.tensor.linalg") or _sums_whole_numbers(node):
            # Of what equations are solved by, the largest element says how large the errors of all are.
            return [x if y is x else y + (y - x if not y.size else self._normwise(x)) for x, y in zip(results, moved)]
        return moved

    def moved(self, x: Any, vanished: Any = False) -> Any:
        """Return a value moved by a few units in the last place; what has vanished, by the smallest number."""
        if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc" or not x.size:
            return x
        info = np.finfo(x.dtype)
        steps = self.rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], x.shape)
        with np.errstate(all="ignore"):
            moved = x * (1 + info.eps * steps).astype(x.real.dtype)
            small = (np.abs(x) < 4 * info.tiny) & (x != 0) | vanished
            moved = np.where(small, x + (info.smallest_subnormal * steps).astype(x.real.dtype), moved)
        return np.asarray(np.where(np.isfinite(x), moved, x), x.dtype)

    def _normwise(self, x: np.ndarray) -> np.ndarray:
        largest = np.max(np.abs(x), initial=0, where=np.isfinite(x))
        return (16 * np.finfo(x.dtype).eps * largest * self.rng.choice([-1.0, 1.0], x.shape)).astype(x.dtype)


def _sums_whole_numbers(node: Any) -> bool:
    """Return whether terms that are no floats yet, which are not moved, are rounded where they are added."""
    return isinstance(node.op, (Dot, MapRows)) and any(v.type.dtype in scal.discrete_dtypes for v in node.inputs)


_MOVING = (Alloc, Join, MakeVector, Split)
#: What gives zero exactly, if it does.
_ZERO_IS_EXACT = (scal.add, scal.sub, scal.neg, scal.abs_, scal.second, scal.switch, scal.maximum, scal.minimum)


def _vanishes(node: Any, inputs: Sequence[Any], x: Any) -> Any:
    """Return where a result is zero because it is too small for its dtype."""
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else None
    if op is None or op in _ZERO_IS_EXACT or not isinstance(x, np.ndarray):
        return False
    return (x == 0) & np.logical_and.reduce([np.broadcast_to(v != 0, x.shape) for v in inputs])


# -- comparing ------------------------------------------------------------------------------------------------------


def same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return where two arrays have the same bits; what is not a number has many, which nobody promises."""
    if a.dtype.kind not in "fc":
        return a == b
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
    return np.where(np.isnan(a), np.isnan(b), (a == b) & (np.signbit(a) == np.signbit(b)))


def near(wanted: np.ndarray, found: np.ndarray, moved: Sequence[np.ndarray], coarsest: str) -> np.ndarray:
    """Return where ``found`` is ``wanted`` within rounding, or where rounding alone decides what that is.

    Parameters
    ----------
    wanted, found : array
    moved : sequence of array
        What was wanted, with other errors of rounding.
    coarsest : str
        The dtype with the fewest digits of those that were computed in.
    """
    if wanted.dtype.kind not in "fc":
        return (found == wanted) | np.logical_or.reduce([other != wanted for other in moved])
    with np.errstate(all="ignore"):
        info = np.finfo(coarsest)
        kind = "complex128" if wanted.dtype.kind == "c" else "float64"
        w, f, others = wanted.astype(kind), found.astype(kind), [x.astype(kind) for x in moved]
        unsure = np.zeros(w.shape, bool)
        space = np.zeros(w.shape)
        for other in others:
            unsure |= (np.isfinite(other) != np.isfinite(w)) | (np.isnan(other) != np.isnan(w))
            space = np.fmax(space, np.abs(other - w))
        # Complex numbers as points of a plane: the smaller part has no digits of its own.
        # (NumPy's powers and roots of complex numbers have fewer digits.)
        units = 1024 if kind == "complex128" else 64
        close = np.abs(f - w) <= units * float(info.eps) * np.abs(w) + 16 * space + float(info.tiny)
        alike = (f == w) | (np.isnan(f) & np.isnan(w))
        if kind == "complex128":
            alike = ~np.isfinite(f)
        return np.where(np.isfinite(w), close, alike) | unsure


def at_the_edge(known: dict[Any, Any], order: Sequence[Any], output: Any, elementwise: bool) -> np.ndarray:
    """Return where a value that was met is so large that another order of computing may leave the range of numbers."""
    shape = np.shape(known[output])
    found = np.full(shape, any(_needs_an_order(node, known) for node in order))
    for x in _values(known, order):
        with np.errstate(all="ignore"):
            size = np.abs(x)
            mark = np.isfinite(x) & (size > float(np.finfo(x.dtype).max) / 4096)
        found = found | (mark if elementwise else mark.any())
    return np.broadcast_to(found, shape) if found.shape != shape else found


def _needs_an_order(node: Any, known: dict[Any, Any]) -> bool:
    """Return whether it depends on the order of computing if a product of arrays or of their elements is a number.

    A product with an infinite number may skip the zeros that it meets, or make nan of them; one of many elements may
    leave the range of numbers on its way, in either direction.
    """
    values = [v.data if isinstance(v, Constant) else known[v] for v in node.inputs]
    if isinstance(node.op, Dot):
        return not all(np.isfinite(x).all() for x in values)
    if not isinstance(node.op, (Prod, MapRows)):
        return False
    with np.errstate(all="ignore"):
        floats = [x for x in values if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
        exponents = [np.log2(np.abs(x[np.isfinite(x) & (x != 0)])) for x in floats]
        return any(max(e[e > 0].sum(), -e[e < 0].sum()) > np.finfo(x.dtype).maxexp for e, x in zip(exponents, floats, strict=True))


def _values(known: dict[Any, Any], order: Sequence[Any]) -> Iterator[np.ndarray]:
    """Yield the real and complex values that nodes have taken and made, those on the way through many operands as well."""
    for node in order:
        values = [v.data if isinstance(v, Constant) else known[v] for v in (*node.inputs, *node.outputs)]
        if len(node.inputs) > 2 and isinstance(node.op, Elemwise) and node.op.scalar_op in (scal.add, scal.mul):
            ufunc = np.add if node.op.scalar_op == scal.add else np.multiply
            values += accumulate(values[: len(node.inputs)], lambda a, b: np.asarray(ufunc(a, b)))  # noqa: B023
        for x in values:
            if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
                yield x


def in_range(known: dict[Any, Any], order: Sequence[Any], shape: tuple[int, ...], elementwise: bool) -> np.ndarray:
    """Return where all values that were met lie in the range of their dtypes, and no divisor is zero.

    By element, if elements are apart.
    """
    sound = np.ones(shape, bool)
    marks = [_in_range(x) for x in _values(known, order)]
    for node in order:
        values = [v.data if isinstance(v, Constant) else known[v] for v in (*node.inputs, *node.outputs)]
        divisor = _divisor(node)
        if divisor is not None:
            marks.append(values[divisor] != 0)
        marks += [~np.asarray(_vanishes(node, values[: len(node.inputs)], x)) for x in values[len(node.inputs) :]]
    for mark in marks:
        sound = sound & (mark if elementwise else mark.all())
    return np.broadcast_to(sound, shape) if sound.shape != shape else sound


def _in_range(x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
        small = [(np.abs(p) < np.finfo(x.dtype).tiny) & (p != 0) for p in parts]
        return np.isfinite(x) & ~np.logical_or.reduce(small)


def _divisor(node: Any) -> int | None:
    """Return which input of a node divides."""
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else None
    if op in (scal.true_div, scal.int_div, scal.mod):
        return 1
    return 0 if op == scal.inv else None


def broken(
    keeps: str, inputs: Sequence[Any], output: Any, fgraph: Any, values: list[np.ndarray], elementwise: bool
) -> tuple[str, int] | None:
    """Return what is wrong with a rewritten graph on some values ("" if nothing), and how many were compared.

    None where the expression itself refuses the values.
    """
    given = dict(zip(inputs, values, strict=True))
    order = toposort([output], inputs)
    with np.errstate(all="ignore"):
        try:
            known = computed([output], given, order)
        except REFUSALS:
            return None
        wanted = np.asarray(known[output])
        replaced = dict(zip(fgraph.inputs, [np.array(x) for x in values], strict=True))
        try:
            after = computed(fgraph.outputs, replaced, fgraph.toposort())
        except REFUSALS as error:
            if keeps == "finite" and not in_range(known, order, (), elementwise=False):
                return None
            return f"{type(error).__name__}: {str(error).splitlines()[0]}", 0
        found = np.asarray(after[fgraph.outputs[0]])
        if found.dtype != wanted.dtype or found.shape != wanted.shape:
            return f"{found.dtype} {found.shape} in place of {wanted.dtype} {wanted.shape}", 0
        if not fgraph.outputs[0].type.is_valid_value(found):
            return f"a value of shape {found.shape} that is not of {fgraph.outputs[0].type}", 0
        good = _good(keeps, wanted, found, known, (output, order, given), elementwise)
        if keeps == "finite" and not good.all():
            good = good | ~in_range(after, fgraph.toposort(), wanted.shape, elementwise)
    if good.all():
        return "", int(wanted.size)
    place = tuple(int(i) for i in np.argwhere(~good)[0])
    at = {str(v): _at(x, place) for v, x in given.items()}
    return f"{found[place]!r} in place of {wanted[place]!r}, {np.sum(~good)} of {good.size} wrong, for {at}", 0


def _at(x: np.ndarray, place: tuple[int, ...]) -> Any:
    """Return the element of an input that goes into an element of an element-wise result, or all of a small one."""
    aligned = place[len(place) - x.ndim :] if x.ndim <= len(place) else ()
    if len(aligned) == x.ndim and all(n == 1 or i < n for i, n in zip(aligned, x.shape, strict=True)) and x.ndim and x.size > 12:
        return x[tuple(0 if n == 1 else i for i, n in zip(aligned, x.shape, strict=True))]
    return x.tolist() if x.size <= 12 else f"array of {x.shape}"


def _good(keeps: str, wanted: Any, found: Any, known: Any, about: Any, elementwise: bool) -> np.ndarray:
    """Return where a contract is kept."""
    output, order, given = about
    good = same_bits(wanted, found)
    if keeps == "exact" or good.all():
        return good
    if keeps == "approximate":
        return good | (np.abs(found - wanted) <= 0.1) | ~np.isfinite(wanted)
    if keeps == "finite":
        good = good | ~in_range(known, order, wanted.shape, elementwise)
        if good.all():
            return good
    floats = [v.type.dtype for node in order for v in (*node.inputs, *node.outputs) if _is_inexact(v)]
    coarsest = max(floats, key=lambda d: float(np.finfo(d).eps), default="float64")
    good = good | near(wanted, found, [], coarsest)
    if found.dtype.kind in "fc" and not good.all():
        good = good | ~(np.isfinite(wanted) & np.isfinite(found)) & at_the_edge(known, order, output, elementwise)
    moved: list[np.ndarray] = []
    # What is near by a few errors stays so by more. Of many elements some are moved alike by chance where they cancel.
    for seeds in (range(1), range(1, 6), range(6, 30)):
        if good.all():
            break
        roundings = [Rounding(seed, reordered=keeps == "finite") for seed in seeds]
        moved += [x for x in _moved(roundings, output, order, given, elementwise) if x.shape == wanted.shape]
        if seeds.stop > 1 and len(moved) < 3:
            return np.ones(wanted.shape, bool)  # rounding decides whether there is a result
        good = good | near(wanted, found, moved, coarsest)
    return good


def _moved(
    roundings: Sequence[Rounding], output: Any, order: Any, given: dict[Any, Any], elementwise: bool
) -> Iterator[np.ndarray]:
    """Yield what an expression is worth with other errors of rounding."""
    for rounding in roundings:
        start = given if elementwise else {v: rounding.moved(x) for v, x in given.items()}
        try:
            yield np.asarray(computed([output], start, order, rounding)[output])
        except REFUSALS:
            continue


def _is_inexact(v: Any) -> bool:
    return not isinstance(v, Constant) and getattr(v.type, "dtype", "") in scal.continuous_dtypes


__all__ = ["LENGTH", "Rounding", "broken", "computed", "grid", "samples"]
