"""Graphs of PyTensor as graphs of ours: `convert` is the table from its ops to expressions, one entry an op.

An entry is registered in the habit of PyTensor's own dispatchers::

    @convert.register(Dot)
    def _(op, node, x, y):
        return T.dot(x, y)

It is given the op, its node, and a variable of ours for each input of the node. It returns a variable, or a list of
them. What it cannot say it refuses by raising NotImplementedError. A node without an entry, and one that is refused,
becomes a call of PyTensor's own ``perform`` (`performed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import singledispatch
from logging import WARNING
from pathlib import Path
from typing import Any

import numpy as np
import pytensor
from pytensor.graph.basic import Constant as PyTensorConstant
from pytensor.graph.traversal import toposort

import theano.tensor as T
from theano.graph import Constant
from theano.graph.source import SourceLine, tracing
from theano_pytensor.performed import performed
from theano_pytensor.types import fitted, now_registered, type_of

_PYTENSOR = str(Path(pytensor.__file__).parent)


@singledispatch
def convert(op: Any, node: Any, *inputs: Any) -> Any:
    """Return the outputs of a node of PyTensor as expressions of ours.

    Parameters
    ----------
    op : pytensor Op
    node : pytensor Apply
    *inputs : Variable
        Of ours, for each input of the node.

    Returns
    -------
    Variable or sequence of Variable

    Raises
    ------
    NotImplementedError
        No conversion is registered, or only for other parameters or types.
    """
    if now_registered(type(op)):
        return convert(op, node, *inputs)
    raise NotImplementedError(f"no conversion is registered for {type(op).__name__}")


def constant(v: Any) -> Any:
    """Return a constant of PyTensor's as one of ours."""
    kind = type_of(v.type)
    if isinstance(kind, T.TensorType) and type(kind) is T.TensorType:
        return T.TensorConstant(kind, np.asarray(v.data, dtype=kind.dtype))
    return kind.Constant(kind, v.data) if hasattr(kind, "Constant") else Constant(kind, v.data)


def strictly(op: Any, node: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return the outputs of a node, as its entry says and as its types declare."""
    made = convert(op, node, *inputs)
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    return [fitted(x, v.type) for x, v in zip(outputs, node.outputs, strict=True)]


def outputs_of(node: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return the outputs of a node in any case: as its entry says, or as calls of PyTensor's ``perform``."""
    try:
        return strictly(node.op, node, inputs)
    except NotImplementedError as exc:
        return performed(node, inputs, str(exc))
    except Exception as exc:  # noqa: BLE001  (an op of ours refuses what PyTensor's takes, or an entry is wrong)
        return performed(node, inputs, f"its entry fails: {type(exc).__name__}: {exc}", WARNING)


def translate(
    outputs: Iterable[Any], known: Mapping[Any, Any], step: Callable[[Any, Sequence[Any]], list[Any]] = outputs_of
) -> list[Any]:
    """Return expressions of ours for variables of PyTensor.

    Parameters
    ----------
    outputs : iterable of pytensor Variable
    known : dict from pytensor Variable to Variable
        What stands for the variables where the graph begins.
    step : callable
        What translates a node.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x, X = pt.dvector("x"), T.dvector("X")
    >>> translate([x + 1], {x: X})[0].type
    TensorType(float64, vector)
    """
    outputs, table = list(outputs), dict(known)

    def of(v: Any) -> Any:
        if v not in table:
            if not isinstance(v, PyTensorConstant):
                raise NotImplementedError(f"{v} is neither computed nor given")
            table[v] = constant(v)
        return table[v]

    untraced, tracing.untraced = tracing.untraced, True  # the lines are those of PyTensor's variables
    try:
        for node in toposort(outputs, blockers=list(known)):
            if all(v in table for v in node.outputs):
                continue
            given = [of(v) for v in node.inputs]
            for v, x in zip(node.outputs, step(node, given), strict=True):
                if v not in table:
                    table[v] = named(x, v, given)
        return [of(v) for v in outputs]
    finally:
        tracing.untraced = untraced


def named(x: Any, v: Any, given: Sequence[Any]) -> Any:
    """Return ``x`` with the name of PyTensor's variable and the lines it comes from, for errors and profiles."""
    lines = lines_of(v)
    if x.owner is not None and x.name is None and v.name is not None and x not in given:
        x.name = v.name
    made = [x] if lines else []
    while made:  # all nodes that an entry made of this one
        y = made.pop()
        if y.owner is not None and y not in given and not getattr(y.tag, "trace", ()):
            y.tag.trace = lines
            made += y.owner.inputs
    return x


def lines_of(v: Any) -> tuple[SourceLine, ...]:
    """Return the lines that PyTensor's variable was written in, the innermost first: none of its own."""
    traces = getattr(v.tag, "trace", None) or [()]
    return tuple(SourceLine(*line[:3]) for line in reversed(traces[0]) if not line[0].startswith(_PYTENSOR))


def standing_for(v: Any) -> Any:
    """Return a variable of ours that stands for an input of PyTensor's, with its name and the lines it comes from."""
    x = type_of(v.type)()
    x.name, x.tag.trace = v.name, lines_of(v)
    return x
