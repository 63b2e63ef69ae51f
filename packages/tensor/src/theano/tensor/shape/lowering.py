"""Views, copies and new arrays: kernels built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.graph.text import printable
from theano.lowering.accepts import INTEGERS, REAL, WHOLE, Accepts, Dtypes
from theano.lowering.table import Lowering, register
from theano.tensor.create.arange import ARange, ARangeLength
from theano.tensor.control.checks import Assert
from theano.tensor.control.choice import IfElse
from theano.tensor.shape.contiguous import CpuContiguous
from theano.tensor.convert import is_tensor
from theano.tensor.create.alloc import Alloc, AllocEmpty, Eye, Tri
from theano.tensor.shape.dimshuffle import DimShuffle
from theano.tensor.extra_ops import RepeatOp
from theano.tensor.join.op import Join, MakeVector, Split
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import VIEW_NS, dtype_of, is_view, ndim_of, nothing, ones_of, pattern_of, ready
from theano.tensor.shape.basic import Rebroadcast, Shape, Shape_i, SpecifyShape
from theano.tensor.shape.diagonals import AllocDiag, ExtractDiag, SetDiag
from theano.tensor.shape.reshape import Reshape
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar

# -- views and copies ----------------------------------------------------------------------------------


@ready("th_kernel_dimshuffle", work=lambda op: VIEW_NS if is_view(op) else 0.5)
def dimshuffle_kernel(op: Any, node: Apply) -> Parameters:
    """Return the view (or a copy) of a tensor with its axes reordered, dropped and added.

    Reads ``op.new_order`` (axes and "x") and whether output 0 is declared a view.
    """
    order = [-1 if axis == "x" else int(axis) for axis in op.new_order]
    dropped = sum(1 << axis for axis in range(ndim_of(node.inputs[0])) if axis not in order)
    return parameters.Dimshuffle(copies=not is_view(op), dropped=dropped, axes=order)


@ready("th_kernel_reshape")
def reshape_kernel(op: Any, node: Apply) -> Parameters:
    """Return the reshape of ``x`` to a vector of lengths: a view where strides allow one."""
    return parameters.Reshape(may_view=is_view(op))


@ready("th_kernel_contiguous")
def contiguous_kernel(op: Any, node: Apply) -> Parameters:
    """Return the input itself where its elements lie one after the other, otherwise a copy."""
    return nothing


@ready("th_kernel_rebroadcast", work=VIEW_NS)
def rebroadcast_kernel(op: Any, node: Apply) -> Parameters:
    """Return the input itself, checked to have length 1 where only the output's type says so."""
    before, after = pattern_of(node.inputs[0]), pattern_of(node.outputs[0])
    ones = sum(1 << axis for axis, (a, b) in enumerate(zip(before, after, strict=True)) if b and not a)
    return parameters.Rebroadcast(ones=ones)


def _text(op: Any) -> Parameters:
    """Return the text of an assertion's error, as far as C can hold it."""
    return parameters.Message(text=printable(op.msg).partition("\0")[0])


@ready("th_kernel_assert", work=VIEW_NS)
def assert_kernel(op: Any, node: Apply) -> Parameters:
    """Return the first input itself, if the others are true; ``op.msg`` is the text of the error."""
    return _text(op)


@ready("th_kernel_checked_length", work=VIEW_NS)
def checked_length_kernel(op: Any, node: Apply) -> Parameters:
    """Return the first input itself, if the others are true; that they are not is a ValueError."""
    return _text(op)


@ready("th_kernel_choice", work=lambda op: VIEW_NS if op.as_view else 0.5, lazy=True)
def choice_kernel(op: Any, node: Apply) -> Parameters:
    """Return one of two lists of inputs, as input 0 says; only that one is computed."""
    return parameters.IfElse(as_view=bool(op.as_view))


@ready("th_kernel_specify_shape", work=VIEW_NS)
def specify_shape_kernel(op: Any, node: Apply) -> Parameters:
    """Return the input itself, checked to have the lengths that input 1 holds."""
    return nothing


@ready("th_kernel_copy")
def copy_kernel(op: Any, node: Apply) -> Parameters:
    """Return a C-ordered copy of the first input."""
    return nothing


@ready("th_kernel_shape", work=VIEW_NS)
def shape_kernel(op: Any, node: Apply) -> Parameters:
    """Return the vector of lengths of a tensor."""
    return nothing


@ready("th_kernel_shape_i", work=VIEW_NS)
def shape_i_kernel(op: Any, node: Apply) -> Parameters:
    """Return the length of axis ``op.i``."""
    return parameters.Axis(axis=op.i)


@ready("th_kernel_join")
def join_kernel(op: Any, node: Apply) -> Parameters:
    """Return the join of tensors along a run-time axis.

    ``op.view`` is read if output 0 is declared a view.
    """
    return parameters.Join(viewed=op.view if is_view(op) else -1)


@ready("th_kernel_split")
def split_kernel(op: Any, node: Apply) -> Parameters:
    """Return the pieces of a tensor along a run-time axis; views where declared."""
    return parameters.Split(copies=[not is_view(op, i) for i in range(len(node.outputs))])


@ready("th_kernel_repeat", work=1.0)
def repeat_kernel(op: Any, node: Apply) -> Parameters:
    """Return each element repeated along ``op.axis`` (of the flat array for None)."""
    return parameters.Axis(axis=-1 if op.axis is None else op.axis % ndim_of(node.inputs[0]))


# -- diagonals -----------------------------------------------------------------------------------------


def _diagonal(op: Any, ndim: int) -> parameters.Diagonal:
    return parameters.Diagonal(offset=op.offset, first=op.axis1 % ndim, second=op.axis2 % ndim)


@ready("th_kernel_extract_diagonal")
def extract_diagonal_kernel(op: Any, node: Apply) -> Parameters:
    """Return a diagonal (``op.offset``, ``op.axis1``, ``op.axis2``), a view where that is declared."""
    return parameters.ExtractDiagonal(diagonal=_diagonal(op, ndim_of(node.inputs[0])), as_view=is_view(op))


@ready("th_kernel_set_diagonal")
def set_diagonal_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return x with a diagonal replaced."""
    x, values = node.inputs
    if ndim_of(values) >= ndim_of(x):
        return None
    return parameters.SetDiagonal(diagonal=_diagonal(op, ndim_of(x)), ones=ones_of(values))


@ready("th_kernel_alloc_diagonal")
def alloc_diagonal_kernel(op: Any, node: Apply) -> Parameters:
    """Return matrices of zeros with the last axis of the input on a diagonal."""
    return parameters.AllocDiagonal(diagonal=_diagonal(op, ndim_of(node.outputs[0])))


@ready("th_kernel_eye")
def eye_kernel(op: Any, node: Apply) -> Parameters:
    """Return a matrix with ones on a diagonal."""
    return parameters.Eye(below=False)


@ready("th_kernel_eye")
def tri_kernel(op: Any, node: Apply) -> Parameters:
    """Return a matrix with ones on a diagonal and below it."""
    return parameters.Eye(below=True)


# -- new arrays ----------------------------------------------------------------------------------------


@ready("th_kernel_alloc", work=0.3)
def alloc_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return a value repeated to a shape given by further inputs."""
    value, out = node.inputs[0], node.outputs[0]
    return parameters.Alloc(ones=ones_of(value)) if ndim_of(value) <= ndim_of(out) else None


@ready("th_kernel_alloc_empty", work=VIEW_NS)
def alloc_empty_kernel(op: Any, node: Apply) -> Parameters:
    """Return memory of a shape given by the inputs."""
    return nothing


@ready("th_kernel_make_vector")
def make_vector_kernel(op: Any, node: Apply) -> Parameters:
    """Return a vector of numbers."""
    return nothing


def _all_whole(node: Apply) -> Parameters:
    return parameters.Arange(whole=all(dtype_of(v) in WHOLE for v in node.inputs))


@ready("th_kernel_arange")
def arange_kernel(op: Any, node: Apply) -> Parameters:
    """Return the numbers from start to stop by step."""
    return _all_whole(node)


@ready("th_kernel_arange_length")
def arange_length_kernel(op: Any, node: Apply) -> Parameters:
    """Return how many numbers there are from start to stop by step."""
    return _all_whole(node)


# -- the table -----------------------------------------------------------------------------------------


def _has_no_code(op: Any, node: Apply) -> bool:
    """Tell whether nobody has registered C code for the type of the first input."""
    return op.registered(node) is None


def _asserts(op: Any, node: Apply) -> bool:
    """Tell whether the value is a tensor and the error an AssertionError."""
    return is_tensor(node.inputs[0]) and issubclass(op.error, AssertionError)


def _checks_a_length(op: Any, node: Apply) -> bool:
    """Tell whether the value is a tensor and the error another one, a ValueError."""
    return is_tensor(node.inputs[0]) and not issubclass(op.error, AssertionError)


def _are_buffers(op: Any, node: Apply) -> bool:
    """Tell whether all values are tensors or numbers."""
    return all(v.type.buffer_spec() is not None for v in node.inputs)


# Steps are counted in int64 or in float64, which hold all but these.
_BOUNDS = Dtypes("real, but not uint64", REAL.names - {"uint64"})
_COUNTED = Dtypes("real, but not bool or float16", REAL.names - {"bool", "float16"})
_STEPS = Accepts(
    "start, stop, step -> y", dtypes={"start": _BOUNDS, "stop": _BOUNDS, "step": _BOUNDS, "y": _COUNTED}
)
_CHECKED = Accepts("value, *conditions -> y", dtypes={"conditions": REAL}, view=True)
_SINGLE = Accepts("x -> y", same=("x y",))
_MATRIX = Accepts("rows, columns, k -> y", dtypes={"rows": INTEGERS, "columns": INTEGERS, "k": INTEGERS})

register(
    Lowering(DimShuffle, dimshuffle_kernel, Accepts("x -> y")),
    Lowering(Reshape, reshape_kernel, Accepts("x, lengths -> y", dtypes={"lengths": INTEGERS}, ndim={"lengths": 1})),
    Lowering(CpuContiguous, contiguous_kernel, Accepts("x -> y", view=True)),
    Lowering(Rebroadcast, rebroadcast_kernel, Accepts("x -> y", view=True), when=_has_no_code),
    Lowering(Assert, assert_kernel, _CHECKED, when=_asserts),
    Lowering(Assert, checked_length_kernel, _CHECKED, when=_checks_a_length),
    Lowering(IfElse, choice_kernel, Accepts("condition, *values -> *chosen"), when=_are_buffers),
    Lowering(SpecifyShape, specify_shape_kernel, Accepts(
        "x, lengths -> y", dtypes={"lengths": INTEGERS}, view=True,
    ), when=_has_no_code),
    Lowering(TensorFromScalar, copy_kernel, _SINGLE),
    Lowering(ScalarFromTensor, copy_kernel, _SINGLE),
    Lowering(Shape, shape_kernel, Accepts("x -> lengths"), when=_has_no_code),
    Lowering(Shape_i, shape_i_kernel, Accepts("x -> length"), when=_has_no_code),
    Lowering(Join, join_kernel, Accepts("axis, *parts -> y", dtypes={"axis": WHOLE}, same=("parts y",))),
    Lowering(Split, split_kernel, Accepts("x, axis, lengths -> *parts", dtypes={"axis": WHOLE, "lengths": WHOLE})),
    Lowering(RepeatOp, repeat_kernel, Accepts("x, repeats -> y", dtypes={"repeats": INTEGERS}, same=("x y",))),
    Lowering(ExtractDiag, extract_diagonal_kernel, Accepts("x -> diagonal")),
    Lowering(SetDiag, set_diagonal_kernel, Accepts("x, values -> y", converts=("values x",))),
    Lowering(AllocDiag, alloc_diagonal_kernel, Accepts("diagonal -> y")),
    Lowering(Eye, eye_kernel, _MATRIX),
    Lowering(Tri, tri_kernel, _MATRIX),
    Lowering(Alloc, alloc_kernel, Accepts("value, *lengths -> y", dtypes={"lengths": WHOLE}, converts=("value y",))),
    Lowering(AllocEmpty, alloc_empty_kernel, Accepts("*lengths -> y", dtypes={"lengths": WHOLE})),
    Lowering(MakeVector, make_vector_kernel, Accepts("*numbers -> vector", same=("numbers vector",))),
    Lowering(ARange, arange_kernel, _STEPS),
    Lowering(ARangeLength, arange_length_kernel, _STEPS),
)  # fmt: skip
