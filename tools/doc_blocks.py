"""A pytest plugin that runs the code blocks of the README and the documentation.

    PYTHONPATH=tools python -m pytest -p doc_blocks README.md docs

Blocks of one page share their names, from the top to the bottom, as a reader would type them. A block with ``>>>``
is compared with what it prints. Where GPU_TEST_DEVICE names a device, blocks that need one find it as DEVICE; whether
a package is there that a block needs, its page asks by ``lacks``. Blocks marked ``sh`` are not executed here (they make
environments, or train a network), but each of their commands must exist: the session of nox, the module, the script,
the distribution.

Under the flag ``floatX=float32`` the pages are run as well: what they print may then be float32 where they say float64.
After ``# doctest: +ANY_NUMBERS`` the numbers that are printed may be others, such as times.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, register_optionflag
from pathlib import Path

from sybil import Example, Sybil
from sybil.evaluators import doctest as doctests
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parent.parent
SESSION = re.compile(r"^def (\w+)\(session", re.MULTILINE)
FREE = {"git", "cd", "export", "."}


def known(command: str) -> str:
    """Return what is wrong with a command of the documentation, or "".

    Examples
    --------
    >>> known("python3 tools/run.py example"), known("python3 tools/run.py nonsense")
    ('', 'no session nonsense')
    """
    words = [word for word in shlex.split(command, comments=True) if not re.match(r"^[A-Z_]+=", word)]
    match words:
        case []:
            return ""
        case ["python" | "python3", "tools/run.py", *names] | ["nox", "-s", *names]:
            return _sessions(names)
        case ["python" | "python3", "-m", "pip", "install", *names] | ["pip", "install", *names]:
            return _distributions(names)
        case ["python" | "python3", "-m", module, *_]:
            return "" if importlib.util.find_spec(module) else f"no module {module}"
        case ["python" | "python3", "-c", program]:
            compile(program, "-c", "exec")
            return ""
        case ["python" | "python3", script, *_]:
            return "" if (ROOT / script).is_file() or "/" not in script else f"no file {script}"
        case ["theano-cache" | "theano-nose" | "theano-test", *_] | ["nox", "-l"]:
            return ""
        case [program, *_] if program in FREE:
            return ""
    return f"unknown command {command}"


def _sessions(names: list[str]) -> str:
    sessions = set(SESSION.findall((ROOT / "noxfile.py").read_text(encoding="utf-8")))
    for name in names:
        if name == "--":
            break
        if not name.startswith("-") and re.split(r"[-(]", name)[0] not in sessions:
            return f"no session {name}"
    return ""


def _distributions(names: list[str]) -> str:
    layers = {"theano", "theano-pytensor", *(f"theano-{path.name}" for path in (ROOT / "packages").iterdir())}
    for name in (name.partition("[")[0] for name in names):
        if name.startswith("theano") and name not in layers:
            return f"no distribution {name}"
        if name.startswith("packages/") and not (ROOT / name).is_dir():
            return f"no folder {name}"
    return ""


def evaluate_shell(example: Example) -> str | None:
    """Check a block of commands; return what is wrong with it, for pytest to show."""
    wrong = [trouble for line in example.parsed.splitlines() if (trouble := known(line))]
    return "; ".join(wrong) or None


def lacks(name: str) -> bool:
    """Tell whether a package is not installed.

    Examples
    --------
    >>> lacks("numpy"), lacks("not_a_package")
    (False, True)
    """
    return importlib.util.find_spec(name) is None


ANY_NUMBERS = register_optionflag("ANY_NUMBERS")
NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]\d+)?")
FLOATX = "float32" if "floatX=float32" in os.environ.get("THEANO_FLAGS", "") else "float64"


class Checker(doctests.OutputChecker):
    """Compares what a block prints with what the page says.

    Examples
    --------
    >>> Checker().check_output("took 3.5 ms, 10 calls", "took 0.25 ms, 11 calls", ANY_NUMBERS)
    True
    """

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Compare, without the numbers or the names of the two floats where these may differ."""
        same: bool = super().check_output(want, got, optionflags)
        if not same and optionflags & ANY_NUMBERS:
            want, got = (NUMBER.sub("0", text) for text in (want, got))
        if not same and FLOATX == "float32":
            want, got = (re.sub(r",\s+dtype=float32", "", text.replace("float64", "float32")) for text in (want, got))
        return same or super().check_output(want, got, optionflags)


doctests.OutputChecker = Checker  # type: ignore[misc]  # which the parser below makes one of

pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
        CodeBlockParser("sh", evaluate_shell),
        SkipParser(),
    ],
    patterns=["*.md"],
    excludes=["_build/*"],
    path=str(ROOT),
    setup=lambda names: names.update(DEVICE=os.environ.get("GPU_TEST_DEVICE"), lacks=lacks),
).pytest()
