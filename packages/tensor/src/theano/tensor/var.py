"""Tensor variables and constants."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Constant, Variable
from theano.layers import lazily
from theano.settings import config
from theano.tensor.convert import AsTensorError
from theano.tensor.operators import TensorOperators
from theano.tensor.type import TensorConstantSignature, TensorType


class TensorVariable(TensorOperators, Variable[TensorType]):
    """A symbolic array.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> type(x)
    <class 'theano.tensor.var.TensorVariable'>
    >>> (x * 2.0).owner.inputs
    [x, InplaceDimShuffle{x,x}.0]
    """

    if not TYPE_CHECKING:  # to which constants and shared variables are subclasses with others

        def __init__(self, type: TensorType, owner: Any = None, index: int | None = None, name: str | None = None):
            super().__init__(type, owner, index, name)
            if config.warn_float64 != "ignore" and type.dtype == "float64":
                _report_float64(name)


def _report_float64(name: str | None) -> None:
    """Do what ``warn_float64`` says: it helps to find what widens a computation meant for float32."""
    message = (
        f"a tensor of dtype float64{f' ({name})' if name else ''} is made, and theano.config.warn_float64 is "
        f"{config.warn_float64!r}"
    )
    if config.warn_float64 == "raise":
        raise Exception(message)  # the class that Theano documents
    if config.warn_float64 == "warn":
        warnings.warn(message, stacklevel=4)
    else:
        breakpoint()  # noqa: T100  (the flag asks for it)


if TYPE_CHECKING:
    #: For type checkers: a constant or shared array may stand wherever a `TensorVariable` may.
    Operators = TensorVariable
else:
    Operators = TensorOperators


class TensorConstant(Operators, Constant[TensorType]):
    """An array that is known while the graph is built.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.constant(2.0), T.constant([1.0, 1.0]), T.constant([1, 2, 3])
    (TensorConstant{2.0}, TensorConstant{(2,) of 1.0}, TensorConstant{[1 2 3]})
    """

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        data = self.data
        if data.ndim and data.size and (data.size == 1 or np.all(data == data.reshape(-1)[0])):
            text = f"{data.shape} of {data.reshape(-1)[0]}"
        else:
            with np.printoptions(threshold=20):  # only the ends are shown
                text = str(data).replace("\n", "")
        if len(text) > 20:
            text = text[:10] + ".." + text[-10:]
        return f"TensorConstant{{{text}}}"

    def signature(self) -> Hashable:
        """Return what tells constants apart: type and bits."""
        return (self.type, TensorConstantSignature.of(self.data))

    def equals(self, other: Any) -> bool:
        """Return whether ``other`` is a constant (or an array) of the same type and bits."""
        if isinstance(other, np.ndarray):
            other = TensorType(other.dtype.name, [n == 1 for n in other.shape]).make_constant(other)
        return isinstance(other, TensorConstant) and self.signature() == other.signature()

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorConstant:
        # The value cannot change, so copies of a graph share it.
        return memo.setdefault(id(self), self.clone())


TensorType.Variable = TensorVariable
TensorType.Constant = TensorConstant
_tensor_py_operators = TensorOperators

__all__ = ["AsTensorError", "TensorConstant", "TensorConstantSignature", "TensorVariable"]


__getattr__, __dir__ = lazily(globals())
