"""Build and check the files of a release, or say why this tree is not one.

    python tools/release.py                 (nox -s release) a tagged commit
    python tools/release.py --rehearse      the same of any commit, without asking for a tag
    python tools/release.py --all           wheels for Linux on x86-64 and aarch64, each version of Python, beside these
    python tools/release.py --version       print the version of all layers

Only what is committed gets in: sources are taken from git, not from the working tree. Everything goes to ``dist/``. The
wheels are made from the source archives, so these are known to build alone; they are for this machine, and for checks.
With ``--all``, wheels for many systems (``targets.py``) are made in their place, with auditwheel's verdict on each.
Those that users install are built, attested and uploaded by public CI (.github/workflows/wheels.yml) when the tag is
pushed: that needs the identity of a repository, and nobody's password.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import check_wheels
import targets
from check_wheels import LAYERS, LINKER, LINKER_NAME, Trouble, expect, run

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "packages/graph-core/src/theano/__init__.py"
BY_CI = """\
Not done here, and done by public CI when the tag is pushed (.github/workflows/wheels.yml):
  wheels for macOS and Windows, and all wheels tried on their systems
  attestation: a signed statement of which commit and which workflow each file comes from
  upload, by trusted publishing: the registry trusts the workflow of the repository, there is no token"""


def version(root: Path = ROOT) -> str:
    """Return the version of all layers as installers write it, from the one place where it stands.

    Examples
    --------
    >>> "-" in version()
    False
    """
    found = re.search('(?m)^__version__ = "(.+)"$', (root / SOURCE).read_text(encoding="utf-8"))
    expect(found is not None, f"{SOURCE} has no line __version__ = ...")
    return found[1].replace("-", "")


def git(root: Path, *arguments: str) -> str:
    """Return what git prints."""
    return run("git", "-C", root, *arguments).strip()


def archive_of(package: str, root: Path = ROOT) -> str:
    """Return the name of a package's source archive, by the folder of the package.

    Examples
    --------
    >>> archive_of("gpu-backend").partition("-")[0], archive_of("pytensor-linker").partition("-")[0]
    ('theano_gpu_backend', 'theano_pytensor')
    """
    name = LINKER_NAME if package == LINKER else f"theano-{package}"
    return f"{name.replace('-', '_')}-{version(root)}"


def fragments(root: Path) -> list[str]:
    """Return the names of the changes that are in no version yet."""
    return sorted(path.name for path in (root / "changes").glob("*.md") if path.name != "README.md")


def refusals(root: Path, tagged: bool) -> list[str]:
    """Return what speaks against a release of this tree.

    Parameters
    ----------
    root : Path
        The folder of a clone.
    tagged : bool
        The commit has to carry the tag of its version, and the changelog has to have it.
    """
    found = []
    changed = git(root, "status", "--porcelain").splitlines()
    if changed:
        found.append(f"{len(changed)} files are not as committed ({changed[0].strip()}): commit or stash them")
    if not tagged:
        return found
    wanted = f"v{version(root)}"
    here = [tag for tag in git(root, "tag", "--points-at", "HEAD").splitlines() if re.match(r"v\d", tag)]
    if wanted not in here and wanted in git(root, "tag").splitlines():
        found.append(f"the tag {wanted} is on another commit: raise the version in {SOURCE}, or check out {wanted}")
    elif wanted not in here:
        found.append(f"this commit does not have the tag {wanted}: git tag -s {wanted}, or --rehearse")
    for tag in here:
        if tag != wanted:
            found.append(f"this commit has the tag {tag}, and its version is {version(root)}, from {SOURCE}")
    if fragments(root):
        found.append(f"changes/ has {len(fragments(root))} files that are in no changelog: nox -s changelog -- --write")
    if not _section(root):
        found.append(f"CHANGELOG.md has no section {version(root)}: nox -s changelog -- --write")
    return found


def _section(root: Path) -> str:
    """Return what the changelog says of this version; "" if nothing."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^## {re.escape(version(root))} .*?(?=^## |\Z)", text)
    return found[0].strip() + "\n" if found else ""


def changelog(root: Path, write: bool = False) -> str:
    """Return the section of this version: a draft from the fragments, or what the changelog has.

    Parameters
    ----------
    root : Path
        The folder of a clone.
    write : bool
        Put it into CHANGELOG.md, and remove the fragments.
    """
    command = [sys.executable, "-m", "towncrier", "build", "--dir", root, "--version", version(root)]
    if fragments(root):
        draft = subprocess.run([*command, "--draft"], capture_output=True, text=True, check=False)
        expect(draft.returncode == 0, draft.stdout + draft.stderr)
        if write:
            run(*command, "--yes")
        return draft.stdout.strip() + "\n"
    return _section(root)


def clear(dist: Path) -> None:
    """Remove what an earlier run has left; refuse if something else is there."""
    dist.mkdir(exist_ok=True)
    for path in sorted(dist.iterdir()):
        ours = re.match(r"theano_.*(\.whl|\.tar\.gz)$|SHA256SUMS$|CHANGES\.md$", path.name)
        expect(ours is not None, f"{path} is not of a release: move it away")
        path.unlink()


def build(root: Path, dist: Path, only_archives: bool = False) -> dict[str, Path]:
    """Build a source archive of each package from what is committed, and a wheel from each archive; return the wheels.

    The linker for PyTensor has no compiled parts: its one wheel is built here in any case.
    """
    moment = git(root, "log", "-1", "--format=%ct")
    os.environ.setdefault("SOURCE_DATE_EPOCH", moment)  # two builds of a commit have the same times in them
    wheels = {}
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary)
        # Without tests: an archive would have some of them, without what they import.
        some = ("packages", ":(exclude,glob)packages/*/tests/**")
        run("git", "-C", root, "archive", "--output", sources / "sources.tar", "HEAD", *some)
        with tarfile.open(sources / "sources.tar") as archive:
            archive.extractall(sources, filter="data")
        os.environ["CCACHE_BASEDIR"] = tempfile.gettempdir()  # each run has folders of other names in it
        for package in (*LAYERS, LINKER):
            before = set(dist.glob("*.whl"))
            kind = ["--sdist"] if only_archives and package != LINKER else []
            source = sources / "packages" / package
            run(sys.executable, "-m", "build", *kind, "--no-isolation", "--outdir", dist, source)
            for wheel in set(dist.glob("*.whl")) - before:
                wheels[package] = wheel
                print(f"built {wheel.name}", flush=True)
    return wheels


def build_for_all(root: Path, dist: Path) -> None:
    """Build the wheels of all targets from the source archives, and check each set."""
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary)
        for layer in LAYERS:
            name = archive_of(layer, root)
            with tarfile.open(dist / f"{name}.tar.gz") as archive:
                archive.extractall(sources, filter="data")
            (sources / name).rename(sources / layer)
        for target, wheels in targets.build_all(sources, dist, LAYERS):
            check(root, dist, wheels, target.machine)
            print(f"built for Python {target.python} on {target.machine}", flush=True)


def check(root: Path, dist: Path, wheels: dict[str, Path], machine: str = platform.machine()) -> None:
    """See that the metadata are accepted, each file has one owner, and all have this version and pin each other."""
    check_wheels.check_owners(check_wheels.owners(wheels), machine)
    check_wheels.check_metadata(wheels)
    wanted = {archive_of(layer, root) for layer in LAYERS}
    archives = {path.name.removesuffix(".tar.gz") for path in dist.glob("*.tar.gz")} - {archive_of(LINKER, root)}
    expect(archives == wanted, f"source archives of other names: {archives ^ wanted}")
    built = {"-".join(path.name.split("-")[:2]) for path in wheels.values()}
    expect(built == wanted, f"wheels of other names: {built ^ wanted}")
    files = [*wheels.values(), *sorted(dist.glob("*.tar.gz"))]
    print(run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", *files).strip())


def sums(dist: Path) -> str:
    """Return the lines of SHA256SUMS, as ``sha256sum --check`` reads them."""
    files = sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rehearse", action="store_true", help="no tag is needed; the changelog is a draft")
    parser.add_argument("--all", action="store_true", help="wheels for other machines and versions of Python, too")
    parser.add_argument("--version", action="store_true", help="print the version and end")
    parser.add_argument("--changelog", action="store_true", help="print what is new and end")
    parser.add_argument("--write", action="store_true", help="with --changelog: put it into CHANGELOG.md")
    options = parser.parse_args(arguments)
    if options.version or options.changelog:
        print(version() if options.version else changelog(ROOT, options.write), end="\n" if options.version else "")
        return 0
    against = refusals(ROOT, tagged=not options.rehearse)
    for refusal in against:
        print(f"REFUSED {refusal}", file=sys.stderr)
    if against:
        return 1
    dist = ROOT / "dist"
    clear(dist)
    wheels = build(ROOT, dist, only_archives=options.all)
    check_wheels.check_linker(wheels.pop(LINKER))
    if options.all:
        build_for_all(ROOT, dist)
    else:
        check(ROOT, dist, wheels)
    (dist / "CHANGES.md").write_text(changelog(ROOT), encoding="utf-8")
    (dist / "SHA256SUMS").write_text(sums(dist), encoding="utf-8")
    print(f"\n{'A rehearsal: no tag. ' if options.rehearse else ''}Theano {version()} in {dist}:")
    for path in sorted(dist.iterdir()):
        print(f"  {path.name}: {path.stat().st_size / 1024:.0f} KiB")
    print(BY_CI)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"TROUBLE {trouble}", file=sys.stderr)
        sys.exit(1)
