"""Cumulative sums, order and search: kernels built with the layer (``c/cumulate.c``, ``c/sort.c``, ``c/search.c``)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from theano.codegen.kernel import Builtin, Pointer, register_pointers
from theano.graph.apply import Apply
from theano.tensor.kernels.common import (
    DTYPE_CODES,
    are_known,
    builtin,
    dtype_of,
    is_integer,
    ndim_of,
    same_dtype,
)


def cumulate_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the sums or products up to each place. ``op.axis`` and ``op.mode`` are read."""
    if not are_known(node) or not same_dtype(node.inputs[0], node.outputs[0]):
        return None
    axis = -1 if op.axis is None else op.axis % ndim_of(node.inputs[0])
    return builtin("th_kernel_cumulate", axis, int(op.mode == "mul"))


# -- order ---------------------------------------------------------------------------------------------------

# As NumPy numbers its kinds of sorts; those of the same number are the same.
_KINDS = {"quicksort": 0, "heapsort": 1, "mergesort": 2, "stable": 2}


def trusted_kind(dtype: str, kind: str) -> str:
    """Return the kind of sort of elements to take where another one is asked for.

    NumPy 2.4's quicksort of float16 with AVX-512 instructions loses the order of negative numbers that are often there.

    Examples
    --------
    >>> trusted_kind("float16", "quicksort"), trusted_kind("float32", "quicksort")
    ('stable', 'quicksort')
    """
    return "stable" if dtype == "float16" else kind


@cache
def _find_sort(name: str) -> int:
    """Return the address of one of NumPy's functions: ``dtype:number of the kind:whether of places``."""
    # A compiled module; without it nothing compiled can run at all.
    from theano.loader.module import numpy_sort

    dtype, kind, places = name.split(":")
    return numpy_sort(dtype, int(kind), bool(int(places)))


register_pointers("sort", _find_sort, lambda: f"numpy {np.__version__}")


def _sort(dtype: str, kind: str, places: bool) -> int:
    """Return one of NumPy's sorts, or of its sorts of places, as something for parameters; 0 if it is not to be had."""
    kind = kind if places else trusted_kind(dtype, kind)
    name = f"{dtype}:{_KINDS[kind]}:{int(places)}"
    # NumPy's places are intptr_t, which must be what ours are.
    address = _find_sort(name) if np.dtype(np.intp) == np.int64 else 0
    return Pointer(address, f"sort:{name}") if address else 0


def sort_kernel(op: Any, node: Apply, places: bool) -> Builtin | None:
    """Return the order along the axis that input 1 names, by NumPy's own sort. ``op.kind`` is read.

    Parameters
    ----------
    op : Op
    node : Apply
    places : bool
        The places that order the elements are wanted, not the elements.
    """
    dtype, made = dtype_of(node.inputs[0]), dtype_of(node.outputs[0])
    if not are_known(node) or not is_integer(dtype_of(node.inputs[1])) or made != ("int64" if places else dtype):
        return None
    function = _sort(dtype, op.kind, places)
    return builtin("th_kernel_sort", function, int(places), work=20.0) if function else None


def topk_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the largest (or smallest) elements along an axis and their places, in order.

    ``op.axis``, ``op.return_values`` and ``op.return_indices`` are read.
    """
    x, k = node.inputs
    if not are_known(node) or dtype_of(x).startswith("complex") or not is_integer(dtype_of(k)):
        return None
    wanted = (int(op.return_values), int(op.return_indices))
    sorts = (_sort(dtype_of(x), "quicksort", False), _sort(dtype_of(x), "stable", True))
    return builtin("th_kernel_topk", op.axis % ndim_of(x), *wanted, *sorts, work=2.0)


def searchsorted_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the places where values go into a sorted vector. ``op.side`` is read."""
    x, v = node.inputs[:2]
    if not are_known(node):
        return None
    common = np.promote_types(dtype_of(x), dtype_of(v))
    if common.kind == "c" or common.name not in DTYPE_CODES:
        return None
    code, size = DTYPE_CODES[common.name], common.itemsize
    return builtin("th_kernel_searchsorted", code, size, int(op.side == "right"), work=15.0)


def unique_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the different elements or slices in order, by NumPy's own sorts, and what is asked of them."""
    x = node.inputs[0]
    if not are_known(node) or not same_dtype(x, node.outputs[0]):
        return None
    # Which of equals comes first matters only to the first places.
    kind = "stable" if op.return_index else "quicksort"
    sorts = (_sort(dtype_of(x), "quicksort", False), _sort(dtype_of(x), kind, True))
    # NumPy takes the slices of a vector for elements.
    axis = -1 if op.axis is None or ndim_of(x) == 1 else op.axis % ndim_of(x)
    wanted = (int(op.return_index), int(op.return_inverse), int(op.return_counts))
    return builtin("th_kernel_unique", *sorts, *wanted, axis, work=25.0) if all(sorts) else None


def bincount_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return how often each number occurs, or the sum of its weights, which have the dtype of the result."""
    numbers = node.inputs[:2]
    if not are_known(node) or not all(is_integer(dtype_of(v)) for v in numbers):
        return None
    return builtin("th_kernel_bincount", work=2.0) if same_dtype(*node.inputs[2:], node.outputs[0]) else None
