"""Tensors made of tensors: MakeVector, Join, Split, and the functions on top of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import DisconnectedType, grad_undefined
from theano.graph import Apply, Op, Variable
from theano.tensor.control.checks import CheckedLength, checked_lengths, unchecked
from theano.tensor.convert import (
    AsTensorError,
    Converter,
    as_tensor_variable,
    converters,
    gradient_dtype,
    length_if_known,
    static_element,
    static_int,
)
from theano.tensor.elemwise.functions import cast, eq
from theano.tensor.messages import axis_of, shape_error
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.shape.reshape import shape_padaxis
from theano.tensor.type import TensorApply, TensorType, dtype_name

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.tensor.annotations import Axis, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class MakeVector(Op):
    """A vector of tensors without dimensions.

    Parameters
    ----------
    dtype : str
        Of the vector; the elements must fit in it.

    Examples
    --------
    >>> import theano.tensor as T
    >>> MakeVector("int64")(1, T.constant(2)).eval()
    array([1, 2])
    """

    __props__ = ("dtype",)
    linear_in = (slice(None),)

    def __init__(self, dtype: str = "int64"):
        self.dtype = dtype_name(dtype)

    def __str__(self) -> str:
        return f"MakeVector{{dtype='{self.dtype}'}}"

    def make_node(self, *inputs: Any) -> Apply:
        elements = [as_tensor_variable(x) for x in inputs]
        for x in elements:
            if x.type.ndim:
                raise TypeError(f"a vector is made of elements without dimensions, but {x} is of type {x.type}")
        wide = scal.upcast(self.dtype, *[x.type.dtype for x in elements])
        if wide != self.dtype:
            raise ArgumentError(f"elements of dtype {wide} do not fit in a vector of dtype {self.dtype}")
        elements = [cast(x, self.dtype) for x in elements]
        return Apply(self, elements, [TensorType(self.dtype, (False,)).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Fill the vector."""
        output_storage[0][0] = np.array([x[()] for x in inputs], dtype=self.dtype)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the number of inputs."""
        return [(as_tensor_variable(np.int64(len(node.inputs))),)]

    def static_length(self, node: TensorApply, index: int) -> int:
        """Return the number of inputs."""
        return len(node.inputs)

    def static_value(self, node: TensorApply, index: int, ask: Any) -> Value:
        """Return the value of the only element."""
        return ask(node.inputs[0]) if len(node.inputs) == 1 else None

    def static_element(self, node: TensorApply, k: int, ask: Callable[..., object]) -> Value:
        """Return the value of element ``k``."""
        return ask(node.inputs[k]) if -len(node.inputs) <= k < len(node.inputs) else None

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return each element of the gradient."""
        if self.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype)) for x in inputs]
        return [output_grads[0][i] for i in range(len(inputs))]


def make_vector(*elements: TensorLike) -> Tensor:
    """Return the vector of some scalars, in the dtype in which they meet."""
    variables = [as_tensor_variable(x) for x in elements]
    return MakeVector(scal.upcast(*[x.type.dtype for x in variables]))(*variables)


class Join(Op):
    """Tensors laid end to end along one axis.

    Parameters
    ----------
    view : int
        Index of the one tensor that the result may be a view of when all others are empty; -1 for none.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Join()(0, T.constant([1, 2]), T.constant([3])).eval()
    array([1, 2, 3])
    """

    __props__ = ("view",)
    view = -1  # in pickles that have none
    linear_in = (slice(1, None),)

    def __init__(self, view: int = -1):
        self.view = view
        if view != -1:
            self.view_map = {0: [1 + view]}

    def __str__(self) -> str:
        return type(self).__name__ if self.view == -1 else f"{type(self).__name__}{{view={self.view}}}"

    def make_node(self, *axis_and_tensors: Any) -> Apply:
        """Return the node for an axis and one tensor or more.

        Parameters
        ----------
        *axis_and_tensors : int, and tensors
            The axis, then tensors of one number of dimensions, whose lengths along all other axes are the same.

        Returns
        -------
        TensorVariable
            Of the dtype in which those of the tensors meet.
        """
        axis, tensors = axis_and_tensors[0], [as_tensor_variable(t) for t in axis_and_tensors[1:]]
        if not tensors:
            raise ValueError("Cannot join an empty list of tensors")
        dtype = scal.upcast(*[t.type.dtype for t in tensors])
        tensors = [cast(t, dtype) for t in tensors]
        ndim = tensors[0].type.ndim
        if ndim == 0:
            raise TypeError("Join cannot handle arguments of dimension 0. Use stack to put scalars side by side.")
        _need_same_ndim(tensors)
        place = static_int(axis)
        place = None if place is None else axis_of(tensors[0], place, "join")
        axis = as_tensor_variable(axis)
        if axis.type.dtype not in scal.integer_dtypes or axis.type.ndim:
            raise TypeError(f"the axis of a join must be one whole number, not {axis} of type {axis.type}")
        pattern = [False] * ndim
        if place is not None:
            # Along the other axes all lengths are the same, so one that knows it is 1 speaks for all.
            pattern = [i != place and any(t.type.broadcastable[i] for t in tensors) for i in range(ndim)]
            pattern[place] = len(tensors) == 1 and tensors[0].type.broadcastable[place]
        return Apply(self, [axis, *tensors], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Concatenate with NumPy."""
        axis, tensors = int(inputs[0]), inputs[1:]
        ndim = tensors[0].ndim
        if not -ndim <= axis < ndim:
            raise IndexError(f"Join axis {axis} out of bounds [-{ndim}, {ndim})")
        others = {t.shape[: axis % ndim] + t.shape[axis % ndim + 1 :] for t in tensors}
        if len(others) > 1:
            raise shape_error(
                node, inputs, f"the tensors joined along axis {axis} differ along another one.",
                "All lengths but the one along the axis must be the same.",
            )
        full = [t for t in tensors if t.shape[axis]]
        if self.view != -1 and len(full) == 1 and full[0] is tensors[self.view]:
            output_storage[0][0] = full[0]
            return
        output_storage[0][0] = np.concatenate(tensors, axis=axis).astype(node.outputs[0].type.dtype, copy=False)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the sum of the lengths along the axis, and one tensor's lengths along the others."""
        axis = static_int(node.inputs[0])
        lengths = shapes[1:]
        ndim = node.outputs[0].type.ndim
        result = []
        for i in range(ndim):
            total = lengths[0][i]
            for s in lengths[1:]:
                total = total + s[i]
            if axis is None:
                here = _is_axis(node.inputs[0], i, ndim)
                result.append(here * total + (1 - here) * lengths[0][i])
            else:
                result.append(total if i == axis % ndim else lengths[0][i])
        return [tuple(result)]

    def static_length(self, node: TensorApply, index: int) -> int | None:
        """Return the sum of the lengths of vectors that are all known."""
        known = [n for t in node.inputs[1:] if (n := length_if_known(t)) is not None]
        return sum(known) if len(known) == len(node.inputs) - 1 else None

    def static_element(self, node: TensorApply, k: int, ask: Callable[..., object]) -> Value:
        """Return the value of element ``k``, where the lengths before it (from the end: after it) are known."""
        vectors = node.inputs[1:]
        for v in vectors if k >= 0 else reversed(vectors):
            length = length_if_known(v)
            if length is None:
                return None
            if -length <= k < length:
                value = static_element(v, k, ask)
                return None if value is None else np.asarray(value, dtype=node.outputs[0].type.dtype)
            k += length if k < 0 else -length
        return None

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the axis has no influence in the sense of derivatives."""
        return [[False], *([[True]] * (len(node.inputs) - 1))]

    def grad(self, axis_and_tensors: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient, split at the joints."""
        axis, *tensors = axis_and_tensors
        (g,) = output_grads
        if g.type.dtype in scal.discrete_dtypes or tensors[0].type.dtype in scal.discrete_dtypes:
            zeros = [t.zeros_like(dtype=gradient_dtype(t.type.dtype)) for t in tensors]
            return [grad_undefined(self, 0, axis), *zeros]
        sizes = make_vector(*[t.shape[axis] for t in tensors])
        parts = Split(len(tensors))(g, axis, sizes, return_list=True)
        parts = [patternbroadcast(part, t.type.broadcastable) for part, t in zip(parts, tensors, strict=True)]
        return [grad_undefined(self, 0, axis), *parts]


def _is_axis(axis: Any, i: int, ndim: int) -> Any:
    """Return 1 where a symbolic axis is number ``i``, from either end, else 0."""
    return cast((axis >= i) * (axis <= i) + (axis >= i - ndim) * (axis <= i - ndim), "int64")


join_ = Join()


def join(axis: Any, *tensors_list: Any) -> Tensor:
    """Return tensors laid end to end.

    Parameters
    ----------
    axis : int or scalar of int
        Along which axis; negative numbers count from the last.
    *tensors_list : tensor
        Of one number of dimensions, equal in length along all axes but ``axis``.

    Returns
    -------
    TensorVariable
        Along ``axis`` as long as all together; of the dtype that all are converted to.

    See Also
    --------
    concatenate, stack, split

    Examples
    --------
    >>> import theano.tensor as T
    >>> join(0, T.dmatrix("a"), T.dmatrix("b"))
    Join.0
    """
    return tensors_list[0] if len(tensors_list) == 1 else join_(axis, *tensors_list)


def concatenate(tensor_list: Sequence[Tensor], axis: Axis = 0) -> Tensor:
    """Return the tensors of a list, laid end to end along ``axis``.

    Parameters
    ----------
    tensor_list : list of tensor
        Of one number of dimensions, equal in length along all axes but ``axis``.
    axis : int or scalar of int, optional
        Along which axis.

    Returns
    -------
    TensorVariable
        Along ``axis`` as long as all together; of the dtype that all are converted to.

    See Also
    --------
    join, stack, split, numpy.concatenate

    Examples
    --------
    >>> import theano.tensor as T
    >>> concatenate([T.constant([[1, 2]]), T.constant([[3, 4]])], axis=1).eval()
    array([[1, 2, 3, 4]])
    """
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError(
            "concatenate takes a list or tuple of tensors as its first argument, got "
            f"{tensor_list!r} of type {type(tensor_list).__name__}; to join single tensors, use join(axis, a, b)"
        )
    return join(axis, *tensor_list)


def stack(*tensors: Any, **kwargs: Any) -> Tensor:
    """Return tensors of one shape side by side, along a new axis.

    Parameters
    ----------
    *tensors : list of tensor
        Of one shape. ``stack(a, b, c)`` is understood too, with a warning.
    **kwargs : int, optional
        ``axis=0``: the place of the new axis.

    Returns
    -------
    TensorVariable
        Of one dimension more.

    See Also
    --------
    join, concatenate, stacklists, numpy.stack

    Examples
    --------
    >>> import theano.tensor as T
    >>> stack([T.dvector("a"), T.dvector("b")], axis=1).ndim, stack([T.dscalar("a"), 2.0])
    (2, MakeVector{dtype='float64'}.0)
    """
    axis = kwargs.pop("axis", 0)
    if "tensors" in kwargs:
        tensors = (kwargs.pop("tensors"),)
    if kwargs:
        raise TypeError(f"stack takes tensors and axis, not {', '.join(kwargs)}")
    if len(tensors) == 2 and isinstance(tensors[0], (list, tuple)) and isinstance(tensors[1], (int, np.integer)):
        axis = int(tensors[1])
        tensors = tensors[:1]
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        members = tensors[0]
    else:
        members = tensors
        warnings.warn("stack(a, b) is deprecated: write stack([a, b])", DeprecationWarning, stacklevel=2)
    if not members:
        raise ValueError("Cannot stack an empty list of tensors")
    variables = [as_tensor_variable(t) for t in members]
    ndim = variables[0].type.ndim
    outside = not -(ndim + 1) <= axis < ndim + 1
    if all(v.type.ndim == 0 for v in variables):
        if outside:  # PyMC3 3.2 stacks the parameters of its mixtures so
            warnings.warn(f"stack of numbers has one axis: {axis} is read as 0", DeprecationWarning, stacklevel=2)
        return make_vector(*variables)
    _need_same_ndim(variables)
    if outside:
        raise np.exceptions.AxisError(f"axis {axis} is out of bounds [-{ndim + 1}, {ndim + 1}) for {ndim}-d tensors")
    return join(axis % (ndim + 1), *[shape_padaxis(v, axis % (ndim + 1)) for v in variables])


def stacklists(arg: TensorLike) -> Tensor:
    """Return a tensor of nested lists of tensors: each level of lists is an axis, from the left.

    Parameters
    ----------
    arg : tensor, or nested list of tensors
        The elements; lists of a level are equally long.

    Returns
    -------
    TensorVariable
        Of one dimension more for each level of lists.

    See Also
    --------
    stack, join

    Examples
    --------
    >>> import theano.tensor as T
    >>> a, b, c, d = T.scalars("abcd")
    >>> stacklists([[a, b], [c, d]]).ndim
    2
    """
    if isinstance(arg, (tuple, list)):
        return stack([stacklists(a) for a in arg])
    return as_tensor_variable(arg)


def horizontal_stack(*args: TensorLike) -> Tensor:
    """Return matrices side by side: joined along axis 1.

    Parameters
    ----------
    *args : matrix
        Of equally many rows.

    Returns
    -------
    TensorVariable
        A matrix.

    See Also
    --------
    vertical_stack, hstack, join

    Examples
    --------
    >>> import theano.tensor as T
    >>> horizontal_stack(T.constant([[1], [2]]), T.constant([[3], [4]])).eval()
    array([[1, 3],
           [2, 4]])
    """
    return _stack_matrices(1, args)


def vertical_stack(*args: Tensor) -> Tensor:
    """Return matrices one below the other: joined along axis 0.

    Parameters
    ----------
    *args : matrix
        Of equally many columns.

    Returns
    -------
    TensorVariable
        A matrix.

    See Also
    --------
    horizontal_stack, vstack, join

    Examples
    --------
    >>> import theano.tensor as T
    >>> vertical_stack(T.constant([[1, 2]]), T.constant([[3, 4]])).eval()
    array([[1, 2],
           [3, 4]])
    """
    return _stack_matrices(0, args)


def _stack_matrices(axis: int, args: Sequence[Any]) -> Tensor:
    variables = [as_tensor_variable(a) for a in args]
    if len(variables) < 2 or any(v.type.ndim != 2 for v in variables):
        raise ArgumentError(f"two matrices or more are needed, got {', '.join(f'{v} ({v.type})' for v in variables)}")
    return concatenate(variables, axis=axis)


def _need_same_ndim(tensors: Sequence[Tensor]) -> None:
    if len({t.type.ndim for t in tensors}) > 1:
        kinds = ", ".join(f"{t} ({t.type.ndim}-d)" for t in tensors)
        raise ArgumentError(f"Only tensors with the same number of dimensions can be joined: {kinds}")


class Split(Op):
    """A tensor cut along an axis.

    Parameters
    ----------
    len_splits : int
        Number of pieces; the lengths are an input of the node.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Split(2)(T.dvector("v"), 0, [1, 2])
    [Split{2}.0, Split{2}.1]
    """

    __props__ = ("len_splits",)
    linear_in = (0,)

    def __init__(self, len_splits: int):
        self.len_splits = int(len_splits)
        if self.len_splits < 1:
            raise ValueError(f"a split has 1 piece or more, not {len_splits}")
        # Each piece is a window on the input.
        self.view_map = {i: [0] for i in range(self.len_splits)}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.len_splits}}}"

    def make_node(self, x: Variable, axis: TensorLike, splits: Any) -> Apply:
        x, axis, splits = as_tensor_variable(x), as_tensor_variable(axis), as_tensor_variable(splits)
        if splits.type.ndim != 1 or splits.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"the lengths of pieces must be a vector of whole numbers, not {splits} of {splits.type}")
        if axis.type.ndim or axis.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"the axis must be one whole number, not {axis} of type {axis.type}")
        place = static_int(axis)
        place = None if place is None else axis_of(x, place, "split")
        outputs = []
        for k in range(self.len_splits):
            pattern = [False] * x.type.ndim
            if place is not None:
                pattern = list(x.type.broadcastable)
                pattern[place] = pattern[place] and static_int(splits[k]) == 1
            outputs.append(x.type.clone(broadcastable=pattern).make_variable())
        return Apply(self, [x, axis, splits], outputs)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Slice out the pieces."""
        x, axis, splits = inputs
        axis = int(axis)
        if len(splits) != self.len_splits:
            raise shape_error(node, inputs, f"{self.len_splits} lengths are needed, got {len(splits)}.",
                              "Make n_splits equal to the number of lengths.")
        if int(np.sum(splits)) != x.shape[axis] or np.any(np.asarray(splits) < 0):
            raise shape_error(
                node, inputs,
                f"lengths {[int(n) for n in splits]} do not add up to {x.shape[axis]}, the length along axis {axis}.",
                "They must be 0 or more and cover the whole axis.",
            )
        start = 0
        for cell, n in zip(output_storage, splits, strict=True):
            window = [slice(None)] * x.ndim
            window[axis] = slice(start, start + int(n))
            cell[0] = x[tuple(window)]
            start += int(n)

    def infer_shape(self, node: TensorApply, shapes: Sequence[Sequence[Tensor]]) -> list[tuple[Tensor, ...]]:
        """Return the input's lengths, with the piece's own along the axis."""
        axis: Any = static_int(node.inputs[1])
        ndim = len(shapes[0])
        result = []
        pieces = checked_lengths([node.inputs[2][k] for k in range(self.len_splits)])
        of_arrays = all(n.owner is not None and n.owner.op.is_length for n in map(unchecked, pieces))
        if axis is not None and not of_arrays:
            together = eq(sum(pieces[1:], pieces[0]), shapes[0][axis % ndim])
            check = CheckedLength("split: the lengths of the pieces do not add up to that of the axis.")
            pieces = [check(n, together) for n in pieces]
        for piece in pieces:
            if axis is not None:
                result.append(tuple(piece if i == axis % ndim else n for i, n in enumerate(shapes[0])))
            else:
                here = [_is_axis(node.inputs[1], i, ndim) for i in range(ndim)]
                result.append(tuple(h * piece + (1 - h) * n for h, n in zip(here, shapes[0], strict=True)))
        return result

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only the elements have an influence."""
        return [[True] * self.len_splits, [False] * self.len_splits, [False] * self.len_splits]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients of the pieces joined; an unused piece counts as zeros."""
        x, axis, splits = inputs
        if all(isinstance(g.type, DisconnectedType) for g in output_grads):
            first: Variable = DisconnectedType()()
        else:
            pairs = zip(outputs, output_grads, strict=True)
            whole = [o.zeros_like() if isinstance(g.type, DisconnectedType) else g for o, g in pairs]
            first = patternbroadcast(join(axis, *whole), x.type.broadcastable)
        return [first, grad_undefined(self, 1, axis), grad_undefined(self, 2, splits)]


def split(x: TensorLike, splits_size: object, n_splits: int, axis: int = 0) -> list[Tensor]:
    """Return the pieces of ``x``, cut along ``axis``.

    Parameters
    ----------
    x : tensor
        Of any shape.
    splits_size : vector of int
        Length of each piece.
    n_splits : int
        Number of pieces.
    axis : int or scalar of int, optional
        Along which axis.

    Returns
    -------
    list of TensorVariable
        The pieces.

    See Also
    --------
    join, numpy.split

    Examples
    --------
    >>> import theano.tensor as T
    >>> [v.eval() for v in split(T.arange(5), [2, 3], n_splits=2)]
    [array([0, 1]), array([2, 3, 4])]
    """
    return Split(n_splits)(x, axis, splits_size)


def _has_variables(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and any(isinstance(e, Variable) or _has_variables(e) for e in x)


def _as_stack(x: Sequence[TensorLike]) -> Tensor:
    try:
        return stack(list(x))
    except ArgumentError as exc:
        raise AsTensorError(f"cannot make a tensor of the sequence {x!r}: {exc}") from exc


converters.register(Converter(_has_variables, _as_stack))
