"""Random numbers at the places of a sparse matrix: experimental ops, drawn with NumPy's global state of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.gradient import DisconnectedType
from theano.gradient.absent import grad_undefined
from theano.graph import Apply, Op
from theano.sparse.compressed import CLASSES
from theano.sparse.parts.elements import Cells
from theano.sparse.parts.op import compressed
from theano.sparse.type import SparseType
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import SparseLike
    from theano.tensor.annotations import Shape, Shapes, TensorLike


class _Draw(Op):
    """Base of the ops: drawing again gives other numbers, so that nothing is computed ahead."""

    def do_constant_folding(self, node: Node) -> bool:
        """Return False."""
        return False


class Poisson(_Draw):
    """Numbers of a Poisson distribution whose means are the numbers that a sparse matrix stores.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> poisson(sp.csr_matrix([[0.0, 1e6]])).eval().nnz
    1
    """

    __props__ = ()
    shapes = "A->A"

    def make_node(self, x: SparseLike) -> Apply:
        x = compressed(x, self)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Draw with NumPy."""
        out = inputs[0].copy()
        out.data = np.asarray(np.random.poisson(out.data), dtype=out.dtype)
        out.eliminate_zeros()
        output_storage[0][0] = out

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return that the gradient does not exist."""
        return [grad_undefined(self, 0, inputs[0], "a random number has no slope")]


class Binomial(_Draw):
    """A sparse matrix of a given shape whose elements have binomial distributions.

    Inputs: the number of trials, their probability, the shape.

    Parameters
    ----------
    format : "csr" or "csc"
    dtype : str

    Examples
    --------
    >>> csr_dbinomial(5, 1.0, [1, 2]).eval().toarray()
    array([[5., 5.]])
    """

    __props__ = ("format", "dtype")

    def __init__(self, format: str, dtype: str):
        self.format, self.dtype = format, dtype

    def make_node(self, n: object, p: object, shape: object) -> Apply:
        n, p, shape = map(as_tensor_variable, (n, p, shape))
        return Apply(self, [n, p, shape], [SparseType(self.format, self.dtype).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Draw with NumPy."""
        n, p, shape = inputs
        drawn = np.random.binomial(n, p, size=tuple(shape))
        output_storage[0][0] = CLASSES[self.format](drawn, dtype=self.dtype)

    def infer_shape(self, node: Node, shapes: Shapes) -> list[Shape]:
        """Return the shape that was given."""
        return [(node.inputs[2][0], node.inputs[2][1])]

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the shape has no influence on the numbers."""
        return [[True], [True], [False]]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return that the gradient does not exist."""
        comment = "a random number has no slope"
        return [*(grad_undefined(self, i, inputs[i], comment) for i in range(2)), DisconnectedType()()]


csr_fbinomial, csc_fbinomial = Binomial("csr", "float32"), Binomial("csc", "float32")
csr_dbinomial, csc_dbinomial = Binomial("csr", "float64"), Binomial("csc", "float64")


class Multinomial(_Draw):
    """For each row of a sparse matrix of probabilities, how often each outcome occurs in some trials.

    Inputs: the number of trials, one or one for each row; the probabilities.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> multinomial(10, sp.csr_matrix([[0.0, 1.0]])).eval().toarray()
    array([[ 0., 10.]])
    """

    __props__ = ()
    shapes = ",A->A"

    def make_node(self, n: TensorLike, p: SparseLike) -> Apply:
        n, p = as_tensor_variable(n), compressed(p, self, "input 1")
        if p.type.format != "csr":
            raise TypeError(f"{self}: the matrix of probabilities must be in csr format, not {p.type.format}")
        if n.type.ndim > 1:
            raise TypeError(f"{self}: the trials must be a number or a vector, but {n} is of type {n.type}")
        return Apply(self, [n, p], [p.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Draw with NumPy, row by row."""
        n, p = inputs
        out = p.copy()
        if n.ndim and len(n) != p.shape[0]:
            raise ValueError(f"{self}: {len(n)} numbers of trials are given for {p.shape[0]} rows")
        for i in range(p.shape[0]):
            row = slice(p.indptr[i], p.indptr[i + 1])
            if row.stop > row.start:
                out.data[row] = np.random.multinomial(n[i] if n.ndim else n, p.data[row].astype("float64"))
        out.eliminate_zeros()
        output_storage[0][0] = out

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return that the gradient does not exist."""
        return [grad_undefined(self, i, v, "a random number has no slope") for i, v in enumerate(inputs)]


poisson, multinomial = Poisson(), Multinomial()

__all__ = [
    "Binomial", "Multinomial", "Poisson", "csc_dbinomial", "csc_fbinomial", "csr_dbinomial", "csr_fbinomial",
    "multinomial", "poisson",
]  # fmt: skip
