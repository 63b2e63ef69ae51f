"""Do something with this repository, with nothing installed but Python.

    python3 tools/run.py example         set up an environment and train the digits
    python3 tools/run.py example lenet   or run another program of examples/
    python3 tools/run.py                 set up environments and pass every check
    python3 tools/run.py tests lint      only these; nox -l explains all names

It makes a virtual environment with nox in .nox/run, once, and hands over to noxfile.py. What follows ``--`` goes
to the session: ``python3 tools/run.py example -- --epochs 5``. Where every check is asked for, the sessions of one
process run beside the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".nox" / "run"
NOX = "nox>=2024.10"


def main(arguments: list[str]) -> int:
    """Install nox if need be, and run it."""
    if sys.version_info < (3, 11):  # noqa: UP036  (this file is what users start with an old Python)
        print("This needs Python 3.11 or newer; it is started with", sys.version.split()[0], file=sys.stderr)
        return 2
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    python = HOME / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if subprocess.call([python, "-c", "import nox"], stderr=subprocess.DEVNULL) if python.exists() else True:
        print("Setting up nox in .nox/run ...", flush=True)
        venv.create(HOME, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", NOX], check=True)
    if not arguments:
        return _everything([str(python), "-m", "nox", "-f", str(ROOT / "noxfile.py")])
    split = arguments.index("--") if "--" in arguments else len(arguments)
    names, rest = arguments[:split], arguments[split:]
    if names[:1] == ["example"]:
        names, rest = names[:1], ["--", *names[1:], *rest[1:]]
    sessions = ["-s", *names] if names and not names[0].startswith("-") else names
    return subprocess.call([python, "-m", "nox", "-f", str(ROOT / "noxfile.py"), *sessions, *rest])


def _everything(nox: list[str]) -> int:
    """Run all checks in two processes, print what the second said when the first is done, and last what failed.

    The layers are built first: no other session builds them again, or writes over a library that a test has loaded.
    """
    if built := subprocess.call([*nox, "-s", "build"]):
        return built
    with tempfile.TemporaryFile() as said:
        beside = subprocess.Popen([*nox, "--tags", "serial"], stdout=said, stderr=subprocess.STDOUT)
        tests = subprocess.Popen([*nox, "--tags", "parallel"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            lines = list(map(_passed_on, tests.stdout or ()))
            codes = tests.wait(), beside.wait()
        finally:
            tests.kill()
            beside.kill()
        said.seek(0)
        lines += map(_passed_on, said)
    _passed_on("\n".join(["", *what_failed(b"".join(lines).decode("utf-8", "replace")), ""]).encode())
    return codes[0] or codes[1]


def _passed_on(line: bytes) -> bytes:
    """Write a line at once, and return it."""
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    return line


def what_failed(said: str, most: int = 120) -> list[str]:
    r"""Return how each session ended, and before that the last lines of each command that failed.

    Of a long output one often sees the end alone, and what ran beside the tests comes after them.

    >>> said = "nox > pytest\nassert 1 == 2\nnox > Command pytest failed with exit code 1\nnox > mypy\nfine"
    >>> print(*what_failed(said + "\nnox > * tests: failed\nnox > * types: success"), sep="\n")
    assert 1 == 2
    nox > Command pytest failed with exit code 1
    nox > * tests: failed
    nox > * types: success
    """
    shown, ends, since = [], [], 0
    lines = said.splitlines()
    for k, line in enumerate(lines):
        if not line.startswith("nox > "):
            continue
        if line.startswith("nox > * "):
            ends.append(line)
        elif " failed with exit code " in line:
            shown += lines[max(since, k - most) : k + 1]
        since = k + 1
    return shown + ends


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
