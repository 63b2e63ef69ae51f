"""Names of internals of tensors that have no meaning here: see `theano.legacy.gone`.

Examples
--------
>>> import theano.legacy.gone_in_tensor as gone
>>> gone.FusionOptimizer()
Traceback (most recent call last):
NotImplementedError: FusionOptimizer is not part of this Theano: element-wise ops are fused by ...
"""

from __future__ import annotations

from theano.legacy.gone import names_gone

#: By what to do instead, the names.
INSTEAD = {
    "element-wise ops are fused by theano.tensor.elemwise.rules.fusion": (
        "FusionOptimizer local_elemwise_fusion_op elemwise_max_input_fct"
    ),
    "nodes work in place by theano.tensor.rules.inplace": "InplaceElemwiseOptimizer ScanInplaceOptimizer",
    "sums and products are brought to one form by theano.tensor.elemwise.rules.algebra": (
        "Canonizer mul_calculate add_calculate check_for_x_over_absX distribute_greedy attempt_distribution"
    ),
    "allocations are moved by theano.tensor.shape.rules": "local_elemwise_alloc_op",
    "calls of BLAS are chosen by theano.tensor.blas.rules.routines": (
        "GemmOptimizer GemmRelated check_init_y local_dot22_to_ger_or_gemv "
        "local_print_as_we_go_along BaseBLAS"
    ),
    "slices of slices are merged by theano.tensor.index.rules.reads": "merge_two_slices",
    "vectors of numbers are printed by theano.tensor.printers": "MakeVectorPrinter",
    "loops are edited in parts, see theano.scan.parts and theano.scan.rules": (
        "scan_args scan_can_remove_outs compress_outs make_equiv traverse"
    ),
    "a loop's profile is printed with its function's": "profile_printer",
    "products with the sigmoid are simplified by theano.tensor.elemwise.rules.stable": (
        "partition_num_or_denom replace_leaf"
    ),
    "a convolution has one way to be computed, theano.tensor.conv.rules; nothing takes its place": (
        "local_abstractconv_check local_conv2d_cpu local_conv2d_gradinputs_cpu local_conv2d_gradweight_cpu "
        "gen_conv_code_unroll_batch_kern"
    ),
    "lazy choices are rewritten by theano.tensor.control.rules.choices": (
        "ifelse_lift_single_if_through_acceptable_ops CondMerge cond_merge_random_op"
    ),
    "the tag of a matrix stores its properties: theano.tensor.linalg.hints": "HintsFeature HintsOptimizer",
    "random numbers are drawn by theano.tensor.random": (
        "MultinomialFromUniform ChoiceFromUniform MultinomialWOReplacementFromUniform"
    ),
    "the transform is theano.tensor.fft": "FFT GradTodo dct_matrix",
    "docs/extending has ops to begin with": "Minimal T_minimal",
    "arrays of devices are pickled as any others are, and `python -m theano.doctor` looks at devices": (
        "PersistentGpuArrayID burn main"
    ),
    "sets keep their order without links": "Link",
    "run `python -m theano.misc.check_blas`, or `python -m theano.doctor`": "jobman_job test",
    "scripts for maintainers are in tools/": (
        "filter_output runScript evalTime ElemwiseOpTime get_auth_token make_auth_header post_issue_comment post_gist "
        "get_pull_request get_pulls_list TestSP"
    ),
    "compilers are found by theano.toolchain": "PathParser",
    "NanGuardMode looks at values with theano.compile.nanguardmode.contains_nan and contains_inf": "f_compute",
    "Theano has no JAX back-end": (
        "compose_jax_funcs jax_funcify jnp_safe_copy convert_indices jax_funcify_MakeSlice jax_funcify_ScalarOp "
        "jax_funcify_Clip jax_funcify_Identity jax_funcify_Softmax jax_funcify_ScalarSoftplus jax_funcify_Second "
        "jax_funcify_AllocEmpty jax_funcify_Alloc jax_funcify_Dot jax_funcify_ARange jax_funcify_DeepCopyOp "
        "jax_funcify_Shape jax_funcify_Shape_i jax_funcify_SpecifyShape jax_funcify_Rebroadcast jax_funcify_ViewOp "
        "jax_funcify_Cast jax_funcify_TensorFromScalar jax_funcify_ScalarFromTensor jax_funcify_Elemwise "
        "jax_funcify_Composite jax_funcify_Scan jax_funcify_IfElse jax_funcify_Subtensor jax_funcify_IncSubtensor "
        "jax_funcify_AdvancedIncSubtensor jax_funcify_FunctionGraph jax_funcify_CAReduce jax_funcify_MakeVector "
        "jax_funcify_Reshape jax_funcify_DimShuffle jax_funcify_Join jax_funcify_MaxAndArgmax "
        "jax_funcify_ExtractDiag jax_funcify_Cholesky jax_funcify_AllocDiag jax_funcify_Solve jax_funcify_Det "
        "jax_funcify_Eig jax_funcify_Eigh jax_funcify_MatrixInverse jax_funcify_QRFull jax_funcify_QRIncomplete "
        "jax_funcify_SVD jax_funcify_CumOp jax_funcify_DiffOp jax_funcify_RepeatOp jax_funcify_Bartlett "
        "jax_funcify_FillDiagonal jax_funcify_FillDiagonalOffset jax_funcify_Unique jax_funcify_UnravelIndex "
        "jax_funcify_RavelMultiIndex jax_funcify_Eye jax_funcify_BatchedDot"
    ),
}  # fmt: skip

__getattr__ = names_gone(globals(), INSTEAD)
