"""What each rule, and all together, make of its left sides, and which it leaves alone, as recorded: see ``written.py``.

What a rule makes of other instances of these is recorded where they are made (``test_proof.py``).
"""

from __future__ import annotations

import pytest
from forms import FORMS, NEIGHBOURS
from interpret import apply_rule, rewritten
from left_sides import AFTER, CASES
from written import digest, ops, written

from portion import portion
from theano.graph.traverse import explicit_inputs, toposort
from theano.rewriting.rule import Rule


def expressions(name):
    return [CASES[name], *FORMS.get(name, []), *NEIGHBOURS.get(name, ())]


def of_more_outputs(name, form, output):
    """Return for which intermediate results that somebody else wants as well the rule still applies, and a digest."""
    found, taken = [], []
    for k, node in enumerate(toposort([output])[:-1]):
        outputs = [output, *node.outputs]
        fgraph, used, _ = apply_rule(name, explicit_inputs(outputs), outputs, AFTER.get(name, ()))
        taken += [str(k)] * bool(used)
        found.append(f"{k}:\n{written(fgraph.outputs, fgraph.toposort()) if used else 'as it was'}")
    return f"wanted elsewhere: {' '.join(taken) or '-'} of {len(found)}, {digest(f'wanted/{name} {form}', chr(10).join(found))}"


@pytest.fixture(scope="module", params=sorted(CASES))
def name(request):
    """The rule: all tests of one run before those of the next, so that they share what they find."""
    return request.param


@pytest.fixture(scope="module")
def after_all_rules(name):
    """What all rules make of the expressions of a rule: the graph, and how often each was used."""
    return [rewritten(explicit_inputs([output]), [output]) for output in expressions(name)]


def test_recorded_rule(name, snapshot):
    lines = []
    for form, output in enumerate(expressions(name)):
        fgraph, used, _ = apply_rule(name, explicit_inputs([output]), output, AFTER.get(name, ()))
        result = ", ".join(str(v if v.owner is None else v.owner) for v in fgraph.outputs) if used else "as it was"
        lines.append(f"{output.owner} -> {result}; {of_more_outputs(name, form, output)}")
    assert lines == snapshot


def test_recorded_after_all_rules(name, after_all_rules, snapshot):
    lines = []
    for form, (fgraph, _) in enumerate(after_all_rules):
        order = fgraph.toposort()
        lines.append(f"{ops(order)}; {digest(f'rewritten/{name} {form}', written(fgraph.outputs, order))}")
    assert lines == snapshot


def test_left_sides_become_the_same_when_all_are_asked(name, after_all_rules, monkeypatch):
    """Rules that are not asked, since the graph has no op that they need: see ``test_needed_ops.py``.

    What becomes of all forms where they are not asked is recorded above: of these a part is compared.
    """
    monkeypatch.setattr(Rule, "may_apply", lambda rule, present: True)
    for output, (fgraph, report) in portion(zip(expressions(name), after_all_rules, strict=True)):
        asked, others = rewritten(explicit_inputs([output]), [output])
        assert others.uses == report.uses
        assert written(asked.outputs, asked.toposort()) == written(fgraph.outputs, fgraph.toposort())
