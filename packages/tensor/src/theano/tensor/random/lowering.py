"""Random numbers: kernels built with the layer (``c/mrg.c``, ``c/philox.c``)."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Accepts, Dtypes
from theano.lowering.table import Lowering, register
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import ready
from theano.tensor.kernels.parameters import RandomKind
from theano.tensor.random.mrg import mrg_uniform
from theano.tensor.random.philox import PhiloxDraw


@ready("th_kernel_mrg_uniform", work=1.0)
def mrg_uniform_kernel(op: mrg_uniform, node: Apply) -> Parameters:
    """Return uniform numbers of many streams of MRG31k3p, and the next states."""
    return parameters.MrgUniformParams(in_place=op.inplace)


@ready("th_kernel_philox", work=1.0)
def philox_kernel(op: PhiloxDraw, node: Apply) -> Parameters:
    """Return bits, uniform or normal numbers of Philox 4x32-10, and the next state."""
    return parameters.PhiloxParams(in_place=op.inplace, kind=RandomKind[op.kind.upper()])


_INT32 = Dtypes("int32", frozenset({"int32"}))
_UINT64 = Dtypes("uint64", frozenset({"uint64"}))
_DRAWN = Dtypes("uint32, uint64, float32 or float64", frozenset({"uint32", "uint64", "float32", "float64"}))

register(
    Lowering(mrg_uniform, mrg_uniform_kernel, Accepts(
        "states, size -> next, numbers", dtypes={"states": _INT32, "size": INTEGERS, "numbers": SINGLE_OR_DOUBLE},
    )),
    Lowering(PhiloxDraw, philox_kernel, Accepts(
        "state, size -> next, numbers", dtypes={"state": _UINT64, "size": INTEGERS, "numbers": _DRAWN},
    )),
)  # fmt: skip
