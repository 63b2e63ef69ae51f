"""`PrintCurrentFunctionGraph`: what prints the graph while it is rewritten, as users register it themselves."""

from __future__ import annotations

from theano.compile.graph_printing import print_graph
from theano.graph.fgraph import FunctionGraph
from theano.rewriting.userdefined import Optimizer


class PrintCurrentFunctionGraph(Optimizer):
    """A graph rewriter that changes nothing and prints the graph as it is.

    Parameters
    ----------
    header : str
        What is printed above it.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, generic
    >>> x = generic("x")
    >>> PrintCurrentFunctionGraph("as given").apply(FunctionGraph([x], [x]))
    PrintCurrentFunctionGraph: as given
    x [id A]
    """

    def __init__(self, header: str):
        self.header = header

    def apply(self, fgraph: FunctionGraph) -> None:
        """Print ``fgraph``."""
        print_graph(fgraph, self.header)
