"""Numbers at even steps: arange, how many they are, and the window made of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Op
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, constant, gradient_dtype, static_int
from theano.tensor.elemwise.functions import cast, maximum, neq, switch, true_div
from theano.tensor.type import Tensor, TensorApply, TensorType, dtype_name

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors


class ARange(Op):
    """Numbers from a start to a stop, at even steps.

    How many there are is counted exactly for whole numbers. For others it is ``ceil((stop - start) / step)``, none
    where that is not positive, but one where it is 0 because ``step`` is infinite. An array always starts at ``start``.

    Parameters
    ----------
    dtype : str
        Of the result.

    Raises
    ------
    ZeroDivisionError
        While running: the step is 0.
    ValueError
        While running: the number of steps is not a number, infinite (with either sign), or too large for an array.

    Examples
    --------
    >>> ARange("int64")(2, 8, 3).eval()
    array([2, 5])
    """

    __props__ = ("dtype",)
    linear_in = ()

    def __init__(self, dtype: str):
        self.dtype = dtype

    def make_node(self, start: TensorLike, stop: Any, step: TensorLike) -> Apply:
        inputs = [as_tensor_variable(v, ndim=0) for v in (start, stop, step)]
        return Apply(self, inputs, [TensorType(self.dtype, (False,)).make_variable()])

    @staticmethod
    def _known_length(start: Any, stop: Any, step: Any) -> int | None:
        if not all(isinstance(v, Constant) for v in (start, stop, step)):
            return None
        try:
            return steps(start.data.item(), stop.data.item(), step.data.item())
        except (ArithmeticError, ValueError):
            return None  # which running reports

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Count with NumPy."""
        start, stop, step = (v.item() for v in inputs)
        n = steps(start, stop, step)
        if n * np.dtype(self.dtype).itemsize >= 2**63:
            raise ValueError(f"{self}: {n} numbers from {start} to {stop} by {step} are more than memory can hold")
        if all(isinstance(v, int) for v in (start, stop, step)):
            output_storage[0][0] = self._whole(n, start, step)
            return
        # In float16 NumPy rounds the distance from one number to the next before it counts with it.
        counted = "float32" if self.dtype == "float16" else self.dtype
        output_storage[0][0] = np.arange(start, stop, step, dtype=counted).astype(self.dtype, copy=False)

    def _whole(self, n: int, start: int, step: int) -> np.ndarray:
        """Return the numbers, wrapped around where the dtype does not hold them, counted as exactly as C does it."""
        dtype = np.dtype(self.dtype)
        if dtype.kind in "biu":
            wide = np.arange(n, dtype="uint64") * np.uint64(step % 2**64) + np.uint64(start % 2**64)
            return wide.astype(dtype)
        counted = np.dtype("float32") if dtype == "float16" else dtype
        first = counted.type(start)
        found = np.arange(n).astype(counted) * (counted.type(start + step) - first) + first
        return found.astype(dtype, copy=False)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the number of steps from start to stop."""
        start, stop, step = node.inputs
        known = self._known_length(start, stop, step)
        if known is not None:
            return [(as_tensor_variable(np.int64(known)),)]
        dtype = stop.type.dtype
        if static_int(start) == 0 and static_int(step) == 1 and dtype in scal.integer_dtypes and dtype != "uint64":
            return [(maximum(cast(stop, "int64"), 0),)]
        return [(ARangeLength()(start, stop, step),)]

    def static_length(self, node: TensorApply, index: int) -> int | None:
        """Return the length where all inputs are constants."""
        return self._known_length(*node.inputs)

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the stop has no influence on the elements."""
        return [[True], [False], [True]]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients of start and step; that of the stop is disconnected."""
        start, stop, step = inputs
        (g,) = output_grads
        if self.dtype in scal.discrete_dtypes:
            return [
                start.zeros_like(dtype=gradient_dtype(start.type.dtype)), DisconnectedType()(),
                step.zeros_like(dtype=gradient_dtype(step.type.dtype)),
            ]
        places = arange(outputs[0].shape[0], dtype=self.dtype)
        return [g.sum(), DisconnectedType()(), (g * places).sum()]


class ARangeLength(Op):
    """How many numbers :class:`ARange` makes, without making them.

    Examples
    --------
    >>> ARangeLength()(0.0, 1.0, 0.25).eval()
    array(4)
    """

    __props__ = ()
    is_length = True
    linear_in = ()
    shapes = "->"

    def make_node(self, start: TensorLike, stop: Any, step: TensorLike) -> Apply:
        inputs = [as_tensor_variable(v, ndim=0) for v in (start, stop, step)]
        return Apply(self, inputs, [TensorType("int64", ()).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Count the steps."""
        output_storage[0][0] = np.asarray(steps(*(v.item() for v in inputs)), dtype="int64")

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that a length has no derivative."""
        return [[False], [False], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return disconnected gradients."""
        return [DisconnectedType()() for _ in inputs]


def steps(start: Any, stop: Any, step: Any) -> int:
    """Return how many numbers there are from ``start`` to ``stop``.

    Raises
    ------
    ZeroDivisionError
        The step is 0.
    ValueError
        The number does not exist, or it is too large for a length.

    Examples
    --------
    >>> steps(0, 2**63 - 1, 2**62), steps(0, -5, 1), steps(0.0, 1.0, 0.3)
    (2, 0, 4)
    """
    if step == 0:
        raise ZeroDivisionError("arange needs a step that is not 0")
    if all(isinstance(v, int) for v in (start, stop, step)):
        n = max(0, -((start - stop) // step))
    else:
        start, stop, step = (v if isinstance(v, complex) else float(v) for v in (start, stop, step))
        if complex in map(type, (start, stop, step)):
            return len(np.arange(start, stop, step))
        length = np.float64(stop - start) / np.float64(step)
        if not abs(length) < 2.0**63:
            raise ValueError(f"arange from {start} to {stop} by {step} has no length")
        # NumPy's answer where dividing lost the distance: the start alone, if the step leads towards the stop.
        n = int(not np.signbit(length)) if length == 0 and start != stop else max(0, int(np.ceil(length)))
    if n >= 2**63:
        raise ValueError(f"arange from {start} to {stop} by {step} has {n} numbers, more than a length can be")
    return n


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: str | None = None) -> Tensor:
    """Return numbers from ``start`` up to (not including) ``stop``, ``step`` apart.

    Parameters
    ----------
    start : number or symbolic scalar
        Taken as the stop, with start 0, where no ``stop`` is given.
    stop, step : number or symbolic scalar
        The end, which is left out, and the distance of neighbours.
    dtype : str, optional
        Int64 where all three are integers. A floating result keeps to floatX under the casting policy
        ``numpy+floatX``.

    Returns
    -------
    TensorVariable
        A vector; empty where ``stop`` is before ``start``.

    See Also
    --------
    linspace, mgrid, numpy.arange

    Examples
    --------
    >>> import theano.tensor as T
    >>> arange(T.lscalar("n")).type, arange(0.1, 3).type
    (TensorType(int64, vector), TensorType(float64, vector))
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = map(as_tensor_variable, (start, stop, step))
    if dtype is None:
        dtype = scal.upcast(start.type.dtype, stop.type.dtype, step.type.dtype)
        if dtype in scal.discrete_dtypes:
            dtype = "int64"
        elif config.cast_policy == "numpy+floatX" and config.floatX == "float32" and dtype == "float64":
            given = [v.type.dtype for v in (start, stop, step)]
            dtype = dtype if "float64" in given else "float32"
    return _arange_of(dtype_name(dtype))(start, stop, step)


@cache
def _arange_of(dtype: str) -> ARange:
    """Return the op of a dtype, of which there is one: programs compare by identity."""
    return ARange(dtype)


def bartlett(M: Any) -> Tensor:
    """Return a window of ``M`` numbers that rises in a straight line from 0 to 1 and falls back.

    Parameters
    ----------
    M : int or scalar of int
        Number of elements.

    Returns
    -------
    TensorVariable
        A vector of floatX, empty for ``M`` below 1.

    See Also
    --------
    numpy.bartlett

    Examples
    --------
    >>> bartlett(5).eval()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    size = cast(as_tensor_variable(M), "int64")
    if size.type.ndim:
        raise TypeError(f"bartlett takes one whole number, but {M} has {size.type.ndim} dimensions")
    places = cast(arange(size), str(config.floatX))
    last = cast(maximum(size - 1, 1), str(config.floatX))
    half = true_div(last, constant(np.array(2, dtype=str(config.floatX))))
    rising = true_div(places, half)
    window = switch(places <= half, rising, 2 - rising)
    return switch(neq(size, 1), window, window.ones_like())
