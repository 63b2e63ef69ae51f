"""The page of dtypes, which the documentation is built with, tells the truth; docs/test_names.py has the other pages."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
import functions


def test_dtypes():
    text = functions.dtypes_page()
    test = doctest.DocTestParser().get_doctest(functions.DTYPE_HEAD.replace("```", ""), {}, "dtypes", None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert "".join(said) == ""
    assert "| **int8** | int8 | int8 | int16 |" in text
