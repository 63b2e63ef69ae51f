"""The cache and its command touch what is the cache's own and nothing else, whatever they are pointed at."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from theano.cache import sweep as sweeping
from theano.cache.command import main, open_for_reading
from theano.cache.contents import survey
from theano.cache.names import EntryName, ReferenceName, StageName
from theano.cache.ownership import MARK, MARK_BYTES, STAMP, adopt, foreign_files, is_marked
from theano.cache.staging import machine_tag
from theano.cache.store import Cache, CacheSettings
from theano.cache.sweep import sweep, sweep_if_due

KEY = "0123456789abcdef" * 2
pytestmark = pytest.mark.skipif(os.name != "posix", reason="links are POSIX")
COMMANDS = ("list", "verify", "clear", "purge")


def fill(root: Path) -> Cache:
    """Make a cache with an entry of each kind."""
    cache = Cache(CacheSettings(root=str(root)))
    for number in range(3):
        with cache.stage() as stage:
            staged = Path(stage, "unit.so")
            staged.write_bytes(b"\x7fELF" + bytes([number]) * 100 + KEY.encode())
            cache.publish_unit(str(staged), KEY, [f"{number:032x}"], "/* 1 kernel, generated */\n")
        cache.add_plan(f"{number:032x}", f"plan {number}")
        cache.add_note(f"{number:032x}", f"note {number}")
    return cache


def state(root: Path) -> dict[str, object]:
    """All that lies below a directory, links not followed."""
    found: dict[str, object] = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder, name)
            info = path.lstat()
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(root))] = (info.st_mode, info.st_mtime_ns, content)
    return found


# -- directories that are no cache ---------------------------------------------------------------------------


def git_objects(root: Path) -> None:
    for name in ("info", "pack"):
        (root / name).mkdir()
    loose_objects(root)


def loose_objects(root: Path) -> None:
    for number in range(256):
        (root / f"{number:02x}").mkdir()
        (root / f"{number:02x}" / f"{number:038x}").write_bytes(b"x\x9c+)JMU0\xb7`01")


def home(root: Path) -> None:
    (root / ".cache").mkdir()
    (root / "thesis.tex").write_text("years")
    (root / "ab").mkdir()
    (root / "ab" / "holiday.jpg").write_bytes(b"\xff\xd8")


def another_cache(root: Path) -> None:
    (root / MARK).write_bytes(MARK_BYTES.splitlines(keepends=True)[0])
    (root / "ab").mkdir()


def one_stranger(root: Path) -> None:
    """A cache of ours that lost its mark, in which somebody works."""
    fill(root)
    (root / MARK).unlink()
    (root / "01" / "notes.txt").write_text("mine")


def empty(root: Path) -> None:
    """A new directory for something else."""


def mark_is_a_link(root: Path) -> None:
    home(root)
    (root.parent / "mark").write_bytes(MARK_BYTES)
    (root / MARK).symlink_to(root.parent / "mark")


PLACES = (git_objects, loose_objects, home, another_cache, one_stranger, empty, mark_is_a_link)


@pytest.mark.parametrize("words", [*((name,) for name in COMMANDS), ("verify", "--keep"), ("warm",)], ids=" ".join)
@pytest.mark.parametrize("make", PLACES)
def test_the_command_refuses_what_is_no_cache(
    make: Callable[[Path], None], words: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "place"
    root.mkdir(mode=0o700)
    make(root)
    before = state(tmp_path)
    if words == ("warm",):
        if make is empty:
            return  # may be filled
        words = ("warm", "--to", str(root), "script.py")
    assert main(["--root", str(root), *words]) == 1
    assert state(tmp_path) == before
    said = capfd.readouterr()
    assert "mark of a cache" in said.out + said.err
    assert sweep(str(root), 0).removed_units == 0 and state(tmp_path) == before


def test_a_repository_survives(tmp_path: Path) -> None:
    """The directory of objects of a real one, which this command has destroyed."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git")

    def run(*words: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
        subprocess.run([git, *identity, "-C", str(tmp_path), *words], check=True, timeout=60, capture_output=True)

    run("init")
    (tmp_path / "file").write_text("text")
    run("add", "file")
    run("commit", "-m", "one")
    for name in COMMANDS:
        assert main(["--root", str(tmp_path / ".git" / "objects"), name]) == 1
    run("fsck", "--strict")


@pytest.mark.parametrize("make", [home, loose_objects])
def test_a_setting_that_names_such_a_place_harms_nothing(make: Callable[[Path], None], tmp_path: Path) -> None:
    """It is used as it was told to be, but is neither marked nor swept; the command leaves it alone."""
    root = tmp_path / "place"
    root.mkdir(mode=0o700)
    make(root)
    before = state(root)
    cache = fill(root)
    assert cache.plans(f"{1:032x}") == ["plan 1"] and not is_marked(str(root))
    assert main(["--root", str(root), "purge"]) == 1
    assert cache.plans(f"{1:032x}") == ["plan 1"]
    assert not sweep_if_due(str(root), 0, 1 << 40) and not (root / STAMP).exists()
    after = state(root)
    for path, facts in before.items():
        assert after[path][2] == facts[2]  # type: ignore[index]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_root_that_is_a_link(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    before = state(tmp_path)
    assert main(["--root", str(tmp_path / "link"), name]) == 1
    assert state(tmp_path) == before and "symbolic link" in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_root_that_is_not_there(name: str, tmp_path: Path) -> None:
    assert main(["--root", str(tmp_path / "nothing"), name]) == 0
    assert not (tmp_path / "nothing").exists()


# -- the mark ------------------------------------------------------------------------------------------------


def test_a_new_cache_is_marked(tmp_path: Path) -> None:
    cache = fill(tmp_path / "cache")
    data = Path(cache.root, MARK).read_bytes()
    assert data.startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n") and data == MARK_BYTES
    assert is_marked(cache.root)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_cache_from_before_there_were_marks(name: str, tmp_path: Path) -> None:
    """It serves, is marked by who uses it next, and the command takes it for what it is."""
    root = tmp_path / "cache"
    fill(root)
    (root / MARK).unlink()
    assert main(["--root", str(root), name]) == 0
    assert root.exists() == (name != "purge")
    if name in ("list", "verify"):
        assert Cache(CacheSettings(root=str(root))).plans(f"{1:032x}") == ["plan 1"]
        assert is_marked(str(root))


def test_one_that_holds_other_things_is_not_adopted(tmp_path: Path) -> None:
    for make in (home, git_objects, loose_objects, another_cache):
        root = tmp_path / make.__name__
        root.mkdir()
        make(root)
        before = state(root)
        assert not adopt(str(root)) and state(root) == before


def test_a_place_where_nothing_can_be_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full)
        cache = Cache(CacheSettings(root=str(tmp_path / "cache")))
    assert not cache.is_private and os.listdir(cache.root) == []


# -- other users' things inside a cache --------------------------------------------------------------------

UNIT = EntryName(KEY, "f" * 32, "so").file
REFERENCE = ReferenceName("01" * 16, EntryName(KEY, "f" * 32, "so")).file
STRANGERS = {
    "file beside": ("notes.txt", "file"),
    "folder beside": ("mine", "folder"),
    "folder of two digits with files": ("ee", "folder"),
    "file of two digits": ("ee", "file"),
    "file in a bucket": ("01/thesis", "file"),
    "folder in a bucket": ("01/mine", "folder"),
    "entry's name, other content": (f"01/{UNIT}", "file"),
    "plan's name, other content": (f"01/{UNIT[:-2]}plan", "file"),
    "note's name, other content": (f"01/{UNIT[:-2]}txt", "file"),
    "source's name, other content": (f"01/{UNIT[:-2]}c", "file"),
    "reference with content": (f"01/{REFERENCE}", "file"),
    "folder with an entry's name": (f"01/{UNIT}", "folder"),
    "folder with a reference's name": (f"01/{REFERENCE}", "folder"),
    "entry in another bucket": (f"02/{UNIT}", "file"),
    "entry at the top": (UNIT, "file"),
    "link to a folder as a bucket": ("ee", "link to folder"),
    "link to a folder in a bucket": ("01/mine", "link to folder"),
    "link to a file with an entry's name": (f"01/{UNIT}", "link to file"),
    "link to a file with a reference's name": (f"01/{REFERENCE}", "link to file"),
    "link with a working directory's name": (StageName(1, 1, "00000000", "abc").file, "link to folder"),
    "link to an old cache": ("ee", "link to cache"),
    "second name of a file": (f"01/{UNIT}", "hard link"),
    "second name of a file in a bucket": ("01/mine", "hard link"),
    "dangling link": (f"01/{UNIT}", "dangling"),
    "fifo": (f"01/{UNIT}", "fifo"),
}


def put(root: Path, name: str, kind: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "thesis").write_text("years")
    old = time.time() - 30 * 86400
    if kind == "link to cache":
        fill(outside / "cache")
        for path in outside.rglob("*.so"):
            os.utime(path, (old, old))
    path = root / name
    path.parent.mkdir(exist_ok=True)
    if kind == "file":
        path.write_text("years")
    elif kind == "folder":
        path.mkdir()
        (path / "thesis").write_text("years")
        (path / UNIT).write_text("years")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "hard link":
        os.link(outside / "thesis", path)
    else:
        places = {"link to folder": outside, "link to file": outside / "thesis", "link to cache": outside / "cache"}
        path.symlink_to(places.get(kind, outside / "nothing"))
    if not path.is_symlink():
        os.utime(path, (old, old))


def remove_by_sweep(cache: Cache) -> None:
    sweep(cache.root, 0)


def read_everything(cache: Cache) -> None:
    for key in {KEY, "01" * 16, *(f"{number:032x}" for number in range(3))}:
        list(cache.units(key)), cache.plans(key), cache.notes(key)
        for name, path in cache.references(key):
            cache.read(path, name)


ACTIONS: dict[str, Callable[[Cache], object]] = {
    "read": read_everything,
    "share": lambda cache: open_for_reading(cache.root),
    "list": lambda cache: main(["--root", cache.root, "list"]),
    "verify": lambda cache: main(["--root", cache.root, "verify"]),
    "sweep": remove_by_sweep,
    "clear": lambda cache: main(["--root", cache.root, "clear"]),
    "purge": lambda cache: main(["--root", cache.root, "purge"]),
}


@pytest.mark.parametrize("what", STRANGERS)
def test_what_is_not_ours_stays(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each in turn, so that the later ones have whatever an earlier one did wrong to do it again."""
    monkeypatch.setattr(sweeping, "YOUNG", -1.0)
    root = tmp_path / "cache"
    cache = fill(root)
    name, kind = STRANGERS[what]
    put(root, name, kind)

    def others() -> dict[str, object]:
        found = {path: facts for path, facts in state(tmp_path).items() if path.startswith("outside")}
        own = state(root)
        return {**found, **{path: own[path] for path in own if path == name or path.startswith(name + "/")}}

    before = others()
    for action, act in ACTIONS.items():
        act(cache)
        assert others() == before, action
    said = capsys.readouterr().out
    assert root.exists() and f"{root} stays" in said, "purge keeps the directory and says so"
    assert f"left {root / name}" in said, "and names what it has left"
    left = {str(path.relative_to(root)) for path in root.rglob("*")}
    assert left == {part for part in (os.path.dirname(name), name) if part} | {p for p in left if p.startswith(name)}


def test_a_second_name_of_an_entry(tmp_path: Path) -> None:
    """The name in the cache goes, the file stays under the other."""
    cache = fill(tmp_path / "cache")
    path = Path(survey(cache.root).units[0].path)
    os.link(path, tmp_path / "kept")
    data = path.read_bytes()
    assert main(["--root", cache.root, "purge"]) == 0
    assert not Path(cache.root).exists() and (tmp_path / "kept").read_bytes() == data


def test_damaged_entries_go(tmp_path: Path) -> None:
    """Cut short, changed at the end, zeroed and empty ones are still the cache's own."""
    cache = fill(tmp_path / "cache")
    contents = survey(cache.root)
    for items in (contents.units, contents.plans, contents.notes):
        for item, damage in zip(items, (lambda d: d[:-9], lambda d: d[:-1] + b"?", lambda d: bytes(len(d))), strict=True):
            os.chmod(item.path, 0o600)
            Path(item.path).write_bytes(damage(Path(item.path).read_bytes()))
    Path(contents.sources[0].path).chmod(0o600)
    Path(contents.sources[0].path).write_bytes(b"")
    assert main(["--root", cache.root, "verify"]) == 1
    left = survey(cache.root)
    assert left.units == left.plans == left.notes == []
    assert main(["--root", cache.root, "purge"]) == 0 and not Path(cache.root).exists()


def test_what_was_removed_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = fill(tmp_path / "cache")
    with cache.stage() as stage:
        assert main(["--root", cache.root, "purge"]) == 1
        said = capsys.readouterr().out
        assert "removed 3 units, 3 plans, 3 notes, 3 sources, 3 references; " in said
        assert f"left {stage}: process {os.getpid()} may still work in it" in said
        assert os.path.isdir(stage)
    dead = Path(cache.root, StageName(2**22 + 1, 1, machine_tag(), "abc").file)
    dead.mkdir()
    (dead / "half.so").write_text("")
    assert main(["--root", cache.root, "purge"]) == 0
    said = capsys.readouterr().out
    assert "removed 0 units, 1 working directories" in said and f"removed {cache.root}" in said


@pytest.mark.parametrize(("kind", "said"), [
    ("file", "is not the cache's"), ("fifo", "is not the cache's"), ("folder", "is a directory of another user"),
    ("link to folder", "is a symbolic link"), ("link to file", "is a symbolic link"), ("dangling", "is a symbolic link"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["mine", "01/mine"])
def test_what_is_not_ours_is_named_by_its_kind(name: str, kind: str, said: str, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    root.mkdir()
    put(root, name, kind)
    assert list(foreign_files(str(root))) == [(str(root / name), said)]
