"""Cheaper functions in place of the sigmoid, for those who ask for one by its name (``optimizer_including``)."""

from __future__ import annotations

from theano.rewriting import P, pattern_vars, rule
from theano.tensor.nnet.activation import hard_sigmoid, sigmoid, ultra_fast_sigmoid

(x,) = pattern_vars("x")


rule("local_ultra_fast_sigmoid", P(sigmoid)(x), P(ultra_fast_sigmoid)(x), keeps="approximate",
     phases=("uncanonicalize",),
     tags=(), doc="The sigmoid as three pieces of rational functions; off by up to 0.1.")  # fmt: skip


rule("local_hard_sigmoid", P(sigmoid)(x), lambda x: hard_sigmoid(x), keeps="approximate", phases=("uncanonicalize",),
     tags=(),
     doc="The sigmoid as a straight line between 0 and 1; off by up to 0.1.")  # fmt: skip
