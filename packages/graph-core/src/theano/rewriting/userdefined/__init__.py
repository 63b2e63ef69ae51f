"""User-defined rewriters: the documented classes by which users write rules, passes and collections of them.

A facade: what is registered here becomes a :class:`~theano.rewriting.rule.Rule`, a
:class:`~theano.rewriting.context.Pass`, a phase or a sequence of the core, and nothing else runs. The core imports
nothing of it (`tools/check_layers.py` proves that); programs find these names in ``theano.gof``.

Read in this order: ``node_rewriters`` and ``pattern_sub``, ``graph_rewriters``, ``databases``, ``collection``,
``adapt``.
"""

from __future__ import annotations

from theano.rewriting.userdefined.adapt import as_pass, as_rule
from theano.rewriting.userdefined.collection import DB, adapted
from theano.rewriting.userdefined.databases import (
    EquilibriumDB,
    SequenceDB,
    optdb,
    register_canonicalize,
    register_specialize,
    register_specialize_device,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)
from theano.rewriting.userdefined.graph_rewriters import (
    AddDestroyHandler,
    AddFeatureOptimizer,
    EquilibriumOptimizer,
    FromFunctionOptimizer,
    MergeOptimizer,
    NavigatorOptimizer,
    Optimizer,
    SeqOptimizer,
    TopoOptimizer,
    in2out,
    inplace_optimizer,
    optimizer,
    out2in,
)
from theano.rewriting.userdefined.node_rewriters import (
    FromFunctionLocalOptimizer,
    LocalOptGroup,
    LocalOptimizer,
    OpRemove,
    OpSub,
    local_optimizer,
)
from theano.rewriting.userdefined.pattern_sub import PatternSub

__all__ = [
    "DB",
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "EquilibriumDB",
    "EquilibriumOptimizer",
    "FromFunctionLocalOptimizer",
    "FromFunctionOptimizer",
    "LocalOptGroup",
    "LocalOptimizer",
    "MergeOptimizer",
    "NavigatorOptimizer",
    "OpRemove",
    "OpSub",
    "Optimizer",
    "PatternSub",
    "SeqOptimizer",
    "SequenceDB",
    "TopoOptimizer",
    "adapted",
    "as_pass",
    "as_rule",
    "in2out",
    "inplace_optimizer",
    "local_optimizer",
    "optdb",
    "optimizer",
    "out2in",
    "register_canonicalize",
    "register_specialize",
    "register_specialize_device",
    "register_stabilize",
    "register_uncanonicalize",
    "register_useless",
]
