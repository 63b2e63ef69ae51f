"""Products of vectors and matrices: which kernel of the library, and which routines of BLAS it is handed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from theano.codegen.kernel import Builtin
from theano.graph.apply import Apply
from theano.tensor.kernels.blas_choice import choose_gemm, thread_limit
from theano.tensor.kernels.blas_library import BlasLibrary, describe_blas, find_blas
from theano.tensor.kernels.common import (
    builtin,
    dtypes_of,
    library_path,
    library_paths,
    ndim_of,
    works_in_place,
)
from theano.toolchain.checks import Line, register_check

__all__ = [
    "BlasLibrary", "batched_dot_kernel", "describe_blas", "dot22_kernel", "dot22scalar_kernel", "dot_kernel",
    "find_blas", "gemm_kernel", "gemv_kernel", "ger_kernel",
]  # fmt: skip

_BLAS_DTYPES = ("float32", "float64", "complex64", "complex128")


def _product(symbol: str, op: Any, node: Apply, dims: tuple[tuple[int, ...], ...], scalars_too: bool) -> Builtin | None:
    """Return a kernel of linear.c if all variables have one dtype and the given numbers of axes.

    ``dims`` holds the allowed numbers of axes of each input.
    """
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or len(set(dtypes)) != 1 or dtypes[0] == "float16":
        return None
    if scalars_too and dtypes[0] not in _BLAS_DTYPES:
        return None
    if len(node.inputs) != len(dims) or any(ndim_of(v) not in d for v, d in zip(node.inputs, dims, strict=True)):
        return None
    library, dtype = find_blas(), dtypes[0]
    pointers = [library.address(routine, dtype) for routine in ("gemm", "gemv", "ger", "dot")]
    own = choose_gemm(library).up_to
    return builtin(
        symbol, int(works_in_place(op)), int(library.integers == 64), own, thread_limit(), *pointers, work=20.0
    )


def dot_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the product of two vectors or matrices of one dtype."""
    return _product("th_kernel_dot", op, node, ((1, 2), (1, 2)), False)


def dot22_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the product of two matrices."""
    return _product("th_kernel_dot", op, node, ((2,), (2,)), False)


def dot22scalar_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the product of two matrices and a number."""
    return _product("th_kernel_dot", op, node, ((2,), (2,), (0,)), True)


def gemm_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return ``b z + a x y`` of the inputs z, a, x, y, b; in place of z if the op declares that."""
    return _product("th_kernel_gemm", op, node, ((2,), (0,), (2,), (2,), (0,)), True)


def gemv_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return ``beta y + alpha A x`` of the inputs y, alpha, A, x, beta; in place of y if the op declares that."""
    return _product("th_kernel_gemv", op, node, ((1,), (0,), (2,), (1,), (0,)), True)


def ger_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return ``A + alpha x y'`` of the inputs A, alpha, x, y; in place of A if the op declares that."""
    return _product("th_kernel_ger", op, node, ((2,), (0,), (1,), (1,)), True)


def batched_dot_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the products of pairs along the first axis; either side may be matrices or vectors."""
    return _product("th_kernel_batched_dot", op, node, ((2, 3), (2, 3)), False)


def _doctor() -> Iterator[Line]:
    """Yield what the doctor says about this layer's compiled code."""
    library = find_blas()
    remedy = "" if library.addresses else "pip install --upgrade numpy scipy"
    yield Line("BLAS", describe_blas(), bool(library.addresses), remedy)
    yield Line("products", choose_gemm(library).reason)
    paths, path = library_paths(), library_path()
    if path is None:
        text = "the C kernels of theano-tensor were not built; all that they do runs in Python"
        yield Line("kernels", text, False, "pip install --force-reinstall theano-tensor")
    else:
        yield Line("kernels", f"{path} (levels for this CPU: {', '.join(paths)})")


register_check("BLAS", _doctor)
