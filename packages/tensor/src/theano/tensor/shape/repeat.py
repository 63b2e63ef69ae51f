"""RepeatOp and tile: elements, or a whole tensor, repeated along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.control.checks import Assert
from theano.tensor.convert import (
    as_tensor_variable,
    constant,
    gradient_dtype,
    length_if_known,
    static_int,
    whole_number,
)
from theano.tensor.create.alloc import alloc
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast
from theano.tensor.index.functions import getitem, inc_subtensor
from theano.tensor.join.op import join
from theano.tensor.messages import axis_of, shape_error
from theano.tensor.shape.reshape import reshape
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class RepeatOp(Op):
    """Each element repeated along an axis.

    Parameters
    ----------
    axis : int or None
        None: of the flat tensor.

    Examples
    --------
    >>> import theano.tensor as T
    >>> RepeatOp(axis=0)(T.constant([5, 6]), [2, 1]).eval()
    array([5, 5, 6])
    """

    __props__ = ("axis",)
    linear_in = (0,)

    def __init__(self, axis: int | None = None):
        self.axis = axis

    def make_node(self, x: TensorLike, repeats: Any) -> Apply:
        """Return the node for a tensor and how often each element."""
        x, repeats = as_tensor_variable(x), as_tensor_variable(repeats)
        if repeats.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"repeats must be whole numbers, not {repeats} of dtype {repeats.type.dtype}")
        if repeats.type.ndim > 1:
            raise ValueError(f"repeats must be a number or a vector, but {repeats} has {repeats.type.ndim} dimensions")
        if self.axis is None:
            pattern = [False]
        else:
            pattern = list(x.type.broadcastable)
            axis_of(x, self.axis, "repeat")
            pattern[self.axis] = pattern[self.axis] and static_int(repeats) == 1
        return Apply(self, [x, repeats], [TensorType(x.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Repeat with NumPy."""
        x, repeats = inputs
        try:
            output_storage[0][0] = np.repeat(x, repeats, axis=self.axis)
        except ValueError as exc:
            raise shape_error(
                node, inputs, str(exc), "Give one number, or as many as there are elements along the axis, 0 or more."
            ) from None

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the tensor, longer along the axis."""
        repeats: Tensor = cast(node.inputs[1], "int64")
        lengths = list(shapes[0])
        if self.axis is None:
            if repeats.type.ndim:
                return [(repeats.sum() if not repeats.type.broadcastable[0] else self._all(lengths) * repeats.sum(),)]
            return [(self._all(lengths) * repeats,)]
        if repeats.type.ndim == 0 or repeats.type.broadcastable[0]:
            lengths[self.axis] = lengths[self.axis] * (repeats.sum() if repeats.type.ndim else repeats)
        else:
            lengths[self.axis] = repeats.sum()
        return [tuple(lengths)]

    @staticmethod
    def _all(lengths: Sequence[Any]) -> Any:
        total: Any = constant(np.int64(1))
        for n in lengths:
            total = total * n
        return total

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only the elements have an influence in the sense of derivatives."""
        return [[True], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return for each element the sum over its copies."""
        (x, repeats), (g,) = inputs, output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype)), DisconnectedType()()]
        flat = x.flatten() if self.axis is None else x
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        # Each copy adds its gradient to the element that it is of.
        origins = RepeatOp(0)(arange(flat.shape[axis]), repeats)
        here = (*(slice(None),) * axis, origins)
        sums = inc_subtensor(getitem(flat.zeros_like(dtype=g.type.dtype), here), g)
        sums = sums.reshape(x.shape, ndim=x.type.ndim) if self.axis is None else sums
        return [sums, DisconnectedType()()]


def repeat(x: TensorLike, repeats: TensorLike, axis: int | None = None) -> Tensor:
    """Return each element of ``x`` repeated along an axis (of the flat tensor for None).

    Parameters
    ----------
    x : tensor
        Of any shape.
    repeats : int, scalar or vector of int
        How often; a vector says it for each place along the axis.
    axis : int, optional
        Along which axis; without one ``x`` counts as flat.

    Returns
    -------
    TensorVariable
        Longer along the axis; a vector without one.

    See Also
    --------
    tile, numpy.repeat

    Examples
    --------
    >>> import theano.tensor as T
    >>> repeat(T.dmatrix("m"), 2, axis=0).ndim
    2
    """
    x, repeats = as_tensor_variable(x), as_tensor_variable(repeats)
    if repeats.type.ndim > 1:
        raise ValueError(f"The dimension of repeats should not exceed 1, but {repeats} has {repeats.type.ndim}")
    if repeats.type.ndim == 1 and length_if_known(repeats) == 1:
        repeats = repeats[0]
    if repeats.type.ndim == 1:
        return RepeatOp(axis=axis)(x, repeats)
    if repeats.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"repeats must be whole numbers, not {repeats} of dtype {repeats.type.dtype}")
    flat, place = (x.flatten(), 0) if axis is None else (x, axis_of(x, axis, "repeat"))
    if static_int(repeats) == 1:
        return flat
    # A new axis after the one repeated, stretched and joined with it.
    wide = flat.dimshuffle(*range(place + 1), "x", *range(place + 1, flat.type.ndim))
    lengths = [flat.shape[i] for i in range(flat.type.ndim)]
    full = alloc(wide, *lengths[: place + 1], repeats, *lengths[place + 1 :])
    lengths[place] = lengths[place] * cast(repeats, "int64")
    return full.reshape(lengths, ndim=flat.type.ndim)


def tile(x: Any, reps: Any, ndim: int | None = None) -> Tensor:
    """Return ``x`` repeated as a whole along each axis.

    Parameters
    ----------
    x : tensor
        Of any shape.
    reps : whole number, sequence of tensor of int or vector
        How often along each axis, counted from the last; once along those before the first of them.
    ndim : int, optional
        Number of dimensions of the result; needed if ``reps`` is a vector.

    Returns
    -------
    TensorVariable
        Along each axis ``reps`` times as long.

    Raises
    ------
    ValueError
        ``reps`` is no such thing, or longer than ``ndim``, or ``x`` has more dimensions than that.
    AssertionError
        When it runs: the vector ``reps`` is longer than ``ndim``.

    See Also
    --------
    repeat, broadcast_to, numpy.tile

    Examples
    --------
    >>> import theano.tensor as T
    >>> tile(T.dmatrix("m"), (2, 3)).ndim
    2
    """
    x = as_tensor_variable(x)
    if ndim is not None and ndim < x.type.ndim:
        raise ValueError(f"ndim should be equal or larger than the {x.type.ndim} dimensions of {x}, not {ndim}")
    if hasattr(reps, "type") and reps.type.ndim == 1:
        if ndim is None:
            raise ValueError("if reps is tensor.vector, you should specify the ndim")
        reps = Assert(f"tile: reps has more elements than the result has dimensions, {ndim}")(
            reps, reps.shape[0] <= ndim
        )
        reps = join(0, alloc(np.ones((), reps.type.dtype), ndim - reps.shape[0]), reps)
        reps = [reps[i] for i in range(ndim)]
    several = isinstance(reps, (list, tuple)) or (isinstance(reps, np.ndarray) and reps.ndim)
    counts = list(reps) if several else [reps]
    if ndim is not None and ndim < len(counts):
        raise ValueError("ndim should be equal or larger than len(reps)")
    for n in counts:
        if isinstance(n, (float, str)) or hasattr(n, "type") and n.type.dtype not in scal.integer_dtypes:
            raise ValueError(f"elements of reps must be whole numbers, not {n!r}")
    # Of uint64 and int64, which lengths are, a product is a float.
    counts = [cast(n, "int64") if (number := whole_number(n)) is None else number for n in counts]
    total = ndim if ndim is not None else max(len(counts), x.type.ndim)
    counts = [1] * (total - len(counts)) + counts
    x = x.dimshuffle(*["x"] * (total - x.type.ndim), *range(x.type.ndim))
    # Each axis becomes two, the copies first.
    doubled = x.dimshuffle(*[e for i in range(total) for e in ("x", i)])
    lengths: list[Any] = []
    for i, n in enumerate(counts):
        lengths += [n, x.shape[i]]
    copies = alloc(doubled, *lengths)
    return reshape(copies, [n * x.shape[i] for i, n in enumerate(counts)], ndim=total)
