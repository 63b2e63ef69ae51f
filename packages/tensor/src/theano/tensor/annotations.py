"""The types of annotations: tensors, values that become tensors, and options of functions of tensors.

For type checkers alone: no module loads it when a program runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from theano.graph import Apply, Constant, Variable
from theano.tensor.type import Tensor

#: What `as_tensor_variable` makes a tensor of: a variable, a node of one output, an array, a number, or a sequence.
TensorLike: TypeAlias = "Variable | Apply | ArrayLike | Sequence[TensorLike]"
Tensors: TypeAlias = Sequence[Tensor]
#: Of the forward derivative, one for each input: None where it does not move.
Directions: TypeAlias = Sequence[Tensor | None]

#: The length of a dimension: known while the graph is built, or an expression.
Length: TypeAlias = int | Tensor
Shape: TypeAlias = tuple[Length, ...]
#: Of each input of a node, as `infer_shape` is handed them.
Shapes: TypeAlias = Sequence[Shape]
#: Along which dimensions a function works: one, some, or (None) all of them or those of its default; also constants.
Axis: TypeAlias = int | np.integer | np.ndarray | Constant | Sequence[int | np.integer | Constant] | None
#: What stands between the brackets of ``x[...]``: a number, a slice, None, an ellipsis, places, or a tuple of these.
Index: TypeAlias = "TensorLike | slice | EllipsisType | tuple[Index, ...] | None"
#: What surrounds an image: "valid", "half" or "full", or how wide it is, along each axis and on each side.
Border: TypeAlias = str | int | Sequence[int | Sequence[int]]
