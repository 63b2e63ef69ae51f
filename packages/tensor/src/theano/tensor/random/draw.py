"""What ops that draw random numbers share: a state goes in, the next state and the numbers come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from theano.gradient import DisconnectedType, grad_undefined
from theano.graph import Op

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Tensors


class Draw(Op):
    """An op from a state, a size and parameters to the next state and numbers.

    Derived classes have ``inplace`` among their ``__props__``. It says whether the next state is written over the
    state; the rule ``random_make_inplace`` decides that, if it has no later use.
    """

    inplace: bool = False
    linear_in = ()

    def _works(self, inplace: bool) -> None:
        """Set whether the state is overwritten."""
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def in_place(self) -> Self:
        """Return the op that writes over the state."""
        props = {name: getattr(self, name) for name in type(self).__props__}
        return type(self)(**{**props, "inplace": True})

    def do_constant_folding(self, node: Node) -> bool:
        """Return False: random numbers must not become constants."""
        return False

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that only parameters influence numbers in the sense of derivatives."""
        return [[False, False], [False, False], *([False, True] for _ in node.inputs[2:])]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return that a draw has no derivative with respect to its parameters."""
        reason = "a draw is no smooth function of its parameters"
        undefined = [grad_undefined(self, i + 2, v, reason) for i, v in enumerate(inputs[2:])]
        return [DisconnectedType()(), DisconnectedType()(), *undefined]
