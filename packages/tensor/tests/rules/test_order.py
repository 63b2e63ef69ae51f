"""The order of rules is what the tables say, whichever module is imported first."""

from __future__ import annotations

import importlib
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import theano.scan.rules
import theano.tensor
import theano.tensor.rules as rules
from portion import portion
from theano.rewriting import Phase, Phases, families, phases

IN_AN_ORDER = """
import importlib, json, sys
names = json.loads(sys.argv[1])
import theano.tensor
from theano.rewriting import Phase, Phases, families, phases
for name in names:
    importlib.import_module(f"theano.tensor.{name}")
def contents(sequence):
    found = {}
    for name in sequence.names():
        what = sequence[name]
        if isinstance(what, Phases):
            found.update(contents(what))
        elif isinstance(what, Phase):
            found[name] = what.members()
    return found
print(json.dumps(contents(phases)))
"""


def run(program: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True).stdout


def contents(names: list[str]) -> dict[str, list[str]]:
    return json.loads(run(IN_AN_ORDER, json.dumps(names)))


def phases_of(sequence: Phases) -> list[Phase]:
    found = []
    for name in sequence.names():
        what = sequence[name]
        if isinstance(what, Phases):
            found += phases_of(what)
        elif isinstance(what, Phase):
            found.append(what)
    return found


@pytest.fixture(scope="module")
def as_stated():
    return contents(list(rules.FAMILIES))


@pytest.mark.parametrize("seed", portion(range(4)))
def test_the_order_of_imports_does_not_matter(as_stated, seed):
    names = list(rules.FAMILIES)
    random.Random(seed).shuffle(names)
    assert contents(names) == as_stated


def test_the_last_family_first(as_stated):
    assert contents(list(rules.FAMILIES)[::-1]) == as_stated


def test_one_family_alone_brings_all_in_order(as_stated):
    assert contents(["index.rules.writes", "conv.op"]) == as_stated


def test_what_is_asked_for_is_complete_though_nobody_imported_it(as_stated):
    program = """
import json, sys, theano.tensor
from theano.rewriting import phases
assert "theano.tensor.rules" not in sys.modules
print(json.dumps(phases["canonicalize"].members()))
"""
    assert json.loads(run(program)) == as_stated["canonicalize"]


def test_every_rule_is_of_one_family_and_once_in_its_phase():
    importlib.import_module("theano.tensor.conv.op")  # rules come with it
    places = {name: place for place, name in enumerate(families.known())}
    assert [name for name in places if name.startswith("theano.tensor.")] == [
        f"theano.tensor.{name}" for name in rules.FAMILIES
    ]
    met = set()
    for phase in phases_of(phases):
        assert phase.as_declared() and phase.name
        names = [rule.name for rule in phase]
        assert len(names) == len(set(names))
        made_by = [phase._modules[name]["__name__"] for name in names]
        assert [places[module] for module in made_by] == sorted(places[module] for module in made_by), phase.name
        met.update(made_by)
    # What has no rule of a phase has passes, at positions of their own.
    passes = {"tensor.rules.inplace", "tensor.random.rules", "tensor.conv.fusion", "typed_list.rules"}
    passes.add("tensor.elemwise.rules.numbers")
    assert set(places) - met <= {f"theano.{name}" for name in passes}


def test_families_are_the_modules_with_rules():
    root = Path(theano.tensor.__path__[0])
    declaring = {
        ".".join(path.relative_to(root).with_suffix("").parts) for path in root.rglob("*.py")
        if any(word in path.read_text() for word in ("\nrule(", " = rule(", "return rule(", "@local_rule", "phases.register("))
    }  # fmt: skip
    in_no_phase = {"random.lifting"}  # they keep a distribution, not the numbers: who wants them asks for them
    assert declaring == {*rules.FAMILIES, *rules.WITH_THEIR_OPS, *in_no_phase}


@pytest.mark.parametrize("register", [
    "from theano.tensor.opt import register_canonicalize; register_canonicalize(mine)",
    "theano.compile.optdb['canonicalize'].register('mine', mine, 'fast_run')",
    "theano.rewriting.phases.canonicalize.add(theano.rewriting.FunctionRule(lambda node: None, 'mine'))",
])  # fmt: skip
def test_a_rule_of_a_user_comes_after_all_families(register):
    program = f"""
import theano.tensor as T
import theano
from theano.gof import local_optimizer
@local_optimizer([T.exp])
def mine(node):
    return None
{register}
print(theano.compile.optdb["canonicalize"].members()[-2:])
"""
    assert run(program).strip() == "['cond_merge_sums', 'mine']"


def test_patterns_know_operators_and_numbers_before_any_rule_was_asked_for():
    program = """
import theano, theano.tensor as T
from theano.gof import FunctionGraph, PatternSub
from theano.gof.opt import out2in
x = T.dvector("x")
graph = FunctionGraph([x], [T.exp(x * 1)], clone=False)
out2in(PatternSub((T.mul, "x", 1), "x")).optimize(graph)
print(theano.pp(graph.outputs[0]))
"""
    assert run(program).strip() == "exp(x)"
