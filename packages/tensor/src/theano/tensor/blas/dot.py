"""Dot, and the products of tensors that come down to it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.extensions import Chain
from theano.graph import Apply, Op
from theano.tensor.control.checks import CheckedShape
from theano.tensor.convert import as_tensor_variable, whole_number
from theano.tensor.elemwise.functions import cast, conj, eq, mul
from theano.tensor.messages import describe, shape_error
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.shape.reshape import flatten, reshape, transpose
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike, Tensors
    from theano.tensor.type import Tensor


class Dot(Op):
    """The product of vectors and matrices, in any combination of the two.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Dot()(T.dmatrix("A"), T.dvector("x")).owner
    dot(A, x)
    """

    __props__ = ()
    linear_in = (0, 1)
    shapes = "Ai,iB->AB"

    def __str__(self) -> str:
        return "dot"

    def make_node(self, *inputs: Variable) -> Apply:
        if len(inputs) != 2:
            raise TypeError(f"theano.tensor.Dot takes 2 inputs, got {len(inputs)}")
        x, y = map(as_tensor_variable, inputs)
        for i, v in enumerate((x, y)):
            if v.type.ndim not in (1, 2):
                raise TypeError(
                    f"theano.tensor.Dot: input {i} must have 1 or 2 dimensions:\n{describe(v)}\n"
                    "  T.dot takes other numbers of dimensions; T.tensordot lets you name the axes."
                )
        dtype = scal.upcast(x.type.dtype, y.type.dtype)
        pattern = x.type.broadcastable[:-1] + (y.type.broadcastable[1:] if y.type.ndim == 2 else ())
        return Apply(self, [x, y], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Multiply with NumPy."""
        x, y = inputs
        if x.shape[-1] != y.shape[0]:
            raise shape_error(
                node, inputs, f"Shape mismatch: {x.shape[-1]} columns against {y.shape[0]} rows.",
                "The last axis of the first must be as long as the first axis of the second; perhaps one needs .T.",
            )
        dtype = node.outputs[0].type.dtype
        output_storage[0][0] = np.asarray(np.dot(x.astype(dtype, copy=False), y.astype(dtype, copy=False)), dtype=dtype)

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the two products of the gradient with the other factor."""
        (x, y), (g,) = inputs, output_grads
        if x.type.dtype in scal.complex_dtypes or y.type.dtype in scal.complex_dtypes:
            x, y = conj(x), conj(y)
        if x.type.ndim == 1 and y.type.ndim == 1:
            found = [g * y, g * x]
        elif y.type.ndim == 1:
            found = [outer(g, y), dot(x.T, g)]
        elif x.type.ndim == 1:
            found = [dot(g, y.T), outer(x, g)]
        else:
            found = [dot(g, y.T), dot(x.T, g)]
        # An axis known to have length 1 stays broadcastable, even where the product does not show it.
        return [patternbroadcast(f, v.type.broadcastable) for f, v in zip(found, inputs, strict=True)]


_dot = Dot()


#: From two operands to their product, or to None where both are for this layer.
products: Chain[Callable[[Any, Any], Any]] = Chain("tensor.blas.dot.products", "what a product of other variables is")


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the product of two tensors: the sum over the last axis of ``a`` and the last but one of ``b``.

    Layers that have products of other variables (sparse ones) answer for these at the point `products`.

    Parameters
    ----------
    a, b : tensor
        Of any number of dimensions; one without dimensions multiplies the other element by element.

    Returns
    -------
    TensorVariable
        Of shape (n, m) for (n, k) and (k, m), (n,) for (n, k) and (k,); of the dtype that both are converted to.

    See Also
    --------
    matmul, tensordot, batched_dot, outer, numpy.dot

    Examples
    --------
    >>> import theano.tensor as T
    >>> dot(T.dmatrix("A"), T.dmatrix("B")), dot(T.dtensor3("t"), T.dmatrix("B")).ndim
    (dot.0, 3)
    """
    for product in products:
        found = product(a, b)
        if found is not None:
            return found
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.ndim == 0 or b.type.ndim == 0:
        return mul(a, b)
    if a.type.ndim > 2 or b.type.ndim > 2:
        return tensordot(a, b, [[a.type.ndim - 1], [builtins.max(0, b.type.ndim - 2)]])
    return _dot(a, b)


def matmul(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the products of the matrices in the last two axes of two tensors, as ``a @ b`` and ``numpy.matmul`` do.

    The axes before the last two are broadcast against each other; a length of 1 is stretched where the type of the
    variable says that it is 1. :func:`dot` pairs each matrix of ``a`` with each of ``b`` instead.

    Parameters
    ----------
    a, b : tensor
        Of one dimension or more. One of shape (k,) is a row on the left and a column on the right; the result then has
        no axis for it.

    Returns
    -------
    tensor
        Of shape (..., n, m) for (..., n, k) and (..., k, m), and of the dtype that both are converted to.

    Raises
    ------
    ValueError
        An operand has no dimensions.
    ShapeError
        While running: lengths do not fit.

    See Also
    --------
    dot, batched_dot, einsum, numpy.matmul

    Examples
    --------
    >>> import theano.tensor as T
    >>> matmul(T.ones((2, 3, 4)), T.ones((2, 4, 5))).eval().shape
    (2, 3, 5)
    >>> (T.ones((7, 1, 3, 4)) @ T.ones((2, 4, 5))).eval().shape
    (7, 2, 3, 5)
    >>> (T.ones(4) @ T.ones((2, 4, 5))).eval().shape
    (2, 5)
    """
    for product in products:
        found = product(a, b)
        if found is not None:
            return found
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    for v in (a, b):
        if v.type.ndim == 0:
            raise ValueError(f"matmul takes tensors of 1 dimension or more, and {v} has none. Multiply by it with *.")
    if a.type.ndim <= 2 and b.type.ndim <= 2:
        return _dot(a, b)
    return _matmul_of_stacks(a, b)


def _matmul_of_stacks(a: Tensor, b: Tensor) -> Tensor:
    """Return the products of stacks of matrices: one batched product over the axes that both stacks have.

    An axis that only one of them has is one more axis of rows or columns, so that nothing is stretched.
    """
    ndim = builtins.max(a.type.ndim, b.type.ndim)
    # From places in the result to axes of each operand, without those that are stretched.
    rows, columns = (
        {i + ndim - v.type.ndim: i for i in range(v.type.ndim - 2) if not v.type.broadcastable[i]} for v in (a, b)
    )
    both = sorted(rows.keys() & columns.keys())
    rows.update({ndim - 2: a.type.ndim - 2} if a.type.ndim > 1 else {})
    columns.update({ndim - 1: b.type.ndim - 1} if b.type.ndim > 1 else {})
    of_a, of_b = ([i for i in sorted(v) if i not in both] for v in (rows, columns))
    left = a.dimshuffle([*(rows[i] for i in (*both, *of_a)), a.type.ndim - 1])
    right = b.dimshuffle([*(columns[i] for i in both), builtins.max(0, b.type.ndim - 2), *(columns[i] for i in of_b)])
    product = _over_first_axes(left, right, len(both))
    found = [*both, *of_a, *of_b]
    places = [*range(ndim - 2), *([ndim - 2] if a.type.ndim > 1 else []), *([ndim - 1] if b.type.ndim > 1 else [])]
    known = {i: a.type.broadcastable[rows[i]] for i in of_a} | {i: b.type.broadcastable[columns[i]] for i in of_b}
    product = patternbroadcast(product, [known.get(i, False) for i in found])
    return product.dimshuffle([found.index(i) if i in found else "x" for i in places])


def _over_first_axes(left: Tensor, right: Tensor, n: int) -> Tensor:
    """Return products paired along the first ``n`` axes: sums over the last axis of one, the next of the other."""
    if n == 0:
        return tensordot(left, right, [[left.type.ndim - 1], [0]])
    lengths = [left.shape[i] for i in range(n)]
    if n > 1:
        # They become one axis, whose length would also fit where theirs are exchanged.
        check = CheckedShape("matmul: axes before the last two have different lengths, and none is known to be 1.")
        right = check(right, *(eq(m, right.shape[i]) for i, m in enumerate(lengths)))
        left, right = (
            reshape(v, [_product(lengths), *(v.shape[i] for i in range(n, v.type.ndim))], ndim=v.type.ndim - n + 1)
            for v in (left, right)
        )
    if left.type.ndim <= 3 and right.type.ndim <= 3:
        product = batched_dot_op(left, right)
    else:
        product = batched_tensordot(left, right, [[left.type.ndim - 1], [1]])
    rest = [product.shape[i] for i in range(1, product.type.ndim)]
    return product if n == 1 else reshape(product, [*lengths, *rest], ndim=n + len(rest))


def dense_dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the product of two tensors; sparse ones have a function of their own.

    Parameters
    ----------
    a : tensor
        The left one.
    b : tensor
        The right one.

    Returns
    -------
    TensorVariable
        As for :func:`dot`.

    See Also
    --------
    dot

    Examples
    --------
    >>> import theano.tensor as T
    >>> dense_dot(T.dmatrix("a"), T.dvector("b")).type
    TensorType(float64, vector)
    """
    return dot(as_tensor_variable(a), as_tensor_variable(b))


def outer(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the matrix of the products of each element of ``x`` with each of ``y``.

    Parameters
    ----------
    x : tensor
        Flattened if need be.
    y : tensor
        Flattened if need be.

    Returns
    -------
    TensorVariable
        A matrix of shape (x.size, y.size).

    See Also
    --------
    dot, tensordot, numpy.outer

    Examples
    --------
    >>> import theano.tensor as T
    >>> outer(T.dvector("x"), T.dvector("y")).type
    TensorType(float64, matrix)
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    x, y = (v if v.type.ndim == 1 else flatten(v) for v in (x, y))
    return dot(x.dimshuffle(0, "x"), y.dimshuffle("x", 0))


def tensordot(a: TensorLike, b: TensorLike, axes: int | Sequence[list[int]] = 2) -> Tensor:
    """Return the sum of products over chosen axes of two tensors.

    Parameters
    ----------
    a, b : tensor
        The factors.
    axes : int or pair of sequences of int
        The number of last axes of ``a`` and first axes of ``b`` to sum over, or which of each.

    Returns
    -------
    TensorVariable
        The axes that are left of ``a``, then those of ``b``.

    See Also
    --------
    dot, matmul, einsum, numpy.tensordot

    Examples
    --------
    >>> import theano.tensor as T
    >>> tensordot(T.dtensor3("a"), T.dtensor3("b"), axes=([2, 1], [0, 1])).ndim
    2
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    a_axes, b_axes = _summed_axes(a, b, axes)
    a_kept = [i for i in range(a.type.ndim) if i not in a_axes]
    b_kept = [i for i in range(b.type.ndim) if i not in b_axes]
    rows = _as_matrix(a, a_kept, a_axes)
    columns = _as_matrix(b, b_axes, b_kept)
    lengths = [a.shape[i] for i in a_kept] + [b.shape[i] for i in b_kept]
    pattern = [a.type.broadcastable[i] for i in a_kept] + [b.type.broadcastable[i] for i in b_kept]
    return patternbroadcast(reshape(_dot(rows, columns), lengths, ndim=len(lengths)), pattern)


def _as_matrix(x: Tensor, first: Sequence[int], last: Sequence[int]) -> Tensor:
    """Return ``x`` with two groups of axes each joined into one."""
    moved = transpose(x, [*first, *last])
    if len(first) == len(last) == 1:
        return moved
    return reshape(moved, (_product([x.shape[i] for i in first]), _product([x.shape[i] for i in last])), ndim=2)


def _product(lengths: Sequence[Any]) -> Any:
    total: Variable = as_tensor_variable(np.int64(1))
    for i, n in enumerate(lengths):
        total = n if i == 0 else total * n
    return total


def _summed_axes(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    if whole_number(axes) is not None:
        if axes < 0 or axes > a.type.ndim or axes > b.type.ndim:
            raise ValueError(
                f"tensordot over {axes} axes: {a} has {a.type.ndim} dimensions and {b} has {b.type.ndim}, "
                "and the number must be 0 or more"
            )
        return list(range(a.type.ndim - int(axes), a.type.ndim)), list(range(axes))
    if len(axes) != 2:
        raise ValueError(f"the axes of tensordot are a number or a pair of lists, not {axes!r}")
    pairs = [list(n) if whole_number(n) is None else [n] for n in axes]
    if len(pairs[0]) != len(pairs[1]):
        raise ValueError(f"tensordot needs as many axes of the first tensor as of the second: {axes!r}")
    result = []
    for v, chosen in zip((a, b), pairs, strict=True):
        if any(not -v.type.ndim <= n < v.type.ndim for n in chosen):
            raise ValueError(f"tensordot over axes {chosen}: {v} has only {v.type.ndim} dimensions")
        result.append([int(n) % v.type.ndim for n in chosen])
    return result[0], result[1]


class BatchedDot(Op):
    """The products of matrices (or of matrices and vectors) that are paired along the first axis.

    Examples
    --------
    >>> import theano.tensor as T
    >>> BatchedDot()(T.ones((2, 3, 4)), T.ones((2, 4, 5))).eval().shape
    (2, 3, 5)
    """

    __props__ = ()
    linear_in = (0, 1)
    shapes = "Ai,bjC->AC"

    def make_node(self, *inputs: Variable) -> Apply:
        if len(inputs) != 2:
            raise TypeError(f"BatchedDot takes 2 inputs, got {len(inputs)}")
        x, y = map(as_tensor_variable, inputs)
        for i, v in enumerate((x, y)):
            if v.type.ndim not in (2, 3):
                raise TypeError(f"BatchedDot: input {i} must have 2 or 3 dimensions:\n{describe(v)}")
        dtype = scal.upcast(x.type.dtype, y.type.dtype)
        x, y = cast(x, dtype), cast(y, dtype)
        batch = x.type.broadcastable[0] or y.type.broadcastable[0]
        pattern = [batch, *x.type.broadcastable[1:-1], *(y.type.broadcastable[2:] if y.type.ndim == 3 else ())]
        return Apply(self, [x, y], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Multiply with NumPy."""
        x, y = inputs
        if x.shape[0] != y.shape[0] or x.shape[-1] != y.shape[1]:
            raise shape_error(
                node, inputs, "Shape mismatch: " + (
                    f"batches of {x.shape[0]} and {y.shape[0]}." if x.shape[0] != y.shape[0]
                    else f"{x.shape[-1]} columns against {y.shape[1]} rows."
                ),
                "The first axes must be equally long, and so must the axes that are summed over.",
            )
        x3 = x[:, None, :] if x.ndim == 2 else x
        y3 = y[:, :, None] if y.ndim == 2 else y
        out = np.matmul(x3, y3)
        out = out[:, :, 0] if y.ndim == 2 else out
        output_storage[0][0] = np.ascontiguousarray(out[:, 0] if x.ndim == 2 else out)

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the products of the gradient with the other factors."""
        (x, y), (g,) = inputs, output_grads
        if x.type.dtype in scal.complex_dtypes or y.type.dtype in scal.complex_dtypes:
            x, y = conj(x), conj(y)
        if x.type.ndim == 2 and y.type.ndim == 2:
            gx, gy = g.dimshuffle(0, "x") * y, g.dimshuffle(0, "x") * x
        elif x.type.ndim == 2:
            gx, gy = self(g, y.dimshuffle(0, 2, 1)), x.dimshuffle(0, 1, "x") * g.dimshuffle(0, "x", 1)
        elif y.type.ndim == 2:
            gx, gy = g.dimshuffle(0, 1, "x") * y.dimshuffle(0, "x", 1), self(x.dimshuffle(0, 2, 1), g)
        else:
            gx, gy = self(g, y.dimshuffle(0, 2, 1)), self(x.dimshuffle(0, 2, 1), g)
        return [patternbroadcast(f, v.type.broadcastable) for f, v in zip((gx, gy), inputs, strict=True)]


batched_dot_op = BatchedDot()


def batched_dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the products of the members of two batches, paired along the first axis.

    Parameters
    ----------
    a, b : tensor
        Of one dimension or more; the members are multiplied as :func:`dot` does.

    Returns
    -------
    TensorVariable
        Of shape (b, n, m) for (b, n, k) and (b, k, m).

    See Also
    --------
    dot, matmul, batched_tensordot

    Examples
    --------
    >>> import theano.tensor as T
    >>> batched_dot(T.dtensor3("a"), T.dtensor3("b")).ndim
    3
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.ndim == 0 or b.type.ndim == 0:
        raise TypeError("batched_dot needs a batch: both tensors must have 1 dimension or more")
    if a.type.ndim == 1:
        return a.dimshuffle(0, *["x"] * (b.type.ndim - 1)) * b
    if b.type.ndim == 1:
        return a * b.dimshuffle(0, *["x"] * (a.type.ndim - 1))
    if a.type.ndim > 3 or b.type.ndim > 3:
        return batched_tensordot(a, b, [[a.type.ndim - 1], [builtins.max(1, b.type.ndim - 2)]])
    return batched_dot_op(a, b)


def batched_tensordot(x: Variable, y: TensorLike, axes: Any = 2) -> Tensor:
    """Return :func:`tensordot` of the members of two batches, paired along the first axis.

    Parameters
    ----------
    x, y : tensor
        The batches, equally long along the first axis.
    axes : int or pair of sequences of int
        Counted with the batch axis, which cannot be one of them.

    Returns
    -------
    TensorVariable
        The batch axis, then the axes that are left of ``x`` and of ``y``.

    See Also
    --------
    batched_dot, tensordot

    Examples
    --------
    >>> import theano.tensor as T
    >>> batched_tensordot(T.ones((2, 3, 4)), T.ones((2, 4, 5)), axes=1).eval().shape
    (2, 3, 5)
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if whole_number(axes) is not None:
        axes = [list(range(x.type.ndim - int(axes), x.type.ndim)), list(range(1, 1 + int(axes)))]
    x_axes, y_axes = _summed_axes(x, y, axes)
    if 0 in x_axes or 0 in y_axes:
        raise ValueError(f"axis 0 is the batch and cannot be summed over: {axes!r}")
    x_kept = [i for i in range(1, x.type.ndim) if i not in x_axes]
    y_kept = [i for i in range(1, y.type.ndim) if i not in y_axes]
    left = _as_batch(x, x_kept, x_axes)
    right = _as_batch(y, y_axes, y_kept)
    lengths = [x.shape[0], *(x.shape[i] for i in x_kept), *(y.shape[i] for i in y_kept)]
    return reshape(batched_dot_op(left, right), lengths, ndim=len(lengths))


def _as_batch(x: Tensor, first: Sequence[int], last: Sequence[int]) -> Tensor:
    moved = transpose(x, [0, *first, *last])
    lengths = (x.shape[0], _product([x.shape[i] for i in first]), _product([x.shape[i] for i in last]))
    return reshape(moved, lengths, ndim=3)
