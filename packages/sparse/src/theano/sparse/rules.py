"""The order in which the rules of the sparse layer are tried, after those of the tensor layer."""

from __future__ import annotations

from theano.rewriting import families

#: The families in the order in which a phase shows them a node.
FAMILIES: tuple[str, ...] = ()

families.in_order(*FAMILIES)
