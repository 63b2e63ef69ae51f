"""Ops on devices, as instances that older programs call."""

from __future__ import annotations

from theano.gpuarray.ops import (
    CuIRFFTOp,
    CuRFFTOp,
    GpuAllocEmpty,
    GpuContiguous,
    GpuCrossentropySoftmax1HotWithBiasDx,
    GpuCrossentropySoftmaxArgmax1HotWithBias,
    GpuDot22,
    GpuGemm,
    GpuGemmBatch,
    GpuGemv,
    GpuGer,
    GpuJoin,
    GpuSoftmax,
    GpuSoftmaxWithBias,
    GpuSparseBlockGemv,
    GpuSparseBlockOuter,
)
from theano.gpuarray.variables import GpuFromHost

gpu_contiguous, gpu_join = GpuContiguous(), GpuJoin()
gpu_dot22 = GpuDot22()
gpugemv_no_inplace, gpugemv_inplace = GpuGemv(inplace=False), GpuGemv(inplace=True)
gpugemm_no_inplace, gpugemm_inplace = GpuGemm(inplace=False), GpuGemm(inplace=True)
gpuger_no_inplace, gpuger_inplace = GpuGer(inplace=False), GpuGer(inplace=True)
gpugemmbatch_no_inplace, gpugemmbatch_inplace = GpuGemmBatch(inplace=False), GpuGemmBatch(inplace=True)
gpu_sparse_block_gemv, gpu_sparse_block_gemv_inplace = GpuSparseBlockGemv(False), GpuSparseBlockGemv(True)
gpu_sparse_block_outer, gpu_sparse_block_outer_inplace = GpuSparseBlockOuter(False), GpuSparseBlockOuter(True)
gpu_softmax, gpu_softmax_with_bias = GpuSoftmax(), GpuSoftmaxWithBias()
gpu_crossentropy_softmax_argmax_1hot_with_bias = GpuCrossentropySoftmaxArgmax1HotWithBias()
gpu_crossentropy_softmax_1hot_with_bias_dx = GpuCrossentropySoftmax1HotWithBiasDx()
curfft_op, cuirfft_op = CuRFFTOp(), CuIRFFTOp()

# Of the backend before, with its one device and dtype.
gpu_from_host, gpu_alloc_empty = GpuFromHost(None), GpuAllocEmpty("float32", None)
