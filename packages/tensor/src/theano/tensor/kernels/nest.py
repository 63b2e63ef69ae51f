"""Loops as data: what an element-wise operation or a reduction computes, for whatever writes it down in a language.

A description says which arrays there are, along which axes they are stretched, and which scalar operations turn their
elements into those of the outputs. It says nothing of C, vectors, blocks or threads: a writer decides these.
`theano.tensor.elemwise.lowering` and `theano.tensor.reduce.lowering` write C for the CPU. Another target brings a
writer of its own, and enters it into the lowering table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.lowering.accepts import dtype_of
from theano.records import record
from theano.scalar.arithmetic import identity
from theano.scalar.ufuncs import neutral, ufunc_of
from theano.tensor.kernels.common import normal_axes, pattern_of

if TYPE_CHECKING:
    from theano.graph.variable import Variable


@record(frozen=True)
class Operand:
    """One array of a loop.

    Parameters
    ----------
    name : str
        A name for the writer.
    dtype : str
    broadcastable : tuple of bool
        The axes along which it is 1 long by its type, so that its elements are used again and again.
    """

    name: str
    dtype: str
    broadcastable: tuple[bool, ...]

    @property
    def ones(self) -> int:
        """The axes along which it is 1 long, as bits."""
        return sum(1 << axis for axis, one in enumerate(self.broadcastable) if one)


@record(frozen=True)
class Map:
    """A loop that computes each element of the outputs from the elements of the inputs at the same place.

    Parameters
    ----------
    function : ScalarOp
        From elements of the inputs to those of the outputs.
    inputs, outputs : tuple of Operand
        All of as many axes as the loop.
    over : tuple of int
        Per output: the number of the input whose memory it takes, or -1.

    Examples
    --------
    >>> import theano.tensor as T
    >>> nest = map_of((T.matrix("x") + T.row("y")).owner)
    >>> [x.broadcastable for x in nest.inputs], nest.moves(nest.inputs[1])
    ([(False, False), (True, False)], 'some')
    """

    function: Any
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    over: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.outputs[0].broadcastable)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The inputs, then the outputs."""
        return self.inputs + self.outputs

    @cached_property
    def _long(self) -> list[int]:
        # Axes that are 1 long in every input are 1 long, whatever else happens.
        return [axis for axis in range(self.ndim) if not self.outputs[0].broadcastable[axis]]

    def moves(self, operand: Operand) -> str:
        """Return whether the loop goes along ``"all"`` its axes in an operand, ``"some"``, or ``"none"``."""
        ones = [operand.broadcastable[axis] for axis in self._long]
        return "none" if all(ones) else "some" if any(ones) else "all"

    def stands_still(self, operand: Operand) -> bool:
        """Return whether an operand is one element for each row, the elements along the last axis that is not 1 long.

        Examples
        --------
        >>> import theano.tensor as T
        >>> nest = map_of((T.matrix("x") + T.col("y")).owner)
        >>> [nest.stands_still(x) for x in nest.inputs]
        [False, True]
        """
        return self.moves(operand) == "some" and operand.broadcastable[self._long[-1]]


@record(frozen=True)
class Result:
    """One result of a reduction.

    Parameters
    ----------
    combine : ScalarOp
        Associative: from an accumulator and a term to the accumulator.
    term, accumulator, dtype : str
        Dtypes of the terms, of what they are taken into, and of the result.
    needs_terms : bool
        Whether an empty reduction is an error.
    neutral : number or None
        The neutral element; None if it does not exist.
    """

    combine: Any
    term: str
    accumulator: str
    dtype: str
    needs_terms: bool
    neutral: float | None


@record(frozen=True)
class Reduction:
    """A loop that takes terms, computed from the elements of the inputs at one place, into results.

    Parameters
    ----------
    function : ScalarOp
        From elements of the inputs to one term for each result.
    inputs : tuple of Operand
        All of as many axes as the loop.
    axes : tuple of int
        Those along which terms are taken into one element of a result; the other axes are the results'.
    results : tuple of Result

    Examples
    --------
    >>> import theano.tensor as T
    >>> nest = reduction_of(T.sum(T.fmatrix("x"), axis=0).owner)
    >>> nest.axes, nest.results[0].combine, nest.results[0].accumulator
    ((0,), add, 'float64')
    """

    function: Any
    inputs: tuple[Operand, ...]
    axes: tuple[int, ...]
    results: tuple[Result, ...]

    @property
    def ndim(self) -> int:
        """The number of axes of the loop."""
        return len(self.inputs[0].broadcastable)


def map_of(node: Apply) -> Map:
    """Return what an element-wise node computes: its op has ``scalar_op``, and perhaps ``inplace_pattern``."""
    op: Any = node.op
    inputs = _operands("x", node.inputs)
    ones = tuple(all(x.broadcastable[axis] for x in inputs) for axis in range(len(pattern_of(node.outputs[0]))))
    outputs = tuple(Operand(f"y{i}", dtype_of(v), ones) for i, v in enumerate(node.outputs))
    in_place = {int(o): int(i) for o, i in dict(getattr(op, "inplace_pattern", None) or {}).items()}
    return Map(op.scalar_op, inputs, outputs, tuple(in_place.get(i, -1) for i in range(len(outputs))))


def reduction_of(node: Apply) -> Reduction | None:
    """Return what a reduction computes, or None where its results are not reduced over the same axes.

    Parameters
    ----------
    node : Apply
        Of a `CAReduce`, or of an op with a ``scalar_op`` that computes the terms and ``reductions`` of them.
    """
    op: Any = node.op
    reductions: Sequence[Any] = getattr(op, "reductions", (op,))
    inputs = _operands("x", node.inputs)
    ndim = len(inputs[0].broadcastable)
    if any(len(x.broadcastable) != ndim for x in inputs):
        return None
    terms = _terms(op, [x.dtype for x in inputs])
    axes = normal_axes(reductions[0].axis, ndim)
    left = ndim - len(axes)
    if terms is None or any(normal_axes(r.axis, ndim) != axes for r in reductions):
        return None
    if any(len(pattern_of(v)) != left for v in node.outputs):
        return None
    function = op.scalar_op if hasattr(op, "reductions") else identity
    results = (_result(r, term, dtype_of(v)) for r, term, v in zip(reductions, terms, node.outputs, strict=True))
    return Reduction(function, inputs, tuple(axes), tuple(results))


def _operands(letter: str, variables: Sequence[Variable]) -> tuple[Operand, ...]:
    patterns = [pattern_of(v) for v in variables]
    ndim = max(map(len, patterns))
    # A number stands for a tensor of one element.
    return tuple(
        Operand(f"{letter}{k}", dtype_of(v), pattern or (True,) * ndim)
        for k, (v, pattern) in enumerate(zip(variables, patterns, strict=True))
    )


def _terms(op: Any, dtypes: list[str]) -> list[str] | None:
    if not hasattr(op, "reductions"):
        return dtypes
    try:
        return [str(dtype) for dtype in op.term_dtypes(dtypes)]
    except TypeError:
        return None  # the scalar operation refuses them


def _result(reduction: Any, term: str, dtype: str) -> Result:
    accumulator = getattr(reduction, "acc_dtype", None) or dtype
    # Half precision is for storing.
    accumulator = "float32" if accumulator == "float16" else accumulator
    combine = reduction.scalar_op
    needs_terms = ufunc_of(combine).identity is None and not getattr(reduction, "may_be_empty", False)
    return Result(combine, term, accumulator, dtype, needs_terms, neutral(combine, accumulator))
