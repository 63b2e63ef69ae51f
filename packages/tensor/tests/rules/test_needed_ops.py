"""Rules that are not asked, since the graph has no op that they need, would have had nothing to say.

The left sides of all rules are tried in ``test_recorded_rules.py``, where what becomes of them is at hand.
"""

from __future__ import annotations

import pytest
from interpret import rewritten
from random_graphs import Writer
from written import written

from theano.rewriting import phases
from theano.rewriting.rule import Rule


def of(inputs, outputs):
    """Return what the rules make of a graph, and how often each was used."""
    fgraph, report = rewritten(inputs, outputs)
    return written(fgraph.outputs, fgraph.toposort()), report.uses


@pytest.mark.parametrize("block", range(4))
def test_random_graphs_become_the_same_when_all_are_asked(block, monkeypatch):
    def drawn():
        found = []
        for seed in range(1000 + 10 * block, 1010 + 10 * block):
            writer = Writer(seed)
            outputs = writer.write()
            found.append(of(writer.inputs, outputs))
        return found

    found = drawn()
    monkeypatch.setattr(Rule, "may_apply", lambda rule, present: True)
    assert drawn() == found


def test_what_rules_wait_for_is_read_off_their_patterns():
    """Nobody has to declare it; how many there are depends on the layers that are loaded."""
    rules = {rule.name: rule for phase in ("canonicalize", "stabilize", "specialize") for rule in phases[phase]}
    waiting = {name for name, rule in rules.items() if not rule.may_apply(set())}
    assert len(waiting) > 40
    patterns = {"local_one_minus_tanh", "local_1msigmoid", "local_log1p_plus", "local_neg_neg", "inv_as_solve"}
    functions = {"local_merge_switch_same_cond", "local_abs_merge", "local_fill_sink", "local_IncSubtensor_serialize"}
    assert patterns | functions <= waiting
    assert waiting.isdisjoint({"local_mul_canonizer", "local_useless_elemwise", "local_mul_zero", "local_dimshuffle_lift"})
