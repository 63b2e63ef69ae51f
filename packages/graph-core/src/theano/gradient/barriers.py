"""Ops that return their input as it is, and change what flows back through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.gradient.absent import disconnected_type, grad_undefined, zeros_like
from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Storage, Values


class IdentityOp(Op):
    """The identity: the output is the input, in the same memory. Rewriting takes it away."""

    __props__: tuple[str, ...] = ()
    view_map = {0: [0]}
    __call__: Callable[..., Variable]  # it has one output
    shapes = "A->A"

    def make_node(self, x: Variable) -> Apply:
        """Return the node, of any type.

        Parameters
        ----------
        x : Variable
            Any expression.

        Returns
        -------
        Variable
            The value of ``x``.

        Raises
        ------
        TypeError
            ``x`` is no variable.
        """
        if not isinstance(x, Variable):
            raise TypeError(f"{self} takes a variable, not {x!r}")
        return Apply(self, [x], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Hand the value on."""
        output_storage[0][0] = inputs[0]

    def batch(self, node: Apply, inputs: Sequence[Variable], batched: Sequence[bool]) -> Sequence[Any]:
        """Return the same for all rows."""
        return [self(*inputs)]

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Sequence[Variable]:
        """Hand the gradient on."""
        return list(output_grads)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Hand the direction on."""
        return list(eval_points)


class ConsiderConstant(IdentityOp):
    """Lets no gradient through: it is zero.

    Examples
    --------
    >>> from theano.graph import generic
    >>> consider_constant_(generic("x")).owner
    ConsiderConstant(x)
    """

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Sequence[Variable]:
        """Return zero."""
        return [zeros_like(inputs[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return zero: the output does not move."""
        return [None if eval_points[0] is None else zeros_like(inputs[0])]


class ZeroGrad(ConsiderConstant):
    """Lets no gradient through: it is zero.

    Examples
    --------
    >>> from theano.graph import generic
    >>> zero_grad_(generic("x")).owner
    ZeroGrad(x)
    """


class DisconnectedGrad(IdentityOp):
    """Lets no gradient through: its inputs are disconnected.

    Examples
    --------
    >>> from theano.graph import generic
    >>> disconnected_grad_(generic("x")).owner
    DisconnectedGrad(x)
    """

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Sequence[Variable]:
        """Return a disconnected gradient."""
        return [disconnected_type()]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return nothing: the output does not move."""
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the input does not influence the output."""
        return [[False]]


class UndefinedGrad(IdentityOp):
    """Makes it an error to ask for a gradient.

    Examples
    --------
    >>> from theano.graph import generic
    >>> undefined_grad_(generic("x")).owner
    UndefinedGrad(x)
    """

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Sequence[Variable]:
        """Return a null gradient."""
        return [grad_undefined(self, 0, inputs[0], "undefined_grad says so")]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return nothing."""
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the input influences the output."""
        return [[True]]


class GradClip(IdentityOp):
    """Keeps the gradient between two bounds."""

    __props__ = ("clip_lower_bound", "clip_upper_bound")

    def __init__(self, clip_lower_bound: Any, clip_upper_bound: Any):
        if not clip_lower_bound <= clip_upper_bound:
            raise ValueError(
                f"grad_clip: the lower bound {clip_lower_bound} is above the upper bound {clip_upper_bound}"
            )
        self.clip_lower_bound = clip_lower_bound
        self.clip_upper_bound = clip_upper_bound

    def grad(self, inputs: Sequence[Variable], output_grads: Operands) -> Sequence[Variable]:
        """Return the gradient, clipped."""
        return [g.clip(self.clip_lower_bound, self.clip_upper_bound) for g in output_grads]


class GradScale(IdentityOp):
    """Multiplies the gradient."""

    __props__ = ("multiplier",)

    def __init__(self, multiplier: Any):
        self.multiplier = multiplier

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Sequence[Any]:
        """Return the gradient, multiplied."""
        return [g * self.multiplier for g in output_grads]


consider_constant_ = ConsiderConstant()
zero_grad_ = ZeroGrad()
disconnected_grad_ = DisconnectedGrad()
undefined_grad_ = UndefinedGrad()


def consider_constant(x: Variable) -> Variable:
    """Return ``x``, as a constant in the eyes of the gradient, which is zero there.

    Parameters
    ----------
    x : Variable
        Any expression.

    Returns
    -------
    Variable
        The value of ``x``.

    See Also
    --------
    theano.gradient.disconnected_grad, theano.gradient.zero_grad

    Examples
    --------
    >>> from theano.graph import generic
    >>> consider_constant(generic("x")).owner
    ConsiderConstant(x)
    """
    return consider_constant_(x)


def zero_grad(x: Variable) -> Variable:
    """Return ``x``; the gradient with respect to it is zero.

    Parameters
    ----------
    x : Variable
        Any expression.

    Returns
    -------
    Variable
        The value of ``x``.

    See Also
    --------
    theano.gradient.disconnected_grad

    Examples
    --------
    >>> from theano.graph import generic
    >>> zero_grad(generic("x")).owner
    ZeroGrad(x)
    """
    return zero_grad_(x)


def disconnected_grad(x: Variable) -> Variable:
    """Return ``x``; the gradient sees no connection through it.

    Parameters
    ----------
    x : Variable
        Any expression.

    Returns
    -------
    Variable
        The value of ``x``.

    See Also
    --------
    consider_constant, theano.gradient.zero_grad

    Examples
    --------
    >>> from theano.graph import generic
    >>> disconnected_grad(generic("x")).owner
    DisconnectedGrad(x)
    """
    return disconnected_grad_(x)


def undefined_grad(x: Variable) -> Variable:
    """Return ``x``; to ask for a gradient through it is an error.

    Parameters
    ----------
    x : Variable
        Any expression.

    Returns
    -------
    Variable
        The value of ``x``.

    See Also
    --------
    theano.gradient.zero_grad

    Examples
    --------
    >>> from theano.graph import generic
    >>> undefined_grad(generic("x")).owner
    UndefinedGrad(x)
    """
    return undefined_grad_(x)


def grad_clip(x: Variable, lower_bound: object, upper_bound: object) -> Variable:
    """Return ``x``; the gradient with respect to it is kept between two bounds.

    Parameters
    ----------
    x : Variable
        Any expression.
    lower_bound : number
        The least value of an element of the gradient.
    upper_bound : number
        The largest value of an element of the gradient.

    Returns
    -------
    Variable
        The value of ``x``.

    See Also
    --------
    theano.gradient.grad_scale

    Examples
    --------
    >>> from theano.graph import generic
    >>> grad_clip(generic("x"), -1, 1).owner
    GradClip{clip_lower_bound=-1, clip_upper_bound=1}(x)
    """
    return GradClip(lower_bound, upper_bound)(x)


def grad_scale(x: Variable, multiplier: Any) -> Variable:
    """Return ``x``; the gradient with respect to it is multiplied.

    Parameters
    ----------
    x : Variable
        Any expression.
    multiplier : number
        What the gradient is multiplied by; negative numbers turn it round.

    Returns
    -------
    Variable
        The value of ``x``.

    See Also
    --------
    theano.gradient.grad_clip

    Examples
    --------
    >>> from theano.graph import generic
    >>> grad_scale(generic("x"), -1).owner
    GradScale{multiplier=-1}(x)
    """
    return GradScale(multiplier)(x)
