"""What the layer of older programs says of itself before it is imported."""

from __future__ import annotations

from importlib.util import find_spec

from theano.layers import Layer, describe

_TABLES = (
    "graph_core", "imported_in_graph_core", "scalar", "imported_in_scalar", "tensor", "imported_in_tensor", "sparse",
    "imported_in_sparse",
)  # fmt: skip
# Old names of things on devices are there where these are.
_ON_DEVICES = ("gpu_backend",) if find_spec("theano.layers.gpu_backend") else ()

LAYER = describe(
    Layer(
        "theano-legacy",
        "theano.legacy",
        names={
            **{f"theano.{name}": f"theano.{name}" for name in ("legacy", "misc", "tests", "typed_list")},
            "theano._asarray": "theano.misc.safe_asarray:_asarray",
            "theano.test": "theano.tests:test",
        },
        spellings=" ".join(f"theano.legacy.tables.{name}" for name in (*_TABLES, *_ON_DEVICES)),
    )
)
