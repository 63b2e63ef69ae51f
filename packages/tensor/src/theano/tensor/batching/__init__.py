"""Graphs for many values at once: `vectorize`, `vectorize_graph`, and the batching rules of this layer's ops.

`theano.batching` has the walk. The rules of an op family are in its folder (``batching.py``), and enter one table; they
are loaded when the first graph is batched. ``batched_node.py`` is what a rule is given, ``loops.py``
the loop over what has no rule.
"""

from __future__ import annotations

from theano.tensor.batching import loops  # noqa: F401  (this and the following enter their rules)
from theano.tensor.batching.batched_node import TABLE
from theano.tensor.batching.vectorize import vectorize, vectorize_graph
from theano.tensor.blas import batching as _products  # noqa: F401
from theano.tensor.conv import batching as _convolutions  # noqa: F401
from theano.tensor.elemwise import batching as _elemwise  # noqa: F401
from theano.tensor.index import batching as _index  # noqa: F401
from theano.tensor.pool import batching as _pooling  # noqa: F401
from theano.tensor.shape import batching as _shape  # noqa: F401

__all__ = ["TABLE", "vectorize", "vectorize_graph"]
