"""Cheaper functions in place of the sigmoid, for those who ask for one by its name (``optimizer_including``)."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.nnet.activation import hard_sigmoid, sigmoid, ultra_fast_sigmoid
from theano.tensor.rules.words import fit


@local_rule([sigmoid], keeps="approximate", phases=("uncanonicalize",), tags=())
def local_ultra_fast_sigmoid(node: Apply) -> Any:
    """The sigmoid as three pieces of rational functions; off by up to 0.1."""
    return [fit(ultra_fast_sigmoid(node.inputs[0]), node.outputs[0])]


@local_rule([sigmoid], keeps="approximate", phases=("uncanonicalize",), tags=())
def local_hard_sigmoid(node: Apply) -> Any:
    """The sigmoid as a straight line between 0 and 1; off by up to 0.1."""
    return [fit(hard_sigmoid(node.inputs[0]), node.outputs[0])]
