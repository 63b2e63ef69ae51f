"""Every op of the layer: its classes, and nodes of each with values, collected from the graphs of the tables of cases.

A node counts that stands in the graph of an expression, of its gradient, of the gradient of that, or in what the rules
make of these.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import cases
import numpy as np
import scipy.sparse as sp
from samples import FORMATS, matrix

import theano
import theano.sparse
from theano import sparse as S
from theano import tensor as T
from theano.errors import MethodNotDefined, NullTypeGradError
from theano.graph import Apply, Constant, FunctionGraph, Op
from theano.graph.features import Supervisor
from theano.graph.traverse import inputs as inputs_of
from theano.graph.traverse import toposort
from theano.rewriting import rewrite

#: Ops that the tables of expressions do not reach.
OF_OPS = [
    ("CheckedParts", lambda v, **_: S.CSR(v, [0, 2, 0, 1], [0, 2, 4], [2, 3]).sum(axis=0), None),
]


class Sample(NamedTuple):
    """A node, values of its inputs and outputs, and the case in whose graph it stands."""

    node: Apply
    inputs: list[Any]
    outputs: list[Any]
    case: str


def copied(value: Any) -> Any:
    """Return a value in memory of its own."""
    return value.copy() if isinstance(value, np.ndarray) or sp.issparse(value) else value


def with_gradients(out: Any, wrt: list[Any]) -> list[Any]:
    """Return a result and its gradients to order two, as far as there are such."""
    found, cost = [out], (S.dense_from_sparse(out) if S.is_sparse(out) else out)
    for _ in range(2):
        try:
            slopes = [theano.grad((cost * cost).sum(), v, disconnected_inputs="ignore") for v in wrt]
        except (MethodNotDefined, NullTypeGradError, NotImplementedError):
            break
        found += slopes
        cost = sum(((S.dense_from_sparse(g) if S.is_sparse(g) else g) ** 2).sum() for g in slopes)
    return found


def computed(order, values, case):
    """Yield the nodes of a graph with values, those of inputs as they were before anything was overwritten."""
    for node in order:
        inputs = [v.data if isinstance(v, Constant) else values[v] for v in node.inputs]
        kept = [copied(x) for x in inputs]
        cells = [[None] for _ in node.outputs]
        node.op.perform(node, inputs, cells)
        values.update(zip(node.outputs, (c[0] for c in cells), strict=True))
        yield Sample(node, kept, [copied(c[0]) for c in cells], case)


def graphs(case, format, dtype):
    """Yield the nodes of a case, as it is written and as it is rewritten."""
    name, build, _ = case
    given = {"x": S.matrix(format, "x", dtype), "y": S.matrix(FORMATS[format == "csr"], "y", dtype),
             "d": T.matrix("d", dtype=dtype), "u": T.vector("u", dtype=dtype), "v": T.vector("v", dtype=dtype)}  # fmt: skip
    rng = np.random.default_rng(4)
    point = {"x": matrix(format, (5, 4), dtype), "y": matrix(given["y"].format, (5, 4), dtype, seed=3)}
    point |= {k: rng.uniform(0.2, 2, s).astype(dtype) for k, s in (("d", (5, 4)), ("u", 5), ("v", 4))}
    made = build(**given)
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    used = [v for v in given.values() if v in set(inputs_of(made))]
    outputs = [g for out in made for g in (with_gradients(out, used) if out.dtype == dtype else [out])]
    values = {given[k]: point[k] for k in given}
    yield from computed(toposort(outputs, used), dict(values), name)
    fgraph = FunctionGraph(used, outputs)
    fgraph.attach_feature(Supervisor(fgraph.inputs))
    rewrite(fgraph)
    copies = {v: copied(values[old]) for v, old in zip(fgraph.inputs, used, strict=True)}
    yield from computed(fgraph.toposort(), copies, f"{name}, rewritten")


@cache
def samples() -> dict[type[Op], list[Sample]]:
    """Return nodes of each class of the layer, no two of one op on inputs of the same types."""
    found: dict[Any, Sample] = {}
    tables = (cases.LINEAR, cases.MAPS, cases.PRODUCTS, cases.PARTS, cases.COMPARED, OF_OPS)
    with np.errstate(all="ignore"):
        for case in (c for table in tables for c in table):
            for format, dtype in ((FORMATS[0], "float64"), (FORMATS[1], "float64"), (FORMATS[0], "float32")):
                for sample in graphs(case, format, dtype):
                    if type(sample.node.op).__module__.startswith("theano.sparse"):
                        found.setdefault((sample.node.op, *(v.type for v in sample.node.inputs)), sample)
    by_class: dict[type[Op], list[Sample]] = {}
    for sample in found.values():
        by_class.setdefault(type(sample.node.op), []).append(sample)
    return by_class
