"""Graphs for many values at once: `vectorize`, `vectorize_graph`, and the batching rules of this layer's ops.

`theano.batching` has the walk. The modules here have the rules, an op family each, in one table; they are loaded when
the first graph is batched. ``given.py`` is what a rule is given, ``loops.py`` the loop over what has no rule.
"""

from __future__ import annotations

from theano.tensor.batching import elementwise, index, layout, loops, products  # noqa: F401  (they enter their rules)
from theano.tensor.batching.given import TABLE
from theano.tensor.batching.vectorize import vectorize, vectorize_graph

__all__ = ["TABLE", "vectorize", "vectorize_graph"]
