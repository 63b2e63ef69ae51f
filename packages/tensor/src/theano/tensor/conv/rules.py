"""Which op computes a convolution: the ops of graphs say what is meant, those that a function holds say how it runs.

All kernels here are products of matrices whose rows are read where the image has them, which are
``CorrMM`` and its relatives: programs find these in a rewritten graph, and name the rules, or ``conv_gemm``, in a mode.
"""

from __future__ import annotations

from typing import Any

from theano.rewriting import P, Rest, rule
from theano.tensor.conv import op as meant
from theano.tensor.conv import products

#: Programs choose by the first, or by the whole group.
TAGS = ("conv_gemm", "conv_opts", "fast_run", "fast_compile")


def _product(name: str, kind: type[meant.BaseAbstractConv], product: type[Any]) -> Any:
    """Declare that what is meant by a node of ``kind`` is computed by ``product``."""
    # A subclass says already how it runs.
    return rule(name, P(kind, "op")(Rest("inputs")), lambda op, inputs: [product.like(op)(*inputs)],
                when=lambda op: type(op) is kind, phases=("specialize_device",), tags=TAGS,
                doc="A convolution is computed as a product of matrices, without a copy of the image in rows.",
    )  # fmt: skip


local_abstractconv_gemm = _product("local_abstractconv_gemm", meant.AbstractConv2d, products.CorrMM)
local_abstractconv_gradweight_gemm = _product(
    "local_abstractconv_gradweight_gemm", meant.AbstractConv2d_gradWeights, products.CorrMM_gradWeights
)
local_abstractconv_gradinputs_gemm = _product(
    "local_abstractconv_gradinputs_gemm", meant.AbstractConv2d_gradInputs, products.CorrMM_gradInputs
)
local_abstractconv3d_gemm = _product("local_abstractconv3d_gemm", meant.AbstractConv3d, products.Corr3dMM)
local_abstractconv3d_gradweight_gemm = _product(
    "local_abstractconv3d_gradweight_gemm", meant.AbstractConv3d_gradWeights, products.Corr3dMM_gradWeights
)
local_abstractconv3d_gradinputs_gemm = _product(
    "local_abstractconv3d_gradinputs_gemm", meant.AbstractConv3d_gradInputs, products.Corr3dMM_gradInputs
)
