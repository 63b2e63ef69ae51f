"""Products of matrices and vectors modulo a number: jumps of MRG31k3p as an op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.random.mrg31k3p import mat_vec_mod
from theano.tensor.type import TensorApply


class DotModulo(Op):
    """``concatenate([A @ s % m, A2 @ s2 % m2])`` in whole numbers.

    Examples
    --------
    >>> import theano.tensor as T
    >>> a, s = T.lmatrix(), T.ivector()
    >>> both = DotModulo()(a, s, 5, a, s, 7)
    >>> both.eval({a: [[1, 2], [3, 4]], s: np.array([3, 4], "int32")})
    array([1, 0, 4, 4], dtype=int32)
    """

    __props__ = ()

    def make_node(self, A: Any, s: Any, m: Any, A2: Any, s2: Any, m2: Any) -> Apply[Any, Any]:
        """Return the node for two matrices, two vectors and two numbers."""
        inputs = [as_tensor_variable(v) for v in (A, s, m, A2, s2, m2)]
        return Apply(self, inputs, [inputs[1].type.make_variable()])

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compute in int64."""
        first, second = inputs[:3], inputs[3:]
        output_storage[0][0] = np.concatenate([mat_vec_mod(a, s, int(m)) for a, s, m in (first, second)])

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[Any]:
        """Return the rows of both matrices."""
        return [(shapes[0][0] + shapes[3][0],)]


def multMatVect(v: Any, A: Any, m1: int, B: Any, m2: int) -> Any:
    """Return the first half of ``v`` times A modulo m1, and the second half times B modulo m2.

    Examples
    --------
    >>> multMatVect(np.arange(6, dtype="int32"), np.eye(3, dtype="int64"), 5, np.eye(3, dtype="int64"), 4)
    array([0, 1, 2, 3, 0, 1], dtype=int32)
    """
    return np.concatenate([mat_vec_mod(A, v[:3], int(m1)), mat_vec_mod(B, v[3:], int(m2))])
