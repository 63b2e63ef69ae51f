"""Reports of pytest, failed tests that are run once more, and the last screen: with real suites in folders of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import outcomes
import run
import summary

ROOT = Path(__file__).resolve().parents[2]
ONCE = """
import os, pathlib, signal, pytest

def first(name):
    path = pathlib.Path(__file__).with_name(name)
    there = path.exists()
    path.touch()
    return not there
"""


class Failed(Exception):
    """What nox raises where a command fails."""


class Session:
    """As much of a session of nox as `run_pytest` needs, with this Python for an environment."""

    name = "tests(toy)"
    env, bin_paths = {"TOY": "1", "HOME": os.environ.get("HOME")}, None

    def __init__(self, folder):
        self.folder, self.logged = folder, []

    def run(self, python, *arguments, env=None, success_codes=(0,)):
        env = {**os.environ, **self.env, **(env or {})}
        done = subprocess.run([sys.executable, *arguments], cwd=self.folder, env=env, capture_output=True, text=True)
        if done.returncode not in success_codes:
            raise Failed(f"status {done.returncode}: {done.stdout}{done.stderr}")

    def error(self, text):
        raise Failed(text)

    def log(self, text):
        self.logged.append(text)


class Toy:
    """A repository with tests, run by `run_pytest`; what they left is read and repeated by `summary`."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.reports = folder / "root", folder / "reports"
        self.folder.mkdir()
        self.reports.mkdir()
        self.session = Session(self.folder)
        shutil.copy(ROOT / "conftest.py", self.folder)
        (self.folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT / 'tools'}\naddopts = -p no:cacheprovider\n")
        monkeypatch.setenv(outcomes.FOLDER, str(self.reports))
        # To import what other plugins need takes as long as all else.
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")

    def write(self, name, text, head=ONCE):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(head + text)

    def run(self, *arguments, **how):
        outcomes.run_pytest(self.session, "-q", *arguments, **how)

    def command(self):
        (command,) = (outcomes.read(path) for path in self.reports.glob("*.jsonl"))
        return command

    def checks(self):
        checks = summary.read(self.reports)
        summary.repeat(checks, self.reports)
        return checks


@pytest.fixture
def toy(tmp_path, monkeypatch):
    return Toy(tmp_path, monkeypatch)


def test_each_outcome_is_in_the_report(toy):
    toy.write("test_a.py", """
def test_passes(): assert "THEANO_TEST_REPORT" not in os.environ
def test_fails(): assert 1 == 2
def test_skips(): pytest.skip()
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.fixture
def broken():
    yield
    raise ValueError("afterwards")
def test_torn_down(broken): pass
""")  # fmt: skip
    toy.write("test_b.py", "pytest.skip('not here', allow_module_level=True)")
    toy.run("--tb=short", "test_a.py", "test_b.py")
    command = toy.command()
    found = {name.rpartition("::")[2]: test.outcome for name, test in command.tests.items()}
    assert found == {
        "test_passes": "passed", "test_fails": "failed", "test_skips": "skipped", "test_expected": "xfailed",
        "test_torn_down": "failed", "test_b.py": "skipped",
    }  # fmt: skip
    assert command.tests["test_a.py::test_fails"].said[-1] == "E   assert 1 == 2"
    assert "ValueError: afterwards" in command.tests["test_a.py::test_torn_down"].said[-1]
    assert (command.session, command.status, command.collected, command.finished) == ("tests(toy)", 1, 5, 5)
    assert command.options == ["-q", "--tb=short"] and command.env["TOY"] == "1" and "HOME" not in command.env
    assert toy.session.logged[0].startswith("2 tests failed")


def test_a_failed_test_is_repeated_as_it_ran(toy):
    """One fails always, one once, one crashes its worker once; they pass where each option and variable is there again."""
    toy.write("plug/plugged.py", "def pytest_addoption(parser): parser.addini('colour', 'of the toy')", head="")
    toy.write("test_a.py", """
import plugged
def test_always(): assert not first("always"), "the second time"; assert 0, "the first time"
@pytest.mark.parametrize("x", ["a b::c[d]//é/./"])
def test_once(x, pytestconfig):
    assert pytestconfig.getini("colour") == "red" and os.environ["THEANO_FLAGS"] == "x=1" and os.environ["TOY"] == "1"
    assert not first("once"), os.environ["PYTEST_XDIST_WORKER"]
def test_crashes(): first("crashed") and os.kill(os.getpid(), signal.SIGKILL)
""")  # fmt: skip
    toy.run("-n", "2", "-p", "plugged", "-o", "colour=red", "test_a.py",
            env={"PYTHONPATH": str(toy.folder / "plug"), "THEANO_FLAGS": "x=1"})  # fmt: skip
    checks = toy.checks()
    ends = {each.test.partition("::")[2].partition("[")[0]: each for each in checks.failures}
    assert {name: each.unstable for name, each in ends.items()} == {
        "test_always": False, "test_once": True, "test_crashes": True,
    }  # fmt: skip
    assert any("gw" in line for line in ends["test_once"].first)
    assert "crashed while running" in ends["test_crashes"].first[-1]
    assert any("the second time" in line for line in ends["test_always"].second)
    screen = checks.screen("")
    assert screen[-1] == "2 passed, 1 failed, 0 skipped"
    assert "  tests(toy): test_a.py::test_always" in screen[screen.index("failed:") :]
    assert any("the second time" in line for line in screen) and any("the first time" in line for line in screen)


def test_a_skip_or_an_empty_collection_is_no_pass(toy):
    toy.write("test_a.py", """
def test_skips_then():
    if first("skipped"): raise ValueError
    pytest.skip()
@pytest.mark.parametrize("x", [f"{os.getpid()}"])
def test_of_another_name(x): assert 0
""")
    toy.run("test_a.py")
    failures = toy.checks().failures
    assert [each.unstable for each in failures] == [False, False]
    assert failures[0].second == ("the repetition ended with status 0: skipped",)
    assert "not found" in "".join(failures[1].second)


def test_a_file_that_is_no_python_is_repeated_as_a_whole(toy):
    toy.write("pages/conftest.py", """
import pytest
class Page(pytest.File):
    def collect(self):
        self.names = {"path": self.path}
        for k, text in enumerate(self.path.read_text().split("---")):
            block = Block.from_parent(self, name=f"line:{k}")
            block.text = text
            yield block
class Block(pytest.Item):
    def runtest(self): exec(self.text, self.parent.names)
def pytest_collect_file(file_path, parent):
    return Page.from_parent(parent, path=file_path) if file_path.suffix == ".md" else None
""", head="")  # fmt: skip
    block = "there = path.with_suffix('.ran').exists(); path.with_suffix('.ran').touch()\n---\nassert there\n---\nassert there"
    toy.write("pages/a.md", block, head="")
    toy.run("pages")
    (target,) = toy.command().targets()
    assert target == "pages/a.md"
    checks = toy.checks()
    assert [(each.test, each.unstable) for each in checks.failures] == [("pages/a.md::line:1", True), ("pages/a.md::line:2", True)]
    assert checks.screen("")[-1] == "3 passed, 0 failed, 0 skipped"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_an_error_of_collection_fails_and_is_not_repeated(toy, workers):
    toy.write("test_a.py", "def test_passes(): pass")
    toy.write("test_b.py", "import nowhere")
    with pytest.raises(Failed):
        toy.run("-n", workers, "test_a.py", "test_b.py")
    checks = toy.checks()
    assert list(toy.command().uncollected) == ["test_b.py"] and checks.failures == []
    assert checks.failed() == [("tests(toy)", "test_b.py (collection)")]
    assert checks.screen("")[-1].endswith(" passed, 1 failed, 0 skipped")


def test_other_exit_statuses_fail_the_session(toy):
    toy.write("test_a.py", "def test_passes(): pass\ndef test_dies(): os._exit(1)\n")
    with pytest.raises(Failed, match="not only by tests"):
        toy.run("test_a.py")  # status 1, and no report of why
    assert list(toy.command().tests) == ["test_a.py::test_passes"] and toy.command().status is None
    toy.write("test_b.py", "def test_passes(): pass")
    with pytest.raises(Failed, match="status 5"):
        toy.run("-k", "nothing", "test_b.py")
    toy.write("other/conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 1", head="")
    toy.write("other/test_c.py", "def test_passes(): pass")
    with pytest.raises(Failed, match="not only by tests"):
        toy.run("other")  # as syrupy does where snapshots are left over


def test_without_a_folder_a_failed_test_fails_its_session(toy, monkeypatch):
    monkeypatch.delenv(outcomes.FOLDER)
    toy.write("test_a.py", "def test_fails(): assert 0")
    with pytest.raises(Failed, match="status 1"):
        toy.run("test_a.py")
    assert list(toy.reports.iterdir()) == []


def test_many_failures_are_not_repeated(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(summary, "_repeated", None)
    failed = outcomes.Outcome("failed", 0.0, ("assert 0",))
    command = outcomes.Command("tests", tests={f"a.py::test_{k}": failed for k in range(summary.MOST_REPEATED + 1)})
    checks = summary.Checks([summary.Session("tests", "success")], [command])
    summary.repeat(checks, tmp_path)
    assert "21 tests failed, more than are run once more" in capsys.readouterr().out
    screen = checks.screen("")
    assert screen[-1] == "0 passed, 21 failed, 0 skipped" and screen.count("assert 0") == summary.SHOWN


def test_a_session_that_failed_without_a_failed_test_is_one_failure():
    sessions = [summary.Session("lint", "failed"), summary.Session("types", "aborted"), summary.Session("gpu", "skipped")]
    checks = summary.Checks(sessions)
    assert checks.failed() == [("lint", "failed"), ("types", "aborted")]
    assert checks.screen("")[-1] == "0 passed, 2 failed, 0 skipped"


def test_what_nox_says_of_failures_is_found():
    said = "nox > pip install x\nnox > Command pip install x failed with exit code 1:\nnox > looking\nno x\nnox > Session a failed."
    assert summary.what_failed(said) == ["nox > Command pip install x failed with exit code 1:", "nox > looking", "no x"]
    said = "nox > pytest\ntest_a.py ..nox > Command pytest failed with exit code -11\nnox > Session c failed."
    assert summary.what_failed(said) == ["test_a.py ..", "nox > Command pytest failed with exit code -11"]
    said = "nox > Session b raised exception ValueError()\nTraceback\nValueError\nnox > * b: failed"
    assert summary.what_failed(said) == said.splitlines()[:-1]


NOXFILE = f"""
import sys
sys.path.append({str(ROOT / "tools")!r})
import nox
from outcomes import run_pytest

nox.options.default_venv_backend = "none"

@nox.session
def build(session): session.run("python", "-c", "print('built')")

@nox.session(tags=["first"])
@nox.parametrize("layer", [nox.param("toy", id="toy")])
def tests(session, layer): run_pytest(session, "test_a.py")

@nox.session(tags=["beside"])
def lint(session): session.run("python", "lint.py")
"""


@pytest.mark.parametrize("slips", [0, 1])
def test_all_checks_with_nox(toy, monkeypatch, capfd, slips):
    pytest.importorskip("nox")
    toy.write("noxfile.py", NOXFILE, head="")
    toy.write("lint.py", f"print('looking for slips'); raise SystemExit({slips})", head="")
    toy.write("test_a.py", "def test_once(): assert not first('once')\ndef test_passes(): pass\n")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    nox = [sys.executable, "-m", "nox", "-f", str(toy.folder / "noxfile.py")]
    assert run._everything(nox, full=False) == slips
    lines = capfd.readouterr().out.splitlines()
    table = lines[max(k for k, line in enumerate(lines) if line.startswith("session ")) :]
    assert [line.split()[:2] for line in table[1:4]] == [
        ["build", "success"], ["lint", ["success", "failed"][slips]], ["tests(toy)", "success"],
    ]  # fmt: skip
    assert table[3].split()[3:] == ["2", "0", "0"]
    assert "  tests(toy): test_a.py::test_once" in table[table.index("unstable, failed first and passed when run once more:") :]
    assert lines[-1] == f"2 passed, {slips} failed, 0 skipped"
    assert (lines.count("looking for slips") == 2) == bool(slips)  # once more among the last lines of what failed
