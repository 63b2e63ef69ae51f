"""What the ops on lists share: their operands, and how they change a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.graph import Apply, Op, Type, Variable
from theano.tensor.convert import as_tensor_variable
from theano.tensor.type import TensorType
from theano.typed_list.type import TypedListType


def as_list(op: Op, x: Any) -> Any:
    """Return the first operand of an op, which must be a list."""
    if not isinstance(x, Variable) or not isinstance(x.type, TypedListType):
        what = f"{x} of type {x.type}" if isinstance(x, Variable) else repr(x)
        raise TypeError(f"{op}: the first operand must be a list, a variable of a TypedListType, not {what}")
    return x


def as_item(op: Op, x: Any, item: Any) -> Any:
    """Return what is to be an item of a list as a variable of their type."""
    try:
        return x.type.ttype.filter_variable(item)
    except TypeError as error:
        raise TypeError(f"{op}: the item does not fit into {x} of type {x.type}: {error}") from error


def as_place(op: Op, index: Any) -> Any:
    """Return a place in a list as a whole number without dimensions."""
    if not isinstance(index, Variable):
        index = as_tensor_variable(np.asarray(index) if isinstance(index, bool) else index)
    kind = index.type
    if not isinstance(kind, TensorType) or kind.ndim or kind.numpy_dtype.kind not in "iu":
        raise TypeError(f"{op}: the index must be a whole number or a slice, not {index} of type {kind}")
    return index


class ListOp(Op):
    """An op whose first input is a list; its other inputs are no numbers to be differentiated unless it says so."""

    __props__: tuple[str, ...] = ()

    def __str__(self) -> str:
        return type(self).__name__


class Changer(ListOp):
    """An op that returns a list changed: another list, or with ``inplace`` the same one.

    Parameters
    ----------
    inplace : bool
        Change the list itself. Rules set it; who does so in a program says ``accept_inplace=True``.
    """

    __props__ = ("inplace",)

    #: The inputs whose items, or which themselves, become items of the result.
    taken: list[int] = []

    def __init__(self, inplace: bool = False):
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}
        viewed = [*([] if self.inplace else [0]), *self.taken]
        if viewed:
            self.view_map = {0: viewed}

    def __str__(self) -> str:
        return type(self).__name__ + ("{inplace}" if self.inplace else "")

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Change the list, or a copy of it."""
        items = inputs[0] if self.inplace else list(inputs[0])
        self.change(node, items, *inputs[1:])
        output_storage[0][0] = items

    def change(self, node: Apply, items: list[Any], *others: Any) -> None:
        """Change a Python list."""
        raise NotImplementedError(f"{type(self).__name__} does not define change")


def first_equal(kind: Type, items: list[Any], wanted: Any) -> int | None:
    """Return the place of the first item that is equal to a value, in the eyes of its type, or None."""
    return next((i for i, item in enumerate(items) if kind.values_eq(item, wanted)), None)


def missing(op: Op, items: list[Any]) -> ValueError:
    """Return the error of an op that did not find a value."""
    return ValueError(f"{op}: none of the {len(items)} items of the list is equal to the value")


def within(op: Op, items: list[Any], index: Any) -> int:
    """Return an index as Python's number, if the list is that long."""
    i = int(index)
    if not -len(items) <= i < len(items):
        raise IndexError(f"{op}: index {i} is out of bounds for a list of length {len(items)}")
    return i
