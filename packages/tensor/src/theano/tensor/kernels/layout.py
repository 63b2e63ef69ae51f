"""Views, copies and indexing: kernels that were built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from typing import Any

from theano.codegen.kernel import Builtin
from theano.graph.apply import Apply
from theano.tensor.kernels.common import (
    builtin,
    dtype_of,
    dtypes_of,
    is_integer,
    is_view,
    ndim_of,
    pattern_of,
    works_in_place,
)

# How index.c names the parts of an index.
_ABSENT, _KNOWN, _INPUT = 0, 1, 2
_INDEX, _SLICE = 0, 1
_VIEW_NS = 0.0


def _known(node: Apply) -> bool:
    return dtypes_of([*node.inputs, *node.outputs]) is not None


def _same_dtype(*variables: Any) -> bool:
    return len({dtype_of(v) for v in variables}) == 1


def _integers(variables: Any) -> bool:
    return all(is_integer(dtype_of(v)) or dtype_of(v) == "bool" for v in variables)


# -- views and copies ----------------------------------------------------------------------------------


def dimshuffle_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the view of a tensor with its axes reordered, dropped and added.

    Reads ``op.new_order`` (axes and "x") and whether output 0 is declared a view.
    """
    if not _known(node):
        return None
    order = [-1 if axis == "x" else int(axis) for axis in op.new_order]
    drop = [axis for axis in range(ndim_of(node.inputs[0])) if axis not in order]
    copies = not is_view(op)
    return builtin(
        "th_kernel_dimshuffle", int(copies), len(order), *order, len(drop), *drop, work=0.5 if copies else _VIEW_NS
    )


def reshape_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the reshape of ``x`` to a vector of lengths: a view where strides allow one."""
    x, lengths = node.inputs[:2]
    if not _known(node) or not is_integer(dtype_of(lengths)) or ndim_of(lengths) != 1:
        return None
    return builtin("th_kernel_reshape", int(is_view(op)))


def rebroadcast_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the input itself, checked to have length 1 where only the output's type says so."""
    if not _known(node) or not is_view(op):
        return None
    before, after = pattern_of(node.inputs[0]), pattern_of(node.outputs[0])
    new = [int(b and not a) for a, b in zip(before, after, strict=True)]
    return builtin("th_kernel_rebroadcast", *new, work=_VIEW_NS)


def copy_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return a C-ordered copy of the first input."""
    if not _known(node) or not _same_dtype(node.inputs[0], node.outputs[0]):
        return None
    return builtin("th_kernel_copy")


def alias_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the first input itself, for ops that compute nothing and declare a view."""
    if not _known(node) or not is_view(op) or not _same_dtype(node.inputs[0], node.outputs[0]):
        return None
    return builtin("th_kernel_alias", work=_VIEW_NS)


def scalar_copy_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the copy of a single element between a scalar and a tensor without dimensions."""
    return copy_kernel(op, node)


def shape_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the vector of lengths of a tensor."""
    return builtin("th_kernel_shape", work=_VIEW_NS) if _known(node) else None


def shape_i_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the length of axis ``op.i``."""
    return builtin("th_kernel_shape_i", int(op.i), work=_VIEW_NS) if _known(node) else None


def join_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the join of tensors of one dtype along a run-time axis.

    ``op.view`` is read if output 0 is declared a view.
    """
    axis, *tensors = node.inputs
    if not _known(node) or not _integers([axis]) or not _same_dtype(*tensors, *node.outputs):
        return None
    return builtin("th_kernel_join", int(op.view) if is_view(op) else -1)


def split_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the pieces of a tensor along a run-time axis; views where declared."""
    if not _known(node) or not _integers(node.inputs[1:]):
        return None
    return builtin("th_kernel_split", *[int(not is_view(op, i)) for i in range(len(node.outputs))])


# -- new arrays ----------------------------------------------------------------------------------------


def alloc_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return a value repeated to a shape given by further inputs."""
    if not _known(node) or not _integers(node.inputs[1:]):
        return None
    if ndim_of(node.inputs[0]) > ndim_of(node.outputs[0]) or not _convertible(node.inputs[0], node.outputs[0]):
        return None
    return builtin("th_kernel_alloc", work=0.3)


def alloc_empty_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return memory of a shape given by the inputs."""
    if not _known(node) or not _integers(node.inputs):
        return None
    return builtin("th_kernel_alloc_empty", work=_VIEW_NS)


def make_vector_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return a vector of numbers of one dtype."""
    if not _known(node) or not _same_dtype(*node.inputs, node.outputs[0]):
        return None
    return builtin("th_kernel_make_vector")


def arange_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the numbers from start to stop by step."""
    dtype = dtype_of(node.outputs[0])
    if not _known(node) or dtype == "bool" or dtype == "float16" or dtype.startswith("complex"):
        return None
    if any(dtype_of(v).startswith("complex") or dtype_of(v) == "uint64" for v in node.inputs):
        return None
    return builtin("th_kernel_arange", int(_integers(node.inputs)))


# -- indexing ------------------------------------------------------------------------------------------


def _index_params(idx_list: Any, node: Apply, first: int) -> list[int] | None:
    """Return the indexes of a basic subtensor as index.c reads them; symbolic parts are inputs from ``first`` on.

    None where an index is of a kind that only Python understands.
    """
    following = iter(range(first, len(node.inputs)))

    def part(value: Any) -> tuple[int, int]:
        if value is None:
            return (_ABSENT, 0)
        if isinstance(value, int):
            return (_KNOWN, int(value))
        # Anything else (a type, a marker) stands for the next input.
        return (_INPUT, next(following))

    params = [len(idx_list)]
    for entry in idx_list:
        if isinstance(entry, slice):
            params += [_SLICE, *part(entry.start), *part(entry.stop), *part(entry.step)]
        elif entry is None or entry is Ellipsis:
            return None
        else:
            params += [_INDEX, *part(entry), 0, 0, 0, 0]
    return params if all(ndim_of(v) == 0 for v in node.inputs[first:]) and _integers(node.inputs[first:]) else None


def subtensor_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the view that basic indexes (``op.idx_list``) select."""
    if not _known(node) or not is_view(op):
        return None
    params = _index_params(op.idx_list, node, 1)
    return None if params is None else builtin("th_kernel_subtensor", *params, work=_VIEW_NS)


def inc_subtensor_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return x with y set in, or added to, a basic subtensor. ``op.set_instead_of_inc`` is read."""
    x, y = node.inputs[:2]
    if not _known(node) or not _same_dtype(x, node.outputs[0]) or not _convertible(y, x):
        return None
    params = _index_params(op.idx_list, node, 2)
    if params is None:
        return None
    return builtin("th_kernel_inc_subtensor", int(works_in_place(op)), int(op.set_instead_of_inc), *params)


def advanced_subtensor1_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the rows of x that a vector of integers names."""
    x, rows = node.inputs
    if not _known(node) or ndim_of(rows) != 1 or not is_integer(dtype_of(rows)):
        return None
    return builtin("th_kernel_take_rows", work=1.0)


def advanced_inc_subtensor1_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return x with y set in, or added to, the rows that a vector of integers names."""
    x, y, rows = node.inputs
    if not _known(node) or ndim_of(rows) != 1 or not is_integer(dtype_of(rows)):
        return None
    if not _same_dtype(x, node.outputs[0]) or not _convertible(y, x):
        return None
    return builtin("th_kernel_inc_rows", int(works_in_place(op)), int(op.set_instead_of_inc), work=1.0)


def _convertible(source: Any, target: Any) -> bool:
    """Return whether copy.c converts between two dtypes: everything but complex numbers to others."""
    return dtype_of(target).startswith("complex") or not dtype_of(source).startswith("complex")
