"""The words of errors that arrays of wrong shape cause: which expression, made where, of what shape and dtype."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from theano.errors import ShapeError
from theano.graph import Variable
from theano.graph.source import created_at
from theano.tensor.type import Tensor, TensorApply


def describe(variable: Variable, shape: Sequence[Any] | None = None) -> str:
    """Return one line about a variable: name, dtype, shape or pattern, and the user's line that made it."""
    name = str(variable)
    text = name if len(name) <= 40 else name[:37] + "..."
    dtype = getattr(variable.type, "dtype", str(variable.type))
    size = f"shape {tuple(shape)}" if shape is not None else f"{getattr(variable.type, 'ndim', '?')}-d"
    where = created_at(variable)
    return f"    {text} : {dtype}, {size}" + (f"      created at {where}" if where else "")


def axis_of(x: Tensor, axis: int, what: str) -> int:
    """Return an axis counted from 0.

    Raises
    ------
    numpy.exceptions.AxisError
        The tensor has no such axis; it is a ValueError and an IndexError.
    """
    ndim = x.type.ndim
    if not -ndim <= axis < ndim:
        problem = f"{what}: axis {axis} is out of range for a tensor of {ndim} dimensions:\n{describe(x)}"
        raise np.exceptions.AxisError(problem)
    return int(axis) % ndim


def shape_error(node: TensorApply, inputs: Sequence[object], problem: str, remedy: str) -> ShapeError:
    """Return the error for values whose shapes do not fit.

    Parameters
    ----------
    node : Apply
    inputs : list of values
    problem : str
        What does not fit, in one line.
    remedy : str
        What to do about it, in one line.
    """
    return ShapeError("\n".join([f"{node.op}: {problem}", *_table(node.inputs, inputs), f"  {remedy}"]))


def broadcast_input(node: TensorApply, inputs: Sequence[Any], k: int, shape: Sequence[int]) -> np.ndarray:
    """Return input ``k`` repeated to a shape, along axes that are 1 long by its type alone.

    A length that only happens to be 1 is not repeated: the gradient, which knows types alone, would have another shape.

    Parameters
    ----------
    node : Apply
    inputs : list of values
    k : int
    shape : tuple of int

    Raises
    ------
    ShapeError
        It does not fit.
    """
    value, known = inputs[k], node.inputs[k].type.broadcastable
    target = shape[len(shape) - value.ndim :]
    pairs = list(zip(value.shape, target, known, strict=False))
    fits = value.ndim <= len(shape) and all(n in (m, 1) for n, m, _ in pairs)
    if fits and all(n == m or one for n, m, one in pairs):
        return np.broadcast_to(value, tuple(shape))
    hint = ". A length of 1 is stretched only if the variable's type says it is always 1" if fits else ""
    remedy = "T.addbroadcast(y, axis) says that a length is 1." if fits else "Lengths must be 1 or those of the other."
    raise shape_error(
        node, inputs, f"a value of shape {value.shape} does not fit in one of shape {tuple(shape)}{hint}", remedy
    )


def _table(variables: Iterable[Variable], values: Sequence[Any], limit: int = 5) -> list[str]:
    lines = [describe(v, np.shape(x)) for v, x in zip(variables, values, strict=True)]
    return lines if len(lines) <= limit else [*lines[: limit - 1], f"    ... and {len(lines) - limit + 1} more"]
