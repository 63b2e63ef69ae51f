"""The determinant, and its derivatives where the matrix has no inverse.

A determinant is a polynomial, so all of its derivatives exist. Those of a regular matrix are the determinant times
products of the inverse (Giles, 2008); of a singular one, the first two are made of the singular values (Stewart, "On
the adjugate matrix", Linear Algebra and its Applications 283, 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.compile.expression import InnerGraph
from theano.gradient import DisconnectedType, Rop, disconnected_grad, grad
from theano.graph import Apply, Type
from theano.tensor.blas.dot import dot
from theano.tensor.compound import Compound
from theano.tensor.control.choice import IfElse
from theano.tensor.convert import constant
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import cast, eq, imag, real, sqr, sqrt, switch
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.linalg.common import MatrixOp, adjoint, identity, matrix_type, real_dtype, under_type
from theano.tensor.linalg.equations import matrix_inverse
from theano.tensor.linalg.factor import SVD
from theano.tensor.shape.diagonals import AllocDiag, ExtractDiag, trace
from theano.tensor.sort.cumulative import products_of_others
from theano.tensor.type import Tensor, TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, TensorLike, Tensors


class Det(MatrixOp):
    """The determinant of a square matrix.

    Parameters
    ----------
    x : matrix, shape (n, n)
        Integers count as float64.

    Returns
    -------
    TensorVariable
        Without dimensions; its derivative is ``det(x) * inv(x).T``.

    See Also
    --------
    nlinalg.slogdet, linalg.det, numpy.linalg.det

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> float(theano.function([A], det(A))([[2, 1], [0, 4]]))
    8.0
    """

    shapes = "->"

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        return Apply(self, [x], [matrix_type(x.type.dtype, 0).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        dtype = node.outputs[0].type.dtype
        output_storage[0][0] = np.asarray(np.linalg.det(self.square(node, inputs)), dtype=dtype)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the transposed adjugate."""
        (x,), (g,) = inputs, output_grads
        return [under_type(g * adjoint(Adjugate()(x)), x)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the gradient times the direction."""
        (x,), (dx,) = inputs, eval_points
        return [None if dx is None else (Adjugate()(x).T * dx).sum()]


class SLogDet(MatrixOp):
    """The sign of the determinant of a square matrix, and the logarithm of its absolute value.

    The determinant of a large matrix is often beyond the largest number, or below the least one; its logarithm is not.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> f = theano.function([A], slogdet(A))
    >>> [float(v.round(4)) for v in f([[0, 2], [4, 0]])]
    [-1.0, 2.0794]
    """

    shapes = "->,"

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        dtypes = x.type.dtype, real_dtype(x.type.dtype)
        return Apply(self, [x], [matrix_type(dtype, 0).make_variable() for dtype in dtypes])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        found = np.linalg.slogdet(self.square(node, inputs))
        for cell, value, out in zip(output_storage, found, node.outputs, strict=True):
            cell[0] = np.asarray(value, dtype=out.type.dtype)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the transposed inverse, times the gradient for the logarithm; a real sign is constant."""
        (x,), (sign, _), (of_sign, of_size) = inputs, outputs, output_grads
        terms = [] if isinstance(of_size.type, DisconnectedType) else [of_size]
        if x.type.dtype in scal.complex_dtypes and not isinstance(of_sign.type, DisconnectedType):
            terms.append(1j * imag(of_sign * sign.conj()))
        return [under_type(sum(terms[1:], terms[0]) * adjoint(matrix_inverse(x)), x) if terms else x.zeros_like()]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the trace of the inverse times the direction: its real part, and along a complex sign the other."""
        (x,), (dx,) = inputs, eval_points
        if dx is None:
            return [None, None]
        sign, _ = self(x)
        relative = (matrix_inverse(x).T * dx).sum()
        if x.type.dtype not in scal.complex_dtypes:
            return [sign.zeros_like(), relative]
        return [1j * sign * imag(relative), real(relative)]


class _OfAnyMatrix(Compound, MatrixOp):
    """An op with one form for regular matrices and another one for singular ones: the determinant decides.

    What the determinant divides has no use for the other form, and cancels with the first.
    """

    shapes = "A->A"

    def output_types(self, inputs: Sequence[Any]) -> list[Type]:
        """Return the type of the matrix, without its pattern."""
        return [matrix_type(inputs[0].type.dtype)]

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the matrices, of one dtype."""
        return self.same_dtype(*map(self.matrix, inputs))

    def is_singular(self, x: Tensor) -> Tensor:
        """Return whether the matrix counts as singular: elimination, which is that of its inverse, meets a 0."""
        return eq(det(x), 0)

    def regular(self, *inputs: Any) -> Any:
        """Return the form for matrices with an inverse."""
        raise NotImplementedError

    def singular(self, *inputs: Any) -> Any:
        """Return the form for all others."""
        raise NotImplementedError

    def expression(self, *inputs: Tensor) -> Tensor:
        """Return the form that the matrix needs; the other one is not computed."""
        return IfElse(1)(self.is_singular(inputs[0]), self.singular(*inputs), self.regular(*inputs))

    def inlined(self, node: Node) -> list[Variable] | None:
        """Return the form for regular matrices where the program divides by the determinant, else both."""
        x: Tensor = node.inputs[0]
        known = [client.outputs[0] for client, _ in x.clients if isinstance(client, Apply) and client.op == det]
        return [self.regular(*node.inputs)] if any(map(_is_divisor, known)) else super().inlined(node)

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Compute the form that the matrix needs."""
        own: list[Tensor] = [v.type() for v in node.inputs]
        (singular,) = InnerGraph(self, own[:1], [self.is_singular(own[0])]).evaluate(inputs[:1])
        made = (self.singular if singular else self.regular)(*own)
        (output_storage[0][0],) = InnerGraph(self, own, [made]).evaluate(inputs)

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that all inputs count."""
        return [[True] for _ in node.inputs]


_LOGARITHMS = (scal.log, scal.log2, scal.log10)
#: Of 0 they are 0: to divide by the one is to divide by the other.
_SIZES = (scal.abs_, scal.sqr, scal.sqrt, scal.pow, scal.neg, scal.mul)


def _is_divisor(v: Tensor) -> bool:
    """Return whether something is divided by a variable or by a power of it, or its logarithm is taken."""
    for client, place in v.clients:
        op = client.op if isinstance(client, Apply) else None
        scalar_op = op.scalar_op if isinstance(op, Elemwise) else None
        if scalar_op in _LOGARITHMS or scalar_op == scal.inv or (scalar_op == scal.true_div and place == 1):
            return True
        if (scalar_op in _SIZES or isinstance(op, DimShuffle)) and _is_divisor(client.outputs[0]):
            return True
    return False


class Adjugate(_OfAnyMatrix):
    """The matrix whose product with a matrix is the determinant times the identity.

    Its transpose, the matrix of the cofactors, is the derivative of the determinant.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], Adjugate()(A))([[1, 2], [2, 4]]).round(6)
    array([[ 4., -2.],
           [-2.,  1.]])
    """

    def regular(self, x: Tensor) -> Tensor:
        """Return the determinant times the inverse."""
        return det(x) * matrix_inverse(x)

    def singular(self, x: Tensor) -> Tensor:
        """Return the adjugate of the diagonal matrix of the singular values, turned back."""
        u, s, vt = SVD(full_matrices=False)(x)
        return det(u) * det(vt) * dot(adjoint(vt) * products_of_others(s, 0), adjoint(u))

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the derivative along the transposed gradient, transposed: second derivatives are symmetric."""
        return [under_type(adjoint(AdjugateAlong()(inputs[0], adjoint(output_grads[0]))), inputs[0])]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the derivative along the direction."""
        return [None if eval_points[0] is None else AdjugateAlong()(inputs[0], eval_points[0])]


class AdjugateAlong(_OfAnyMatrix):
    """The derivative of the adjugate along a direction: the second one of the determinant.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A, D = T.dmatrices("A", "D")
    >>> theano.function([A, D], AdjugateAlong()(A, D))([[0, 0], [0, 0]], [[1, 2], [3, 4]]).round(6)
    array([[ 4., -2.],
           [-3.,  1.]])
    """

    def is_singular(self, x: Tensor) -> Tensor:
        """Return whether the matrix is singular but for rounding: rules may solve with its transpose, too."""
        value, dtype = det(x), real_dtype(x.type.dtype)
        n = cast(x.shape[0], dtype)
        rounding = constant(np.asarray(10 * np.finfo(dtype).eps, dtype)) * n * sqrt(n)
        return eq(value, 0) | (abs(value) < rounding * sqrt(sqr(abs(x)).sum() / n) ** n)

    def regular(self, x: Tensor, along: Variable) -> Tensor:
        """Return what follows from the derivative of the inverse."""
        inverse = matrix_inverse(x)
        turned = dot(inverse, along)
        return det(x) * (trace(turned) * inverse - dot(turned, inverse))

    def singular(self, x: Tensor, along: Tensor) -> Tensor:
        """Return the derivative at the diagonal matrix of the singular values, turned back."""
        u, s, vt = SVD(full_matrices=False)(x)
        turned = dot(dot(adjoint(u), along), adjoint(vt))
        diagonal = identity(s)
        pairs = products_of_others(switch(diagonal, 1, s), 1) * (1 - diagonal)
        middle = AllocDiag()(dot(pairs, ExtractDiag()(turned))) - pairs * turned
        return det(u) * det(vt) * dot(dot(adjoint(vt), middle), adjoint(u))

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the third derivative, of a regular matrix, and the second one, of any."""
        (x, along), (g,) = inputs, output_grads
        third = grad(None, x, known_grads={self.regular(x, along): g}, consider_constant=[along])
        return [under_type(third, x), under_type(adjoint(AdjugateAlong()(x, adjoint(g))), along)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the third derivative, of a regular matrix, and the second one, of any."""
        (x, along), (dx, dalong) = inputs, eval_points
        terms = [] if dalong is None else [AdjugateAlong()(x, dalong)]
        if dx is not None:
            terms.append(Rop(self.regular(x, disconnected_grad(along)), x, dx))
        return [sum(terms[1:], terms[0]) if terms else None]


det = Det()


def slogdet(a: TensorLike) -> list[Tensor]:
    """Return the sign of the determinant of a square matrix, and the logarithm of its absolute value.

    Parameters
    ----------
    a : matrix
        Integers count as float64.

    Returns
    -------
    sign : 0-d tensor, of the dtype of ``a``
        1, -1, or 0 of a singular matrix; of a complex one a number of absolute value 1.
    logabsdet : 0-d tensor of real numbers
        Minus infinity of a singular matrix.

    Raises
    ------
    ShapeError
        While running: the matrix is not square.

    See Also
    --------
    nlinalg.det, linalg.slogdet, numpy.linalg.slogdet

    Examples
    --------
    >>> import theano.tensor as T
    >>> [float(v.eval()) for v in slogdet(1e200 * T.eye(3))] == [1.0, 3 * np.log(1e200)]
    True
    """
    return SLogDet()(a)
