"""Ops of tensors that stand for an expression of other ops.

Their class is what programs know (``isinstance(node.op, T.Tile)``); what they compute is said once, as the expression.
A rule puts it in their place before anything is compiled, so that it is simplified, fused and compiled like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.expression import ExpressionOp
from theano.errors import ArgumentError
from theano.graph import Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.messages import describe

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class Compound(ExpressionOp):
    """An op of tensors defined by an expression; a subclass says it, and how else its inputs are converted.

    Attributes
    ----------
    ndims : tuple of int or None
        How many dimensions each input has; None: any.

    Examples
    --------
    >>> class Cubes(Compound):
    ...     ndims = (1,)
    ...     def expression(self, x):
    ...         return x * x * x
    >>> Cubes()([1, 2]).eval()
    array([1, 8])
    """

    __props__: tuple[str, ...] = ()
    is_inline = True
    ndims: tuple[int, ...] | None = None

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs as variables."""
        return [as_tensor_variable(v) for v in inputs] if self.ndims is None else of_ndims(self, inputs, self.ndims)


def of_ndims(op: Op, inputs: Sequence[TensorLike], ndims: Sequence[int]) -> list[Tensor]:
    """Return the inputs of ``op`` as tensors, and see that they have these numbers of dimensions."""
    if len(inputs) != len(ndims):
        raise TypeError(f"{op} takes {len(ndims)} inputs, got {len(inputs)}")
    variables = [as_tensor_variable(v) for v in inputs]
    for i, (v, ndim) in enumerate(zip(variables, ndims, strict=True)):
        if v.type.ndim != ndim:
            raise ArgumentError(f"{op}: input {i} must have {ndim} dimensions:\n{describe(v)}")
    return variables
