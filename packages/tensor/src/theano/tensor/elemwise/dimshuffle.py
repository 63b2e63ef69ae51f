"""DimShuffle: dimensions reordered, dropped and added, without touching an element."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Apply, Op
from theano.graph.props import Interned
from theano.tensor.convert import as_tensor_variable
from theano.tensor.messages import shape_error
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Value, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape


class DimShuffle(Op, metaclass=Interned):
    """A view of a tensor with its dimensions in another order, some dropped, some new.

    Parameters
    ----------
    input_broadcastable : sequence of bool
        Broadcast pattern of the input.
    new_order : sequence of int and "x"
        For each dimension of the result, the input's dimension it shows, or "x" for a new one of length 1.
        A dimension that is left out must be broadcastable.
    inplace : bool
        Whether the result is a view (the default) rather than a copy.

    Examples
    --------
    >>> import theano.tensor as T
    >>> swap = DimShuffle((False, False), (1, 0))
    >>> swap, swap(T.fmatrix("m")).type
    (InplaceDimShuffle{1,0}, TensorType(float32, matrix))
    >>> DimShuffle((False,), ("x", 0))
    InplaceDimShuffle{x,0}
    """

    __props__ = ("input_broadcastable", "new_order", "inplace")
    linear_in = (0,)

    def __init__(self, input_broadcastable: Sequence[bool], new_order: Sequence[int | str], inplace: bool = True):
        self.input_broadcastable = tuple(bool(b) for b in input_broadcastable)
        self.inplace = inplace
        ndim = len(self.input_broadcastable)
        order: list[int | str] = []
        for entry in new_order:
            if isinstance(entry, str):
                if entry != "x":
                    raise ValueError(f"a dimension is a number or 'x', not {entry!r}, in the order {tuple(new_order)}")
                order.append("x")
                continue
            axis = int(entry)
            if not -ndim <= axis < ndim:
                raise ValueError(
                    f"new_order[{len(order)}] is {axis}, but the input only has {ndim} axes "
                    f"(order {tuple(new_order)})"
                )
            axis %= ndim
            if axis in order:
                raise ValueError(f"dimension {axis} may not appear twice in the order {tuple(new_order)}")
            order.append(axis)
        self.new_order = tuple(order)
        self.shuffle = [d for d in order if d != "x"]
        self.augment = [i for i, d in enumerate(order) if d == "x"]
        self.drop = [i for i in range(ndim) if i not in order]
        for axis in self.drop:
            if not self.input_broadcastable[axis]:
                raise ValueError(
                    f"You cannot drop a non-broadcastable dimension: {axis} of the pattern {self.input_broadcastable} "
                    f"in the order {self.new_order}. If its length is always 1, say so with T.addbroadcast(x, {axis})."
                )
        self.is_transpose = self.shuffle != sorted(self.shuffle)
        if inplace:
            self.view_map = {0: [0]}

    @classmethod
    def instance_key(
        cls, input_broadcastable: Sequence[bool], new_order: Sequence[int | str], inplace: bool = True
    ) -> Hashable:
        """Return a cheap key that distinguishes these ops, if there can be one."""
        order = tuple(new_order)
        if any(type(entry) is not int and entry != "x" for entry in order):
            return None
        return tuple(map(bool, input_broadcastable)), order, bool(inplace)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles may have copies in the graphs of users, where there are views now.
        inplace = state["inplace"] if "is_transpose" in state else True
        DimShuffle.__init__(self, state["input_broadcastable"], state["new_order"], inplace)

    def __str__(self) -> str:
        return f"{'Inplace' if self.inplace else ''}DimShuffle{{{','.join(map(str, self.new_order))}}}"

    def make_node(self, x: Any) -> Apply:
        """Return the node for a tensor of the op's pattern."""
        x = as_tensor_variable(x)
        pattern = x.type.broadcastable
        if pattern != self.input_broadcastable:
            fits = len(pattern) == len(self.input_broadcastable) and all(
                theirs or not ours for ours, theirs in zip(self.input_broadcastable, pattern, strict=True)
            )
            if not fits:
                raise TypeError(
                    f"{self} is made for an input of broadcast pattern {self.input_broadcastable}, "
                    f"but {x} has {pattern} ({len(pattern)} dimensions)"
                )
        out = [True if d == "x" else pattern[d] for d in self.new_order]
        return Apply(self, [x], [TensorType(x.type.dtype, out).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Make the view."""
        (x,) = inputs
        for axis in self.drop:
            if x.shape[axis] != 1:
                raise shape_error(
                    node, inputs, f"dimension {axis} is dropped, but has length {x.shape[axis]}.",
                    "Only dimensions of length 1 can go; sum over it or index it instead.",
                )
        kept = x.transpose(self.shuffle + self.drop).reshape  # the dropped ones, of length 1, come last
        shape = [1 if d == "x" else x.shape[d] for d in self.new_order]
        out = kept(shape) if self.drop else _with_new_axes(x.transpose(self.shuffle), self.augment)
        output_storage[0][0] = out if self.inplace else np.array(out)

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[Shape]:
        """Return the reordered lengths."""
        one = as_tensor_variable(np.int64(1))
        return [tuple(one if d == "x" else shapes[0][d] for d in self.new_order)]

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the value of the input."""
        return ask(node.inputs[0])

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient with its dimensions put back."""
        (x,), (g,) = inputs, output_grads
        back: list[int | str] = ["x"] * x.type.ndim
        for i, d in enumerate(self.new_order):
            if isinstance(d, int):
                back[d] = i
        g = as_tensor_variable(g)
        # A gradient may know less than the output did about lengths of 1.
        g = patternbroadcast(g, [d == "x" or x.type.broadcastable[d] for d in self.new_order])
        return [DimShuffle(g.type.broadcastable, back)(g)]


def _with_new_axes(x: np.ndarray, where: Sequence[int]) -> np.ndarray:
    index: list[Any] = [slice(None)] * (x.ndim + len(where))
    for i in where:
        index[i] = None
    return x[(*index, ...)]  # an array even without axes
