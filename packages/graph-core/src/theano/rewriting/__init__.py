"""Rewriting: rules that replace parts of a graph by something better, and the sequence in which they are used.

Read in this order: ``pattern`` (how two sides of a rule are written), ``rule`` (what a rule is), ``declare`` (how it
enters a phase), ``drive`` (how rules meet nodes), ``phases`` (what runs when), ``merge``, ``history``.
"""

from __future__ import annotations

from theano.rewriting.declare import local_rule, rule
from theano.rewriting.drive import Context, PhaseReport, RewriteSettings, fixpoint, walk
from theano.rewriting.history import Origins, Step
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
from theano.rewriting.phases import Phase, Phases, Query, Report, once, phases, predefined_queries, query_of, rewrite
from theano.rewriting.rule import FunctionRule, PatternRule, Rule

__all__ = [
    "Context",
    "FunctionRule",
    "Origins",
    "P",
    "Pattern",
    "PatternRule",
    "Phase",
    "PhaseReport",
    "Phases",
    "Query",
    "Report",
    "RewriteSettings",
    "Rule",
    "Step",
    "conformers",
    "constant_folding",
    "fixpoint",
    "literal_readers",
    "literal_value",
    "local_rule",
    "merge",
    "once",
    "operators",
    "pattern_vars",
    "phases",
    "predefined_queries",
    "query_of",
    "rewrite",
    "rule",
    "walk",
]
