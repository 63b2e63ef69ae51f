"""Outcomes with given probabilities, drawn with uniform numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType, grad_undefined
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors


class MultinomialFromUniform(Op):
    """How often each outcome comes up in ``n`` trials, for each row of probabilities.

    Parameters
    ----------
    odtype : str
        The dtype of counts; ``'auto'``: that of the probabilities.

    Examples
    --------
    >>> MultinomialFromUniform("int64")([[0.5, 0.5]], [0.3, 0.6, 0.9], 3).eval()
    array([[1, 2]])
    """

    __props__: tuple[str, ...] = ("odtype",)
    linear_in = ()
    shapes = "A->A"

    def __init__(self, odtype: str):
        self.odtype = odtype

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.odtype}}}"

    def _checked(self, pvals: Any, unis: Any, n: TensorLike) -> tuple[Any, Any, Any]:
        pvals, unis, n = as_tensor_variable(pvals), as_tensor_variable(unis), as_tensor_variable(n, ndim=0)
        if pvals.type.ndim != 2:
            raise NotImplementedError(f"{self}: pvals must be a matrix, a row for each draw, not {pvals.type}")
        if unis.type.ndim != 1:
            raise NotImplementedError(f"{self}: the uniform numbers must be a vector, not {unis.type}")
        return pvals, unis, n

    def make_node(self, pvals: Any, unis: Any, n: Any = 1) -> Node:
        """Return the node for a matrix of probabilities, ``n`` uniform numbers for each row, and ``n``."""
        pvals, unis, n = self._checked(pvals, unis, n)
        dtype = pvals.type.dtype if self.odtype == "auto" else self.odtype
        return Apply(self, [pvals, unis, n], [TensorType(dtype, pvals.type.broadcastable).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Count; a number beyond the sum of a row counts for no outcome."""
        pvals, unis, n = inputs
        trials = _trials(self, pvals, unis, int(n))
        bounds = np.cumsum(pvals, axis=1, dtype="float64")
        counts = np.zeros(pvals.shape, "int64")
        rows = np.arange(len(pvals))
        for numbers in trials:
            places = (bounds <= numbers[:, None]).sum(axis=1)
            hit = places < pvals.shape[1]
            counts[rows[hit], places[hit]] += 1
        output_storage[0][0] = counts.astype(node.outputs[0].type.dtype)

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the number of trials has no influence in the sense of derivatives."""
        return [[True], [True], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros: counts jump."""
        return [inputs[0].zeros_like(), inputs[1].zeros_like(), DisconnectedType()()]


def _trials(op: Op, pvals: np.ndarray, unis: np.ndarray, n: int) -> np.ndarray:
    """Return the uniform numbers, a row for each trial."""
    if len(unis) != len(pvals) * n:
        raise ValueError(
            f"{op}: {len(unis)} uniform numbers are given for {len(pvals)} rows of probabilities and n = {n}. "
            f"Give {len(pvals) * n}."
        )
    return unis.reshape(n, len(pvals))


class ChoiceFromUniform(MultinomialFromUniform):
    """``n`` outcomes of each row of probabilities, one after the other.

    Parameters
    ----------
    odtype : str
        The dtype of outcomes; ``'auto'``: int64.
    replace : bool
        Whether an outcome may come again.

    Examples
    --------
    >>> ChoiceFromUniform("int64")([[0.5, 0.25, 0.25]], [0.3, 0.6], 2).eval()
    array([[0, 2]])
    """

    __props__ = ("odtype", "replace")

    def __init__(self, odtype: str, replace: bool = False):
        super().__init__(odtype)
        self.replace = replace

    def make_node(self, pvals: Any, unis: Any, n: Any = 1) -> Node:
        """Return the node for a matrix of probabilities, ``n`` uniform numbers for each row, and ``n``."""
        pvals, unis, n = self._checked(pvals, unis, n)
        one_row, one_outcome = pvals.type.broadcastable
        # Of one outcome nothing more than that one can be chosen, unless it may come again.
        pattern = (one_row, one_outcome and not self.replace)
        out = TensorType("int64" if self.odtype == "auto" else self.odtype, pattern)
        return Apply(self, [pvals, unis, n], [out.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Choose; what a number beyond the sum of a row would choose is -1."""
        pvals, unis, n = inputs
        n = int(n)
        if not self.replace and n > pvals.shape[1]:
            raise ValueError(f"{self}: {n} different outcomes are wanted, and there are {pvals.shape[1]}")
        left = pvals.copy()
        rows = np.arange(len(pvals))
        chosen = np.full((len(pvals), n), -1, "int64")
        for trial, numbers in enumerate(_trials(self, pvals, unis, n)):
            places = (np.cumsum(left, axis=1) <= numbers[:, None]).sum(axis=1)
            hit = places < pvals.shape[1]
            chosen[hit, trial] = places[hit]
            if not self.replace:
                left[rows[hit], places[hit]] = 0
                with np.errstate(invalid="ignore", divide="ignore"):
                    left[hit] /= np.cumsum(left[hit], axis=1)[:, -1:]  # in this order, so that devices agree
        output_storage[0][0] = chosen.astype(node.outputs[0].type.dtype)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the number of rows, and ``n``."""
        return [(shapes[0][0], node.inputs[2])]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return that outcomes, which are names, have no derivative."""
        return [*(grad_undefined(self, i, v) for i, v in enumerate(inputs[:2])), DisconnectedType()()]
