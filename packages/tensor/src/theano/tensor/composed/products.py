"""Products of tensors by the letters of their axes, and those of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from theano.scalar import complex_dtypes
from theano.tensor.blas.dot import matmul, tensordot
from theano.tensor.composed.subscripts import order_of_pairs, read
from theano.tensor.control.checks import CheckedShape
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.join.op import stack
from theano.tensor.messages import axis_of
from theano.tensor.numpy_functions import sum
from theano.tensor.shape.diagonals import diagonal
from theano.tensor.shape.reshape import moveaxis, reshape

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def einsum(*operands: object, optimize: bool | str = True) -> Tensor:
    """Return a sum of products over axes that are named by letters.

    Pairs of operands are multiplied in the order of :func:`numpy.einsum_path`; each product is one of matrices, or of
    stacks of matrices.

    Parameters
    ----------
    *operands : str and tensors
        The subscripts, such as ``"ij,jk->ik"``, and the tensors; or each tensor followed by the list of its axes'
        numbers, and at the end the list for the result.
    optimize : bool or str
        False: from left to right. Else a strategy of :func:`numpy.einsum_path`.

    Returns
    -------
    tensor
        Of the dtype that all operands are converted to.

    Raises
    ------
    ValueError
        The subscripts do not fit the operands.
    ShapeError
        When it runs: a letter stands for axes of different lengths. A length of 1 stretches where the type knows it.

    See Also
    --------
    tensordot, matmul, numpy.einsum

    Examples
    --------
    >>> import theano.tensor as T
    >>> A = T.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> T.einsum("ij,kj->ik", A, A).eval()
    array([[ 5., 11.],
           [11., 25.]])
    >>> T.einsum("ii->i", A).eval(), T.einsum("ij->", A).eval()
    (array([1., 4.]), array(10.))
    """
    asked, given = read(operands)
    tensors = [as_tensor_variable(v) for v in given]
    dtype = np.result_type(*(v.type.dtype for v in tensors)).name
    letters = asked.of_operands([v.type.ndim for v in tensors])
    parts = [_distinct(el.cast(v, dtype), word) for v, word in zip(tensors, letters, strict=True)]
    stretched = {c for v, word in parts for c, one in zip(word, v.type.broadcastable, strict=True) if not one}
    parts = [_without_ones(v, word, stretched) for v, word in parts]
    for pair in order_of_pairs([word for _, word in parts], asked.output, optimize):
        rest = [part for i, part in enumerate(parts) if i not in pair]
        needed = {*asked.output, *(c for _, word in rest for c in word)}
        parts = [*rest, _product([parts[i] for i in pair], needed)]
    found, word = _summed(*parts[0], set(asked.output))
    lacking = [c for c in asked.output if c not in word]  # each of length 1 in all operands
    axes = {c: i for i, c in enumerate(word)}
    return el.cast(found.dimshuffle(*["x" if c in lacking else axes[c] for c in asked.output]), dtype)


def _distinct(v: Tensor, word: str) -> tuple[Tensor, str]:
    """Return a tensor with the diagonals of the axes that have one letter."""
    for c in dict.fromkeys(word):
        while word.count(c) > 1:
            first = word.index(c)
            second = word.index(c, first + 1)
            check = CheckedShape(f"einsum: the letter {c!r} stands for axes of different lengths")
            v = check(v, el.eq(v.shape[first], v.shape[second]))
            v = diagonal(v, 0, first, second)
            word = word[:first] + word[first + 1 : second] + word[second + 1 :] + c
    return v, word


def _without_ones(v: Tensor, word: str, stretched: set[str]) -> tuple[Tensor, str]:
    """Return a tensor without the axes of length 1 that are longer in another operand."""
    kept = [i for i, one in enumerate(v.type.broadcastable) if not (one and word[i] in stretched)]
    return v.dimshuffle(*kept), "".join(word[i] for i in kept)


def _summed(v: Tensor, word: str, needed: set[str]) -> tuple[Tensor, str]:
    """Return a tensor summed along the axes that no other operand and no result has."""
    axes = [i for i, c in enumerate(word) if c not in needed]
    return (sum(v, axes, v.type.dtype), "".join(c for c in word if c in needed)) if axes else (v, word)


def _product(pair: Sequence[tuple[Tensor, str]], needed: set[str]) -> tuple[Tensor, str]:
    """Return the product of one or two tensors, summed along what is not needed."""
    if len(pair) == 1:
        return _summed(*pair[0], needed)
    (a, left), (b, right) = pair
    a, left = _summed(a, left, needed | set(right))
    b, right = _summed(b, right, needed | set(left))
    both = [c for c in left if c in right]
    stack_, inner = [c for c in both if c in needed], [c for c in both if c not in needed]
    rows, columns = [c for c in left if c not in both], [c for c in right if c not in both]
    word = "".join(stack_ + rows + columns)
    if not inner:
        spread = (
            v.dimshuffle(*["x" if c not in own else own.index(c) for c in word]) for v, own in ((a, left), (b, right))
        )
        return el.mul(*spread), word
    if not stack_:
        return tensordot(a, b, [[left.index(c) for c in inner], [right.index(c) for c in inner]]), word
    lengths = {c: v.shape[i] for v, own in ((a, left), (b, right)) for i, c in enumerate(own)}

    def matrices(v: Tensor, own: str, first: Sequence[str], second: Sequence[str]) -> Tensor:
        moved = v.dimshuffle(*[own.index(c) for c in (*stack_, *first, *second)])
        sizes = [prod(lengths[c] for c in group) for group in (first, second)]
        return reshape(moved, [*(lengths[c] for c in stack_), *sizes], ndim=len(stack_) + 2)

    product = matmul(matrices(a, left, rows, inner), matrices(b, right, inner, columns))
    return reshape(product, [lengths[c] for c in word], ndim=len(word)), word


def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """Return sums of products along the last axes of two tensors.

    Parameters
    ----------
    a : tensor
        The first factor.
    b : tensor
        The second factor.

    Returns
    -------
    TensorVariable
        The axes that are left of ``a``, then those of ``b``.

    See Also
    --------
    dot, tensordot, numpy.inner

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.inner(T.constant([1, 2]), T.constant([3, 4])).eval()
    array(11)
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if not a.type.ndim or not b.type.ndim:
        return a * b
    return tensordot(a, b, [[a.type.ndim - 1], [b.type.ndim - 1]])


def vdot(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the scalar product of two flat tensors, the first one conjugated.

    Parameters
    ----------
    a : tensor
        The first factor.
    b : tensor
        The second factor.

    Returns
    -------
    TensorVariable
        Without dimensions.

    See Also
    --------
    dot, vecdot, numpy.vdot

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.vdot(T.constant([[1, 2], [3, 4]]), T.constant([[1, 0], [0, 1]])).eval()
    array(5)
    """
    return inner(_conjugated(as_tensor_variable(a).flatten()), as_tensor_variable(b).flatten())


def vecdot(x1: TensorLike, x2: TensorLike, axis: int = -1) -> Tensor:
    """Return the scalar products of vectors along an axis, the first ones conjugated.

    Parameters
    ----------
    x1 : tensor
        The first vectors.
    x2 : tensor
        The second ones; both broadcast against each other.
    axis : int, optional
        Along which axis.

    Returns
    -------
    TensorVariable
        Without the axis.

    See Also
    --------
    dot, vdot, numpy.vecdot

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.vecdot(T.constant([[1, 2], [3, 4]]), T.constant([1, 1])).eval()
    array([3, 7])
    """
    first, second = (moveaxis(v, axis_of(v, axis, "vecdot"), -1) for v in map(as_tensor_variable, (x1, x2)))
    dtype = np.result_type(first.type.dtype, second.type.dtype).name
    return sum(_conjugated(first) * second, -1, dtype)


def _conjugated(v: Tensor) -> Tensor:
    return el.conj(v) if v.type.dtype in complex_dtypes else v


def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the Kronecker product of tensors of any dimensions.

    Parameters
    ----------
    a : tensor
        The first factor.
    b : tensor
        The second factor.

    Returns
    -------
    TensorVariable
        Along each axis as long as the product of both lengths.

    See Also
    --------
    outer, numpy.kron

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.kron(T.constant([1, 10]), T.constant([1, 2])).eval()
    array([ 1,  2, 10, 20])
    """
    tensors = [as_tensor_variable(v) for v in (a, b)]
    ndim = max(v.type.ndim for v in tensors)
    left, right = (v.dimshuffle(*["x"] * (ndim - v.type.ndim), *range(v.type.ndim)) for v in tensors)
    rows = left.dimshuffle(*[e for i in range(ndim) for e in (i, "x")])
    columns = right.dimshuffle(*[e for i in range(ndim) for e in ("x", i)])
    return reshape(rows * columns, [left.shape[i] * right.shape[i] for i in range(ndim)], ndim=ndim)


def cross(
    a: TensorLike, b: TensorLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """Return the cross products of vectors of three components.

    Parameters
    ----------
    a, b : tensor
        The vectors; they broadcast against each other along the other axes.
    axisa, axisb, axisc : int
        Which axes of both operands and of the result hold the components.
    axis : int, optional
        All three at once.

    Returns
    -------
    TensorVariable
        Of the common shape.

    Raises
    ------
    ShapeError
        When it runs: a vector does not have three components.

    See Also
    --------
    outer, numpy.cross

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.cross(T.constant([1, 0, 0]), T.constant([0, 1, 0])).eval()
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = []
    for v, i in ((as_tensor_variable(a), axisa), (as_tensor_variable(b), axisb)):
        i = axis_of(v, i, "cross")
        check = CheckedShape("cross: vectors must have 3 components")
        v = check(v, el.eq(v.shape[i], 3))
        vectors.append([v[tuple([slice(None)] * i + [k])] for k in range(3)])
    (a0, a1, a2), (b0, b1, b2) = vectors
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    ndim = parts[0].type.ndim + 1
    if not -ndim <= axisc < ndim:
        raise np.exceptions.AxisError(f"cross: axisc is {axisc}, and the result has {ndim} dimensions")
    return stack(parts, axis=axisc % ndim)
