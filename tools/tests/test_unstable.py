"""Runs of tests under disturbances: a toy whose tests depend on them, with an option like that of pytest-randomly."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import unstable

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import os, signal, sys
def test_order(pytestconfig): assert pytestconfig.getoption("randomly_seed") != 7
def test_level(): assert "cpu_level" not in os.environ.get("THEANO_FLAGS", "")
def test_nohup(): assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL and not open(0).read()
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A folder of tests; runs are in the folder above it."""
    (tmp_path / "toy").mkdir()
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "toy" / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--randomly-seed', type=int)")
    (tmp_path / "toy" / "test_a.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT / 'tools'}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(unstable, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(unstable, "own_level", lambda: 4)
    monkeypatch.setattr(unstable, "LOAD", "")
    monkeypatch.delenv("THEANO_FLAGS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # what other plugins need takes as long as all else
    return tmp_path / "toy"


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_what_depends_on_a_disturbance_is_in_the_table(toy, capfd, handler):
    before = signal.signal(signal.SIGHUP, handler)
    try:
        findings_of_five_runs(capfd)
    finally:
        signal.signal(signal.SIGHUP, before)


def findings_of_five_runs(capfd):
    assert unstable.main(["5", "--seed", "6", "--", "-q", "toy"]) == 1
    lines = capfd.readouterr().out.splitlines()
    table = lines[lines.index("run  seed        kind   what failed") + 1 :]
    assert [line.split() for line in table[::2]] == [
        ["3", "8", "level", "toy/test_a.py::test_level"],
        ["5", "10", "nohup", "toy/test_a.py::test_nohup"],
        ["2", "7", "load", "toy/test_a.py::test_order"],
    ]
    assert table[1].strip() == 'repeat: nox -s "unstable(toy)" -- 1 --seed 8 --kind level'
    assert "run 3 of 5, seed 8, cpu_level=v3" in lines


def test_a_run_without_failures_succeeds(toy, capfd):
    (toy / "test_a.py").write_text("def test_nothing(): pass")
    assert unstable.main(["1", "--seed", "1", "--", "-q", "toy"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "1 runs from seed 1, nothing failed"


def test_a_pytest_that_dies_is_a_failure(toy, tmp_path):
    (tmp_path / "toy" / "test_b.py").write_text("import os\ndef test_dies(): os._exit(9)")
    (tmp_path / "logs").mkdir()
    (found,) = unstable.run_suite(unstable.Run(1, 1, "load"), ["-q"], "toy", None, tmp_path / "logs")
    assert found.what == "toy: pytest ended with status 9"


def test_the_load_ends_with_its_session_and_with_its_parent():
    with unstable.load(1) as started:
        assert started[0].poll() is None
    assert started[0].poll() == -signal.SIGKILL
    # It ends at once where the parent is another process. Nothing else could end the one that is waited for.
    subprocess.run([sys.executable, "-c", unstable.LOAD, "1000000000"], check=True, timeout=60)
