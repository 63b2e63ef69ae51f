"""Parts that arrays of whole numbers and masks select, read and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.extensions import Single
from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Op, Variable
from theano.scalar.casting import astype
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import as_tensor_variable, gradient_dtype, is_tensor, static_int
from theano.tensor.create.alloc import alloc
from theano.tensor.create.arange import ARange, arange
from theano.tensor.elemwise.functions import cast, eq, neq, switch
from theano.tensor.index.basic import sum_to_pattern
from theano.tensor.index.lengths import adv_index_broadcastable_pattern, advanced_shape, is_mask
from theano.tensor.messages import broadcast_input, describe
from theano.tensor.shape.reshape import reshape
from theano.tensor.type import TensorApply, TensorType
from theano.tensor.type_other import as_index_variable

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.tensor.annotations import Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class AdvancedBooleanIndexingError(TypeError):
    """An index holds a mask."""


# -- what an index says about the result ---------------------------------------------------------------


def _out_of_bounds(node: TensorApply, inputs: Sequence[np.ndarray], exc: Exception) -> IndexError:
    lines = [describe(v, np.shape(a)) for v, a in zip(node.inputs, inputs, strict=True) if is_tensor(v)]
    return IndexError("\n".join([f"{node.op}: {exc}", *lines[:5]]))


# -- along the first axis ----------------------------------------------------------------------------------


#: From a matrix, a gradient of some of its rows and their places to the gradient of the matrix, a sparse one.
sparse_gradient: Single[Callable[[Any, Any, Any], Any]] = Single(
    "tensor.index.advanced.sparse_gradient", "what is sparse"
)


class AdvancedSubtensor1(Op):
    """The rows of a tensor that a vector of whole numbers names: a copy.

    Parameters
    ----------
    sparse_grad : bool
        Whether the gradient of a matrix is a sparse one, where a layer that has such is loaded.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AdvancedSubtensor1()(T.constant([5, 6, 7]), [2, 0, 2]).eval()
    array([7, 5, 7])
    """

    __props__: tuple[str, ...] = ("sparse_grad",)
    linear_in = (0,)
    shapes = "iA,j->jA"

    def __init__(self, sparse_grad: bool = False):
        self.sparse_grad = sparse_grad

    def __str__(self) -> str:
        return type(self).__name__

    def make_node(self, x: TensorLike, ilist: Any) -> Apply:
        """Return the node for a tensor and the places.

        Parameters
        ----------
        x : tensor of 1 dimension or more
            The tensor.
        ilist : vector of int
            The places along the first axis.

        Returns
        -------
        TensorVariable
            A row for each place.

        Raises
        ------
        TypeError
            ``x`` has no dimensions, or ``ilist`` is no vector of whole numbers.
        """
        x, ilist = as_tensor_variable(x), as_tensor_variable(ilist)
        if ilist.type.dtype not in scal.integer_dtypes or ilist.type.ndim != 1:
            raise TypeError(f"index must be a vector of whole numbers, not {ilist} of type {ilist.type}")
        if x.type.ndim == 0:
            raise TypeError(f"cannot index into a scalar: {x}")
        pattern = (ilist.type.broadcastable[0], *x.type.broadcastable[1:])
        return Apply(self, [x, ilist], [TensorType(x.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Take the rows with NumPy."""
        x, places = inputs
        try:
            output_storage[0][0] = x.take(places.astype("int64", copy=False), axis=0)
        except IndexError as exc:
            raise _out_of_bounds(node, inputs, exc) from None

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the places have no influence in the sense of derivatives."""
        return [[True], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros with the gradient added at the rows that were read."""
        (x, places), (g,) = inputs, output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype)), DisconnectedType()()]
        if self.sparse_grad and sparse_gradient.answer is not None:
            if x.type.ndim != 2:
                raise TypeError(f"only the gradient of a matrix can be sparse, but {x} has {x.type.ndim} dimensions")
            return [sparse_gradient.answer(x, g, places), DisconnectedType()()]
        return [advanced_inc_subtensor1(x.zeros_like(dtype=g.type.dtype), g, places), DisconnectedType()()]


def _are_distinct(index: Sequence[Variable]) -> bool:
    """Return whether an index is known to name no element twice; an array beside others may be stretched."""
    arrays = [entry for entry in index if is_tensor(entry)]
    found = arrays[0].owner if arrays else None
    if found is not None and isinstance(found.op, Nonzero) and {*arrays} == {*found.outputs}:
        return True
    if len({*arrays}) == 1:
        return is_mask(arrays[0]) or _holds_different(arrays[0])
    vectors = all(entry.type.ndim == 1 and not is_mask(entry) for entry in arrays)
    return vectors and any(isinstance(a, Constant) and a.data.size > 1 and _holds_different(a) for a in arrays)


def _holds_different(places: Tensor) -> bool:
    """Return whether places are known to differ, all counted from the same end."""
    if isinstance(places, Constant):
        negative = places.data < 0
        return bool(len(np.unique(places.data)) == places.data.size and negative.all() == negative.any())
    if places.owner is None or not isinstance(places.owner.op, ARange):
        return False
    start, _, step = places.owner.inputs
    return (static_int(start) or 0) >= 0 and static_int(start) is not None and (static_int(step) or 0) > 0


class _AdvancedWrite(Op):
    """What the writing ops share."""

    __props__: tuple[str, ...] = ("inplace", "set_instead_of_inc")
    shapes = "A->A"

    def __init__(self, inplace: bool = False, set_instead_of_inc: bool = False):
        self.inplace = bool(inplace)
        self.set_instead_of_inc = bool(set_instead_of_inc)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        place = "inplace" if self.inplace else "no_inplace"
        return f"{type(self).__name__}{{{place},{'set' if self.set_instead_of_inc else 'inc'}}}"

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the index has no influence in the sense of derivatives."""
        return [[True], [True], *([[False]] * (len(node.inputs) - 2))]

    def checked_inputs(self, node: TensorApply) -> Sequence[int] | None:
        """Return the arrays of places, which may be out of bounds; masks ask for memory that depends on them."""
        return None if any(map(is_mask, node.inputs[2:])) else range(2, len(node.inputs))

    def _write(self, node: TensorApply, inputs: Sequence[Any], index: Any) -> np.ndarray:
        x = inputs[0]
        out = x if self.inplace else x.copy()
        try:
            # Only its shape is wanted: a part of something that has no elements in memory.
            part = np.broadcast_to(np.empty((), bool), x.shape)[index].shape
        except IndexError as exc:
            raise _out_of_bounds(node, inputs, exc) from None
        with np.errstate(**NUMPY_ERRORS):
            y = astype(broadcast_input(node, inputs, 1, part), out.dtype, copy=False)
            if self.set_instead_of_inc:
                out[index] = y
            else:
                np.add.at(out, index, y)
        return out

    def _check_rank(self, x: Tensor, y: Tensor, ndim: int) -> None:
        if y.type.ndim > ndim:
            raise TypeError(
                f"cannot {'set' if self.set_instead_of_inc else 'increment'} a {ndim}-dimensional subtensor with a "
                f"{y.type.ndim}-dimensional value:\n{describe(x)}\n{describe(y)}"
            )

    def _grads(self, inputs: Sequence[Any], g: Any, read: Any) -> list[Any]:
        """Return gradients given ``read``, the op that reads the part which this one writes."""
        x, y, *index = inputs
        rest = [DisconnectedType()() for _ in index]
        if x.type.dtype in scal.discrete_dtypes:
            zeros = [v.zeros_like(dtype=gradient_dtype(v.type.dtype)) for v in (x, y)]
            return [*zeros, *rest]
        gx = g
        if self.set_instead_of_inc:
            gx = type(self)(set_instead_of_inc=True)(g, as_tensor_variable(np.zeros((), dtype=g.type.dtype)), *index)
        if y.type.dtype in scal.discrete_dtypes:
            gy = y.zeros_like(dtype=gradient_dtype(y.type.dtype))
        else:
            gy = read(g, *index)
            if self.set_instead_of_inc and not _are_distinct(index):
                gy = switch(self._is_last(x, gy, read, index), gy, gy.zeros_like())
            gy = sum_to_pattern(gy, y)
        return [gx, gy, *rest]

    def _is_last(self, x: Any, part: Tensor, read: BaseAdvancedSubtensor, index: Sequence[Variable]) -> Variable:
        """Return for each element that is written whether it stays: of those written to one place the last one does."""
        number = reshape(arange(part.size), part.shape, ndim=part.type.ndim)
        numbers = alloc(np.int64(0), *[x.shape[i] for i in range(x.type.ndim)])
        return eq(read(type(self)(set_instead_of_inc=True)(numbers, number, *index), *index), number)

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction of the tensor, with that of the part written in."""
        x, y, *index = inputs
        dx, dy = eval_points[:2]
        if dx is None and dy is None:
            return [None]
        dx = x.zeros_like() if dx is None else dx
        dy = y.zeros_like() if dy is None else dy
        return [type(self)(set_instead_of_inc=self.set_instead_of_inc)(dx, dy, *index)]


class AdvancedIncSubtensor1(_AdvancedWrite):
    """A tensor with rows increased by, or set to, others; a row that is named twice is increased twice.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AdvancedIncSubtensor1()(T.zeros(3), [1.0, 2.0, 4.0], [2, 0, 2]).eval()
    array([2., 0., 5.])
    """

    __props__ = ("inplace", "set_instead_of_inc")

    def clone_inplace(self) -> AdvancedIncSubtensor1:
        """Return the same op, writing into the tensor itself."""
        return type(self)(inplace=True, set_instead_of_inc=self.set_instead_of_inc)

    def make_node(self, x: TensorLike, y: Any, ilist: TensorLike) -> Apply:
        """Return the node for a tensor, the rows written and their places.

        Parameters
        ----------
        x : tensor of 1 dimension or more
            What is changed: a copy, unless the op works in place.
        y : tensor
            What is added or written: a row for each place, or one for all.
        ilist : vector of int
            The places along the first axis.

        Returns
        -------
        TensorVariable
            Of the type of ``x``.

        Raises
        ------
        TypeError
            ``x`` has no dimensions, or ``ilist`` is no vector of whole numbers.
        """
        x, y, ilist = as_tensor_variable(x), as_tensor_variable(y), as_tensor_variable(ilist)
        if ilist.type.dtype not in scal.integer_dtypes or ilist.type.ndim != 1:
            raise TypeError(f"index must be a vector of whole numbers, not {ilist} of type {ilist.type}")
        if x.type.ndim == 0:
            raise TypeError(f"cannot index into a scalar: {x}")
        self._check_rank(x, y, x.type.ndim)
        return Apply(self, [x, y, ilist], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Write the rows with NumPy."""
        output_storage[0][0] = self._write(node, inputs, inputs[2].astype("int64", copy=False))

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient (without the rows, where they were set) and its rows."""
        return self._grads(inputs, output_grads[0], advanced_subtensor1)

    def _is_last(self, x: Any, part: Tensor, read: Any, index: Sequence[Any]) -> Variable:
        """Return for each row that is written whether it stays, without counting its elements."""
        number = arange(index[0].shape[0])
        numbers = self.make_node(alloc(np.int64(0), x.shape[0]), number, *index).outputs[0]
        return eq(read(numbers, *index), number).dimshuffle(0, *["x"] * (x.type.ndim - 1))


# -- in general -------------------------------------------------------------------------------------------------


class BaseAdvancedSubtensor(Op):
    """Base of the ops that read with NumPy's full indexing.

    Examples
    --------
    >>> import theano.tensor as T
    >>> isinstance(T.advanced_subtensor, BaseAdvancedSubtensor)
    True
    """

    __props__: tuple[str, ...] = ()
    linear_in = (0,)

    def __str__(self) -> str:
        return type(self).__name__

    def make_node(self, x: TensorLike, *index: Any) -> Apply:
        """Return the node for a tensor and the entries of the index.

        Parameters
        ----------
        x : tensor
            The tensor.
        *index : tensor, slice or None
            An entry for each dimension: whole numbers, a mask of booleans, a slice, or None for a new dimension.

        Returns
        -------
        TensorVariable
            ``x[index]``, a copy.
        """
        x = as_tensor_variable(x)
        entries = [as_index_variable(i) for i in index]
        pattern = adv_index_broadcastable_pattern(x, entries)
        return Apply(self, [x, *entries], [TensorType(x.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Index with NumPy."""
        try:
            out = inputs[0][tuple(inputs[1:])]
        except IndexError as exc:
            raise _out_of_bounds(node, inputs, exc) from None
        output_storage[0][0] = np.array(out) if np.may_share_memory(out, inputs[0]) else np.asarray(out)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths that NumPy's rules give."""
        return [advanced_shape(node.inputs[0], node.inputs[1:], shapes[0])]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the index has no influence in the sense of derivatives."""
        return [[True], *([[False]] * (len(node.inputs) - 1))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros with the gradient added at the elements that were read."""
        x, *index = inputs
        (g,) = output_grads
        rest = [DisconnectedType()() for _ in index]
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype)), *rest]
        write = advanced_boolean_inc_subtensor if any(map(is_mask, index)) else advanced_inc_subtensor
        return [write(x.zeros_like(dtype=g.type.dtype), g, *index), *rest]


class AdvancedSubtensor(BaseAdvancedSubtensor):
    """Elements that arrays of whole numbers, slices and None select together, by NumPy's rules.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AdvancedSubtensor()(T.constant([[1, 2], [3, 4]]), [0, 1], [1, 0]).eval()
    array([2, 3])
    """

    __props__ = ()


class AdvancedBooleanSubtensor(BaseAdvancedSubtensor):
    """Elements that masks (and arrays, slices, None) select, by NumPy's rules.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AdvancedBooleanSubtensor()(T.constant([1, 2, 3]), [True, False, True]).eval()
    array([1, 3])
    """

    __props__ = ()


class BaseAdvancedIncSubtensor(_AdvancedWrite):
    """Base of the ops that write with NumPy's full indexing.

    Examples
    --------
    >>> import theano.tensor as T
    >>> isinstance(T.advanced_set_subtensor, BaseAdvancedIncSubtensor)
    True
    """

    __props__ = ("inplace", "set_instead_of_inc")

    def make_node(self, x: TensorLike, y: Any, *index: Variable | slice | Sequence[int]) -> Apply:
        """Return the node for a tensor, what is written, and the entries of the index.

        Parameters
        ----------
        x : tensor
            What is changed: a copy, unless the op works in place.
        y : tensor
            What is added or written; it broadcasts to ``x[index]``.
        *index : tensor, slice or None
            An entry for each dimension: whole numbers, a mask of booleans, a slice, or None for a new dimension.

        Returns
        -------
        TensorVariable
            Of the type of ``x``.
        """
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        entries = [as_index_variable(i) for i in index]
        self._check_rank(x, y, len(adv_index_broadcastable_pattern(x, entries)))
        return Apply(self, [x, y, *entries], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Write with NumPy."""
        output_storage[0][0] = self._write(node, inputs, tuple(inputs[2:]))

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient (without the elements, where they were set) and those elements of it."""
        read = advanced_boolean_subtensor if any(map(is_mask, inputs[2:])) else advanced_subtensor
        return self._grads(inputs, output_grads[0], read)


class AdvancedIncSubtensor(BaseAdvancedIncSubtensor):
    """A tensor with elements increased or set that arrays, slices and None select together.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AdvancedIncSubtensor()(T.zeros((2, 2)), 5.0, [0, 0], [1, 1]).eval()
    array([[ 0., 10.],
           [ 0.,  0.]])
    """

    __props__ = ("inplace", "set_instead_of_inc")


class AdvancedBooleanIncSubtensor(BaseAdvancedIncSubtensor):
    """A tensor with elements increased or set that masks (and arrays, slices, None) select.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AdvancedBooleanIncSubtensor()(T.ones(3), 5.0, [True, False, True]).eval()
    array([6., 1., 6.])
    """

    __props__ = ("inplace", "set_instead_of_inc")


advanced_subtensor1 = AdvancedSubtensor1()
advanced_inc_subtensor1 = AdvancedIncSubtensor1()
advanced_set_subtensor1 = AdvancedIncSubtensor1(set_instead_of_inc=True)
advanced_subtensor = AdvancedSubtensor()
advanced_boolean_subtensor = AdvancedBooleanSubtensor()
advanced_inc_subtensor = AdvancedIncSubtensor()
advanced_set_subtensor = AdvancedIncSubtensor(set_instead_of_inc=True)
advanced_boolean_inc_subtensor = AdvancedBooleanIncSubtensor()
advanced_boolean_set_subtensor = AdvancedBooleanIncSubtensor(set_instead_of_inc=True)


class Nonzero(Op):
    """The places of the elements that are not 0: one vector for each axis.

    Examples
    --------
    >>> import theano.tensor as T
    >>> places = Nonzero()(T.constant([0, 3, 0, 4]))
    >>> places.eval()
    array([1, 3])
    """

    __props__ = ()

    def make_node(self, a: TensorLike) -> Apply:
        a = as_tensor_variable(a)
        if a.type.ndim == 0:
            raise ValueError(f"Nonzero only supports non-scalar arrays, but {a} has no dimension")
        return Apply(self, [a], [TensorType("int64", (False,)).make_variable() for _ in range(a.type.ndim)])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Search with NumPy."""
        found = np.nonzero(inputs[0])
        if node.outputs[0].type.ndim == 2:  # as pickles may have it: the vectors in a matrix
            output_storage[0][0] = np.array(found, dtype="int64")
            return
        for cell, places in zip(output_storage, found, strict=True):
            cell[0] = places.astype("int64", copy=False)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return how many elements are not 0."""
        count = cast(neq(node.inputs[0], 0), "int64").sum()
        ndim = node.inputs[0].type.ndim
        return [(count,) if v.type.ndim == 1 else (ndim, count) for v in node.outputs]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zero: places jump."""
        (a,) = inputs
        return [a.zeros_like(dtype=gradient_dtype(a.type.dtype))]
