"""Passes that show the graph while it is rewritten, for who includes them by name."""

from __future__ import annotations

from theano.compile.key import PRINTING
from theano.graph.fgraph import FunctionGraph
from theano.printing import debugprint
from theano.rewriting import Context, Pass, phases


def print_graph(fgraph: FunctionGraph, header: str) -> None:
    """Print a graph as it is, below ``header``."""
    print("PrintCurrentFunctionGraph:", header)
    debugprint(fgraph.outputs)


def _printing(header: str) -> Pass:
    def run(fgraph: FunctionGraph, context: Context) -> None:
        print_graph(fgraph, header)

    return run


phases.register("Print1.21", _printing("Post-canonicalize"), 1.21, PRINTING)
phases.register("Print1.51", _printing("Post-stabilize"), 1.51, PRINTING)
