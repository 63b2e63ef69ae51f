"""What programs call: convolutions of 2 and 3 dimensions, their gradients, separable and causal ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.settings import config
from theano.tensor.control.checks import Assert
from theano.tensor.conv.op import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
)
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import eq

if TYPE_CHECKING:
    from theano.tensor.annotations import Border, TensorLike
    from theano.tensor.type import Tensor

_OPS = {
    2: (AbstractConv2d, AbstractConv2d_gradWeights, AbstractConv2d_gradInputs),
    3: (AbstractConv3d, AbstractConv3d_gradWeights, AbstractConv3d_gradInputs),
}


def assert_shape(x: Tensor, expected_shape: Sequence[Any] | None, msg: str = "Unexpected shape.") -> Tensor:
    """Return ``x``, whose shape is compared with the expected one where the flag ``conv.assert_shape`` is set.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> assert_shape(x, (2, None)) is x
    True
    """
    if expected_shape is None or not config.conv.assert_shape:
        return x
    shape = x.shape
    tests = [eq(shape[i], n) for i, n in enumerate(expected_shape) if n is not None]
    return Assert(msg)(x, *tests) if tests else x


def _of_shape(what: str, ndim: int, v: TensorLike, name: str, shape: Sequence[Any] | None) -> Tensor:
    """Return ``v``, compared with the shape that the argument ``name`` of the function ``what`` says it has."""
    return assert_shape(as_tensor_variable(v), shape, f"conv{ndim}d{what}: the shape is not what {name} says.")


def _convolved(
    ndim: int, input: Any, filters: TensorLike, input_shape: Any, filter_shape: Any, options: dict[str, Any]
) -> Tensor:
    op = _OPS[ndim][0](imshp=input_shape, kshp=filter_shape, **options)
    return op(
        _of_shape("", ndim, input, "input_shape", input_shape),
        _of_shape("", ndim, filters, "filter_shape", filter_shape),
    )


def conv2d(
    input: TensorLike, filters: TensorLike, input_shape: Any = None, filter_shape: Any = None,
    border_mode: Border = "valid", subsample: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1),
    num_groups: int = 1, unshared: bool = False, image_shape: Any = None, **kwargs: object,
) -> Tensor:  # fmt: skip
    """Return the convolution of a batch of images with filters.

    Parameters
    ----------
    input : tensor of 4 dimensions
        Of shape (batch, channels, rows, columns).
    filters : tensor of 4 dimensions
        (filters, channels / num_groups, rows, columns); of 6 if unshared, with the rows and columns of the output after
        the first.
    input_shape, filter_shape : tuple of int, int scalar or None, optional
        The known lengths of the shapes. With the flag ``conv.assert_shape`` they are compared with the real ones.
    border_mode : 'valid', 'full', 'half', int, or a tuple of two integers or pairs of integers
        The zeros around each image: none, one less than a filter covers, half of that, or these.
    subsample : tuple of two integers
        The strides along the rows and columns.
    filter_flip : bool
        Whether filters are reversed along rows and columns, as the mathematical convolution has it.
    filter_dilation : tuple of two integers
        The step from one element of a filter to the next in the image.
    num_groups : int
        Into how many groups channels and filters are split, each of which sees its own alone.
    unshared : bool
        Whether each place has filters of its own.
    image_shape : tuple, optional
        ``input_shape`` under another name.
    **kwargs : object
        What is not known is refused.

    Returns
    -------
    tensor of 4 dimensions
        (batch, filters, rows, columns), of the wider dtype of both.

    Raises
    ------
    ValueError
        The geometry is none; while running: the shapes do not fit.
    TypeError
        A tensor has another number of dimensions.

    See Also
    --------
    nnet.conv3d, nnet.conv2d_transpose, nnet.separable_conv2d, signal.pool.pool_2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv2d(T.ones((1, 1, 3, 3)), T.ones((1, 1, 3, 3)), border_mode="half").eval().astype("int8")
    array([[[[4, 6, 4],
             [6, 9, 6],
             [4, 6, 4]]]], dtype=int8)
    """
    options = {"border_mode": border_mode, "subsample": subsample, "filter_flip": filter_flip,
               "filter_dilation": filter_dilation, "num_groups": num_groups, "unshared": unshared}  # fmt: skip
    _no_more("conv2d", kwargs)
    return _convolved(2, input, filters, _one_of(input_shape, image_shape), filter_shape, options)


def _no_more(what: str, kwargs: dict[str, Any]) -> None:
    """Raise for unknown keywords, and for those that say how to compute."""
    unknown = [
        k for k in kwargs if k not in ("unroll_batch", "unroll_kern", "unroll_patch", "openmp", "version", "verbose")
    ]
    if unknown:
        raise TypeError(f"{what} got an unexpected keyword argument {unknown[0]!r}")


def _one_of(new: object, old: object) -> Any:
    if new is not None and old is not None:
        raise ValueError("input_shape and image_shape are two names of one argument; give only one")
    return old if new is None else new


def conv3d(
    input: Tensor, filters: Tensor, input_shape: Any = None, filter_shape: Any = None, border_mode: Border = "valid",
    subsample: Any = (1, 1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the convolution of a batch of volumes with filters.

    Parameters
    ----------
    input : tensor of 5 dimensions
        Of shape (batch, channels, depth, rows, columns).
    filters : tensor of 5 dimensions
        Of shape (filters, channels / num_groups, depth, rows, columns).
    input_shape : tuple of int or None, optional
        The known lengths of the input's shape.
    filter_shape : tuple of int or None, optional
        The known lengths of the filters' shape.
    border_mode : str, int or tuple
        As for :func:`conv2d`, with three entries.
    subsample : int or tuple of int, optional
        As for :func:`conv2d`, with three entries.
    filter_flip : bool, optional
        As for :func:`conv2d`, with three entries.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv2d`, with three entries.
    num_groups : int, optional
        As for :func:`conv2d`, with three entries.

    Returns
    -------
    TensorVariable
        Of shape (batch, filters, depth, rows, columns).

    See Also
    --------
    nnet.conv2d, nnet.separable_conv3d, signal.pool.pool_3d

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv3d(T.ones((1, 1, 2, 2, 2)), T.ones((1, 1, 2, 2, 2))).eval().ravel()
    array([8.])
    """
    options = {"border_mode": border_mode, "subsample": subsample, "filter_flip": filter_flip,
               "filter_dilation": filter_dilation, "num_groups": num_groups}  # fmt: skip
    return _convolved(3, input, filters, input_shape, filter_shape, options)


# -- gradients ---------------------------------------------------------------------------------------------------------


def _grad_inputs(
    ndim: int,
    output_grad: TensorLike,
    filters: Any,
    input_shape: tuple[TensorLike, ...],
    filter_shape: Any,
    options: dict[str, bool | str | tuple[int, ...]],
) -> Tensor:
    what, op = "_grad_wrt_inputs", _OPS[ndim][2](imshp=_hint(input_shape), kshp=_hint(filter_shape), **options)
    lengths = as_tensor_variable([as_tensor_variable(n) for n in input_shape[-ndim:]])
    filters = _of_shape(what, ndim, filters, "filter_shape", filter_shape)
    return _of_shape(what, ndim, op(filters, as_tensor_variable(output_grad), lengths), "input_shape", input_shape)


def _grad_weights(
    ndim: int,
    input: Any,
    output_grad: TensorLike,
    filter_shape: tuple[TensorLike, ...],
    input_shape: Any,
    options: dict[str, bool | str | tuple[int, ...]],
) -> Tensor:
    what, op = "_grad_wrt_weights", _OPS[ndim][1](imshp=_hint(input_shape), kshp=_hint(filter_shape), **options)
    lengths = as_tensor_variable([as_tensor_variable(n) for n in filter_shape[-ndim:]])
    input = _of_shape(what, ndim, input, "input_shape", input_shape)
    return _of_shape(what, ndim, op(input, as_tensor_variable(output_grad), lengths), "filter_shape", filter_shape)


def _hint(shape: Any) -> Any:
    return (
        None
        if shape is None
        else [n if n is None else getattr(n, "data", n) if not hasattr(n, "owner") else None for n in shape]
    )


def conv2d_grad_wrt_inputs(
    output_grad: TensorLike, filters: TensorLike, input_shape: Any, filter_shape: Any = None,
    border_mode: Border = "valid", subsample: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1),
    num_groups: int = 1, unshared: bool = False,
) -> Tensor:  # fmt: skip
    """Return the gradient of `conv2d` with respect to its input, also known as a transposed convolution.

    Parameters
    ----------
    output_grad : tensor of 4 dimensions
        (batch, filters, rows, columns): the gradient with respect to the output.
    filters : tensor of 4 dimensions (6 if unshared)
        Of shape (filters, channels / num_groups, rows, columns).
    input_shape : tuple of 4 ints
        Of the result; int scalars for what is symbolic. The last two may not be None.
    filter_shape : tuple of int or None, optional
        The known lengths of the filters' shape.
    border_mode : str, int or tuple
        As for :func:`conv2d`.
    subsample : int or tuple of int, optional
        As for :func:`conv2d`.
    filter_flip : bool, optional
        As for :func:`conv2d`.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv2d`.
    num_groups : int, optional
        As for :func:`conv2d`.
    unshared : bool, optional
        As for :func:`conv2d`.

    Returns
    -------
    TensorVariable
        Of ``input_shape``.

    See Also
    --------
    nnet.conv2d, nnet.conv2d_transpose

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv2d_grad_wrt_inputs(T.ones((1, 1, 2, 2)), T.ones((1, 1, 2, 2)), (1, 1, 3, 3)).eval().astype("int8")
    array([[[[1, 2, 1],
             [2, 4, 2],
             [1, 2, 1]]]], dtype=int8)
    """
    options = {"border_mode": border_mode, "subsample": subsample, "filter_flip": filter_flip,
               "filter_dilation": filter_dilation, "num_groups": num_groups, "unshared": unshared}  # fmt: skip
    return _grad_inputs(2, output_grad, filters, input_shape, filter_shape, options)


def conv3d_grad_wrt_inputs(
    output_grad: Tensor, filters: Tensor, input_shape: Any, filter_shape: Any = None, border_mode: Border = "valid",
    subsample: Any = (1, 1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of `conv3d` with respect to its input; see `conv2d_grad_wrt_inputs`.

    Parameters
    ----------
    output_grad : tensor of 5 dimensions
        The gradient with respect to the output.
    filters : tensor of 5 dimensions
        Of shape (filters, channels / num_groups, depth, rows, columns).
    input_shape : tuple of 5 ints
        Of the result. The last three may not be None.
    filter_shape : tuple of int or None, optional
        The known lengths of the filters' shape.
    border_mode : str, int or tuple
        As for :func:`conv3d`.
    subsample : int or tuple of int, optional
        As for :func:`conv3d`.
    filter_flip : bool, optional
        As for :func:`conv3d`.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv3d`.
    num_groups : int, optional
        As for :func:`conv3d`.

    Returns
    -------
    TensorVariable
        Of ``input_shape``.

    See Also
    --------
    nnet.conv3d

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv3d_grad_wrt_inputs(T.ones((1, 1, 1, 1, 1)), T.ones((1, 1, 1, 1, 2)), (1, 1, 1, 1, 2)).eval().ravel()
    array([1., 1.])
    """
    options = {"border_mode": border_mode, "subsample": subsample, "filter_flip": filter_flip,
               "filter_dilation": filter_dilation, "num_groups": num_groups}  # fmt: skip
    return _grad_inputs(3, output_grad, filters, input_shape, filter_shape, options)


def conv2d_grad_wrt_weights(
    input: TensorLike, output_grad: TensorLike, filter_shape: Any, input_shape: Any = None,
    border_mode: Border = "valid", subsample: Any = (1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1),
    num_groups: int = 1, unshared: bool = False,
) -> Tensor:  # fmt: skip
    """Return the gradient of `conv2d` with respect to its filters.

    Parameters
    ----------
    input : tensor of 4 dimensions
        Of shape (batch, channels, rows, columns).
    output_grad : tensor of 4 dimensions
        The gradient with respect to the output.
    filter_shape : tuple of 4 ints (6 if unshared)
        Of the result; int scalars for what is symbolic. The last two may not be None.
    input_shape : tuple of int or None, optional
        The known lengths of the input's shape.
    border_mode : str, int or tuple
        As for :func:`conv2d`.
    subsample : int or tuple of int, optional
        As for :func:`conv2d`.
    filter_flip : bool, optional
        As for :func:`conv2d`.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv2d`.
    num_groups : int, optional
        As for :func:`conv2d`.
    unshared : bool, optional
        As for :func:`conv2d`.

    Returns
    -------
    TensorVariable
        Of ``filter_shape``.

    See Also
    --------
    nnet.conv2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv2d_grad_wrt_weights(T.ones((1, 1, 3, 3)), T.ones((1, 1, 2, 2)), (1, 1, 2, 2)).eval().astype("int8")
    array([[[[4, 4],
             [4, 4]]]], dtype=int8)
    """
    options = {"border_mode": border_mode, "subsample": subsample, "filter_flip": filter_flip,
               "filter_dilation": filter_dilation, "num_groups": num_groups, "unshared": unshared}  # fmt: skip
    return _grad_weights(2, input, output_grad, filter_shape, input_shape, options)


def conv3d_grad_wrt_weights(
    input: Tensor, output_grad: Tensor, filter_shape: Any, input_shape: Any = None, border_mode: Border = "valid",
    subsample: Any = (1, 1, 1), filter_flip: bool = True, filter_dilation: Any = (1, 1, 1), num_groups: int = 1,
) -> Tensor:  # fmt: skip
    """Return the gradient of `conv3d` with respect to its filters; see `conv2d_grad_wrt_weights`.

    Parameters
    ----------
    input : tensor of 5 dimensions
        Of shape (batch, channels, depth, rows, columns).
    output_grad : tensor of 5 dimensions
        The gradient with respect to the output.
    filter_shape : tuple of 5 ints
        Of the result. The last three may not be None.
    input_shape : tuple of int or None, optional
        The known lengths of the input's shape.
    border_mode : str, int or tuple
        As for :func:`conv3d`.
    subsample : int or tuple of int, optional
        As for :func:`conv3d`.
    filter_flip : bool, optional
        As for :func:`conv3d`.
    filter_dilation : int or tuple of int, optional
        As for :func:`conv3d`.
    num_groups : int, optional
        As for :func:`conv3d`.

    Returns
    -------
    TensorVariable
        Of ``filter_shape``.

    See Also
    --------
    nnet.conv3d

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv3d_grad_wrt_weights(T.ones((1, 1, 1, 1, 2)), T.ones((1, 1, 1, 1, 2)), (1, 1, 1, 1, 1)).eval().ravel()
    array([2.])
    """
    options = {"border_mode": border_mode, "subsample": subsample, "filter_flip": filter_flip,
               "filter_dilation": filter_dilation, "num_groups": num_groups}  # fmt: skip
    return _grad_weights(3, input, output_grad, filter_shape, input_shape, options)
