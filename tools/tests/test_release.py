"""A release is refused where it has to be, and its version stands in one place."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib

import pytest

import release

ROOT = release.ROOT


def git(folder, *arguments):
    who = ["-c", "user.name=tests", "-c", "user.email=tests@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path):
    """A small tree with what a release looks at."""
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "README.md").write_text("how\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 2.1.0rc1 (2026-11-25)\n\nNew.\n\n## 2.0.0 (2026-01-01)\n\nOld.\n")
    source = tmp_path / release.SOURCE
    source.parent.mkdir(parents=True)
    source.write_text('"""A module."""\n\n__version__ = "2.1.0-rc1"\n')
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "all")
    git(tmp_path, "tag", "v2.1.0rc1")
    return tmp_path


def test_a_tagged_and_clean_tree_is_one(clone):
    assert release.version(clone) == "2.1.0rc1"
    assert release.refusals(clone, tagged=True) == []
    assert release.changelog(clone) == "## 2.1.0rc1 (2026-11-25)\n\nNew.\n"


def test_a_dirty_tree_is_refused_with_and_without_a_tag(clone):
    (clone / "left.txt").touch()
    for tagged in (True, False):
        (refusal,) = release.refusals(clone, tagged)
        assert "1 files are not as committed (?? left.txt)" in refusal


def plant_another_version(clone):
    source = clone / release.SOURCE
    source.write_text(source.read_text().replace("2.1.0", "2.2.0"))
    git(clone, "commit", "-q", "-a", "-m", "raised")


def plant_another_tag(clone):
    plant_another_version(clone)
    git(clone, "tag", "v2.2.0")


def plant_a_commit(clone):
    git(clone, "commit", "-q", "--allow-empty", "-m", "later")


def plant_a_change(clone):
    (clone / "changes" / "+more.fix.md").write_text("More.\n")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "more")
    git(clone, "tag", "-f", "v2.1.0rc1")


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (plant_another_version, ["does not have the tag v2.2.0rc1", "no section 2.2.0rc1"]),
        (plant_another_tag, ["does not have the tag v2.2.0rc1", "has the tag v2.2.0, and its version", "no section"]),
        (plant_a_commit, ["the tag v2.1.0rc1 is on another commit"]),
        (plant_a_change, ["1 files that are in no changelog"]),
    ],
)
def test_what_does_not_agree_is_refused(clone, plant, said):
    plant(clone)
    found = release.refusals(clone, tagged=True)
    assert len(found) == len(said)
    assert all(words in refusal for words, refusal in zip(said, found, strict=True)), found
    assert release.refusals(clone, tagged=False) == []


def test_only_files_of_a_release_are_removed(tmp_path):
    for name in ("theano_scalar-2.0.tar.gz", "SHA256SUMS", "CHANGES.md"):
        (tmp_path / name).touch()
    release.clear(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "thesis.pdf").touch()
    with pytest.raises(release.Trouble, match=r"thesis\.pdf is not of a release"):
        release.clear(tmp_path)
    assert (tmp_path / "thesis.pdf").exists()


def test_sums_are_those_of_the_files(tmp_path):
    (tmp_path / "b.whl").write_bytes(b"b")
    (tmp_path / "a.tar.gz").write_bytes(b"a")
    assert release.sums(tmp_path).splitlines() == [
        f"{hashlib.sha256(name[:1].encode()).hexdigest()}  {name}" for name in ("a.tar.gz", "b.whl")
    ]


def test_the_version_stands_in_one_place():
    spelled = re.escape(release.version()).replace("a", "-?a")
    for layer in release.LAYERS:
        folder = ROOT / "packages" / layer
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert "version" in project["dynamic"] and "version" not in project
        for name in ("pyproject.toml", "setup.py"):
            assert not re.search(rf"\b{spelled}\b", (folder / name).read_text(encoding="utf-8")), f"{layer}/{name}"


def test_each_change_is_of_a_known_kind():
    kinds = {each["directory"] for each in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]["type"]}
    for name in release.fragments(ROOT):
        assert re.fullmatch(rf"(\d+|\+[\w-]+)\.({'|'.join(kinds)})\.md", name), name
    said = (ROOT / "changes" / "README.md").read_text()
    assert all(f"`{kind}`" in said for kind in kinds)
