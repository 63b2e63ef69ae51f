"""Each rule over everything that it matches: instances of its left side, computed with and without it.

The usual tests try each rule's own case, all forms of it that the rule takes, and a third of the expressions beside
these, which it may take or leave. Of each they try a third of the instances; ``--cases all`` tries every dtype. What
becomes of the same instances, and of those of all expressions beside them, is recorded: see ``written.py``.
``COMBINATIONS=sweep`` in the environment tries all expressions, all pairs of dtypes and the whole product of values:
``nox -s sweep``.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from functools import partial

import pytest
from contracts import broken, samples
from forms import FORMS, NEIGHBOURS
from instances import Case
from interpret import apply_rule
from left_sides import AFTER, CASES
from written import digest, written

from portion import portion
from theano.graph.traverse import explicit_inputs
from theano.rewriting import phases

SWEEP = os.environ.get("COMBINATIONS") == "sweep"
PARTS = 3


def third(part, changes):
    """Return the case itself, and a part of the others, which begins elsewhere for another expression."""
    first, *others = changes
    start = zlib.crc32(str([label for label, _ in changes]).encode())
    return [first, *others[(start + part) % PARTS :: PARTS]]


class Tried:
    """What a rule makes of instances of its expressions, and whether it keeps what it promises.

    Parameters
    ----------
    name : str
        Of the rule.
    chosen : callable
        Which changes of an expression are made, of a list of all.
    """

    def __init__(self, name, chosen):
        self.name, self.contract = name, phases.all_rules()[name].keeps
        self.total, self.wrong, self.idle = Counter(), [], []
        self.taken, self.became = [], []
        forms = FORMS.get(name, [])
        for form, output in enumerate([CASES[name], *forms, *NEIGHBOURS.get(name, [])]):
            is_form = form <= len(forms)
            case = Case(output, f"{name} {form}", 3 if SWEEP else 2 if form == 0 else int(is_form))
            proved = is_form or SWEEP or (form - len(forms)) % 3 == 1
            count = self.add(case, form, chosen, proved)
            self.taken.append(f"{count['taken']}/{count['made']}")
            if is_form and not (count["taken"] and count["values"]):  # one of the others may be
                count = self.add(case, form, list, proved)
                if not (count["taken"] and count["values"]):
                    self.idle.append(str(output.owner))

    def add(self, case, form, chosen, proved):
        """Try an expression; return how many instances were made, taken by the rule, and compared."""
        count = Counter()
        for instance in case.instances(chosen):
            count["made"] += 1
            inputs = explicit_inputs([instance.output])
            fgraph, used, _ = apply_rule(self.name, inputs, instance.output, AFTER.get(self.name, ()))
            result = written(fgraph.outputs, fgraph.toposort()) if used else "as it was"
            self.became.append(f"{form} {instance.label}:\n{result}")
            count["taken"] += bool(used)
            if used and proved:
                compared, wrong = self.compare(case, instance, inputs, fgraph)
                count["values"] += compared
                self.wrong += [f"{case.output.owner}, {instance.label}: {w}" for w in wrong]
        if proved:
            self.total += count
        return count

    def compare(self, case, instance, inputs, fgraph):
        """Return how many values of an instance were compared, and what is wrong."""
        compared, wrong = 0, []
        if fgraph.outputs[0].type != instance.output.type:
            wrong.append(f"{fgraph.outputs[0].type} in place of {instance.output.type}")
        for values in samples(inputs, instance.output, instance.label, case.is_elementwise, case.effort == 3):
            found = broken(self.contract, inputs, instance.output, fgraph, values, case.is_elementwise)
            if found is None:
                continue
            message, count = found
            compared += count
            if message:
                return compared, [*wrong, message]
        return compared, wrong


@pytest.fixture(scope="module", params=sorted(CASES))
def name(request):
    """The rule: both tests of one run before those of the next, so that they share what was tried."""
    return request.param


@pytest.fixture(scope="module", params=[0] if SWEEP else portion(range(PARTS), PARTS, always=0))
def part(request):
    """Which third of the instances."""
    return request.param


@pytest.fixture(scope="module")
def tried(name, part):
    """What the rule makes of the instances."""
    return Tried(name, list if SWEEP else partial(third, part))


def test_rule_over_all_that_it_matches(name, tried, record_property):
    record_property("proof", dict(tried.total))
    wrong = tried.wrong
    assert not wrong, f"{name} keeps {tried.contract!r}, but in {len(wrong)} instances:\n" + "\n".join(wrong[:8])
    assert not tried.idle, f"no instance is changed by {name}: {tried.idle}"


@pytest.mark.skipif(SWEEP, reason="what becomes of other instances is not recorded")
def test_recorded_instances(name, part, tried, snapshot):
    assert f"{' '.join(tried.taken)}; {digest(f'rules/{name} {part}', chr(10).join(tried.became))}" == snapshot
