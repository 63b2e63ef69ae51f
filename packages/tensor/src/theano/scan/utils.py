"""What the function of a step may return beside its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph.clone import copy_expression as clone
from theano.layers import lazily
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike

__all__ = ["clone", "until"]


class until:
    """The condition under which a step is the last one.

    Parameters
    ----------
    condition : scalar
        Anything but 0 ends the loop. The step that says so counts.

    Raises
    ------
    TypeError
        The condition has dimensions.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> powers, updates = theano.scan(lambda p: (p * 2, until(p * 2 > 20)), outputs_info=T.constant(1), n_steps=100)
    >>> theano.function([], powers)()
    array([ 2,  4,  8, 16, 32], dtype=int8)
    """

    def __init__(self, condition: TensorLike):
        self.condition = as_tensor_variable(condition)
        if self.condition.type.ndim:
            raise TypeError(
                f"until: the condition {self.condition} is of type {self.condition.type}, and must be a scalar. "
                "Say theano.tensor.all or theano.tensor.any of it"
            )


__getattr__, __dir__ = lazily(globals())
