"""Mutation testing of toys: what is changed, what names it, which tests are asked, and what they answer."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

import mutants
from mutation import changes, groups, report, trees
from mutation.reach import UNKNOWN, Reach, Run

SOURCE = '''"""A toy."""


def clip(x: int | None, high: int = 9) -> int:
    """Return at most ``high``."""
    if x is None:
        raise ValueError(f"{1 + 1} words")
    return high if x > high else x


def double(x):
    return x * 2
'''
TOY, TESTS = "packages/tensor/src/toy.py", "packages/tensor/tests/test_toy.py"
TEXT = '''
import subprocess, sys, pytest
from portion import portion
from toy import clip, double

@pytest.mark.parametrize("x", portion([3, 9, 8, 7]))
def test_clip(x):
    assert clip(x) == x

def test_process():
    program = "from toy import clip; print(clip(10))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "9\\n"

def test_double():
    assert double(2) == 4

@pytest.mark.slow
def test_double_again():
    assert double(3) == 6
'''
REASON = f"""
[[equivalent]]
path = "{TOY}"
line = "return high if x > high else x"
mutant = "return high if x >= high else x"
reason = "At x == high both are the same."
"""
LARGER = changes.Name("toy", TOY, "ReplaceComparisonOperator_Gt_GtE", "return high if x > high else x",
                      "return high if x >= high else x", 0)  # fmt: skip
TEN = changes.Name("toy", TOY, "NumberReplacer", "def clip(x: int | None, high: int = 9) -> int:",
                   "def clip(x: int | None, high: int = 10) -> int:", 0)  # fmt: skip
SUM = changes.Name("toy", TOY, "ReplaceBinaryOperator_Mul_Add", "return x * 2", "return x + 2", 0)
GONE = changes.Name("toy", TOY, "NumberReplacer", "return x * 3", "return x * 4", 0)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository of one module and one file of tests."""
    root = tmp_path / "root"
    for folder in ("packages/tensor/src", "packages/tensor/tests", "tools"):
        (root / folder).mkdir(parents=True)
    for file in ("conftest.py", "tools/portion.py"):
        shutil.copy(groups.ROOT / file, root / file)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["tools"]\nmarkers = ["slow"]\n')
    (root / TOY).write_text(SOURCE)
    (root / TESTS).write_text(TEXT)
    (root / "tools" / "mutants.toml").write_text(REASON)
    monkeypatch.setattr(groups, "ROOT", root)
    monkeypatch.setattr(groups, "GROUPS", {"toy": ((TOY,), (TESTS,))})
    return root


def write_list(*names):
    mutants.fixed_list().write_text(json.dumps([asdict(name) for name in names]))


# -- what is changed, and its name -------------------------------------------------------------------------------------


def test_mutants_are_at_places_that_say_something():
    found = list(changes.mutants("toy", "toy.py", SOURCE))
    changed = {m.code(SOURCE).splitlines()[m.line - 1].strip() for m in found}
    assert "return high if x >= high else x" in changed
    assert "if x is not None:" in changed
    assert {m.line for m in found} == {4, 6, 8, 12}  # not the annotation, and not the text of the error


@pytest.mark.parametrize("text", ["zip(a, b, strict=True)", "lru_cache(maxsize=9)", "Kernel(a, work=2.0)"])
def test_some_keywords_say_nothing_about_results(text):
    assert list(changes.mutants("toy", "toy.py", f"made = {text}\n")) == []


def test_a_name_lasts_while_other_lines_change(root):
    mutant = changes.find(SUM)
    assert changes.name_of(mutant) == SUM
    (root / TOY).write_text('"""More."""\nSIZE = 2 * 3\n' + SOURCE.replace("return high", "return  high"))
    assert changes.find(SUM).line == mutant.line + 2
    assert changes.find(GONE) is changes.find(LARGER) is None


def test_equal_lines_have_names_of_their_own(root):
    (root / TOY).write_text(SOURCE + "\n\ndef twice(x):\n    return x * 2\n")
    first, second = (m for m in changes.mutants("toy", TOY, (root / TOY).read_text()) if m.operator == SUM.operator)
    names = [changes.name_of(first), changes.name_of(second)]
    assert [name.which for name in names] == [0, 1]
    assert [changes.find(name) for name in names] == [first, second]


def test_the_list_is_renewed_where_mutants_are_gone(root):
    write_list(LARGER, GONE, SUM)
    assert mutants.main(["--renew", "--count", "4", "--seed", "3"]) == 0
    names = mutants.read_fixed()
    assert len(names) == 4 and {LARGER, SUM} < set(names) and GONE not in names
    assert len({(m.line, m.column) for m in map(changes.find, names)}) == 4  # each at a place of its own
    before = mutants.fixed_list().read_text()
    mutants.main(["--renew", "--count", "4", "--seed", "5"])
    assert mutants.fixed_list().read_text() == before


def test_the_fixed_list_of_this_repository_covers_all_groups():
    names = mutants.read_fixed()
    assert len(names) == len(set(names)) >= 300
    assert {name.group for name in names} == set(groups.GROUPS)


# -- which tests are asked ---------------------------------------------------------------------------------------------


def run_of(seconds, lines):
    return Run(Path(), [], dict(seconds), lines={("m.py", line): contexts for line, contexts in lines.items()})


def test_the_whole_run_asks_other_cases_and_slow_tests_of_the_same_files(monkeypatch):
    """A file that tries a part of its cases is asked again: its ids can stand for other cases."""
    monkeypatch.setattr(groups, "GROUPS", {"toy": ((), ("t/a.py",))})
    short = run_of({"t/a.py::f[1]": 1.0, "t/p.py::g[x0]": 0.5, "t/a.py::h": 2.0},
                   {1: {"t/a.py::f[1]|run", "t/p.py::g[x0]|run"}})  # fmt: skip
    short.known = set(short.seconds)
    whole = frozenset([*short.seconds, "t/a.py::f[2]", "t/a.py::slow", "t/p.py::g[x1]", "t/other.py::slow"])
    reach = Reach(short, whole, frozenset({"t/p.py"}))
    mutant = changes.Mutant("toy", "m.py", "AddNot", 0, 1, 0)
    assert reach.tests("short", mutant, range(1, 2)) == {"t/a.py::f[1]": 1.0, "t/p.py::g[x0]": 0.5}
    assert reach.tests("whole", mutant, range(1, 2)) == {
        "t/a.py::f[2]": 1.0, "t/a.py::slow": UNKNOWN, "t/p.py::g[x0]": 0.5, "t/p.py::g[x1]": 0.5}  # fmt: skip


def test_who_depends_on_fixtures_and_imports_is_not_known_exactly():
    lines = {1: {"", "b.py::g (call)"}, 2: {"b.py::f|setup"}, 3: {"b.py::f|run"}, 4: {"b.py::f|run", "gone.py::h|run"}}
    run = run_of({"a.py::f": 1.0, "b.py::f": 1.0, "b.py::g": 1.0}, lines)
    asked = [run.reaching("m.py", [line], ["a.py::f"]) for line in (1, 2, 3, 4, 5)]
    assert asked == [{"a.py::f", "b.py::g"}, {"b.py::f", "b.py::g"}, {"b.py::f"}, {"b.py::f"}, {"a.py::f"}]


def test_lines_that_run_on_import_are_for_the_tests_of_their_group(root, monkeypatch):
    """Whoever has reached them: coverage.py may have started later."""
    lines = SOURCE.splitlines()
    (root / "m.py").write_text(SOURCE)
    run = run_of({f"{TESTS}::f": 1.0, "b.py::g": 1.0}, {k + 1: {"b.py::g|run"} for k in range(len(lines))})
    run.look_up = dict.copy
    reach, asked = Reach(run, frozenset(), frozenset()), {}
    for text in ("def clip(x: int | None, high: int = 9) -> int:", "    return x * 2"):
        mutant = changes.Mutant("toy", "m.py", "AddNot", 0, lines.index(text) + 1, 0)
        reach.look_up([mutant])
        asked[text] = reach.tests("short", mutant, range(mutant.line, mutant.line + 1))
    assert [sorted(tests) for tests in asked.values()] == [["b.py::g", f"{TESTS}::f"], ["b.py::g"]]


def test_files_that_depend_on_the_part_are_found_through_their_helpers(root):
    tests = root / "packages" / "tensor" / "tests"
    for name, text in {"tables.py": "from portion import turn", "test_a.py": "import tables", "test_b.py": "import os"}.items():
        (tests / name).write_text(text)
    files = [f"packages/tensor/tests/{name}.py" for name in ("test_a", "test_b", "test_toy")]
    assert trees.tried_in_part(files) == {files[0], files[2]}


# -- what they answer --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_measurement_has_two_answers_and_is_resumed(root, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")  # half of the seconds
    write_list(TEN, SUM, LARGER, GONE)
    keep = tmp_path / "keep"
    assert mutants.main(["--keep", str(keep), "--jobs", "1"]) == 1  # one of two is too few for the short run
    printed = capsys.readouterr().out
    assert f"gone: {TOY} NumberReplacer" in printed
    assert f"only the whole run catches: {TOY}:12" in printed and f"caught by {TESTS}::test_double_again" in printed
    assert "survived" not in printed and "1 of the list cannot be told" in printed
    assert [line.split()[:-2] for line in printed.splitlines() if line.startswith("in all")] == [["in", "all", "2", "1", "2"]]

    results = keep / "results.jsonl"
    first, *others = results.read_text().splitlines(keepends=True)
    # Only the test that starts a process notices: what that one reaches is known.
    assert json.loads(first)["test"] == f"{TESTS}::test_process"
    results.write_text("".join(others).replace("double_again", "kept"))
    assert mutants.main(["--keep", str(keep), "--resume", "--jobs", "1"]) == 1
    printed = capsys.readouterr().out
    assert "short-0" not in printed and "test_kept" in printed  # notes and answers serve again
    assert results.read_text().splitlines()[-1].startswith(first[:100])


def test_what_fails_without_a_mutant_has_caught_nothing(root, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    (root / TESTS).write_text("def test_good():\n    pass\n\ndef test_bad():\n    assert not __file__\n")
    rows = [{"caught": "short", "test": f"{TESTS}::test_{name}"} for name in ("good", "bad")]
    tree = trees.Tree(tmp_path / "tree", tmp_path / "cache")
    assert mutants.control(tree, rows, "0") == {f"{TESTS}::test_bad"}


def test_what_a_test_caught_that_fails_by_itself_is_asked_again(root, tmp_path, monkeypatch):
    write_list(TEN, SUM)
    answers = {"TEN": iter(["test_bad", "test_worse", "test_good"]), "SUM": iter(["test_good"])}
    left_out = []
    reach = SimpleNamespace(short=SimpleNamespace(failed=()), look_up=list, leave_out=left_out.append)
    monkeypatch.setattr(mutants, "Measurement", lambda *given: SimpleNamespace(reach=lambda: reach))
    monkeypatch.setattr(mutants, "control", lambda tree, rows, cases: {r["test"] for r in rows} - {"test_good"})

    def judge(tree, mutant, *given):
        return trees.Verdict("short", next(answers["TEN" if mutant.operator == TEN.operator else "SUM"]), 1.0, 1, False)

    monkeypatch.setattr(trees.Tree, "judge", judge)
    rows = mutants.answers(mutants.parser().parse_args(["--jobs", "1"]), tmp_path / "keep")
    assert [row["test"] for row in rows] == ["test_good"] * 2
    assert left_out == [{"test_bad"}, {"test_worse"}]


def test_a_sample_is_taken_where_a_seed_is_given(root, capsys):
    chosen = mutants.choose(mutants.parser().parse_args(["--seed", "1", "--count", "2"]))
    assert len(chosen) == 2 and "seed 1" in capsys.readouterr().out


def test_notes_of_other_sources_do_not_serve(root, tmp_path):
    keep, before = tmp_path / "keep", trees.digest("0")
    mutants._keep_what_serves(keep, before)
    (keep / "results.jsonl").write_text("{}")
    mutants._keep_what_serves(keep, before)
    assert (keep / "results.jsonl").exists()
    (root / TOY).write_text(SOURCE + "\n")
    assert trees.digest("0") != before
    mutants._keep_what_serves(keep, trees.digest("0"))
    assert not (keep / "results.jsonl").exists()
    with pytest.raises(SystemExit):
        mutants._keep_what_serves(root, before)  # a folder of somebody else's


@pytest.mark.parametrize("short, whole, alive, passes", [(97, 3, 0, True), (96, 4, 0, False), (95, 0, 5, True), (94, 0, 6, False)])
def test_both_shares_decide(short, whole, alive, passes):
    rows = [{"caught": "short"}] * short + [{"caught": "whole"}] * whole + [{"caught": ""}] * alive
    assert report.passes(rows) is passes
