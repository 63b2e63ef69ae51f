"""The digest of our own sources: of all that they hold, compiled libraries too, noted for the next process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from theano.compile import environment


class Notes:
    """A cache's notes, and how often something was written down."""

    def __init__(self) -> None:
        self.kept: dict[str, list[str]] = {}

    def notes(self, key: str) -> list[str]:
        return self.kept.get(key, [])

    def add_note(self, key: str, text: str) -> None:
        self.kept.setdefault(key, []).append(text)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is taken for our installation: a module and two libraries."""
    for name in ("a.py", "b.so", "c.so"):
        (tmp_path / name).write_bytes(name.encode() * 10)

    def files() -> Iterator[tuple[str, os.DirEntry[str]]]:
        with os.scandir(tmp_path) as scan:
            yield from sorted((entry.name, entry) for entry in scan)

    monkeypatch.setattr(environment, "_files", files)
    return tmp_path


def digest(notes: Notes) -> str:
    found = environment._reader("stamp", notes)
    return found if isinstance(found, str) else found()


def test_it_is_noted_and_found_again(installed: Path) -> None:
    notes = Notes()
    first = digest(notes)
    assert len(first) == 32 and notes.kept == {"stamp": [f"sources {first}"]}
    (installed / "a.py").write_text("something else")  # the note is under the files' times, and is believed
    assert digest(notes) == first and digest(Notes()) != first


@pytest.mark.parametrize("name", ["a.py", "b.so", "c.so"])
def test_all_content_counts(installed: Path, name: str) -> None:
    first = digest(Notes())
    assert digest(Notes()) == first
    (installed / name).write_bytes(b"x")
    assert digest(Notes()) != first


def test_files_that_change_places_count(installed: Path) -> None:
    first = digest(Notes())
    (installed / "b.so").rename(installed / "d")
    (installed / "c.so").rename(installed / "b.so")
    (installed / "d").rename(installed / "c.so")
    assert digest(Notes()) != first


def test_a_library_that_cannot_be_read_is_an_error(installed: Path) -> None:
    found = environment._reader("stamp", Notes())
    assert not isinstance(found, str)
    os.unlink(installed / "a.py")
    with pytest.raises(FileNotFoundError):
        found()
    os.symlink("nowhere", installed / "b2.so")
    with pytest.raises(FileNotFoundError):
        digest(Notes())


def test_texts_are_read_while_others_work(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a thread that somebody starts who now waits, or by whoever needs the answer; it is the same."""
    monkeypatch.setattr(environment, "_known", None)
    first = digest(Notes())
    found = environment._reader("stamp", Notes())
    texts = environment._texts
    assert not isinstance(found, str) and texts is not None and texts.ident is None
    environment.read_meanwhile()
    assert texts.ident is not None and environment._texts is None
    environment.read_meanwhile()  # there is nothing left to begin
    assert found() == first


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in a folder that is taken for all that is installed."""
    (tmp_path / "inner").mkdir()
    for name in ("a.py", "inner/b.h", "inner/notes.txt"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(environment, "_roots", lambda: [("inside/", str(tmp_path))])
    monkeypatch.setattr(environment, "_check_loaded", lambda seen: None)
    for name in ("_tree", "_changed"):
        monkeypatch.setattr(environment, name, None)
    return tmp_path


CHANGES = {
    "edited": lambda root: (root / "inner/b.h").write_text("of another length"),
    "edited in place": lambda root: (root / "a.py").write_text("A.PY"),
    "touched": lambda root: os.utime(root / "a.py", ns=(1, 1)),
    "new": lambda root: (root / "inner/c.c").write_text(""),
    "gone": lambda root: (root / "inner/b.h").unlink(),
    "moved": lambda root: (root / "a.py").rename(root / "c.py"),
    "new folder": lambda root: [(root / "more").mkdir(), (root / "more/d.py").write_text("")],
    "folder gone": lambda root: shutil.rmtree(root / "inner"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_file_changes_the_stamp(tree: Path, change: str) -> None:
    first = environment._stamp()
    CHANGES[change](tree)
    assert environment._tree is not None and not environment._tree.is_as_it_was()
    assert environment._stamp() != first


def test_what_is_as_it_was_is_not_looked_at_anew(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = environment._stamp()
    (tree / "inner/notes.txt").write_text("is no source")
    looked = environment._tree
    assert environment._stamp() == first and environment._tree is looked
    monkeypatch.setattr(environment, "_roots", lambda: [("", str(tree / "inner"))])
    assert environment._stamp() != first and environment._tree is not looked


def test_where_there_are_no_files_there_is_a_stamp_too(tree: Path) -> None:
    """As of an installation in an archive, which has no key for a reason of its own."""
    first = environment._stamp()
    shutil.rmtree(tree)
    assert environment._stamp() != first
    assert environment._stamp() == environment._stamp()
