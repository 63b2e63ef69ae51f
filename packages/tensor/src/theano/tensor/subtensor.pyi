"""Old spelling; what ``theano.tensor.subtensor`` shows is in :mod:`theano.tensor.printers`, :mod:`theano.tensor.index.advanced`, :mod:`theano.tensor.index.lengths`, :mod:`theano.tensor.index.basic`, :mod:`theano.tensor.index.functions`, :mod:`theano.tensor.type_other`, :mod:`theano`, :mod:`theano.errors`, :mod:`theano.gof`, :mod:`theano.graph`, :mod:`theano.graph.op`, :mod:`theano.graph.params_type`, :mod:`theano.graph.type`, :mod:`theano.legacy.helpers`, :mod:`theano.legacy.indices`, :mod:`theano.printing`, :mod:`theano.settings`, :mod:`theano.tensor.convert`, :mod:`theano.tensor.create.alloc`, :mod:`theano.tensor.shape.broadcast`, :mod:`theano.legacy.gone`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from __future__ import annotations as annotations
from collections.abc import Callable as Callable, Sequence as Sequence
from theano import scalar as scal
from theano.errors import ArgumentError as ArgumentError, IndexDtypeError as IndexDtypeError
from theano.extensions import Single as Single
from theano.gradient import DisconnectedType as DisconnectedType
from theano.graph import Apply as Apply, Constant as Constant, Op as Op, Variable as Variable
from theano.scalar.casting import astype as astype
from theano.scalar.numpy_errors import NUMPY_ERRORS as NUMPY_ERRORS
from theano.tensor.annotations import TensorLike
from theano.tensor.convert import (
    as_tensor_variable as as_tensor_variable, gradient_dtype as gradient_dtype, is_tensor as is_tensor, length_if_known
    as length_if_known, static_element as static_element, static_int as static_int, whole_number as whole_number,
)
from theano.tensor.create.arange import ARange as ARange, arange as arange
from theano.tensor.elemwise.dimshuffle import DimShuffle as DimShuffle
from theano.tensor.elemwise.functions import cast as cast
from theano.tensor.index.advanced import (
    AdvancedBooleanIncSubtensor as AdvancedBooleanIncSubtensor, AdvancedBooleanIndexingError as
    AdvancedBooleanIndexingError, AdvancedBooleanSubtensor as AdvancedBooleanSubtensor, AdvancedIncSubtensor as
    AdvancedIncSubtensor, AdvancedIncSubtensor1 as AdvancedIncSubtensor1, AdvancedSubtensor as AdvancedSubtensor,
    AdvancedSubtensor1 as AdvancedSubtensor1, BaseAdvancedIncSubtensor as BaseAdvancedIncSubtensor,
    BaseAdvancedSubtensor as BaseAdvancedSubtensor, Nonzero as Nonzero, sparse_gradient as sparse_gradient,
)
from theano.tensor.index.basic import (
    AdvancedIndexingError as AdvancedIndexingError, IncSubtensor as IncSubtensor, Subtensor as Subtensor, entry_type as
    entry_type, entry_variables as entry_variables, fill_entries as fill_entries, get_idx_list as get_idx_list, index_of
    as index_of, sum_to_pattern as sum_to_pattern,
)
from theano.tensor.index.functions import (
    flatnonzero as flatnonzero, getitem as getitem, inc_subtensor as inc_subtensor, nonzero as nonzero, nonzero_values
    as nonzero_values, roll as roll, set_subtensor as set_subtensor, take as take,
)
from theano.tensor.index.lengths import (
    adv_index_broadcastable_pattern as adv_index_broadcastable_pattern, advanced_shape as advanced_shape, bound as
    bound, is_mask as is_mask, keeps_one as keeps_one, slice_length as slice_length, slice_parts as slice_parts,
)
from theano.tensor.join.op import join as join
from theano.tensor.messages import axis_of as axis_of, broadcast_input as broadcast_input, describe as describe
from theano.tensor.printers import SubtensorPrinter as SubtensorPrinter
from theano.tensor.shape.basic import Shape_i as Shape_i, addbroadcast as addbroadcast, unbroadcast as unbroadcast
from theano.tensor.shape.reshape import Reshape as Reshape, reshape as reshape
from theano.tensor.type import TensorApply as TensorApply, TensorType as TensorType
from theano.tensor.type_other import (
    MakeSlice as MakeSlice, NoneTypeT as NoneTypeT, SliceConstant as SliceConstant, SliceType as SliceType,
    as_index_variable as as_index_variable,
)
from theano.tensor.var import TensorVariable
from typing import Any as Any, TYPE_CHECKING as TYPE_CHECKING

def abs_(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Absolute value; modulus of a complex number."""
def add(*xs: TensorLike, name: str | None = ...) -> TensorVariable:
    """Sum of any number of terms; of booleans, whether any is true."""
def advanced_boolean_inc_subtensor(
    x: TensorLike, y: Any, *index: Variable | slice | Sequence[int],
) -> TensorVariable: ...
def advanced_boolean_set_subtensor(
    x: TensorLike, y: Any, *index: Variable | slice | Sequence[int],
) -> TensorVariable: ...
def advanced_boolean_subtensor(x: TensorLike, *index: Any) -> TensorVariable: ...
def advanced_inc_subtensor(x: TensorLike, y: Any, *index: Variable | slice | Sequence[int]) -> TensorVariable: ...
def advanced_inc_subtensor1(x: TensorLike, y: Any, ilist: TensorLike) -> TensorVariable: ...
def advanced_set_subtensor(x: TensorLike, y: Any, *index: Variable | slice | Sequence[int]) -> TensorVariable: ...
def advanced_set_subtensor1(x: TensorLike, y: Any, ilist: TensorLike) -> TensorVariable: ...
def advanced_subtensor(x: TensorLike, *index: Any) -> TensorVariable: ...
def advanced_subtensor1(x: TensorLike, ilist: Any) -> TensorVariable: ...
def alloc(value: TensorLike, *shape: Any) -> TensorVariable: ...
def clip(x: TensorLike, min: TensorLike, max: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Clip x to [min, max]; NaN is preserved."""
def eq(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x equals y."""
def ge(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is greater than or equal to y."""
def int_div(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Quotient rounded down; an integer divided by zero gives 0."""
def lt(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is less than y."""
def maximum(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The larger of two numbers; nan if one is nan."""
def minimum(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The smaller of two numbers; nan if one is nan."""
def mod(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Remainder with the sign of the divisor; an integer modulo zero is 0."""
def neq(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x differs from y."""
def switch(cond: TensorLike, ift: TensorLike, iff: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Value of ift where cond is true (not zero), of iff elsewhere; both are computed."""
