"""Assert: a condition that is checked when a value is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.codegen.kernel import Builtin
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op, Variable
from theano.graph.text import printable
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.kernels.layout import assert_kernel


class Assert(Op):
    """The first input itself, if the others are all true.

    Rewriting moves around an assertion and keeps it, unless its condition is known to hold
    (``optimizer_including=local_remove_all_assert`` drops all of them, unchecked).

    Parameters
    ----------
    msg : str
        Of the error.

    Raises
    ------
    TypeError
        A condition has dimensions: say ``T.all`` or ``T.any`` of it.
    AssertionError
        While running: a condition is false.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> f = theano.function([x], T.log(Assert("x must be positive")(x, T.all(x > 0))).sum())
    >>> float(f([1.0, 1.0]))
    0.0
    >>> f([1.0, -1.0])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AssertionError: x must be positive
    """

    __props__ = ("msg",)
    view_map = {0: [0]}

    def __init__(self, msg: str = "Theano Assert failed!"):
        self.msg = str(msg)

    def __str__(self) -> str:
        return f"Assert{{msg={self.msg!r}}}"

    def make_node(self, value: Any, *conds: Any) -> Apply:
        """Return the node for a value of any type and conditions without dimensions."""
        if not isinstance(value, Variable):
            value = as_tensor_variable(value)
        checked = [as_tensor_variable(c) for c in conds]
        for c in checked:
            if c.type.ndim:
                raise TypeError(
                    f"the condition {c} of type {c.type} of an assertion has dimensions; "
                    "say theano.tensor.all or theano.tensor.any of it"
                )
        return Apply(self, [value, *checked], [value.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Check the conditions."""
        value, *conds = inputs
        if not np.all(conds):
            raise AssertionError(printable(self.msg))
        output_storage[0][0] = value

    def c_kernel(self, node: Apply) -> Builtin | None:
        """Return the input, the conditions checked."""
        return assert_kernel(self, node) if is_tensor(node.inputs[0]) else None

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the shape of the value."""
        return [shapes[0]]

    def static_value(self, node: Apply, index: int, ask: Any) -> Any:
        """Return what the value is worth, if the conditions are known to hold."""
        return ask(node.inputs[0]) if all(ask(condition) for condition in node.inputs[1:]) else None

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return that conditions have no influence in the sense of derivatives."""
        return [[True], *([[False]] * (len(node.inputs) - 1))]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient as it is."""
        return [output_grads[0], *(DisconnectedType()() for _ in inputs[1:])]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction as it is."""
        return [eval_points[0]]


assert_ = assert_op = Assert()
