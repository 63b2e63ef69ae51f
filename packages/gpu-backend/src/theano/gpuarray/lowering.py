"""What nodes become on a device: the entries of the lowering table for the target ``gpu``.

An entry has kernels for what its op's description says, if that is a loop; nothing but a look at lengths and strides, where
the CPU's own kernel reads no numbers; or a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from theano.compile.copy_ops import DeepCopyOp, ViewOp
from theano.gpuarray.array import context_name_of
from theano.gpuarray.context import GPU, get_context
from theano.gpuarray.errors import DeviceCompileError
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import OPERANDS, DeviceMap, DeviceReduction
from theano.gpuarray.writer import (
    MAP_FUNCTIONS,
    REDUCTION_FUNCTIONS,
    DeviceCode,
    accumulator_bytes,
    map_code,
    reduction_code,
)
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters, Pointer
from theano.lowering.accepts import Accepts
from theano.lowering.table import Lowering, register
from theano.lowering.targets import CPU, Target
from theano.tensor.device.lowering import transfer_kernel
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels.common import title
from theano.tensor.kernels.nest import map_of, reduction_of
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.map_reduce import MapReduce

TARGET = Target(GPU, GPU)
"""What the entries are for; which of the devices of this target is meant, the types of a node's outputs say."""

_KINDS = {"some": 0, "none": 1, "all": 2}  # TH_SOME, TH_INVARIANT and TH_FULL of abi.h


def functions(node: Apply, code: DeviceCode, names: Sequence[str]) -> list[Pointer | int]:
    """Return device functions for a node; where it is not on a device yet, and only its kind is asked about, zeros."""
    device = node.outputs[0].type.device
    if device == CPU.device:
        return [0] * len(names)
    try:
        return list(get_context(context_name_of(device)).functions(code.text, names))
    except DeviceCompileError as problem:
        raise DeviceCompileError(f"{title(node.op, node)}: {problem}", problem.text) from problem


def numbers_of_host(node: Apply) -> tuple[int, ...]:
    """Return the inputs of a loop that are single numbers of the host's: they go along with the launch, without a transfer."""
    return tuple(
        i
        for i, v in enumerate(node.inputs)
        if v.type.device == CPU.device
        and all(v.type.broadcastable)
        and not v.type.dtype.startswith("complex")
        and not (v.owner is not None and isinstance(v.owner.op, FromDevice))
    )


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << n for n in numbers)


@ready("th_kernel_gpu_map")
def map_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the elements of the outputs from those of the inputs at the same place."""
    nest, hosts = map_of(node), numbers_of_host(node)
    code = map_code(nest, hosts) if len(nest.operands) <= OPERANDS else None
    if code is None:
        return None
    flat, strided = functions(node, code, MAP_FUNCTIONS)
    return DeviceMap(
        flat=flat, strided=strided, inputs=len(nest.inputs), outputs=len(nest.outputs), axes=nest.ndim,
        hosts=_bits(hosts), ones=[x.ones for x in nest.inputs], kinds=[_KINDS[nest.moves(x)] for x in nest.inputs], over=nest.over,
        constant_bytes=len(code.constants), constants=code.constants,
    )  # fmt: skip


@ready("th_kernel_gpu_reduce")
def reduction_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return what the terms along some axes give when they are combined, in an order that the lengths decide."""
    nest, hosts = reduction_of(node), numbers_of_host(node)
    if nest is None or len(nest.inputs) + len(nest.results) > OPERANDS:
        return None
    code = reduction_code(nest, hosts)
    if code is None:
        return None
    whole, parts, finish = functions(node, code, REDUCTION_FUNCTIONS)
    return DeviceReduction(
        whole=whole, parts=parts, finish=finish, inputs=len(nest.inputs), outputs=len(nest.results), axes=nest.ndim,
        reduced=_bits(nest.axes), needed=_bits(k for k, r in enumerate(nest.results) if r.needs_terms), hosts=_bits(hosts),
        accumulators=accumulator_bytes(nest), ones=[x.ones for x in nest.inputs],
        constant_bytes=len(code.constants), constants=code.constants,
    )  # fmt: skip


register(
    Lowering(ToDevice, transfer_kernel, target=TARGET),
    Lowering(
        Elemwise, map_kernel, Accepts("*inputs -> *outputs", ndim={"inputs": "outputs"}),
        target=TARGET, on_host=numbers_of_host,
    ),
    Lowering(CAReduce, reduction_kernel, Accepts("x -> y"), target=TARGET),
    Lowering(MapReduce, reduction_kernel, Accepts("*inputs -> *results"), target=TARGET, on_host=numbers_of_host),
)
