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
        "theano.gpuarray.ops": "GpuAlloc GpuAllocEmpty GpuContiguous GpuEye GpuTri GpuJoin GpuReshape GpuSplit",
    },
    "theano.gpuarray.subtensor": {
        "theano.gpuarray.ops": (
            "GpuSubtensor GpuIncSubtensor GpuAdvancedSubtensor1 GpuAdvancedSubtensor GpuAdvancedBooleanSubtensor "
            "GpuAdvancedIncSubtensor1 GpuAdvancedIncSubtensor GpuAdvancedBooleanIncSubtensor "
            "GpuExtractDiag GpuAllocDiag"
        ),
    },
    "theano.gpuarray.reduction": {"theano.gpuarray.ops": "GpuMaxAndArgmax"},
    "theano.gpuarray.extra_ops": {
        "theano.gpuarray.ops": "GpuCumOp",
        "theano.tensor.sort.cumulative": "GpuCumsumOp=CumsumOp",
    },
    "theano.gpuarray.elemwise": {
        "theano.gpuarray.ops": "GpuElemwise GpuDimShuffle GpuCAReduceCuda",
        "theano.scalar": "GpuErfinv=Erfinv GpuErfcinv=Erfcinv",
    },
    "theano.gpuarray.blas": {
        "theano.gpuarray.ops": "GpuGemm GpuGemv GpuGer GpuDot22",
    },
    "theano.gpuarray.sort": {"theano.gpuarray.ops": "GpuTopKOp GpuSort=GpuSortOp GpuArgSort=GpuArgSortOp"},
    "theano.gpuarray.rng_mrg": {"theano.gpuarray.ops": "GPUA_mrg_uniform"},
    "theano.gpuarray.multinomial": {
        "theano.gpuarray.ops": (
            "GPUAMultinomialFromUniform GPUAChoiceFromUniform "
            "GPUAMultinomialWOReplacementFromUniform=GPUAChoiceFromUniform"
        ),
    },
    "theano.gpuarray.pool": {
        "theano.gpuarray.ops": (
            "GpuPool GpuMaxPoolGrad GpuAveragePoolGrad GpuDownsampleFactorMaxGradGrad GpuMaxPoolRop"
        ),
    },
    "theano.gpuarray.nnet": {
        "theano.gpuarray.ops": (
            "GpuSoftmax GpuSoftmaxWithBias GpuCrossentropySoftmaxArgmax1HotWithBias "
            "GpuCrossentropySoftmax1HotWithBiasDx"
        ),
    },
}
