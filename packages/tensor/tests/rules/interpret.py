"""The oracle: graphs computed node by node in Python, and rewritten graphs held to it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import theano.tensor.rules.every  # noqa: F401  (enters the rules)
from theano.graph import Constant, FunctionGraph
from theano.graph.aliasing import DestroyHandler
from theano.graph.features import Supervisor
from theano.graph.traverse import toposort
from theano.rewriting import Context, Query, RewriteSettings, fixpoint, phases, rewrite
from theano.tensor.shape.rules.shapes import ShapeFeature

TRUST = RewriteSettings(on_error="raise", check=True)


def run(outputs, values, order=None):
    """Return what ``outputs`` are worth, computed node by node with ``perform``."""
    known = dict(values)

    def value(v):
        return v.data if isinstance(v, Constant) else known[v]

    for node in toposort(outputs, list(values)) if order is None else order:
        cells = [[None] for _ in node.outputs]
        node.op.perform(node, [value(v) for v in node.inputs], cells)
        for v, cell in zip(node.outputs, cells, strict=True):
            v.type.filter(cell[0], strict=True)
            known[v] = cell[0]
    return [value(v) for v in outputs]


def rewritten(inputs, outputs, query="fast_run", mutable=()):
    """Return the graph of an expression after rewriting, and the report."""
    fgraph = FunctionGraph(list(inputs), list(outputs))
    kept = [new for old, new in zip(inputs, fgraph.inputs, strict=True) if old not in mutable]
    fgraph.attach_feature(Supervisor(kept))
    report = rewrite(fgraph, query, TRUST)
    fgraph.check_integrity()
    return fgraph, report


def compute(fgraph, values):
    """Return what the outputs of a graph are worth for a list of values of its inputs, which stay untouched."""
    given = dict(zip(fgraph.inputs, [np.array(v) for v in values], strict=True))
    copies = {v: np.array(x) for v, x in given.items()}
    results = [np.array(r) for r in run(fgraph.outputs, given, fgraph.toposort())]
    assert all(np.array_equal(given[v], copies[v], equal_nan=copies[v].dtype.kind in "fc") for v in given), "an input was overwritten"
    return results


def check(inputs, outputs, values, query="fast_run", rtol=1e-6, atol=1e-9, finite=True):
    """Rewrite, compute both, compare; return the rewritten graph."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    fgraph, report = rewritten(inputs, outputs, query)
    assert report.complete, report
    with np.errstate(all="ignore"):
        wanted = run(outputs, dict(zip(inputs, [np.asarray(v, v_.type.dtype) for v, v_ in zip(values, inputs, strict=True)], strict=True)))
        found = compute(fgraph, [np.asarray(v, v_.type.dtype) for v, v_ in zip(values, inputs, strict=True)])
    for w, f, out in zip(wanted, found, fgraph.outputs, strict=True):
        assert f.dtype == w.dtype and f.shape == w.shape, (f.dtype, w.dtype, f.shape, w.shape, fgraph)
        assert out.type.is_valid_value(f)
        compare(w, f, rtol, atol, finite)
    return fgraph


def compare(wanted, found, rtol, atol, finite):
    """Compare two arrays; with ``finite``, only where the wanted values are finite."""
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, wanted)
        return
    if finite:
        where = np.isfinite(wanted)
        wanted, found = wanted[where], found[where]
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)


@lru_cache(maxsize=1)
def _rules(changes):
    return phases.all_rules()


def apply_rule(name, inputs, output, after=()):
    """Return the graph of expressions after one rule alone (``after`` others), how often it was used, and the rule."""
    rules = _rules(phases.changes())
    fgraph = FunctionGraph(list(inputs), list(output) if isinstance(output, list) else [output])
    fgraph.attach_feature(ShapeFeature())
    context = Context(TRUST)
    if after:
        fixpoint(fgraph, [rules[a] for a in after], context)
    # A rule that stands in the sequence by itself is no member of a phase.
    fixpoint(fgraph, [rules[name]], context)
    assert context.report.complete, context.report
    fgraph.check_integrity()
    return fgraph, context.report.uses.get(name, 0), rules[name]


def ops(fgraph):
    """Return the ops of a graph as text, in order of computation."""
    return [str(node.op) for node in fgraph.toposort()]


__all__ = ["TRUST", "Context", "DestroyHandler", "Query", "apply_rule", "check", "compute", "ops", "rewritten", "run"]
