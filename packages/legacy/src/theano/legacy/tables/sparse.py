"""Old spellings of the layer of sparse matrices: what `theano.layers.spellings` makes modules and names of."""

from __future__ import annotations

#: What the module that held nearly all of it had beside what it defined.
_BESIDE = {
    "theano": "theano=. config shared",
    "theano.gof": "gof=.",
    "theano.scalar": "scalar=.",
    "theano.tensor": "tensor=.",
    "theano.graph": "Apply Constant Op Type Variable",
    "theano.graph.op": "COp",
    "theano.gradient": "DisconnectedType grad_not_implemented grad_undefined",
    "theano.legacy.helpers": "integer_types",
}

OLD_NAMES = {
    "theano.sparse": {
        **_BESIDE,
        "theano.legacy.helpers": "integer_types string_types",
        "theano.legacy.sparse_ops": "scipy_ver",
        "theano.sparse.sharedvar": "sharedvar=.",
        "theano.sparse.type": "imported_scipy",
    },
    "theano.sparse.basic": {
        **_BESIDE,
        "theano.legacy.sparse_ops": "_is_dense _is_sparse _mtypes",
        "theano.sparse.convert": "_is_sparse_variable=is_sparse",
        "theano.tensor.convert": "_is_dense_variable=is_tensor",
        "theano.sparse.product.op": "_dot _structured_dot",
        "theano.sparse.var": "_sparse_py_operators=SparseOperators",
    },
    "theano.sparse.opt": {
        "theano.sparse.parts.rules": "local_csm_grad_c local_csm_properties_csm",
        "theano.sparse.structure.rules": "local_dense_from_sparse_sparse_from_dense local_inplace_remove0",
        "theano.sparse.elemwise.rules": (
            "local_addsd_ccode local_inplace_addsd_ccode=local_addsd_ccode local_mul_s_d "
            "local_mul_s_v local_structured_add_s_v"
        ),
        "theano.sparse.product.rules": (
            "local_sampling_dot_csr local_structured_dot local_usmm_csc_dense_inplace local_usmm_csx local_usmm"
        ),
        "theano.sparse.parts.op": "CSMGradC=CSMGrad",
        "theano.legacy.sparse_instances": (
            "csm_grad_c mul_s_d_csc mul_s_d_csr mul_s_v_csr sampling_dot_csr sd_csc sd_csr structured_add_s_v_csr "
            "usmm_csc_dense usmm_csc_dense_inplace"
        ),
        "theano.legacy.sparse_ops": (
            "AddSD_ccode MulSDCSC MulSDCSR MulSVCSR SamplingDotCSR StructuredAddSVCSR StructuredDotCSC "
            "StructuredDotCSR UsmmCscDense"
        ),
    },
    "theano.sparse.sandbox": {},
    "theano.sparse.sandbox.sp": {
        "theano.legacy.sparse_convolution": "ConvolutionIndices convolution_indices convolve max_pool",
        "theano.rewriting.userdefined": "register_specialize",
    },
    "theano.sparse.sandbox.sp2": {
        "theano.sparse.random.op": "*",
        "theano.sparse": "EliminateZeros=Remove0 eliminate_zeros=remove0",
    },
    # What the tests of older programs with sparse matrices take from there.
    "theano.tensor.basic": {
        "theano.legacy.sparse_ops": "_allclose",
    },
}
