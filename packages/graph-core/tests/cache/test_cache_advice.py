"""No advice names anything that is not ours: kinds of places, owners and modes, each against what was laid out."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import stat
import tempfile
import types
from pathlib import Path

import pytest

from theano.cache import trust
from theano.cache.store import Cache, CacheSettings, create_trusted
from theano.errors import CacheWarning

pytestmark = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
ME, STRANGER = os.geteuid() if os.name == "posix" else 0, 54321
MODES = (0o700, 0o500, 0o770, 0o707, 0o777, 0o1777, 0o3770, 0o2770)
COMMAND = re.compile(r"\b(?:chmod|chown|sudo|rm|mv|setfacl|mount)\b")

# Where the compiled code is to be, below a folder that has all kinds of places; whether that is ours if it is.
PLACES = {
    "home/.cache/theano": True,
    "home/theano/compiled": True,
    "home/theano spa'ce": True,
    "fast/theano-compiled": True,
    "home": False,
    "home/.cache": False,
    "home/src": False,
    "home/compiled": False,
    "tmp": False,
    "tmp/theano": True,
    "other/theano": True,
    "home/.cache/theano-link": False,  # a link to home/src
    "linked/theano": False,  # linked: a link to home/.cache
    ".": False,
}
LSTAT = os.lstat
FAULTS = ("root", "parent", "grandparent")


def lay_out(top: Path, root: Path) -> None:
    """Make everything that the table speaks of."""
    for place in ("home/.cache", "home/src", "tmp", "fast", "other"):
        (top / place).mkdir(parents=True)
    (top / "home/.cache/theano-link").symlink_to(top / "home/src")
    (top / "linked").symlink_to(top / "home/.cache")
    root.mkdir(parents=True, exist_ok=True)
    (top / "tmp").chmod(0o1777)
    (root / "precious").write_text("")


def check(remedy: str, allowed: Path | None) -> None:
    """Hold an advice to what may be changed at all."""
    if not COMMAND.search(remedy):
        return
    words = shlex.split(remedy)
    assert allowed is not None, remedy
    assert words[0] == "chmod" and len(words) == 3 and words[2] == str(allowed), remedy
    info = os.lstat(allowed)
    assert info.st_uid == ME and not info.st_mode & stat.S_ISVTX and not allowed.is_symlink()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mount", ["plain", "read-only"])
def test_advice(place: str, fault: str, mount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / place
    lay_out(tmp_path, root)
    target = {"root": root, "parent": root.parent, "grandparent": root.parent.parent}[fault]
    if not target.resolve().is_relative_to(tmp_path.resolve()):
        pytest.skip("outside of what was laid out")
    original = os.lstat(target).st_mode
    if mount == "read-only":
        real = os.statvfs

        def statvfs(path: str) -> object:
            facts = real(path)
            return types.SimpleNamespace(f_flag=facts.f_flag | os.ST_RDONLY, f_bavail=1 << 30, f_frsize=4096,
                                         f_files=9, f_favail=99)  # fmt: skip

        monkeypatch.setattr(os, "statvfs", statvfs)
    advised = 0
    for owner, mode in itertools.product((ME, STRANGER), MODES):
        os.chown(target, owner, owner)
        os.chmod(target, mode)
        ours = PLACES[place] and fault == "root" and owner == ME and mount == "plain" and not mode & stat.S_ISVTX
        for found in (create_trusted(str(root)), create_trusted(str(root / "theano" / "new"))):
            if found is None:
                continue
            assert found.remedy, found
            check(found.remedy, root if ours else None)
            advised += "chmod" in found.remedy
        found = create_trusted(str(root))
        if found is not None and COMMAND.search(found.remedy):
            assert os.system(found.remedy) == 0 and create_trusted(str(root)) is None  # the advice is the cure
    os.chown(target, ME, ME)
    os.chmod(target, stat.S_IMODE(original) if not target.is_symlink() else 0o755)
    assert (advised > 0) == (PLACES[place] and fault == "root" and mount == "plain")


@pytest.mark.parametrize("place", ["/", "/tmp", "/home", "/root", "/usr", tempfile.gettempdir(), os.path.expanduser("~")])
def test_never_the_systems_own(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for mode, owner in itertools.product((0o777, 0o1777, 0o770), (ME, STRANGER)):

        def lstat(path: str, mode: int = mode, owner: int = owner) -> object:
            facts = LSTAT(path)
            if os.path.normpath(path) != place:
                return facts
            return types.SimpleNamespace(st_mode=stat.S_IFDIR | mode, st_uid=owner, st_gid=owner, st_nlink=2)

        with monkeypatch.context() as patch:
            patch.setattr(os, "lstat", lstat)
            for root in (place, os.path.join(place, "theano")):
                found = trust.directory_refusal(place, root=root)
                assert found is None or not COMMAND.search(found.remedy)
                assert not trust.is_ours(place, root)


def test_entries_are_named_only(tmp_path: Path) -> None:
    for owner, mode in itertools.product((ME, STRANGER), (0o400, 0o622, 0o666, 0o777)):
        path = tmp_path / "entry"
        path.touch()
        os.chown(path, owner, owner)
        path.chmod(mode)
        found = trust.file_refusal(str(path), path.lstat(), root_may_own=False)
        assert found is None or not COMMAND.search(found.remedy)


def test_pre_filled_directories(tmp_path: Path) -> None:
    for name, owner, mode in itertools.product(("shared", "theano"), (ME, STRANGER), (0o777, 0o1777)):
        path = tmp_path / f"{name}-{owner}-{mode}"
        path.mkdir()
        os.chown(path, owner, owner)
        path.chmod(mode)
        with pytest.warns(CacheWarning) as caught:
            Cache(CacheSettings(root=str(tmp_path / "own"), readonly=(str(path),)))
        text = str(caught[0].message)
        assert str(path) in text
        if (name, owner, mode) == ("theano", ME, 0o777):
            assert f"chmod go-w {path}" in text
        else:
            assert "cache.readonly" in text and not COMMAND.search(text.replace(str(path), ""))
