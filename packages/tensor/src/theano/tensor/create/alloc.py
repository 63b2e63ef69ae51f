"""Tensors of a value everywhere, or of none: Alloc, zeros, ones, full, empty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.control.checks import checked_lengths
from theano.tensor.convert import as_tensor_variable, constant, get_vector_length, is_tensor, static_int
from theano.tensor.elemwise.functions import cast, second
from theano.tensor.messages import broadcast_input, shape_error
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.type import TensorApply, TensorType, dtype_name, values_eq_approx_always_true

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


def shape_arguments(shape: Sequence[TensorLike]) -> tuple[list[Tensor], list[bool]]:
    """Return lengths as integer tensors without dimensions, and which of them are known to be 1.

    Raises
    ------
    TypeError
        A length is not a whole number.
    """
    lengths = []
    for i, n in enumerate(shape):
        length = as_tensor_variable(n, ndim=0)
        if length.type.dtype not in scal.integer_dtypes:
            raise TypeError(
                f"length {i} of a shape must be a whole number, not {n} of dtype {length.type.dtype}. "
                "Cast it, for instance with T.cast(n, 'int64')."
            )
        lengths.append(length)
    return lengths, [static_int(n) == 1 for n in lengths]


class Alloc(Op):
    """A value repeated to fill a shape.

    The node takes the value and each length; dimensions of the value stretch where its type says that
    they are 1 long.

    Parameters
    ----------
    value : number or tensor
        What is repeated; it broadcasts to the shape.
    *shape : int or scalar of int
        The lengths of the dimensions.

    Returns
    -------
    TensorVariable
        Of the shape, and of the dtype of the value.

    See Also
    --------
    full, zeros, ones, broadcast_to

    Examples
    --------
    >>> Alloc()(7.0, 2, 3).eval()
    array([[7., 7., 7.],
           [7., 7., 7.]], dtype=float32)
    """

    __props__ = ()
    linear_in = (0,)

    def make_node(self, value: TensorLike, *shape: Any) -> Apply:
        value = as_tensor_variable(value)
        lengths, pattern = shape_arguments(shape)
        if value.type.ndim > len(lengths):
            raise TypeError(
                f"alloc: {value} has {value.type.ndim} dimensions, more than the {len(lengths)} of the shape asked for"
            )
        return Apply(self, [value, *lengths], [TensorType(value.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Fill an array."""
        shape = tuple(int(n) for n in inputs[1:])
        if any(n < 0 for n in shape):
            raise shape_error(node, inputs, f"negative length in shape {shape}.", "Lengths are 0 or more.")
        out = output_storage[0][0]
        if out is None or out.shape != shape:
            out = np.empty(shape, dtype=node.outputs[0].type.dtype)
        out[...] = broadcast_input(node, inputs, 0, shape)
        output_storage[0][0] = out

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths asked for."""
        return [tuple(checked_lengths(node.inputs[1:]))]

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the value that is repeated."""
        return ask(node.inputs[0])

    def do_constant_folding(self, node: TensorApply) -> bool:
        """Return False where nothing would be saved but compile time and memory lost: for large shapes."""
        lengths = [static_int(n) for n in node.inputs[1:]]
        return None not in lengths and int(np.prod([n or 0 for n in lengths])) <= 64

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only the value has an influence on the elements."""
        return [[True], *([[False]] * (len(node.inputs) - 1))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient summed over what was repeated."""
        value, (g,) = inputs[0], output_grads
        new = len(inputs) - 1 - value.type.ndim
        gone = list(range(new))
        kept = [i for i, one in enumerate(value.type.broadcastable) if one and not g.type.broadcastable[new + i]]
        if kept:
            g = g.sum(axis=[new + i for i in kept], keepdims=True)
        if gone:
            g = g.sum(axis=gone)
        return [patternbroadcast(g, value.type.broadcastable), *(DisconnectedType()() for _ in inputs[1:])]


alloc = Alloc()


class AllocEmpty(Op):
    """Memory of a shape, holding whatever it holds.

    Parameters
    ----------
    dtype : str

    Examples
    --------
    >>> AllocEmpty("float64")(2, 3).eval().shape
    (2, 3)
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: str):
        self.dtype = dtype_name(dtype)

    def __str__(self) -> str:
        return f"AllocEmpty{{dtype='{self.dtype}'}}"

    def make_node(self, *shape: TensorLike) -> Apply:
        lengths, pattern = shape_arguments(shape)
        out = TensorType(self.dtype, pattern).make_variable()
        # The values are unspecified: comparisons between modes must not look at them.
        out.tag.nan_guard_mode_check = False
        out.tag.values_eq_approx = values_eq_approx_always_true
        return Apply(self, lengths, [out])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Allocate."""
        shape = tuple(int(n) for n in inputs)
        if any(n < 0 for n in shape):
            raise shape_error(node, inputs, f"negative length in shape {shape}.", "Lengths are 0 or more.")
        if output_storage[0][0] is None or output_storage[0][0].shape != shape:
            output_storage[0][0] = np.empty(shape, dtype=self.dtype)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths asked for."""
        return [tuple(checked_lengths(node.inputs))]

    def do_constant_folding(self, node: TensorApply) -> bool:
        """Return False: a constant would be shared, and written over."""
        return False

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the lengths have no influence on the elements."""
        return [[False] for _ in node.inputs]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return disconnected gradients."""
        return [DisconnectedType()() for _ in inputs]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return a direction of zeros."""
        return [zeros(inputs, self.dtype)]


def shape_list(shape: int | Sequence[TensorLike]) -> list[Any]:
    """Return the shape that a user gave (a number, a sequence, a symbolic vector) as a list of lengths."""
    if isinstance(shape, (list, tuple)):
        return list(shape)
    if is_tensor(shape) and shape.type.ndim == 1:
        return [shape[i] for i in range(get_vector_length(shape))]
    if isinstance(shape, np.ndarray) and shape.ndim == 1:
        return list(shape)
    return [shape]


def full(shape: Any, fill_value: Any, dtype: str | None = None) -> Tensor:
    """Return a tensor of one value everywhere.

    Parameters
    ----------
    shape : int, sequence of int or int scalars, or vector of int
        The lengths of the dimensions.
    fill_value : number or tensor
        What each element is; a tensor broadcasts to the shape.
    dtype : str, optional
        That of ``fill_value`` by default.

    Returns
    -------
    TensorVariable
        Of the shape, with ``fill_value`` everywhere.

    See Also
    --------
    full_like, zeros, ones, alloc, numpy.full

    Examples
    --------
    >>> import theano.tensor as T
    >>> full((2, 3), 7).eval()
    array([[7, 7, 7],
           [7, 7, 7]], dtype=int8)
    """
    value = as_tensor_variable(fill_value)
    return alloc(value if dtype is None else cast(value, dtype), *shape_list(shape))


def _filled(number: int, shape: int | Sequence[TensorLike], dtype: str | None) -> Tensor:
    return alloc(np.array(number, dtype=dtype_or_floatx(dtype)), *shape_list(shape))


def dtype_or_floatx(dtype: Any) -> str:
    """Return the name of a dtype, and that of floatX for None."""
    return dtype_name("floatX" if dtype is None else dtype)


def zeros(shape: Any, dtype: str | None = None) -> Tensor:
    """Return a tensor of zeros, of floatX where no dtype is given.

    Parameters
    ----------
    shape : int, sequence of int or int scalars, or vector of int
        The lengths of the dimensions.
    dtype : str, optional
        Of the result; floatX by default.

    Returns
    -------
    TensorVariable
        Of the shape, with 0 everywhere.

    See Also
    --------
    zeros_like, ones, full, numpy.zeros

    Examples
    --------
    >>> import theano.tensor as T
    >>> zeros((2, T.lscalar("n"))).type
    TensorType(float64, matrix)
    """
    return _filled(0, shape, dtype)


def ones(shape: Any, dtype: str | None = None) -> Tensor:
    """Return a tensor of ones, of floatX where no dtype is given.

    Parameters
    ----------
    shape : int, sequence of int or int scalars, or vector of int
        The lengths of the dimensions.
    dtype : str, optional
        Of the result; floatX by default.

    Returns
    -------
    TensorVariable
        Of the shape, with 1 everywhere.

    See Also
    --------
    ones_like, zeros, full, numpy.ones

    Examples
    --------
    >>> ones((2, 2)).eval()
    array([[1., 1.],
           [1., 1.]])
    """
    return _filled(1, shape, dtype)


def empty(shape: Any, dtype: str | None = None) -> Tensor:
    """Return a tensor of a shape, whose elements are anything.

    Parameters
    ----------
    shape : int, sequence of int or int scalars, or vector of int
        The lengths of the dimensions.
    dtype : str, optional
        Of the result; floatX by default.

    Returns
    -------
    TensorVariable
        Of the shape; its elements are those that the memory happens to hold.

    See Also
    --------
    zeros, ones, full, numpy.empty

    Examples
    --------
    >>> import theano.tensor as T
    >>> empty((2, 3)).eval().shape
    (2, 3)
    """
    return AllocEmpty(dtype_or_floatx(dtype))(*shape_list(shape))


def _like(model: TensorLike, number: int, dtype: str | None, opt: bool) -> Any:
    model = as_tensor_variable(model)
    dtype = model.type.dtype if dtype is None else dtype_or_floatx(dtype)
    value = constant(np.array(number, dtype=dtype))
    # With opt, nodes that the rewriter would remove are not made: for rules, which run after it.
    if opt and model.type.ndim == 0:
        return value
    return second(model, value)


def zeros_like(model: TensorLike, dtype: str | None = None, opt: bool = False) -> Tensor:
    """Return zeros of the shape of ``model``, and of its dtype where none is given.

    Parameters
    ----------
    model : tensor
        Gives the shape, and the dtype where none is given.
    dtype : str, optional
        Of the result; that of ``model`` by default.
    opt : bool, optional
        Accepted for programs that write it.

    Returns
    -------
    TensorVariable
        Of the shape of ``model``, with 0 everywhere.

    See Also
    --------
    zeros, ones_like, full_like, numpy.zeros_like

    Examples
    --------
    >>> import theano.tensor as T
    >>> zeros_like(T.fmatrix("m")).owner
    Elemwise{second,no_inplace}(m, InplaceDimShuffle{x,x}.0)
    """
    return _like(model, 0, dtype, opt)


def ones_like(model: TensorLike, dtype: str | None = None, opt: bool = False) -> Tensor:
    """Return ones of the shape of ``model``, and of its dtype where none is given.

    Parameters
    ----------
    model : tensor
        Gives the shape, and the dtype where none is given.
    dtype : str, optional
        Of the result; that of ``model`` by default.
    opt : bool, optional
        Accepted for programs that write it.

    Returns
    -------
    TensorVariable
        Of the shape of ``model``, with 1 everywhere.

    See Also
    --------
    ones, zeros_like, full_like, numpy.ones_like

    Examples
    --------
    >>> import theano.tensor as T
    >>> ones_like(T.constant([1.5, 2.5])).eval()
    array([1., 1.])
    """
    return _like(model, 1, dtype, opt)


def full_like(a: TensorLike, fill_value: TensorLike, dtype: str | None = None) -> Tensor:
    """Return one value everywhere, in the shape of ``a``, and in its dtype where none is given.

    Parameters
    ----------
    a : tensor
        Gives the shape, and the dtype where none is given.
    fill_value : number or tensor
        What each element is.
    dtype : str, optional
        Of the result; that of ``a`` by default.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``.

    See Also
    --------
    full, zeros_like, ones_like, numpy.full_like

    Examples
    --------
    >>> import theano.tensor as T
    >>> full_like(T.constant([[1.0, 2.0]]), 3).eval()
    array([[3., 3.]])
    """
    a = as_tensor_variable(a)
    return second(a, cast(as_tensor_variable(fill_value), a.type.dtype if dtype is None else dtype))


def alloc_validate_shape(shape: Sequence[TensorLike]) -> tuple[list[Tensor], list[bool]]:
    """Return what :func:`shape_arguments` does, for the shape a user gave in any form.

    Parameters
    ----------
    shape : int, sequence of int or int scalars, or vector of int
        The lengths of the dimensions.

    Returns
    -------
    tuple
        The lengths as tensors, and which of them are 1.

    Examples
    --------
    >>> import theano.tensor as T
    >>> alloc_validate_shape([2, T.lscalar("n")])[1]
    [False, False]
    """
    return shape_arguments(shape_list(shape))
