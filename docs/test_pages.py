"""The pages that are written by a program are those that it writes."""

from __future__ import annotations

import doctest
import inspect
import subprocess
from pathlib import Path

import functions
import gallery
import generate
import numpy as np
import pytest
import scipy.sparse as sp
import speed

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


@pytest.mark.parametrize("name", gallery.PROGRAMS)
def test_notebook_has_the_whole_program(name):
    p = gallery.program(name)
    code = [text for kind, text in gallery.cells(name, p.source) if kind == "code"][:-2]
    docstring, rest = p.source.split('"""\n', 1)
    assert docstring.startswith('"""')
    body = rest.split('\nif __name__ == "__main__":')[0]
    assert "\n".join(code).split() == body.split()
    assert (Path(__file__).parent / gallery.PICTURES / f"{name}.png").is_file()
