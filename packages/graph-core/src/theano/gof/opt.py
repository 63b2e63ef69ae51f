"""``theano.gof.opt``: see :mod:`theano.rewriting.userdefined`."""

from __future__ import annotations

from theano.graph.source import copy_stack_trace
from theano.rewriting import CheckStackTraceFeature, check_stack_trace, local_rule, rule
from theano.rewriting.userdefined import (
    CheckStackTraceOptimization,
    EquilibriumOptimizer,
    FromFunctionLocalOptimizer,
    FromFunctionOptimizer,
    LocalOptGroup,
    LocalOptimizer,
    MergeOptimizer,
    NavigatorOptimizer,
    OpKeyOptimizer,
    OpRemove,
    OpSub,
    Optimizer,
    PatternSub,
    SeqOptimizer,
    TopoOptimizer,
    in2out,
    inplace_optimizer,
    local_optimizer,
    optimizer,
    out2in,
    pre_greedy_local_optimizer,
)

GlobalOptimizer = Optimizer

__all__ = [
    "CheckStackTraceFeature",
    "CheckStackTraceOptimization",
    "EquilibriumOptimizer",
    "FromFunctionLocalOptimizer",
    "FromFunctionOptimizer",
    "GlobalOptimizer",
    "LocalOptGroup",
    "LocalOptimizer",
    "MergeOptimizer",
    "NavigatorOptimizer",
    "OpKeyOptimizer",
    "OpRemove",
    "OpSub",
    "Optimizer",
    "PatternSub",
    "SeqOptimizer",
    "TopoOptimizer",
    "check_stack_trace",
    "copy_stack_trace",
    "in2out",
    "inplace_optimizer",
    "local_optimizer",
    "local_rule",
    "optimizer",
    "out2in",
    "pre_greedy_local_optimizer",
    "rule",
]
