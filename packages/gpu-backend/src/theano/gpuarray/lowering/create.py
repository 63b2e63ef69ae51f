"""What is made of nothing but lengths. (What fills arrays has one entry for all devices, in the tensor layer.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.gpuarray.dialect import text_of
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceTri
from theano.gpuarray.lowering.common import TARGET, functions
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.create.alloc import Tri
from theano.tensor.kernels.common import dtype_of


@ready("th_kernel_gpu_tri")
def tri_kernel(op: Any, node: Apply) -> Parameters:
    """Return a matrix with ones on a diagonal and below it."""
    (function,) = functions(node, text_of("tri.cl"), ("tri",))
    return DeviceTri(function=function, one=np.ones((), dtype_of(node.outputs[0])).tobytes().ljust(8, b"\0"))


def _all(node: Apply) -> range:
    return range(len(node.inputs))


register(
    Lowering(Tri, tri_kernel, Accepts(
        "rows, columns, k -> y", dtypes={"rows": INTEGERS, "columns": INTEGERS, "k": INTEGERS, "y": REAL},
    ), target=TARGET, on_host=_all),
)  # fmt: skip
