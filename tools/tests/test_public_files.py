"""The files that a public host reads can be read, and what they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(p for p in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if p.stem != "config")
SESSIONS = set(re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE))


def read(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def named(path: Path) -> list[str]:
    """Return the commands of a workflow."""
    return [step["run"] for job in read(path)["jobs"].values() for step in job["steps"] if "run" in step]


def test_all_are_there():
    assert [p.stem for p in WORKFLOWS] == ["benchmarks", "docs", "nightly", "tests", "wheels"]
    assert (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").is_file()
    assert [p.stem for p in FORMS] == ["bug", "old_program", "performance", "wrong_number"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow(path):
    flow = read(path)
    assert flow["permissions"] == {"contents": "read"}, "more rights are for single jobs"
    assert all(job["timeout-minutes"] for job in flow["jobs"].values())
    for command in named(path):
        for sessions in re.findall(r"tools/run\.py ([a-z ]+?)(?= --|$)", command, re.MULTILINE):
            assert set(sessions.split()) <= SESSIONS, command
        for file in re.findall(r"\b(?:bash|python3?) ((?:clone/)?[\w./]+/\w+(?:\.py)?)\b", command):
            assert (ROOT / file.removeprefix("clone/")).is_file(), file
    for job in flow["jobs"].values():
        assert not re.search(r"\$\{\{ *inputs", str([step.get("run") for step in job["steps"]])), "by env only"


def test_the_layers_that_have_wheels():
    layers = read(ROOT / ".github" / "workflows" / "wheels.yml")["env"]["LAYERS"].split()
    folders = {p.name for p in (ROOT / "packages").iterdir() if p.is_dir()}
    # The one has no file; the other is no layer, and nothing of it is compiled.
    assert sorted(layers) == sorted(folders - {"theano", "pytensor-linker"})


@pytest.mark.parametrize("path", FORMS, ids=lambda p: p.stem)
def test_a_form_asks_for_the_doctor(path):
    fields = {field["id"]: field for field in read(path)["body"]}
    assert "python -m theano.doctor" in fields["doctor"]["attributes"]["label"]
    assert fields["doctor"]["validations"]["required"] and fields["program"]["validations"]["required"]


def test_the_citation():
    cited = read(ROOT / "CITATION.cff")
    assert cited["cff-version"] == "1.2.0" and cited["license"] == "BSD-3-Clause"
    source = (ROOT / "packages" / "graph-core" / "src" / "theano" / "__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{cited["version"]}"' in source, "CITATION.cff names another version"
