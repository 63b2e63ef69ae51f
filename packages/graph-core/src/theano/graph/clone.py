"""Copies of graphs, with or without something put in place of something else."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from theano.graph.apply import Apply
from theano.graph.traverse import toposort
from theano.graph.variable import Variable


def clone_get_equiv(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool | None = None,
    memo: dict[Any, Any] | None = None,
) -> dict[Any, Any]:
    """Copy the graph between ``inputs`` and ``outputs`` and return what became of each variable and node.

    Parameters
    ----------
    inputs, outputs : list of Variable
    copy_inputs : bool
        Make new inputs; otherwise the copy hangs on the same ones.
    copy_orphans : bool or None
        Make new constants too; None follows ``copy_inputs``.
    memo : dict, optional
        What some things become, decided beforehand. It is filled and returned.
    """
    if copy_orphans is None:
        copy_orphans = copy_inputs
    memo = {} if memo is None else memo
    for v in inputs:
        memo.setdefault(v, v.clone() if copy_inputs else v)

    def copied(v: Variable) -> Variable:
        if v not in memo:  # an orphan: whatever a node computes is in the memo before its first use
            memo[v] = v.clone() if copy_orphans else v
        copy: Variable = memo[v]
        return copy

    for node in toposort(outputs, inputs):
        if node in memo:
            continue
        fresh = node.with_inputs([copied(v) for v in node.inputs])
        memo[node] = fresh
        for old, new in zip(node.outputs, fresh.outputs, strict=True):
            memo.setdefault(old, new)
    for v in outputs:
        copied(v)
    return memo


def clone(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool | None = None,
) -> tuple[list[Variable], list[Variable]]:
    """Copy the graph between ``inputs`` and ``outputs``; return the new inputs and outputs."""
    memo = clone_get_equiv(inputs, outputs, copy_inputs, copy_orphans)
    return [memo[v] for v in inputs], [memo[v] for v in outputs]


def clone_replace(
    outputs: Sequence[Variable],
    replace: Mapping[Variable, Variable] | Iterable[tuple[Variable, Variable]] = (),
    strict: bool = True,
    fresh: bool = False,
) -> list[Variable]:
    """Return copies of ``outputs`` in which each key of ``replace`` is its value.

    Parameters
    ----------
    outputs : list of Variable
    replace : dict or pairs of Variable
        A replacement may depend on the variable it replaces.
    strict : bool
        A replacement must be of the type of what it replaces, or convertible to it. Otherwise nodes are made anew.
    fresh : bool
        Copy the nodes too in which nothing is replaced.

    Raises
    ------
    TypeError
        A replacement is of another type and ``strict`` is True.
    """
    pairs = list(replace.items()) if isinstance(replace, Mapping) else list(replace)
    memo: dict[Variable, Variable] = {}
    for old, new in pairs:
        memo[old] = old.type.filter_variable(new) if strict else new

    def copied(v: Variable) -> Variable:
        if v not in memo:
            memo[v] = v
        return memo[v]

    for node in toposort(outputs, memo):
        if all(v in memo for v in node.outputs):
            continue
        inputs = [copied(v) for v in node.inputs]
        new = rebuild(node, inputs, strict)
        new = node.with_inputs(inputs) if fresh and new is node else new
        for old, made in zip(node.outputs, new.outputs, strict=True):
            memo.setdefault(old, made)
    return [copied(v) for v in outputs]


def copy_expression(
    output: Any,
    replace: Any = None,
    strict: bool = True,
    share_inputs: bool = True,
    copy_inputs: Any = None,
    copy_orphans: bool | None = None,
) -> Any:
    """Return copies of expressions, with something put in place of something else.

    Parameters
    ----------
    output : Variable, or list or tuple of Variable
        What is copied.
    replace : dict, or list of pairs of Variable, optional
        What becomes what, all at once: a replacement may depend on the variable it replaces, or on another one of them.
        Inner variables can be replaced as well as inputs.
    strict : bool
        A replacement must be of the type of what it replaces, or convertible to it. Otherwise what is computed from it
        takes on other types as well.
    share_inputs : bool
        Keep the inputs of the expressions, and the replacements as they are. Otherwise the copies get fresh inputs, and
        so do the replacements; a shared variable gets one that is stored in the same place, so that they always have
        the same value.
    copy_inputs : bool, optional
        Deprecated: ``share_inputs`` under another name.
    copy_orphans : bool, optional
        Copy constants as well; only for two lists of variables, below.

    Returns
    -------
    Variable, or list or tuple of Variable
        In the form of ``output``. No node is one of the original, unless it belongs to a replacement.

    Raises
    ------
    TypeError
        A replacement is of another type and ``strict`` is True; something is no variable.
    ValueError
        ``replace`` is neither a dictionary nor a list of pairs.

    Notes
    -----
    With two lists of variables, ``clone(inputs, outputs, copy_inputs=True, copy_orphans=None)`` is
    :func:`clone`, which goes by the same name.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Twice(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> x, z = generic("x"), generic("z")
    >>> copy_expression(Twice()(x), replace={x: z}).owner
    Twice(z)
    """
    if isinstance(replace, (list, tuple)) and any(isinstance(v, Variable) for v in replace):
        # (inputs, outputs, copy_inputs), by position
        copied = strict if copy_inputs is None else copy_inputs
        return clone(output, replace, copied, copy_orphans)
    if copy_inputs is not None:
        warnings.warn("clone: copy_inputs is deprecated; it is called share_inputs", DeprecationWarning, stacklevel=2)
        share_inputs = bool(copy_inputs)
    if replace is not None and not isinstance(replace, (Mapping, list, tuple)):
        raise ValueError(f"clone: replace must be a dictionary or a list of pairs of variables, not {replace!r}")
    pairs = list(replace.items()) if isinstance(replace, Mapping) else replace or ()
    several = isinstance(output, (list, tuple))
    outputs = output if several else [output]
    for v in (*outputs, *(pair[0] for pair in pairs)):
        if not isinstance(v, Variable):
            raise TypeError(f"clone: an expression is copied, and variables in it are replaced; {v!r} is none")
    copies = clone_replace(outputs, pairs, strict, fresh=True)
    if not share_inputs:
        _, copies = clone([], copies)
    return type(output)(copies) if several else copies[0]


def rebuild(node: Apply, inputs: Sequence[Variable], strict: bool = True) -> Apply:
    """Return ``node`` itself if ``inputs`` are what it has, else a copy of it on ``inputs``."""
    if all(a is b for a, b in zip(node.inputs, inputs, strict=True)):
        return node
    return node.clone_with_new_inputs(inputs, strict=strict)
