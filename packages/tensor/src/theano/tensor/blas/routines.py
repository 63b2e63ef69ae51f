"""The routines of BLAS as ops: what rewriting turns sums and products of matrices into.

``Gemm`` is ``b z + a x y``, ``Gemv`` is ``beta y + alpha A x``, ``Ger`` is ``A + alpha x y'``, ``Dot22`` is ``x y``
of two matrices of one floating dtype, ``Dot22Scalar`` that times a number. The first three have forms that write
into their first input. Users write ``dot``, ``+`` and ``*``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.compile.expression import ExpressionOp
from theano.errors import InconsistencyError
from theano.graph import Constant, Op
from theano.graph.traverse import view_roots
from theano.graph.type import Type
from theano.tensor.blas.dot import dot
from theano.tensor.compound import of_ndims
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast
from theano.tensor.messages import describe, shape_error
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor

BLAS_DTYPES = ("float16", "float32", "float64", "complex64", "complex128")


class _Routine(ExpressionOp):
    """What the ops share: inputs of one BLAS dtype, and a formula of products that tells their derivatives."""

    ndims: tuple[int, ...]

    def convert(self, *inputs: Variable) -> list[Any]:
        """Return the inputs as tensors of one BLAS dtype and the wanted numbers of dimensions."""
        tensors = of_ndims(self, inputs, self.ndims)
        first = tensors[0].type.dtype
        tensors = [_in_dtype(v, first) if v.type.ndim == 0 else v for v in tensors]
        if first not in BLAS_DTYPES or any(x.type.dtype != first for x in tensors):
            raise TypeError(
                f"{self}: all inputs must be of one dtype among {', '.join(BLAS_DTYPES)}:\n"
                + "\n".join(map(describe, tensors))
            )
        return tensors


class WrongRank(TypeError):
    """An input has another number of dimensions: the expected number (the first argument), and which input it is."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


def _in_dtype(number: Tensor, dtype: str) -> Tensor:
    """Return a number in the dtype of what it scales, if that holds it: 1.0 alone is of float32."""
    if isinstance(number, Constant) and np.can_cast(np.min_scalar_type(number.data), dtype):
        kept = number.data.astype(dtype)
        return as_tensor_variable(kept) if kept == number.data else number
    return number if scal.upcast(number.type.dtype, dtype) != dtype else cast(number, dtype)


def _require(fits: bool, node: TensorApply, inputs: Sequence[np.ndarray], problem: str) -> None:
    if not fits:
        raise shape_error(node, inputs, f"Shape mismatch: {problem}.", "Rows and columns must match as in a product.")


class _Product(_Routine):
    """What the ops share that multiply two matrices."""

    __props__ = ()
    shapes = "ij,jk->ik"

    def output_types(self, inputs: Sequence[Any]) -> list[Type]:
        """Return the type of rows of the first and columns of the second."""
        x, y = (v.type for v in inputs[:2])
        return [TensorType(x.dtype, (x.broadcastable[0], y.broadcastable[1]))]


class Dot22(_Product):
    """The product of two matrices of one floating dtype."""

    ndims = (2, 2)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Multiply with NumPy."""
        x, y = inputs
        _require(x.shape[1] == y.shape[0], node, inputs, f"{x.shape[1]} columns against {y.shape[0]} rows")
        output_storage[0][0] = np.asarray(np.dot(x, y))

    def expression(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the product."""
        return dot(x, y)


class Dot22Scalar(_Product):
    """The product of two matrices and a number."""

    ndims = (2, 2, 0)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Multiply with NumPy."""
        x, y, a = inputs
        _require(x.shape[1] == y.shape[0], node, inputs, f"{x.shape[1]} columns against {y.shape[0]} rows")
        output_storage[0][0] = np.asarray(a * np.dot(x, y), dtype=x.dtype)

    def expression(self, x: Tensor, y: Tensor, a: Tensor) -> Tensor:
        """Return ``a x y``."""
        return a * dot(x, y)


class _Update(_Routine):
    """What the ops share that add a product to their first input: they may write into it."""

    __props__: tuple[str, ...] = ("inplace",)
    #: The message where the first input shares memory with another one, and would be overwritten.
    E_z_uniq = "the first input is overwritten: no other input may be in its memory"
    shapes = "A->A"

    def __init__(self, inplace: bool = False):
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'inplace' if self.inplace else 'no_inplace'}}}"

    def in_place(self) -> Op:
        """Return the op that adds to its first input itself."""
        return type(self)(True)

    def convert(self, *inputs: Any) -> list[Variable]:
        """Return the inputs as they must be; what is overwritten is read by nothing else of the node."""
        tensors = super().convert(*inputs)
        if self.inplace:
            written = set(view_roots(tensors[0]))
            if any(not written.isdisjoint(view_roots(v)) for v in tensors[1:]):
                raise InconsistencyError(self.E_z_uniq)
        return tensors

    def checked_inputs(self, node: TensorApply) -> tuple[int, ...]:
        """Return that nothing but shapes can be wrong."""
        return ()

    def output_types(self, inputs: Sequence[Variable]) -> list[Type]:
        """Return the type of the first input."""
        return [inputs[0].type]

    def _store(self, target: np.ndarray, value: np.ndarray) -> np.ndarray:
        if not self.inplace:
            return np.asarray(value, dtype=target.dtype)
        target[...] = value
        return target

    @staticmethod
    def _scaled(beta: object, z: np.ndarray) -> Any:
        # As BLAS has it: with factor 0 the old content is not read, whatever it is.
        return 0 if beta == 0 else beta * z


class Gemm(_Update):
    """``b z + a x y`` of matrices x, y, z and numbers a, b; the inputs are z, a, x, y, b."""

    __props__ = ("inplace",)
    ndims = (2, 0, 2, 2, 0)
    #: The message where an input has another number of dimensions.
    E_rank = "gemm takes a matrix, a number, two matrices and a number"

    def convert(self, *inputs: Any) -> list[Variable]:
        """Return the inputs as they must be."""
        try:
            tensors = of_ndims(self, inputs, self.ndims)
        except TypeError as which:
            raise WrongRank(self.E_rank, str(which)) from None
        return super().convert(*tensors)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        z, a, x, y, b = inputs
        _require(x.shape[1] == y.shape[0], node, inputs, f"{x.shape[1]} columns against {y.shape[0]} rows")
        _require(
            z.shape == (x.shape[0], y.shape[1]), node, inputs,
            f"a product of shape {(x.shape[0], y.shape[1])} added to shape {z.shape}",
        )  # fmt: skip
        output_storage[0][0] = self._store(z, self._scaled(b, z) + a * np.dot(x, y))

    def expression(self, z: Tensor, a: Tensor, x: Tensor, y: Tensor, b: Tensor) -> Tensor:
        """Return ``b z + a x y``."""
        return b * z + a * dot(x, y)


class Gemv(_Update):
    """``beta y + alpha A x`` of a matrix A, vectors x, y and two numbers; the inputs are y, alpha, A, x, beta."""

    __props__ = ("inplace",)
    ndims = (1, 0, 2, 1, 0)

    def __str__(self) -> str:
        # Printed graphs have always shown the form that calls C.
        return f"CGemv{{{'inplace' if self.inplace else 'no_inplace'}}}"

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        y, alpha, a, x, beta = inputs
        _require(a.shape[1] == x.shape[0], node, inputs, f"{a.shape[1]} columns against {x.shape[0]} elements")
        _require(a.shape[0] == y.shape[0], node, inputs, f"{a.shape[0]} rows added to {y.shape[0]} elements")
        output_storage[0][0] = self._store(y, self._scaled(beta, y) + alpha * np.dot(a, x))

    def expression(self, y: Tensor, alpha: Tensor, a: Tensor, x: Tensor, beta: Tensor) -> Tensor:
        """Return ``beta y + alpha A x``."""
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

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        a, alpha, x, y = inputs
        product = (len(x), len(y))
        _require(a.shape == product, node, inputs, f"a product of shape {product} added to shape {a.shape}")
        output_storage[0][0] = self._store(a, a + alpha * np.outer(x, y))

    def expression(self, a: Tensor, alpha: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """Return ``A + alpha x y'``."""
        return a + alpha * x.dimshuffle(0, "x") * y.dimshuffle("x", 0)


_dot22 = Dot22()
_dot22scalar = Dot22Scalar()
gemm_no_inplace, gemm_inplace = Gemm(), Gemm(inplace=True)
gemv_no_inplace, gemv_inplace = Gemv(), Gemv(inplace=True)
ger, ger_destructive = Ger(), Ger(destructive=True)
