"""``Print``: an op that lets its input through and says what it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.text import printable
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values


def _print_fn(op: Print, xin: int) -> None:
    for attr in op.attrs:
        found = getattr(xin, attr)
        print(printable(op.message), attr, "=", found() if callable(found) else found)


class Print(Op):
    """Prints attributes of a value each time it is computed, and returns it unchanged.

    The expression that Print returns must be used: a value that nothing depends on is not computed, nor printed.

    Parameters
    ----------
    message : str
        What to print first.
    attrs : sequence of str
        Attributes of the value to print; methods are called.
    global_fn : callable
        Takes the op and the value, in the place of printing.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> f = theano.function([x], Print("x is")(x))
    >>> f(3)
    x is __str__ = 3
    3
    """

    __props__ = ("message", "attrs", "global_fn")
    view_map = {0: [0]}
    shapes = "A->A"

    def __init__(
        self,
        message: str = "",
        attrs: Sequence[str] = ("__str__",),
        global_fn: Callable[[Print, Any], None] = _print_fn,
    ):
        self.message = message
        self.attrs = tuple(attrs)  # a tuple, for the op is hashed by it
        self.global_fn = global_fn

    def make_node(self, xin: Variable) -> Apply:
        """Return the node; the output is of the type of the input."""
        if not isinstance(xin, Variable):
            raise TypeError(f"Print prints the value of a variable, and {xin!r} is none")
        return Apply(self, [xin], [xin.type.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Let the value through, then print."""
        output_storage[0][0] = inputs[0]
        self.global_fn(self, inputs[0])

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: computed once at compile time, it would print once."""
        return False

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Sequence[Variable]:
        """Return the gradient unchanged."""
        return output_grads

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return the direction unchanged."""
        return eval_points

    def __str__(self) -> str:
        return f"Print{{message='{self.message}', attrs={self.attrs}}}"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("global_fn", _print_fn)
