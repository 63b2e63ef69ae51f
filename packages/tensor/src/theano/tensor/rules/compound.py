"""Ops that stand for an expression make room for it."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.compound import Compound
from theano.tensor.rules.words import fit


@local_rule([Compound], tags=("fast_run", "fast_compile"), phases=("canonicalize",))
def local_expand_compound(node: Apply) -> Any:
    """The expression in place of the op that stands for it."""
    made = node.op.expand(node.inputs)  # type: ignore[attr-defined]
    return [fit(new, old) for new, old in zip(made, node.outputs, strict=True)]
