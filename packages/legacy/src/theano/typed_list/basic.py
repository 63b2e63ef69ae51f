"""Variables that are lists, and the ops on them.

An op that changes a list returns another one with the same items: pointers are copied, arrays never are, since the item
of one list may be that of another (``view_map``). A rule (`theano.typed_list.rules`) lets the list itself be changed
in place if it has no later use. The values of items have derivatives; their number and their positions have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.gradient import disconnected_type
from theano.graph import Apply, Constant, Op, Type, Variable
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise import functions as F
from theano.tensor.type import TensorType
from theano.tensor.type_other import SliceType, as_index_variable
from theano.typed_list.gradient import AddItems, IncItem, ZerosLike, is_one_item
from theano.typed_list.op import Changer, ListOp, as_item, as_list, as_place, first_equal, missing, within
from theano.typed_list.type import TypedListType

#: Of places and lengths.
_NUMBER = TensorType("int64", ())


class _ListOperators:
    """What lists can do, whether their value is known or not."""

    type: TypedListType

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __len__(self) -> Any:
        # Python's len wants a number; who calls the method gets the expression, as in Theano.
        return length(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"whether {self} is empty is not known before a function runs: compare theano.typed_list.length of it"
        )

    def __iter__(self) -> Any:
        raise TypeError(f"how many items {self} has is not known before a function runs, so nothing can go over them")

    def append(self, toAppend: Any) -> Any:
        """Return the list with an item more, the last."""
        return append(self, toAppend)

    def extend(self, toAppend: Any) -> Any:
        """Return the list with the items of another one behind its own."""
        return extend(self, toAppend)

    def insert(self, index: Any, toInsert: Any) -> Any:
        """Return the list with an item more, at a place."""
        return insert(self, index, toInsert)

    def remove(self, toRemove: Any) -> Any:
        """Return the list without the first item that is equal to a value."""
        return remove(self, toRemove)

    def reverse(self) -> Any:
        """Return the list with the last item first."""
        return reverse(self)

    def count(self, elem: Any) -> Any:
        """Return how many items are equal to a value."""
        return count(self, elem)

    def ind(self, elem: Any) -> Any:
        """Return the place of the first item that is equal to a value; ``index`` is that of a variable in its node."""
        return index_(self, elem)

    @property
    def ttype(self) -> Type:
        """The type of the items."""
        return self.type.ttype

    # -- what the gradient asks for ---------------------------------------------------------------------------

    def zeros_like(self, dtype: Any = None) -> Any:
        """Return a list of zeros, as many and of the same shapes."""
        return ZerosLike()(self)

    def plus(self, other: Variable) -> Any:
        """Return the list of the sums of items at the same places."""
        node: Any = other.owner
        return IncItem()(self, *node.inputs[1:]) if is_one_item(other) else AddItems()(self, other)


class TypedListVariable(_ListOperators, Variable[TypedListType]):
    """A list whose value comes later.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l, x = TypedListType(T.dvector)("l"), T.dvector("x")
    >>> theano.function([l, x], l.append(x)[-1] * 2)([[0.0]], [1, 2])
    array([2., 4.])
    """


class TypedListConstant(_ListOperators, Constant[TypedListType]):
    """A list whose value is known."""

    def signature(self) -> Any:
        """Return what is equal for two lists of equal items."""
        return (self.type, self.type.constant_signature(self.data))


TypedListType.Variable = TypedListVariable
TypedListType.Constant = TypedListConstant


# -- reading ----------------------------------------------------------------------------------------------------


class GetItem(ListOp):
    """An item of a list, or the list of those in a slice.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], [GetItem()(l, -1), GetItem()(l, slice(0, 2))])([1, 2, 3])
    [array(3.), [array(1.), array(2.)]]
    """

    view_map = {0: [0]}

    def make_node(self, x: Any, index: Any) -> Apply:
        """Return the node for a list and a whole number or a slice."""
        x = as_list(self, x)
        if isinstance(index, slice):
            index = as_index_variable(index)
        if isinstance(index, Variable) and isinstance(index.type, SliceType):
            return Apply(self, [x, index], [x.type.make_variable()])
        return Apply(self, [x, as_place(self, index)], [x.type.ttype.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Read."""
        items, index = inputs
        if isinstance(index, slice):
            output_storage[0][0] = items[index]
            return
        output_storage[0][0] = items[within(self, items, index)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the index has no derivative."""
        return [[True], [False]]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return zeros except for the read items."""
        x, index = inputs
        return [IncItem()(x.zeros_like(), index, output_grads[0]), disconnected_type()]


class Index(ListOp):
    """The place of the first item that is equal to a value.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], Index()(l, 3.0))([1, 3, 3])
    array(1)
    """

    def make_node(self, x: Any, elem: Any) -> Apply:
        """Return the node for a list and a value of the type of its items."""
        x = as_list(self, x)
        return Apply(self, [x, as_item(self, x, elem)], [_NUMBER.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compare item after item."""
        items, wanted = inputs
        found = first_equal(node.inputs[1].type, items, wanted)
        if found is None:
            raise missing(self, items)
        output_storage[0][0] = np.asarray(found, dtype=np.int64)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the derivative does not exist."""
        return [[False] for _ in node.inputs]


class Count(Index):
    """How many items are equal to a value.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], Count()(l, 3.0))([1, 3, 3])
    array(2)
    """

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compare item after item."""
        items, wanted = inputs
        same = node.inputs[1].type.values_eq
        output_storage[0][0] = np.asarray(sum(same(item, wanted) for item in items), dtype=np.int64)


class Length(ListOp):
    """How many items there are.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], Length()(l))([1, 3, 3])
    array(3)
    """

    is_length = True

    def make_node(self, x: Any) -> Apply:
        """Return the node for a list."""
        return Apply(self, [as_list(self, x)], [_NUMBER.make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Count."""
        output_storage[0][0] = np.asarray(len(inputs[0]), dtype=np.int64)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the derivative does not exist."""
        return [[False]]


# -- changing ---------------------------------------------------------------------------------------------------


class Append(Changer):
    """A list with an item more, the last.

    Parameters
    ----------
    inplace : bool

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], Append()(l, 3.0))([1, 2])
    [array(1.), array(2.), array(3.)]
    """

    taken = [1]

    def make_node(self, x: Any, toAppend: Any) -> Apply:
        """Return the node for a list and a value of the type of its items."""
        x = as_list(self, x)
        return Apply(self, [x, as_item(self, x, toAppend)], [x.type.make_variable()])

    def change(self, node: Apply, items: list[Any], *others: Any) -> None:
        """Append."""
        items.append(others[0])

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return all but the last, and the last."""
        (g,) = output_grads
        return [g[:-1], g[-1]]


class Extend(Changer):
    """A list with the items of another one behind its own.

    Parameters
    ----------
    inplace : bool

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l, m = TypedListType(T.dscalar)("l"), TypedListType(T.dscalar)("m")
    >>> theano.function([l, m], Extend()(l, m))([1], [2, 3])
    [array(1.), array(2.), array(3.)]
    """

    taken = [1]

    def make_node(self, x: Any, toAppend: Any) -> Apply:
        """Return the node for two lists of one type."""
        x, more = as_list(self, x), as_list(self, toAppend)
        if more.type != x.type:
            raise TypeError(f"{self}: both lists must be of one type, not {x.type} and {more.type}")
        return Apply(self, [x, more], [x.type.make_variable()])

    def change(self, node: Apply, items: list[Any], *others: Any) -> None:
        """Put the others behind."""
        items.extend(others[0])

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the front, and the rest."""
        (g,), n = output_grads, length(inputs[0])
        return [g[:n], g[n:]]


class Insert(Changer):
    """A list with an item more, before the one at a place; past either end counts as there, as in Python.

    Parameters
    ----------
    inplace : bool

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], Insert()(l, 1, 3.0))([1, 2])
    [array(1.), array(3.), array(2.)]
    """

    taken = [2]

    def make_node(self, x: Any, index: Any, toInsert: Any) -> Apply:
        """Return the node for a list, a whole number, and a value of the type of the items."""
        x = as_list(self, x)
        return Apply(self, [x, as_place(self, index), as_item(self, x, toInsert)], [x.type.make_variable()])

    def change(self, node: Apply, items: list[Any], *others: Any) -> None:
        """Insert."""
        index, item = others
        items.insert(int(index), item)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the index has no derivative."""
        return [[True], [False], [True]]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the list without what was inserted, and that."""
        (g,), (x, index, _) = output_grads, inputs
        n = length(x)
        place = F.switch(F.lt(index, 0), F.maximum(index + n, 0), F.minimum(index, n))
        return [extend(g[:place], g[place + 1 :]), disconnected_type(), g[place]]


class Remove(Changer):
    """A list without the first item that is equal to a value.

    Parameters
    ----------
    inplace : bool

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], Remove()(l, 3.0))([1, 3, 3])
    [array(1.), array(3.)]
    """

    def make_node(self, x: Any, toRemove: Any) -> Apply:
        """Return the node for a list and a value of the type of its items."""
        x = as_list(self, x)
        return Apply(self, [x, as_item(self, x, toRemove)], [x.type.make_variable()])

    def change(self, node: Apply, items: list[Any], *others: Any) -> None:
        """Remove; by the type's own equality, for that of arrays is no yes or no."""
        found = first_equal(node.inputs[1].type, items, others[0])
        if found is None:
            raise missing(self, items)
        del items[found]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the value only tells which item it is."""
        return [[True], [False]]

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the list with a zero where the item was."""
        x, removed = inputs
        place = index_(x, removed)
        return [insert(output_grads[0], place, x.zeros_like()[place]), disconnected_type()]


class Reverse(Changer):
    """A list with the last item first.

    Parameters
    ----------
    inplace : bool

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> l = TypedListType(T.dscalar)("l")
    >>> theano.function([l], Reverse()(l))([1, 2])
    [array(2.), array(1.)]
    """

    def make_node(self, x: Any) -> Apply:
        """Return the node for a list."""
        x = as_list(self, x)
        return Apply(self, [x], [x.type.make_variable()])

    def change(self, node: Apply, items: list[Any], *others: Any) -> None:
        """Turn the list around."""
        items.reverse()

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Turn the list around again."""
        return [reverse(output_grads[0])]


class MakeList(Op):
    """The list of some variables, which are all of one type.

    Parameters
    ----------
    n : int, optional
        Of how many. Without it the op is called with a list of them, and makes a node of the op that knows.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], MakeList()([x, x * 2]))([1, 2])
    [array([1., 2.]), array([2., 4.])]
    """

    __props__ = ("n",)

    def __init__(self, n: int | None = None):
        self.n = n
        if n:
            self.view_map = {0: list(range(n))}

    def __str__(self) -> str:
        return type(self).__name__

    def make_node(self, *items: Any) -> Apply:
        """Return the node for a list or tuple of variables or values, or with ``n`` for these themselves."""
        if self.n is None:
            (several,) = items
            if not isinstance(several, (list, tuple)) or not several:
                raise TypeError(f"make_list takes a list or tuple of at least one variable or value, not {several!r}")
            return MakeList(len(several)).make_node(*several)
        variables = [_as_variable(v) for v in items]
        kinds = list(dict.fromkeys(v.type for v in variables))
        if len(kinds) > 1:
            raise TypeError(f"make_list: the items must be of one type, not of {', '.join(map(str, kinds))}")
        return Apply(self, variables, [TypedListType(kinds[0]).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Make a list."""
        output_storage[0][0] = list(inputs)

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the items of the gradient."""
        return [output_grads[0][i] for i in range(len(inputs))]


def _as_variable(value: Any) -> Any:
    """Return an item as a variable; a list or tuple that is one is a list itself."""
    if isinstance(value, Variable):
        return value
    return make_list(value) if isinstance(value, (list, tuple)) else as_tensor_variable(value)


# -- functions ----------------------------------------------------------------------------------------------------


def getitem(x: Any, index: Any) -> Any:
    """Return an item of a list, or the list of those in a slice.

    Examples
    --------
    >>> getitem(make_list([1.0, 2.0]), 0).type.ndim, getitem(make_list([1.0, 2.0]), slice(1)).type
    (0, TypedList <TensorType(float32, scalar)>)
    """
    return GetItem()(x, index)


def append(x: Any, toAppend: Any) -> Any:
    """Return a list with an item more, the last.

    Examples
    --------
    >>> [float(item) for item in append(make_list([1.0, 2.0]), 3.0).eval()]
    [1.0, 2.0, 3.0]
    """
    return Append()(x, toAppend)


def extend(x: Any, toAppend: Any) -> Any:
    """Return a list with the items of another one behind its own.

    Examples
    --------
    >>> [float(item) for item in extend(make_list([1.0]), make_list([2.0, 3.0])).eval()]
    [1.0, 2.0, 3.0]
    """
    return Extend()(x, toAppend)


def insert(x: Any, index: Any, toInsert: Any) -> Any:
    """Return a list with an item more, before the one at a place.

    Examples
    --------
    >>> [float(item) for item in insert(make_list([1.0, 2.0]), -1, 3.0).eval()]
    [1.0, 3.0, 2.0]
    """
    return Insert()(x, index, toInsert)


def remove(x: Any, toRemove: Any) -> Any:
    """Return a list without the first item that is equal to a value; there must be one.

    Examples
    --------
    >>> [float(item) for item in remove(make_list([1.0, 2.0]), 1.0).eval()]
    [2.0]
    """
    return Remove()(x, toRemove)


def reverse(x: Any) -> Any:
    """Return a list with the last item first.

    Examples
    --------
    >>> [float(item) for item in reverse(make_list([1.0, 2.0])).eval()]
    [2.0, 1.0]
    """
    return Reverse()(x)


def index_(x: Any, elem: Any) -> Any:
    """Return the place of the first item that is equal to a value; there must be one.

    Examples
    --------
    >>> index_(make_list([1.0, 2.0]), 2.0).eval()
    array(1)
    """
    return Index()(x, elem)


def count(x: Any, elem: Any) -> Any:
    """Return how many items are equal to a value.

    Examples
    --------
    >>> count(make_list([1.0, 2.0]), 5.0).eval()
    array(0)
    """
    return Count()(x, elem)


def length(x: Any) -> Any:
    """Return how many items a list has.

    Examples
    --------
    >>> length(make_list([1.0, 2.0])).eval()
    array(2)
    """
    return Length()(x)


def make_list(a: Any) -> Any:
    """Return the list of some variables or values, which are all of one type.

    Parameters
    ----------
    a : list or tuple
        Lists and tuples in it are lists themselves.

    Raises
    ------
    TypeError
        The list is empty, or its items are of several types.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dscalars("x", "y")
    >>> make_list([x, y]).type, make_list([[x], [x, y]]).eval({x: 1, y: 2})
    (TypedList <TensorType(float64, scalar)>, [[array(1.)], [array(1.), array(2.)]])
    """
    return MakeList()(a)
