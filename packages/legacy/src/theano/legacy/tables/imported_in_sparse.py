"""Old spellings: names that older modules held because they imported them, and programs took from there."""

from __future__ import annotations

OLD_NAMES = {
    "theano.sparse.opt": {
        "theano.gof": "gof=.",
        "theano.rewriting.userdefined.databases": "register_canonicalize register_specialize",
        "theano.scalar": "scalar=.",
        "theano.sparse.basic": "CSC csm_grad csm_properties CSR sparse=. usmm",
        "theano.sparse.parts.op": "csm_data csm_indices csm_indptr",
        "theano.tensor": "tensor=.",
        "theano.tensor.blas": "blas=.",
    },
    "theano.sparse.sandbox.sp": {
        "theano.gof": "gof=.",
        "theano.graph.op": "Op",
        "theano.sparse": "sparse=.",
        "theano.sparse.basic": "diag ensure_sorted_indices remove0 square_diagonal",
        "theano.sparse.reduce.op": "col_scale ColScaleCSC row_scale RowScaleCSC sp_sum SpSum",
        "theano.sparse.structure.op": "clean Diag EnsureSortedIndices Remove0 SquareDiagonal",
        "theano.tensor": "tensor=.",
    },
    "theano.sparse.sandbox.sp2": {
        "theano.gof": "gof=.",
        "theano.legacy.sparse_ops": "MulSDCSC MulSDCSR MulSVCSR SamplingDotCSR StructuredAddSVCSR",
        "theano.rewriting.userdefined.databases": "register_specialize",
        "theano.sparse.basic": (
            "add_s_s add_s_s_data bcast ccast CSC csm_properties CSR dcast fcast icast lcast mul_s_d mul_s_s mul_s_v "
            "neg remove0 sampling_dot structured_add_s_v wcast zcast"
        ),
        "theano.sparse.convert": "as_sparse_variable",
        "theano.sparse.elemwise.arithmetic": "AddSSData MulSV StructuredAddSV",
        "theano.sparse.elemwise.maps": (
            "Cast structured_add structured_exp structured_log structured_maximum structured_minimum "
            "structured_monoid structured_pow structured_sigmoid"
        ),
        "theano.sparse.opt": "local_mul_s_d local_mul_s_v local_sampling_dot_csr local_structured_add_s_v",
        "theano.sparse.parts.op": "CSM csm_data csm_indices csm_indptr csm_shape CSMProperties",
        "theano.sparse.product.op": "dot SamplingDot",
        "theano.sparse.structure.op": "HStack hstack Remove0 VStack vstack",
        "theano.sparse.type": "SparseType",
        "theano.tensor": "tensor=.",
        "theano.tensor.basic": "discrete_dtypes float_dtypes",
    },
}
