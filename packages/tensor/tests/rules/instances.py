"""Instances of a rule's left side: the expression of its case over other dtypes, broadcast patterns and constants.

An instance is the case made anew, each node by ``make_node`` of its op, over other leaves (its inputs and constants).
What the ops do not take is no instance. Beside dtypes and patterns the numbers of constants are changed, constants
are made that are not one number everywhere, and a leaf that occurs twice is made two: a rule that takes such a
neighbour of its case has to be right about it, too.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

import numpy as np
from left_sides import psd, square

from theano import scalar as scal
from theano.compile.builders import OpFromGraph
from theano.graph import Apply, Constant, Variable
from theano.graph.traverse import explicit_inputs, toposort
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.rows.op import MapRows
from theano.tensor.type import TensorType

DTYPES = (*scal.discrete_dtypes, *scal.continuous_dtypes)
#: For which reasons an op, or NumPy for it, refuses what it is given.
REFUSALS = (TypeError, ValueError, NotImplementedError, AttributeError, IndexError, OverflowError)
Change = dict[Variable, Variable]


# -- the same expression over other leaves --------------------------------------------------------------------------


def remade(outputs: Sequence[Any], change: Change, order: Sequence[Apply] | None = None) -> list[Any]:
    """Return an expression over other leaves, its nodes made anew; an op that takes them not raises."""
    new: dict[Any, Any] = dict(change)
    for node in toposort(outputs, change) if order is None else order:
        inputs = [new.get(v, v) for v in node.inputs]
        if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
            continue
        made = _made(node, inputs)
        new.update(zip(node.outputs, made, strict=True))
    return [new.get(v, v) for v in outputs]


def _made(node: Apply, inputs: list[Any]) -> list[Any]:
    op: Any = node.op
    if isinstance(op, DimShuffle):
        return [_shuffled(node, inputs[0])]
    if isinstance(op, CAReduce):
        # Dtypes that were settled for one input are not those of another.
        plain = op if inputs[0].type == node.inputs[0].type else _with_open_dtypes(op, node.inputs[0].type)
        return list(plain.make_node(*inputs).outputs)
    if isinstance(op, Elemwise) and isinstance(op.scalar_op, scal.Composite):
        op = Elemwise(_composite(op.scalar_op, [v.type.dtype for v in inputs]))
    elif isinstance(op, OpFromGraph):
        own = [v.type() for v in inputs]
        outputs = remade(op.local_outputs, dict(zip(op.local_inputs, own, strict=True)))
        op = OpFromGraph(own, outputs, inline=op.is_inline)
    elif isinstance(op, MapRows):
        rows = [TensorType(v.type.dtype, v.type.broadcastable[1:])() for v in inputs[: len(op.rows)]]
        fixed = [v.type() for v in inputs[len(op.rows) :]]
        outputs = remade(op.outputs, dict(zip((*op.rows, *op.fixed), (*rows, *fixed), strict=True)))
        op = MapRows(rows, fixed, outputs)
    return list(op.make_node(*inputs).outputs)


def _shuffled(node: Apply, x: Any) -> Any:
    op: Any = node.op
    old = node.inputs[0].type.ndim  # type: ignore[attr-defined]
    new = sum(d == "x" for d in op.new_order)
    if x.type.ndim != old:
        if op.new_order != ("x",) * new + tuple(range(old)):
            raise TypeError("an order of dimensions is for so many of them")
        return x  # dimensions that an element-wise op has added on the left, as it will again
    return DimShuffle(x.type.broadcastable, op.new_order)(x)


def _with_open_dtypes(op: Any, kind: Any) -> Any:
    """Return a reduction whose dtypes are open again, where they are what it would have settled on by itself."""
    arguments = op._arguments(op.axis)
    fresh = type(op)(*[None if isinstance(a, str) else a for a in arguments])
    return fresh if fresh.make_node(kind()).op == op else op


def _composite(op: Any, dtypes: Sequence[str]) -> Any:
    inputs = [scal.get_scalar_type(d).make_variable() for d in dtypes]
    return scal.Composite(inputs, remade(op.outputs, dict(zip(op.inputs, inputs, strict=True))))


# -- the leaves -----------------------------------------------------------------------------------------------------


def leaves(output: Any) -> tuple[list[Any], list[Any]]:
    """Return the inputs of an expression, and its constants that are tensors."""
    constants: dict[Any, None] = {}
    for node in toposort([output]):
        constants.update((v, None) for v in node.inputs if isinstance(v, Constant) and isinstance(v.type, TensorType))
    return explicit_inputs([output]), list(constants)


def with_own_constants(output: Any) -> Any:
    """Return the expression with a constant of its own at each place that uses one of those that programs share.

    So each of them is changed alone.
    """
    made: dict[Any, Any] = {}
    for node in toposort([output]):
        own = [v.clone() if isinstance(v, Constant) and v.cached else made.get(v, v) for v in node.inputs]
        made.update(zip(node.outputs, node.with_inputs(own).outputs, strict=True))
    return made.get(output, output)


def like(leaf: Any, dtype: str | None = None, pattern: Sequence[bool] | None = None) -> Any:
    """Return an input (or a constant of the same numbers) of another type; what is said of it by tags stays said."""
    dtype = dtype or leaf.type.dtype
    if isinstance(leaf, Constant):
        data = leaf.data.astype(dtype)
        if not np.array_equal(data, leaf.data, equal_nan=leaf.data.dtype.kind in "fc"):
            raise TypeError(f"{leaf.data} is no {dtype}")
        return TensorType(dtype, leaf.type.broadcastable).make_constant(data)
    new = TensorType(dtype, leaf.type.broadcastable if pattern is None else pattern)(leaf.name)
    for tag in ("psd", "symmetric"):
        if getattr(leaf.tag, tag, None):
            setattr(new.tag, tag, True)
    # What values it may have, and how long it is, is known of the case.
    new.tag.stands_for = getattr(leaf.tag, "stands_for", leaf)
    return new


@dataclass(frozen=True)
class Instance:
    """An expression, and what was changed to get it."""

    label: str
    output: Any


class Case:
    """The case of a rule, of which instances are made.

    Parameters
    ----------
    output : Variable
    name : str
        Of the rule: what is drawn at random depends on it alone.
    effort : int
        How many combinations are tried: a few, some of them, or (3) all.
    """

    def __init__(self, output: Any, name: str, effort: int = 2):
        self.output, self.effort = with_own_constants(output), effort
        self.draw = random.Random(zlib.crc32(name.encode()))
        self.inputs, self.constants = leaves(output)
        self.leaves = [*self.inputs, *self.constants]
        self.order = toposort([self.output])
        self.is_elementwise = all(_is_elementwise(node) for node in self.order)
        self.accepted = {leaf: [d for d in DTYPES if self._takes(leaf, d)] for leaf in self.leaves}

    def _takes(self, leaf: Any, dtype: str) -> bool:
        return self._made(lambda: {leaf: like(leaf, dtype)}) is not None

    def _made(self, change: Callable[[], Change]) -> Any:
        try:
            return remade([self.output], change(), self.order)[0]
        except REFUSALS:
            return None

    @cached_property
    def changes(self) -> list[tuple[str, Callable[[], Change]]]:
        """All changes, each once."""
        changes: dict[str, Any] = {}
        for label, change in self._changes():
            changes.setdefault(label, change)
        return list(changes.items())

    def instances(self, chosen: Callable[[list[Any]], list[Any]] = list) -> Iterator[Instance]:
        """Yield the instances that the ops take; of all changes, those that a function has chosen."""
        for label, change in chosen(self.changes):
            output = self._made(change)
            if output is not None:
                yield Instance(label, output)

    def _changes(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        yield "as it is", dict
        yield from self._one_dtype()
        yield from self._mixed_dtypes()
        yield from self._patterns()
        yield from self._numbers()
        yield from self._parted()
        if self.effort:
            yield from self._operands()
            yield from self._axes()

    # -- dtypes ------------------------------------------------------------------------------------------------------

    def _typed(self, dtypes: dict[Any, str]) -> Change:
        return {leaf: like(leaf, d) for leaf, d in dtypes.items() if d != leaf.type.dtype}

    def _one_dtype(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        """All leaves of one dtype, those that take it; and all inputs, the constants as they are."""
        for d in DTYPES if self.effort else self.draw.sample(DTYPES, 4):
            for what, among in (("all", self.leaves), ("inputs", self.inputs))[-max(1, self.effort) :]:
                chosen = {leaf: d for leaf in among if d in self.accepted[leaf]}
                if chosen:
                    yield f"{what} {d}", partial(self._typed, chosen)

    def _mixed_dtypes(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        """Each leaf alone of each dtype, then dtypes drawn for all of them."""
        singles = [(leaf, d) for leaf in self.leaves for d in self.accepted[leaf]]
        if self.effort < 3:
            # What is computed of narrow whole numbers alone wraps around: these are tried in each place.
            narrow = [(leaf, d) for leaf, d in singles if d in ("int8", "uint8") and self.effort]
            singles = narrow + self.draw.sample(singles, min((2, 4, 12)[self.effort], len(singles)))
        for leaf, d in singles:
            yield f"{leaf} {d}", partial(self._typed, {leaf: d})
        free = [leaf for leaf in self.leaves if len(self.accepted[leaf]) > 1]
        if len(free) < 2:
            return
        if self.effort == 3 and len(free) == 2:
            drawn: Any = product(*(self.accepted[leaf] for leaf in free))
        else:
            times = (2, 4, 8, 200)[self.effort]
            drawn = ([self.draw.choice(self.accepted[leaf]) for leaf in free] for _ in range(times))
        for dtypes in drawn:
            yield _said(free, dtypes), partial(self._typed, dict(zip(free, dtypes, strict=True)))

    # -- broadcast patterns ------------------------------------------------------------------------------------------

    def _patterns(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        """Each input of each pattern; then patterns, and dtypes, drawn for all of them."""
        choices = {leaf: self._patterns_of(leaf) for leaf in self.inputs}
        for leaf in self.inputs:
            for pattern in choices[leaf] if self.effort > 1 else ():
                yield f"{leaf} {_shown(pattern)}", partial(self._patterned, {leaf: pattern}, {})
        if not self.inputs:
            return
        for _ in range((3, 5, 10, 60)[self.effort]):
            patterns = {leaf: self.draw.choice(choices[leaf]) for leaf in self.inputs}
            dtypes = {leaf: self.draw.choice(self.accepted[leaf] or [leaf.type.dtype]) for leaf in self.inputs}
            label = _said(self.inputs, [f"{dtypes[v]} {_shown(patterns[v])}" for v in self.inputs])
            yield label, partial(self._patterned, patterns, dtypes)

    def _patterned(self, patterns: dict[Any, Any], dtypes: dict[Any, str]) -> Change:
        return {leaf: like(leaf, dtypes.get(leaf), pattern) for leaf, pattern in patterns.items()}

    def _patterns_of(self, leaf: Any) -> list[tuple[bool, ...]]:
        if leaf in (psd, square):
            return [leaf.type.broadcastable]
        if self.is_elementwise:
            return [(), (True,), (False,), (True, False), (False, True), (False, False)]
        return list(product((False, True), repeat=leaf.type.ndim))

    # -- neighbours of the case --------------------------------------------------------------------------------------

    def _numbers(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        """Constants of other numbers, stretched to the length of vectors, and with one element unlike the others."""
        dtypes: list[str | None] = [None, *(self.draw.sample(DTYPES, (0, 1, 3, len(DTYPES))[self.effort]))]
        for leaf, dtype in product(self.constants, dtypes):
            if leaf.data.size == 0:
                continue
            for label, data in _others(leaf.data):
                yield (
                    f"{leaf} {label}, {dtype or 'inputs as they are'}",
                    partial(self._numbered, leaf, data, dtype),
                )

    def _numbered(self, leaf: Any, data: np.ndarray, dtype: str | None) -> Change:
        made: Any = TensorType(leaf.type.dtype, tuple(n == 1 for n in data.shape)).make_constant(data)
        typed = {} if dtype is None else self._typed({v: dtype for v in self.inputs if dtype in self.accepted[v]})
        if dtype is not None and dtype in self.accepted[leaf]:
            made = like(made, dtype)
        return {**typed, leaf: made}

    def _parted(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        """A leaf that occurs more than once is another one in one place."""
        for leaf in self.inputs:
            users = [(node, i) for node in self.order for i, v in enumerate(node.inputs) if v is leaf]
            for node, i in users if len(users) > 1 else ():
                yield f"{leaf} not the same in {node} {i}", partial(self._with_another, leaf, node, i)

    def _with_another(self, leaf: Any, node: Apply, i: int) -> Change:
        return _on(node, [like(leaf) if j == i else v for j, v in enumerate(node.inputs)])

    def _operands(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        """Operands in the other order, and more of them.

        What takes any number of operands takes the first one again, an input, a number, and two int8, which by
        themselves wrap around where the whole does not; what is divided, and the divisor, is a product with these.
        """
        for k, node in enumerate(self.order):
            if not isinstance(node.op, Elemwise) or len(node.inputs) < 2:
                continue
            if node.op.scalar_op != scal.second:  # (what nobody reads would be read)
                yield f"{node.op} {k} turned", partial(_on, node, node.inputs[::-1])
            first: Any = node.inputs[0]
            ones = [True] * first.type.ndim
            narrow = [TensorType("int8", first.type.broadcastable)(name) for name in ("a", "b")]
            number = TensorType(first.type.dtype, ones).make_constant(np.full([1] * len(ones), 2, first.type.dtype))
            if node.op.scalar_op.nin < 0:
                for label, more in (
                    ("again", [first]),
                    ("more", [first.type("more")]),
                    ("number", [number]),
                    ("narrow", narrow),
                ):
                    yield f"{node.op} {k} {label}", partial(_on, node, [*node.inputs, *more])
                    yield f"{label} {node.op} {k}", partial(_on, node, [*more, *node.inputs])
            elif node.op.scalar_op == scal.true_div:
                for i in range(2):
                    yield f"{node.op} {k} {i} narrow", partial(self._times, node, i, narrow)

    def _times(self, node: Apply, i: int, factors: list[Any]) -> Change:
        return _on(node, [F.mul(v, *factors) if j == i else v for j, v in enumerate(node.inputs)])

    def _axes(self) -> Iterator[tuple[str, Callable[[], Change]]]:
        """Reductions along each of the other sets of axes."""
        for k, node in enumerate(self.order):
            if isinstance(node.op, CAReduce):
                ndim = node.inputs[0].type.ndim
                for axes in (axes for n in range(1, ndim + 1) for axes in combinations(range(ndim), n)):
                    yield f"{node.op} {k} along {axes}", partial(self._reduced, node, axes)

    def _reduced(self, node: Apply, axes: tuple[int, ...]) -> Change:
        return dict(zip(node.outputs, type(node.op)(axes).make_node(*node.inputs).outputs, strict=True))


def _on(node: Apply, inputs: list[Any]) -> Change:
    """Return what takes the place of a node's outputs where its op is applied to other inputs."""
    return dict(zip(node.outputs, _made(node, inputs), strict=True))


def _is_elementwise(node: Apply) -> bool:
    op: Any = node.op
    if isinstance(op, DimShuffle):
        kept = tuple(range(len(op.input_broadcastable)))
        return op.new_order == ("x",) * (len(op.new_order) - len(kept)) + kept
    return isinstance(op, Elemwise)


def _others(data: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield arrays beside that of a constant: other numbers, in an array that is longer, or not the same everywhere."""
    with np.errstate(all="ignore"):
        for by in (-1, 1):
            yield f"{by:+}", np.asarray(data + data.dtype.type(by)) if data.dtype.kind != "b" else ~data
        if data.dtype.kind in "fc":
            for factor in (-1, 0.5, 0):
                yield f"* {factor}", np.asarray(data * data.dtype.type(factor))
    if data.size == 1 and data.ndim < 2:
        full = np.repeat(data.reshape(-1), LENGTH)
        yield "long", full
        for place in (0, -1):
            unlike = full.copy()
            unlike[place] = not unlike[place] if data.dtype.kind == "b" else unlike[place] + 1
            yield f"unlike at {place}", unlike


def _shown(pattern: Sequence[bool]) -> str:
    return "".join("1" if one else "n" for one in pattern) or "()"


def _said(variables: Sequence[Any], what: Sequence[str]) -> str:
    return ", ".join(f"{v} {w}" for v, w in zip(variables, what, strict=True))


#: How long the vectors of element-wise cases are: as many as there are values of int8.
LENGTH = 256
