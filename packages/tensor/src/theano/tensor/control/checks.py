"""Assert: a condition that is checked when a value is computed; and the same of the lengths of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import ShapeError
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op, Variable
from theano.graph.text import printable
from theano.tensor.convert import as_tensor_variable, static_int
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.tensor.annotations import Directions, TensorLike, Tensors
    from theano.tensor.type import Tensor


class Assert(Op):
    """The first input itself, if the others are all true.

    Rewriting moves around an assertion and keeps it, unless its condition is known to hold
    (``optimizer_including=local_remove_all_assert`` drops all of them, unchecked).

    Parameters
    ----------
    msg : str
        Of the error.

    Raises
    ------
    TypeError
        A condition has dimensions: say ``T.all`` or ``T.any`` of it.
    AssertionError
        While running: a condition is false.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> f = theano.function([x], T.log(Assert("x must be positive")(x, T.all(x > 0))).sum())
    >>> float(f([1.0, 1.0]))
    0.0
    >>> f([1.0, -1.0])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AssertionError: x must be positive
    """

    __props__ = ("msg",)
    view_map = {0: [0]}
    #: The class of the error.
    error: type[Exception] = AssertionError
    shapes = "A->A"

    def __init__(self, msg: str = "Theano Assert failed!"):
        self.msg = str(msg)

    def __str__(self) -> str:
        return f"Assert{{msg={self.msg!r}}}"

    def make_node(self, value: TensorLike, *conds: Variable) -> Apply:
        """Return the node for a value of any type and conditions without dimensions."""
        if not isinstance(value, Variable):
            value = as_tensor_variable(value)
        checked = [as_tensor_variable(c) for c in conds]
        for c in checked:
            if c.type.ndim:
                raise TypeError(
                    f"the condition {c} of type {c.type} of an assertion has dimensions; "
                    "say theano.tensor.all or theano.tensor.any of it"
                )
        return Apply(self, [value, *checked], [value.type()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Check the conditions."""
        value, *conds = inputs
        if not np.all(conds):
            raise self.error(printable(self.msg))
        output_storage[0][0] = value

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return what the value is worth, if the conditions are known to hold."""
        return ask(node.inputs[0]) if all(ask(condition) for condition in node.inputs[1:]) else None

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that conditions have no influence in the sense of derivatives."""
        return [[True], *([[False]] * (len(node.inputs) - 1))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient as it is."""
        return [output_grads[0], *(DisconnectedType()() for _ in inputs[1:])]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction as it is."""
        return [eval_points[0]]


assert_ = assert_op = Assert()


class CheckedShape(Assert):
    """A value that is worth what it is only if some lengths are lengths: ``ShapeError`` where a condition is false.

    Examples
    --------
    >>> import theano.tensor as T
    >>> n = T.lscalar("n")
    >>> CheckedShape(NEGATIVE_LENGTH)(7.0 * n, n >= 0).eval({n: 2})
    array(14.)
    """

    error: type[Exception] = ShapeError


class CheckedLength(CheckedShape):
    """The length of an array that is not computed, if it is valid: an error where the array would have been refused.

    Rewriting takes lengths from what arrays are made of, and drops the arrays. What ``infer_shape`` says of lengths
    that are given as numbers carries their check, so that a negative one is found in either form of a graph.

    Raises
    ------
    ShapeError
        While running: a condition is false.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> n = T.lscalar("n")
    >>> f = theano.function([n], T.zeros((n, 3)).shape[0])
    >>> f(2)
    array(2)
    >>> f(-2)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    theano.errors.ShapeError: negative length in a shape. Lengths are 0 or more.
    """

    is_length = True

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the length where it is known, whether or not the conditions are: it has no other value."""
        return ask(node.inputs[0])


NEGATIVE_LENGTH = "negative length in a shape. Lengths are 0 or more."


def checked_lengths(lengths: Sequence[Tensor], msg: str = NEGATIVE_LENGTH) -> list[Tensor]:
    """Return numbers that a user gave as lengths, in int64, each with the check that none of them is negative.

    Examples
    --------
    >>> import theano.tensor as T
    >>> len(checked_lengths([T.lscalar("n"), T.constant(3)])[1].owner.inputs)
    2
    >>> checked_lengths([T.constant(np.int64(3)), T.lscalar("n")])[0].owner.op.is_length
    True
    >>> checked_lengths([T.constant(np.int64(3)), T.constant(np.int64(4))])
    [TensorConstant{3}, TensorConstant{4}]
    """
    given = [as_tensor_variable(n) for n in lengths]
    wide = [n if n.type.dtype == "int64" else n.astype("int64") for n in given]
    # A cast of the longest of uint64 would be negative.
    unsigned = [n.type.dtype.startswith("uint") and n.type.dtype != "uint64" for n in given]
    open_ = [n for n, never in zip(wide, unsigned, strict=True) if not never and not is_length(n)]
    if not open_:
        return wide
    check = CheckedLength(msg)
    conditions = [n >= 0 for n in open_]
    return [check(n, *conditions) for n in wide]


def guarded(value: TensorLike, lengths: Iterable[Tensor]) -> Any:
    """Return ``value`` with the checks of lengths, for where it may come to depend on them no longer."""
    checks = [n.owner for n in lengths if n.owner is not None and isinstance(n.owner.op, CheckedLength)]
    # The lengths of one array share their conditions.
    for msg, conditions in dict.fromkeys((check.op.msg, tuple(check.inputs[1:])) for check in checks):
        value = CheckedShape(msg)(value, *conditions)
    return value


def equal(a: Tensor, b: Tensor) -> list[Tensor]:
    """Return the conditions under which two lengths are equal."""
    return [a <= b, a >= b]


def is_length(n: Variable) -> bool:
    """Return whether a number is for certain not negative, as far as its own node tells."""
    known = static_int(n)
    return known >= 0 if known is not None else n.owner is not None and n.owner.op.is_length


def unchecked(n: Variable) -> Any:
    """Return the number under the checks of a length: two lengths are equal if these are."""
    while n.owner is not None and isinstance(n.owner.op, Assert):
        n = n.owner.inputs[0]
    return n


def same_length(m: Variable, n: Variable, depth: int = 4) -> bool:
    """Return whether two lengths are written alike; a part of a part is a few operations on its length.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> same_length(x.shape[0], x.shape[0]), same_length(x.shape[0], T.lscalar())
    (True, False)
    """
    m, n = unchecked(m), unchecked(n)
    if m is n:
        return True
    a, b = static_int(m), static_int(n)
    if a is not None or b is not None:
        return a == b
    return (
        depth > 0 and m.owner is not None and n.owner is not None and m.owner.op == n.owner.op
        and len(m.owner.inputs) == len(n.owner.inputs)
        and all(x is y or same_length(x, y, depth - 1) for x, y in zip(m.owner.inputs, n.owner.inputs, strict=True))
    )
