"""Rewriting: rules that replace parts of a graph by something better, and the sequence in which they are used.

Read in this order: ``pattern`` (how two sides of a rule are written), ``literals`` (what numbers and types are to a
layer), ``rule`` (what a rule is), ``declare`` (how it enters a phase), ``context`` (what a pass is, and what it is
given), ``drive`` (how rules meet nodes), ``phase`` (a pass made of rules), ``query`` and ``phases`` (what runs when),
``pipeline`` (from a graph to a rewritten one), ``merge``, ``provenance``, ``report``.

The core knows one kind of rule (:class:`Rule`) and one kind of pass (:class:`Pass`). ``userdefined`` is the facade: the
classes by which users of Theano write rewriters and collections of them. It adapts what they register to rules and
passes; nothing here imports it.
"""

from __future__ import annotations

from theano.rewriting.context import Context, Pass, RewriteSettings
from theano.rewriting.declare import local_rule, rule
from theano.rewriting.drive import fixpoint, once, walk
from theano.rewriting.failure import RuleFailure
from theano.rewriting.literals import conformers, literal_readers, literal_value, literal_writers
from theano.rewriting.merge import constant_folding, merge
from theano.rewriting.pattern import (
    P,
    Pattern,
    Rest,
    Special,
    Var,
    one_of,
    operators,
    pattern_vars,
)
from theano.rewriting.phase import Phase
from theano.rewriting.phases import Phases, phases
from theano.rewriting.pipeline import rewrite, show_again
from theano.rewriting.provenance import Provenance, RewriteStep
from theano.rewriting.query import Query, predefined_queries, query_of
from theano.rewriting.report import PhaseReport, Report
from theano.rewriting.rule import FunctionRule, PatternRule, Rule
from theano.rewriting.source_lines import CheckStackTraceFeature, check_stack_trace

__all__ = [
    "CheckStackTraceFeature",
    "Context",
    "FunctionRule",
    "P",
    "Pass",
    "Pattern",
    "PatternRule",
    "Phase",
    "PhaseReport",
    "Phases",
    "Provenance",
    "Query",
    "Report",
    "Rest",
    "RewriteSettings",
    "RewriteStep",
    "Rule",
    "RuleFailure",
    "Special",
    "Var",
    "check_stack_trace",
    "conformers",
    "constant_folding",
    "fixpoint",
    "literal_readers",
    "literal_value",
    "literal_writers",
    "local_rule",
    "merge",
    "once",
    "one_of",
    "operators",
    "pattern_vars",
    "phases",
    "predefined_queries",
    "query_of",
    "rewrite",
    "rule",
    "show_again",
    "walk",
]
