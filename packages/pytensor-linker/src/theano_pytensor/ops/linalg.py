"""Products, decompositions, solutions; and any op over the last axes of its inputs (`Blockwise`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor import linalg as pl
from pytensor.tensor.blas.batched import BatchedDot
from pytensor.tensor.blas.gemm import Dot22, Dot22Scalar, Gemm
from pytensor.tensor.blas.gemv import Gemv
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg.constructors import BlockDiagonal
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.decomposition.eigen import Eig, Eigh, Eigvalsh
from pytensor.tensor.linalg.decomposition.lu import LU, LUFactor, PivotToPermutations
from pytensor.tensor.linalg.decomposition.qr import QR
from pytensor.tensor.linalg.decomposition.svd import SVD
from pytensor.tensor.linalg.inverse import MatrixInverse, MatrixPinv, TensorInv
from pytensor.tensor.linalg.products import Expm
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.lstsq import Lstsq, TensorSolve
from pytensor.tensor.linalg.solvers.psd import CholeskySolve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
from pytensor.tensor.linalg.summary import Det, SLogDet
from pytensor.tensor.math import Dot

import theano
import theano.tensor as T
from theano.scan.op import Scan
from theano.scan.spec import LoopSpec
from theano.tensor.linalg import determinant, elimination, equations, factor, functions
from theano_pytensor.convert import convert, strictly
from theano_pytensor.types import cast, type_of

__all__ = ["pl"]


def _of(node: Any, *inputs: Any, k: int = 0) -> Any:
    """Return inputs in the dtype of an output of the node."""
    dtype = node.outputs[k].type.dtype
    return [cast(x, dtype) for x in inputs]


def _refuse_complex(*inputs: Any) -> None:
    if any(x.type.dtype.startswith("complex") for x in inputs):
        raise NotImplementedError("the op says nothing of complex numbers")


@convert.register(Dot)
@convert.register(Dot22)
def _(op: Any, node: Any, x: Any, y: Any) -> Any:
    return T.dot(*_of(node, x, y))


@convert.register(Dot22Scalar)
def _(op: Any, node: Any, x: Any, y: Any, a: Any) -> Any:
    return a * T.dot(x, y)


@convert.register(Gemm)
def _(op: Any, node: Any, z: Any, a: Any, x: Any, y: Any, b: Any) -> Any:
    return b * z + a * T.dot(x, y)


@convert.register(Gemv)
def _(op: Any, node: Any, y: Any, a: Any, A: Any, x: Any, b: Any) -> Any:
    return b * y + a * T.dot(A, x)


@convert.register(BatchedDot)
def _(op: Any, node: Any, x: Any, y: Any) -> Any:
    return T.batched_dot(*_of(node, x, y))


@convert.register(Cholesky)
def _(op: Any, node: Any, x: Any) -> Any:
    return factor.Cholesky(lower=op.lower, on_error="nan")(*_of(node, x))


@convert.register(SolveTriangular)
def _(op: Any, node: Any, A: Any, b: Any) -> Any:
    if op.unit_diagonal:
        A = T.switch(T.eq(T.arange(A.shape[0]).dimshuffle(0, "x"), T.arange(A.shape[0])), T.ones_like(A), A)
    kind = "lower_triangular" if op.lower else "upper_triangular"
    return equations.Solve(kind, on_error="nan")(*_of(node, A, b))


@convert.register(Solve)
def _(op: Any, node: Any, A: Any, b: Any) -> Any:
    return equations.Solve("general", on_error="nan")(*_of(node, _whole(op, A), b))


def _mirrored(A: Any, lower: bool) -> Any:
    """Return the symmetric matrix with this triangle of ``A``."""
    return T.tril(A) + T.tril(A, -1).T if lower else T.triu(A) + T.triu(A, 1).T


_SYMMETRIC = ("sym", "symmetric", "her", "hermitian", "pos", "positive definite")


def _whole(op: Any, A: Any) -> Any:
    """Return the matrix that is solved with, of which only one triangle may be read."""
    kind = getattr(op, "assume_a", "gen")
    if kind in ("gen", "general"):
        return A
    if kind in _SYMMETRIC and not A.type.dtype.startswith("complex"):
        return _mirrored(A, op.lower)
    if kind in ("diagonal",):
        return T.eye(A.shape[0], dtype=A.type.dtype) * A
    if kind in ("upper triangular",):
        return T.triu(A)
    if kind in ("lower triangular",):
        return T.tril(A)
    raise NotImplementedError(f"equations of a matrix that is {kind}")


@convert.register(CholeskySolve)
def _(op: Any, node: Any, C: Any, b: Any) -> Any:
    return cast(equations.cho_solve((C, bool(op.lower)), b, on_error="nan"), node.outputs[0].type.dtype)


@convert.register(MatrixInverse)
def _(op: Any, node: Any, x: Any) -> Any:
    return equations.MatrixInverse()(*_of(node, x))


@convert.register(MatrixPinv)
def _(op: Any, node: Any, x: Any) -> Any:
    (x,) = _of(node, x)
    if op.hermitian:
        _refuse_complex(x)
        x = _mirrored(x, lower=True)
    return equations.pinv(x)


@convert.register(Det)
def _(op: Any, node: Any, x: Any) -> Any:
    return determinant.Det()(*_of(node, x))


@convert.register(SLogDet)
def _(op: Any, node: Any, x: Any) -> Any:
    return determinant.slogdet(*_of(node, x))


@convert.register(Expm)
def _(op: Any, node: Any, x: Any) -> Any:
    return functions.Expm()(*_of(node, x))


@convert.register(Eigh)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    _refuse_complex(*inputs)  # its vectors are declared to be real
    if len(inputs) > 1:
        reduced, L = _reduced(op, *_of(node, *inputs, k=1))
        values, vectors = factor.eigh(reduced, "L")
        return [values, equations.Solve("upper_triangular")(L.T, vectors)]
    return factor.eigh(_of(node, *inputs, k=1)[0], "L" if op.lower else "U")


@convert.register(Eigvalsh)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    if len(inputs) > 1:
        _refuse_complex(*inputs)
        return factor.eigh(_reduced(op, *_of(node, *inputs))[0], "L")[0]
    return factor.eigh(inputs[0], "L" if op.lower else "U")[0]


def _reduced(op: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the matrix with the eigenvalues of ``a v = w b v``, L^-1 a L^-T, and L, where L L^T is ``b``."""
    L, solve = factor.Cholesky(lower=True)(_mirrored(b, op.lower)), equations.Solve("lower_triangular")
    return solve(L, solve(L, _mirrored(a, op.lower)).T), L


@convert.register(Eig)
def _(op: Any, node: Any, x: Any) -> Any:
    return factor.Eig()(*_of(node, x))  # of complex numbers, which values of a real matrix may be


@convert.register(Lstsq)
def _(op: Any, node: Any, a: Any, b: Any, least: Any) -> Any:
    return equations.lstsq()(a, b, least, return_list=True)


@convert.register(TensorInv)
def _(op: Any, node: Any, a: Any) -> Any:
    return T.linalg.tensorinv(a, op.ind)


@convert.register(TensorSolve)
def _(op: Any, node: Any, a: Any, b: Any) -> Any:
    return T.linalg.tensorsolve(a, b, op.axes)


@convert.register(QR)
def _(op: Any, node: Any, x: Any) -> Any:
    if op.mode == "raw" or op.pivoting:
        raise NotImplementedError(f"the decomposition QR in the mode {op.mode}, with pivoting: {op.pivoting}")
    (x,) = _of(node, x)
    if op.mode != "r":
        return factor.qr(x, mode="complete" if op.mode == "full" else "reduced")
    rows = factor.qr(x, mode="r")  # without the rows of zeros below, of a matrix with more rows than columns
    return T.set_subtensor(T.zeros_like(x)[: rows.shape[0]], rows)


@convert.register(SVD)
def _(op: Any, node: Any, x: Any) -> Any:
    # Without vectors the only output is real, whatever the matrix is.
    given = _of(node, x)[0] if op.compute_uv else x
    return factor.svd(given, full_matrices=op.full_matrices, compute_uv=op.compute_uv)


@convert.register(LU)
def _(op: Any, node: Any, x: Any) -> Any:
    return elimination.lu(_of(node, x, k=1)[0], op.permute_l, op.p_indices)


@convert.register(LUFactor)
def _(op: Any, node: Any, x: Any) -> Any:
    lu, pivots = elimination.lu_factor(*_of(node, x))
    return [T.switch(T.any(T.eq(T.diagonal(lu), 0)), np.nan, lu), pivots]


@convert.register(PivotToPermutations)
def _(op: Any, node: Any, pivots: Any) -> Any:
    made = pivots.owner
    known = made is not None and isinstance(made.op, elimination.LUFactor)
    order = made.outputs[2] if known else _exchanged(T.cast(pivots, "int64"))
    return order if op.inverse else T.set_subtensor(T.zeros_like(order)[order], T.arange(order.shape[0]))


def _exchanged(pivots: Any) -> Any:
    """Return 0, 1, 2 ... after the element at each place in turn was exchanged with the one at its pivot."""
    n, zero = pivots.shape[0], T.constant(np.int64(0))
    i, order, fixed = zero.type(), pivots.type(), pivots.type()
    places = T.stack([i, fixed[i]])
    results = [i + 1, T.set_subtensor(order[places], order[places[::-1]])]
    spec = LoopSpec(sequences=(), states=(), mapped=0, carried=2, fixed=1, until=False)
    loop = Scan(spec, [i, order, fixed], results)
    return loop.spec.outer_outputs(loop(n, zero, T.arange(n), pivots, return_list=True)).carried[1]


@convert.register(BlockDiagonal)
def _(op: Any, node: Any, *blocks: Any) -> Any:
    blocks = tuple(_of(node, *blocks))
    width = sum((b.shape[1] for b in blocks[1:]), blocks[0].shape[1])
    left: Any = 0
    rows = []
    for b in blocks:
        zeros = T.zeros((b.shape[0], width), b.type.dtype)
        rows.append(T.set_subtensor(zeros[:, left : left + b.shape[1]], b))
        left = left + b.shape[1]
    return T.join(0, *rows)


@convert.register(Blockwise)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    core = op._create_dummy_core_node(node.inputs)
    batch = node.outputs[0].type.ndim - core.outputs[0].type.ndim
    if not batch:
        return strictly(op.core_op, core, inputs)
    # An axis that all have with a length known to be 1 is no batch: the outputs get it back at the end.
    rows, given, batched = [], [], {}
    for x, v in zip(inputs, core.inputs, strict=True):
        row = type_of(v.type)()
        x = T.patternbroadcast(x, (*x.type.broadcastable[:batch], *row.type.broadcastable))
        if all(x.type.broadcastable[:batch]):
            row = x.dimshuffle(*range(batch, x.type.ndim))  # the same in all rows
        else:
            batched[row] = x
        rows.append(row)
        given.append(x)
    steps = strictly(op.core_op, core, rows)
    made = theano.vectorize_graph(steps, batched) if batched else steps
    return [_with_batch(y, v, batch, given) for y, v in zip(made, node.outputs, strict=True)]


def _with_batch(y: Any, v: Any, batch: int, given: Any) -> Any:
    """Return an output with all batch axes, also those on which it does not depend."""
    own = y.type.ndim - (v.type.ndim - batch)
    flags = y.type.broadcastable[:own]
    wanted = [all(x.type.broadcastable[k] for x in given) for k in range(batch)]
    if own == batch and list(flags) == wanted:
        return y
    lengths = []
    for k, one in enumerate(wanted):
        lengths.append(1 if one else next(x.shape[k] for x in given if not x.type.broadcastable[k]))
    return T.alloc(y, *lengths, *(y.shape[own + k] for k in range(v.type.ndim - batch)))
