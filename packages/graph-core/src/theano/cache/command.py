"""The command ``theano-cache`` (also ``python -m theano.cache``): look at the cache, check it, empty it, fill it."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import stat
import subprocess
import sys
import time
from collections.abc import Sequence

from theano.cache.contents import Contents, Item, survey
from theano.cache.names import NOTE, PLAN, SOURCE, UNIT, EntryName
from theano.cache.ownership import (
    MARK,
    STAMP,
    foreign_files,
    is_marked,
    refusal_to_manage,
    refusal_to_remove,
    remove_entry,
)
from theano.cache.staging import reclaim_stage
from theano.cache.store import CacheSettings, create_trusted, open_cache, read_verified
from theano.cache.transfer import TransferError, pack, unpack
from theano.cache.trust import directory_refusal, is_ours, open_regular
from theano.records import replace

DAY = 86400.0
MAX_LINES = 10
"""More things than this that are left are only counted."""


def main(arguments: Sequence[str] | None = None, settings: CacheSettings | None = None) -> int:
    """Run the command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the command's name; ``sys.argv`` unless given.
    settings : CacheSettings, optional
        Which cache; that of ``theano.config`` unless given.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> main(["--root", folder + "/cache", "list"])
    no compiled units
    0
    """
    options = _parser().parse_args(arguments)
    settings = settings or configured_settings()
    if options.root:
        settings = replace(settings, root=options.root)
    status: int = options.run(settings, options)
    return status


def configured_settings() -> CacheSettings:
    """Return the cache that ``theano.config`` names: this command is an edge, where settings are read."""
    from theano.settings import config  # not at import: below the edge, the cache knows nothing of settings

    return CacheSettings.from_config(config)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="theano-cache", description="The cache of compiled functions.")
    parser.add_argument("--root", help="another cache directory than the configured one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=text, description=text)
        found.set_defaults(run=run)
        return found

    command("list", _list, "show each compiled unit: size, age, kernels")
    command("where", _where, "show the directory, its size and whether it can be trusted")
    command("verify", _verify, "check each entry against its name; remove what is wrong").add_argument(
        "--keep", action="store_true", help="only report"
    )
    command("export", _export, "write all entries into one file").add_argument("file", metavar="FILE")
    command("import", _import, "take the entries of a file that export wrote").add_argument("file", metavar="FILE")
    command("clear", _clear, "remove all entries")
    command("purge", _purge, "remove all entries, and the directory if nothing else is in it")
    warm = command("warm", _warm, "run a script to fill a cache that others may use read-only")
    warm.add_argument(
        "--into", "--to", dest="to", metavar="DIR", help="the directory to fill; the configured one unless given"
    )
    warm.add_argument("script", metavar="SCRIPT")
    warm.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="passed to the script")
    return parser


def size_text(count: float) -> str:
    """Write a number of bytes for users.

    Examples
    --------
    >>> size_text(15360), size_text(3)
    ('15.0 kB', '3 B')
    """
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("kB", "MB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} GB"


def age_text(seconds: float) -> str:
    """Write an age for users.

    Examples
    --------
    >>> age_text(30), age_text(7200), age_text(200000)
    ('now', '2 h', '2 d')
    """
    if seconds < 60:
        return "now"
    for name, length in (("d", DAY), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.0f} {name}"
    return "now"


def _list(settings: CacheSettings, options: argparse.Namespace) -> int:
    if not _may_manage(settings.directory()):
        return 1
    contents = survey(settings.directory())
    kernels: dict[str, int] = {}
    for _, reference in contents.references:
        kernels[reference.unit.file] = kernels.get(reference.unit.file, 0) + 1
    now = time.time()
    for item in sorted(contents.units, key=lambda item: -item.used):
        count = kernels.get(item.name.file, 0)
        print(
            f"{item.name.key[:12]}  {size_text(item.size):>9}  {age_text(now - item.used):>6}  "
            f"{count:3d} kernel{'s' if count != 1 else ' '}  {_expressions(item)}".rstrip()
        )
    print(_total(contents, settings) if contents.units or contents.plans else "no compiled units")
    return 0


def _total(contents: Contents, settings: CacheSettings) -> str:
    """Return how much there is of what counts against the cap."""
    plans = f" and {len(contents.plans)} plans of functions" if contents.plans else ""
    together = size_text(contents.unit_bytes + contents.plan_bytes)
    return f"{len(contents.units)} units{plans}, {together} of {size_text(settings.size_cap)}"


def _expressions(item: Item) -> str:
    """Return what a unit computes, from the comments of its source."""
    beside = item.path.rpartition(".")[0] + "." + SOURCE
    try:
        with open(open_regular(beside), encoding="utf-8", errors="replace") as file:
            comments = [line[3:-4].strip() for line in file if line.startswith("/* ") and line.endswith(" */\n")]
    except OSError:
        return ""
    text = ", ".join(comments[2:])  # the first two speak of the file
    return text if len(text) <= 60 else text[:57] + "..."


def _where(settings: CacheSettings, options: argparse.Namespace) -> int:
    root = settings.directory()
    print(root or "(no place: the home directory is not known)")
    refusal = create_trusted(root)
    contents = survey(root)
    print(_total(contents, settings))
    print("trusted: only you can write to it" if refusal is None else f"NOT USED: {refusal}")
    unmanaged = refusal_to_manage(root) if refusal is None and os.listdir(root) else ""
    if unmanaged:
        print(f"used, but never swept or cleared: it {unmanaged}")
    for path in settings.pre_filled():
        other = directory_refusal(path)
        print(f"{path} (read-only): {'trusted' if other is None else f'NOT USED: {other}'}")
    return 0 if refusal is None else 1


def _verify(settings: CacheSettings, options: argparse.Namespace) -> int:
    root = settings.directory()
    if not _may_manage(root):
        return 1
    contents = survey(root)
    bad: list[tuple[str, EntryName]] = []
    for item in contents.units + contents.plans + contents.notes:
        try:
            right = read_verified(item.path, item.name, root_may_own=False) is not None
        except OSError:
            right = False
        if not right:
            bad.append((item.path, item.name))
    names = {item.name for item in contents.units}
    dangling = [(path, reference) for path, reference in contents.references if reference.unit not in names]
    for path, name in bad:
        stays = "" if options.keep else remove_entry(path, name)
        print(f"wrong: {path}" + ("" if options.keep else f" (left: it {stays})" if stays else " (removed)"))
    if not options.keep:
        for path, reference in dangling:
            remove_entry(path, reference)
    good = len(contents.units) + len(contents.plans) + len(contents.notes) - len(bad)
    print(f"{good} entries are right, {len(bad)} wrong, {len(dangling)} references to nothing")
    return 1 if bad else 0


def _may_manage(root: str) -> bool:
    """Say whether this is a cache, in which alone this command touches anything; print why not."""
    refusal = refusal_to_manage(root) if os.path.lexists(root) else ""
    if refusal:
        print(f"nothing was touched: {root} {refusal}")
    return not refusal


def _remove_all(contents: Contents) -> list[str]:
    """Remove all entries and the leftovers of dead processes, report that; return the rest and why it stays."""
    left = []
    removed: dict[str, int] = {}

    def note(what: str, path: str, refusal: str) -> bool:
        if refusal:
            left.append(f"{path}: {refusal}")
        else:
            removed[what] = removed.get(what, 0) + 1
        return not refusal

    size = 0
    for item in contents.entries:
        size += note(item.name.kind, item.path, remove_entry(item.path, item.name)) and item.size
    for path, reference in contents.references:
        note("ref", path, remove_entry(path, reference))
    for path, stage in contents.stages:
        note("stage", path, reclaim_stage(path, stage))
    words = {UNIT: "units", PLAN: "plans", NOTE: "notes", SOURCE: "sources", "ref": "references"}
    words["stage"] = "working directories of processes that have ended"
    parts = [f"{removed.get(UNIT, 0)} units"]
    parts += [f"{removed[kind]} {word}" for kind, word in words.items() if kind != UNIT and kind in removed]
    print(f"removed {', '.join(parts)}; {size_text(size)}")
    return left


def _print_left(left: list[str]) -> None:
    for line in left[:MAX_LINES]:
        print(f"left {line}")
    if len(left) > MAX_LINES:
        print(f"left {len(left) - MAX_LINES} more")


def _clear(settings: CacheSettings, options: argparse.Namespace) -> int:
    root = settings.directory()
    if not _may_manage(root):
        return 1
    _print_left(_remove_all(survey(root)))
    return 0


def _purge(settings: CacheSettings, options: argparse.Namespace) -> int:
    root = settings.directory()
    if not os.path.lexists(root):
        print(f"{root} does not exist")
        return 0
    if not _may_manage(root):
        return 1
    contents = survey(root)
    left = _remove_all(contents)
    left += [f"{path}: {reason}" for path, reason in foreign_files(root)]
    for bucket in contents.buckets:
        with contextlib.suppress(OSError):
            os.rmdir(bucket)  # one that is not empty stays
    for path in [os.path.join(root, STAMP), *([os.path.join(root, MARK)] if is_marked(root) else [])]:
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.lstat(path).st_mode):
                os.unlink(path)
    try:
        os.rmdir(root)
    except OSError as error:
        # Files of other origin are never deleted.
        _print_left(left)
        print(f"{root} stays: {error.strerror}")
        return 1
    print(f"removed {root}")
    return 0


def _export(settings: CacheSettings, options: argparse.Namespace) -> int:
    root = settings.directory()
    if not _may_manage(root):
        return 1
    try:
        count = pack(root, options.file)
    except OSError as error:
        print(f"{options.file} was not written: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"{options.file}: {count} entries, {size_text(os.path.getsize(options.file))}")
    return 0


def _import(settings: CacheSettings, options: argparse.Namespace) -> int:
    refusal = create_trusted(settings.directory())
    if refusal is not None:
        print(f"nothing was imported, since the cache cannot be used: {refusal}", file=sys.stderr)
        return 1
    try:
        new, count = unpack(options.file, open_cache(settings))
    except TransferError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{options.file} was not imported: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"{settings.directory()}: {new} new entries of {count}")
    return 0


def _warm(settings: CacheSettings, options: argparse.Namespace) -> int:
    root = os.path.abspath(options.to) if options.to else settings.directory()
    if any(mark in root for mark in ",="):
        print(f"THEANO_FLAGS cannot name a directory with a comma or an equals sign: {root}", file=sys.stderr)
        return 2
    refusal = create_trusted(root)
    foreign = refusal_to_manage(root) if refusal is None and os.listdir(root) else ""
    if refusal is not None or foreign:
        print(f"cannot fill it: {refusal or f'{root} {foreign}'}", file=sys.stderr)
        return 1
    flags = [flag for flag in os.environ.get("THEANO_FLAGS", "").split(",") if flag.strip()]
    # What other caches have would not be compiled into this one.
    alone = [f"compiledir={root}", "base_compiledir=", "cache.readonly="]
    environment = {**os.environ, "THEANO_FLAGS": ",".join([*flags, *alone])}
    status = subprocess.run(
        [sys.executable, options.script, *options.arguments], env=environment, check=False
    ).returncode
    contents = survey(root)
    open_for_reading(root)
    print(f"{root}: {len(contents.units)} units, {size_text(contents.unit_bytes)}")
    if os.name == "posix" and os.geteuid() != 0:
        how = f"sudo chown -R root {shlex.quote(root)}" if is_ours(root, root) else "let root own a copy of it"
        print(f"for other users: {how}")
    print(f"to use it read-only: THEANO_FLAGS=cache.readonly={root}, or as base_compiledir=DIR{os.pathsep}{root}")
    if status:
        print(f"the script ended with status {status}", file=sys.stderr)
    return 1 if status else 0


def open_for_reading(root: str) -> None:
    """Let all users read a cache, and its owner alone write to it."""
    contents = survey(root)
    for path, stage in contents.stages:
        reclaim_stage(path, stage)
    files = [item.path for item in contents.entries] + [path for path, _ in contents.references]
    for folder in {root, *map(os.path.dirname, files)}:
        os.chmod(folder, 0o755)
    for item in contents.entries:
        if not refusal_to_remove(item.path, item.name):
            os.chmod(item.path, 0o555 if item.name.kind == UNIT else 0o444)
    for path, _ in contents.references:
        os.chmod(path, 0o444)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(root, STAMP))  # a read-only cache is never swept


if __name__ == "__main__":
    sys.exit(main())
