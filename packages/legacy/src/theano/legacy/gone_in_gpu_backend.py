"""Names of theano.gpuarray that have no meaning here, with what takes their place (`theano.legacy.gone`).

Examples
--------
>>> import theano.legacy.gone_in_gpu_backend as gone
>>> gone.GraphToGPU()
Traceback (most recent call last):
 ...
NotImplementedError: GraphToGPU is not part of this Theano: graphs are moved by theano.gpuarray.placement; rules ...
"""

from __future__ import annotations

from theano.legacy.gone import names_gone

#: By what to do instead, the names.
INSTEAD = {
    "graphs are moved by theano.gpuarray.placement; rules of programs are registered by register_opt": (
        "GraphToGPUDB GraphToGPU InputToGpuOptimizer ConvMetaOptimizer NoCuDNNRaise "
        "local_gpua_lift_abstractconv_graph local_gpua_abstractconv local_gpua_scan_to_gpua local_gpua_lazy_ifelse "
        "local_gpua_print_op local_gpu_pdbbreakpoint_op local_gpua_assert local_gpua_assert_graph "
        "local_gpua_error_convop local_gpua_sparseblockgemv local_gpua_sparseblockouter local_gpu_solve "
        "local_gpu_cholesky local_gpu_magma_cholesky local_gpu_magma_qr local_gpu_magma_qr_incomplete "
        "local_gpu_magma_matrix_inverse local_gpu_magma_eigh local_gpu_magma_svd local_gpu_ctc "
        "local_gpu_crossentropycategorical1hot local_gpu_crossentropycategorical1hotgrad local_gpua_shape "
        "local_gpua_shape_graph local_gpu_elemwise_careduce"
    ),
    "transfers in pairs, copies and joins of one part are left out by theano.gpuarray.placement and the rules of ops": (
        "local_cut_gpu_transfers local_gpu_contiguous_gpu_contiguous local_gpua_join_1 local_gpualloc_memset_0 "
        "local_gpua_alloc_empty_to_zeros"
    ),
    "what is overwritten is decided by theano.tensor.rules.inplace, on all processors": (
        "local_inplace_gpuagemv local_inplace_gpuagemm local_inplace_gpuager local_inplace_gpuagemmbatch "
        "local_advincsub1_gpua_inplace local_inplace_sparseblockgemv local_inplace_sparseblockouter "
        "local_inplace_gpu_solve local_inplace_gpu_cholesky local_inplace_gpu_magma_cholesky "
        "local_inplace_gpu_magma_matrix_inverse local_dnn_conv_inplace local_dnn_convgw_inplace "
        "local_dnn_convgi_inplace local_batch_norm_inplace_output local_batch_norm_inplace_running_mean "
        "local_batch_norm_inplace_running_var local_batch_norm_inference_inplace"
    ),
    "factors and additions go into products by the rules of theano.tensor.blas, on all processors": (
        "local_gpua_gemm_alpha_merge local_gpua_gemm_output_merge local_gpua_gemmbatch_alpha_merge "
        "local_gpua_gemmbatch_output_merge"
    ),
    "convolution is lowered by theano.gpuarray.lowering, to kernels of this layer": (
        "local_conv_gpu_conv local_abstractconv_gemm local_abstractconv_gemm_def local_abstractconv_gemm_alt "
        "local_abstractconv3d_gemm local_abstractconv3d_gemm_def local_abstractconv3d_alt local_abstractconv3d2d "
        "local_abstractconv_gradweights_gemm local_abstractconv_gemm_gradweights_alt "
        "local_abstractconv3d_gemm_gradweights_alt local_abstractconv3d_gradweights_gemm "
        "local_abstractconv_gradinputs_gemm local_abstractconv_gradinputs_gemm_alt "
        "local_abstractconv3d_gradinputs_gemm local_abstractconv3d_gradinputs_gemm_alt"
    ),
    "the layer says where cuDNN computes and where kernels of its own do, not programs": (
        "CUDNNDataType DnnVersion DnnBase MakerCDataType CDataMaker get_precision CuDNNV51 CuDNNV6 CuDNNV7 "
        "get_definitions GpuDnnDropoutOp local_abstractconv_cudnn_graph local_abstractconv3d_cudnn_graph "
        "local_abstractconv_cudnn local_abstractconv_cudnn_alt local_abstractconv3d_cudnn_alt "
        "local_abstractconv_gw_cudnn local_abstractconv_gi_cudnn local_dnn_conv_alpha_merge "
        "local_dnn_convw_alpha_merge local_dnn_convi_alpha_merge local_dnn_conv_output_merge "
        "local_dnn_convw_output_merge local_dnn_convi_output_merge local_abstract_batch_norm_train_cudnn "
        "local_abstract_batch_norm_train_grad_cudnn local_abstract_batch_norm_inference_cudnn"
    ),
    "only cuDNN had it: write the layers as a loop (theano.scan)": (
        "RNNBlock GpuDnnRNNOp GpuDnnRNNGradInputs GpuDnnRNNGradWeights"
    ),
    "take the gradient of dnn_spatialtf (theano.grad)": "GpuDnnTransformerGradI GpuDnnTransformerGradT",
    "an op launches its kernels in perform (docs/extending/device_ops.md)": (
        "forward_string_meth make_argument get_iadd"
    ),
    "transfers are nodes of the profile of a function: theano.function(..., profile=True)": "profile_printer",
    "indexing says it all in theano.tensor.index": (
        "check_and_convert_boolean_masks BaseGpuAdvancedSubtensor BaseGpuAdvancedIncSubtensor"
    ),
    "the geometry of a convolution is said by theano.tensor.conv.op.BaseAbstractConv": "BaseGpuCorrMM BaseGpuCorr3dMM",
    "the layer says where cuSOLVER computes and where kernels of its own do, not programs": (
        "attach_cublas_handle_to_context attach_cusolver_handle_to_context cusolverDnDpotrs cusolverDnSpotrs"
    ),
    "sets of the largest elements are compared by numpy.sort of both": "ValuesEqApproxNoOrder",
    "what no gradient is asked of is not computed by the rule local_ctc_no_grad": "local_gpu_ctc_no_grad",
    "set the flag assert_no_cpu_op": "local_assert_no_cpu_op",
    "call Gemm on many matrices: GpuGemmBatch": "BlasOp",
}  # fmt: skip

__getattr__ = names_gone(globals(), INSTEAD)
