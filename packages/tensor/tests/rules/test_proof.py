"""Each rule over everything that it matches: instances of its left side, computed with and without it.

The usual tests try each rule's own case, all forms of it that the rule takes, and a third of the expressions beside
these, which it may take or leave. Of each they try a third of the instances; ``--cases all`` tries every dtype. What
becomes of all instances is recorded (``test_recorded_rules.py``). ``COMBINATIONS=sweep`` in the environment tries all
expressions, all pairs of dtypes and the whole product of values: ``nox -s sweep``.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter

import pytest
from contracts import broken, samples
from forms import FORMS, NEIGHBOURS
from instances import Case
from interpret import apply_rule
from left_sides import AFTER, CASES

from portion import portion
from theano.graph.traverse import explicit_inputs
from theano.rewriting import phases

SWEEP = os.environ.get("COMBINATIONS") == "sweep"


def part(changes):
    """Return the case itself, and a part of the others, which begins elsewhere for another expression."""
    first, *others = changes
    start = zlib.crc32(str([label for label, _ in changes]).encode()) % 3
    return portion([first, *others[start:], *others[:start]])


def prove(name, output, effort, form=0, chosen=list):
    """Return how many instances of an expression were made, taken by the rule, and compared, and what is wrong."""
    case = Case(output, f"{name} {form}", effort)
    count, wrong = Counter(), []
    for instance in case.instances(chosen):
        count["made"] += 1
        inputs = explicit_inputs([instance.output])
        fgraph, used, rule = apply_rule(name, inputs, instance.output, AFTER.get(name, ()))
        if not used:
            continue
        count["taken"] += 1
        if fgraph.outputs[0].type != instance.output.type:
            wrong.append(f"{instance.label}: {fgraph.outputs[0].type} in place of {instance.output.type}")
        for values in samples(inputs, instance.output, instance.label, case.is_elementwise, effort == 3):
            found = broken(rule.keeps, inputs, instance.output, fgraph, values, case.is_elementwise)
            if found is None:
                continue
            message, compared = found
            count["values"] += compared
            if message:
                wrong.append(f"{instance.label}: {message}")
                break
    return count, [f"{output.owner}, {w}" for w in wrong]


@pytest.mark.parametrize("name", sorted(CASES))
def test_rule_over_all_that_it_matches(name, record_property):
    forms = FORMS.get(name, [])
    neighbours = NEIGHBOURS.get(name, [])[:: 1 if SWEEP else 3]
    total, wrong, idle = Counter(), [], []
    for form, output in enumerate([CASES[name], *forms, *neighbours]):
        is_form = form <= len(forms)
        effort = 3 if SWEEP else 2 if form == 0 else int(is_form)
        count, faults = prove(name, output, effort, form, list if SWEEP else part)
        if is_form and not (count["taken"] and count["values"]):  # one of the others may be
            count, faults = prove(name, output, effort, form)
        total += count
        wrong += faults
        if is_form and not (count["taken"] and count["values"]):
            idle.append(str(output.owner))
    record_property("proof", dict(total))
    contract = phases.all_rules()[name].keeps
    assert not wrong, f"{name} keeps {contract!r}, but in {len(wrong)} instances:\n" + "\n".join(wrong[:8])
    assert not idle, f"no instance is changed by {name}: {idle}"
