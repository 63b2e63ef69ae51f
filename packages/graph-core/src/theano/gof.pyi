"""Old spelling; what ``theano.gof`` shows is in :mod:`theano.compile.shared`, :mod:`theano.errors`, :mod:`theano.graph`, :mod:`theano.graph.aliasing`, :mod:`theano.graph.enum_type`, :mod:`theano.graph.external_op`, :mod:`theano.graph.features`, :mod:`theano.graph.params_type`, :mod:`theano.graph.traverse`, :mod:`theano.rewriting`, :mod:`theano.rewriting.userdefined`, :mod:`theano.runtime.dual`, :mod:`theano.runtime.link`, :mod:`theano.runtime.interpreter`, :mod:`theano.graph.c_contract`, :mod:`theano.graph.cdata_type`, :mod:`theano.gof.fg`, :mod:`theano.legacy.rewriters`, :mod:`theano.gof.utils`, :mod:`theano.legacy.gone`, :mod:`theano.legacy.helpers`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.compile.shared import Container as Container
from theano.errors import (
    InconsistencyError as InconsistencyError, MethodNotDefined as MethodNotDefined, MissingInputError as
    MissingInputError,
)
from theano.graph.aliasing import DestroyHandler as DestroyHandler
from theano.graph.apply import Apply as Apply
from theano.graph.enum_type import CEnumType as CEnumType, EnumList as EnumList, EnumType as EnumType
from theano.graph.external_op import ExternalCOp as COp, OpenMPOp as OpenMPOp
from theano.graph.features import (
    Bookkeeper as Bookkeeper, Feature as Feature, History as History, NoOutputFromInplace as NoOutputFromInplace,
    NodeFinder as NodeFinder, PrintListener as PrintListener, ReplaceValidate as ReplaceValidate,
    ReplacementDidntRemovedError as ReplacementDidntRemovedError, Validator as Validator,
)
from theano.graph.fgraph import FunctionGraph as FunctionGraph
from theano.graph.op import Op as Op, Op as PureOp
from theano.graph.params_type import Params as Params, ParamsType as ParamsType
from theano.graph.traverse import view_roots as view_roots
from theano.graph.type import Generic as Generic, Type as Type, generic as generic
from theano.graph.variable import Constant as Constant, Variable as Variable
from theano.rewriting.query import Query as Query
from theano.rewriting.userdefined.collection import DB as DB
from theano.rewriting.userdefined.databases import EquilibriumDB as EquilibriumDB, SequenceDB as SequenceDB
from theano.rewriting.userdefined.graph_rewriters import (
    EquilibriumOptimizer as EquilibriumOptimizer, MergeOptimizer as MergeOptimizer, NavigatorOptimizer as
    NavigatorOptimizer, Optimizer as Optimizer, SeqOptimizer as SeqOptimizer, TopoOptimizer as TopoOptimizer,
    inplace_optimizer as inplace_optimizer, optimizer as optimizer,
)
from theano.rewriting.userdefined.node_rewriters import (
    LocalOptGroup as LocalOptGroup, LocalOptimizer as LocalOptimizer, OpRemove as OpRemove, OpSub as OpSub,
    local_optimizer as local_optimizer,
)
from theano.rewriting.userdefined.pattern_sub import PatternSub as PatternSub
from theano.runtime.dual import DualLinker as DualLinker
from theano.runtime.interpreter import WrapLinker as WrapLinker, WrapLinkerMany as WrapLinkerMany
from theano.runtime.link import (
    CLinker as CLinker, Linker as Linker, Linker as LocalLinker, OpWiseCLinker as OpWiseCLinker, PerformLinker as
    PerformLinker,
)


