"""Types of the things that are not arrays but stand in an index: slices and None."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Generic, Op, Type, Variable
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.tensor.annotations import Tensors


class SliceType(Type):
    """Python's slices.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.slicetype.filter(slice(2))
    slice(None, 2, None)
    """

    __props__ = ()

    def filter(self, value: object, strict: bool = False, allow_downcast: bool | None = None) -> slice:
        """Return ``value``, which must be a slice."""
        if not isinstance(value, slice):
            raise TypeError(f"expected a slice, got {value!r} of type {type(value).__name__}")
        return value

    def constant_signature(self, value: Any) -> Hashable:
        """Return the three parts."""
        return (value.start, value.stop, value.step)

    def __str__(self) -> str:
        return "slice"


class SliceConstant(Constant):
    """A slice whose parts are plain numbers or None."""

    def __init__(self, type: Type, data: slice, name: str | None = None):
        def plain(n: Any) -> int | None:
            return None if n is None else int(n)

        super().__init__(type, slice(plain(data.start), plain(data.stop), plain(data.step)), name)

    def signature(self) -> Hashable:
        """Return what tells slices apart."""
        return (SliceConstant, self.data.start, self.data.stop, self.data.step)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.data.start}, {self.data.stop}, {self.data.step}}}"


SliceType.Constant = SliceConstant
slicetype = SliceType()


class NoneTypeT(Generic):
    """The type of None alone.

    Examples
    --------
    >>> import theano.tensor as T
    >>> print(T.none_type_t.filter(None))
    None
    """

    __props__ = ()

    def filter(self, value: object, strict: bool = False, allow_downcast: bool | None = None) -> None:
        """Return None, the only value."""
        if value is not None:
            raise TypeError(f"expected None, got {value!r}")

    def is_valid_value(self, value: object, strict: bool = True) -> bool:
        """Return whether ``value`` is None."""
        return value is None

    def __str__(self) -> str:
        return "NoneTypeT"


none_type_t = NoneTypeT()
NoneConst = Constant(none_type_t, None, name="NoneConst")


def as_int_none_variable(x: Any) -> Variable:
    """Return a part of a slice as a variable: a whole number or None.

    Parameters
    ----------
    x : int, scalar of int, or None
        The part.

    Returns
    -------
    Variable
        ``NoneConst``, or a tensor of whole numbers without dimensions.

    Examples
    --------
    >>> as_int_none_variable(None), as_int_none_variable(3)
    (NoneConst, TensorConstant{3})
    """
    if x is None:
        return NoneConst
    if isinstance(x, Variable) and isinstance(x.type, NoneTypeT):
        return x
    x = as_tensor_variable(x, ndim=0)
    if x.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"index must be integers, not {x} of dtype {x.type.dtype}")
    return x


class MakeSlice(Op):
    """A slice of symbolic numbers.

    Examples
    --------
    >>> import theano
    >>> theano.function([], MakeSlice()(1, 5, None))()
    slice(1, 5, None)
    """

    __props__ = ()

    def make_node(self, slc: Any, stop: Any = None, step: Any = None) -> Apply:
        """Return the node for a Python slice of variables, or for its parts.

        Parameters
        ----------
        slc : slice, int or None
            A slice with all its parts, or where the slice begins.
        stop, step : int or None, optional
            Where the slice ends, and the step.

        Returns
        -------
        Variable
            Its value is a Python slice.
        """
        if isinstance(slc, slice):
            slc, stop, step = slc.start, slc.stop, slc.step
        return Apply(self, [as_int_none_variable(v) for v in (slc, stop, step)], [slicetype.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Build the slice."""
        output_storage[0][0] = slice(*[None if v is None else int(v) for v in inputs])

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return disconnected gradients."""
        return [DisconnectedType()() for _ in inputs]


make_slice = MakeSlice()


def as_index_variable(idx: Any) -> Variable:
    """Return one entry of an index as a variable: None, a slice, or an integer or boolean tensor.

    Parameters
    ----------
    idx : None, slice, int, array_like or Variable
        What stands between brackets, without the commas.

    Returns
    -------
    Variable
        None, a slice or a tensor, each of a type of its own.

    Raises
    ------
    TypeError
        It is none of these.

    Examples
    --------
    >>> as_index_variable(None), as_index_variable(slice(1, 2))
    (NoneConst, SliceConstant{1, 2, None})
    """
    if idx is None:
        return NoneConst
    if isinstance(idx, slice):
        if all(n is None or isinstance(n, (int, np.integer)) for n in (idx.start, idx.stop, idx.step)):
            return slicetype.make_constant(idx)
        return make_slice(idx)
    if isinstance(idx, Variable) and isinstance(idx.type, (SliceType, NoneTypeT)):
        return idx
    idx = as_tensor_variable(idx)
    if idx.type.dtype not in scal.discrete_dtypes:
        raise TypeError(f"an index must be whole numbers or booleans, not {idx} of dtype {idx.type.dtype}")
    return idx
