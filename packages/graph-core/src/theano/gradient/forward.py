"""The derivative along a direction: one walk from the variables to the expressions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from theano.errors import ArgumentError, DisconnectedInputError, MethodNotDefined
from theano.gradient.absent import (
    STAND_INS,
    connection_pattern,
    describe,
    is_disconnected,
    is_discrete,
    is_null,
    one_of,
    stand_in,
    still,
    sum_of,
    zeros_like,
)
from theano.gradient.reverse import format_as, grad, note_inputs
from theano.graph.apply import Apply
from theano.graph.canonical import is_ours
from theano.graph.op_contract import answers
from theano.graph.traverse import toposort
from theano.graph.variable import Variable


def Rop(
    f: Any,
    wrt: Any,
    eval_points: Any,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
) -> Any:
    """Return the Jacobian of ``f`` with respect to ``wrt``, times ``eval_points``.

    Parameters
    ----------
    f : Variable or list of Variable
        The expressions.
    wrt : Variable or list of Variable
        What they are differentiated by.
    eval_points : Variable or list of Variable
        What the Jacobian is multiplied with from the right; one for each of ``wrt``, of its dimensions. May be values.
    disconnected_outputs : "raise", "warn" or "ignore"
        What to do about an expression that depends on none of ``wrt``.
    return_disconnected : "zero", "None" or "Disconnected"
        What stands for its derivative.

    Returns
    -------
    Variable, or list or tuple of Variable
        In the form of ``f``.

    See Also
    --------
    theano.Lop, theano.grad

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x, v = T.dvectors("x", "v")
    >>> theano.Rop(x**2, x, v).eval({x: [1, 2], v: [1, 10]})
    array([ 2., 40.])
    """
    one_of("Rop", "disconnected_outputs", disconnected_outputs, ("raise", "warn", "ignore"))
    one_of("Rop", "return_disconnected", return_disconnected, STAND_INS)
    outputs = list(f) if isinstance(f, (list, tuple)) else [f]
    variables = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    points = list(eval_points) if isinstance(eval_points, (list, tuple)) else [eval_points]
    if len(variables) != len(points):
        raise ArgumentError(f"Rop: wrt has {len(variables)} variables, but there are {len(points)} eval_points")
    for v in variables:
        if not isinstance(v, Variable):
            raise ArgumentError(f"Rop: wrt must be a variable or a list of variables, not {v!r}")
    points = [_direction(v, point) for v, point in zip(variables, points, strict=True)]
    for v, point in zip(variables, points, strict=True):
        mine, theirs = getattr(v.type, "ndim", 0), getattr(point.type, "ndim", 0)
        if mine != theirs:
            raise ValueError(f"Rop: {describe(v)} has {mine} dimensions, its eval_point {describe(point)} has {theirs}")
    along: dict[Variable, Variable | None] = dict(zip(variables, points, strict=True))
    flat: set[Variable] = set()  # what depends on wrt, and jumps where it does not stay
    for node in toposort(outputs, variables):
        directions = [along.get(v) for v in node.inputs]
        if all(d is None for d in directions):
            if not flat.isdisjoint(node.inputs):
                flat.update(node.outputs)
            continue
        pattern = connection_pattern(node)
        for o, (v, d) in enumerate(zip(node.outputs, _through(node, directions), strict=True)):
            moved = along.setdefault(v, None if is_disconnected(d) else d)
            if moved is None and is_discrete(v.type) and any(row[o] for row in pattern):
                flat.add(v)

    answers = []
    for v in outputs:
        d = along.get(v)
        if d is None and v in flat:
            d = zeros_like(v)
        elif d is None:
            _disconnected(v, disconnected_outputs)
            d = stand_in(v, return_disconnected)
        elif d not in points:
            note_inputs(d, [v])
        answers.append(d)
    return format_as(isinstance(f, list), isinstance(f, tuple), answers)


def _direction(v: Variable, point: Any) -> Variable:
    """Return what a variable is multiplied with, which may be a value."""
    if isinstance(point, Variable):
        return point
    try:
        return v.type.filter_variable(point)
    except TypeError as error:
        raise ArgumentError(f"Rop: the eval_point {point!r} of {describe(v)}: {error}") from error


def _through(node: Apply, directions: Sequence[Variable | None]) -> Sequence[Variable | None]:
    """Return the directions in which the outputs of ``node`` move."""
    if answers(node.op, "R_op"):
        if not is_ours(type(node.op).__module__):  # ops of users compute with each direction
            directions = [still(v) if d is None else d for v, d in zip(node.inputs, directions, strict=True)]
        moved = node.op.R_op(node.inputs, directions)
        if len(moved) != len(node.outputs):
            raise ValueError(f"{node.op}.R_op must return {len(node.outputs)} derivatives, not {len(moved)}")
        return moved
    return _twice_backward(node, directions)


def _twice_backward(node: Apply, directions: Sequence[Variable | None]) -> Sequence[Variable | None]:
    """Return the directions of the outputs for an op that only knows its gradient.

    The gradient is linear in what comes from the outputs: ``u -> u J``. Its derivative with respect to ``u``,
    applied to the direction, is the result; it is the same for each ``u``, so zeros will do.
    """
    if all(is_discrete(v.type) for v in node.outputs):
        return [None] * len(node.outputs)
    u = [zeros_like(v) for v in node.outputs]
    try:
        terms = node.op.L_op(node.inputs, node.outputs, u)
    except MethodNotDefined as error:
        error.add_note(
            f"Rop needs the derivative of {describe(node.outputs[0])}, and the op defines neither R_op nor grad"
        )
        raise
    moved: list[Variable | None] = [None] * len(u)
    for term, d in zip(terms, directions, strict=True):
        if d is None or term is None or is_disconnected(term) or is_null(term):
            continue
        # The node's inputs end the walk: without them it would go through the whole graph for each node.
        through = grad(
            None, u, node.inputs, known_grads={term: d},
            disconnected_inputs="ignore", return_disconnected="none",
        )
        moved = [b if a is None else a if b is None else sum_of(a, b) for a, b in zip(moved, through, strict=True)]
    return moved


def _disconnected(v: Variable, how: str) -> None:
    message = (
        f"Rop: the expression\n  {describe(v)}\ndepends on none of the variables in wrt.\n"
        "Pass disconnected_outputs='ignore' if a derivative of zero is meant."
    )
    if how == "raise":
        raise DisconnectedInputError(message)
    if how == "warn":
        warnings.warn(message, stacklevel=3)
