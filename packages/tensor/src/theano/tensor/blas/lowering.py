"""Products of vectors and matrices: which kernel of the library, and which routines of BLAS it is handed."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import BLAS, KNOWN, Accepts, Dtypes
from theano.lowering.table import Lowering, register
from theano.tensor.blas.choice import choose_gemm, thread_limit
from theano.tensor.blas.dot import BatchedDot, Dot
from theano.tensor.blas.library import BlasLibrary, describe_blas, find_blas
from theano.tensor.blas.routines import Dot22, Dot22Scalar, Gemm, Gemv, Ger
from theano.tensor.kernels import parameters, tuning
from theano.tensor.kernels.common import (
    dtype_of,
    library_path,
    library_paths,
    library_vectors,
    ready,
    works_in_place,
)
from theano.toolchain.checks import Line

if TYPE_CHECKING:
    from theano.graph.op import Op

__all__ = [
    "BlasLibrary", "batched_dot_kernel", "describe_blas", "doctor", "dot22scalar_kernel", "dot_kernel", "find_blas",
    "gemm_kernel", "gemv_kernel", "ger_kernel",
]  # fmt: skip


def _routines(op: Op, node: Apply) -> Parameters:
    """Return the parameters of each product of ``c/linear.c``: how it works, and the routines it may call."""
    library, dtype = find_blas(), dtype_of(node.inputs[0])
    choice = choose_gemm(library)
    return parameters.BlasParams(
        in_place=works_in_place(op), wide=library.integers == 64,
        tuning=tuning.pointer() if choice.by_size else 0, own=choice.up_to, threads=thread_limit(),
        **{routine: library.address(routine, dtype) for routine in ("gemm", "gemv", "ger", "dot")},
    )  # fmt: skip


@ready("th_kernel_dot", work=20.0)
def dot_kernel(op: Op, node: Apply) -> Parameters:
    """Return the product of two vectors or matrices."""
    return _routines(op, node)


@ready("th_kernel_dot", work=20.0)
def dot22scalar_kernel(op: Dot22Scalar, node: Apply) -> Parameters:
    """Return the product of two matrices and a number."""
    return _routines(op, node)


@ready("th_kernel_gemm", work=20.0)
def gemm_kernel(op: Gemm, node: Apply) -> Parameters:
    """Return ``b z + a x y``; in place of z if the op declares that."""
    return _routines(op, node)


@ready("th_kernel_gemv", work=20.0)
def gemv_kernel(op: Gemv, node: Apply) -> Parameters:
    """Return ``b y + a A x``; in place of y if the op declares that."""
    return _routines(op, node)


@ready("th_kernel_ger", work=20.0)
def ger_kernel(op: Ger, node: Apply) -> Parameters:
    """Return ``A + a x y'``; in place of A if the op declares that."""
    return _routines(op, node)


@ready("th_kernel_batched_dot", work=20.0)
def batched_dot_kernel(op: BatchedDot, node: Apply) -> Parameters:
    """Return the products of pairs along the first axis; either side may be matrices or vectors."""
    return _routines(op, node)


# Our own loops know all numbers but these: a sum of theirs would want a wider one.
_PRODUCTS = Dtypes("any number but float16", KNOWN.names - {"float16"})

register(
    Lowering(Dot, dot_kernel, Accepts(
        "x, y -> z", dtypes={"x": _PRODUCTS}, ndim={"x": (1, 2), "y": (1, 2)}, same=("x y z",),
    ), by_types=True),
    Lowering(Dot22, dot_kernel, Accepts(
        "x, y -> z", dtypes={"x": _PRODUCTS}, ndim={"x": 2, "y": 2}, same=("x y z",),
    ), by_types=True),
    Lowering(Dot22Scalar, dot22scalar_kernel, Accepts(
        "x, y, a -> z", dtypes={"x": BLAS}, ndim={"x": 2, "y": 2, "a": 0}, same=("x y a z",),
    )),
    Lowering(Gemm, gemm_kernel, Accepts(
        "z, a, x, y, b -> new", dtypes={"z": BLAS}, ndim={"z": 2, "a": 0, "x": 2, "y": 2, "b": 0},
        same=("z a x y b new",),
    ), by_types=True),
    Lowering(Gemv, gemv_kernel, Accepts(
        "y, a, A, x, b -> new", dtypes={"y": BLAS}, ndim={"y": 1, "a": 0, "A": 2, "x": 1, "b": 0},
        same=("y a A x b new",),
    ), by_types=True),
    Lowering(Ger, ger_kernel, Accepts(
        "A, a, x, y -> new", dtypes={"A": BLAS}, ndim={"A": 2, "a": 0, "x": 1, "y": 1}, same=("A a x y new",),
    )),
    Lowering(BatchedDot, batched_dot_kernel, Accepts(
        "x, y -> z", dtypes={"x": _PRODUCTS}, ndim={"x": (2, 3), "y": (2, 3)}, same=("x y z",),
    )),
)  # fmt: skip


def doctor() -> Iterator[Line]:
    """Yield what the doctor says about this layer's compiled code."""
    library = find_blas()
    remedy = "" if library.addresses else "pip install --upgrade numpy scipy"
    yield Line("BLAS", describe_blas(), bool(library.addresses), remedy)
    yield Line("products", choose_gemm(library).reason)
    yield Line("tuning", f"{tuning.source()} (python -m theano.doctor --calibrate measures anew)")
    paths, path = library_paths(), library_path()
    if path is None:
        text = "no C kernels of theano-tensor for this CPU and the flag cpu_level: all that they do runs in Python"
        remedy = "pip install --force-reinstall theano-tensor; in a working copy with THEANO_LEVELS=all for all levels"
        yield Line("kernels", text, False, remedy)
    else:
        levels = f"levels for this CPU: {', '.join(paths)}; {library_vectors()} on {platform.machine()}"
        yield Line("kernels", f"{path} ({levels})")
