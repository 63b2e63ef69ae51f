"""Subtensor and IncSubtensor: parts that whole numbers and slices select, read and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Op, Variable
from theano.scalar.casting import astype
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import (
    as_tensor_variable,
    gradient_dtype,
    is_tensor,
    length_if_known,
    static_element,
    static_int,
)
from theano.tensor.index.lengths import keeps_one, slice_length
from theano.tensor.messages import broadcast_input, describe
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.scalar.annotations import Number
    from theano.scalar.type import Scalar
    from theano.tensor.annotations import Directions, Shape, TensorLike, Tensors
    from theano.tensor.type import Tensor


class AdvancedIndexingError(TypeError):
    """An index needs more than whole numbers and slices."""


def entry_type(entry: Any) -> slice | Scalar:
    """Return one entry of an index as it stands in an op: the type of a number, or a slice of types and None.

    Raises
    ------
    AdvancedIndexingError
        The entry is an array, a list or a mask.
    """
    if isinstance(entry, slice):
        return slice(*[None if n is None else entry_type(n) for n in (entry.start, entry.stop, entry.step)])
    if isinstance(entry, Variable):
        if isinstance(entry.type, scal.Scalar) or is_tensor(entry) and entry.type.ndim == 0:
            entry = entry.type
        else:
            raise AdvancedIndexingError(f"{entry} of type {entry.type} is no single whole number")
    if isinstance(entry, (TensorType, scal.Scalar)):
        if entry.dtype not in scal.integer_dtypes:
            raise TypeError(f"an index must be a whole number, not one of dtype {entry.dtype}")
        if entry.ndim:
            raise AdvancedIndexingError(f"an index of type {entry} is no single whole number")
        return scal.get_scalar_type(entry.dtype)
    if isinstance(entry, (bool, np.bool_)):
        raise AdvancedIndexingError("True and False are masks")
    if isinstance(entry, (int, np.integer)):
        return scal.get_scalar_type("int64")
    raise AdvancedIndexingError(f"{entry!r} is no whole number and no slice")


def entry_variables(idx_list: Sequence[Any]) -> list[Variable]:
    """Return the numbers of an index, in order, as scalar variables: the further inputs of the node."""
    found: list[Variable] = []
    for entry in idx_list:
        parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
        for part in parts:
            if part is None:
                continue
            if isinstance(part, (int, np.integer)):
                found.append(scal.get_scalar_type("int64").make_constant(int(part)))
            else:
                found.append(scal.as_scalar(part))
    return found


def fill_entries(
    idx_list: Sequence[object], values: Sequence[Any], of: Callable[[Any], Any] = lambda v: v
) -> list[Any]:
    """Return the index of an op with values in place of the types.

    Parameters
    ----------
    idx_list : sequence
        Of an op.
    values : sequence
        The further inputs, or their values.
    of : callable
        Applied to each.
    """
    rest = iter(values)
    result: list[Any] = []
    for entry in idx_list:
        if isinstance(entry, slice):
            parts = (entry.start, entry.stop, entry.step)
            result.append(slice(*[None if part is None else of(next(rest)) for part in parts]))
        else:
            result.append(of(next(rest)))
    return result


def get_idx_list(inputs: Sequence[Variable | int], idx_list: Sequence[slice | Scalar], get_count: bool = False) -> Any:
    """Return the index of a Subtensor node, its variables put in, and (on request) how many there are.

    Parameters
    ----------
    inputs : sequence of Variable
        The inputs of the node: the tensor, then the variables of the index.
    idx_list : sequence
        The index, with a type in the place of each variable.
    get_count : bool
        Return how many inputs the index takes, too.

    Returns
    -------
    tuple
        The index; with ``get_count``, the index and a number.

    Examples
    --------
    >>> import theano.tensor as T
    >>> get_idx_list([T.dvector("x"), 3], [T.scal.int64])
    (3,)
    """
    values = list(inputs[1:])
    filled = tuple(fill_entries(idx_list, values))
    return (filled, len(values)) if get_count else filled


def _entry_text(entry: slice | Scalar) -> str:
    if isinstance(entry, slice):
        return ":".join("" if n is None else str(n) for n in (entry.start, entry.stop, entry.step))
    return str(entry)


def _hashable(idx_list: Sequence[slice | Scalar]) -> tuple[Any, ...]:
    return tuple((slice, e.start, e.stop, e.step) if isinstance(e, slice) else e for e in idx_list)


class _Indexed(Op):
    """What reading and writing share: the index, with types where the numbers go."""

    idx_list: tuple[Any, ...]

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._set_index(self.idx_list)  # pickles may have a list of types alone

    def _set_index(self, idx_list: Sequence[Any]) -> None:
        self.idx_list = tuple(entry_type(e) for e in idx_list)
        self.index_key = _hashable(self.idx_list)

    def _check_rank(self, x: Tensor) -> None:
        if len(self.idx_list) > x.type.ndim:
            raise IndexError(
                f"too many indices for array: {x} has {x.type.ndim} dimensions, but {len(self.idx_list)} are indexed"
            )

    def _check_numbers(self, numbers: Sequence[Number | np.generic]) -> list[Variable]:
        wanted = []
        for entry in self.idx_list:
            parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
            wanted += [t for t in parts if t is not None]
        given = [scal.as_scalar(n) for n in numbers]
        if len(given) != len(wanted):
            raise IndexError(f"{self} needs {len(wanted)} whole numbers, got {len(given)}")
        for n, t in zip(given, wanted, strict=True):
            if n.type != t:
                raise TypeError(f"{self}: wrong type for an index: expected {t}, but {n} is {n.type}")
        return given

    def index_text(self) -> str:
        """Return the index as printed graphs show it."""
        return ", ".join(map(_entry_text, self.idx_list))

    def _select(self, node: TensorApply, inputs: Sequence[Any], x: np.ndarray, numbers: Sequence[np.generic]) -> Any:
        """Return the part of an array; name axis and length if a number is out of range."""
        index = fill_entries(self.idx_list, numbers, int)
        for axis, entry in enumerate(index):
            if isinstance(entry, int) and not -x.shape[axis] <= entry < x.shape[axis]:
                where = "\n".join(describe(v, np.shape(a)) for v, a in zip(node.inputs[:1], inputs[:1], strict=True))
                raise IndexError(
                    f"{self}: index {entry} is out of bounds for axis {axis}, of length {x.shape[axis]}:\n{where}"
                )
        return x[tuple(index)]


class Subtensor(_Indexed):
    """A part of a tensor, selected by whole numbers and slices: a view.

    Parameters
    ----------
    idx_list : sequence of Scalar type, or slice of these and None
        The index, with types where numbers go; the numbers are further inputs of the node.

    Examples
    --------
    >>> import theano.tensor as T
    >>> m, i = T.dmatrix("m"), T.lscalar("i")
    >>> m[i].owner.op, m[:, 1:3].owner.op, m[::-1].type
    (Subtensor{int64}, Subtensor{::, int64:int64:}, TensorType(float64, matrix))
    """

    __props__ = ("index_key",)
    view_map = {0: [0]}
    linear_in = (0,)

    def __init__(self, idx_list: Sequence[Any]):
        self._set_index(idx_list)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.index_text()}}}"

    @staticmethod
    def collapse(idxs: Sequence[slice | Scalar], cond: Callable[[Any], bool]) -> list[Scalar]:
        """Return the parts of an index that satisfy ``cond``, in order."""
        found = []
        for entry in idxs:
            for part in (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,):
                if part is not None and cond(part):
                    found.append(part)
        return found

    convert = staticmethod(entry_type)

    def make_node(self, x: TensorLike, *inputs: Number | np.generic) -> Apply:
        """Return the node for a tensor and the numbers of the index."""
        x = as_tensor_variable(x)
        self._check_rank(x)
        numbers = self._check_numbers(inputs)
        pattern = []
        filled = fill_entries(self.idx_list, numbers)
        for known_one, entry in zip(x.type.broadcastable, filled, strict=False):
            if isinstance(entry, slice):
                pattern.append(known_one and keeps_one(entry))
        pattern += x.type.broadcastable[len(filled) :]
        return Apply(self, [x, *numbers], [TensorType(x.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Index the array."""
        output_storage[0][0] = np.asarray(self._select(node, inputs, inputs[0], inputs[1:]))

    def infer_shape(self, node: TensorApply, shapes: Sequence[Sequence[Tensor]]) -> list[Shape | None]:
        """Return the lengths of the slices and of the axes that are not indexed."""
        filled = fill_entries(self.idx_list, node.inputs[1:])
        lengths = []
        for axis, (n, entry) in enumerate(zip(shapes[0], filled, strict=False)):
            if not isinstance(entry, slice):
                continue
            kept = sum(1 for e in filled[:axis] if isinstance(e, slice))
            one = node.outputs[0].type.broadcastable[kept]
            lengths.append(as_tensor_variable(np.int64(1)) if one else slice_length(entry, n))
        return [tuple(lengths) + tuple(shapes[0][len(filled) :])]

    def static_value(self, node: TensorApply, index: int, ask: Any) -> Value:
        """Return an element of a constant, of a vector made of scalars, or of a shape."""
        x: Any = node.inputs[0]
        if node.outputs[0].type.ndim == 0 and len(self.idx_list) == x.type.ndim == 1:
            k = static_int(node.inputs[1])
            if k is not None:
                return static_element(x, k, ask)
        if isinstance(x, Constant):
            numbers = [static_int(n) for n in node.inputs[1:]]
            if None not in numbers:
                part = x.data[tuple(fill_entries(self.idx_list, numbers))]
                if part.size and np.all(part == part.reshape(-1)[0]):
                    return part.reshape(-1)[0]
            return None
        return ask(x)

    def static_length(self, node: TensorApply, index: int) -> int | None:
        """Return the length where it is that of a known slice of a vector of known length."""
        x: Tensor = node.inputs[0]
        n = length_if_known(x) if len(self.idx_list) == 1 else None
        if n is None:
            return None
        (entry,) = fill_entries(self.idx_list, node.inputs[1:])
        return static_int(slice_length(entry, as_tensor_variable(np.int64(n))))

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only the tensor has an influence in the sense of derivatives."""
        return [[True], *([[False]] * (len(node.inputs) - 1))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros with the gradient put at the part that was read."""
        x, *numbers = inputs
        (g,) = output_grads
        if x.type.dtype in scal.discrete_dtypes:
            first = x.zeros_like(dtype=gradient_dtype(x.type.dtype))
        else:
            first = IncSubtensor(self.idx_list)(x.zeros_like(dtype=g.type.dtype), g, *numbers)
        return [first, *(DisconnectedType()() for _ in numbers)]


class IncSubtensor(_Indexed):
    """A tensor with a part of it increased by, or set to, something else.

    Parameters
    ----------
    idx_list : sequence
        As for :class:`Subtensor`.
    inplace : bool
        Write into the tensor itself.
    set_instead_of_inc : bool
    destroyhandler_tolerate_aliased : sequence of (int, int), optional
        Pairs of a destroyed input and one that may share its memory all the same.

    Examples
    --------
    >>> import theano.tensor as T
    >>> IncSubtensor([slice(T.scal.int64, None)])(T.zeros(3), 5.0, T.constant(1, dtype="int64")).eval()
    array([0., 5., 5.])
    """

    __props__ = ("index_key", "inplace", "set_instead_of_inc")
    shapes = "A->A"

    def __init__(
        self,
        idx_list: Sequence[object],
        inplace: bool = False,
        set_instead_of_inc: bool = False,
        destroyhandler_tolerate_aliased: Any = None,
    ):
        self._set_index(idx_list)
        self.inplace = inplace
        self.set_instead_of_inc = set_instead_of_inc
        self.destroyhandler_tolerate_aliased = list(destroyhandler_tolerate_aliased or [])
        if inplace:
            self.destroy_map = {0: [0]}

    def checked_inputs(self, node: TensorApply) -> range:
        """Return the parts of the index, which may be out of bounds."""
        return range(2, len(node.inputs))

    def __str__(self) -> str:
        what = ("Inplace" if self.inplace else "") + ("Set" if self.set_instead_of_inc else "Inc")
        return f"{type(self).__name__}{{{what};{self.index_text()}}}"

    def make_node(self, x: TensorLike, y: Any, *inputs: Any) -> Apply:
        """Return the node for a tensor, what is written, and the numbers of the index."""
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        self._check_rank(x)
        kept = x.type.ndim - sum(1 for e in self.idx_list if not isinstance(e, slice))
        if y.type.ndim > kept:
            raise ValueError(
                f"Trying to {'set' if self.set_instead_of_inc else 'increment'} a {kept}-dimensional subtensor with a "
                f"{y.type.ndim}-dimensional value:\n{describe(x)}\n{describe(y)}"
            )
        if scal.upcast(x.type.dtype, y.type.dtype) != x.type.dtype and y.type.dtype in scal.complex_dtypes:
            raise ArgumentError(f"complex values do not fit in {x} of dtype {x.type.dtype}")
        return Apply(self, [x, y, *self._check_numbers(inputs)], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Write with NumPy."""
        x = inputs[0]
        out = x if self.inplace else x.copy()
        part = self._select(node, inputs, out, inputs[2:])
        index = tuple(fill_entries(self.idx_list, inputs[2:], int))
        with np.errstate(**NUMPY_ERRORS):
            value = astype(broadcast_input(node, inputs, 1, part.shape), out.dtype, copy=False)
            out[index] = value if self.set_instead_of_inc else part + value
        output_storage[0][0] = out

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the numbers of the index have no influence in the sense of derivatives."""
        return [[True], [True], *([[False]] * (len(node.inputs) - 2))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient (without the part, where that was set) and the part of it."""
        x, y, *numbers = inputs
        (g,) = output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [
                x.zeros_like(dtype=gradient_dtype(x.type.dtype)), y.zeros_like(dtype=gradient_dtype(y.type.dtype)),
                *(DisconnectedType()() for _ in numbers),
            ]
        gx = g
        if self.set_instead_of_inc:
            zero = as_tensor_variable(np.zeros((), dtype=g.type.dtype))
            gx = IncSubtensor(self.idx_list, set_instead_of_inc=True)(g, zero, *numbers)
        if y.type.dtype in scal.discrete_dtypes:
            gy = y.zeros_like(dtype=gradient_dtype(y.type.dtype))
        else:
            gy = sum_to_pattern(Subtensor(self.idx_list)(g, *numbers), y)
        return [gx, gy, *(DisconnectedType()() for _ in numbers)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction of the tensor, with that of the part written in."""
        x, y, *numbers = inputs
        dx, dy = eval_points[:2]
        if dx is None and dy is None:
            return [None]
        dx = x.zeros_like() if dx is None else dx
        dy = y.zeros_like() if dy is None else dy
        return [IncSubtensor(self.idx_list, set_instead_of_inc=self.set_instead_of_inc)(dx, dy, *numbers)]


def sum_to_pattern(g: Any, y: Any) -> Tensor:
    """Return a gradient of a broadcast ``y`` summed back to the shape of ``y``."""
    extra = g.type.ndim - y.type.ndim
    if extra:
        g = g.sum(axis=list(range(extra)))
    stretched = [i for i, one in enumerate(y.type.broadcastable) if one and not g.type.broadcastable[i]]
    return g.sum(axis=stretched, keepdims=True) if stretched else g


def index_of(args: Sequence[Any]) -> tuple[Subtensor, list[Variable]]:
    """Return the op and the numbers for an index that a user gave."""
    return Subtensor(args), entry_variables(args)
