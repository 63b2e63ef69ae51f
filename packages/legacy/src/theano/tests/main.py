"""``theano-nose`` (also ``theano-test`` and ``python -m theano.tests``): runs tests, with pytest."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

import theano

HELP = """\
usage: theano-nose [--theano] [folder | test_file.py | test_file.py:Class | test_file.py:Class.method ...] [options]

  --theano                     run the checks of theano that are installed with it: the examples of every docstring
  folder                       run every test found in the folder
  test_file.py                 run every test found in the file
  test_file.py:Class           run every test of the class
  test_file.py:Class.method    run only this test
  -h, --help                   this text

With no name, the tests of the current folder are run. Tests are functions and methods whose names begin with test,
in classes whose names begin with Test or test_, or that are made from unittest.TestCase.

All other options are pytest's (`python -m pytest --help` lists them): -x stops at the first failure, -k EXPRESSION
chooses by name, -s lets prints through, --pdb starts the debugger, -n 4 uses four processes (pytest-xdist).
Flags come in the environment: THEANO_FLAGS=mode=DebugMode theano-nose test_file.py
"""

#: Options of the old program that say nothing to pytest, and whether a value follows.
_IGNORED = {"--batch": False, "--time-profile": False, "--nocapture": False, "--with-timer": False}


def arguments(given: Sequence[str]) -> list[str]:
    """Return what pytest is called with.

    Examples
    --------
    >>> arguments(["test_file.py:test_DoubleRop.test_double_rop", "-x"])[-2:]
    ['test_file.py::test_DoubleRop::test_double_rop', '-x']
    """
    found = ["-o", "python_classes=Test* test_*", "-o", "python_files=test_*.py *_test.py"]
    for word in given:
        if word == "--theano":
            found += ["--doctest-modules", "-o", "consider_namespace_packages=true",
                      "-o", "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS", *installed()]  # fmt: skip
        elif word == "--nocapture":
            found.append("-s")
        elif word not in _IGNORED:
            found.append(_place(word))
    return found


def installed() -> list[str]:
    """Return the folders of the layers of theano."""
    return [folder for folder in dict.fromkeys(map(os.path.realpath, theano.__path__)) if os.path.isdir(folder)]


def _place(word: str) -> str:
    """Return a name as pytest spells it: ``file.py::Class::method``."""
    file, colon, inside = word.partition(".py:")
    if not colon or inside.startswith(":") or word.startswith("-"):
        return word
    return "::".join([f"{file}.py", *inside.split(".")])


def main(argv: Sequence[str] | None = None) -> int:
    """Run tests; return 0 if all passed."""
    given = list(sys.argv[1:] if argv is None else argv)
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    if importlib.util.find_spec("pytest") is None:
        print("theano-nose runs tests with pytest, which is not installed here: pip install pytest", file=sys.stderr)
        return 2
    # Not a dependency of this layer: only who runs tests needs it.
    import pytest

    # Tests in the current folder import each other.
    sys.path.insert(0, os.getcwd())
    # A file that is named is run although its name may not begin with test.
    return int(pytest.main(arguments(given)))


def test(verbose: int = 1, extra_argv: Sequence[str] = (), **kwargs: Any) -> bool:
    """Run the checks that are installed with theano, as ``theano-nose --theano`` does; return whether all passed.

    Parameters
    ----------
    verbose : int
        From 0, quiet, to 2, a line for each test.
    extra_argv : list of str
        Further options of pytest.
    **kwargs
        Accepted for old programs.
    """
    how = {0: ["-q"], 1: []}.get(verbose, ["-v"])
    return main(["--theano", *how, *extra_argv]) == 0


vars(test).update(__test__=False)  # a function that is called so, and no test
