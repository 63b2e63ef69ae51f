"""Caches that somebody damaged, mixed up, or took rights from; caches in odd places; and the command that cleans up.

Whatever lies in a cache, a process computes what NumPy does, and no file that is not the cache's own is touched.
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from hostile.finding import Finding, expect
from hostile.victim import command, ended, hold_to_right
from theano.cache.names import EntryName, digest_of

FILLED = range(3)  # seeds of the samples that a cache is filled with
COUNT = 3  # samples of each
ODD = ("with space", "new\nline", "quote'\"s", "ünïcödé-名前", "sur\udcffrogate", "$(touch injected)", "-rf", "~",
       "%s{}", "semi;colon", "back\\slash", "*", "a=b,c=d", "long" * 60, "#comment", "tab\t")  # fmt: skip


def environment(place: Path) -> dict[str, str]:
    """Return the environment in which the cache is in ``place/theano``."""
    kept = {name: value for name, value in os.environ.items() if name != "THEANO_FLAGS"}
    return {**kept, "XDG_CACHE_HOME": str(place)}


@functools.cache
def filled() -> Path:
    """Return a cache with units, plans, notes and references in it, made once."""
    place = Path(tempfile.mkdtemp(prefix="filled-", dir=Path(os.environ["THEANO_FLAGS"].partition("=")[2]).parent))
    for seed in FILLED:
        hold_to_right(ended(command("check", seed, COUNT), environment(place)), "a good cache")
    return place / "theano"


def attack(rng: np.random.Generator) -> Finding | None:
    """Damage a cache, use it, clean it with the command, use it again."""
    with tempfile.TemporaryDirectory(prefix="damage-", ignore_cleanup_errors=True) as folder:
        odd = str(rng.choice(ODD)) if rng.random() < 0.25 else "plain"
        place = Path(folder) / odd
        root = place / "theano"
        shutil.copytree(filled(), root)
        said = [f"in {odd!r}"]
        for _ in range(int(rng.integers(1, 6))):
            damage = DAMAGES[rng.integers(len(DAMAGES))]
            said.append(f"{damage.__name__}: {damage(root, rng)}")
        foreign = plant_foreign(Path(folder), root, rng)
        try:
            _use(place, rng, said)
            before = snapshot(foreign)
            _tidy(place, root, rng, said)
            changed = [str(path) for path, was in before.items() if snapshot([path]) != {path: was}]
            expect(not changed, "the command changed what is not the cache's own", f"{changed}")
            expect(not Path("injected").exists(), "a path was executed")
            _use(place, rng, said)
        except Finding as found:
            found.details = "\n".join([*said, found.details])
            raise
    return None


def _use(place: Path, rng: np.random.Generator, said: list[str]) -> None:
    seed = int(rng.choice(FILLED))
    options: dict[str, Callable[[], None]] = {}
    if rng.random() < 0.15:
        size = int(rng.choice([0, 1, 512, 4096, 20000]))
        said.append(f"no file may grow beyond {size} bytes")
        options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    said.append(f"check {seed}")
    # Where nothing can be written, a process may say so, but not fall.
    hold_to_right(ended(command("check", seed, COUNT), environment(place), **options), "use", may_refuse=bool(options))


def _tidy(place: Path, root: Path, rng: np.random.Generator, said: list[str]) -> None:
    words = {"list": [], "verify": ["--keep"][: rng.integers(2)], "clear": [], "purge": [], "where": []}
    for _ in range(int(rng.integers(1, 4))):
        word = str(rng.choice(list(words)))
        said.append(word)
        end = ended(command("cache", word, *words[word]), environment(place))
        expect(not end.hung and end.status in (0, 1), f"theano-cache {word} fails", end.said)
        expect("Traceback" not in end.err, f"theano-cache {word} raises", end.said)


# ---- damages: each does something to a cache's files, and says what


def files_of(root: Path) -> list[Path]:
    """Return the files of a cache in a fixed order."""
    return sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def _some_file(root: Path, rng: np.random.Generator) -> Path:
    """Return a file of the cache, or the path of none where earlier damage left none."""
    files = files_of(root)
    return files[rng.integers(len(files))] if files else root / f"none-{rng.integers(10**9)}"


def flip(root: Path, rng: np.random.Generator) -> str:
    """Change some bytes."""
    path = _some_file(root, rng)
    data = bytearray(path.read_bytes()) if path.is_file() else bytearray()
    for _ in range(int(rng.integers(1, 5))):
        if data:
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return _rewrite(path, bytes(data), rng)


def cut(root: Path, rng: np.random.Generator) -> str:
    """Leave a beginning, or nothing."""
    path = _some_file(root, rng)
    data = path.read_bytes() if path.is_file() else b""
    return _rewrite(path, data[: int(rng.integers(len(data) + 1)) if rng.random() < 0.7 else 0], rng)


def zero(root: Path, rng: np.random.Generator) -> str:
    """Put zeros in its place, as file systems do after a crash."""
    path = _some_file(root, rng)
    return _rewrite(path, bytes(path.stat().st_size if path.is_file() else 0), rng)


def _rewrite(path: Path, data: bytes, rng: np.random.Generator) -> str:
    if path.parent.is_dir():
        path.unlink(missing_ok=True)
        path.write_bytes(data)
    return f"{path.name}, {len(data)} bytes left"


def swap(root: Path, rng: np.random.Generator) -> str:
    """Give an entry's content, digest and all, to another's key."""
    entries = [(path, name) for path in files_of(root) if (name := EntryName.parse(path.name)) is not None]
    if len(entries) < 2:
        return "nothing"
    path, name = entries[rng.integers(len(entries))]
    alike = [(p, n) for p, n in entries if n.kind == name.kind and n.key != name.key]
    if not alike:
        return "nothing"
    other, other_name = alike[rng.integers(len(alike))]
    data = other.read_bytes()
    path.unlink()
    to = path.with_name(EntryName(name.key, other_name.digest, name.kind).file)
    to.write_bytes(data)
    to.chmod(0o500)
    return f"{other.name} as {to.name}"


def forge(root: Path, rng: np.random.Generator) -> str:
    """Put random bytes under an entry's key, with the digest that belongs to them."""
    entries = [(path, name) for path in files_of(root) if (name := EntryName.parse(path.name)) is not None]
    if not entries:
        return "nothing"
    path, name = entries[rng.integers(len(entries))]
    data = path.read_bytes()
    kept = data[: int(rng.integers(len(data) + 1))]
    data = kept + rng.bytes(int(rng.integers(0, 2000))) if name.kind != "so" else b"\x7fELF" + rng.bytes(500)
    path.unlink()
    to = path.with_name(EntryName(name.key, digest_of(data), name.kind).file)
    to.write_bytes(data)
    to.chmod(0o500)
    return f"{to.name}"


def lose(root: Path, rng: np.random.Generator) -> str:
    """Remove an entry or a folder."""
    path = _some_file(root, rng)
    if rng.random() < 0.3:
        shutil.rmtree(path.parent, ignore_errors=True)
        return f"{path.parent.name} is gone"
    path.unlink(missing_ok=True)
    return f"{path.name} is gone"


def directory(root: Path, rng: np.random.Generator) -> str:
    """Put a directory in the place of a file, or a file in that of a folder."""
    path = _some_file(root, rng)
    if rng.random() < 0.5 and path.parent != root:
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.write_bytes(b"a file")
        return f"{path.parent.name} is a file"
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    return f"{path.name} is a directory"


def link(root: Path, rng: np.random.Generator) -> str:
    """Put a symbolic link, a second name or a pipe in the place of a file."""
    path = _some_file(root, rng)
    if not path.is_file():
        return "nothing"
    aside = root.parent / f"aside-{rng.integers(10**9)}"
    how = int(rng.integers(4))
    if how == 0:
        path.rename(aside)
        path.symlink_to(aside)
    elif how == 1:
        os.link(path, aside)
    elif how == 2:
        path.unlink()
        os.mkfifo(path)
    else:
        path.unlink()
        path.symlink_to(path)
    return f"{path.name}: {('a link', 'two names', 'a pipe', 'a link to itself')[how]}"


def rights(root: Path, rng: np.random.Generator) -> str:
    """Change the mode or the owner of a file, a folder or the cache."""
    path = [_some_file(root, rng), _some_file(root, rng).parent, root][rng.integers(3)]
    if not path.exists():
        return "nothing"
    if os.geteuid() == 0 and rng.random() < 0.4:
        os.chown(path, 12345, 12345)
        return f"{path.name} belongs to another user"
    mode = int(rng.choice([0, 0o400, 0o500, 0o644, 0o777, 0o666, 0o1777, 0o700]))
    path.chmod(mode)
    return f"{path.name} has mode {mode:o}"


def age(root: Path, rng: np.random.Generator) -> str:
    """Set a clock wrong."""
    path = _some_file(root, rng)
    when = float(rng.choice([0.0, 1e9, 4e9, 1e11]))
    if path.exists():
        os.utime(path, (when, when))
    return f"{path.name} is of {when:g}"


def strangers(root: Path, rng: np.random.Generator) -> str:
    """Add files with the names of entries, stages and stamps, and with none."""
    digits = "".join(rng.choice(list("0123456789abcdef"), 64))
    data = rng.bytes(100)
    names = [
        f"{digits[:2]}/{digits[:32]}.{digits[32:]}.so", f"{digits[:2]}/{digits[:32]}.{digest_of(data)}.plan",
        f".stage-1-{int(rng.integers(10**6))}-{digits[:8]}-x", ".swept/x", f"{digits[:2]}/{digits[:32]}..so",
    ]  # fmt: skip
    path = root / names[rng.integers(len(names))]
    return f"{path.name}{'' if _planted(path, data) else ', for which there is no place'}"


DAMAGES = (flip, cut, zero, swap, swap, forge, forge, lose, directory, link, rights, age, strangers)


def _planted(path: Path, data: bytes) -> bool:
    """Write a file and the folders above it; return False where earlier damage has put something else there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except (NotADirectoryError, FileExistsError, IsADirectoryError):
        return False
    return True


# ---- what is not the cache's own


def plant_foreign(folder: Path, root: Path, rng: np.random.Generator) -> list[Path]:
    """Put files of other users into a cache and beside it; return them."""
    outside = folder / "outside"
    (outside / "ab").mkdir(parents=True)
    hexdigits = "0123456789abcdef"
    commit = "".join(rng.choice(list(hexdigits), 38))
    paths = [outside / "ab" / commit, outside / "notes.txt"]
    if root.is_dir():
        bucket = root / "".join(rng.choice(list(hexdigits), 2))
        paths += [root / "README", bucket / commit, bucket / "deep" / "er" / "file", root / "zz" / "x"]
        if not (root / "ef").exists():
            (root / "ef").symlink_to(outside / "ab")
    return [path for path in paths if _planted(path, rng.bytes(20))]


def snapshot(paths: list[Path]) -> Mapping[Path, bytes | None]:
    """Return what files hold."""
    return {path: path.read_bytes() if path.is_file() else None for path in paths}
