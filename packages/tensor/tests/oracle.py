"""An interpreter of expressions over ``perform``: what compiled functions are compared with.

It knows nothing of rewriting, linkers or generated code: it computes the nodes of a graph one by one, checks
each value against its type, and each inferred shape against the real one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from theano.graph import Apply, Constant, Variable
from theano.graph.traverse import toposort


def run(outputs: Any, given: Mapping[Variable, Any], check: bool = True) -> Any:
    """Return the values of expressions.

    Parameters
    ----------
    outputs : Variable or sequence of Variable
    given : dict from Variable to value
        Stored as the type filters it.
    check : bool
        Compare each value with its type.
    """
    many = isinstance(outputs, (list, tuple))
    wanted = list(outputs) if many else [outputs]
    values: dict[Variable, Any] = {v: v.type.filter(x, allow_downcast=True) for v, x in given.items()}
    for node in toposort(wanted, set(values)):
        inputs = [_value(v, values) for v in node.inputs]
        cells: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, inputs, cells)
        for v, (value,) in zip(node.outputs, cells, strict=True):
            if check:
                try:
                    v.type.filter(value, strict=True)
                except (TypeError, ValueError) as exc:
                    raise AssertionError(f"{node} returned {value!r}: {exc}") from exc
            values[v] = value
    results = [_value(v, values) for v in wanted]
    return results if many else results[0]


def _value(v: Variable, values: dict[Variable, Any]) -> Any:
    if v in values:
        return values[v]
    if isinstance(v, Constant):
        return v.data
    container = getattr(v, "container", None)
    if container is not None:
        return container.data
    raise AssertionError(f"no value is given for {v}")


def shapes(node: Apply, given: Mapping[Variable, Any]) -> list[tuple[int, ...]]:
    """Return the shapes that ``infer_shape`` gives for the outputs of a node, worked out on values."""
    import theano.tensor as T

    asked = []
    values = dict(given)
    for v in node.inputs:
        if getattr(v.type, "ndim", None) is None:
            asked.append(None)
            continue
        value = run(v, given)
        lengths = []
        for one, n in zip(v.type.broadcastable, np.shape(value), strict=True):
            if one:
                lengths.append(T.constant(np.int64(1)))
            else:
                symbol = T.lscalar()
                values[symbol] = n
                lengths.append(symbol)
        asked.append(tuple(lengths))
    answer = node.op.infer_shape(node, asked)
    return [tuple(int(run(T.as_tensor_variable(n), values)) for n in shape) for shape in answer]


def numeric_slope(
    f: Any, point: Sequence[np.ndarray], direction: Sequence[np.ndarray], step: float = 1e-5
) -> np.ndarray:
    """Return the slope of a function of arrays along a direction, by central differences of fourth order."""

    def at(h: float) -> np.ndarray:
        return np.asarray(f(*[p + h * d for p, d in zip(point, direction, strict=True)]), dtype="float64")

    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
