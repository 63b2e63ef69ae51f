"""The names that older programs find under ``theano.gof``; there is nothing in here but references."""

from __future__ import annotations

from theano.compile.shared import Container
from theano.errors import InconsistencyError, MethodNotDefined, MissingInputError
from theano.gof import destroyhandler, fg, graph, link, op, opt, optdb, sched, toolbox, type, utils, vm
from theano.graph import Apply, Constant, FunctionGraph, Generic, Op, Type, Variable, generic
from theano.graph.aliasing import DestroyHandler
from theano.graph.features import Bookkeeper, Feature, History, NodeFinder, PrintListener, ReplaceValidate
from theano.graph.traverse import view_roots
from theano.rewriting import Query
from theano.runtime.link import CLinker, Linker, OpWiseCLinker, PerformLinker

PureOp = Op

__all__ = [
    "Apply",
    "Bookkeeper",
    "CLinker",
    "Constant",
    "Container",
    "DestroyHandler",
    "Feature",
    "FunctionGraph",
    "Generic",
    "History",
    "InconsistencyError",
    "Linker",
    "MethodNotDefined",
    "MissingInputError",
    "NodeFinder",
    "Op",
    "OpWiseCLinker",
    "PerformLinker",
    "PrintListener",
    "PureOp",
    "Query",
    "ReplaceValidate",
    "Type",
    "Variable",
    "destroyhandler",
    "fg",
    "generic",
    "graph",
    "link",
    "op",
    "opt",
    "optdb",
    "sched",
    "toolbox",
    "type",
    "utils",
    "view_roots",
    "vm",
]
