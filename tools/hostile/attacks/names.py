"""Names with quotes, code, markup and worse in them, wherever a name is taken."""

from __future__ import annotations

import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np

import theano
import theano.d3viz as d3viz
import theano.tensor as T
from hostile import samples
from hostile.finding import Finding, expect
from theano.printing import debugprint, pp, pydotprint
from theano.tensor.control.checks import Assert

PIECES = (
    "'", '"', "\\", "\n", "\r", "\0", "\t", "*/", "/*", "//", "#include <x>", '"; abort(); "', "</script>", "<!--",
    "<b>", "&amp;", "&", "{}", "{0}", "%s", "%n", "$x", "`id`", "$(id)", "é", "名", "\U0001f600", "\u202e", "\u2028",
    "\udc80", "\ud83d", "\x1b[31m", "\x85", "a" * 300, " ", "-", "0", "float", "None", "lambda", "__class__", "??/",
    "\\u0000", "${", "]]>",
)  # fmt: skip


def odd(rng: np.random.Generator) -> str:
    """Return a name made of pieces that hurt."""
    return "".join(str(PIECES[k]) for k in rng.integers(0, len(PIECES), int(rng.integers(0, 6))))


def attack(rng: np.random.Generator) -> Finding | None:
    """Build, print, draw, pickle and fail with odd names."""
    names = [odd(rng) for _ in range(5)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _everywhere(names, rng)
    except Finding as found:
        found.details = f"{names!r}\n{found.details}"
        raise
    except Exception as error:
        raise Finding(f"{type(error).__name__} because of a name", f"{names!r}\n{error!r:.800}") from error
    return None


def _everywhere(names: list[str], rng: np.random.Generator) -> None:
    x, y, s = T.dvector(names[0]), T.dvector(names[1]), theano.shared(np.ones(3), names[2])
    middle = T.exp(x) * s
    middle.name = names[3]
    checked = Assert(names[4])(middle + y, T.gt(x[0], 0))
    f = theano.function([x, y], [checked, checked.sum()], updates=[(s, s + y)], name=names[3])
    good, other = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.0, -1.0])
    found, total = f(good, other)
    wanted = np.exp(good) + other
    expect(samples.same(found, wanted) and np.isclose(total, wanted.sum()), "wrong with an odd name")
    _refused(f, [-good, other], AssertionError)
    _refused(f, [good, other[:2]], ValueError)
    for show in (str, repr, pp, lambda v: debugprint(v, file="str")):
        expect(all(isinstance(show(v), str) for v in (checked, x, s)), "no text")
    _pages(f)
    g = pickle.loads(pickle.dumps(f))
    expect(g.maker.fgraph.inputs[0].name == f.maker.fgraph.inputs[0].name, "a name changed in a pickle")
    state = g.get_shared()[0].get_value()
    expect(samples.same(g(good, other)[0], np.exp(good) * state + other), "another function from a pickle")


def _refused(f: object, arguments: list[np.ndarray], error: type[Exception]) -> None:
    try:
        f(*arguments)  # type: ignore[operator]
    except error as raised:
        text = str(raised)
        expect(len(text.splitlines()) <= 10, "an error of more than 10 lines", text)
    else:
        raise Finding("a call that must fail did not")


def _pages(f: object) -> None:
    """Draw the function, and see that as many scripts end in the page as in that of the same graph with plain names."""
    with tempfile.TemporaryDirectory(prefix="pages-") as folder:
        odd_page, plain_page = Path(folder) / "odd.html", Path(folder) / "plain.html"
        d3viz.d3viz(f, str(odd_page))
        a = T.dvector("a")
        d3viz.d3viz(theano.function([a], a + 1), str(plain_page))
        ends = [page.read_text(encoding="utf-8").lower() for page in (odd_page, plain_page)]
        for mark in ("</script", "<script", "<!--"):
            expect(ends[0].count(mark) == ends[1].count(mark), "a name is markup in a page", mark)
        pydotprint(f, str(Path(folder) / "x.dot"), format="dot", print_output_file=False)
