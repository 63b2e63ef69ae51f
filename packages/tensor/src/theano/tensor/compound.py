"""Ops of tensors that stand for an expression of other ops.

Their class is what programs know (``isinstance(node.op, T.Tile)``); what they compute is said once, as the expression.
A rule puts it in their place before anything is compiled, so that it is simplified, fused and compiled like any other.
"""

from __future__ import annotations

from typing import Any

from theano.compile.expression import ExpressionOp
from theano.tensor.convert import as_tensor_variable


class Compound(ExpressionOp):
    """An op of tensors defined by an expression; a subclass says it, and how else its inputs are converted.

    Examples
    --------
    >>> import theano
    >>> class Cube(Compound):
    ...     def expression(self, x):
    ...         return x * x * x
    >>> Cube()(2.0).owner.inputs, Cube()(2.0).eval()
    ([TensorConstant{2.0}], array(8.))
    """

    __props__: tuple[str, ...] = ()
    is_inline = True

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs as variables."""
        return [as_tensor_variable(v) for v in inputs]
