"""Rewriting: rules that replace parts of a graph by something better, and the sequence in which they are used.

Read in this order: ``pattern`` (how two sides of a rule are written), ``rule`` (what a rule is), ``declare`` (how it
enters a phase), ``drive`` (how rules meet nodes), ``query`` and ``phases`` (what runs when), ``merge``, ``history``.

``local``, ``whole`` and ``databases`` are the doors for people: the classes by which rules, optimizers and collections
of them have always been written. They become rules and phases; nothing runs beside those.
"""

from __future__ import annotations

from theano.rewriting.databases import (
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    SequenceDB,
    TopoDB,
    register_canonicalize,
    register_specialize,
    register_specialize_device,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)
from theano.rewriting.declare import local_rule, rule
from theano.rewriting.drive import Context, PhaseReport, RewriteSettings, fixpoint, walk
from theano.rewriting.failure import RuleFailure
from theano.rewriting.history import Origins, Step
from theano.rewriting.local import (
    FromFunctionLocalOptimizer,
    LocalOptGroup,
    LocalOptimizer,
    OpRemove,
    OpSub,
    PatternSub,
    as_rule,
    local_optimizer,
)
from theano.rewriting.merge import constant_folding, merge
from theano.rewriting.pattern import (
    P,
    Pattern,
    conformers,
    literal_readers,
    literal_value,
    operators,
    pattern_vars,
)
from theano.rewriting.phases import (
    Phase,
    Phases,
    Report,
    once,
    phases,
    predefined_queries,
    query_of,
    rewrite,
    show_again,
)
from theano.rewriting.query import DB, Query
from theano.rewriting.rule import FunctionRule, PatternRule, Rule
from theano.rewriting.whole import (
    AddDestroyHandler,
    AddFeatureOptimizer,
    CheckStackTraceFeature,
    CheckStackTraceOptimization,
    EquilibriumOptimizer,
    FromFunctionOptimizer,
    MergeOptimizer,
    NavigatorOptimizer,
    OpKeyOptimizer,
    Optimizer,
    SeqOptimizer,
    TopoOptimizer,
    check_stack_trace,
    in2out,
    inplace_optimizer,
    optimizer,
    out2in,
    pre_greedy_local_optimizer,
)

__all__ = [
    "DB",
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "CheckStackTraceFeature",
    "CheckStackTraceOptimization",
    "Context",
    "EquilibriumDB",
    "EquilibriumOptimizer",
    "FromFunctionLocalOptimizer",
    "FromFunctionOptimizer",
    "FunctionRule",
    "LocalGroupDB",
    "LocalOptGroup",
    "LocalOptimizer",
    "MergeOptimizer",
    "NavigatorOptimizer",
    "OpKeyOptimizer",
    "OpRemove",
    "OpSub",
    "Optimizer",
    "Origins",
    "P",
    "Pattern",
    "PatternRule",
    "PatternSub",
    "Phase",
    "PhaseReport",
    "Phases",
    "ProxyDB",
    "Query",
    "Report",
    "RewriteSettings",
    "Rule",
    "RuleFailure",
    "SeqOptimizer",
    "SequenceDB",
    "Step",
    "TopoDB",
    "TopoOptimizer",
    "as_rule",
    "check_stack_trace",
    "conformers",
    "constant_folding",
    "fixpoint",
    "in2out",
    "inplace_optimizer",
    "literal_readers",
    "literal_value",
    "local_optimizer",
    "local_rule",
    "merge",
    "once",
    "operators",
    "optimizer",
    "out2in",
    "pattern_vars",
    "phases",
    "pre_greedy_local_optimizer",
    "predefined_queries",
    "query_of",
    "register_canonicalize",
    "register_specialize",
    "register_specialize_device",
    "register_stabilize",
    "register_uncanonicalize",
    "register_useless",
    "rewrite",
    "rule",
    "show_again",
    "walk",
]
