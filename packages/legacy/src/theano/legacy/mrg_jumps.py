"""Jumps and single steps of MRG31k3p: as an op, and as the functions that programs call for one state at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.random.mrg31k3p import M1, M2, jump, jumped, mat_vec_mod
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike

(A1p72, A2p72), (A1p134, A2p134) = jump(72), jump(134)
"""What jumps 2^72 and 2^134 numbers ahead."""


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

    def make_node(
        self, A: TensorLike, s: Variable, m: TensorLike, A2: TensorLike, s2: TensorLike, m2: TensorLike
    ) -> Node:
        """Return the node for two matrices, two vectors and two numbers."""
        inputs = [as_tensor_variable(v) for v in (A, s, m, A2, s2, m2)]
        return Apply(self, inputs, [inputs[1].type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute in int64."""
        first, second = inputs[:3], inputs[3:]
        output_storage[0][0] = np.concatenate([mat_vec_mod(a, s, int(m)) for a, s, m in (first, second)])

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the rows of both matrices."""
        return [(shapes[0][0] + shapes[3][0],)]


def multMatVect(v: np.ndarray, A: np.ndarray, m1: int, B: np.ndarray, m2: int) -> np.ndarray:
    """Return the first half of ``v`` times A modulo m1, and the second half times B modulo m2.

    Examples
    --------
    >>> multMatVect(np.arange(6, dtype="int32"), np.eye(3, dtype="int64"), 5, np.eye(3, dtype="int64"), 4)
    array([0, 1, 2, 3, 0, 1], dtype=int32)
    """
    return np.concatenate([mat_vec_mod(A, v[:3], int(m1)), mat_vec_mod(B, v[3:], int(m2))])


def matVecModM(A: TensorLike, s: TensorLike, m: int) -> np.ndarray:
    """Return ``A @ s % m`` in int32.

    Examples
    --------
    >>> matVecModM(np.eye(3, dtype="int64"), np.array([3, 2, 9]), 7)
    array([3, 2, 2], dtype=int32)
    """
    return mat_vec_mod(A, s, int(m)).astype("int32")


def ff_2p72(rstate: TensorLike) -> np.ndarray:
    """Return a state 2^72 numbers later.

    Examples
    --------
    >>> ff_2p72(np.full(6, 12345, "int32")).shape
    (6,)
    """
    return jumped(rstate, (A1p72, A2p72))


def ff_2p134(rstate: TensorLike) -> np.ndarray:
    """Return a state 2^134 numbers later.

    Examples
    --------
    >>> ff_2p134(np.full(6, 12345, "int32")).shape
    (6,)
    """
    return jumped(rstate, (A1p134, A2p134))


def mrg_next_value(rstate: np.ndarray, new_rstate: np.ndarray, NORM: float, mask: int, offset: int) -> float:
    """Write the next state of one stream, and return the number drawn: its bits in ``mask``, and ``offset``, by NORM.

    Examples
    --------
    >>> state = np.full(6, 12345, "int32")
    >>> round(float(mrg_next_value(state, state, 2.0**-31, 0xFFFFFFFF, 0)), 4), state[:2].tolist()
    (0.7353, [240667857, 12345])
    """
    x11, x12, x13, x21, x22, x23 = (int(n) for n in rstate)
    x = (2**22 * x12 + (2**7 + 1) * x13) % M1
    y = (2**15 * x21 + (2**15 + 1) * x23) % M2
    new_rstate[...] = [x, x11, x12, y, x21, x22]
    drawn = x - y + M1 if x <= y else x - y
    return ((drawn & mask) + offset) * NORM
