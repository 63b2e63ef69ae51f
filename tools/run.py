"""Do something with this repository, with nothing installed but Python.

    python3 tools/run.py example         set up an environment and train the digits
    python3 tools/run.py example lenet   or run another program of examples/
    python3 tools/run.py                 set up environments and pass every check
    python3 tools/run.py full            try all cases, too, and what only a night has time for
    python3 tools/run.py tests lint      only these; nox -l explains all names

It makes a virtual environment with nox and uv in .nox/run, once, and hands over to noxfile.py. What follows ``--`` goes
to the session: ``python3 tools/run.py example -- --epochs 5``. Every check runs in two processes of nox. A test that
fails there is run once more at the end, when nothing else runs: if it passes then, it is listed as unstable, and counts
as passed. The last screen is a summary.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import IO

if sys.version_info < (3, 11):  # noqa: UP036  (this file is what users start with an old Python)
    sys.exit("This needs Python 3.11 or newer; it was started with " + sys.version.split()[0])

import outcomes
import portion
import summary

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".nox" / "run"
NOX = "nox[uv]>=2025.5"


def main(arguments: list[str]) -> int:
    """Install nox if need be, and run it."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        # In some containers. Each process would compile again what it imports; this folder is ours to write.
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / ".nox" / "bytecode"))
    python = HOME / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if subprocess.call([python, "-c", "import nox"], stderr=subprocess.DEVNULL) if python.exists() else True:
        print("Setting up nox in .nox/run ...", flush=True)
        venv.create(HOME, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", NOX], check=True)
    if arguments in ([], ["full"]):
        return _everything([str(python), "-m", "nox", "-f", str(ROOT / "noxfile.py")], full=bool(arguments))
    split = arguments.index("--") if "--" in arguments else len(arguments)
    names, rest = arguments[:split], arguments[split:]
    if names[:1] == ["example"]:
        names, rest = names[:1], ["--", *names[1:], *rest[1:]]
    sessions = ["-s", *names] if names and not names[0].startswith("-") else names
    return subprocess.call([python, "-m", "nox", "-f", str(ROOT / "noxfile.py"), *sessions, *rest])


def _everything(nox: list[str], full: bool) -> int:
    """Run all checks, then each failed test once more, and print last what all this came to."""
    if full:
        os.environ |= {portion.VARIABLE: "all", "THEANO_LEVELS": "all"}
    with tempfile.TemporaryDirectory(prefix="checks-") as name:
        folder = Path(name)
        said, failed = _all_sessions(nox, folder, "--tags first nightly" if full else "--tags first")
        checks = summary.read(folder, failed)
        summary.repeat(checks, folder)
    _write("\n".join(["", *checks.screen(said), ""]).encode())
    return 1 if checks.failed() else 0


def _all_sessions(nox: list[str], folder: Path, first: str) -> tuple[str, list[str]]:
    """Run all sessions; return what they said, and the arguments of those processes of nox that failed.

    The layers are built first: no other session builds them again, or writes over a library that a test has loaded.
    Then checks run in two processes. What the second said is printed when the first is done.
    """
    environment = {**os.environ, outcomes.FOLDER: str(folder)}

    def start(what: str, stdout: int | IO[bytes]) -> subprocess.Popen[bytes]:
        report = str(folder / f"{what.split()[-1]}.json")
        command = [*nox, "--report", report, *what.split()]
        return subprocess.Popen(command, stdout=stdout, stderr=subprocess.STDOUT, env=environment)

    with tempfile.TemporaryFile() as said:
        running = {"-s build": start("-s build", subprocess.PIPE)}
        try:
            text = _passed_on(running["-s build"])
            if running["-s build"].wait() == 0:
                running["--tags beside"] = start("--tags beside", said)
                running[first] = start(first, subprocess.PIPE)
                text += _passed_on(running[first])
            failed = [f"nox {what}" for what, process in running.items() if process.wait()]
        finally:
            for process in running.values():
                process.kill()
        said.seek(0)
        beside = said.read()
    _write(beside)
    return (text + beside).decode("utf-8", "replace"), failed


def _passed_on(process: subprocess.Popen[bytes]) -> bytes:
    """Write at once what a process prints, and return it when it ends."""
    parts = list(map(_write, iter(lambda: process.stdout.read1(), b"")))
    return b"".join(parts)


def _write(text: bytes) -> bytes:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
