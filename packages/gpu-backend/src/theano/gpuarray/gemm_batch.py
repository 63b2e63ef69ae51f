"""Many products of matrices, each added to a matrix: ``beta C[i] + alpha A[i] B[i]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.blas.dot import batched_dot
from theano.tensor.blas.routines import Gemm
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values


class GemmBatch(Gemm):
    """``beta C + alpha A B`` of each matrix of three-dimensional A, B and C; the inputs are C, alpha, A, B, beta.

    Parameters
    ----------
    inplace : bool
        C is overwritten.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ones = T.ones((2, 1, 1))
    >>> GemmBatch()(ones, 2.0, ones, ones, 3.0).eval().ravel()
    array([5., 5.])
    """

    ndims = (3, 0, 3, 3, 0)
    E_rank = "gemm of batches takes three dimensions, a number, twice three dimensions and a number"

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        z, a, x, y, b = inputs
        wanted = (x.shape[0], x.shape[1], y.shape[2])
        if x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1] or z.shape != wanted:
            problem = f"Shape mismatch: products of {x.shape} and {y.shape} added to {z.shape}."
            raise shape_error(node, inputs, problem, "There are as many of each, and each pair as in a product.")
        output_storage[0][0] = self._store(z, self._scaled(b, z) + a * np.matmul(x, y))

    def expression(self, z: Any, a: Any, x: Any, y: Any, b: Any) -> Any:
        """Return ``b z + a x y`` of each."""
        return b * z + a * batched_dot(x, y)
