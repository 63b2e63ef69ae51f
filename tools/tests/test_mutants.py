"""Mutation testing of a toy: a weak test lets mutants live, a strong one catches them, a reason excuses them."""

from __future__ import annotations

import pytest

import mutants

SOURCE = '''"""A toy."""


def clip(x: int | None, high: int = 9) -> int:
    """Return at most ``high``."""
    if x is None:
        raise ValueError(f"{1 + 1} words")
    return high if x > high else x
'''
WEAK = "from toy import clip\n\ndef test_small():\n    assert clip(3) == 3\n"
STRONG = (
    "import pytest\nfrom toy import clip\n\n"
    "def test_both_sides():\n    assert [clip(k) for k in (3, 9, 10)] == [3, 9, 9]\n\n"
    "def test_nothing():\n    with pytest.raises(ValueError):\n        clip(None)\n"
)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A repository of one module; returns what runs the mutants of it against a test."""
    root = tmp_path / "root"
    (root / "packages" / "tensor" / "src").mkdir(parents=True)
    (root / "tools").mkdir()
    (root / "packages" / "tensor" / "src" / "toy.py").write_text(SOURCE)
    monkeypatch.setattr(mutants, "ROOT", root)
    monkeypatch.setattr(mutants, "REASONS", root / "tools" / "mutants.toml")
    monkeypatch.setattr(mutants, "GROUPS", {"toy": (("packages/tensor/src/toy.py",), ("test_toy.py",))})

    def run(test: str, reasons: str = "") -> int:
        (root / "test_toy.py").write_text(test)
        mutants.REASONS.write_text(reasons)
        return mutants.main(["--group", "toy", "--seed", "1", "--jobs", "1"])

    return run


def test_mutants_are_at_places_that_say_something():
    found = list(mutants.mutants("toy", "toy.py", SOURCE))
    changed = {m.code(SOURCE).splitlines()[m.line - 1].strip() for m in found}
    assert "return high if x >= high else x" in changed
    assert "if x is not None:" in changed
    assert {m.line for m in found} == {4, 6, 8}  # not the annotation, and not the text of the error


def test_the_strict_of_zip_is_an_assertion():
    found = list(mutants.mutants("toy", "toy.py", "def pairs(a, b):\n    return list(zip(a, b, strict=True))\n"))
    assert found == []


def test_a_test_that_starts_a_process_is_known_to_reach_what_that_runs(toy, capsys):
    """Otherwise the quick test that says nothing, and runs in pytest's process, would be asked alone."""
    started = (
        "import subprocess, sys\nfrom toy import clip\n\ndef test_nothing():\n    clip(3)\n\n"
        "def test_process():\n    program = 'from toy import clip; print([clip(k) for k in (3, 9, 10)])'\n"
        "    found = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)\n"
        "    assert found.stdout == '[3, 9, 9]\\n'\n"
    )
    toy(started)
    assert "NumberReplacer" not in capsys.readouterr().out


def test_a_weak_test_lets_mutants_live(toy, capsys):
    assert toy(WEAK) == 1
    printed = capsys.readouterr().out
    assert "survived: packages/tensor/src/toy.py:4 NumberReplacer" in printed
    assert "- if x is None:" not in printed  # this one was caught


def test_a_strong_test_and_a_reason_leave_none(toy, capsys):
    assert toy(STRONG) == 1  # at x == high both branches give the same
    entry = (
        '[[equivalent]]\npath = "packages/tensor/src/toy.py"\nline = "return high if x > high else x"\n'
        'mutant = "return high if x >= high else x"\nreason = "both are the same there"\n'
    )
    capsys.readouterr()
    status = toy(STRONG, entry)
    printed = capsys.readouterr().out
    assert "survived" not in printed.replace("0 survived", "")
    assert status == 0
