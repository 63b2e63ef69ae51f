"""The names that older programs find under ``theano.gof``; there is nothing in here but references."""

from __future__ import annotations

from theano.compile.shared import Container
from theano.errors import InconsistencyError, MethodNotDefined, MissingInputError
from theano.gof import cc, destroyhandler, fg, graph, link, op, opt, optdb, params_type, sched, toolbox, type, utils, vm
from theano.gof.op import COp
from theano.graph import Apply, Constant, FunctionGraph, Generic, Op, Type, Variable, generic
from theano.graph.aliasing import DestroyHandler
from theano.graph.c_contract import CLinkerObject, CLinkerOp, CLinkerType
from theano.graph.cdata_type import CDataType
from theano.graph.enum_type import CEnumType, EnumList, EnumType
from theano.graph.external_op import ExternalCOp, OpenMPOp
from theano.graph.features import (
    Bookkeeper,
    Feature,
    History,
    NodeFinder,
    NoOutputFromInplace,
    PreserveVariableAttributes,
    PrintListener,
    ReplacementDidntRemovedError,
    ReplaceValidate,
    Validator,
)
from theano.graph.params_type import Params, ParamsType
from theano.graph.traverse import view_roots
from theano.rewriting import Query
from theano.rewriting.userdefined import (
    DB,
    CheckStackTraceOptimization,
    EquilibriumDB,
    EquilibriumOptimizer,
    LocalGroupDB,
    LocalOptGroup,
    LocalOptimizer,
    MergeOptimizer,
    NavigatorOptimizer,
    OpKeyOptimizer,
    OpRemove,
    OpSub,
    Optimizer,
    PatternSub,
    ProxyDB,
    SeqOptimizer,
    SequenceDB,
    TopoOptimizer,
    inplace_optimizer,
    local_optimizer,
    optimizer,
)
from theano.runtime.dual import DualLinker
from theano.runtime.interpreter import WrapLinker, WrapLinkerMany
from theano.runtime.link import CLinker, Linker, OpWiseCLinker, PerformLinker

PureOp = Op
LocalLinker = Linker

__all__ = [
    "DB",
    "Apply",
    "Bookkeeper",
    "CDataType",
    "CEnumType",
    "CLinker",
    "CLinkerObject",
    "CLinkerOp",
    "CLinkerType",
    "COp",
    "CheckStackTraceOptimization",
    "Constant",
    "Container",
    "DestroyHandler",
    "DualLinker",
    "EnumList",
    "EnumType",
    "EquilibriumDB",
    "EquilibriumOptimizer",
    "ExternalCOp",
    "Feature",
    "FunctionGraph",
    "Generic",
    "History",
    "InconsistencyError",
    "Linker",
    "LocalGroupDB",
    "LocalLinker",
    "LocalOptGroup",
    "LocalOptimizer",
    "MergeOptimizer",
    "MethodNotDefined",
    "MissingInputError",
    "NavigatorOptimizer",
    "NoOutputFromInplace",
    "NodeFinder",
    "Op",
    "OpKeyOptimizer",
    "OpRemove",
    "OpSub",
    "OpWiseCLinker",
    "OpenMPOp",
    "Optimizer",
    "Params",
    "ParamsType",
    "PatternSub",
    "PerformLinker",
    "PreserveVariableAttributes",
    "PrintListener",
    "ProxyDB",
    "PureOp",
    "Query",
    "ReplaceValidate",
    "ReplacementDidntRemovedError",
    "SeqOptimizer",
    "SequenceDB",
    "TopoOptimizer",
    "Type",
    "Validator",
    "Variable",
    "WrapLinker",
    "WrapLinkerMany",
    "cc",
    "destroyhandler",
    "fg",
    "generic",
    "graph",
    "inplace_optimizer",
    "link",
    "local_optimizer",
    "op",
    "opt",
    "optdb",
    "optimizer",
    "params_type",
    "sched",
    "toolbox",
    "type",
    "utils",
    "view_roots",
    "vm",
]
