"""Between scalars and tensors without dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.graph import Apply, Constant, Op, Variable
from theano.scalar.convert import scalar_converters
from theano.tensor.convert import Converter, converters, is_tensor
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.scalar.annotations import Number
    from theano.tensor.annotations import Tensors
    from theano.tensor.type import Tensor


class TensorFromScalar(Op):
    """A scalar variable as a tensor without dimensions.

    Parameters
    ----------
    s : ScalarVariable
        A number of :mod:`theano.scalar`.

    Returns
    -------
    TensorVariable
        Without dimensions, of the same dtype.

    See Also
    --------
    scalar_from_tensor

    Examples
    --------
    >>> import theano
    >>> import theano.scalar as ts
    >>> TensorFromScalar()(ts.float64("x")).type
    TensorType(float64, scalar)
    """

    __props__ = ()
    linear_in = (0,)
    shapes = "->"

    def make_node(self, s: Any) -> Apply:
        s = scal.as_scalar(s)
        return Apply(self, [s], [TensorType(s.type.dtype, ()).make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Wrap the number in an array."""
        output_storage[0][0] = np.array(inputs[0])

    def static_value(self, node: Apply, index: int, ask: Callable[..., object]) -> Value:
        """Return the scalar's value."""
        return ask(node.inputs[0])

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient as a scalar."""
        (s,), (g,) = inputs, output_grads
        if s.type.dtype in scal.discrete_dtypes:
            return [s.zeros_like(dtype="floatX")]
        return [scalar_from_tensor(g)]


class ScalarFromTensor(Op):
    """A tensor without dimensions as a scalar variable.

    Parameters
    ----------
    t : tensor
        Without dimensions.

    Returns
    -------
    ScalarVariable
        Of the same dtype.

    See Also
    --------
    tensor_from_scalar

    Examples
    --------
    >>> import theano.tensor as T
    >>> ScalarFromTensor()(T.dscalar("x")).type
    float64
    """

    __props__ = ()
    linear_in = (0,)
    shapes = "->"

    def make_node(self, t: Tensor) -> Apply:
        if not is_tensor(t) or t.type.ndim != 0:
            raise ArgumentError(f"scalar_from_tensor needs a tensor without dimensions, not {t} of type "
                            f"{getattr(t, 'type', type(t).__name__)}")
        return Apply(self, [t], [scal.get_scalar_type(t.type.dtype).make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Take the number out of the array."""
        output_storage[0][0] = inputs[0][()]

    def static_value(self, node: Apply, index: int, ask: Callable[..., object]) -> Value:
        """Return the tensor's value."""
        return ask(node.inputs[0])

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient as a tensor."""
        return [tensor_from_scalar(output_grads[0])]


tensor_from_scalar = TensorFromScalar()
scalar_from_tensor = ScalarFromTensor()


def _scalar_to_tensor(s: Number) -> Tensor:
    if s.owner is not None and isinstance(s.owner.op, ScalarFromTensor):
        (t,) = s.owner.inputs
        return t
    return tensor_from_scalar(s)


@scalar_converters.register
def _tensor_to_scalar(t: Tensor) -> Number | None:
    if not is_tensor(t) or t.type.ndim:
        return None
    if isinstance(t, Constant):
        return scal.constant(t.data[()])
    if t.owner is not None and isinstance(t.owner.op, TensorFromScalar):
        (s,) = t.owner.inputs
        return s
    return scalar_from_tensor(t)


converters.register(Converter(lambda x: isinstance(x, Variable) and isinstance(x.type, scal.Scalar), _scalar_to_tensor))
