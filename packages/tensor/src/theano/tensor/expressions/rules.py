"""Ops that stand for an expression make room for it."""

from __future__ import annotations

from typing import Any

from theano.rewriting import P, Rest, pattern_vars, rule
from theano.tensor.compound import Compound
from theano.tensor.expressions.ops import Flatten, Tile
from theano.tensor.rules.predicates import conform, function_of, worth

(x,) = pattern_vars("x")


# These two speak of the ops by name, so they come before the rule that replaces such ops.
rule("local_flatten_lift", P(Flatten, "flatten")(function_of(x).single_use()), P("f")(P("flatten")(x)),
     phases=("canonicalize", "stabilize"),
     doc="An element-wise op of one input that is flattened moves behind that.")  # fmt: skip


rule("local_useless_tile", P(Tile)(x, worth(1)), x, phases=("canonicalize", "stabilize"),
     doc="A tensor repeated once along each axis is that tensor, with dimensions of length 1 on its left.")  # fmt: skip


def _inlined(op: Any, out: Any) -> Any:
    made = op.inlined(out.owner)
    return [conform(new, old) for new, old in zip(made, out.owner.outputs, strict=True)] if made else None


rule("local_expand_compound", P(Compound, "op")(Rest("inputs")), _inlined,
     tags=("fast_run", "fast_compile"), doc="The expression in place of the op that stands for it.")  # fmt: skip
