"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from theano.gpuarray.gemm_batch import GemmBatch
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceProduct
from theano.gpuarray.lowering.common import TARGET, functions, multiply_add, on_device, shipped, sums_and_products
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters, Pointer
from theano.lowering.accepts import BLAS, FLOATS, Accepts, Dtypes
from theano.lowering.table import Lowering, register
from theano.tensor.blas.dot import BatchedDot, Dot
from theano.tensor.blas.routines import Dot22, Dot22Scalar, Gemm, Gemv, Ger
from theano.tensor.kernels.common import dtype_of, works_in_place

_PLAIN = {"batch": False, "outer": False, "added": -1, "factor": -1, "scale": -1, "in_place": False}


def product_functions(node: Apply, dtype: str) -> list[Pointer | int]:
    """Return the device functions for products of a dtype: for many elements, and for few of long sums."""
    text = shipped("blas.cl", dtype, **sums_and_products(dtype), **multiply_add(dtype))
    return functions(node, text, ("tiled", "thin"))


def _product(op: Any, node: Apply, left: int, right: int, **more: object) -> Parameters:
    tiled, thin = product_functions(node, dtype_of(node.outputs[0]))
    return DeviceProduct(tiled=tiled, thin=thin, left=left, right=right, **{**_PLAIN, **more})


@ready("th_kernel_gpu_blas")
def dot_kernel(op: Any, node: Apply) -> Parameters:
    """Return the product of two vectors or matrices."""
    return _product(op, node, 0, 1)


@ready("th_kernel_gpu_blas")
def dot22scalar_kernel(op: Any, node: Apply) -> Parameters:
    """Return the product of two matrices and a number."""
    return _product(op, node, 0, 1, factor=2)


@ready("th_kernel_gpu_blas")
def batched_dot_kernel(op: Any, node: Apply) -> Parameters:
    """Return the products of pairs along the first axis; either side may be matrices or vectors."""
    return _product(op, node, 0, 1, batch=True)


@ready("th_kernel_gpu_blas")
def gemm_kernel(op: Any, node: Apply) -> Parameters:
    """Return ``b z + a x y``; in place of z if the op declares that."""
    return _product(op, node, 2, 3, added=0, factor=1, scale=4, in_place=works_in_place(op))


@ready("th_kernel_gpu_blas")
def gemm_batch_kernel(op: Any, node: Apply) -> Parameters:
    """Return ``b z + a x y`` of each matrix along the first axis; in place of z if the op declares that."""
    return _product(op, node, 2, 3, batch=True, added=0, factor=1, scale=4, in_place=works_in_place(op))


@ready("th_kernel_gpu_blas")
def ger_kernel(op: Any, node: Apply) -> Parameters:
    """Return ``A + a x y'``; in place of A if the op declares that."""
    return _product(op, node, 2, 3, outer=True, added=0, factor=1, in_place=works_in_place(op))


_PRODUCTS = Dtypes("float or complex", FLOATS.names | BLAS.names)

register(
    on_device(Dot, dot_kernel, {"x": _PRODUCTS}),
    on_device(Dot22, dot_kernel, {"x": _PRODUCTS}),
    on_device(Dot22Scalar, dot22scalar_kernel, on_host=lambda node: (2,)),
    on_device(Gemm, gemm_kernel, on_host=lambda node: (1, 4)),
    Lowering(GemmBatch, gemm_batch_kernel, Accepts(
        "z, a, x, y, b -> new", dtypes={"z": BLAS}, ndim={"z": 3, "a": 0, "x": 3, "y": 3, "b": 0},
        same=("z a x y b new",),
    ), target=TARGET, on_host=lambda node: (1, 4)),
    on_device(Gemv, gemm_kernel, on_host=lambda node: (1, 4)),
    on_device(Ger, ger_kernel, on_host=lambda node: (1,)),
    on_device(BatchedDot, batched_dot_kernel, {"x": _PRODUCTS}),
)  # fmt: skip
