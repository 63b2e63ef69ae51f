"""Functions of one matrix, applied to each matrix of a stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.tensor.batching.vectorize import vectorize
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def stack_of(a: TensorLike, what: str) -> Tensor:
    """Return an argument of a function as a tensor that holds matrices.

    Raises
    ------
    ValueError
        It has less than two dimensions.
    """
    a = as_tensor_variable(a)
    if a.type.ndim < 2:
        raise ValueError(f"linalg.{what}: {a} has {a.type.ndim} dimensions; give 2 or more")
    return a


def each(f: Callable[..., Any], what: str, signature: str, *args: TensorLike) -> Any:
    """Return what a function of matrices gives for each matrix of a stack."""
    tensors = [stack_of(a, what) for a in args]
    return f(*tensors) if all(a.type.ndim == 2 for a in tensors) else vectorize(f, signature)(*tensors)
