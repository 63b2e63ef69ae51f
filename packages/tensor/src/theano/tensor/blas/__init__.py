"""Products of vectors and matrices: Dot, and the routines of BLAS that rewriting turns it into."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.blas.dot import BatchedDot, Dot, batched_dot, batched_tensordot, dot, outer, tensordot
from theano.tensor.blas.routines import (
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
    _dot22,
    _dot22scalar,
    gemm_inplace,
    gemm_no_inplace,
    gemv_inplace,
    gemv_no_inplace,
    ger,
    ger_destructive,
)

__all__ = [
    "BatchedDot", "Dot", "Dot22", "Dot22Scalar", "Gemm", "Gemv", "Ger", "_dot22", "_dot22scalar", "batched_dot",
    "batched_tensordot", "dot", "gemm_inplace", "gemm_no_inplace", "gemv_inplace", "gemv_no_inplace", "ger",
    "ger_destructive", "outer", "tensordot",
]  # fmt: skip


__getattr__, __dir__ = lazily(globals())
