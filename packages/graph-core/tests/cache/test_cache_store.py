"""The store: what is published is found again, what is wrong is a miss, what fails is no exception."""

from __future__ import annotations

import builtins
import io
import os
import random
import stat
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from theano.cache.names import EntryName, ReferenceName, digest_of
from theano.cache.ownership import MARK, STAMP
from theano.cache.store import Cache, CacheSettings, create_trusted, read_verified
from theano.errors import CacheWarning

KEY = "0123456789abcdef" * 2
KERNEL = "fedcba9876543210" * 2
needs_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


def publish(cache: Cache, data: bytes, key: str = KEY, kernels: tuple[str, ...] = (KERNEL,)) -> Path:
    with cache.stage() as stage:
        staged = os.path.join(stage, "unit.so")
        Path(staged).write_bytes(data)
        return Path(cache.publish_unit(staged, key, kernels, "/* source */")[1])


def look_up(cache: Cache, key: str = KEY) -> list[str]:
    return [path for _, path, _ in cache.units(key)]


def test_publish_and_find(cache: Cache) -> None:
    path = publish(cache, b"machine code")
    assert path == Path(cache.root, "01", f"{KEY}.{digest_of(b'machine code')}.so")
    assert look_up(cache) == [str(path)]
    assert [found for _, found in cache.references(KERNEL)] == [str(path)]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o500
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(os.stat(cache.root).st_mode) == 0o700
        (reference,) = Path(cache.root).rglob("*.ref")
        assert stat.S_IMODE(reference.stat().st_mode) == 0o400
        assert stat.S_IMODE(path.with_suffix(".c").stat().st_mode) == 0o400
    assert path.with_suffix(".c").read_text() == f"/* theano-cache c {KEY} */\n/* source */"


def test_what_could_not_be_published_is_an_error(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, "Permission denied", source)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(PermissionError):
            publish(cache, b"machine code")
    assert look_up(cache) == []


def test_staging_is_gone_afterwards(cache: Cache) -> None:
    publish(cache, b"x")
    assert not [name for name in os.listdir(cache.root) if name.startswith(".stage")]


def test_references_are_empty_files(cache: Cache) -> None:
    publish(cache, b"x")
    references = list(Path(cache.root).glob("*/*.ref"))
    assert [path.stat().st_size for path in references] == [0]
    parsed = ReferenceName.parse(references[0].name)
    assert parsed is not None and parsed.kernel == KERNEL and parsed.unit.key == KEY


def test_same_bytes_same_name_other_bytes_other_name(cache: Cache) -> None:
    first, second, third = publish(cache, b"a"), publish(cache, b"a"), publish(cache, b"b")
    assert first == second != third
    assert sorted(look_up(cache)) == sorted([str(first), str(third)])


def test_notes(cache: Cache) -> None:
    assert cache.notes(KEY) == []
    cache.add_note(KEY, "gcc ü")
    assert cache.notes(KEY) == ["gcc ü"]
    path = next(Path(cache.root).glob("*/*.txt"))
    path.chmod(0o600)
    path.write_text(path.read_text() + "clang")
    assert cache.notes(KEY) == []
    assert not path.exists()


class TestDamage:
    """Everything that is not exactly right is a miss, and makes space for a new publication."""

    data = random.Random(1).randbytes(5000)

    def damaged_is_a_miss(self, cache: Cache, path: Path) -> None:
        assert look_up(cache) == []
        assert publish(cache, self.data) == path
        assert look_up(cache) == [str(path)]
        assert path.read_bytes() == self.data

    @pytest.mark.parametrize("length", range(0, 5000, 512))
    def test_truncated(self, cache: Cache, length: int) -> None:
        path = publish(cache, self.data)
        path.chmod(0o700)
        with path.open("r+b") as file:
            file.truncate(length)
        path.chmod(0o500)
        self.damaged_is_a_miss(cache, path)

    def test_flipped_bits(self, cache: Cache) -> None:
        choose = random.Random(2)
        path = publish(cache, self.data)
        for _ in range(64):
            damaged = bytearray(self.data)
            damaged[choose.randrange(5000)] ^= 1 << choose.randrange(8)
            path.unlink()
            path.write_bytes(damaged)
            path.chmod(0o500)
            self.damaged_is_a_miss(cache, path)

    def test_zeroed(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        path.chmod(0o700)
        path.write_bytes(bytes(5000))
        path.chmod(0o500)
        self.damaged_is_a_miss(cache, path)

    def test_directory_instead(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        path.unlink()
        path.mkdir()
        self.damaged_is_a_miss(cache, path)

    def test_directory_with_something_in_it(self, cache: Cache) -> None:
        """It is somebody's: it stays, and costs nothing but this one entry."""
        path = publish(cache, self.data)
        path.unlink()
        path.mkdir()
        (path / "x").write_text("")
        assert look_up(cache) == [] and publish(cache, self.data) == path and look_up(cache) == []
        assert os.listdir(path) == ["x"] and not cache.is_private
        assert publish(cache, b"other") != path and len(look_up(cache)) == 1

    @pytest.mark.parametrize("kind", ["so", "plan", "txt"])
    def test_where_somebodys_directory_is_in_the_way_nothing_is_left(self, kind: str, tmp_path: Path) -> None:
        """Neither references to what is not there nor the staged file."""

        def keep(cache: Cache) -> None:
            if kind == "so":
                publish(cache, self.data)
            elif kind == "plan":
                cache.add_plan(KEY, "text")
            else:
                cache.add_note(KEY, "text")

        first, cache = (Cache(CacheSettings(root=str(tmp_path / name))) for name in ("first", "cache"))
        keep(first)
        (entry,) = Path(first.root).rglob(f"*.{kind}")
        theirs = Path(cache.root) / entry.relative_to(first.root)
        theirs.mkdir(parents=True)
        theirs.parent.chmod(0o700)
        (theirs / "x").touch()
        keep(cache)
        files = {path for path in Path(cache.root).rglob("*") if not path.is_dir()}
        assert files - {Path(cache.root, STAMP)} == {Path(cache.root, MARK), theirs / "x"}

    def test_dangling_link(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        path.unlink()
        path.symlink_to("nowhere")
        self.damaged_is_a_miss(cache, path)

    def test_link_to_right_bytes(self, cache: Cache, tmp_path: Path) -> None:
        path = publish(cache, self.data)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        self.damaged_is_a_miss(cache, path)

    def test_second_name(self, cache: Cache, tmp_path: Path) -> None:
        path = publish(cache, self.data)
        os.link(path, tmp_path / "other")
        self.damaged_is_a_miss(cache, path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
    def test_fifo_does_not_block(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        path.unlink()
        os.mkfifo(path)
        self.damaged_is_a_miss(cache, path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
    def test_fifo_under_the_name_of_a_reference_does_not_block(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        (reference,) = Path(cache.writable_root()).rglob("*.ref")
        reference.unlink()
        os.mkfifo(reference)
        path.unlink()
        assert look_up(cache) == []
        waits = threading.Thread(target=publish, args=(cache, self.data), daemon=True)
        waits.start()
        waits.join(30)
        assert not waits.is_alive()
        assert len(look_up(cache)) == 1

    def test_writable_by_others(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        path.chmod(0o522)
        self.damaged_is_a_miss(cache, path)

    @needs_root
    def test_foreign_entry(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        os.chown(path, 54321, 54321)
        self.damaged_is_a_miss(cache, path)

    @needs_root
    def test_foreign_folder(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        os.chown(path.parent, 54321, 54321)
        assert look_up(cache) == []
        with pytest.raises(PermissionError):
            publish(cache, self.data)

    def test_name_of_another_key(self, cache: Cache) -> None:
        path = publish(cache, self.data)
        assert read_verified(str(path), EntryName(KEY, digest_of(b"other"), "so"), root_may_own=False) is None

    @pytest.mark.parametrize("name", ["x.so", f"{KEY}.so", f"{KEY}.xyz.so", f"{KEY}.{KEY}.so.tmp", KEY.upper()])
    def test_strange_names_are_passed_over(self, cache: Cache, name: str) -> None:
        publish(cache, self.data)
        Path(cache.root, "01", name).write_text("x")
        assert len(look_up(cache)) == 1


@pytest.mark.parametrize(("flags", "settings"), [
    ({}, CacheSettings("", (), 1 << 30)),
    ({"base_compiledir": "", "compiledir": None}, CacheSettings()),
    ({"base_compiledir": "/fast"}, CacheSettings(os.path.join("/fast", "compiled"))),
    ({"base_compiledir": "/fast", "compiledir": "/own"}, CacheSettings("/own")),
    ({"base_compiledir": os.pathsep.join(["/fast", "/a", "", "/b"]), "readonly": "/c"},
     CacheSettings(os.path.join("/fast", "compiled"), ("/a", "/b", "/c"))),
    ({"base_compiledir": os.pathsep + "/a", "compiledir": "/own"}, CacheSettings("/own", ("/a",))),
    ({"readonly": "", "size_cap": 0}, CacheSettings("", (), 0)),
    ({"readonly": os.pathsep.join(["", "/a", "", "/b"]), "size_cap": "7"}, CacheSettings("", ("/a", "/b"), 7)),
])  # fmt: skip
def test_settings_from_flags(flags: dict[str, object], settings: CacheSettings) -> None:
    own = SimpleNamespace(**{name: flags[name] for name in flags if not name.endswith("compiledir")})
    places = {name: flags[name] for name in flags if name.endswith("compiledir")}
    assert CacheSettings.from_config(SimpleNamespace(cache=own, **places)) == settings
    if not vars(own):
        assert CacheSettings.from_config(SimpleNamespace(**places)) == settings


class TestPlaces:
    """A place that cannot be used costs one warning, never an exception."""

    def works_privately(self, settings: CacheSettings) -> str:
        with pytest.warns(CacheWarning) as caught:
            cache = Cache(settings)
        assert len(caught) == 1
        assert cache.is_private
        path = publish(cache, b"abc")
        assert look_up(cache) == [str(path)]
        if os.name == "posix":
            assert stat.S_IMODE(os.stat(cache.writable_root()).st_mode) == 0o700
        return str(caught[0].message)

    def test_group_writable(self, tmp_path: Path) -> None:
        root = tmp_path / "bad theano group"
        root.mkdir()
        root.chmod(0o770)
        text = self.works_privately(CacheSettings(root=str(root)))
        assert f"chmod g-w '{root}'" in text
        assert list(root.iterdir()) == []

    @needs_root
    def test_foreign(self, tmp_path: Path) -> None:
        root = tmp_path / "foreign"
        root.mkdir()
        os.chown(root, 54321, 54321)
        text = self.works_privately(CacheSettings(root=str(root)))
        assert str(root) in text and "base_compiledir" in text and "sudo" not in text and "chown" not in text
        assert list(root.iterdir()) == []

    @pytest.mark.skipif(os.name != "posix", reason="rights are POSIX")
    @pytest.mark.parametrize("missing", [os.R_OK, os.W_OK, os.X_OK])
    def test_one_that_this_user_may_not_write_to(
        self, missing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Root may do everything, so that the system's answer is made up."""
        root = tmp_path / "theano"
        root.mkdir(0o700)
        monkeypatch.setattr(os, "access", lambda path, mode: not mode & missing)
        found = create_trusted(str(root))
        if missing == os.R_OK:
            assert found is None
        else:
            assert found == (str(root), "is not writable", f"chmod u+rwx {root}")
            root.chmod(0o770)
            assert create_trusted(str(root)) == (str(root), "is writable by other users", f"chmod g-w {root}")

    @pytest.mark.skipif(os.name != "posix", reason="rights are POSIX")
    def test_one_on_a_medium_that_cannot_be_written_to(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root = tmp_path / "theano"
        root.mkdir(0o700)
        monkeypatch.setattr("theano.cache.trust.read_only", lambda path: True)
        found = create_trusted(str(root))
        assert found is not None and found[:2] == (str(root), "is on a file system mounted read-only")
        assert "base_compiledir" in found.remedy
        root.chmod(0o770)
        found = create_trusted(str(root))
        assert found is not None and found[:2] == (str(root), "is writable by other users")

    def test_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        self.works_privately(CacheSettings(root=str(tmp_path / "file" / "cache")))

    def test_no_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("platformdirs.user_cache_dir", lambda *args, **kwargs: "~/.cache/theano")
        monkeypatch.setattr("os.path.expanduser", lambda path: path)
        assert "HOME" in self.works_privately(CacheSettings())

    def test_unusual_paths(self, tmp_path: Path) -> None:
        for name in ("spa ce:ünï", "x" * 200, 'quo\'te "$HOME" `id`', "new\nline"):
            cache = Cache(CacheSettings(root=str(tmp_path / name)))
            assert not cache.is_private
            assert look_up(cache) == [] and publish(cache, b"abc") and len(look_up(cache)) == 1

    def test_the_same_warning_comes_once(self, tmp_path: Path) -> None:
        root = tmp_path / "once"
        root.mkdir()
        root.chmod(0o777)
        with pytest.warns(CacheWarning):
            Cache(CacheSettings(root=str(root)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Cache(CacheSettings(root=str(root), size_cap=1))

    def test_disappears_in_mid_run(self, cache: Cache) -> None:
        publish(cache, b"abc")
        os.rename(cache.root, cache.root + "-away")
        assert look_up(cache) == []
        with pytest.raises(FileNotFoundError):
            publish(cache, b"abc")
        with pytest.warns(CacheWarning, match="private temporary"):
            cache.give_up(FileNotFoundError(2, "No such file or directory", cache.root))
        path = publish(cache, b"abc")
        assert look_up(cache) == [str(path)]

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
    def test_privileged_process_ignores_settings(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("theano.cache.trust.process_is_privileged", lambda: True)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        settings = CacheSettings(root=str(tmp_path / "mine"), readonly=(str(tmp_path),))
        assert not settings.directory().startswith(str(tmp_path))
        assert settings.pre_filled() == ()


class TestPreFilled:
    def test_second_directory_is_read_not_written(self, tmp_path: Path) -> None:
        shared = Cache(CacheSettings(root=str(tmp_path / "shared")))
        path = publish(shared, b"abc")
        for folder in (path.parent, Path(shared.root)):
            folder.chmod(0o555)
        before = sorted(map(str, Path(shared.root).rglob("*")))
        cache = Cache(CacheSettings(root=str(tmp_path / "own"), readonly=(shared.root,)))
        assert look_up(cache) == [str(path)]
        assert [found for _, found in cache.references(KERNEL)] == [str(path)]
        publish(cache, b"def")
        assert len(look_up(cache)) == 2
        assert sorted(map(str, Path(shared.root).rglob("*"))) == before

    def test_wrong_entries_stay_where_they_are(self, tmp_path: Path) -> None:
        shared = Cache(CacheSettings(root=str(tmp_path / "shared")))
        path = publish(shared, b"abc")
        path.chmod(0o700)
        path.write_bytes(b"abd")
        cache = Cache(CacheSettings(root=str(tmp_path / "own"), readonly=(shared.root,)))
        assert look_up(cache) == []
        cache.discard(str(path))
        assert path.exists()

    def test_untrusted_one_is_left_out(self, tmp_path: Path) -> None:
        shared = Cache(CacheSettings(root=str(tmp_path / "shared")))
        publish(shared, b"abc")
        os.chmod(shared.root, 0o777)
        with pytest.warns(CacheWarning, match="pre-filled"):
            cache = Cache(CacheSettings(root=str(tmp_path / "own"), readonly=(shared.root,)))
        assert look_up(cache) == []


class Faults:
    """Lets the n-th operation on files below a folder fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, below: str, error: int):
        self.below, self.error, self.count, self.fail_at = below, error, 0, -1
        for module, name in [
            (os, "mkdir"), (os, "open"), (os, "replace"), (os, "chmod"), (os, "listdir"), (os, "lstat"),
            (os, "unlink"), (os, "utime"), (builtins, "open"), (io, "open"),
        ]:  # fmt: skip
            monkeypatch.setattr(module, name, self.wrap(getattr(module, name)))

    def wrap(self, function):  # type: ignore[no-untyped-def]
        def wrapped(path, *args, **kwargs):  # type: ignore[no-untyped-def]
            if str(path).startswith(self.below):
                self.count += 1
                if self.count == self.fail_at:
                    raise OSError(self.error, os.strerror(self.error), str(path))
            return function(path, *args, **kwargs)

        return wrapped


@pytest.mark.parametrize("name", ["ENOSPC", "EDQUOT", "EIO", "EROFS", "ESTALE"])
def test_the_nth_operation_fails(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes and look-ups never raise; a publication raises OSError or succeeds, and leaves no wrong entry."""
    import errno

    cache = Cache(CacheSettings(root=str(tmp_path / "cache")))
    faults = Faults(monkeypatch, cache.root, getattr(errno, name))
    for number in range(1, 100):
        key = f"{number:032x}"
        faults.count, faults.fail_at = 0, number
        cache.add_note(key, "text")
        cache.notes(key)
        try:
            publish(cache, b"abc", key)
        except OSError:
            pass
        look_up(cache, key)
        done = faults.count < number
        faults.fail_at = -1
        publish(cache, b"abc", key)
        assert [Path(path).read_bytes() for path in look_up(cache, key)] == [b"abc"]
        if done:
            break
    assert done and number > 15


@pytest.mark.parametrize("shift", [-400 * 86400, 400 * 86400])
def test_clock_in_the_past_and_in_the_future(cache: Cache, shift: float) -> None:
    path = publish(cache, b"abc")
    os.utime(path, (time.time() + shift, time.time() + shift))
    assert look_up(cache) == [str(path)]
    assert abs(path.stat().st_mtime - time.time()) < 3600  # using it has renewed its stamp
