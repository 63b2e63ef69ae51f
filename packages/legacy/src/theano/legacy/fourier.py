"""``theano.tensor.fourier``: the discrete Fourier transform along one axis, in complex numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise.functions import cast, conj, eq, real, switch
from theano.tensor.join.op import join
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorApply, TensorType
from theano.tensor.type_other import NoneConst

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Axis, Shape, Shapes, TensorLike, Tensors

__all__ = ["Fourier", "fft"]


class Fourier(Op):
    """The transform of a tensor along one axis, in complex128, as :func:`numpy.fft.fft` computes it.

    Its inputs are the tensor, the number of its elements along the axis that are transformed (it is cut, or zeros are
    appended; None: all), and the axis (None: the last one). Both may be symbolic.

    Examples
    --------
    >>> import theano.tensor as T
    >>> fft(T.constant([1.0, 0.0, 0.0]), 2).eval()
    array([1.+0.j, 1.+0.j])
    """

    __props__ = ()
    linear_in = (0,)

    def make_node(self, a: TensorLike, n: Any = None, axis: Axis = None) -> Apply:
        a = as_tensor_variable(a)
        if a.type.ndim < 1:
            raise TypeError(f"Fourier: {a} has no axis along which it could be transformed")
        n = None if isinstance(n, Constant) and n.data is None else n
        numbers = [as_tensor_variable(v) for v in (n, -1 if axis is None else axis) if v is not None]
        for v in numbers:
            if v.type.ndim or not v.type.dtype.startswith(("int", "uint")):
                raise TypeError(f"Fourier: the length and the axis must be whole numbers, not {v} of type {v.type}")
        if isinstance(numbers[-1], Constant) and not -a.type.ndim <= int(numbers[-1].data) < a.type.ndim:
            raise ValueError(f"Fourier: {a} has {a.type.ndim} dimensions and no axis {int(numbers[-1].data)}")
        inputs = [a, NoneConst.clone() if n is None else numbers[0], numbers[-1]]
        return Apply(self, inputs, [TensorType("complex128", (False,) * a.type.ndim).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Transform with NumPy."""
        a, n, axis = inputs
        if n is not None and n < 1:
            raise shape_error(node, inputs, f"{int(n)} elements cannot be transformed.", "Lengths are 1 or more.")
        found = np.fft.fft(a, None if n is None else int(n), int(axis))
        output_storage[0][0] = found.astype("complex128", copy=False)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the tensor, with the length along the axis."""
        n, axis = node.inputs[1:]
        if not hasattr(n.type, "ndim"):
            return [shapes[0]]
        count = len(shapes[0])
        if isinstance(axis, Constant):
            at = int(axis.data) % count
            return [tuple(cast(n, "int64") if i == at else length for i, length in enumerate(shapes[0]))]
        there = switch(axis < 0, axis + count, axis)
        return [tuple(switch(eq(there, i), cast(n, "int64"), length) for i, length in enumerate(shapes[0]))]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the length and the axis have no influence in the sense of derivatives."""
        return [[True], [False], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the transform with the other sign, cut or continued with zeros to the tensor's length.

        A gradient by a complex number is that by its real part plus i times that by its imaginary part.
        """
        (a, n, axis), (g,) = inputs, output_grads
        if not isinstance(axis, Constant):
            raise NotImplementedError("Fourier: a gradient needs an axis that is known when the graph is built")
        at = int(axis.data) % a.type.ndim
        back = conj(self(conj(g), None, at))
        if hasattr(n.type, "ndim"):
            where = (slice(None),) * at
            shape = [a.shape[i] for i in range(a.type.ndim)]
            shape[at] = switch(a.shape[at] > n, a.shape[at] - n, 0)
            zeros = alloc(np.zeros((), "complex128"), *shape)
            back = join(at, back[(*where, slice(None, a.shape[at]))], zeros)
        found = back if a.type.dtype.startswith("complex") else real(back)
        wanted = a.type.dtype if a.type.dtype.startswith(("complex", "float")) else "float64"
        return [cast(found, wanted), DisconnectedType()(), DisconnectedType()()]


fft = Fourier()
