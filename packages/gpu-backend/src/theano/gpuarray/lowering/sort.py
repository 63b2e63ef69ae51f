"""Order, search, counts and running sums: sort, argsort, topk, searchsorted, bincount, cumsum, cumprod."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.gpuarray.dialect import device_blocks, text_of
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceBincount, DeviceCumulation, DeviceSearch, DeviceSort
from theano.gpuarray.lowering.common import MOST_AXES, functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters, Pointer
from theano.lowering.accepts import FLOATS, REAL
from theano.lowering.table import register
from theano.scalar.ctypes import c_type, compute_type, storage_support
from theano.tensor.kernels.common import dtype_of, ndim_of
from theano.tensor.sort.cumulative import CumOp
from theano.tensor.sort.op import ArgSortOp, SortOp, TopKOp
from theano.tensor.sort.search import SearchsortedOp
from theano.tensor.sort.sets import Bincount

#: What two elements become, and what changes no element: whole numbers wrap around, and adding -0.0 keeps a sign.
_JOINS = {
    ("bool", "add"): ("(COMPUTE)((x) || (y))", "0"), ("bool", "mul"): ("(COMPUTE)((x) && (y))", "1"),
    ("whole", "add"): ("(COMPUTE)((uint64_t)(x) + (uint64_t)(y))", "0"),
    ("whole", "mul"): ("(COMPUTE)((uint64_t)(x) * (uint64_t)(y))", "1"),
    ("float", "add"): ("((x) + (y))", "-0.0f"), ("float", "mul"): ("((x) * (y))", "1"),
}  # fmt: skip
#: The axes beside that of the lines for which `sort.cl` has room.
_KEPT_AXES = 16


def sort_functions(node: Apply, itemsize: int) -> list[Pointer | int]:
    """Return what orders blocks, what merges runs, and what writes the result, for elements of a size in bytes."""
    key = "uint64_t" if itemsize == 8 else "uint32_t"
    return functions(node, f"#define KEY {key}\n{text_of('sort.cl')}", ("sort_blocks", "merge_runs", "put_in_order"))


def _sort(node: Apply, axis: int, selects: bool, values: bool, places: bool) -> Parameters | None:
    x = node.inputs[0]
    if not 0 < ndim_of(x) <= _KEPT_AXES + 1:
        return None
    blocks, merge, put = sort_functions(node, np.dtype(dtype_of(x)).itemsize)
    return DeviceSort(blocks=blocks, merge=merge, put=put, axis=axis, selects=selects, values=values, places=places)


@ready("th_kernel_gpu_sort")
def sort_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the elements in order along the axis that input 1 names; equal ones stay in their order."""
    return _sort(node, 0, selects=False, values=True, places=False)


@ready("th_kernel_gpu_sort")
def argsort_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the places that put elements in order; equal ones stay in their order."""
    return _sort(node, 0, selects=False, values=False, places=True)


@ready("th_kernel_gpu_sort")
def topk_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the largest (or smallest) elements along an axis and their places, in order."""
    axis = op.axis % max(ndim_of(node.inputs[0]), 1)
    return _sort(node, axis, selects=True, values=op.return_values, places=op.return_indices)


@ready("th_kernel_gpu_search")
def searchsorted_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the places where values go into a sorted vector."""
    x, values = (dtype_of(v) for v in node.inputs[:2])
    if len(node.inputs) > 2 or ndim_of(node.inputs[1]) > _KEPT_AXES:
        return None  # that an order is none is an error, which only the host finds
    common = str(np.promote_types(x, values))
    words = {"LESS(x, y)": "((x) < (y) || ((y) != (y) && (x) == (x)))" if common.startswith("float") else "((x) < (y))"}
    for name, dtype in (("X", x), ("V", values)):
        words[name] = c_type(dtype)
        words[f"{name}_LOAD(x)"] = f"(COMMON){'th_load_f16' if dtype == 'float16' else ''}(x)"
    half = "".join(f"{block}\n" for block in device_blocks(storage_support("float16")) or ())
    macros = "".join(f"#define {name} {value}\n" for name, value in {"COMMON": compute_type(common), **words}.items())
    (function,) = functions(node, half + macros + text_of("sort_search.cl"), ("search",))
    return DeviceSearch(function=function, right=op.side == "right")


@ready("th_kernel_gpu_bincount")
def bincount_kernel(op: Any, node: Apply) -> Parameters:
    """Return how often each number occurs, or the sum of its weights in the order in which they come."""
    weighted = len(node.inputs) > 2
    blocks, merge, put = sort_functions(node, np.dtype(dtype_of(node.inputs[0])).itemsize)
    text = shipped("sort_bincount.cl", dtype_of(node.outputs[0]), NUMBERS=c_type(dtype_of(node.inputs[0])))
    (count,) = functions(node, text, ("count",))
    return DeviceBincount(blocks=blocks, merge=merge, put=put, count=count, weighted=weighted)


@ready("th_kernel_gpu_cumulate")
def cumulate_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the sums or products up to each place."""
    dtype, ndim = dtype_of(node.inputs[0]), ndim_of(node.inputs[0])
    if ndim > MOST_AXES:
        return None
    kind = "bool" if dtype == "bool" else "float" if dtype.startswith("float") else "whole"
    join, none = _JOINS[kind, op.mode]
    macros = {"JOIN(x, y)": join, "NONE": f"((COMPUTE){none})"}
    text = shipped("sort_cumulate.cl", dtype, AXES=max(ndim, 1), **macros)
    totals, cumulated = functions(node, text, ("totals", "cumulated"))
    axis = -1 if op.axis is None else op.axis % ndim
    return DeviceCumulation(totals=totals, cumulated=cumulated, axis=axis)


def _second(node: Apply) -> tuple[int, ...]:
    """Return the input that is an axis, a number of elements or a length."""
    return (1,)


register(
    on_device(CumOp, cumulate_kernel, {"x": REAL}),
    on_device(SortOp, sort_kernel, {"x": REAL}, on_host=_second),
    on_device(ArgSortOp, argsort_kernel, {"x": REAL}, on_host=_second),
    on_device(TopKOp, topk_kernel, on_host=_second),
    on_device(SearchsortedOp, searchsorted_kernel),
    on_device(Bincount, bincount_kernel, {"weights": FLOATS}, on_host=_second),
)
