"""Element-wise loops and reductions, which are written from their descriptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import ARGUMENTS, OPERANDS, DeviceMap, DeviceReduction
from theano.gpuarray.lowering.common import TARGET, functions, numbers_of_host
from theano.gpuarray.writer.maps import MAP_FUNCTIONS, map_code
from theano.gpuarray.writer.reductions import COLUMNS, REDUCTION_FUNCTIONS, accumulator_bytes, reduction_code
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels.nest import map_of, reduction_of
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.map_reduce import MapReduce

_KINDS = {"some": 0, "none": 1, "all": 2}  # TH_SOME, TH_INVARIANT and TH_FULL of abi.h


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << n for n in numbers)


@ready("th_kernel_gpu_map")
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
        hosts=_bits(hosts), ones=[x.ones for x in nest.inputs], kinds=[_KINDS[nest.moves(x)] for x in nest.inputs],
        over=nest.over,
        constant_bytes=len(code.constants), constants=code.constants,
    )  # fmt: skip


@ready("th_kernel_gpu_reduce")
def reduction_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return what the terms along some axes give when they are combined, in an order that the lengths decide."""
    nest, hosts = reduction_of(node), numbers_of_host(node)
    if nest is None or len(nest.inputs) + len(nest.results) > OPERANDS:
        return None
    code = reduction_code(nest, hosts)
    if code is None or code.bytes > ARGUMENTS:
        return None
    names = (*REDUCTION_FUNCTIONS, COLUMNS) if code.columns else REDUCTION_FUNCTIONS
    terms, finish, columns = (*functions(node, code.text, names), 0)[:3]
    return DeviceReduction(
        terms=terms, columns=columns, finish=finish, width=code.width,
        inputs=len(nest.inputs), outputs=len(nest.results), axes=nest.ndim,
        reduced=_bits(nest.axes), needed=_bits(k for k, r in enumerate(nest.results) if r.needs_terms),
        hosts=_bits(hosts),
        accumulators=accumulator_bytes(nest), ones=[x.ones for x in nest.inputs],
        constant_bytes=len(code.constants), constants=code.constants,
    )  # fmt: skip


register(
    Lowering(
        Elemwise, map_kernel, Accepts("*inputs -> *outputs", ndim={"inputs": "outputs"}),
        target=TARGET, on_host=numbers_of_host,
    ),
    Lowering(CAReduce, reduction_kernel, Accepts("x -> y"), target=TARGET),
    Lowering(MapReduce, reduction_kernel, Accepts("*inputs -> *results"), target=TARGET, on_host=numbers_of_host),
)
