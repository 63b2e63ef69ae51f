"""A C-contiguous array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, TensorLike, Tensors
    from theano.tensor.type import Tensor


class CpuContiguous(Op):
    """The input itself if it is C-contiguous; otherwise a C-contiguous copy.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], cpu_contiguous(x.T))([[1, 2], [3, 4]]).flags.c_contiguous
    True
    """

    __props__ = ()
    view_map = {0: [0]}
    views_contiguous = True
    check_input = False
    shapes = "A->A"

    def make_node(self, x: TensorLike) -> Apply:
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Copy if there is need."""
        (x,) = inputs
        output_storage[0][0] = x if x.flags.c_contiguous else np.array(x, order="C")

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        return [output_grads[0]]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction."""
        return [eval_points[0]]


cpu_contiguous = CpuContiguous()
