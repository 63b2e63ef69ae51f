"""What the layer of numbers says of itself before it is imported."""

from __future__ import annotations

from theano.layers import Layer, describe
from theano.lowering.table import modules

LAYER = describe(
    Layer(
        "theano-scalar",
        "theano.scalar",
        names={"theano.scalar": "theano.scalar"},
        extensions=(modules.extension("theano.scalar", ("theano.scalar.lowering",)),),
        compat="theano.layers.compat.scalar theano.layers.compat.imported_in_scalar",
    )
)
