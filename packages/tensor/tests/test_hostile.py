"""The hostile tests themselves: a few attacks of each kind with a fixed seed, and faults that they must find.

The hour of them is ``nox -s hostile``; the kinds that start other processes have one attack each here. Of these kinds,
whose families of faults have modules of tests of their own, and of the planted faults, every check tries a part.
"""

from __future__ import annotations

import re

import pytest

from hostile import command
from hostile.attacker import KINDS
from hostile.campaign import Campaign
from hostile.finding import write
from portion import portion

FEW = {"graphs": 5, "updates": 5, "threads": 2, "pickles": 2, "memory": 1, "names": 2}
SEEDS = dict.fromkeys(KINDS, 1) | {"cache": 3, "names": 7}


def found_by(kind, folder, attacks, fault="", limit=None):
    """Return what attacks of one kind found first, and the seed that repeats it."""
    campaign = Campaign([kind], SEEDS[kind], folder, attacks=attacks, fault=fault, limit=limit)
    told = []

    def tell(kind, seed, found, printed):
        told.append((found, seed, printed))
        campaign.stop()

    campaign.run(1, tell, lambda: None)
    assert campaign.counts[kind].attacks
    return told


#: They start several processes each.
STARTING = ["kills", "cache", "compilers"]


@pytest.mark.parametrize("kind", [*(kind for kind in KINDS if kind not in STARTING), *portion(STARTING, always=0)])
def test_a_few_attacks_find_nothing(kind, tmp_path):
    assert found_by(kind, tmp_path, FEW.get(kind, 1)) == []


#: A fault, the kind of attack that must find it, and what it is then said to be.
PLANTED = [
    ("wrong_rule", "graphs", "an output is wrong"),
    ("off_by_one", "graphs", "an output is wrong"),
    ("lose_update", "updates", "a shared value is wrong"),
    ("overwrite_input", "updates", "an input was overwritten|a shared value is wrong"),
    ("change_at_failure", "arguments", "a failing call changed a shared value"),
    ("change_at_failure", "memory", "a shared value changed without memory"),
    ("lose_update", "threads", "updates were lost"),
    ("other_pickle", "pickles", "another function"),
    ("plain_markup", "names", "a name is markup in a page"),
    ("off_by_one", "big", "a big graph is wrong"),
    ("purge_all", "cache", "changed what is not the cache's own"),
    ("leave_running", "compilers", "left running"),
    ("off_by_one", "kills", "wrong after interruptions"),
    ("crash", "graphs", "the process ended: SIGABRT"),
]


@pytest.mark.parametrize(("fault", "kind", "what"), portion(PLANTED, one_in=6))
def test_a_planted_fault_is_found(fault, kind, what, tmp_path):
    [(found, _, _)] = found_by(kind, tmp_path, 40, fault)
    assert re.search(what, found.what)


def test_every_kind_finds_some_fault():
    assert {kind for _, kind, _ in PLANTED} == set(KINDS)


def test_a_hang_is_a_finding(tmp_path):
    [(found, _, printed)] = found_by("updates", tmp_path, 2, "hang", limit=3)
    assert found.what == "no end within the limit" and "_hang" in printed


def test_a_finding_repeats_and_the_command_says_so(tmp_path, capsys):
    found, seed, printed = found_by("updates", tmp_path, 40, "overwrite_input")[0]
    path = write(tmp_path / "findings", "updates", seed, found, printed + "\0\r\udc80")
    compile(path.read_text(encoding="utf-8"), path.name, "exec")
    assert command.main(["--repeat", f"updates:{seed}", "--fault", "overwrite_input"]) == 1
    assert found.what in capsys.readouterr().out
