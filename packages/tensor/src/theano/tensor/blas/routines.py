"""The routines of BLAS as ops: what rewriting turns sums and products of matrices into.

``Gemm`` is ``b z + a x y``, ``Gemv`` is ``beta y + alpha A x``, ``Ger`` is ``A + alpha x y'``, ``Dot22`` is ``x y``
of two matrices of one floating dtype, ``Dot22Scalar`` that times a number. The first three have forms that write
into their first input. Users write ``dot``, ``+`` and ``*``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.gradient.through import backward, forward
from theano.graph import Apply, Op
from theano.tensor.blas.dot import dot
from theano.tensor.convert import as_tensor_variable
from theano.tensor.messages import describe, shape_error
from theano.tensor.type import TensorApply, TensorType

BLAS_DTYPES = ("float16", "float32", "float64", "complex64", "complex128")


def _checked(op: Op, inputs: Sequence[Any], ndims: Sequence[int]) -> list[Any]:
    """Return the inputs as tensors of one BLAS dtype and the wanted numbers of dimensions."""
    if len(inputs) != len(ndims):
        raise TypeError(f"{op} takes {len(ndims)} inputs, got {len(inputs)}")
    tensors = [as_tensor_variable(x) for x in inputs]
    for i, (x, ndim) in enumerate(zip(tensors, ndims, strict=True)):
        if x.type.ndim != ndim:
            raise TypeError(f"{op}: input {i} must have {ndim} dimensions:\n{describe(x)}")
        if x.type.dtype != tensors[0].type.dtype or x.type.dtype not in BLAS_DTYPES:
            raise TypeError(
                f"{op}: all inputs must be of one dtype among {', '.join(BLAS_DTYPES)}:\n"
                + "\n".join(map(describe, tensors))
            )
    return tensors


class _Formula(Op):
    """What the ops share that stand for a formula of products: it tells their derivatives."""

    def formula(self, *inputs: Any) -> Any:
        """Return the expression that this op computes."""
        raise NotImplementedError

    def expand(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the formula of given variables."""
        return [self.formula(*inputs)]

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient of the formula."""
        return backward(self.expand, inputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the direction of the formula."""
        return forward(self.expand, inputs, eval_points)


def _require(fits: bool, node: TensorApply, inputs: Sequence[Any], problem: str) -> None:
    if not fits:
        raise shape_error(node, inputs, f"Shape mismatch: {problem}.", "Rows and columns must match as in a product.")


class Dot22(_Formula):
    """The product of two matrices of one floating dtype."""

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        """Return the node."""
        x, y = _checked(self, (x, y), (2, 2))
        out = TensorType(x.type.dtype, (x.type.broadcastable[0], y.type.broadcastable[1]))
        return Apply(self, [x, y], [out.make_variable()])

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Multiply with NumPy."""
        x, y = inputs
        _require(x.shape[1] == y.shape[0], node, inputs, f"{x.shape[1]} columns against {y.shape[0]} rows")
        output_storage[0][0] = np.asarray(np.dot(x, y))

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return rows of the first and columns of the second."""
        return [(shapes[0][0], shapes[1][1])]

    def formula(self, *inputs: Any) -> Any:
        """Return the product."""
        return dot(*inputs)


class Dot22Scalar(_Formula):
    """The product of two matrices and a number."""

    __props__ = ()

    def make_node(self, x: Any, y: Any, a: Any) -> Apply:
        """Return the node."""
        x, y, a = _checked(self, (x, y, a), (2, 2, 0))
        out = TensorType(x.type.dtype, (x.type.broadcastable[0], y.type.broadcastable[1]))
        return Apply(self, [x, y, a], [out.make_variable()])

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Multiply with NumPy."""
        x, y, a = inputs
        _require(x.shape[1] == y.shape[0], node, inputs, f"{x.shape[1]} columns against {y.shape[0]} rows")
        output_storage[0][0] = np.asarray(a * np.dot(x, y), dtype=x.dtype)

    def formula(self, *inputs: Any) -> Any:
        """Return ``a x y``."""
        x, y, a = inputs
        return a * dot(x, y)

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return rows of the first and columns of the second."""
        return [(shapes[0][0], shapes[1][1])]


class _Update(_Formula):
    """What the ops share that add a product to their first input: they may write into it."""

    __props__: tuple[str, ...] = ("inplace",)
    ndims: tuple[int, ...]

    def __init__(self, inplace: bool = False):
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'inplace' if self.inplace else 'no_inplace'}}}"

    def in_place(self) -> Op:
        """Return the op that adds to its first input itself."""
        return type(self)(True)

    def checked_inputs(self, node: TensorApply) -> tuple[int, ...]:
        """Return that nothing but shapes can be wrong."""
        return ()

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node."""
        tensors = _checked(self, inputs, self.ndims)
        return Apply(self, tensors, [tensors[0].type.make_variable()])

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the shape of the first input."""
        return [shapes[0]]

    def _store(self, target: np.ndarray, value: Any) -> np.ndarray:
        if not self.inplace:
            return np.asarray(value, dtype=target.dtype)
        target[...] = value
        return target

    @staticmethod
    def _scaled(beta: Any, z: np.ndarray) -> Any:
        # As BLAS has it: with factor 0 the old content is not read, whatever it is.
        return 0 if beta == 0 else beta * z


class Gemm(_Update):
    """``b z + a x y`` of matrices x, y, z and numbers a, b; the inputs are z, a, x, y, b."""

    __props__ = ("inplace",)
    ndims = (2, 0, 2, 2, 0)

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compute with NumPy."""
        z, a, x, y, b = inputs
        _require(x.shape[1] == y.shape[0], node, inputs, f"{x.shape[1]} columns against {y.shape[0]} rows")
        _require(
            z.shape == (x.shape[0], y.shape[1]), node, inputs,
            f"a product of shape {(x.shape[0], y.shape[1])} added to shape {z.shape}",
        )  # fmt: skip
        output_storage[0][0] = self._store(z, self._scaled(b, z) + a * np.dot(x, y))

    def formula(self, *inputs: Any) -> Any:
        """Return ``b z + a x y``."""
        z, a, x, y, b = inputs
        return b * z + a * dot(x, y)


class Gemv(_Update):
    """``beta y + alpha A x`` of a matrix A, vectors x, y and two numbers; the inputs are y, alpha, A, x, beta."""

    __props__ = ("inplace",)
    ndims = (1, 0, 2, 1, 0)

    def __str__(self) -> str:
        # Printed graphs have always shown the form that calls C.
        return f"CGemv{{{'inplace' if self.inplace else 'no_inplace'}}}"

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compute with NumPy."""
        y, alpha, a, x, beta = inputs
        _require(a.shape[1] == x.shape[0], node, inputs, f"{a.shape[1]} columns against {x.shape[0]} elements")
        _require(a.shape[0] == y.shape[0], node, inputs, f"{a.shape[0]} rows added to {y.shape[0]} elements")
        output_storage[0][0] = self._store(y, self._scaled(beta, y) + alpha * np.dot(a, x))

    def formula(self, *inputs: Any) -> Any:
        """Return ``beta y + alpha A x``."""
        y, alpha, a, x, beta = inputs
        return beta * y + alpha * dot(a, x)


class Ger(_Update):
    """``A + alpha x y'`` of a matrix A, a number and vectors x, y; the inputs are A, alpha, x, y."""

    __props__ = ("destructive",)
    ndims = (2, 0, 1, 1)

    def __init__(self, destructive: bool = False):
        super().__init__(inplace=destructive)
        self.destructive = bool(destructive)

    def __str__(self) -> str:
        return f"CGer{{{'destructive' if self.destructive else 'non-destructive'}}}"

    def perform(self, node: TensorApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compute with NumPy."""
        a, alpha, x, y = inputs
        product = (len(x), len(y))
        _require(a.shape == product, node, inputs, f"a product of shape {product} added to shape {a.shape}")
        output_storage[0][0] = self._store(a, a + alpha * np.outer(x, y))

    def formula(self, *inputs: Any) -> Any:
        """Return ``A + alpha x y'``."""
        a, alpha, x, y = inputs
        return a + alpha * x.dimshuffle(0, "x") * y.dimshuffle("x", 0)


_dot22 = Dot22()
_dot22scalar = Dot22Scalar()
gemm_no_inplace, gemm_inplace = Gemm(), Gemm(inplace=True)
gemv_no_inplace, gemv_inplace = Gemv(), Gemv(inplace=True)
ger, ger_destructive = Ger(), Ger(destructive=True)
