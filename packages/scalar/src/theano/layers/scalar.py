"""What the layer of numbers says of itself before it is imported."""

from __future__ import annotations

from theano.extensions import extension
from theano.layers import LOWERINGS, Layer, describe

LAYER = describe(
    Layer(
        "theano-scalar",
        "theano.scalar",
        names={"theano.scalar": "theano.scalar"},
        extensions=(extension(LOWERINGS, "theano.scalar", ("theano.scalar.lowering",)),),
        spellings="theano.layers.documented_scalar",
    )
)
