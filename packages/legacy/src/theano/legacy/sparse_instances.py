"""Ops on parts of sparse matrices, as instances that older programs call."""

from __future__ import annotations

from theano.legacy.sparse_ops import (
    MulSDCSC,
    MulSDCSR,
    MulSVCSR,
    SamplingDotCSR,
    StructuredAddSVCSR,
    StructuredDotCSC,
    StructuredDotCSR,
    UsmmCscDense,
)
from theano.sparse.parts.op import CSMGrad

sd_csc, sd_csr = StructuredDotCSC(), StructuredDotCSR()
usmm_csc_dense, usmm_csc_dense_inplace = UsmmCscDense(inplace=False), UsmmCscDense(inplace=True)
csm_grad_c = CSMGrad()
mul_s_d_csc, mul_s_d_csr, mul_s_v_csr = MulSDCSC(), MulSDCSR(), MulSVCSR()
structured_add_s_v_csr = StructuredAddSVCSR()
sampling_dot_csr = SamplingDotCSR()
