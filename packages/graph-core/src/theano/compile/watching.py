"""Entries that show the graph while it is rewritten, for who includes them by name."""

from __future__ import annotations

from theano.graph.fgraph import FunctionGraph
from theano.printing import debugprint
from theano.rewriting import Optimizer, phases

#: The tag of all of them. A function that is compiled with one of them is always rewritten, never found in the cache.
WATCHES = "PrintCurrentFunctionGraph"


class PrintCurrentFunctionGraph(Optimizer):
    """A pass that prints the graph as it is.

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
        print("PrintCurrentFunctionGraph:", self.header)
        debugprint(fgraph.outputs)


phases.register("Print1.21", PrintCurrentFunctionGraph("Post-canonicalize"), 1.21, WATCHES)
phases.register("Print1.51", PrintCurrentFunctionGraph("Post-stabilize"), 1.51, WATCHES)

#: What a query must include for one of them to run.
WATCHING_TAGS = frozenset((WATCHES, "Print1.21", "Print1.51"))
