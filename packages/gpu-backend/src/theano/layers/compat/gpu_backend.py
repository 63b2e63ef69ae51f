"""Old spellings of the GPU layer: what `theano.layers.compat` makes modules and names of."""

from __future__ import annotations

OLD_NAMES = {
    "theano.gpuarray.type": {
        "theano.gpuarray.variables": (
            "GpuArrayType GpuArrayVariable GpuArrayConstant GpuArraySharedVariable gpuarray_shared_constructor"
        ),
        "theano.gpuarray.errors": "ContextNotDefined",
        "theano.gpuarray.context": "get_context list_contexts reg_context",
    },
    "theano.gpuarray.basic_ops": {
        "theano.gpuarray.variables": (
            "GpuFromHost HostFromGpu GpuToGpu as_gpuarray_variable host_from_gpu infer_context_name"
        ),
        "theano.gpuarray.ops": "GpuAlloc GpuAllocEmpty GpuContiguous GpuEye GpuJoin GpuReshape GpuSplit",
    },
    "theano.gpuarray.subtensor": {
        "theano.gpuarray.ops": (
            "GpuSubtensor GpuIncSubtensor GpuAdvancedSubtensor1 GpuAdvancedSubtensor GpuAdvancedBooleanSubtensor "
            "GpuAdvancedIncSubtensor1 GpuAdvancedIncSubtensor GpuAdvancedBooleanIncSubtensor "
            "GpuExtractDiag GpuAllocDiag"
        ),
    },
    "theano.gpuarray.reduction": {"theano.gpuarray.ops": "GpuMaxAndArgmax"},
    "theano.gpuarray.extra_ops": {"theano.gpuarray.ops": "GpuCumOp"},
    "theano.gpuarray.elemwise": {"theano.gpuarray.ops": "GpuElemwise GpuDimShuffle GpuCAReduceCuda"},
    "theano.gpuarray.blas": {
        "theano.gpuarray.ops": "GpuGemm GpuGemv GpuGer GpuDot22",
    },
    "theano.gpuarray.pool": {
        "theano.gpuarray.ops": (
            "GpuPool GpuMaxPoolGrad GpuAveragePoolGrad GpuDownsampleFactorMaxGradGrad GpuMaxPoolRop"
        ),
    },
    "theano.gpuarray.linalg": {
        "theano.gpuarray.functions": (
            "GpuCholesky GpuCusolverSolve GpuCublasTriangularSolve GpuMagmaBase GpuMagmaCholesky GpuMagmaEigh "
            "GpuMagmaMatrixInverse GpuMagmaQR GpuMagmaSVD gpu_cholesky gpu_matrix_inverse gpu_qr gpu_solve "
            "gpu_solve_lower_triangular gpu_solve_upper_triangular gpu_svd"
        ),
    },
    "theano.gpuarray.fft": {
        "theano.gpuarray.ops": "CuRFFTOp CuIRFFTOp",
        "theano.gpuarray.functions": "curfft cuirfft",
    },
    "theano.gpuarray.ctc": {
        "theano.gpuarray.ops": "GpuConnectionistTemporalClassification",
        "theano.gpuarray.functions": "gpu_ctc",
    },
    "theano.gpuarray.blocksparse": {"theano.gpuarray.ops": "GpuSparseBlockGemv GpuSparseBlockOuter"},
    "theano.gpuarray.nnet": {
        "theano.gpuarray.ops": (
            "GpuSoftmax GpuSoftmaxWithBias GpuCrossentropySoftmaxArgmax1HotWithBias "
            "GpuCrossentropySoftmax1HotWithBiasDx"
        ),
    },
}
