"""Old spellings of the GPU layer: what `theano.layers.spellings` makes modules and names of."""

from __future__ import annotations

OLD_NAMES = {
    "theano.gpuarray": {
        "theano.gpuarray.variables": "transfer",
        "theano.legacy.gpu_helpers": "pygpu_parse_version",
    },
    "theano.gpuarray.type": {
        "theano.gpuarray.variables": (
            "GpuArrayType GpuArrayVariable GpuArrayConstant GpuArraySharedVariable gpuarray_shared_constructor"
        ),
        "theano.gpuarray.errors": "ContextNotDefined",
        "theano.gpuarray.context": "get_context list_contexts reg_context",
        "theano.legacy.gpu_helpers": (
            "GpuArraySignature GpuArray_pickler GpuArray_unpickler gpu_supported move_to_gpu values_eq_approx "
            "values_eq_approx_remove_inf values_eq_approx_remove_inf_nan values_eq_approx_remove_nan"
        ),
        "theano.gpuarray.device_ops": "GpuContextType gpu_context_type",
    },
    "theano.gpuarray.basic_ops": {
        "theano.gpuarray.variables": (
            "GpuFromHost HostFromGpu GpuToGpu as_gpuarray_variable host_from_gpu infer_context_name GpuArrayType"
        ),
        "theano.gpuarray.ops": "GpuAlloc GpuAllocEmpty GpuContiguous GpuEye GpuJoin GpuReshape GpuSplit GpuTri",
        "theano.gpuarray.device_ops": (
            "CGpuKernelBase GpuKernelBase GpuKernelBaseCOp=GpuKernelBase GpuKernelBaseExternalCOp=CGpuKernelBase "
            "Kernel=UserKernel get_dtype gpu_context_type"
        ),
        "theano.legacy.gpu_building_blocks": "get_ctype gpuarray_helper_inc_dir",
        "theano.legacy.gpu_helpers": "empty_like",
        "theano.legacy.gpu_instances": "gpu_contiguous gpu_join",
        "theano.legacy.gone_in_gpu_backend": "forward_string_meth profile_printer",
    },
    "theano.gpuarray.subtensor": {
        "theano.gpuarray.ops": (
            "GpuSubtensor GpuIncSubtensor GpuAdvancedSubtensor1 GpuAdvancedSubtensor GpuAdvancedBooleanSubtensor "
            "GpuAdvancedIncSubtensor1 GpuAdvancedIncSubtensor GpuAdvancedBooleanIncSubtensor GpuExtractDiag "
            "GpuAllocDiag GpuAdvancedIncSubtensor1_dev20=GpuAdvancedIncSubtensor1"
        ),
        "theano.legacy.gone_in_gpu_backend": (
            "BaseGpuAdvancedIncSubtensor BaseGpuAdvancedSubtensor check_and_convert_boolean_masks get_iadd"
        ),
    },
    "theano.gpuarray.reduction": {
        "theano.gpuarray.ops": "GpuMaxAndArgmax",
    },
    "theano.gpuarray.extra_ops": {
        "theano.gpuarray.ops": "GpuCumOp GpuCumsumOp=GpuCumOp",
        "theano.legacy.gpu_rules": "local_gpua_cumop",
    },
    "theano.gpuarray.elemwise": {
        "theano.gpuarray.ops": "GpuElemwise GpuDimShuffle GpuCAReduceCuda",
        "theano.legacy.gpu_helpers": (
            "GpuCAReduce=GpuCAReduceCPY GpuCAReduceCPY SupportCodeError as_C_string_const get_scal gpu_ca_reduce_cuda "
            "max_inputs_to_GpuElemwise"
        ),
        "theano.scalar": "GpuErfcinv=Erfcinv GpuErfinv=Erfinv gpu_erfcinv=erfcinv gpu_erfinv=erfinv",
        "theano.legacy.gone_in_gpu_backend": "make_argument",
    },
    "theano.gpuarray.blas": {
        "theano.gpuarray.ops": (
            "GpuGemm GpuGemv GpuGer GpuDot22 GpuGemmBatch GpuCorrMM GpuCorrMM_gradWeights GpuCorrMM_gradInputs "
            "GpuCorr3dMM GpuCorr3dMM_gradWeights GpuCorr3dMM_gradInputs"
        ),
        "theano.legacy.gpu_instances": (
            "gpu_dot22 gpugemm_inplace gpugemm_no_inplace gpugemmbatch_inplace gpugemmbatch_no_inplace gpugemv_inplace "
            "gpugemv_no_inplace gpuger_inplace gpuger_no_inplace"
        ),
        "theano.legacy.gone_in_gpu_backend": (
            "BaseGpuCorr3dMM BaseGpuCorrMM BlasOp local_inplace_gpuagemm local_inplace_gpuagemmbatch "
            "local_inplace_gpuagemv local_inplace_gpuager"
        ),
    },
    "theano.gpuarray.neighbours": {"theano.gpuarray.ops": "GpuImages2Neibs"},
    "theano.gpuarray.sort": {
        "theano.gpuarray.ops": "GpuTopKOp GpuSort=GpuSortOp GpuArgSort=GpuArgSortOp",
        "theano.legacy.gpu_rules": "local_gpua_topkop",
        "theano.legacy.gone_in_gpu_backend": "ValuesEqApproxNoOrder",
    },
    "theano.gpuarray.rng_mrg": {
        "theano.gpuarray.ops": "GPUA_mrg_uniform",
        "theano.legacy.gpu_rules": "local_gpua_mrg local_gpua_mrg_graph",
    },
    "theano.gpuarray.multinomial": {
        "theano.gpuarray.ops": (
            "GPUAMultinomialFromUniform GPUAChoiceFromUniform "
            "GPUAMultinomialWOReplacementFromUniform=GPUAChoiceFromUniform"
        ),
        "theano.legacy.gpu_rules": "local_gpua_multinomial local_gpua_multinomial_wor",
    },
    "theano.gpuarray.pool": {
        "theano.gpuarray.ops": (
            "GpuPool GpuMaxPoolGrad GpuAveragePoolGrad GpuDownsampleFactorMaxGradGrad GpuMaxPoolRop"
        ),
    },
    "theano.gpuarray.linalg": {
        "theano.legacy.gpu_functions": (
            "GpuCholesky GpuCusolverSolve GpuCublasTriangularSolve GpuMagmaBase GpuMagmaCholesky GpuMagmaEigh "
            "GpuMagmaMatrixInverse GpuMagmaQR GpuMagmaSVD gpu_cholesky gpu_matrix_inverse gpu_qr gpu_solve "
            "gpu_solve_lower_triangular gpu_solve_upper_triangular gpu_svd"
        ),
        "theano.legacy.gone_in_gpu_backend": (
            "attach_cublas_handle_to_context attach_cusolver_handle_to_context cusolverDnDpotrs cusolverDnSpotrs"
        ),
    },
    "theano.gpuarray.fft": {
        "theano.gpuarray.ops": "CuRFFTOp CuIRFFTOp",
        "theano.legacy.gpu_instances": "curfft_op cuirfft_op",
        "theano.legacy.gpu_functions": "curfft cuirfft",
        "theano.legacy.gpu_rules": "local_gpua_curfft_op local_gpua_cuirfft_op",
    },
    "theano.gpuarray.ctc": {
        "theano.gpuarray.ops": "GpuConnectionistTemporalClassification",
        "theano.legacy.gpu_functions": "gpu_ctc",
        "theano.legacy.gone_in_gpu_backend": "local_gpu_ctc_no_grad",
    },
    "theano.gpuarray.blocksparse": {
        "theano.gpuarray.ops": "GpuSparseBlockGemv GpuSparseBlockOuter",
        "theano.legacy.gpu_instances": (
            "gpu_sparse_block_gemv gpu_sparse_block_gemv_inplace gpu_sparse_block_outer gpu_sparse_block_outer_inplace"
        ),
    },
    "theano.gpuarray.nnet": {
        "theano.gpuarray.ops": (
            "GpuSoftmax GpuSoftmaxWithBias GpuCrossentropySoftmaxArgmax1HotWithBias "
            "GpuCrossentropySoftmax1HotWithBiasDx"
        ),
        "theano.legacy.gpu_instances": (
            "gpu_crossentropy_softmax_1hot_with_bias_dx gpu_crossentropy_softmax_argmax_1hot_with_bias gpu_softmax "
            "gpu_softmax_with_bias"
        ),
    },
    "theano.gpuarray.opt": {
        "theano.legacy.gone_in_gpu_backend": (
            "ConvMetaOptimizer GraphToGPU GraphToGPUDB InputToGpuOptimizer local_abstractconv3d2d "
            "local_abstractconv3d_alt local_abstractconv3d_gemm local_abstractconv3d_gemm_def "
            "local_abstractconv3d_gemm_gradweights_alt local_abstractconv3d_gradinputs_gemm "
            "local_abstractconv3d_gradinputs_gemm_alt local_abstractconv3d_gradweights_gemm "
            "local_abstractconv_gemm local_abstractconv_gemm_alt local_abstractconv_gemm_def "
            "local_abstractconv_gemm_gradweights_alt local_abstractconv_gradinputs_gemm "
            "local_abstractconv_gradinputs_gemm_alt local_abstractconv_gradweights_gemm "
            "local_advincsub1_gpua_inplace local_assert_no_cpu_op local_conv_gpu_conv local_cut_gpu_transfers "
            "local_gpu_cholesky local_gpu_contiguous_gpu_contiguous local_gpu_crossentropycategorical1hot "
            "local_gpu_crossentropycategorical1hotgrad local_gpu_ctc local_gpu_elemwise_careduce "
            "local_gpu_magma_cholesky local_gpu_magma_eigh local_gpu_magma_matrix_inverse local_gpu_magma_qr "
            "local_gpu_magma_qr_incomplete local_gpu_magma_svd local_gpu_pdbbreakpoint_op local_gpu_solve "
            "local_gpua_abstractconv local_gpua_alloc_empty_to_zeros local_gpua_assert local_gpua_assert_graph "
            "local_gpua_error_convop local_gpua_gemm_alpha_merge local_gpua_gemm_output_merge "
            "local_gpua_gemmbatch_alpha_merge local_gpua_gemmbatch_output_merge local_gpua_join_1 "
            "local_gpua_lazy_ifelse local_gpua_lift_abstractconv_graph local_gpua_print_op "
            "local_gpua_scan_to_gpua local_gpua_shape local_gpua_shape_graph local_gpua_sparseblockgemv "
            "local_gpua_sparseblockouter local_gpualloc_memset_0 local_inplace_gpu_cholesky "
            "local_inplace_gpu_magma_cholesky local_inplace_gpu_magma_matrix_inverse local_inplace_gpu_solve "
            "local_inplace_sparseblockgemv local_inplace_sparseblockouter"
        ),
        "theano.legacy.gpu_helpers": (
            "gpu_print_wrapper gpu_reconstruct_graph gpu_safe_new split_inputs tensor_to_gpu"
        ),
        "theano.legacy.gpu_rules": (
            "local_gpu_alloc_diag local_gpu_average_pool_grad local_gpu_downsample_factor_max_grad_grad "
            "local_gpu_extract_diag local_gpu_max_pool_grad local_gpu_max_pool_rop local_gpu_maxandargmax "
            "local_gpu_pool local_gpua_advanced_boolean_incsubtensor local_gpua_advanced_boolean_subtensor "
            "local_gpua_advanced_incsubtensor local_gpua_advanced_incsubtensor1 local_gpua_advanced_subtensor "
            "local_gpua_advanced_subtensor1 local_gpua_alloc2 local_gpua_alloc_empty local_gpua_careduce "
            "local_gpua_contiguous local_gpua_crossentropysoftmax1hotwithbiasdx "
            "local_gpua_crossentropysoftmaxargmax1hotwithbias local_gpua_dimshuffle local_gpua_dot22 "
            "local_gpua_dot22scalar local_gpua_elemwise local_gpua_eye local_gpua_flatten local_gpua_gemm "
            "local_gpua_gemmbatch local_gpua_gemv local_gpua_ger local_gpua_images2neibs local_gpua_inc_subtensor "
            "local_gpua_join local_gpua_rebroadcast local_gpua_reshape local_gpua_softmax "
            "local_gpua_softmaxwithbias local_gpua_specifyShape local_gpua_specifyShape_graph local_gpua_split "
            "local_gpua_subtensor local_gpua_subtensor_graph local_gpua_tri local_gpuaalloc"
        ),
        "theano.gpuarray.lifting": "op_lifter register_opt safe_to_cpu gpu_optimizer",
        "theano.legacy.gpu_building_blocks": "register_inplace register_opt2 safe_to_gpu",
        "theano.gpuarray.variables": "GpuFromHost host_from_gpu",
        "theano.gpuarray.ops": "GpuElemwise",
    },
    "theano.gpuarray.optdb": {
        "theano.legacy.gone_in_gpu_backend": "GraphToGPUDB",
        "theano.gpuarray.lifting": "register_opt",
        "theano.legacy.gpu_building_blocks": "register_inplace register_opt2",
    },
    "theano.gpuarray.opt_util": {
        "theano.legacy.gpu_merging": (
            "alpha_merge find_node grab_cpu_scalar inplace_allocempty is_equal output_merge pad_dims unpad_dims"
        ),
        "theano.gpuarray.lifting": "op_lifter safe_to_cpu",
        "theano.legacy.gpu_building_blocks": "safe_to_gpu",
    },
    "theano.gpuarray.dnn": {
        "theano.legacy.gone_in_gpu_backend": (
            "CDataMaker CUDNNDataType DnnBase DnnVersion GpuDnnDropoutOp GpuDnnRNNGradInputs GpuDnnRNNGradWeights "
            "GpuDnnRNNOp GpuDnnTransformerGradI GpuDnnTransformerGradT MakerCDataType NoCuDNNRaise RNNBlock "
            "get_precision local_abstract_batch_norm_inference_cudnn local_abstract_batch_norm_train_cudnn "
            "local_abstract_batch_norm_train_grad_cudnn local_abstractconv3d_cudnn_alt "
            "local_abstractconv3d_cudnn_graph local_abstractconv_cudnn local_abstractconv_cudnn_alt "
            "local_abstractconv_cudnn_graph local_abstractconv_gi_cudnn local_abstractconv_gw_cudnn "
            "local_batch_norm_inference_inplace local_batch_norm_inplace_output "
            "local_batch_norm_inplace_running_mean local_batch_norm_inplace_running_var "
            "local_dnn_conv_alpha_merge local_dnn_conv_inplace local_dnn_conv_output_merge "
            "local_dnn_convgi_inplace local_dnn_convgw_inplace local_dnn_convi_alpha_merge "
            "local_dnn_convi_output_merge local_dnn_convw_alpha_merge local_dnn_convw_output_merge"
        ),
        "theano.legacy.cudnn_ops": (
            "GpuDnnBatchNorm GpuDnnBatchNormGrad GpuDnnBatchNormInference GpuDnnConv GpuDnnConvDesc "
            "GpuDnnConvGradI GpuDnnConvGradW GpuDnnPool GpuDnnPoolBase GpuDnnPoolDesc GpuDnnPoolGrad "
            "GpuDnnReduction GpuDnnSoftmax GpuDnnSoftmaxBase GpuDnnSoftmaxGrad GpuDnnTransformerGrid "
            "GpuDnnTransformerSampler"
        ),
        "theano.legacy.cudnn_functions": (
            "as_i32 dnn_available dnn_batch_normalization_test dnn_batch_normalization_train dnn_conv dnn_conv3d "
            "dnn_gradinput dnn_gradinput3d dnn_gradweight dnn_gradweight3d dnn_pool dnn_present dnn_spatialtf "
            "dropout ensure_dt version"
        ),
        "theano.legacy.gpu_rules": (
            "local_cudnn_maxandargmax local_dnn_argmax local_dnn_reduction local_gpua_avg_pool_dnn_grad_stride "
            "local_gpua_logsoftmax_to_dnn local_gpua_pool_dnn_alternative local_gpua_pool_dnn_grad_stride "
            "local_gpua_softmax_dnn_grad local_log_softmax_dnn local_softmax_dnn"
        ),
    },
    "theano.gpuarray.dnn_opt": {
        "theano.legacy.gone_in_gpu_backend": (
            "NoCuDNNRaise local_abstractconv3d_cudnn_alt local_abstractconv_cudnn local_abstractconv_cudnn_alt "
            "local_abstractconv_gi_cudnn local_abstractconv_gw_cudnn local_batch_norm_inference_inplace "
            "local_batch_norm_inplace_output local_batch_norm_inplace_running_mean "
            "local_batch_norm_inplace_running_var local_dnn_conv_alpha_merge local_dnn_conv_inplace "
            "local_dnn_conv_output_merge local_dnn_convgi_inplace local_dnn_convgw_inplace "
            "local_dnn_convi_alpha_merge local_dnn_convi_output_merge local_dnn_convw_alpha_merge "
            "local_dnn_convw_output_merge"
        ),
        "theano.legacy.gpu_rules": (
            "local_cudnn_maxandargmax local_dnn_argmax local_dnn_reduction local_gpua_avg_pool_dnn_grad_stride "
            "local_gpua_logsoftmax_to_dnn local_gpua_pool_dnn_alternative local_gpua_pool_dnn_grad_stride "
            "local_gpua_softmax_dnn_grad local_log_softmax_dnn local_softmax_dnn"
        ),
    },
    "theano.gpuarray.cudnn_defs": {
        "theano.legacy.gone_in_gpu_backend": "CuDNNV51 CuDNNV6 CuDNNV7 get_definitions",
        "theano.legacy.cudnn_kinds": (
            "is_double_config is_float_config is_pseudo_half_config is_true_half_config"
        ),
    },
    "theano.gpuarray.fp16_help": {
        "theano.legacy.gpu_kernel_text": "load_w work_dtype write_w",
    },
    "theano.gpuarray.kernel_codegen": {
        "theano.legacy.gpu_kernel_text": (
            "code_version inline_reduce inline_reduce_fixed_shared inline_reduce_fixed_shared_max "
            "inline_reduce_max inline_reduce_min inline_reduce_prod inline_reduce_sum inline_softmax "
            "inline_softmax_fixed_shared nvcc_kernel"
        ),
    },
    # The backend before theano.gpuarray, of which only whether it is there can be asked without this layer.
    "theano.sandbox.cuda": {
        "theano.legacy.old_cuda": "CudaNdarrayType float32_shared_constructor GpuOp use",
        "theano.gpuarray.variables": (
            "CudaNdarrayConstant=GpuArrayConstant CudaNdarraySharedVariable=GpuArraySharedVariable "
            "CudaNdarrayVariable=GpuArrayVariable"
        ),
    },
    "theano.sandbox.cuda.basic_ops": {
        "theano.gpuarray.variables": "GpuFromHost HostFromGpu host_from_gpu",
        "theano.gpuarray.ops": (
            "GpuAlloc GpuAllocEmpty GpuCAReduce=GpuCAReduceCuda GpuContiguous GpuDimShuffle GpuElemwise GpuEye GpuJoin "
            "GpuReshape GpuSplit"
        ),
        "theano.legacy.gpu_instances": "gpu_alloc_empty gpu_contiguous gpu_from_host gpu_join",
        "theano.legacy.old_cuda": "as_cuda_ndarray_variable CudaNdarrayType GpuOp",
    },
    "theano.sandbox.cuda.blas": {
        "theano.gpuarray.ops": (
            "GpuCorrMM GpuCorrMM_gradInputs GpuCorrMM_gradWeights GpuCorr3dMM GpuCorr3dMM_gradInputs "
            "GpuCorr3dMM_gradWeights GpuDot22 GpuGemm GpuGemv GpuGer"
        ),
        "theano.legacy.gpu_instances": (
            "gpu_dot22 gpu_gemm_inplace=gpugemm_inplace gpu_gemm_no_inplace=gpugemm_no_inplace "
            "gpu_gemv_inplace=gpugemv_inplace gpu_gemv_no_inplace=gpugemv_no_inplace gpu_ger_inplace=gpuger_inplace "
            "gpu_ger_no_inplace=gpuger_no_inplace"
        ),
    },
    "theano.sandbox.cuda.dnn": {
        "theano.legacy.cudnn_functions": (
            "dnn_batch_normalization_test dnn_batch_normalization_train dnn_conv dnn_conv3d dnn_gradinput "
            "dnn_gradweight dnn_pool version"
        ),
        "theano.legacy.cudnn_ops": (
            "GpuDnnConv GpuDnnConvDesc GpuDnnConvGradI GpuDnnConvGradW GpuDnnPool GpuDnnPoolDesc GpuDnnPoolGrad "
            "GpuDnnSoftmax GpuDnnSoftmaxGrad"
        ),
    },
    "theano.sandbox.cuda.fftconv": {
        "theano.legacy.old_cuda": "conv2d_fft",
    },
    "theano.sandbox.cuda.nvcc_compiler": {
        "theano.legacy.old_cuda": "add_standard_rpath is_nvcc_available NVCC_compiler rpath_defaults",
    },
    "theano.sandbox.cuda.rng_curand": {
        "theano.tensor.random.mrg": "CURAND_RandomStreams=MRG_RandomStreams",
    },
    "theano.sandbox.cuda.type": {
        "theano.legacy.old_cuda": "CudaNdarrayType",
    },
    "theano.sandbox.cuda.var": {
        "theano.legacy.old_cuda": "CudaNdarrayType float32_shared_constructor",
        "theano.gpuarray.variables": (
            "CudaNdarrayConstant=GpuArrayConstant CudaNdarraySharedVariable=GpuArraySharedVariable "
            "CudaNdarrayVariable=GpuArrayVariable"
        ),
    },
}
