"""Views, copies and new arrays: kernels built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from theano.codegen.kernel import Builtin
from theano.graph.apply import Apply
from theano.graph.text import printable
from theano.tensor.kernels.common import (
    VIEW_NS,
    are_known,
    builtin,
    dtype_of,
    is_convertible,
    is_integer,
    is_view,
    ndim_of,
    ones_of,
    pattern_of,
    same_dtype,
)


def _integers(variables: Any) -> bool:
    return all(is_integer(dtype_of(v)) or dtype_of(v) == "bool" for v in variables)


# -- views and copies ----------------------------------------------------------------------------------


def dimshuffle_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the view of a tensor with its axes reordered, dropped and added.

    Reads ``op.new_order`` (axes and "x") and whether output 0 is declared a view.
    """
    if not are_known(node):
        return None
    order = [-1 if axis == "x" else int(axis) for axis in op.new_order]
    drop = [axis for axis in range(ndim_of(node.inputs[0])) if axis not in order]
    copies = not is_view(op)
    return builtin(
        "th_kernel_dimshuffle", int(copies), len(order), *order, len(drop), *drop, work=0.5 if copies else VIEW_NS
    )


def reshape_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the reshape of ``x`` to a vector of lengths: a view where strides allow one."""
    x, lengths = node.inputs[:2]
    if not are_known(node) or not is_integer(dtype_of(lengths)) or ndim_of(lengths) != 1:
        return None
    return builtin("th_kernel_reshape", int(is_view(op)))


def contiguous_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the input itself where its elements lie one after the other, otherwise a copy."""
    return builtin("th_kernel_contiguous") if are_known(node) and is_view(op) else None


def rebroadcast_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the input itself, checked to have length 1 where only the output's type says so."""
    if not are_known(node) or not is_view(op):
        return None
    before, after = pattern_of(node.inputs[0]), pattern_of(node.outputs[0])
    new = [int(b and not a) for a, b in zip(before, after, strict=True)]
    return builtin("th_kernel_rebroadcast", *new, work=VIEW_NS)


def assert_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the first input itself, if the others are true; ``op.msg`` is the text of the error."""
    value, *conds = node.inputs
    if not are_known(node) or any(dtype_of(c).startswith("complex") for c in conds) or not is_view(op):
        return None
    text = printable(op.msg).encode() + b"\0"
    letters = np.frombuffer(text + b"\0" * (-len(text) % 8), "int64")
    refused = "th_kernel_assert" if issubclass(op.error, AssertionError) else "th_kernel_checked_length"
    return builtin(refused, *map(int, letters), work=VIEW_NS)


def choice_kernel(as_view: bool, node: Apply) -> Builtin | None:
    """Return the choice between two lists of inputs by input 0, as a lazy kernel."""
    if any(v.type.buffer_spec() is None for v in node.inputs) or not are_known(node):
        return None
    found = builtin("th_kernel_choice", int(as_view), work=VIEW_NS if as_view else 0.5)
    return None if found is None else replace(found, lazy=True)


def specify_shape_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the input itself, checked to have the lengths that input 1 holds."""
    if not are_known(node) or not is_view(op) or not is_integer(dtype_of(node.inputs[1])):
        return None
    return builtin("th_kernel_specify_shape", work=VIEW_NS)


def copy_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return a C-ordered copy of the first input."""
    if not are_known(node) or not same_dtype(node.inputs[0], node.outputs[0]):
        return None
    return builtin("th_kernel_copy")


def alias_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the first input itself, for ops that compute nothing and declare a view."""
    if not are_known(node) or not is_view(op) or not same_dtype(node.inputs[0], node.outputs[0]):
        return None
    return builtin("th_kernel_alias", work=VIEW_NS)


def scalar_copy_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the copy of a single element between a scalar and a tensor without dimensions."""
    return copy_kernel(op, node)


def shape_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the vector of lengths of a tensor."""
    return builtin("th_kernel_shape", work=VIEW_NS) if are_known(node) else None


def shape_i_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the length of axis ``op.i``."""
    return builtin("th_kernel_shape_i", int(op.i), work=VIEW_NS) if are_known(node) else None


def join_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the join of tensors of one dtype along a run-time axis.

    ``op.view`` is read if output 0 is declared a view.
    """
    axis, *tensors = node.inputs
    if not are_known(node) or not _integers([axis]) or not same_dtype(*tensors, *node.outputs):
        return None
    return builtin("th_kernel_join", int(op.view) if is_view(op) else -1)


def split_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the pieces of a tensor along a run-time axis; views where declared."""
    if not are_known(node) or not _integers(node.inputs[1:]):
        return None
    return builtin("th_kernel_split", *[int(not is_view(op, i)) for i in range(len(node.outputs))])


def repeat_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return each element repeated along ``op.axis`` (of the flat array for None)."""
    x, repeats = node.inputs
    if not are_known(node) or not same_dtype(x, node.outputs[0]) or not is_integer(dtype_of(repeats)):
        return None
    return builtin("th_kernel_repeat", -1 if op.axis is None else op.axis % ndim_of(x), work=1.0)


# -- diagonals -----------------------------------------------------------------------------------------


def _diagonal(op: Any, ndim: int) -> tuple[int, int, int]:
    return op.offset, op.axis1 % ndim, op.axis2 % ndim


def extract_diagonal_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return a diagonal (``op.offset``, ``op.axis1``, ``op.axis2``), a view where that is declared."""
    if not are_known(node):
        return None
    return builtin("th_kernel_extract_diagonal", *_diagonal(op, ndim_of(node.inputs[0])), int(is_view(op)))


def set_diagonal_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return x with a diagonal replaced."""
    x, values = node.inputs
    if not are_known(node) or not is_convertible(values, x) or ndim_of(values) >= ndim_of(x):
        return None
    return builtin("th_kernel_set_diagonal", *_diagonal(op, ndim_of(x)), ones_of(values))


def alloc_diagonal_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return matrices of zeros with the last axis of the input on a diagonal."""
    out = node.outputs[0]
    return builtin("th_kernel_alloc_diagonal", *_diagonal(op, ndim_of(out))) if are_known(node) else None


def eye_kernel(op: Any, node: Apply, below: bool) -> Builtin | None:
    """Return a matrix with ones on a diagonal, and below it if that is wanted."""
    if not are_known(node) or not all(is_integer(dtype_of(v)) for v in node.inputs):
        return None
    return builtin("th_kernel_eye", int(below))


# -- new arrays ----------------------------------------------------------------------------------------


def alloc_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return a value repeated to a shape given by further inputs."""
    if not are_known(node) or not _integers(node.inputs[1:]):
        return None
    if ndim_of(node.inputs[0]) > ndim_of(node.outputs[0]) or not is_convertible(node.inputs[0], node.outputs[0]):
        return None
    return builtin("th_kernel_alloc", ones_of(node.inputs[0]), work=0.3)


def alloc_empty_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return memory of a shape given by the inputs."""
    if not are_known(node) or not _integers(node.inputs):
        return None
    return builtin("th_kernel_alloc_empty", work=VIEW_NS)


def make_vector_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return a vector of numbers of one dtype."""
    if not are_known(node) or not same_dtype(*node.inputs, node.outputs[0]):
        return None
    return builtin("th_kernel_make_vector")


def arange_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the numbers from start to stop by step, or how many they are."""
    dtype = dtype_of(node.outputs[0])
    if not are_known(node) or dtype == "bool" or dtype == "float16" or dtype.startswith("complex"):
        return None
    if any(dtype_of(v).startswith("complex") or dtype_of(v) == "uint64" for v in node.inputs):
        return None
    what = "th_kernel_arange_length" if getattr(op, "is_length", False) else "th_kernel_arange"
    return builtin(what, int(_integers(node.inputs)))
