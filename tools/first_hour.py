"""Do what a newcomer does in the first hour, in situations like theirs, and fail on any surprise.

    python tools/first_hour.py --wheels DIR       (nox -s first_hour; without DIR, wheels are made)
    python tools/first_hour.py --wheels dist --python python3.12 --python python3.13 bare zig     (after release --all)

Each situation is a new virtual environment, in which Theano is installed from the wheels by pip; then the doctor is
asked, the README and the first page of the tutorial are typed in, something is given a wrong input, and all of it once
more in another process. At last the main example, the digits, is trained shortly.
An example that prints something else, a command that fails, or a word on stderr that is not expected is a surprise.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from check_wheels import build_wheels, copy_packages

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/tutorial/first_steps.md")
EXAMPLE = ("scikit-learn", "matplotlib", "tqdm")  # what the digits need beside Theano
#: Runs in the newcomer's Python: the blocks of pages, one after the other, with names that a page shares.
READER = r"""
import doctest, re, sys
failed = 0
for path in sys.argv[1:]:
    blocks = re.findall(r"^```python\n(.*?)^```", open(path, encoding="utf-8").read(), re.M | re.S)
    names, runner = {}, doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for k, block in enumerate(blocks):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, f"{path}, block {k}", path, 0)
            failed += runner.run(test, clear_globs=False).failed
            names.update(test.globs)
        else:
            exec(compile(block, path, "exec"), names)
print("failed:", failed)
"""
WRONG = """
import theano, theano.tensor as T
x, y = T.dvectors("left", "right")
f = theano.function([x, y], x * y)
try:
    f([1, 2], [1, 2, 3])
except ValueError as error:
    text = str(error)
    assert "left" in text and "right" in text, text
    assert len(text.splitlines()) <= 15, text
else:
    raise SystemExit("no error")
print(f([1, 2], [3, 4]).tolist())
"""


class Surprise(Exception):
    """Something that a newcomer would not expect."""


@dataclass(frozen=True)
class Situation:
    """What a newcomer's machine is like.

    Parameters
    ----------
    name, what : str
    doctor : str
        What the doctor must say.
    complaint : bool
        Whether the doctor ends with an error.
    warning : str
        What alone may be written to stderr.
    extras : str
        What is installed beside, as pip takes it.
    tools : bool
        Whether the system's compiler is found.
    environment : dict
        Variables that differ.
    offline : bool
        Without network, once it is installed.
    """

    name: str
    what: str
    doctor: str
    complaint: bool = False
    warning: str = ""
    extras: str = ""
    tools: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    offline: bool = False


SITUATIONS = (
    Situation("bare", "Python and pip, no compiler", "everything runs through Python and NumPy", complaint=True,
              warning="functions run in Python, which is slower"),
    Situation("compiler", "a C compiler", "compiled and loaded a kernel", tools=True),
    Situation("zig", "the compiler that pip brings", "zig", extras="[compiler]", warning="waiting for"),
    # Nobody can make a folder there, root neither.
    Situation("home", "a home that cannot be written to", "is not used", tools=True, environment={"HOME": "/proc"},
              warning="The cache of compiled functions cannot be used"),
    Situation("offline", "no network once it is installed", "compiled and loaded", tools=True, offline=True),
)  # fmt: skip


def run(
    command: list[str], environment: dict[str, str], folder: Path, warning: str | None = None, code: int = 0
) -> str:
    """Run a newcomer's command; what it prints, or a surprise. On stderr may be a warning of one paragraph."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)
    heard = done.stderr.strip()
    surprise = warning is not None and heard and (not warning or warning not in heard or heard.count("\n") > 2)
    if done.returncode != code or surprise:
        raise Surprise(f"{' '.join(command)[:200]}\nexit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def spend(situation: Situation, wheels: Path, folder: Path, interpreter: str) -> None:
    """Spend the first hour in a situation, in an environment of an interpreter."""
    subprocess.run([interpreter, "-m", "venv", folder / "venv"], check=True)
    python = str(folder / "venv" / "bin" / "python")
    (folder / "home").mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("THEANO", "XDG", "PYTHON", "CC", "CXX"))}
    environment |= {"HOME": str(folder / "home"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    wanted = [f"theano-tensor{situation.extras}", "theano-sparse", *EXAMPLE]
    install = [python, "-m", "pip", "install", "-q", "--pre", "--find-links", str(wheels), *wanted]
    run(install, environment, folder)
    path = str(folder / "venv" / "bin") + (os.pathsep + os.environ["PATH"] if situation.tools else "")
    environment |= {"PATH": path} | situation.environment
    prefix = [str(shutil.which("unshare")), "--net"] if situation.offline else []
    for page in PAGES:
        shutil.copy(ROOT / page, folder / Path(page).name)
    pages = [Path(page).name for page in PAGES]
    for _ in range(2):
        doctor = [*prefix, python, "-m", "theano.doctor"]
        said = run(doctor, environment, folder, situation.warning, int(situation.complaint))
        if situation.doctor not in said:
            raise Surprise(f"the doctor does not say {situation.doctor!r}:\n{said}")
        read = run([*prefix, python, "-c", READER, *pages], environment, folder, situation.warning)
        if "failed: 0" not in read:
            raise Surprise(read)
        product = run([*prefix, python, "-c", WRONG], environment, folder, situation.warning)
        if product.strip() != "[3.0, 8.0]":
            raise Surprise("a wrong number")
    digits = [*prefix, python, str(ROOT / "examples" / "digits.py"), "--epochs", "2", "--picture", "digits.png"]
    accuracy = re.search(r"Accuracy.*?: ([\d.]+)%", run(digits, environment, folder))
    if accuracy is None or float(accuracy[1]) < 85:
        raise Surprise(f"the digits are not learned: {accuracy and accuracy[0]}")


def main() -> int:
    """Spend the first hour in all situations, or in those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, help="the folder in which the layers' wheels are; default: made now")
    parser.add_argument("--python", action="append", help="an interpreter; default: this one")
    parser.add_argument("names", nargs="*", help=f"situations: {', '.join(s.name for s in SITUATIONS)}; default: all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheels = options.wheels
        if wheels is None:
            wheels = Path(folder)
            build_wheels(copy_packages(wheels / "packages"), wheels)
        situations = [s for s in SITUATIONS if not options.names or s.name in options.names]
        return spend_all(situations, wheels.resolve(), options.python or [sys.executable])


def spend_all(situations: list[Situation], wheels: Path, interpreters: list[str]) -> int:
    """Spend the first hour in each with each interpreter; 1 if there was any surprise."""
    surprises = 0
    for interpreter, situation in itertools.product(interpreters, situations):
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            try:
                spend(situation, wheels, Path(folder), interpreter)
                outcome = "no surprise"
            except Surprise as surprise:
                surprises += 1
                outcome = f"a surprise:\n{surprise}"
        who = f"{Path(interpreter).name}, {situation.name} ({situation.what})"
        print(f"{who}: {outcome}, {time.perf_counter() - began:.0f} s", flush=True)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
