"""The rules that move ops to a device, by the names that programs import or exclude them by.

One pass moves all ops that this layer has kernels for (`theano.gpuarray.placement`). For programs that use the rule of
one op by itself, each name is a rule that moves nodes of that op.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from theano.gpuarray.lifting import op_lifter
from theano.gpuarray.lowering.common import TARGET
from theano.gpuarray.variables import GpuArrayType
from theano.graph import Apply
from theano.legacy.gpu_building_blocks import safe_to_gpu
from theano.lowering.table import find, lower

#: By the name of a rule, the classes of ops that it moves, in their modules.
OPS = {
    "local_gpua_elemwise": "theano.tensor.elemwise:Elemwise",
    "local_gpua_dimshuffle": "theano.tensor.elemwise:DimShuffle",
    "local_gpuaalloc": "theano.tensor.create.alloc:Alloc",
    "local_gpua_alloc2": "theano.tensor.create.alloc:Alloc",
    "local_gpua_alloc_empty": "theano.tensor.create.alloc:AllocEmpty",
    "local_gpua_eye": "theano.tensor.create.diagonals:Eye",
    "local_gpua_tri": "theano.tensor.create.diagonals:Tri",
    "local_gpua_contiguous": "theano.tensor.shape.contiguous:CpuContiguous",
    "local_gpua_reshape": "theano.tensor.shape.reshape:Reshape",
    "local_gpua_flatten": "theano.tensor.shape.reshape:Reshape",
    "local_gpua_rebroadcast": "theano.tensor.shape.basic:Rebroadcast",
    "local_gpua_specifyShape": "theano.tensor.shape.basic:SpecifyShape",
    "local_gpua_specifyShape_graph": "theano.tensor.shape.basic:SpecifyShape",
    "local_gpua_join": "theano.tensor.join.op:Join",
    "local_gpua_split": "theano.tensor.join.op:Split",
    "local_gpua_subtensor": "theano.tensor.index.basic:Subtensor",
    "local_gpua_subtensor_graph": "theano.tensor.index.basic:Subtensor",
    "local_gpua_inc_subtensor": "theano.tensor.index.basic:IncSubtensor",
    "local_gpua_advanced_subtensor1": "theano.tensor.index.advanced:AdvancedSubtensor1",
    "local_gpua_advanced_subtensor": "theano.tensor.index.advanced:AdvancedSubtensor",
    "local_gpua_advanced_boolean_subtensor": "theano.tensor.index.advanced:AdvancedBooleanSubtensor",
    "local_gpua_advanced_incsubtensor1": "theano.tensor.index.advanced:AdvancedIncSubtensor1",
    "local_gpua_advanced_incsubtensor": "theano.tensor.index.advanced:AdvancedIncSubtensor",
    "local_gpua_advanced_boolean_incsubtensor": "theano.tensor.index.advanced:AdvancedBooleanIncSubtensor",
    "local_gpu_alloc_diag": "theano.tensor.shape.diagonals:AllocDiag",
    "local_gpu_extract_diag": "theano.tensor.shape.diagonals:ExtractDiag",
    "local_gpua_careduce": "theano.tensor.reduce.careduce:CAReduce",
    "local_dnn_reduction": "theano.tensor.reduce.careduce:CAReduce",
    "local_gpu_maxandargmax": "theano.tensor.reduce.argmax:MaxAndArgmax",
    "local_cudnn_maxandargmax": "theano.tensor.reduce.argmax:MaxAndArgmax",
    "local_dnn_argmax": "theano.tensor.reduce.argmax:Argmax",
    "local_gpua_cumop": "theano.tensor.sort.cumulative:CumOp",
    "local_gpua_gemv": "theano.tensor.blas.routines:Gemv",
    "local_gpua_gemm": "theano.tensor.blas.routines:Gemm",
    "local_gpua_gemmbatch": "theano.tensor.blas.dot:BatchedDot",
    "local_gpua_ger": "theano.tensor.blas.routines:Ger",
    "local_gpua_dot22": "theano.tensor.blas.routines:Dot22",
    "local_gpua_dot22scalar": "theano.tensor.blas.routines:Dot22Scalar",
    "local_gpua_softmax": "theano.tensor.nnet.softmax:Softmax",
    "local_softmax_dnn": "theano.tensor.nnet.softmax:Softmax",
    "local_log_softmax_dnn": "theano.tensor.nnet.softmax:LogSoftmax",
    "local_gpua_logsoftmax_to_dnn": "theano.tensor.nnet.softmax:LogSoftmax",
    "local_gpua_softmax_dnn_grad": "theano.tensor.nnet.softmax:SoftmaxGrad",
    "local_gpua_softmaxwithbias": "theano.tensor.nnet.softmax:SoftmaxWithBias",
    "local_gpua_crossentropysoftmaxargmax1hotwithbias": (
        "theano.tensor.nnet.likelihood:CrossentropySoftmaxArgmax1HotWithBias"
    ),
    "local_gpua_crossentropysoftmax1hotwithbiasdx": (
        "theano.tensor.nnet.likelihood:CrossentropySoftmax1HotWithBiasDx"
    ),
    "local_gpu_pool": "theano.tensor.pool.op:Pool",
    "local_gpua_pool_dnn_alternative": "theano.tensor.pool.op:Pool",
    "local_gpu_max_pool_grad": "theano.tensor.pool.op:MaxPoolGrad",
    "local_gpua_pool_dnn_grad_stride": "theano.tensor.pool.op:MaxPoolGrad",
    "local_gpu_average_pool_grad": "theano.tensor.pool.op:AveragePoolGrad",
    "local_gpua_avg_pool_dnn_grad_stride": "theano.tensor.pool.op:AveragePoolGrad",
    "local_gpu_downsample_factor_max_grad_grad": "theano.tensor.pool.op:DownsampleFactorMaxGradGrad",
    "local_gpu_max_pool_rop": "theano.tensor.pool.op:MaxPoolRop",
    "local_gpua_mrg": "theano.tensor.random.mrg:mrg_uniform",
    "local_gpua_mrg_graph": "theano.tensor.random.mrg:mrg_uniform",
    "local_gpua_multinomial": "theano.tensor.random.categories:MultinomialFromUniform",
    "local_gpua_multinomial_wor": "theano.tensor.random.categories:ChoiceFromUniform",
    "local_gpua_topkop": "theano.tensor.sort.op:TopKOp",
    "local_gpua_curfft_op": "theano.tensor.fft.op:RFFTOp",
    "local_gpua_cuirfft_op": "theano.tensor.fft.op:IRFFTOp",
    "local_gpua_images2neibs": "theano.tensor.nnet.neighbours:Images2Neibs",
}


def moved_by_table(op: Any, context_name: str | None, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """Return what a node is on a device that this layer has a kernel for, or None: what its rules by name do.

    Parameters
    ----------
    op, context_name, inputs, outputs
        As `op_lifter` hands them on.

    Examples
    --------
    >>> import theano.tensor as T
    >>> y = T.exp(T.fvector("x"))
    >>> moved_by_table(y.owner.op, None, y.owner.inputs, y.owner.outputs)[0].type
    GpuArrayType<None>(float32, vector)
    """
    node = outputs[0].owner
    entry = find(node, TARGET)
    if entry is None or entry.only_lengths or entry.host_inputs(node) is None or lower(node, TARGET) is None:
        return None
    if entry.accepts is not None and entry.accepts.conversions(node):
        return None
    kept = entry.host_inputs(node) or ()
    moving = [v if i in kept else safe_to_gpu(v, context_name) for i, v in enumerate(inputs)]
    made = [GpuArrayType(v.type.dtype, v.type.broadcastable, context_name)(name=v.name) for v in outputs]
    return Apply(op, moving, made).outputs


def __getattr__(name: str) -> Any:
    if name not in OPS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = OPS[name].partition(":")
    rule = op_lifter([getattr(importlib.import_module(module), attribute)])(moved_by_table)
    rule.name = name
    globals()[name] = rule
    return rule


def __dir__() -> list[str]:
    return sorted(OPS)
