"""Element-wise loops that take numbers as they are, where `Elemwise` takes tensors with dimensions of length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from theano.tensor.compound import Compound
from theano.tensor.elemwise.op import Elemwise

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor, TensorApply


class ElemwiseOfNumbers(Compound, Elemwise):  # type: ignore[misc]
    """An element-wise op some of whose inputs have no dimensions, whatever the others have.

    It saves the node that adds dimensions to a number. The last passes of rewriting make it.

    Examples
    --------
    >>> import theano.tensor as T, theano.scalar as scal
    >>> ElemwiseOfNumbers(scal.mul)(T.dvector("v"), T.dscalar("s")).owner
    Elemwise{mul}(v, s)
    """

    __props__ = ("scalar_op", "inplace_pattern")

    def __str__(self) -> str:
        return Elemwise.__str__(self)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute as with dimensions of length 1, in place where the pattern says so."""
        op, ndim = Elemwise(self.scalar_op, self.inplace_pattern), node.outputs[0].type.ndim
        given = [x if x.ndim else x.reshape((1,) * ndim) for x in inputs]
        op.perform(cast("TensorApply", op.make_node(*node.inputs)), given, output_storage)

    def expression(self, *inputs: Tensor) -> list[Variable]:
        """Return the outputs of the op that adds dimensions first."""
        return Elemwise(self.scalar_op, self.inplace_pattern).make_node(*inputs).outputs
