"""Documented spellings of the layer of numbers: what `theano.layers.spellings` makes modules and names of.

They are the interface that Theano documents, and lead to things of this layer. theano-legacy has all others.
"""

from __future__ import annotations

OLD_NAMES = {
    "theano.scalar.basic": {
        "theano.scalar": "*",
    },
}
