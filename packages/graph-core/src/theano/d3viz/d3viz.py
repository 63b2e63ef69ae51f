"""``d3viz`` and ``d3write``."""

from __future__ import annotations

import os
from typing import Any

from theano.d3viz.formatting import PyDotFormatter
from theano.graph.text import printable
from theano.layers import lazily
from theano.printing.drawing import Drawing


def d3viz(
    fct: object,
    outfile: str | os.PathLike[str],
    copy_deps: bool = True,
    node_colors: dict[str, str] | None = None,
    **kwargs: object,
) -> None:
    r"""Write a page that shows a graph, to be opened in any browser.

    A click on a node shows what it is, the line of the program that it comes from, and, for a compiled function, the
    rules that made it; with a profile, how long it took.

    Parameters
    ----------
    fct : compiled function, FunctionGraph, Apply, Variable or list of Variable
    outfile : str
        The page. Folders that lack are made.
    copy_deps : bool
        Without effect: the page needs no other file.
    node_colors : dict from str to str, optional
        The colour of the ops whose class name contains the key.
    **kwargs
        Without effect.

    Examples
    --------
    >>> import tempfile, theano
    >>> x = theano.generic("x")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     d3viz(theano.function([x], theano.compile.view_op(x)), folder + "/graph.html")
    ...     open(folder + "/graph.html").readline()
    '<!DOCTYPE html>\n'
    """
    path = os.fspath(outfile)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    page = Drawing(fct, node_colors).page(str(getattr(fct, "name", None) or "graph"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def d3write(fct: Any, path: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
    """Write a graph in Graphviz's language, as it stands, without drawing it.

    Parameters
    ----------
    fct : compiled function, FunctionGraph, Apply, Variable or list of Variable
    path : str
    *args, **kwargs
        For :class:`PyDotFormatter`.

    Raises
    ------
    RuntimeError
        pydot is not installed.
    """
    graph = PyDotFormatter(*args, **kwargs)(fct)
    with open(path, "w", encoding="utf-8") as file:
        file.write(printable(graph.to_string()))


__getattr__, __dir__ = lazily(globals())
