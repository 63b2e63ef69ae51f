"""What the layer of sparse matrices says of itself before it is imported."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from theano.compile.shared import constructors
from theano.extensions import extension
from theano.graph.canonical import fact_finders
from theano.layers import LOWERINGS, RULES, Layer, describe

_SPARSE = "theano.sparse"

#: The families of ops that have entries, in a module `lowering` of each.
LOWERED = ("elemwise", "parts", "product", "reduce")


def _knows(value: object) -> bool:
    """Return whether a value is a sparse matrix; before the import of SciPy's, it is not."""
    scipy: Any = sys.modules.get("scipy.sparse")
    return scipy is not None and bool(scipy.issparse(value))


def _shared_matrix(value: Any, **options: Any) -> Any:
    """Return a shared variable for a sparse matrix, by a module that is loaded for it."""
    if not _knows(value):
        raise TypeError(f"this is for sparse matrices, not for a {type(value).__name__}")
    return importlib.import_module("theano.sparse.sharedvar").sparse_constructor(value, **options)


def _libraries() -> str:
    """Return the levels for which there is a kernel library that this CPU can run."""
    return " ".join(importlib.import_module("theano.sparse.kernels.library").levels())


LAYER = describe(
    Layer(
        "theano-sparse",
        "theano.sparse",
        names={"theano.sparse": "theano.sparse", "theano.sparse_grad": "theano.sparse.structure.op:sparse_grad"},
        knows=_knows,
        extensions=(
            *(extension(LOWERINGS, f"{_SPARSE}.{family}", (f"theano.sparse.{family}.lowering",)) for family in LOWERED),
            extension(RULES, "theano.sparse.rules", None),
            fact_finders.extension("levels of the sparse kernel library", _libraries),
            constructors.extension(_shared_matrix),
        ),
        spellings="theano.layers.documented_sparse",
    )
)
