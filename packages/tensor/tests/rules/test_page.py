"""The page of rules tells the truth: what is there is described, what is documented is there or its absence explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import theano.compile.checkpoint
import theano.scan
import theano.tensor
import theano.tensor.conv.op
import theano.tensor.nnet.blocksparse  # noqa: F401  (for its rules, as those above)
from theano.rewriting import Phase, Phases, Query, phases

ROOT = Path(__file__).resolve().parents[4]
DATA = ROOT / "docs" / "data"
DOCUMENTED = json.loads((DATA / "rules.json").read_text(encoding="utf-8"))
ABSENT = json.loads((DATA / "rules_absent.json").read_text(encoding="utf-8"))
WITHOUT = {name for group in ABSENT.values() for name in group["names"]}
LEGACY = {"typed_list_inplace_opt"}  # rules of upper layers


def survey(entries=phases):
    """Return the tags that pick each entry and each rule, over all places, and the rules' contracts and texts."""
    found = {}
    for name in entries.names():
        found.setdefault(name, set()).update(entries.tags(name))
        what = entries[name]
        if isinstance(what, Phases):
            for inner, tags in survey(what).items():
                found.setdefault(inner, set()).update(tags)
        elif isinstance(what, Phase):
            for inner in (*(rule.name for rule in what), "merge"):
                if inner in what:
                    found.setdefault(inner, set()).update(what.tags(inner))
    return found


HERE = survey()
RULES = phases.all_rules()  # those of the layer: another test may import the one above, which brings its own
SELECTABLE = set(HERE).union(*HERE.values())


def test_every_documented_name_is_there_or_its_absence_is_explained():
    missing = sorted(set(DOCUMENTED) - SELECTABLE - WITHOUT - LEGACY)
    assert missing == [], "documented, not here, and docs/data/rules_absent.json does not say why"
    assert sorted(WITHOUT & SELECTABLE) == [], "here by now: take it out of docs/data/rules_absent.json"
    assert sorted(WITHOUT - set(DOCUMENTED)) == []


@pytest.mark.parametrize("name", sorted(set(DOCUMENTED) & set(HERE)))
def test_documented_tags_pick_it(name):
    assert set(DOCUMENTED[name]["tags"]) - HERE[name] == set()
    if "position" in DOCUMENTED[name] and name in phases:
        assert phases.position(name) == DOCUMENTED[name]["position"]


def test_every_rule_says_what_it_does_and_takes_part_somewhere():
    assert [name for name, rule in RULES.items() if not (rule.__doc__ or "").strip()] == []
    # Those that nobody gets who does not ask for them.
    on_request = {"local_remove_all_assert", "local_alloc_empty_to_zeros", "local_ultra_fast_sigmoid", "local_hard_sigmoid"}
    idle = {name for name in RULES if not Query(include=["fast_run"]).picks(HERE[name])}
    assert idle == on_request
