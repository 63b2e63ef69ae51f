"""Old spellings of the layer of arrays: what `theano.layers.spellings` makes modules and names of."""

from __future__ import annotations

#: What older programs find in the package, and in the module that held nearly all of it.
_PACKAGE = {
    "theano": "theano=.",
    "theano.compile": "compile=.",
    "theano.gof": "gof=.",
    "theano.graph.op": "COp",
    "theano.graph.params_type": "ParamsType",
    "theano.graph.type": "CType",
    "theano.legacy.descriptions": "min_informative_str",
    "theano.legacy.helpers": "apply_across_args hashtype integer_types key_to_cmp",
    "theano.legacy.indices": (
        "as_index_constant basic_shape check_advanced_indexing_dimensions check_and_reject_bool "
        "get_canonical_form_slice group_indices indexed_result_shape is_basic_idx make_constant range_len slice_len"
    ),
    "theano.legacy.elemwise_by_name": "scalar_elemwise",
}

OLD_NAMES = {
    "theano.breakpoint": {
        "theano.tests.breakpoint": "*",
    },
    "theano.compile.builders": {
        "theano.legacy.scan_helpers": "infer_shape",
    },
    "theano.compile.nanguardmode": {
        "theano.legacy.gone_in_tensor": "f_compute",
        "theano.legacy.not_numbers": "contains_inf contains_nan flatten",
    },
    "theano.compile.ops": {
        "theano.legacy.rewriting_helpers": "shape_i_op",
    },
    "theano.ifelse": {
        "theano.legacy.gone_in_tensor": (
            "cond_merge_random_op CondMerge ifelse_lift_single_if_through_acceptable_ops"
        ),
    },
    "theano.link.jax.jax_dispatch": {
        "theano.legacy.gone_in_tensor": (
            "compose_jax_funcs convert_indices jax_funcify jax_funcify_AdvancedIncSubtensor jax_funcify_Alloc "
            "jax_funcify_AllocDiag jax_funcify_AllocEmpty jax_funcify_ARange jax_funcify_Bartlett "
            "jax_funcify_BatchedDot jax_funcify_CAReduce jax_funcify_Cast jax_funcify_Cholesky jax_funcify_Clip "
            "jax_funcify_Composite jax_funcify_CumOp jax_funcify_DeepCopyOp jax_funcify_Det jax_funcify_DiffOp "
            "jax_funcify_DimShuffle jax_funcify_Dot jax_funcify_Eig jax_funcify_Eigh jax_funcify_Elemwise "
            "jax_funcify_ExtractDiag jax_funcify_Eye jax_funcify_FillDiagonal jax_funcify_FillDiagonalOffset "
            "jax_funcify_FunctionGraph jax_funcify_Identity jax_funcify_IfElse jax_funcify_IncSubtensor "
            "jax_funcify_Join jax_funcify_MakeSlice jax_funcify_MakeVector jax_funcify_MatrixInverse "
            "jax_funcify_MaxAndArgmax jax_funcify_QRFull jax_funcify_QRIncomplete jax_funcify_RavelMultiIndex "
            "jax_funcify_Rebroadcast jax_funcify_RepeatOp jax_funcify_Reshape jax_funcify_ScalarFromTensor "
            "jax_funcify_ScalarOp jax_funcify_ScalarSoftplus jax_funcify_Scan jax_funcify_Second jax_funcify_Shape "
            "jax_funcify_Shape_i jax_funcify_Softmax jax_funcify_Solve jax_funcify_SpecifyShape jax_funcify_Subtensor "
            "jax_funcify_SVD jax_funcify_TensorFromScalar jax_funcify_Unique jax_funcify_UnravelIndex "
            "jax_funcify_ViewOp jnp_safe_copy"
        ),
    },
    "theano.misc.buildbot_filter": {
        "theano.legacy.gone_in_tensor": "filter_output",
    },
    "theano.misc.burn_gpu": {
        "theano.legacy.gone_in_tensor": "burn",
    },
    "theano.misc.check_blas": {
        "theano.legacy.gone_in_tensor": "jobman_job test",
    },
    "theano.misc.check_multi_gpu": {
        "theano.legacy.gone_in_tensor": "main",
    },
    "theano.misc.cpucount": {
        "theano.distributed.pools": "cpuCount=processors",
    },
    "theano.misc.elemwise_openmp_speedup": {
        "theano.legacy.gone_in_tensor": "runScript",
    },
    "theano.misc.elemwise_time_test": {
        "theano.legacy.gone_in_tensor": "ElemwiseOpTime evalTime",
    },
    "theano.misc.frozendict": {
        "theano.tensor.elemwise": "frozendict FrozenOrderedDict=frozendict",
    },
    "theano.misc.gh_api": {
        "theano.legacy.gone_in_tensor": (
            "get_auth_token get_pull_request get_pulls_list make_auth_header post_gist post_issue_comment"
        ),
    },
    "theano.misc.ordered_set": {
        "theano.legacy.gone_in_tensor": "Link",
    },
    "theano.misc.pkl_utils": {
        "theano.legacy.gone_in_tensor": "PersistentGpuArrayID",
        "pickle": "DEFAULT_PROTOCOL Pickler",
    },
    "theano.pathparse": {
        "theano.legacy.gone_in_tensor": "PathParser",
    },
    "theano.sandbox": {},
    "theano.sandbox.blocksparse": {
        "theano.tensor.nnet.blocksparse": (
            "SparseBlockGemv SparseBlockOuter sparse_block_dot sparse_block_gemv sparse_block_gemv_inplace "
            "sparse_block_outer sparse_block_outer_inplace"
        ),
    },
    "theano.sandbox.conv": {},
    "theano.sandbox.cuda": {
        "theano.legacy.old_gpu": "cuda_available cuda_enabled",
    },
    "theano.sandbox.cuda.dnn": {
        "theano.legacy.old_gpu": "dnn_available",
    },
    "theano.sandbox.fourier": {
        "theano.legacy.gone_in_tensor": "dct_matrix FFT GradTodo",
    },
    "theano.sandbox.linalg": {
        "theano.tensor.linalg.factor": "cholesky eig eigh eigvalsh",
        "theano.tensor.linalg.functions": "alloc_diag diag extract_diag trace",
        "theano.legacy.tensor_functions": "spectral_radius_bound",
        "theano.tensor.linalg.hints": "psd",
        "theano.tensor.linalg.determinant": "det",
        "theano.tensor.linalg.equations": "matrix_inverse solve",
    },
    "theano.sandbox.linalg.ops": {
        "theano.tensor.convert": "as_tensor_variable",
        "theano.scalar": "imported_scipy=imported_scipy_special",
        "theano.tensor.linalg.factor": "Cholesky cholesky eig eigh eigvalsh",
        "theano.tensor.linalg.functions": "alloc_diag diag extract_diag trace",
        "theano.legacy.tensor_functions": "spectral_radius_bound",
        "theano.tensor.linalg.hints": "Hint psd",
        "theano.tensor.linalg.determinant": "det",
        "theano.tensor.linalg.equations": "matrix_inverse Solve solve",
        "theano.legacy.rewriting_helpers": "hints is_hint_node is_positive",
        "theano.legacy.gone_in_tensor": "HintsFeature HintsOptimizer",
        "theano.tensor.linalg.rules": "is_psd is_symmetric",
        "theano.tensor.rules.by_name": (
            "inv_as_solve local_det_chol local_log_pow local_log_prod_sqr no_transpose_symmetric psd_solve_with_chol "
            "remove_hint_nodes tag_solve_triangular transinv_to_invtrans"
        ),
    },
    "theano.sandbox.minimal": {
        "theano.legacy.gone_in_tensor": "Minimal T_minimal",
    },
    "theano.sandbox.multinomial": {
        "theano.tensor.random.categories": "ChoiceFromUniform MultinomialFromUniform",
        "theano.legacy.gone_in_tensor": "MultinomialWOReplacementFromUniform",
    },
    "theano.sandbox.neighbours": {
        "theano.tensor.nnet.neighbours": "images2neibs neibs2images Images2Neibs",
    },
    "theano.sandbox.rng_mrg": {
        "theano": "theano=.",
        "theano.legacy.tensor_values": "MASK12 MASK13 MASK2 MULT2 np_int32_vals",
        "theano.gradient": "gradient=. undefined_grad",
        "theano.graph": "Apply Constant Op Variable",
        "theano.graph.op": "COp",
        "theano.graph.params_type": "ParamsType",
        "theano.scalar": "scal=.",
        "theano.settings": "config",
        "theano.tensor": "tensor=.",
        "theano.tensor.convert": "as_tensor_variable get_vector_length",
        "theano.tensor.elemwise.functions": "cast",
        "theano.legacy.mrg_jumps": (
            "A1p134 A1p72 A2p134 A2p72 DotModulo ff_2p134 ff_2p72 matVecModM mrg_next_value multMatVect"
        ),
        "theano.tensor.random.mrg": (
            "guess_n_streams MRG_RandomStream=MRG_RandomStreams MRG_RandomStreams mrg_uniform mrg_uniform_base"
        ),
        "theano.tensor.random.mrg31k3p": "M1 M2 NORM",
        "theano.tensor.random.rules": "mrg_random_make_inplace=random_make_inplace",
        "theano.tensor.type": "TensorType",
    },
    "theano.sandbox.softsign": {
        "theano.tensor.nnet": "softsign",
    },
    "theano.sandbox.solve": {
        "theano.tensor.slinalg": "Solve solve",
    },
    "theano.scan.op": {
        "theano.legacy.gone_in_tensor": "profile_printer",
    },
    "theano.scan.opt": {
        "theano.scan.rules": "remove_constants_and_unused_inputs_scan=remove_unused scan_merge_inouts=merge_inouts",
        "theano.legacy.scan_helpers": "has_duplicates info warning",
        "theano.legacy.scan_passes": (
            "PushOutDot1 PushOutNonSeqScan PushOutScanOutput PushOutSeqScan ScanMerge ScanSaveMem"
        ),
        "theano.legacy.gone_in_tensor": "make_equiv ScanInplaceOptimizer",
    },
    "theano.scan.scan_perform_ext": {
        "theano.legacy.gone": "try_import try_reload",
    },
    "theano.scan.utils": {
        "theano.legacy.scan_helpers": (
            "expand_empty forced_replace get_updates_and_outputs hash_listsDictsTuples infer_shape "
            "isNaN_or_Inf_or_None map_variables reconstruct_graph safe_new Validator"
        ),
        "theano.legacy.gone_in_tensor": "compress_outs scan_args scan_can_remove_outs traverse",
    },
    "theano.scan_module.scan": {
        "theano.scan.basic": "scan",
    },
    "theano.scan_module.scan_checkpoints": {
        "theano.scan.checkpoints": "scan_checkpoints",
    },
    "theano.scan_module.scan_op": {
        "theano.scan.op": "Scan",
        "theano.legacy.gone_in_tensor": "profile_printer",
    },
    "theano.scan_module.scan_opt": {
        "theano.scan.rules": "remove_constants_and_unused_inputs_scan=remove_unused scan_merge_inouts=merge_inouts",
        "theano.legacy.scan_helpers": "has_duplicates info warning",
        "theano.legacy.scan_passes": (
            "PushOutDot1 PushOutNonSeqScan PushOutScanOutput PushOutSeqScan ScanMerge ScanSaveMem"
        ),
        "theano.legacy.gone_in_tensor": "make_equiv ScanInplaceOptimizer",
    },
    "theano.scan_module.scan_perform_ext": {
        "theano.legacy.gone": "try_import try_reload",
    },
    "theano.scan_module.scan_utils": {
        "theano.legacy.values": "DEPRECATED_ARG=undef",
        "theano.graph.traverse": "equal_computations",
        "theano.scan.utils": "clone until",
        "theano.legacy.scan_helpers": (
            "expand_empty forced_replace get_updates_and_outputs hash_listsDictsTuples infer_shape "
            "isNaN_or_Inf_or_None map_variables reconstruct_graph safe_new Validator"
        ),
        "theano.legacy.gone_in_tensor": "compress_outs scan_args scan_can_remove_outs traverse",
    },
    "theano.scan_module.scan_views": {
        "theano.scan.views": "foldl foldr map reduce",
    },
    "theano.tensor": _PACKAGE,
    "theano.tensor.basic": {
        **_PACKAGE,
        "theano.tensor.blas.dot": "_dot",
        "theano.tensor.nlinalg": "nlinalg=.",
        "theano.tensor.opt": "opt=.",
        "theano.tensor.opt_uncanonicalize": "opt_uncanonicalize=.",
        "theano.tensor.raw_random": "raw_random=.",
        "theano.tensor.shared_randomstreams": "shared_randomstreams=.",
        "theano.tensor.slinalg": "slinalg=.",
    },
    "theano.tensor.blas": {
        "theano.errors": "InconsistencyError",
        "theano.legacy.blas_terms": (
            "_as_scalar=as_scalar _factor_canonicalized=factored _gemm_canonicalize=scaled_terms "
            "_is_real_matrix=is_real_matrix _is_real_vector=is_real_vector"
        ),
        "theano.legacy.rewriting_helpers": "ldflags res_is_a",
        "theano.legacy.gone_in_tensor": (
            "check_init_y GemmOptimizer GemmRelated local_dot22_to_ger_or_gemv local_print_as_we_go_along"
        ),
        "theano.tensor.blas.routines": "gemm=gemm_no_inplace gemv=gemv_no_inplace",
        "theano.tensor.rules.by_name": (
            "local_dot22_to_dot22scalar local_dot_to_dot22 local_gemm_to_gemv local_gemm_to_ger"
        ),
        "theano.tensor.blas.rules.routines": (
            "local_inplace_gemm=inplace_blas local_inplace_gemv=inplace_blas local_inplace_ger=inplace_blas"
        ),
    },
    "theano.tensor.blas_c": {
        "theano.legacy.gone_in_tensor": "BaseBLAS",
        "theano.tensor.blas": (
            "CGemv=Gemv CGer=Ger cgemv_inplace=gemv_inplace cgemv_no_inplace=gemv_no_inplace "
            "cger_inplace=ger_destructive cger_no_inplace=ger"
        ),
        "theano.legacy.gone": (
            "check_force_gemv_init gemv_c_code ger_c_code make_c_gemv_destructive make_c_ger_destructive use_c_gemv "
            "use_c_ger"
        ),
    },
    "theano.tensor.blas_headers": {
        "theano.legacy.gone": (
            "blas_header_text blas_header_version cblas_header_text detect_macos_sdot_bug "
            "mkl_threads_text openblas_threads_text"
        ),
    },
    "theano.tensor.blas_scipy": {
        "theano.tensor.blas": "ScipyGer=Ger scipy_ger_inplace=ger_destructive scipy_ger_no_inplace=ger",
        "theano.legacy.gone": "make_ger_destructive use_scipy_ger",
    },
    "theano.tensor.elemwise": {
        "theano": "theano=.",
        "theano.gof": "gof=.",
        "theano.gradient": "DisconnectedType NullType",
        "theano.graph": "Apply Op",
        "theano.graph.external_op": "COp=ExternalCOp ExternalCOp OpenMPOp",
        "theano.graph.params_type": "ParamsType",
        "theano.legacy.elemwise_by_name": "scalar_elemwise",
        "theano.legacy.helpers": "integer_types uniq",
        "theano.printing": "FunctionPrinter pprint",
        "theano.scalar": "get_scalar_type scalar=.",
        "theano.settings": "change_flags config",
    },
    "theano.tensor.elemwise_cgen": {
        "theano.legacy.gone": (
            "make_alloc make_checks make_declare make_loop make_loop_careduce make_reordered_loop"
        ),
    },
    "theano.tensor.extra_ops": {
        "theano": "theano=.",
        "theano.gof": "gof=.",
        "theano.graph": "Apply Generic Op",
        "theano.graph.enum_type": "EnumList",
        "theano.graph.op": "COp",
        "theano.graph.params_type": "ParamsType",
        "theano.graph.traverse": "equal_computations",
        "theano.legacy.helpers": "LOCAL_BITWIDTH PYTHON_INT_BITWIDTH",
        "theano.scalar": "int_t=int32 scalar=. upcast",
        "theano.gradient": "disconnected_type DisconnectedType grad_undefined gradient=.",
        "theano.settings": "config",
        "theano.tensor.basic": "basic=. tensor=.",
        "theano.tensor.control.checks": "Assert",
        "theano.tensor.convert": "as_tensor_variable constant",
        "theano.tensor.create.arange": "arange",
        "theano.tensor.elemwise.functions": "cast maximum minimum switch",
        "theano.tensor.index.functions": "set_subtensor",
        "theano.tensor.nlinalg": "nlinalg=.",
        "theano.tensor.sort.sets": "unique",
        "theano.tensor.type": "TensorType",
    },
    "theano.tensor.fft": {
        "theano.gof": "gof=.",
        "theano.gradient": "DisconnectedType",
        "theano.graph": "Apply Op",
        "theano.tensor.convert": "as_tensor_variable",
        "theano.tensor": "T=. tt=.",
    },
    "theano.tensor.fourier": {
        "theano.legacy.fourier": "Fourier fft",
    },
    "theano.tensor.tests": {},
    "theano.tensor.tests.test_basic": {
        "theano.tests.makers": "makeBroadcastTester makeTester",
    },
    "theano.tensor.inc_code": {
        "theano.legacy.gone": "inc_code",
    },
    "theano.tensor.inplace": {
        "theano.tensor.inplace": "fill_inplace=second_inplace",
        "theano.tensor.shape.reshape": "transpose_inplace=transpose",
    },
    "theano.tensor.nlinalg": {
        "theano": "theano=.",
        "theano.gradient": "DisconnectedType",
        "theano.graph": "Apply Op",
        "theano.tensor.basic": "tensor=.",
        "theano.tensor.convert": "as_tensor_variable",
        "theano.tensor.shape.diagonals": "ExtractDiag",
    },
    "theano.tensor.nnet.abstract_conv": {
        "theano": "theano=.",
        "theano.graph": "Apply Op Variable",
        "theano.legacy.conv_shapes": "assert_conv_shape border_mode_to_pad check_conv_gradinputs_shape",
        "theano.scalar": "imported_scipy_signal=imported_scipy_special",
        "theano.settings": "config",
        "theano.tensor.convert": "as_tensor_variable",
    },
    "theano.tensor.nnet.bn": {
        "theano.tensor.rules.by_name": (
            "local_abstract_batch_norm_inference=local_expand_compound "
            "local_abstract_batch_norm_train=local_expand_compound "
            "local_abstract_batch_norm_train_grad=local_expand_compound"
        ),
    },
    "theano.tensor.nnet.conv": {
        "theano": "theano=.",
        "theano.legacy.gone_in_tensor": "gen_conv_code_unroll_batch_kern",
        "theano.scalar": "imported_scipy_signal=imported_scipy_special",
        "theano.legacy.convolution": "conv2d ConvOp",
    },
    "theano.tensor.nnet.conv3d2d": {
        "theano.legacy.diagonals": "*",
        "theano.legacy.tensor_values": "diagonal_subtensor inc_diagonal_subtensor",
        "theano.legacy.convolution": "conv3d",
    },
    "theano.tensor.nnet.corr": {
        "theano.tensor.conv.op": "BaseCorrMM=BaseAbstractConv",
        "theano.tensor.conv.products": "CorrMM CorrMM_gradInputs CorrMM_gradWeights",
    },
    "theano.tensor.nnet.corr3d": {
        "theano.tensor.conv.op": "BaseCorr3dMM=BaseAbstractConv",
        "theano.tensor.conv.products": (
            "Corr3dMM Corr3dMM_gradInputs Corr3dMM_gradWeights Corr3dMMGradInputs=Corr3dMM_gradInputs "
            "Corr3dMMGradWeights=Corr3dMM_gradWeights"
        ),
    },
    "theano.tensor.random": {
        "theano": "theano=.",
        "theano.tensor.random.basic": "basic=.",
        "theano.tensor.random.op": "op=.",
        "theano.tensor.random.type": "type=.",
        "theano.tensor.random.var": "var=.",
    },
    "theano.tensor.random.basic": {
        "theano": "theano=.",
        "theano.legacy.random_helpers": "PyPolyaGamma",
    },
    "theano.tensor.random.opt": {
        "theano.tensor.random.lifting": "lift_rv_shapes local_dimshuffle_rv_lift local_subtensor_rv_lift",
        "theano.tensor.random.rules": "random_make_inplace",
    },
    "theano.tensor.random.utils": {
        "theano.tensor.random.broadcasting": "broadcast_params params_broadcast_shapes",
        "theano.tensor.random.variable_streams": "RandomStream",
    },
    "theano.tensor.sharedvar": {
        "theano.legacy.rewriting_helpers": "load_shared_variable",
    },
    "theano.tensor.type": {
        "theano.tensor.closeness": (
            "values_eq_approx_remove_inf values_eq_approx_remove_inf_nan values_eq_approx_remove_nan"
        ),
    },
    "theano.tensor.signal.conv": {
        "theano.legacy.convolution": "conv2d=signal_conv2d",
    },
    "theano.tensor.nnet.ctc": {
        "theano.tensor.nnet.rules": "local_ctc_no_grad",
    },
    "theano.tensor.nnet.sigm": {
        "theano.legacy.rewriting_helpers": "register_local_1msigmoid",
        "theano.legacy.tensor_values": "ultra_fast_sigmoid_inplace",
        "theano.legacy.products_of_sigmoids": (
            "compute_mul is_1pexp is_exp is_mul is_neg parse_mul_tree perform_sigm_times_exp simplify_mul"
        ),
        "theano.legacy.gone_in_tensor": "partition_num_or_denom replace_leaf",
        "theano.tensor.elemwise.rules.approximations": "*",
        "theano.tensor.elemwise.rules.stable": "*",
        "theano.tensor.rules.by_name": (
            "local_1msigmoid local_hard_sigmoid local_inv_1_plus_exp local_sigm_times_exp local_ultra_fast_sigmoid"
        ),
    },
    "theano.tensor.nnet.opt": {
        "theano.tensor.nnet.blocksparse": "local_inplace_sparse_block_gemv local_inplace_sparse_block_outer",
        "theano.legacy.gone_in_tensor": (
            "local_abstractconv_check local_conv2d_cpu local_conv2d_gradinputs_cpu local_conv2d_gradweight_cpu"
        ),
        "theano.tensor.conv.rules": (
            "local_abstractconv3d_gemm local_abstractconv3d_gradinputs_gemm local_abstractconv3d_gradweight_gemm "
            "local_abstractconv_gemm local_abstractconv_gradinputs_gemm local_abstractconv_gradweight_gemm"
        ),
    },
    "theano.tensor.opt": {
        "theano.tensor.convert": "as_tensor_variable extract_constant get_scalar_constant_value NotScalarConstantError",
        "theano.tensor.elemwise.rules.algebra": "*",
        "theano.tensor.elemwise.rules.approximations": "*",
        "theano.tensor.control.rules.asserts": "*",
        "theano.tensor.rules.by_name": (
            "* local_erf_neg_minus_one=local_erf_minus_one local_one_add_neg_erfc=local_one_minus_erfc "
            "local_one_minus_erf2=local_one_minus_erf local_one_minus_erfc2=local_one_minus_erfc "
            "local_one_minus_erfc3=local_one_minus_erfc local_one_plus_neg_erf=local_one_minus_erf"
        ),
        "theano.legacy.tensor_values": "ALL_REDUCE",
        "theano.tensor.linalg.rules": "*",
        "theano.tensor.elemwise.rules.fusion": "*",
        "theano.tensor.index.rules.reads": "*",
        "theano.tensor.rules.inplace": (
            "* local_inplace_incsubtensor1=inplace_inc_subtensor1 local_inplace_setsubtensor=inplace_set_subtensor"
        ),
        "theano.tensor.join.rules": "*",
        "theano.tensor.shape.rules.layout": "*",
        "theano.tensor.shape.rules.lengths": "*",
        "theano.tensor.elemwise.rules.power": "*",
        "theano.tensor.blas.rules.products": "*",
        "theano.tensor.reduce.rules.reductions": "*",
        "theano.tensor.shape.rules.repeats": "*",
        "theano.tensor.shape.rules.shapes": "*",
        "theano.tensor.elemwise.rules.stable": "*",
        "theano.tensor.elemwise.rules.useless": "*",
        "theano.tensor.index.rules.writes": "*",
        "theano.legacy.rewriting_helpers": (
            "apply_local_dimshuffle_lift apply_rebroadcast_opt broadcast_like encompasses_broadcastable get_clients "
            "get_clients2 is_an_upcast is_dimshuffle_useless is_inverse_pair make_vector merge_broadcastables "
            "mul_canonizer scalarconsts_rest ShapeOptimizer UnShapeOptimizer"
        ),
        "theano.legacy.gone_in_tensor": (
            "add_calculate attempt_distribution Canonizer check_for_x_over_absX distribute_greedy "
            "elemwise_max_input_fct FusionOptimizer InplaceElemwiseOptimizer local_elemwise_alloc_op "
            "local_elemwise_fusion_op MakeVectorPrinter merge_two_slices mul_calculate"
        ),
    },
    "theano.tensor.opt_uncanonicalize": {
        "theano.tensor.rules.by_name": (
            "local_alloc_dimshuffle local_dimshuffle_alloc local_dimshuffle_subtensor local_hard_sigmoid "
            "local_max_and_argmax local_max_to_min local_op_of_op local_opt_alloc local_reduce_broadcastable "
            "local_reduce_dimshuffle local_reduce_join local_reshape_dimshuffle local_sum_prod_all_to_none "
            "local_sum_prod_div_dimshuffle local_sum_prod_mul_by_scalar local_sumsqr2dot local_ultra_fast_sigmoid "
            "local_useless_reduce local_useless_topk topo_constant_folding"
        ),
        "theano.tensor.reduce.rules.reductions": "*",
    },
    "theano.tensor.raw_random": {
        "theano": "theano=.",
        "theano.gof": "gof=.",
        "theano.tensor": "tensor=.",
        "theano.tensor.random.distributions": "multinomial_wo_replacement",
        "theano.tensor.random.function": "random_function",
        "theano.tensor.random.size": "_infer_ndim_bcast=size_of",
        "theano.tensor.random.type": "random_state_type",
    },
    "theano.tensor.shared_randomstreams": {
        "theano.compile.shared": "shared shared_constructor SharedVariable",
        "theano.tensor.raw_random": "raw_random=.",
    },
    "theano.tensor.signal.downsample": {
        "theano.legacy.tensor_functions": "max_pool_2d",
        "theano.tensor.pool": "max_pool_2d_same_size",
        "theano.tensor.pool.op": (
            "DownsampleFactorMaxGradGrad DownsampleFactorMax=Pool DownsampleFactorMaxGrad=MaxPoolGrad"
        ),
    },
    "theano.tensor.signal.pool": {
        "theano.legacy.tensor_values": "PoolingMode_t",
    },
    "theano.tensor.slinalg": {
        "theano": "theano=.",
        "theano.gradient": "DisconnectedType",
        "theano.graph": "Apply Op",
        "theano.scalar": "imported_scipy=imported_scipy_special",
        "theano.tensor.basic": "tensor=.",
        "theano.tensor.convert": "as_tensor_variable",
    },
    "theano.tensor.subtensor": {
        "theano": "theano=.",
        "theano.errors": "MethodNotDefined",
        "theano.gof": "gof=.",
        "theano.graph": "Type",
        "theano.graph.op": "COp",
        "theano.graph.params_type": "ParamsType",
        "theano.graph.type": "CType",
        "theano.legacy.helpers": "hashtype integer_types",
        "theano.legacy.indices": "*",
        "theano.printing": "pprint",
        "theano.settings": "config",
        "theano.tensor.convert": "get_scalar_constant_value NotScalarConstantError",
        "theano.tensor.create.alloc": "alloc",
        "theano.tensor.shape.broadcast": "broadcast_shape",
        "theano.tensor.type_other": "make_slice NoneConst",
    },
    "theano.tensor.var": {
        "theano.legacy.rewriting_helpers": "equal_slices",
    },
    "theano.typed_list": {
        "theano.graph": "Apply Constant Op Variable",
    },
    "theano.typed_list.opt": {
        "theano.typed_list.rules": "typed_list_inplace_opt",
    },
    "theano.utils": {
        "theano.misc.windows": "call_subprocess_Popen output_subprocess_Popen subprocess_Popen",
    },
}
