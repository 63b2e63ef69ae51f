"""A breakpoint inside a function: Python's debugger starts where a condition on values holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano.gradient import disconnected_type
from theano.graph import Apply, Op, Variable
from theano.tensor.convert import as_tensor_variable


class PdbBreakpoint(Op):
    """Hands values through, and starts the debugger when a condition holds.

    It is called with a condition and the variables to look at, and returns these variables, in a list if there are
    several. It runs where what it returns is used, so put that in the place of the variables. In the debugger
    ``monitored`` has copies of their values. What is written into them, or put in the place of one, is what the function
    goes on with. Where the condition does not hold nothing is copied.

    The debugger is that of ``breakpoint()``: pdb, or what the environment variable ``PYTHONBREAKPOINT`` names.

    Parameters
    ----------
    name : str
        Printed when the debugger starts.
    n : int, optional
        How many variables there are; the op that is called need not know.

    Raises
    ------
    TypeError
        The condition has dimensions.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, y = T.dvector("x"), T.dscalar("y")
    >>> x_seen, y_seen = PdbBreakpoint("the sum is negative")(T.lt(x.sum(), 0), x, y)
    >>> f = theano.function([x, y], x_seen * y_seen)
    >>> f([1, 2], 3)
    array([3., 6.])
    """

    __props__ = ("name", "n")

    def __init__(self, name: str, n: int | None = None):
        self.name, self.n = name, n
        if n:
            self.view_map = {i: [i + 1] for i in range(n)}

    def __reduce__(self) -> tuple[Any, ...]:
        # With this an op has no canonical form, so that programs with it are not taken from the cache: these know
        # nothing of the names of variables.
        return type(self), (self.name, self.n)

    def make_node(self, condition: Any, *monitored_vars: Any) -> Apply:
        """Return the node.

        Parameters
        ----------
        condition : scalar Variable or number
            Anything but 0 starts the debugger.
        *monitored_vars : Variable or array_like
        """
        if self.n != len(monitored_vars):
            return PdbBreakpoint(self.name, len(monitored_vars)).make_node(condition, *monitored_vars)
        if not monitored_vars:
            raise TypeError(f"PdbBreakpoint {self.name!r}: no variables to monitor; pass at least one")
        condition = as_tensor_variable(condition)
        if condition.type.ndim:
            raise TypeError(
                f"PdbBreakpoint {self.name!r}: the condition {condition} is of type {condition.type}, and must be a "
                "scalar. Say theano.tensor.any or theano.tensor.all of it"
            )
        monitored = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in monitored_vars]
        return Apply(self, [condition, *monitored], [v.type.make_variable() for v in monitored])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Look at the condition; stop if it holds."""
        seen = _debugged(self.name, node, inputs[1:]) if inputs[0] else inputs[1:]
        for cell, value in zip(output_storage, seen, strict=True):
            cell[0] = value

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: it stops when a function runs, not when it is made."""
        return False

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> Sequence[Any]:
        """Return the shapes of the variables."""
        return list(shapes[1:])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that each variable influences what is returned for it; the condition influences nothing."""
        places = range(len(node.outputs))
        return [[i == o + 1 for o in places] for i in range(len(node.inputs))]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Hand the gradients on."""
        return [disconnected_type(), *output_grads]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Hand the directions on."""
        return list(eval_points[1:])


def _debugged(name: str, node: Apply, values: Sequence[Any]) -> list[Any]:
    """Start the debugger on copies of some values, and return what they are afterwards."""
    kinds = [v.type for v in node.outputs]
    monitored = [kind.value_copy(value) for kind, value in zip(kinds, values, strict=True)]
    print(
        f"theano: breakpoint {name!r}. The list `monitored` has copies of {len(monitored)} values; change what the function"
    )
    print("goes on with there, and continue with c:")
    for i, (v, value) in enumerate(zip(node.inputs[1:], monitored, strict=True)):
        print(f"  monitored[{i}]  {v}, of shape {getattr(value, 'shape', 'none')}")
    breakpoint()  # noqa: T100  (this is what it is for)
    return [kind.filter(value) for kind, value in zip(kinds, monitored, strict=True)]
