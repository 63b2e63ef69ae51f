"""Element-wise loops that take numbers as they are, where `Elemwise` takes tensors with dimensions of length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.tensor.compound import Compound
from theano.tensor.elemwise.op import Elemwise

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor


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

    def expression(self, *inputs: Tensor) -> list[Variable]:
        """Return the outputs of the op that adds dimensions first."""
        return Elemwise(self.scalar_op, self.inplace_pattern).make_node(*inputs).outputs
