"""Reductions, which are written from their descriptions, and those with a text of their own.

The latter say where the largest element is, and logarithms of sums of exponentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano.gpuarray.dialect import text_of
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import ARGUMENTS, OPERANDS, DeviceReduction
from theano.gpuarray.lowering.common import bits, functions, numbers_of_host, on_device, shipped
from theano.gpuarray.writer.parts import WIDEST, size_of
from theano.gpuarray.writer.reduce import COLUMNS, REDUCTION_FUNCTIONS, accumulator_bytes, reduction_code
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import FLOATS
from theano.lowering.table import register
from theano.tensor.kernels.common import dtype_of, ndim_of, normal_axes
from theano.tensor.kernels.nest import reduction_of
from theano.tensor.reduce.argmax import Argmax, Argmin, MaxAndArgmax
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.reduce.map_reduce import MapReduce

_STATE = 16  # bytes of what each of the texts keeps of an element
_MANY = 8  # elements that a work-item reads before it looks at one


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
        reduced=bits(nest.axes), needed=bits(k for k, r in enumerate(nest.results) if r.needs_terms),
        hosts=bits(hosts),
        accumulators=accumulator_bytes(nest), ones=[x.ones for x in nest.inputs],
        constant_bytes=len(code.constants), constants=code.constants,
    )  # fmt: skip


def _reduction(
    op: Any, node: Apply, file: str, uses: Sequence[str] = (), needed: int = 0, **words: object
) -> Parameters | None:
    """Return a reduction along the axes of an op, by a file of the dialect and ``reduce.cl`` after it."""
    ndim = ndim_of(node.inputs[0])
    axes = normal_axes(op.axis, ndim)
    if not ndim or ndim_of(node.outputs[0]) != ndim - len(axes):
        return None
    dtype = dtype_of(node.inputs[0])
    size = size_of(dtype)
    pack = min(_MANY, WIDEST // size)
    sizes = {"AXES": ndim, "OUTPUTS": len(node.outputs), "MANY": _MANY, "PACK": pack, "PACK_BYTES": pack * size}
    text = shipped(file, dtype, uses, **sizes, **words)
    terms, finish = functions(node, text + text_of("reduce.cl"), REDUCTION_FUNCTIONS)
    return DeviceReduction(
        terms=terms, columns=0, finish=finish, width=pack, inputs=1, outputs=len(node.outputs), axes=ndim,
        reduced=bits(axes), needed=needed, accumulators=_STATE, hosts=0,
        ones=[0], constant_bytes=0, constants=b"",
    )  # fmt: skip


def _places(op: Any, node: Apply, smallest: bool) -> Parameters | None:
    return _reduction(op, node, "reduce_argmax.cl", needed=(1 << len(node.outputs)) - 1, SMALLEST=int(smallest))


@ready("th_kernel_gpu_reduce")
def argmax_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the places of the largest elements, and these themselves where two outputs are wanted."""
    return _places(op, node, smallest=False)


@ready("th_kernel_gpu_reduce")
def argmin_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the places of the smallest elements."""
    return _places(op, node, smallest=True)


@ready("th_kernel_gpu_reduce")
def logsumexp_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the logarithm of the sum of exponentials along some axes; of none it is minus infinity."""
    exact = dtype_of(node.inputs[0]) == "float64"
    words: dict[str, Any] = {"POWER(x)": "EXP(x)" if exact else "th_exp2_approx((x) * 0x1.715476p+0f)"}
    return _reduction(op, node, "reduce_logsumexp.cl", ("exp", "log") if exact else ("log",), **words)


register(
    on_device(CAReduce, reduction_kernel),
    on_device(MapReduce, reduction_kernel, on_host=numbers_of_host),
    on_device(LogSumExp, logsumexp_kernel, {"x": FLOATS}),
    on_device(Argmax, argmax_kernel),
    on_device(Argmin, argmin_kernel),
    on_device(MaxAndArgmax, argmax_kernel),
)
