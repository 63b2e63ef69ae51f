"""Every op of the layer: its classes, and nodes of each with values, collected from the graphs of the tables of cases.

A node counts that stands in the graph of an expression, of its gradient, of the gradient of that, or in what the rules
make of these; so rules that make new ops, and gradients that do, bring them here by themselves.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cases import CASES
from cases_ops import OP_CASES

import theano
import theano.tensor
from portion import portion
from theano.graph import Apply, Constant, FunctionGraph, Op
from theano.graph.features import Supervisor
from theano.graph.traverse import toposort
from theano.rewriting import rewrite

HERE = Path(__file__).parent


class Sample(NamedTuple):
    """A node, and values of its inputs and outputs."""

    node: Apply
    inputs: list[Any]
    outputs: list[Any]
    case: str


def tables() -> list[Any]:
    """Return all cases, those of linear algebra among them."""
    found = [*CASES, *OP_CASES]
    sys.path.insert(0, str(HERE / "linalg"))
    for path in sorted((HERE / "linalg").glob("*.py")):
        if not path.name.startswith("_"):
            found += getattr(importlib.import_module(path.stem), "CASES", [])
    return found


def expressions(case: Any, variables: list[Any]) -> list[Any]:
    """Return the expression of a case, and its gradients to order two where it has some."""
    out = case.build(*variables)
    wrt = [x for x in variables if x.dtype == "float64"]
    if not case.smooth or not wrt:
        return [out]
    first = theano.grad((out * out).sum(), wrt, disconnected_inputs="ignore")
    slope = sum((g * g).sum() for g in first)
    return [out, *first, *theano.grad(slope, wrt, disconnected_inputs="ignore")]


def computed(order: list[Apply], values: dict[Any, Any], case: str) -> Iterator[Sample]:
    """Yield the nodes of a graph with values, those of inputs as they were before anything was overwritten."""
    value = lambda v: v.data if isinstance(v, Constant) else values[v]
    for node in order:
        inputs = [value(v) for v in node.inputs]
        kept = [np.array(x) if isinstance(x, np.ndarray) else x for x in inputs]
        cells: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, inputs, cells)
        values.update(zip(node.outputs, (c[0] for c in cells)))
        yield Sample(node, kept, [np.array(c[0]) if isinstance(c[0], np.ndarray) else c[0] for c in cells], case)


def graphs(case: Any, orders: int) -> Iterator[Sample]:
    """Yield the nodes of a case, as it is written to order two, and as it is rewritten to order one or two."""
    variables = case.variables()
    values = case.values(np.random.default_rng(5))
    outputs = expressions(case, variables)
    yield from computed(toposort(outputs, variables), dict(zip(variables, values)), case.name)
    slopes = sum(x.dtype == "float64" for x in variables)
    fgraph = FunctionGraph(variables, outputs[: 1 + orders * slopes])
    fgraph.attach_feature(Supervisor(fgraph.inputs))
    rewrite(fgraph)
    copies = [np.array(v) for v in values]
    yield from computed(fgraph.toposort(), dict(zip(fgraph.inputs, copies)), f"{case.name}, rewritten")


def _kind(node: Apply) -> Any:
    types = tuple(v.type for v in node.inputs)
    constants = tuple(v.data.tobytes() for v in node.inputs if isinstance(v, Constant) and getattr(v.data, "size", 9) == 1)
    return node.op, types, constants


@cache
def samples() -> dict[type[Op], list[Sample]]:
    """Return nodes of each class, no two of one op on inputs of the same types."""
    found: dict[Any, Sample] = {}
    cases = tables()
    # Rewriting to order two takes most of the time, and brings no class that order one does not have.
    deep = {case.name for case in portion(cases, always=0)}
    for case in cases:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for sample in graphs(case, 2 if case.name in deep else 1):
                found.setdefault(_kind(sample.node), sample)
    by_class: dict[type[Op], list[Sample]] = {}
    for sample in found.values():
        by_class.setdefault(type(sample.node.op), []).append(sample)
    return by_class
