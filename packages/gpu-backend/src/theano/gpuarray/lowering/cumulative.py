"""Sums and products of the elements up to each place, a group of work-items for some lines or for a part of one."""

from __future__ import annotations

from typing import Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceCumulation
from theano.gpuarray.lowering.common import MOST_AXES, TARGET, functions, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels.common import dtype_of, ndim_of
from theano.tensor.sort.cumulative import CumOp

#: What two elements become, and what changes no element: whole numbers wrap around, and adding -0.0 keeps a sign.
_JOINS = {
    ("bool", "add"): ("(COMPUTE)((x) || (y))", "0"), ("bool", "mul"): ("(COMPUTE)((x) && (y))", "1"),
    ("whole", "add"): ("(COMPUTE)((uint64_t)(x) + (uint64_t)(y))", "0"),
    ("whole", "mul"): ("(COMPUTE)((uint64_t)(x) * (uint64_t)(y))", "1"),
    ("float", "add"): ("((x) + (y))", "-0.0f"), ("float", "mul"): ("((x) * (y))", "1"),
}  # fmt: skip


@ready("th_kernel_gpu_cumulate")
def cumulate_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the sums or products up to each place."""
    dtype, ndim = dtype_of(node.inputs[0]), ndim_of(node.inputs[0])
    if ndim > MOST_AXES:
        return None
    kind = "bool" if dtype == "bool" else "float" if dtype.startswith("float") else "whole"
    join, none = _JOINS[kind, op.mode]
    macros = {"JOIN(x, y)": join, "NONE": f"((COMPUTE){none})"}
    text = shipped("cumulate.cl", dtype, AXES=max(ndim, 1), **macros)
    totals, cumulated = functions(node, text, ("totals", "cumulated"))
    axis = -1 if op.axis is None else op.axis % ndim
    return DeviceCumulation(totals=totals, cumulated=cumulated, axis=axis)


register(Lowering(CumOp, cumulate_kernel, Accepts("x -> y", dtypes={"x": REAL}, same=("x y",)), target=TARGET))
