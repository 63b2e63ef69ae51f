"""The pages that are written by a program are those that it writes."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
from pathlib import Path
from types import ModuleType

import functions
import gallery
import generate
import numpy as np
import numpydoc.validate
import pytest
import scipy.sparse as sp
import speed
from numpydoc.docscrape import get_doc_object

import theano
import theano.tensor as T
from benchmarks import rating, report

PAGES = {place: text for place, text in generate.pages().items() if generate.is_tracked(place)}


@pytest.mark.parametrize("place", sorted(PAGES))
def test_page_is_up_to_date(place):
    written = (Path(__file__).parent / place).read_text(encoding="utf-8")
    assert written == PAGES[place], "run `python docs/generate.py`"


def test_the_build_writes_what_git_has_not():
    docs = Path(__file__).parent
    command = ["git", "ls-files", "-z", ".", ".."]
    tracked = subprocess.run(command, cwd=docs, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("this is no clone")
    assert set(PAGES) == set(generate.pages()) & set(tracked.stdout.split("\0"))


def test_rows_that_are_lost_have_a_reason():
    rows = [*next(iter(speed.measurements().values()))["rows"], *speed.load("benchmark_h200")["rows"]]
    lost = [row for _, row in rating.losses(rows, below=rating.EQUAL)]
    assert [report.label(row) for row in lost if not rating.reason(row)] == [], "benchmarks/tried.toml says why"


def test_the_page_of_performance_is_short():
    assert len(PAGES["performance.md"].splitlines()) <= 300


@pytest.mark.parametrize("page", functions.PAGES, ids=lambda page: page.file)
def test_examples_run_as_they_are_shown(page):
    # Each by itself: whoever types one in has imported these, and nothing else.
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for entry in functions.entries()[page.file]:
        doc = functions.documentation(entry)
        if doc == inspect.getdoc(entry.thing):
            continue  # the doctests of its module have run it
        names = {"theano": theano, "T": T, "np": np, "sp": sp}
        test = doctest.DocTestParser().get_doctest(doc, names, entry.names[0], None, 0)
        said = []
        assert not doctest.DocTestRunner(optionflags=flags).run(test, out=said.append).failed, "".join(said)


#: Faults of docstrings by numpydoc's codes: none, parameters or results without a word, no example, no full stop.
FAULTS = {"GL08", "PR01", "PR02", "PR03", "PR04", "PR07", "RT01", "RT03", "EX01", "SS03"}
CALLED = tuple(module for module in functions.MODULES if module not in ("theano.gpuarray", "theano.scalar"))


@pytest.mark.parametrize("module", CALLED)
def test_callables_say_what_they_take_and_return(module):
    here, found = importlib.import_module(module), []
    for name in sorted(functions.listed(module) or dir(here)):
        thing = getattr(here, name)
        ours = str(getattr(thing, "__module__", None) or type(thing).__module__).startswith("theano")
        if ours and callable(thing) and not isinstance(thing, (type, ModuleType)) and not name.startswith("_"):
            faults = numpydoc.validate.validate(get_doc_object(thing))["errors"]
            found += [(name, *fault) for fault in faults if fault[0] in FAULTS]
    assert not found


@pytest.mark.parametrize("name", gallery.PROGRAMS)
def test_notebook_has_the_whole_program(name):
    p = gallery.program(name)
    code = [text for kind, text in gallery.cells(name, p.source) if kind == "code"][:-2]
    docstring, rest = p.source.split('"""\n', 1)
    assert docstring.startswith('"""')
    body = rest.split('\nif __name__ == "__main__":')[0]
    assert "\n".join(code).split() == body.split()
    assert (Path(__file__).parent / gallery.PICTURES / f"{name}.png").is_file()
