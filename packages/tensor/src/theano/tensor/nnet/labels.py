"""Labels, the classes of rows: how they are checked, and how they choose a column of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.graph import Apply, Constant, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast, eq
from theano.tensor.messages import describe, shape_error
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


#: How labels choose columns, in the order of ``c/softmax.c``.
LABELS = ("each", "first", "all")


def label_vector(op: Op, y_idx: TensorLike) -> Tensor:
    """Return labels as a tensor, if they are a vector of whole numbers."""
    y_idx = as_tensor_variable(y_idx)
    if y_idx.type.ndim != 1 or y_idx.type.dtype not in scal.integer_dtypes:
        remedy = ""
        if y_idx.type.ndim == 2:
            remedy = "\nOf rows that are one-hot, theano.tensor.argmax(y, axis=1) gives the numbers of the classes."
        elif y_idx.type.ndim == 1:
            remedy = "\nCast it: theano.tensor.cast(y, 'int64')."
        raise ArgumentError(f"{op}: the classes must be a vector of whole numbers:\n{describe(y_idx)}{remedy}")
    return y_idx


def labels_of(node: Apply) -> str:
    """Return how the labels of a node choose columns: what its fourth input says, or one label for each row."""
    if len(node.inputs) == 3:
        return LABELS[0]
    said = node.inputs[3]
    if not isinstance(said, Constant):
        raise TypeError(f"{node.op}: how labels choose must be a constant, not {said}")
    return LABELS[int(said.data)]


class Labelled(Op):
    """What reads one column of each row, as labels say.

    How they say it is an input of the node, a constant, so that the op is the documented one in any case: "each" (which
    needs no such input) is one label for each row, from 0 on, else a ValueError. "first" is what the index
    ``[arange(k), labels]`` chooses from the first k rows, "all" what ``[arange(rows), labels]`` does from all: negative
    ones count from the end, and what does not fit is an IndexError.
    """

    __props__ = ()

    @staticmethod
    def how(labels: Any) -> list[Any]:
        """Return the inputs that say how labels choose: none, or one constant."""
        if isinstance(labels, Constant):
            if labels.type != TensorType("int8", ()):
                raise TypeError(f"how labels choose must be a number of dtype int8, not {describe(labels)}")
            return [labels]
        if labels not in LABELS:
            raise ValueError(f"labels must be one of {', '.join(LABELS)}, not {labels!r}")
        return [] if labels == LABELS[0] else [as_tensor_variable(np.int8(LABELS.index(labels)))]

    def chosen(self, node: TensorApply, inputs: Sequence[np.ndarray], matrix: np.ndarray) -> np.ndarray:
        """Return the columns of the first rows, counted from 0."""
        rows, columns = matrix.shape
        y_idx = inputs[2]
        labels = labels_of(node)
        if labels == "each":
            check_labels(node, inputs, rows, columns, y_idx)
            return y_idx
        if labels == "all" and len(y_idx) == 1:
            y_idx = np.broadcast_to(y_idx, (rows,))
        if labels == "all" and len(y_idx) != rows:
            raise IndexError(
                f"shape mismatch: indexing arrays could not be broadcast together: {rows} rows and {len(y_idx)} labels"
            )
        if len(y_idx) > rows:
            raise IndexError(f"index {rows} is out of bounds for axis 0 with size {rows}")
        wrong = [int(k) for k in y_idx if not -columns <= k < columns]
        if wrong:
            raise IndexError(f"index {wrong[0]} is out of bounds for axis 1 with size {columns}")
        return np.where(y_idx < 0, y_idx + columns, y_idx)


def check_labels(
    node: TensorApply, inputs: Sequence[np.ndarray], rows: int, columns: int, y_idx: np.ndarray
) -> None:
    """Refuse labels that are not one column, from 0 on, for each row."""
    if len(y_idx) != rows:
        raise shape_error(node, inputs, f"{len(y_idx)} classes for {rows} rows.", "There must be one each.")
    if len(y_idx) and (y_idx.min() < 0 or y_idx.max() >= columns):
        bad = int(y_idx.min() if y_idx.min() < 0 else y_idx.max())
        raise ValueError(
            f"{node.op}: y_i value out of bounds: class {bad} among {columns} columns; labels count from 0:\n"
            + "\n".join(describe(v, np.shape(x)) for v, x in zip(node.inputs, inputs, strict=True))
        )


def one_hot(y_idx: Tensor, columns: TensorLike, dtype: str) -> Tensor:
    """Return a matrix with a 1 at each row's class, 0 elsewhere."""
    return cast(eq(y_idx.dimshuffle(0, "x"), arange(columns).dimshuffle("x", 0)), dtype)
