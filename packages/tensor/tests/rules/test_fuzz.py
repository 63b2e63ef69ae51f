"""Random graphs: whatever the rules make of them computes the same as the graph that was written.

The oracle is the interpreter of ``interpret.py``, which knows no rule. The seed of a graph is its name.
"""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from interpret import compute, rewritten
from random_graphs import Writer, well_behaved

import theano
from theano.rewriting import Query, phases

GRAPHS = int(os.environ.get("THEANO_FUZZ_GRAPHS", "300"))


def compared(seed, answer):
    """Compare what ``answer`` makes of a random graph with the interpreter; return whether the graph says anything."""
    writer = Writer(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = writer.write()
    wanted = well_behaved(outputs, writer.inputs, writer.values)
    with np.errstate(all="ignore"):
        found = answer(writer, outputs, wanted is not None)
    if wanted is None:
        return False
    for w, f in zip(wanted, found, strict=True):
        assert w.dtype == f.dtype and w.shape == f.shape, f"seed {seed}"
        if w.dtype.kind == "f":
            # What jumps may jump elsewhere after rounding; a float32 on the way leaves its precision.
            np.testing.assert_allclose(f, w, rtol=2e-3, atol=2e-3, err_msg=f"seed {seed}")
        else:
            np.testing.assert_array_equal(f, w, err_msg=f"seed {seed}")
    return True


def by_rules(query, without=None):
    """Return a function that rewrites a graph (and sees that a rule is not used) and computes it in Python."""

    def answer(writer, outputs, worth_it):
        fgraph, report = rewritten(writer.inputs, outputs, query)
        assert report.complete and without not in report.uses, report
        return compute(fgraph, writer.values) if worth_it else None

    return answer


@pytest.mark.parametrize("block", range(10))
def test_random_graphs(block):
    seeds = range(block * GRAPHS // 10, (block + 1) * GRAPHS // 10)
    assert sum(compared(seed, by_rules("fast_run")) for seed in seeds) > GRAPHS // 10 // 4


@pytest.mark.parametrize("level", ["fast_compile", "o1", "o2", "o3", "o4", "merge"])
def test_random_graphs_at_each_level(level):
    assert sum(compared(seed, by_rules(level)) for seed in range(GRAPHS // 10)) > GRAPHS // 10 // 4


def test_random_graphs_compiled():
    def answer(writer, outputs, worth_it):
        if not worth_it:
            return None
        f = theano.function(writer.inputs, outputs, on_unused_input="ignore")
        return list(map(np.asarray, f(*writer.values)))

    count = 25 if GRAPHS <= 300 else 1000
    assert sum(compared(seed, answer) for seed in range(5000, 5000 + count)) > count // 4


@pytest.mark.skipif(GRAPHS <= 300, reason="in the sweep: every rule, 200 graphs")
@pytest.mark.parametrize("rule", sorted(phases.all_rules()))
def test_no_rule_relies_on_another(rule):
    """What is left of the rules without one of them is right as well."""
    others = by_rules(Query(include=["fast_run"], exclude=[rule]), without=rule)
    assert sum(compared(seed, others) for seed in range(200)) > 50
