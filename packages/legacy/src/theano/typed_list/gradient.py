"""The ops that gradients of lists are made of. The gradient with respect to a list is a list of those of its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.gradient import disconnected_type
from theano.gradient.absent import is_discrete
from theano.graph import Apply, Type, Variable
from theano.settings import config
from theano.typed_list.op import Changer, ListOp, within
from theano.typed_list.type import TypedListType


def gradient_type(kind: Type) -> Type:
    """Return the type of the gradient with respect to a value: for whole numbers one of `floatX`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> gradient_type(TypedListType(T.lvector))
    TypedList <TensorType(float64, vector)>
    """
    if isinstance(kind, TypedListType):
        return TypedListType(gradient_type(kind.ttype))
    return kind.clone(dtype=config.floatX) if is_discrete(kind) else kind


class ZerosLike(ListOp):
    """A list of zeros, as many and of the same shapes: the gradient of what does not depend on a list.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.lvector)("l")
    >>> theano.function([l], ZerosLike()(l))([[1, 2], [3]])
    [array([0., 0.]), array([0.])]
    """

    def make_node(self, x: Any) -> Apply:
        """Return the node for a list."""
        return Apply(self, [x], [gradient_type(x.type).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Make the zeros."""
        output_storage[0][0] = _zeros(node.outputs[0].type, inputs[0])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that only the shapes matter."""
        return [[False]]


def _zeros(kind: Any, value: Any) -> Any:
    if isinstance(kind, TypedListType):
        return [_zeros(kind.ttype, item) for item in value]
    return np.zeros(value.shape, kind.dtype) if isinstance(value, np.ndarray) else value * 0


class AddItems(ListOp):
    """The list of the sums of the items of two lists at the same places.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dvector)("l")
    >>> theano.function([l], AddItems()(l, l))([[1, 2], [3]])
    [array([2., 4.]), array([6.])]
    """

    def make_node(self, x: Any, y: Any) -> Apply:
        """Return the node for two lists of one type."""
        if x.type != y.type:
            raise TypeError(f"{self}: both lists must be of one type, not {x.type} and {y.type}")
        return Apply(self, [x, y], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Add."""
        output_storage[0][0] = _sum(node.outputs[0].type, *inputs)

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient, twice."""
        return [output_grads[0], output_grads[0]]


def _sum(kind: Any, a: Any, b: Any) -> Any:
    if isinstance(kind, TypedListType):
        return [_sum(kind.ttype, x, y) for x, y in zip(a, b, strict=True)]
    return kind.filter(np.asarray(a + b) if isinstance(a, np.ndarray) else a + b)


class IncItem(Changer):
    """A list with something added to an item, or to those in a slice.

    Parameters
    ----------
    inplace : bool

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], IncItem()(l, l.ind(2.0), T.constant(5.0)))([1, 2])
    [array(1.), array(7.)]
    """

    def make_node(self, x: Any, index: Any, amount: Any) -> Apply:
        """Return the node for a list, the read item or slice, and what to add there."""
        return Apply(self, [x, index, amount], [x.type.make_variable()])

    def change(self, node: Apply, items: list[Any], *others: Any) -> None:
        """Add; the item in the list is then a new one, so that other references keep the old."""
        index, amount = others
        kind: Any = node.outputs[0].type
        if isinstance(index, slice):
            items[index] = _sum(kind, items[index], amount)
        else:
            i = within(self, items, index)
            items[i] = _sum(kind.ttype, items[i], amount)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the index has no derivative."""
        return [[True], [False], [True]]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient, and what is in it at the place."""
        (g,) = output_grads
        return [g, disconnected_type(), g[inputs[1]]]


def is_one_item(v: Variable) -> bool:
    """Return whether a list is zero but for one item or slice: the gradient of reading it."""
    node: Any = v.owner
    if node is None or not isinstance(node.op, IncItem):
        return False
    before = node.inputs[0].owner
    return before is not None and isinstance(before.op, ZerosLike)
