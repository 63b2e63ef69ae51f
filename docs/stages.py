"""The pictures of `how_it_works.md`: one example's graph at each stage of the compiler, and the C that comes of it."""

from __future__ import annotations

from typing import Any

import theano
import theano.tensor as T
from theano.compile.mode import get_mode
from theano.graph import FunctionGraph
from theano.printing.drawing import Drawing
from theano.rewriting import rewrite
from theano.tensor.elemwise.lowering import elemwise_kernel

FOLDER = "_static/stages"
#: The last phase that has run, by its position among the phases, and the name of the picture.
STAGES = {1.4: "canonicalized", 1.9: "stabilized", float("inf"): "fused"}


def example() -> tuple[list[Any], list[Any]]:
    """Return the inputs and outputs of the page's example."""
    x, w = T.dvectors("x", "w")
    cost = T.sum(T.log(1 + T.exp(-x * w)))
    cost.name = "cost"
    new = w - 0.1 * theano.grad(cost, w)
    new.name = "new w"
    return [x, w], [cost, new]


def rewritten(position: float) -> FunctionGraph:
    """Return the example's graph as the phases up to a position leave it."""
    inputs, outputs = example()
    graph = FunctionGraph(inputs, outputs, clone=True)
    query = get_mode("FAST_RUN").optimizer
    rewrite(graph, type(query)(include=query.include, exclude=query.exclude, position_cutoff=position))
    return graph


def pictures() -> dict[str, str]:
    """Return the files of the page, by their place in the documentation."""
    _, (cost, new) = example()
    graphs: dict[str, Any] = {"written": [cost], "gradient": [cost, new]}
    graphs |= {name: rewritten(position) for position, name in STAGES.items()}
    found = {f"{FOLDER}/{name}.svg": Drawing(graph, details=False).svg() + "\n" for name, graph in graphs.items()}
    node = next(n for n in graphs["fused"].toposort() if isinstance(n.op, T.Elemwise))
    found[f"{FOLDER}/kernel.c"] = elemwise_kernel(node.op, node).source + "\n"
    return found
