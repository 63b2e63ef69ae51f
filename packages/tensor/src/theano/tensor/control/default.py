"""Default: a value, or another where the first is None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.gradient import grad_undefined
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike, Tensors


class Default(Op):
    """The first input, or the second where the first is None.

    Parameters
    ----------
    x : Variable
        Possibly None.
    default : Variable
        Of the type of ``x``, but not None.

    Returns
    -------
    TensorVariable
        ``x``, or ``default`` where ``x`` is None.

    See Also
    --------
    switch

    Examples
    --------
    >>> import theano.tensor as T
    >>> Default()(T.constant([1.0]), T.constant([2.0])).eval()
    array([1.])
    """

    __props__ = ()
    view_map = {0: [0]}
    shapes = ",A->A"

    def make_node(self, x: TensorLike, default: Variable) -> Apply:
        """Return the node for two variables of one type."""
        x, default = as_tensor_variable(x), as_tensor_variable(default)
        if x.type != default.type:
            raise TypeError(f"Both arguments of default must have the same type, not {x.type} and {default.type}")
        return Apply(self, [x, default], [default.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Choose."""
        x, default = inputs
        output_storage[0][0] = default.copy() if x is None else x

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return undefined gradients: which input counts is known only at run time."""
        return [grad_undefined(self, i, v) for i, v in enumerate(inputs)]


default = Default()
setdefault = default
