"""The pages of functions, which the documentation is built with: all that is public is on one, and the dtypes are true."""

from __future__ import annotations

import doctest
import sys
from collections import Counter
from pathlib import Path

import check_examples

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
import functions


def test_everything_public_is_on_one_page():
    found = Counter(id(thing) for page in functions.PAGES for thing in functions.of_page(page).values())
    assert [name for name, thing in check_examples.public() if found[id(thing)] != 1] == []


def test_pages_say_how_things_are_called():
    pages = functions.pages()
    assert "T.sum(input, axis=None" in pages["library/tensor/reductions.md"]
    assert "| `T.exp(x)`<br>" in pages["library/tensor/elementwise.md"]
    assert "`axis : " in pages["library/tensor/reductions.md"]
    assert all(text.startswith("# ") and ":func:" not in text for text in pages.values())


def test_dtypes():
    text = functions.dtypes_page()
    test = doctest.DocTestParser().get_doctest(functions.DTYPE_HEAD.replace("```", ""), {}, "dtypes", None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert "".join(said) == ""
    assert "| **int8** | int8 | int8 | int16 |" in text
