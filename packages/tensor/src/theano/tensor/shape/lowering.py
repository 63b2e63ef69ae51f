"""Views, copies, lengths and diagonals: kernels built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.compile.copy_ops import register_deep_copy_kernel
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, Accepts
from theano.lowering.table import Lowering, register
from theano.lowering.targets import ANY
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import VIEW_NS, is_view, ndim_of, nothing, ones_of, pattern_of, ready
from theano.tensor.shape.basic import Rebroadcast, Shape, Shape_i, SpecifyShape
from theano.tensor.shape.contiguous import CpuContiguous
from theano.tensor.shape.diagonals import AllocDiag, ExtractDiag, SetDiag
from theano.tensor.shape.repeat import RepeatOp
from theano.tensor.shape.reshape import Reshape
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.compile.registered_code import CodeByType

# -- views and copies ----------------------------------------------------------------------------------


@ready("th_kernel_reshape")
def reshape_kernel(op: Reshape, node: Apply) -> Parameters:
    """Return the reshape of ``x`` to a vector of lengths: a view where strides allow one."""
    return parameters.ReshapeParams(may_view=is_view(op))


@ready("th_kernel_contiguous")
def contiguous_kernel(op: CpuContiguous, node: Apply) -> Parameters:
    """Return the input itself if it is C-contiguous, otherwise a copy."""
    return nothing


@ready("th_kernel_rebroadcast", work=VIEW_NS)
def rebroadcast_kernel(op: Rebroadcast, node: Apply) -> Parameters:
    """Return the input itself, checked to have length 1 where only the output's type says so."""
    before, after = pattern_of(node.inputs[0]), pattern_of(node.outputs[0])
    ones = sum(1 << axis for axis, (a, b) in enumerate(zip(before, after, strict=True)) if b and not a)
    return parameters.RebroadcastParams(ones=ones)


@ready("th_kernel_specify_shape", work=VIEW_NS)
def specify_shape_kernel(op: SpecifyShape, node: Apply) -> Parameters:
    """Return the input itself, checked to have the lengths that input 1 holds."""
    return nothing


@ready("th_kernel_copy")
def copy_kernel(op: Any, node: Apply) -> Parameters:
    """Return a C-ordered copy of the first input."""
    return nothing


@ready("th_kernel_shape", work=VIEW_NS)
def shape_kernel(op: Shape, node: Apply) -> Parameters:
    """Return the vector of lengths of a tensor."""
    return nothing


@ready("th_kernel_shape_i", work=VIEW_NS)
def shape_i_kernel(op: Shape_i, node: Apply) -> Parameters:
    """Return the length of axis ``op.i``."""
    return parameters.AxisParams(axis=op.i)


@ready("th_kernel_repeat", work=1.0)
def repeat_kernel(op: RepeatOp, node: Apply) -> Parameters:
    """Return each element repeated along ``op.axis`` (of the flat array for None)."""
    return parameters.AxisParams(axis=-1 if op.axis is None else op.axis % ndim_of(node.inputs[0]))


# -- diagonals -----------------------------------------------------------------------------------------


def _diagonal(op: AllocDiag | ExtractDiag | SetDiag, ndim: int) -> parameters.Diagonal:
    return parameters.Diagonal(offset=op.offset, first=op.axis1 % ndim, second=op.axis2 % ndim)


@ready("th_kernel_extract_diagonal")
def extract_diagonal_kernel(op: ExtractDiag, node: Apply) -> Parameters:
    """Return a diagonal (``op.offset``, ``op.axis1``, ``op.axis2``), a view where that is declared."""
    return parameters.ExtractDiagonalParams(diagonal=_diagonal(op, ndim_of(node.inputs[0])), as_view=is_view(op))


@ready("th_kernel_set_diagonal")
def set_diagonal_kernel(op: SetDiag, node: Apply) -> Parameters | None:
    """Return x with a diagonal replaced."""
    x, values = node.inputs
    if ndim_of(values) >= ndim_of(x):
        return None
    return parameters.SetDiagonalParams(diagonal=_diagonal(op, ndim_of(x)), ones=ones_of(values))


@ready("th_kernel_alloc_diagonal")
def alloc_diagonal_kernel(op: AllocDiag, node: Apply) -> Parameters:
    """Return matrices of zeros with the last axis of the input on a diagonal."""
    return parameters.AllocDiagonalParams(diagonal=_diagonal(op, ndim_of(node.outputs[0])))


# -- the table -----------------------------------------------------------------------------------------


def _second(node: Apply) -> tuple[int]:
    return (1,)


def _has_no_code(op: CodeByType, node: Apply) -> bool:
    """Tell whether no C code is registered for the type of the first input."""
    return op.registered(node) is None


_SINGLE = Accepts("x -> y", same=("x y",))

register(
    Lowering(Reshape, reshape_kernel, Accepts(
        "x, lengths -> y", dtypes={"lengths": INTEGERS}, ndim={"lengths": 1},
    ), target=ANY, on_host=_second),
    Lowering(CpuContiguous, contiguous_kernel, Accepts("x -> y", view=True), target=ANY),
    Lowering(Rebroadcast, rebroadcast_kernel, Accepts("x -> y", view=True), when=_has_no_code, target=ANY),
    Lowering(SpecifyShape, specify_shape_kernel, Accepts(
        "x, lengths -> y", dtypes={"lengths": INTEGERS}, view=True,
    ), when=_has_no_code, target=ANY, on_host=_second),
    Lowering(TensorFromScalar, copy_kernel, _SINGLE),
    Lowering(ScalarFromTensor, copy_kernel, _SINGLE),
    Lowering(Shape, shape_kernel, Accepts("x -> lengths"), when=_has_no_code, target=ANY, only_lengths=True),
    Lowering(Shape_i, shape_i_kernel, Accepts("x -> length"), when=_has_no_code, target=ANY, only_lengths=True),
    Lowering(RepeatOp, repeat_kernel, Accepts("x, repeats -> y", dtypes={"repeats": INTEGERS}, same=("x y",))),
    Lowering(ExtractDiag, extract_diagonal_kernel, Accepts("x -> diagonal"), target=ANY, selects=True),
    Lowering(SetDiag, set_diagonal_kernel, Accepts(
        "x, values -> y", converts=("values x",),
    ), target=ANY),
    Lowering(AllocDiag, alloc_diagonal_kernel, Accepts("diagonal -> y"), target=ANY),
)  # fmt: skip

register_deep_copy_kernel(TensorType, lambda node: copy_kernel(None, node))
