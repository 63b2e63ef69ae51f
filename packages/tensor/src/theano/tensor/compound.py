"""Ops that stand for an expression of other ops.

Their class is what programs know (``isinstance(node.op, T.Tile)``); what they compute is said once, as the expression.
Gradient, direction, shapes and values follow from it, and a rule puts the expression in their place before anything
is compiled, so that it is simplified, fused and compiled like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.gradient.through import backward, connections, forward
from theano.graph import Apply, Constant, Op, Variable
from theano.graph.traverse import toposort
from theano.tensor.convert import as_tensor_variable
from theano.tensor.shape.basic import shape_tuple


class Compound(Op):
    """An op defined by an expression; a subclass says :meth:`expression`, and how else its inputs are converted.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> class Cube(Compound):
    ...     __props__ = ()
    ...     def expression(self, x):
    ...         return x * x * x
    >>> x = T.dscalar("x")
    >>> y = Cube()(x)
    >>> y.owner, theano.function([x], [y, T.grad(y, x)])(2)
    (Cube(x), [array(8.), array(12.)])
    """

    __props__: tuple[str, ...] = ()

    def expression(self, *inputs: Any) -> Any:
        """Return the variable, or the list of variables, that this op stands for."""
        raise NotImplementedError(f"{type(self).__name__} does not define expression")

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs as variables."""
        return [as_tensor_variable(v) for v in inputs]

    def expand(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the expression on given variables, always as a list."""
        made = self.expression(*inputs)
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node; the types of its outputs are those of the expression."""
        variables = self.convert(*inputs)
        return Apply(self, variables, [v.type.make_variable() for v in self.expand(variables)])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compute the expression, node by node."""
        wanted = self.expand(node.inputs)
        values: dict[Variable, Any] = dict(zip(node.inputs, inputs, strict=True))

        def value(v: Variable) -> Any:
            return v.data if v not in values and isinstance(v, Constant) else values[v]

        for inner in toposort(wanted, node.inputs):
            cells: list[list[Any]] = [[None] for _ in inner.outputs]
            inner.op.perform(inner, [value(v) for v in inner.inputs], cells)
            values.update(zip(inner.outputs, (cell[0] for cell in cells), strict=True))
        for cell, v in zip(output_storage, wanted, strict=True):
            found = value(v)
            cell[0] = found.copy() if any(np.may_share_memory(found, x) for x in inputs) else found

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the lengths of the expression, which need not be computed for them."""
        return [shape_tuple(v) for v in self.expand(node.inputs)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return which inputs the expression connects with which outputs."""
        return connections(self.expand, node.inputs)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient of the expression."""
        return backward(self.expand, inputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction of the expression."""
        return forward(self.expand, inputs, eval_points)
