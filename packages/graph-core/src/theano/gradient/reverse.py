"""The gradient: one walk from the cost back to the variables.

The nodes between the cost and the variables are visited so that all users of a variable come before the node of
it. When a node is met, the gradients of its outputs are therefore complete; its op turns them into terms for its
inputs, and the terms of a variable are added up.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from theano.errors import ArgumentError, DisconnectedInputError, MethodNotDefined, NullTypeGradError
from theano.gradient.absent import (
    STAND_INS,
    connection_pattern,
    describe,
    disconnected_type,
    grad_undefined,
    is_disconnected,
    is_discrete,
    is_null,
    one_of,
    ones_like,
    stand_in,
    sum_of,
    zeros_like,
)
from theano.graph.apply import Apply
from theano.graph.traverse import ancestors, toposort
from theano.graph.variable import Constant, Variable

Grads = dict[Variable, Variable]


def grad(
    cost: Variable | None,
    wrt: Any,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
    add_names: bool = True,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: str = "zero",
    null_gradients: str = "raise",
) -> Any:
    """Return the gradient of a scalar cost with respect to one or several variables.

    The result is an expression like any other: compile it, use it in updates, or differentiate it again.

    Parameters
    ----------
    cost : scalar Variable or None
        An expression without dimensions, such as a sum or a mean. May be None if ``known_grads`` is given.
    wrt : Variable or list of Variable
        Inputs, shared variables, or inner variables of the expression.
    consider_constant : list of Variable, optional
        Variables that the gradient does not flow through.
    disconnected_inputs : "raise", "warn" or "ignore"
        What to do about a variable that the cost does not depend on.
    add_names : bool
        Name the gradient of a named cost with respect to a named variable ``(dcost/dvariable)``.
    known_grads : dict from Variable to Variable, optional
        Gradients of a cost, not necessarily this one, that are known already; a number stands for an array of it.
    return_disconnected : "zero", "None" or "Disconnected"
        What stands for the gradient with respect to such a variable: zeros, None, or a variable of DisconnectedType.
    null_gradients : "raise" or "return"
        What to do about a gradient that is undefined or not implemented.

    Returns
    -------
    Variable, or list or tuple of Variable
        In the form of ``wrt``; each has the shape of its variable. With respect to integers it is zero.

    Raises
    ------
    TypeError
        The cost is not a scalar.
    DisconnectedInputError
        The cost does not depend on a variable.
    NullTypeGradError
        A gradient is undefined or not implemented.

    See Also
    --------
    Rop : Products of the Jacobian with a vector, from the right.
    Lop : Products of the Jacobian with a vector, from the left.
    subgraph_grad : Gradients with respect to inner variables, a part of the graph at a time.
    theano.gradient.jacobian : All derivatives of a vector.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x, w = T.dvectors("x", "w")
    >>> cost = ((x * w - 1) ** 2).sum()
    >>> gradients = theano.function([x, w], theano.grad(cost, [x, w]))
    >>> gradients([1, 2], [3, 4])
    [array([12., 56.]), array([ 4., 28.])]
    """
    one_of("grad", "disconnected_inputs", disconnected_inputs, ("raise", "warn", "ignore"))
    one_of("grad", "return_disconnected", return_disconnected, STAND_INS)
    one_of("grad", "null_gradients", null_gradients, ("raise", "return"))
    wanted = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    for v in wanted:
        if not isinstance(v, Variable):
            raise TypeError(f"grad: wrt must be a variable or a list of variables, not {v!r}")
    if callable(cost) and not isinstance(cost, Variable):
        raise TypeError(f"grad: the cost must be an expression, not the function {cost!r}: pass what it returns, f(x)")
    grads = _seeds(cost, known_grads)
    if consider_constant is not None and not isinstance(consider_constant, (list, tuple, set, frozenset)):
        raise TypeError(f"grad: consider_constant must be a list of variables, not {consider_constant!r}")
    given = set(grads)
    for node, connected in reversed(_path(list(grads), wanted, set(consider_constant or ()))):
        _accumulate(node, connected, grads, given)

    answers: list[Variable | None] = []
    for v in wanted:
        g = grads.get(v)
        if g is None or is_disconnected(g):
            _disconnected(cost, v, disconnected_inputs)
            answers.append(stand_in(v, return_disconnected))
            continue
        if is_null(g) and null_gradients == "raise":
            why = g.type.why_null
            raise NullTypeGradError(f"grad: the gradient with respect to {describe(v)} does not exist, because {why}")
        if add_names and cost is not None and cost.name and v.name and g.name is None and g.owner is not None:
            g.name = f"(d{cost.name}/d{v.name})"
        if known_grads and g.owner is not None:
            note_inputs(g, known_grads)
        answers.append(g)
    return format_as(isinstance(wrt, list), isinstance(wrt, tuple), answers)


def note_inputs(derivative: Variable, expressions: Iterable[Variable]) -> None:
    """Note on a derivative the inputs of what it is derived from, which it may lack: programs pass them all the same.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x, d = generic("x"), generic("d")
    >>> note_inputs(d, [x])
    >>> d.tag.derived_from
    [x]
    """
    leaves = ancestors(list(expressions))
    derivative.tag.derived_from = [v for v in leaves if v.owner is None and not isinstance(v, Constant)]


def _seeds(cost: Variable | None, known: Mapping[Variable, Variable] | None) -> Grads:
    """Return the gradients that the walk starts from."""
    if cost is None and not known:
        raise AssertionError("grad: cost and known_grads are both missing; pass at least one of them")
    grads: Grads = {}
    for v, g in (known or {}).items():
        if not isinstance(v, Variable) or not isinstance(g, Variable):
            raise TypeError(f"grad: known_grads must go from variables to variables, not from {v!r} to {g!r}")
        if _ndim(v) != _ndim(g) and not is_disconnected(g):
            if _ndim(g) != 0:
                raise TypeError(
                    f"grad: the known gradient of {describe(v)} has {_ndim(g)} dimensions, the variable {_ndim(v)}"
                )
            ones: Any = ones_like(v)
            g = ones * g  # the same number for each element
        grads[v] = g
    if cost is not None and cost not in grads:
        if is_null(cost):
            raise ValueError(f"grad: the cost has no value, since {cost.type.why_null}")
        if _ndim(cost) != 0:
            raise TypeError(
                f"grad: the cost must be a scalar, but it has {_ndim(cost)} dimensions:\n  {describe(cost)}\n"
                "Sum or average it (cost.sum(), cost.mean()), or see theano.gradient.jacobian."
            )
        grads[cost] = ones_like(cost)
    return grads


def _path(
    starts: Sequence[Variable], wrt: Sequence[Variable], constants: set[Variable]
) -> list[tuple[Apply, list[bool]]]:
    """Return the nodes through which ``wrt`` influences ``starts``, in order of computation, and by which inputs."""
    # What is considered constant may be asked for itself; the walk does not go past it.
    influenced = set(wrt)
    path = []
    for node in toposort(starts, constants):
        active = [v in influenced for v in node.inputs]
        if not any(active):
            continue
        pattern = connection_pattern(node)
        reached = [any(a and row[o] for a, row in zip(active, pattern, strict=True)) for o in range(len(node.outputs))]
        influenced.update(v for v, r in zip(node.outputs, reached, strict=True) if r and v not in constants)
        if any(reached):
            path.append((node, [a and any(row) for a, row in zip(active, pattern, strict=True)]))
    return path


def _accumulate(node: Apply, connected: list[bool], grads: Grads, given: set[Variable]) -> None:
    """Add the terms that ``node`` contributes to the gradients of its connected inputs."""
    outer = [_as_output(v, grads[v]) if v in grads else disconnected_type() for v in node.outputs]
    if all(is_disconnected(g) for g in outer):
        return
    pattern = connection_pattern(node)
    flows = [[row[o] and not is_disconnected(g) for o, g in enumerate(outer)] for row in pattern]
    terms: Sequence[Variable | None] | None = None
    for i, v in enumerate(node.inputs):
        if not connected[i] or not any(flows[i]) or v in given:
            continue
        through = [(node.outputs[o], outer[o]) for o, flow in enumerate(flows[i]) if flow]
        broken = [g for _, g in through if is_null(g)]
        if broken:
            term: Variable | None = broken[0]
        elif all(is_discrete(out.type) for out, _ in through) and not node.op.slopes_of_whole:
            term = zeros_like(v)  # a function that jumps is flat wherever it does not jump
        else:
            terms = _ask(node, outer) if terms is None else terms
            term = terms[i] if terms[i] is not None else grad_undefined(node.op, i, v, "its grad returned None")
        term = _checked(node, i, term)
        if not is_disconnected(term):
            grads[v] = _plus(grads.get(v), term)


def _ask(node: Apply, outer: list[Variable]) -> Sequence[Variable | None]:
    """Return the terms that the op gives for all inputs."""
    # What cannot be differentiated must not reach formulas: an output without a usable gradient is "disconnected".
    usable = [disconnected_type() if is_null(g) else g for g in outer]
    try:
        terms = node.op.L_op(node.inputs, node.outputs, usable)
    except MethodNotDefined as error:
        error.add_note(f"grad needs the derivative of {describe(node.outputs[0])}")
        raise
    if not isinstance(terms, (list, tuple)) or len(terms) != len(node.inputs):
        kind = TypeError if terms is None else ValueError
        raise kind(
            f"{node.op}.grad must return a list of {len(node.inputs)} gradients, one for each input, not {terms!r}"
        )
    return terms


def _checked(node: Apply, i: int, term: Variable | None) -> Variable:
    if not isinstance(term, Variable):
        raise TypeError(f"{node.op}.grad returned {term!r} for input {i}; it must return variables")
    v = node.inputs[i]
    if not is_null(term) and not is_disconnected(term) and _ndim(term) != _ndim(v):
        raise ValueError(
            f"{node.op}.grad returned a gradient of {_ndim(term)} dimensions for input {i}, {describe(v)}, "
            f"which has {_ndim(v)}"
        )
    return term


def _plus(old: Any, term: Variable) -> Variable:
    """Return the sum of two terms, where what is null stays null."""
    if old is None or is_null(term):
        return term
    return old if is_null(old) else sum_of(old, term)


def _as_output(v: Variable, g: Any) -> Variable:
    """Return ``g`` in the precision of the variable that it is the gradient of."""
    mine, theirs = getattr(v.type, "dtype", None), getattr(g.type, "dtype", None)
    as_is = theirs is None or mine == theirs or is_discrete(v.type)
    found: Variable = g if as_is else g.astype(mine)
    return found


def _disconnected(cost: Variable | None, v: Variable, how: str) -> None:
    if how == "ignore":
        return
    of = f"the cost\n  {describe(cost)}\n" if cost is not None else "what the gradient is known of "
    message = (
        f"grad: {of}does not depend on\n  {describe(v)}\n"
        f"or only through operations without derivative (a comparison, an index, a shape).\n"
        "Check that this variable is the one in the expression, or pass disconnected_inputs='ignore' "
        "if a gradient of zero is meant."
    )
    if how == "raise":
        raise DisconnectedInputError(message)
    warnings.warn(message, stacklevel=3)


def _ndim(v: Variable) -> int:
    return int(getattr(v.type, "ndim", 0))


def format_as(use_list: bool, use_tuple: bool, outputs: Any) -> Any:
    """Return ``outputs`` as a list, as a tuple, or the only one of them.

    Parameters
    ----------
    use_list, use_tuple : bool
        Return a list, or a tuple; not both.
    outputs : Variable or sequence of Variable
        One, or several.

    Returns
    -------
    Variable, list or tuple of Variable
        Without ``use_list`` and ``use_tuple``, a single output is returned as it is.

    Examples
    --------
    >>> format_as(False, True, ["a", "b"]), format_as(False, False, ["a"])
    (('a', 'b'), 'a')
    """
    if use_list and use_tuple:
        raise ValueError("format_as: a list and a tuple cannot both be wanted")
    many = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    if use_list or use_tuple:
        return tuple(many) if use_tuple else many
    if len(many) != 1:
        raise ValueError(f"format_as: one gradient is wanted, but there are {len(many)}")
    return many[0]


def Lop(
    f: Any,
    wrt: Any,
    eval_points: Any,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """Return ``eval_points`` times the Jacobian of ``f``: the gradient with a chosen gradient of ``f``.

    Parameters
    ----------
    f : Variable or list of Variable
        The expressions.
    wrt : Variable or list of Variable
        What they are differentiated by.
    eval_points : Variable or list of Variable
        What multiplies the Jacobian from the left; one for each of ``f``.
    consider_constant : list of Variable, optional
        Variables that the gradient does not flow through.
    disconnected_inputs : "raise", "warn" or "ignore", optional
        What to do about a variable that ``f`` does not depend on.

    Returns
    -------
    Variable, or list or tuple of Variable
        In the form of ``wrt``.

    See Also
    --------
    theano.Rop, theano.grad

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x, v = T.dvectors("x", "v")
    >>> theano.Lop(x**2, x, v).eval({x: [1, 2], v: [1, 10]})
    array([ 2., 40.])
    """
    outputs = list(f) if isinstance(f, (list, tuple)) else [f]
    points = list(eval_points) if isinstance(eval_points, (list, tuple)) else [eval_points]
    if len(outputs) != len(points):
        raise ArgumentError(f"Lop: there are {len(outputs)} expressions but {len(points)} eval_points")
    return grad(
        None, wrt, known_grads=dict(zip(outputs, points, strict=True)),
        consider_constant=consider_constant, disconnected_inputs=disconnected_inputs,
    )


def subgraph_grad(
    wrt: Sequence[Variable],
    end: Sequence[Variable],
    start: Mapping[Variable, Variable] | None = None,
    cost: Variable | None = None,
    details: bool = False,
) -> Any:
    """Return gradients over a part of an expression, for programs that differentiate step by step.

    Parameters
    ----------
    wrt : list of Variable
        Variables whose gradients are wanted.
    end : list of Variable
        Where the part ends; the gradients with respect to these serve as ``start`` of the next step.
    start : dict from Variable to Variable, optional
        Gradients known from the step before.
    cost : scalar Variable, optional
        Something to differentiate as well, as a regulariser is.
    details : bool
        Return as well, one by one, what comes from ``start`` and what from ``cost``.

    Returns
    -------
    tuple of list
        Gradients with respect to ``wrt`` and to ``end``; with ``details`` also those of ``start`` and of ``cost``
        with respect to ``wrt``.

    See Also
    --------
    grad, Lop

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x = T.dscalar("x")
    >>> y = x**2
    >>> last, of_y = theano.subgraph_grad([y], [y], cost=3 * y)
    >>> first, _ = theano.subgraph_grad([x], [x], start={y: last[0]})
    >>> first[0].eval({x: 5})
    array(30.)
    """
    if start is None and cost is None:
        raise ValueError("subgraph_grad: at least one of start and cost is needed")
    wrt, end = list(wrt), list(end)
    parts: list[list[Any] | None] = []
    sources = (
        {"cost": None, "known_grads": start} if start is not None else None,
        {"cost": cost} if cost is not None else None,
    )
    for source in sources:
        parts.append(
            None if source is None
            else grad(wrt=wrt + end, consider_constant=end, disconnected_inputs="ignore", **source)
        )
    known, own = parts
    total = known if own is None else own if known is None else list(map(sum_of, known, own))
    assert total is not None
    result = (total[: len(wrt)], total[len(wrt) :])
    if not details:
        return result
    return (*result, known and known[: len(wrt)], own and own[: len(wrt)])
