"""Element-wise loops, which are written from their descriptions."""

from __future__ import annotations

from typing import Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import ARGUMENTS, OPERANDS, DeviceMap
from theano.gpuarray.lowering.common import bits, functions, numbers_of_host, on_device
from theano.gpuarray.writer.elemwise import MAP_FUNCTIONS, map_code
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.table import register
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels.nest import map_of

_KINDS = {"some": 0, "none": 1, "all": 2}  # TH_SOME, TH_INVARIANT and TH_FULL of abi.h


@ready("th_kernel_gpu_elemwise")
def map_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the elements of the outputs from those of the inputs at the same place."""
    nest, hosts = map_of(node), numbers_of_host(node)
    code = map_code(nest, hosts) if len(nest.operands) <= OPERANDS else None
    if code is None or code.bytes > ARGUMENTS:
        return None
    rows, strided = functions(node, code.text, MAP_FUNCTIONS)
    return DeviceMap(
        rows=rows, strided=strided, width=code.width,
        inputs=len(nest.inputs), outputs=len(nest.outputs), axes=nest.ndim,
        hosts=bits(hosts), ones=[x.ones for x in nest.inputs], kinds=[_KINDS[nest.moves(x)] for x in nest.inputs],
        over=nest.over,
        constant_bytes=len(code.constants), constants=code.constants,
    )  # fmt: skip


register(on_device(Elemwise, map_kernel, on_host=numbers_of_host))
