"""Documented spellings of the layer of sparse matrices: what `theano.layers.spellings` makes modules and names of.

They are the interface that Theano documents, and lead to things of this layer. theano-legacy has all others.
"""

from __future__ import annotations

OLD_NAMES = {
    "theano.sparse.basic": {
        "theano.sparse": "*",
    },
}
