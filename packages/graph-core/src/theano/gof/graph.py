"""``theano.gof.graph``: see :mod:`theano.graph.apply`, ``variable``, ``traverse`` and ``clone``."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.clone import clone, clone_get_equiv
from theano.graph.traverse import (
    ancestors,
    as_string,
    equal_computations,
    inputs,
    io_toposort,
    is_in_ancestors,
    is_same_graph,
    list_of_nodes,
    op_as_string,
    view_roots,
)
from theano.graph.traverse import applys_between as ops
from theano.graph.traverse import orphans_between as orphans
from theano.graph.traverse import variables_between as variables
from theano.graph.variable import Constant, Variable

__all__ = [
    "Apply",
    "Constant",
    "Variable",
    "ancestors",
    "as_string",
    "clone",
    "clone_get_equiv",
    "equal_computations",
    "inputs",
    "io_toposort",
    "is_in_ancestors",
    "is_same_graph",
    "list_of_nodes",
    "op_as_string",
    "ops",
    "orphans",
    "variables",
    "view_roots",
]
