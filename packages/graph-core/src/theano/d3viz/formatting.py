"""``PyDotFormatter``: graphs in Graphviz's language."""

from __future__ import annotations

from typing import Any

from theano.layers import lazily
from theano.printing.picture import default_colorCodes, pydot_graph


class PyDotFormatter:
    """Makes pydot graphs.

    Parameters
    ----------
    compact : bool
        Leave out the boxes of variables without a name.
    """

    def __init__(self, compact: bool = True):
        self.compact = compact
        self.node_colors = dict(default_colorCodes)

    def __call__(self, fct: Any, graph: Any = None) -> Any:
        """Return a pydot graph of ``fct``; ``graph`` is filled if it is given.

        Raises
        ------
        RuntimeError
            pydot is not installed.
        """
        return pydot_graph(fct, compact=self.compact, colors=self.node_colors, graph=graph)


__getattr__, __dir__ = lazily(globals())
