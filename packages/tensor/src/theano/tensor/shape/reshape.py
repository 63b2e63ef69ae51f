"""Reshape, flatten, and new axes of length 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Op
from theano.tensor.control.checks import CheckedLength, unchecked
from theano.tensor.convert import as_tensor_variable, get_vector_length, is_tensor, static_int, whole_number
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import cast, eq, ge, gt, int_div, le, lt, maximum, mul, or_, switch
from theano.tensor.messages import axis_of, shape_error
from theano.tensor.shape.basic import addbroadcast, patternbroadcast
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


def _is_known(lengths: list[int | None]) -> TypeGuard[list[int]]:
    return None not in lengths


class Reshape(Op):
    """The elements of a tensor, in C order, under another shape.

    The new shape has as many elements as the old one; one length may be -1, and follows from the others where none of
    these is 0. Anything else is a ``ShapeError`` (a ``ValueError``), also where the result is asked for its shape only.

    Parameters
    ----------
    ndim : int
        Number of dimensions of the result; the lengths themselves are an input of the node.
    name : str, optional

    Examples
    --------
    >>> import theano.tensor as T
    >>> Reshape(2)(T.constant([1, 2, 3, 4]), (2, -1)).eval()
    array([[1, 2],
           [3, 4]])
    """

    __props__ = ("ndim",)
    view_map = {0: [0]}
    slopes_of_whole = True
    views_contiguous = True
    linear_in = (0,)

    def __init__(self, ndim: int, name: str | None = None):
        self.ndim = int(ndim)
        if self.ndim < 0:
            raise ValueError(f"a tensor cannot have {ndim} dimensions")
        self.name = name

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.ndim}}}"

    def make_node(self, x: TensorLike, shape: Any) -> Apply:
        """Return the node; a length that is the constant 1 becomes part of the type."""
        x = as_tensor_variable(x)
        parts = None
        if isinstance(shape, (list, tuple)):
            # To NumPy, a list of np.uint64 and int is one of floats.
            parts = shape = [v if (n := whole_number(v)) is None else n for v in shape]
        shape = as_tensor_variable(np.asarray([], dtype="int64") if parts == [] else shape, ndim=1)
        if shape.type.dtype not in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
            raise TypeError(f"the new shape must be whole numbers, but {shape} is of dtype {shape.type.dtype}")
        known = self._known_lengths(shape, parts)
        if known.count(-1) > 1:
            raise ValueError(f"a new shape can have one -1 only: {tuple(known)}")
        if isinstance(x, Constant) and _is_known(known) and -1 not in known and math.prod(known) != x.data.size:
            raise ValueError(f"a constant of shape {x.data.shape} cannot take shape {tuple(known)}")
        return Apply(self, [x, shape], [TensorType(x.type.dtype, [n == 1 for n in known]).make_variable()])

    def _known_lengths(self, shape: Tensor, parts: list[Any] | None) -> list[int | None]:
        if isinstance(shape, Constant):
            if len(shape.data) != self.ndim:
                raise ValueError(f"{self} needs {self.ndim} lengths, got {len(shape.data)}: {tuple(shape.data)}")
            return [int(n) for n in shape.data]
        if parts is not None and len(parts) == self.ndim:
            return [static_int(p) for p in parts]
        return [static_int(shape[i]) for i in range(self.ndim)]

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Reshape with NumPy, which copies where no view is possible."""
        x, lengths = inputs
        if len(lengths) != self.ndim:
            raise shape_error(node, inputs, f"{self.ndim} lengths are needed, got {len(lengths)}.",
                              "Give ndim= to reshape, equal to the length of the shape vector.")
        wanted = tuple(int(n) for n in lengths)
        try:
            # NumPy takes any negative number for a -1.
            output_storage[0][0] = x.reshape(wanted if min(wanted, default=0) >= -1 else (-1, -1))
        except ValueError:
            raise shape_error(
                node, inputs, f"Cannot reshape an array of {x.size} elements, of shape {x.shape}, to {wanted}.",
                "The number of elements must stay the same; one length may be -1 and follows from the others.",
            ) from None

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths asked for, -1 worked out from the others, checked to hold all elements."""
        asked = [node.inputs[1][i] for i in range(self.ndim)]
        known = [static_int(n) for n in asked]
        size = _product(shapes[0])
        if holds_all(asked, shapes[0]):
            return [tuple(size if k == -1 else n for n, k in zip(asked, known, strict=True))]
        check = CheckedLength("reshape: the number of elements must stay the same; one length may be -1.")
        if -1 in known:
            rest = _product([n for n, k in zip(asked, known, strict=True) if k != -1])
            open_ = int_div(size, maximum(rest, 1))
            # NumPy refuses a -1 beside a length 0, which any number would satisfy.
            conditions = [eq(open_ * rest, size), gt(rest, 0), *_none_negative(asked, known)]
            return [tuple(check(open_ if k == -1 else n, *conditions) for n, k in zip(asked, known, strict=True))]
        if _is_known(known):
            return [tuple(check(as_tensor_variable(np.int64(k)), eq(_product(asked), size)) for k in known)]
        return [self._with_one_open(asked, known, size, check)]

    @staticmethod
    def _with_one_open(
        asked: Sequence[Tensor], known: Sequence[int | None], size: Tensor, check: CheckedLength
    ) -> tuple[Tensor, ...]:
        """Return lengths of which any unknown one may turn out to be -1."""
        is_open = [lt(n, 0) if k is None else None for n, k in zip(asked, known, strict=True)]
        rest = _product([n if o is None else switch(o, 1, n) for n, o in zip(asked, is_open, strict=True)])
        open_ = int_div(size, maximum(rest, 1))
        lengths = [n if o is None else switch(o, open_, n) for n, o in zip(asked, is_open, strict=True)]
        how_many = sum((cast(o, "int64") for o in is_open if o is not None), as_tensor_variable(np.int64(0)))
        conditions = [
            eq(_product(lengths), size), le(how_many, 1), or_(eq(how_many, 0), gt(rest, 0)),
            *(ge(n, -1) for n, k in zip(asked, known, strict=True) if k is None),
        ]  # fmt: skip
        return tuple(check(n, *conditions) for n in lengths)

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the input's value."""
        return ask(node.inputs[0])

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the lengths have no influence on the elements."""
        return [[True], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient under the input's shape."""
        x = inputs[0]
        gradient = reshape(output_grads[0], x.shape, ndim=x.type.ndim)
        return [patternbroadcast(gradient, x.type.broadcastable), DisconnectedType()()]


def _none_negative(asked: Sequence[Tensor], known: Sequence[int | None]) -> list[Tensor]:
    return [ge(n, 0) for n, k in zip(asked, known, strict=True) if k is None]


def holds_all(asked: Sequence[TensorLike], lengths: Sequence[TensorLike]) -> bool:
    """Return whether a new shape holds as many elements as the old one for certain: no reshape to it can fail.

    Both are products of the same numbers, or all of the elements are asked for in one dimension.

    Examples
    --------
    >>> import theano.tensor as T
    >>> n, k = T.lscalars("n", "k")
    >>> holds_all([n * 2, k], [k, 2, n]), holds_all([n], [k]), holds_all([-1, 1], [n, k])
    (True, False, True)
    """
    before, after = _factors(lengths), _factors(asked)
    if after[0] == -1:
        # Beside a -1 nothing may be 0; and what else is known to divide the number of elements?
        return after[1] == []
    return before[0] == after[0] and len(before[1]) == len(after[1]) and all(
        any(_same(v, w) for w in after[1]) and _count(v, before[1]) == _count(v, after[1]) for v in before[1]
    )


def _count(v: Tensor, among: Sequence[Tensor]) -> int:
    return sum(_same(v, w) for w in among)


def _same(v: Variable, w: Variable) -> bool:
    if v is w:
        return True
    # One length of one variable, asked for twice before equal nodes are merged.
    return (
        v.owner is not None and w.owner is not None and v.owner.op == w.owner.op
        and v.owner.op.is_length and v.owner.inputs[0] is w.owner.inputs[0]
    )


def _factors(lengths: Sequence[TensorLike]) -> tuple[int, list[Any]]:
    """Return a product of lengths as a number and what it is multiplied with."""
    number, rest, todo = 1, [], [as_tensor_variable(n) for n in lengths]
    while todo:
        v = unchecked(todo.pop())
        known = static_int(v)
        if known is not None:
            number *= known
        elif v.owner is not None and v.owner.op == mul:
            todo.extend(v.owner.inputs)
        else:
            rest.append(v)
    return number, rest


def _product(lengths: Sequence[Any]) -> Any:
    result: Any = None
    for n in lengths:
        result = n if result is None else result * n
    return as_tensor_variable(np.int64(1)) if result is None else result


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> Tensor:
    """Return the elements of ``x`` under another shape.

    Parameters
    ----------
    x : tensor
        Of any shape.
    newshape : int, sequence of int or int scalars, or vector of int
        One length may be -1; it follows from the others.
    ndim : int, optional
        Length of ``newshape``, needed where the graph does not tell it.

    Returns
    -------
    TensorVariable
        The same elements in C order. A shape of another number of elements is an error of the call.

    See Also
    --------
    flatten, transpose, shape_padleft, numpy.reshape

    Examples
    --------
    >>> import theano.tensor as T
    >>> reshape(T.dvector("v"), (2, 1, -1)).broadcastable
    (False, True, False)
    """
    if ndim is None:
        if isinstance(newshape, (int, np.integer)) or is_tensor(newshape) and newshape.type.ndim == 0:
            newshape = (newshape,)
        if isinstance(newshape, (list, tuple)):
            ndim = len(newshape)
        else:
            newshape = as_tensor_variable(newshape)
            if newshape.type.ndim != 1:
                raise TypeError(f"the new shape must be a vector or a sequence of lengths, not {newshape}")
            try:
                ndim = get_vector_length(newshape)
            except ValueError:
                raise ValueError(
                    f"the length of the new shape {newshape} is not known, so neither is the number of dimensions of "
                    "the result. Pass ndim=... to reshape."
                ) from None
    return Reshape(ndim)(x, newshape)


def is_flat(var: Tensor, ndim: int | None = None, outdim: int | None = None) -> bool:
    """Return whether ``var`` has ``ndim`` dimensions (1 where it is not given).

    Parameters
    ----------
    var : tensor
        Its number of dimensions counts.
    ndim : int, optional
        How many it must have; 1 by default.
    outdim : int, optional
        Another name of ``ndim``.

    Returns
    -------
    bool
        Whether it has that number of them.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_flat(T.dvector()), is_flat(T.dmatrix())
    (True, False)
    """
    wanted = outdim if ndim is None else ndim
    return bool(var.ndim == (1 if wanted is None else wanted))


def flatten(x: Any, ndim: int | None = None, outdim: int | None = None) -> Tensor:
    """Return ``x`` with its last dimensions joined into one.

    Parameters
    ----------
    x : tensor
        Of any shape.
    ndim : int
        Number of dimensions of the result (1 by default): the first ``ndim - 1`` stay.
    outdim : int
        ``ndim`` under another name.

    Returns
    -------
    TensorVariable
        Of ``ndim`` dimensions, with the elements in C order.

    See Also
    --------
    reshape, numpy.ravel

    Examples
    --------
    >>> import theano.tensor as T
    >>> flatten(T.dtensor3("t"), 2).ndim
    2
    """
    wanted = outdim if ndim is None else ndim
    wanted = 1 if wanted is None else whole_number(wanted)
    x = as_tensor_variable(x)
    if wanted is None or not 1 <= wanted <= max(x.type.ndim, 1):
        asked = outdim if ndim is None else ndim
        raise ValueError(f"flatten to {asked} dimensions: {x} has {x.type.ndim}, so 1 to {max(x.type.ndim, 1)} can be")
    if x.type.ndim == wanted:
        return x
    # Not -1, which is refused beside a length 0.
    joined = -1 if wanted == 1 else _product([x.shape[i] for i in range(wanted - 1, x.type.ndim)])
    result = reshape(x, [*(x.shape[i] for i in range(wanted - 1)), joined], ndim=wanted)
    pattern = (*x.type.broadcastable[: wanted - 1], all(x.type.broadcastable[wanted - 1 :]))
    # One element stays one element, whatever the lengths say.
    return patternbroadcast(result, pattern)


def shape_padleft(t: TensorLike, n_ones: int = 1) -> Tensor:
    """Return ``t`` with ``n_ones`` new dimensions of length 1 before its own.

    Parameters
    ----------
    t : tensor
        Of any shape.
    n_ones : int, optional
        How many dimensions.

    Returns
    -------
    TensorVariable
        Of ``n_ones`` dimensions more.

    See Also
    --------
    shape_padright, shape_padaxis, expand_dims

    Examples
    --------
    >>> import theano.tensor as T
    >>> shape_padleft(T.dvector("v")).broadcastable
    (True, False)
    """
    t, n_ones = as_tensor_variable(t), _padding(n_ones)
    return DimShuffle(t.type.broadcastable, ["x"] * n_ones + list(range(t.type.ndim)))(t)


def shape_padright(t: TensorLike, n_ones: int = 1) -> Tensor:
    """Return ``t`` with ``n_ones`` new dimensions of length 1 after its own.

    Parameters
    ----------
    t : tensor
        Of any shape.
    n_ones : int, optional
        How many dimensions.

    Returns
    -------
    TensorVariable
        Of ``n_ones`` dimensions more.

    See Also
    --------
    shape_padleft, shape_padaxis, expand_dims

    Examples
    --------
    >>> import theano.tensor as T
    >>> shape_padright(T.dvector(), 2).broadcastable
    (False, True, True)
    """
    t, n_ones = as_tensor_variable(t), _padding(n_ones)
    return DimShuffle(t.type.broadcastable, [*range(t.type.ndim), *["x"] * n_ones])(t)


def _padding(n_ones: float) -> int:
    number = whole_number(n_ones)
    if number is None or number < 0:
        raise ValueError(f"the number of new dimensions must be 0 or more, not {n_ones!r}")
    return number


def shape_padaxis(t: TensorLike, axis: int) -> Tensor:
    """Return ``t`` with a new dimension of length 1 at place ``axis`` of the result.

    Parameters
    ----------
    t : tensor
        Of any shape.
    axis : int
        Place of the new axis in the result; negative numbers count from its last.

    Returns
    -------
    TensorVariable
        Of one dimension more.

    See Also
    --------
    expand_dims, shape_padleft, shape_padright

    Examples
    --------
    >>> import theano.tensor as T
    >>> shape_padaxis(T.dvector(), 1).broadcastable
    (False, True)
    """
    t = as_tensor_variable(t)
    ndim = t.type.ndim + 1
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of range [-{ndim}, {ndim}): {t} would have {ndim} dimensions")
    order: list[int | str] = list(range(t.type.ndim))
    order.insert(axis % ndim, "x")
    return DimShuffle(t.type.broadcastable, order)(t)


def vector_along(v: Tensor, axis: int, ndim: int) -> Tensor:
    """Return a vector as a tensor of ``ndim`` dimensions, whose elements go along one axis.

    Examples
    --------
    >>> import theano.tensor as T
    >>> vector_along(T.dvector(), 1, 3).broadcastable
    (True, False, True)
    """
    return v.dimshuffle(*["x"] * axis, 0, *["x"] * (ndim - 1 - axis))


def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """Return ``x`` with its dimensions in another order, reversed where ``axes`` is not given.

    The reverse of a variable that has a name is called ``NAME.T``.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axes : sequence of int, optional
        Which dimension of ``x`` each one of the result is.

    Returns
    -------
    TensorVariable
        A view of ``x``.

    See Also
    --------
    swapaxes, moveaxis, numpy.transpose

    Examples
    --------
    >>> import theano.tensor as T
    >>> transpose(T.constant([[1, 2], [3, 4]])).eval()
    array([[1, 3],
           [2, 4]])
    >>> transpose(T.zeros((2, 3, 4)), (1, 2, 0)).eval().shape
    (3, 4, 2)
    """
    x = as_tensor_variable(x)
    order = list(range(x.type.ndim))[::-1] if axes is None else list(axes)
    if len(order) != x.type.ndim:
        raise ValueError(f"transpose: {x} has {x.type.ndim} dimensions, but {len(order)} axes are given: {order}")
    if axes is not None and order == list(range(x.type.ndim)):
        return x
    out = DimShuffle(x.type.broadcastable, order)(x)
    out.name = f"{x.name}.T" if axes is None and x.name is not None else None
    return out


def swapaxes(y: TensorLike, axis1: int, axis2: int) -> Tensor:
    """Return ``y`` with two of its dimensions exchanged.

    Parameters
    ----------
    y : tensor
        Of any shape.
    axis1 : int
        One axis.
    axis2 : int
        The other one.

    Returns
    -------
    TensorVariable
        A view of ``y``.

    See Also
    --------
    transpose, moveaxis, numpy.swapaxes

    Examples
    --------
    >>> import theano.tensor as T
    >>> swapaxes(T.zeros((2, 3, 4)), 0, 2).eval().shape
    (4, 3, 2)
    """
    y = as_tensor_variable(y)
    first, second = axis_of(y, axis1, "swapaxes"), axis_of(y, axis2, "swapaxes")
    order = list(range(y.type.ndim))
    order[first], order[second] = second, first
    return transpose(y, order)


def _several(axes: int | Sequence[int]) -> Any:
    return axes if whole_number(axes) is None else [axes]


def moveaxis(x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Return ``x`` with some of its dimensions moved to other places, the rest in order.

    Parameters
    ----------
    x : tensor
        Of any shape.
    source : int or sequence of int
        Where the axes are.
    destination : int or sequence of int
        Where they go.

    Returns
    -------
    TensorVariable
        A view of ``x``.

    See Also
    --------
    transpose, swapaxes, numpy.moveaxis

    Examples
    --------
    >>> import theano.tensor as T
    >>> moveaxis(T.zeros((2, 3, 4)), 0, -1).eval().shape
    (3, 4, 2)
    """
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    sources = [axis_of(x, s, "moveaxis") for s in _several(source)]
    places = [axis_of(x, d, "moveaxis") for d in _several(destination)]
    if len(set(sources)) != len(sources) or len(set(places)) != len(places) or len(sources) != len(places):
        raise ValueError(f"moveaxis: {source} to {destination}: as many places as axes are needed, each once")
    order = [i for i in range(ndim) if i not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return transpose(x, order)


def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """Return ``x`` without its dimensions of length 1 (those the type knows, or the ones named).

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int or sequence of int, optional
        Which dimensions; a length that is not 1 is an error of the call.

    Returns
    -------
    TensorVariable
        Of fewer dimensions.

    See Also
    --------
    expand_dims, reshape, numpy.squeeze

    Examples
    --------
    >>> import theano.tensor as T
    >>> squeeze(T.drow("r")).type
    TensorType(float64, vector)
    """
    x = as_tensor_variable(x)
    if axis is None:
        gone = {i for i, one in enumerate(x.type.broadcastable) if one}
    else:
        gone = {axis_of(x, a, "squeeze") for a in _several(axis)}
        x = addbroadcast(x, *gone)
    return DimShuffle(x.type.broadcastable, [i for i in range(x.type.ndim) if i not in gone])(x) if gone else x
