"""Cumulative sums, order and search: kernels built with the layer (``c/cumulate.c``, ``c/sort.c``, ``c/search.c``)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters, Pointer
from theano.lowering.accepts import INEXACT, INT64, INTEGERS, REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import DTYPE_CODES, dtype_of, ndim_of, nothing, ready
from theano.tensor.sort.cumulative import CumOp, LinearRecurrence
from theano.tensor.sort.op import ArgSortOp, SortOp, TopKOp, trusted_kind
from theano.tensor.sort.search import SearchsortedOp
from theano.tensor.sort.sets import Bincount, Unique


@ready("th_kernel_cumulate")
def cumulate_kernel(op: CumOp, node: Apply) -> Parameters:
    """Return the sums or products up to each place. ``op.axis`` and ``op.mode`` are read."""
    axis = -1 if op.axis is None else op.axis % ndim_of(node.inputs[0])
    return parameters.CumulateParams(axis=axis, multiplies=op.mode == "mul")


@ready("th_kernel_linear_recurrence")
def recurrence_kernel(op: LinearRecurrence, node: Apply) -> Parameters:
    """Return a factor times the place before, plus ``b``. ``op.axis`` and ``op.transposed`` are read."""
    return parameters.LinearRecurrenceParams(axis=op.axis, transposed=op.transposed)


# -- order ---------------------------------------------------------------------------------------------------

# As NumPy numbers its kinds of sorts; those of the same number are the same.
_KINDS = {"quicksort": 0, "heapsort": 1, "mergesort": 2, "stable": 2}


@cache
def find_sort(name: str) -> int:
    """Return the address of one of NumPy's functions: ``dtype:number of the kind:whether of places``."""
    # A compiled module; without it nothing compiled can run at all.
    from theano.loader.module import numpy_sort

    dtype, kind, places = name.split(":")
    return numpy_sort(dtype, int(kind), bool(int(places)))


def _sort(dtype: str, kind: str, places: bool) -> int:
    """Return one of NumPy's sorts, or of its sorts of places, as something for parameters; 0 if it is not to be had."""
    kind = kind if places else trusted_kind(dtype, kind)
    name = f"{dtype}:{_KINDS[kind]}:{int(places)}"
    # NumPy's places are intptr_t, which must be what ours are.
    address = find_sort(name) if np.dtype(np.intp) == np.int64 else 0
    return Pointer(address, f"sort:{name}") if address else 0


@ready("th_kernel_sort", work=20.0)
def sort_kernel(op: SortOp, node: Apply) -> Parameters | None:
    """Return the elements in order along the axis that input 1 names, by NumPy's own sort. ``op.kind`` is read."""
    function = _sort(dtype_of(node.inputs[0]), op.kind, places=False)
    return parameters.SortParams(function=function, places=False) if function else None


@ready("th_kernel_sort", work=20.0)
def argsort_kernel(op: ArgSortOp, node: Apply) -> Parameters | None:
    """Return the places that put elements in order, by NumPy's own sort. ``op.kind`` is read."""
    function = _sort(dtype_of(node.inputs[0]), op.kind, places=True)
    return parameters.SortParams(function=function, places=True) if function else None


@ready("th_kernel_topk", work=2.0)
def topk_kernel(op: Any, node: Apply) -> Parameters:
    """Return the largest (or smallest) elements along an axis and their places, in order.

    ``op.axis``, ``op.return_values`` and ``op.return_indices`` are read.
    """
    x = node.inputs[0]
    return parameters.TopkParams(
        axis=op.axis % ndim_of(x), values=bool(op.return_values), places=bool(op.return_indices),
        sort=_sort(dtype_of(x), "quicksort", False), sort_places=_sort(dtype_of(x), "stable", True),
    )  # fmt: skip


@ready("th_kernel_searchsorted", work=15.0)
def searchsorted_kernel(op: SearchsortedOp, node: Apply) -> Parameters:
    """Return the places where values go into a sorted vector. ``op.side`` is read."""
    x, values = node.inputs[:2]
    common = np.promote_types(dtype_of(x), dtype_of(values))
    code = DTYPE_CODES[common.name]
    return parameters.SearchsortedParams(dtype=code, itemsize=common.itemsize, right=op.side == "right")


@ready("th_kernel_unique", work=25.0)
def unique_kernel(op: Unique, node: Apply) -> Parameters | None:
    """Return the different elements or slices in order, by NumPy's own sorts, and the requested indices and counts."""
    x = node.inputs[0]
    # Which of equals comes first matters only to the first places.
    kind = "stable" if op.return_index else "quicksort"
    sort, sort_places = _sort(dtype_of(x), "quicksort", False), _sort(dtype_of(x), kind, True)
    if not (sort and sort_places):
        return None
    # NumPy takes the slices of a vector for elements.
    axis = -1 if op.axis is None or ndim_of(x) == 1 else op.axis % ndim_of(x)
    return parameters.UniqueParams(
        sort=sort, sort_places=sort_places, axis=axis,
        first=bool(op.return_index), inverse=bool(op.return_inverse), counts=bool(op.return_counts),
    )  # fmt: skip


@ready("th_kernel_bincount", work=2.0)
def bincount_kernel(op: Bincount, node: Apply) -> Parameters:
    """Return how often each number occurs, or the sum of its weights."""
    return nothing


register(
    Lowering(CumOp, cumulate_kernel, Accepts("x -> y", same=("x y",))),
    Lowering(LinearRecurrence, recurrence_kernel, Accepts("a, b -> y", dtypes={"a": INEXACT}, same=("a b y",))),
    Lowering(SortOp, sort_kernel, Accepts("x, axis -> y", dtypes={"axis": INTEGERS}, same=("x y",))),
    Lowering(ArgSortOp, argsort_kernel, Accepts("x, axis -> places", dtypes={"axis": INTEGERS, "places": INT64})),
    Lowering(TopKOp, topk_kernel, Accepts("x, k -> *found", dtypes={"x": REAL, "k": INTEGERS})),
    Lowering(SearchsortedOp, searchsorted_kernel, Accepts(
        "x, values, *sorter -> places", dtypes={"x": REAL, "values": REAL},
    )),
    Lowering(Unique, unique_kernel, Accepts("x -> values, *more", same=("x values",))),
    Lowering(Bincount, bincount_kernel, Accepts(
        "numbers, least, *weights -> counts", dtypes={"numbers": INTEGERS, "least": INTEGERS}, same=("weights counts",),
    )),
)  # fmt: skip
