"""A test case for the R-operator and the L-operator of ops: `RopLop_checker`."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano.gradient import Lop, Rop, grad, grad_undefined
from theano.graph import Apply, Op
from theano.tests import unittest_tools as utt


class BreakRop(Op):
    """Hands its input on, and has no derivative."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Copy."""
        output_storage[0][0] = np.copy(inputs[0])

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return that it does not exist."""
        return [grad_undefined(self, 0, inputs[0])]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return that it does not exist."""
        return [None]


break_op = BreakRop()


class RopLop_checker(unittest.TestCase):
    """A test case that checks the directional derivatives of an expression against its Jacobian.

    The Jacobian comes from ``grad``, an element of the expression at a time.

    Attributes
    ----------
    x, v : vectors
        For expressions of a vector, and a direction.
    mx, mv : matrices
        For expressions of a matrix, and a direction.
    in_shape, mat_in_shape : tuple of int
        The shapes of the values that they get.
    rng : numpy.random.RandomState
    """

    def setUp(self) -> None:
        """Seed the random numbers, make the variables."""
        self.rng = np.random.RandomState(utt.seed_rng())
        self.x, self.v = T.vector("x"), T.vector("v")
        self.mx, self.mv = T.matrix("mx"), T.matrix("mv")
        # Far enough from 0 for sums of parts, and with lengths that differ.
        self.in_shape = (5 + int(self.rng.randint(3)),)
        self.mat_in_shape = (5 + int(self.rng.randint(3)), 9 + int(self.rng.randint(3)))

    def check_nondiff_rop(self, y: Any) -> None:
        """Check that ``y``, an expression of ``x`` through an op without R-operator, has no directional derivative.

        Raises
        ------
        AssertionError
            It has one.
        """
        try:
            Rop(y, self.x, self.v)
        except ValueError:
            return
        raise AssertionError(f"the R-operator went through {y}, which is not differentiable, without an error")

    def check_mat_rop_lop(self, y: Any, out_shape: Sequence[int]) -> None:
        """Check both operators on a vector ``y``, an expression of the matrix ``mx``.

        Parameters
        ----------
        y : Variable
            A vector.
        out_shape : tuple of int
            The shape of its value.
        """
        self._check(y, self.mx, self.mv, self.mat_in_shape, tuple(out_shape), self._matrix_break(y))

    def check_rop_lop(self, y: Any, out_shape: Sequence[int]) -> None:
        """Check both operators on a vector ``y``, an expression of the vector ``x``.

        Parameters
        ----------
        y : Variable
            A vector.
        out_shape : tuple of int
            The shape of its value.
        """
        self._check(y, self.x, self.v, self.in_shape, tuple(out_shape), theano.clone(y, {self.x: break_op(self.x)}))

    def _matrix_break(self, y: Any) -> Any:
        return theano.clone(y, {self.mx: break_op(self.mx)})

    def _value(self, shape: Sequence[int]) -> np.ndarray:
        return np.asarray(self.rng.uniform(size=shape), theano.config.floatX)

    def _check(
        self, y: Any, x: Any, v: Any, in_shape: tuple[int, ...], out_shape: tuple[int, ...], broken: Any
    ) -> None:
        at, along, across = self._value(in_shape), self._value(in_shape), self._value(out_shape)
        jacobian = self._jacobian(y, x, at, out_shape)
        right = theano.function([x, v], Rop(y, x, v), on_unused_input="ignore")(at, along)
        wanted = np.tensordot(jacobian, along, len(in_shape))
        self._compare("Rop", wanted, right)

        weights = T.TensorType(theano.config.floatX, [False] * len(out_shape))("weights")
        left = theano.function([x, weights], Lop(y, x, weights), on_unused_input="ignore")(at, across)
        self._compare("Lop", np.tensordot(across, jacobian, len(out_shape)), left)
        try:
            Rop(broken, x, v)
        except ValueError:
            return
        raise AssertionError(f"the R-operator of {y} is defined although that of its input is not")

    @staticmethod
    def _jacobian(y: Any, x: Any, at: np.ndarray, out_shape: tuple[int, ...]) -> np.ndarray:
        """Return the Jacobian, row by row."""
        place = T.lscalar("place")
        row = theano.function([x, place], grad(y.flatten()[place], x), on_unused_input="ignore")
        size = int(np.prod(out_shape))
        return np.array([row(at, k) for k in range(size)]).reshape(out_shape + at.shape)

    @staticmethod
    def _compare(name: str, wanted: np.ndarray, found: np.ndarray) -> None:
        # Sums of as many products as there are elements, added up in another order.
        rtol, atol = (1e-5, 1e-5) if theano.config.floatX == "float64" else (1e-3, 1e-3)
        if wanted.shape != found.shape or not np.allclose(wanted, found, rtol, atol):
            raise AssertionError(
                f"{name} is not the product with the Jacobian\n" + utt.str_diagnostic(wanted, found, rtol, atol)
            )
