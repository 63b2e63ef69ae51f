"""What the command says, word for word, and by which status it ends."""

from __future__ import annotations

import os
import runpy
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from systems import System

from theano.cache import command
from theano.cache.command import age_text, main, open_for_reading, size_text
from theano.cache.names import EntryName, ReferenceName, StageName, digest_of
from theano.cache.ownership import MARK, STAMP, adopt
from theano.cache.store import CacheSettings
from theano.cache.trust import Refusal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and rights are POSIX")
NOW = float(1 << 30)
MINUTE, HOUR, DAY = 60, 3600, 86400
DEAD = StageName(2**22 + 1, 1, "0" * 16, "abc")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(time, "time", lambda: NOW)
    path = tmp_path / "theano"
    path.mkdir(mode=0o700)
    assert adopt(str(path))
    return path


def put(root: Path, number: int, kind: str = "so", size: int = 100, age: float = 0.0, text: str = "") -> Path:
    """Lay an entry into a cache; a source carries the digest of its unit."""
    key = f"{number:032x}"
    data = (b"\x7fELF" + key.encode() if kind == "so" else EntryName(key, "", kind).head).ljust(size, b"x")
    name = EntryName(key, digest_of(data), kind)
    path = root / name.relative
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o400)
    os.utime(path, (NOW - age, NOW - age))
    if text:
        path.with_suffix(".c").write_text(text)
    return path


def refer(root: Path, unit: Path, *kernels: int) -> list[Path]:
    name = EntryName.parse(unit.name)
    assert name is not None
    paths = [root / ReferenceName(f"{kernel:032x}", name).relative for kernel in kernels]
    for path in paths:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.touch(0o400)
    return paths


def run(root: Path, *words: str, **settings: Any) -> int:
    return main(words, CacheSettings(root=str(root), **settings))


@pytest.mark.parametrize(("count", "text"), [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 kB"), (1536, "1.5 kB"), ((1 << 20) - 1024, "1023.0 kB"),
    (1 << 20, "1.0 MB"), (3 << 19, "1.5 MB"), (1023 << 20, "1023.0 MB"), (1 << 30, "1.0 GB"), (5 << 40, "5120.0 GB"),
])  # fmt: skip
def test_sizes(count: int, text: str) -> None:
    assert size_text(count) == text


@pytest.mark.parametrize(("seconds", "text"), [
    (-5, "now"), (59.9, "now"), (60, "1 min"), (3599, "60 min"), (3600, "1 h"), (86399, "24 h"), (86400, "1 d"),
    (900000, "10 d"),
])  # fmt: skip
def test_ages(seconds: float, text: str) -> None:
    assert age_text(seconds) == text


# -- list and where ------------------------------------------------------------------------------------------------

HEAD = "/* theano-cache c x */\n/* 2 kernels, generated */\n"
LONG = "x + " * 14  # 56 characters


def test_a_listing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last used first, each with its kernels and with what they compute."""
    refer(root, put(root, 1, size=100, age=DAY, text=HEAD + "/* x + 1 */\nint f;\n  /* no */\n/* y */ int;\n"), 7)
    refer(root, put(root, 2, size=2048, age=HOUR, text=HEAD + "/* exp(x) */\n/* y */\n"), 8, 9)
    put(root, 3, age=2 * DAY)
    put(root, 4, age=3 * DAY, text=HEAD + f"/* {LONG}1234 */\n")
    put(root, 5, age=4 * DAY, text=HEAD + f"/* {LONG}12345 */\n")
    put(root, 6, "plan", size=500)
    assert run(root, "list", size_cap=4096) == 0
    assert capsys.readouterr().out.splitlines() == [
        "000000000000     2.0 kB     1 h    2 kernels  exp(x), y",
        "000000000000      100 B     1 d    1 kernel   x + 1",
        "000000000000      100 B     2 d    0 kernels",
        f"000000000000      100 B     3 d    0 kernels  {LONG}1234",
        f"000000000000      100 B     4 d    0 kernels  {LONG}1...",
        "5 units and 1 plans of functions, 2.9 kB of 4.0 kB",
    ]


def test_a_listing_without_units(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "list") == 0
    put(root, 1, "plan")
    assert run(root, "list") == 0
    assert capsys.readouterr().out == "no compiled units\n0 units and 1 plans of functions, 100 B of 1.0 GB\n"


def test_a_key_is_shown_by_its_first_twelve_characters(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(root, 0x0123456789ABCDEF0123456789ABCDEF)
    run(root, "list")
    assert capsys.readouterr().out.splitlines()[0].startswith("0123456789ab  ")


def test_where(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared, bad = tmp_path / "shared", tmp_path / "bad"
    for path in (shared, bad):
        path.mkdir()
    bad.chmod(0o777)
    put(root, 1)
    assert run(root, "where", readonly=(str(shared), str(bad))) == 0
    first, total, trusted, *others = capsys.readouterr().out.splitlines()
    assert (first, total, trusted) == (str(root), "1 units, 100 B of 1.0 GB", "trusted: only you can write to it")
    assert others[0] == f"{shared} (read-only): trusted" and len(others) == 2
    assert others[1].startswith(f"{bad} (read-only): NOT USED: {bad}: is writable by other users")


@pytest.mark.parametrize(("content", "said"), [
    ([], None), ([MARK], "used, but never swept or cleared: it does not carry the mark of a cache"),
    (["thesis"], "used, but never swept or cleared: it does not carry the mark of a cache"),
])  # fmt: skip
def test_where_in_a_directory_that_is_no_cache(
    content: list[str], said: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "theano"
    root.mkdir(0o700)
    for name in content:
        (root / name).touch()
    assert run(root, "where") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "trusted: only you can write to it" and len(lines) == (3 if said is None else 4)
    assert said is None or lines[3].startswith(said)


def test_where_there_is_no_place(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root.chmod(0o777)
    assert run(root, "where") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith(f"NOT USED: {root}: is writable") and len(lines) == 3
    monkeypatch.setattr(CacheSettings, "directory", lambda settings: "")
    assert main(["where"], CacheSettings()) == 1
    first, total, refused = capsys.readouterr().out.splitlines()
    assert first == "(no place: the home directory is not known)" and refused.startswith("NOT USED: the home directory")


# -- verify --------------------------------------------------------------------------------------------------------


def test_verify(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong is removed if it is the cache's own, and references to nothing are, unless all is kept."""
    unit = put(root, 1)
    kept = refer(root, unit, 11)
    entries = [put(root, 2), put(root, 3, "plan"), put(root, 4, "txt"), put(root, 5, "plan"), put(root, 6)]
    dangling = refer(root, Path(EntryName("f" * 32, "0" * 32, "so").file), 12, 13)
    for path in entries[:2]:
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-1])
    entries[2].chmod(0o666)
    entries[4].chmod(0o600)
    entries[4].write_bytes(b"thesis")
    wrong = sorted(
        [*entries[:3], entries[4]], key=lambda path: (path.suffix != ".so", path.suffix != ".plan", path.name)
    )
    assert run(root, "verify", "--keep") == 1
    assert capsys.readouterr().out.splitlines() == [
        *(f"wrong: {path}" for path in wrong), "2 entries are right, 4 wrong, 2 references to nothing",
    ]  # fmt: skip
    assert all(path.exists() for path in [*entries, *dangling])
    assert run(root, "verify") == 1
    ends = dict.fromkeys(wrong, " (removed)") | {entries[4]: " (left: it holds something that is not the cache's)"}
    assert capsys.readouterr().out.splitlines() == [
        *(f"wrong: {path}{ends[path]}" for path in wrong), "2 entries are right, 4 wrong, 2 references to nothing",
    ]  # fmt: skip
    assert [path.exists() for path in entries] == [False, False, False, True, True]
    assert unit.exists() and kept[0].exists() and not any(path.exists() for path in dangling)
    entries[4].unlink()
    assert run(root, "verify") == 0
    assert capsys.readouterr().out == "2 entries are right, 0 wrong, 0 references to nothing\n"


def test_what_cannot_be_read_is_wrong(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(root, 1)
    asked = []

    def fails(path: str, name: EntryName, *, root_may_own: bool) -> bytes:
        asked.append(root_may_own)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(command, "read_verified", fails)
    assert run(root, "verify", "--keep") == 1 and asked == [False]
    assert capsys.readouterr().out.endswith("0 entries are right, 1 wrong, 0 references to nothing\n")


# -- clear and purge ---------------------------------------------------------------------------------------------


def fill(root: Path) -> None:
    """Two units, a plan, a note, a source, three references and what a dead process has left."""
    units = [put(root, 1, text=HEAD), put(root, 2)]
    put(root, 3, "plan")
    put(root, 4, "txt")
    refer(root, units[0], 11, 12)
    refer(root, units[1], 11)
    stage = root / DEAD.file
    stage.mkdir()
    os.utime(stage, (1, 1))


REMOVED = f"removed 2 units, 1 plans, 1 notes, 1 sources, 3 references, 1 working directories of processes that have ended; {400 + len(HEAD)} B"


@pytest.mark.parametrize("name", ["clear", "purge"])
def test_what_was_removed(name: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(root)
    for path in root.glob("*/*.c"):
        path.write_text("theano_unit_key".ljust(len(HEAD)))
    assert run(root, name) == 0
    assert capsys.readouterr().out.splitlines() == [REMOVED] + [f"removed {root}"] * (name == "purge")
    assert root.exists() is (name == "clear")
    assert run(root, name) == 0
    assert capsys.readouterr().out == ("removed 0 units; 0 B\n" if name == "clear" else f"{root} does not exist\n")


@pytest.mark.parametrize("count", [0, 9, 10, 11, 12])
@pytest.mark.parametrize("name", ["clear", "purge"])
def test_what_is_left_is_said_up_to_ten_times(
    name: str, count: int, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(count):
        path = put(root, number)
        path.chmod(0o600)
        path.write_bytes(b"thesis")
    (root / "thesis").touch() if name == "purge" else None
    count += name == "purge"
    assert run(root, name) == (1 if name == "purge" else 0)
    removed, *left = capsys.readouterr().out.splitlines()
    assert removed == "removed 0 units; 0 B"
    if name == "purge":
        assert left.pop() == f"{root} stays: Directory not empty"
    assert left[:10] == sorted(left[:10]) and all(line.startswith(f"left {root}") for line in left[:10])
    assert left[10:] == ([f"left {count - 10} more"] if count > 10 else []) and len(left[:10]) == min(count, 10)


def test_a_purge_leaves_what_is_not_the_caches(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own mark and stamp go; what stands under their names and is not the cache's stays, as do buckets in use."""
    put(root, 1)
    (root / STAMP).mkdir()
    (root / "00" / "thesis").touch()
    assert run(root, "purge") == 1
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == [STAMP, "00", "00/thesis"]
    (root / STAMP).rmdir()
    (root / "00" / "thesis").unlink()
    (root / MARK).write_text("somebody's")
    assert run(root, "purge") == 1, "it is no cache any more"
    assert (root / MARK).exists()


# -- warm ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Notes what is started, in the place of a process."""
    found = SimpleNamespace(command=None, flags=None, status=0, act=lambda: None)

    def run(command: list[str], env: dict[str, str], check: bool) -> SimpleNamespace:
        assert check is False, "a status is told, not raised"
        found.command, found.flags = command, env["THEANO_FLAGS"]
        found.act()
        return SimpleNamespace(returncode=found.status)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.delenv("THEANO_FLAGS", raising=False)
    return found


@pytest.mark.parametrize(
    ("user", "advice"), [(0, None), (5, "sudo chown -R root {root}"), (1, "sudo chown -R root {root}")]
)
def test_warm(
    user: int, advice: str | None, root: Path, started: SimpleNamespace, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("THEANO_FLAGS", "floatX=float32,, ")
    monkeypatch.setattr(command, "os", System(geteuid=lambda: user))
    started.act = lambda: put(root, 1, size=2048)
    assert run(root, "warm", "script.py", "--word", "x") == 0
    assert started.command == [sys.executable, "script.py", "--word", "x"]
    assert started.flags == f"floatX=float32,compiledir={root},base_compiledir=,cache.readonly="
    lines = [f"{root}: 1 units, 2.0 kB", f"to use it read-only: THEANO_FLAGS=cache.readonly={root}, or as base_compiledir=DIR:{root}"]
    if advice is not None:
        lines.insert(1, f"for other users: {advice.format(root=root)}")
    assert capsys.readouterr() == ("\n".join([*lines, ""]), "")


def test_warm_elsewhere(
    root: Path,
    tmp_path: Path,
    started: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "os", System(geteuid=lambda: 5))
    started.status = 3
    assert run(root, "warm", "--to", "shared", "script.py") == 1
    assert started.flags == f"compiledir={tmp_path / 'shared'},base_compiledir=,cache.readonly="
    said = capsys.readouterr()
    assert "for other users: let root own a copy of it\n" in said.out, "its name does not say that it is ours"
    assert said.err == "the script ended with status 3\n"
    monkeypatch.setattr(command, "os", System(geteuid=lambda: 5, name="nt"))
    run(root, "warm", "--to", "shared", "script.py")
    assert "for other users" not in capsys.readouterr().out


@pytest.mark.parametrize(("name", "make", "status", "said"), [
    ("a,b", None, 2, "THEANO_FLAGS cannot name a directory with a comma or an equals sign: {root}"),
    ("a=b", None, 2, "THEANO_FLAGS cannot name a directory with a comma or an equals sign: {root}"),
    ("bad", lambda root: root.chmod(0o777), 1, "cannot fill it: {root}: is writable by other users"),
    ("theirs", lambda root: (root / "thesis").touch(), 1, "cannot fill it: {root} does not carry the mark of a cache"),
])  # fmt: skip
def test_what_is_not_filled(
    name: str, make: Any, status: int, said: str, tmp_path: Path, started: SimpleNamespace,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    root = tmp_path / name
    if make is not None:
        root.mkdir(0o700)
        make(root)
    assert run(root, "warm", "script.py") == status and started.command is None
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(said.format(root=root))


def test_everybody_may_read_what_was_filled_and_nobody_write(root: Path) -> None:
    fill(root)
    (root / "ee").mkdir(0o700)
    (root / STAMP).touch()
    theirs = put(root, 9)
    theirs.chmod(0o600)
    theirs.write_bytes(b"thesis")
    for path in root.glob("*/*.c"):
        path.write_bytes(EntryName("0" * 31 + "1", "", "c").head)
    open_for_reading(str(root))
    modes: dict[str, set[int]] = {}
    for path in root.rglob("*"):
        modes.setdefault(path.suffix or path.name, set()).add(stat.S_IMODE(path.stat().st_mode))
    assert stat.S_IMODE(root.stat().st_mode) == 0o755
    assert modes == {
        "00": {0o755}, "ee": {0o700}, ".so": {0o555, 0o600}, ".plan": {0o444}, ".txt": {0o444}, ".c": {0o444},
        ".ref": {0o444}, ".TAG": {0o444},
    }  # fmt: skip


# -- the command line ------------------------------------------------------------------------------------------------


def test_the_configured_cache_unless_another_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("theano.settings.config", SimpleNamespace(compiledir=str(root)))
    put(root, 1)
    assert main(["clear"]) == 0 and main(["--root", str(tmp_path / "other"), "clear"]) == 0
    assert capsys.readouterr().out == "removed 1 units; 100 B\nremoved 0 units; 0 B\n"
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2 and "COMMAND" in capsys.readouterr().err, "there is none that is meant without a name"


@pytest.mark.parametrize("module", ["theano.cache", "theano.cache.command"])
@pytest.mark.parametrize(("words", "status"), [(["list"], 0), (["warm", "--to", "a=b", "script.py"], 2)])
def test_the_module_is_the_command(
    module: str, words: list[str], status: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["theano-cache", "--root", str(root), *words])
    if module == "theano.cache.command":
        monkeypatch.delitem(sys.modules, module)  # otherwise Python warns of running it twice
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert ended.value.code == status
    runpy.run_module(module, run_name="imported")  # does nothing


def test_a_refusal_is_what_speaks(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "create_trusted", lambda path: Refusal(path, "is odd"))
    monkeypatch.setattr(command, "refusal_to_manage", lambda path: "is a stranger's")
    assert run(root, "where") == 1
    assert capsys.readouterr().out.splitlines()[2:] == [f"NOT USED: {root}: is odd"]
    assert run(root, "warm", "script.py") == 1
    assert capsys.readouterr().err == f"cannot fill it: {root}: is odd\n"
