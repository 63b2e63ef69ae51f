"""Expressions for many values at once: the walk that gives a graph a batch axis in front.

A variable with a *batch axis* stands for many values of another one, its *row*: they are stacked along one dimension
more, the first. `batch` walks from rows to outputs as the gradient walks back, and asks each node that meets such
a variable for its rule: the op's own method ``batch`` (`theano.graph.op_contract`), or what a layer has in its table.
A rule returns the outputs for all rows together. What has no rule is computed by a loop over the rows, which is a
layer's to make. Nodes that meet no batch axis stay as they are, and are computed once.

Of types this walk asks nothing but ``type.ndim`` (0 where it is missing): a variable with one dimension more than the
row it stands for has a batch axis, and one with as many is the same for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from theano.extensions import Chain, Single
from theano.graph.apply import Apply
from theano.graph.traverse import toposort
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Node

#: From a node, its new inputs, and which of these have a batch axis: the new outputs, or None where the rule has no
#: form for this node.
Rule = Callable[[Apply[Any, Any], Sequence[Any], Sequence[bool]], "Sequence[Variable] | None"]

#: Asked for rules by class of op, which count for subclasses too, when the first graph is batched.
sources: Chain[Callable[[], Mapping[type, Rule]]] = Chain("batching.sources", "how ops compute many rows at once")

#: What computes a node row by row: takes and returns what a `Rule` does.
loop: Single[Rule] = Single("batching.loop", "how a node is computed for one row after the other")

#: Makes what a rule returned fit its node: takes a new output, and the output for one row that it stands for.
conform: Single[Callable[[Variable, Variable], Variable]] = Single(
    "batching.conform", "which type many rows together have"
)


class NoRuleError(Exception):
    """A node has no rule, and no loop was wanted or can be made."""


def rule(node: Node, inputs: Sequence[Any], batched: Sequence[bool]) -> Sequence[Variable] | None:
    """Return the outputs of ``node`` for all rows together, by the rule of its op, or None without a rule.

    Parameters
    ----------
    node : Apply
        For one row.
    inputs : list of Variable
        In place of its inputs.
    batched : list of bool
        Which of them have a batch axis.
    """
    made: Sequence[Variable] | None = node.op.batch(node, inputs, batched)
    if made is not None:
        return made
    tables = [source() for source in sources]
    for cls in type(node.op).__mro__:
        for table in tables:
            if cls in table:
                return table[cls](node, inputs, batched)
    return None


def has_batch_axis(new: Variable, row: Variable) -> bool:
    """Return whether ``new``, in place of ``row``, has a batch axis."""
    return bool(_ndim(new) == _ndim(row) + 1)


def _ndim(v: Variable) -> int:
    return int(getattr(v.type, "ndim", 0))


def batch(outputs: Sequence[Variable], replace: Mapping[Variable, Variable], by_loop: bool = True) -> list[Variable]:
    """Return expressions for all rows at once.

    Parameters
    ----------
    outputs : list of Variable
        Expressions for one row.
    replace : dict from Variable to Variable
        For variables in them, what stands for them: with a batch axis (all of one length), or the same for all rows.
    by_loop : bool
        Whether a node without a rule becomes a loop. Otherwise it is an error.

    Returns
    -------
    list of Variable
        One that turned out the same for all rows, such as a length, has no batch axis (`has_batch_axis`).

    Raises
    ------
    NoRuleError

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, X, w = T.dvector("x"), T.dmatrix("X"), T.dvector("w")
    >>> (y,) = batch([T.exp(x).sum() * w.sum()], {x: X})
    >>> y.owner.inputs[0].owner, y.type
    (Sum{axis=[1], acc_dtype=float64}(Elemwise{exp,no_inplace}.0), TensorType(float64, vector))
    """
    new: dict[Variable, Variable] = dict(replace)
    for node in toposort(outputs, list(replace)):
        if new.keys().isdisjoint(node.inputs):
            continue
        inputs = [new.get(v, v) for v in node.inputs]
        batched = [has_batch_axis(n, v) for n, v in zip(inputs, node.inputs, strict=True)]
        if not any(batched):
            made: Sequence[Variable] = node.clone_with_new_inputs(inputs, strict=False).outputs
        else:
            made = _made(node, inputs, batched, by_loop)
        new.update(zip(node.outputs, made, strict=True))
    return [new.get(v, v) for v in outputs]


def _made(node: Node, inputs: Sequence[Any], batched: Sequence[bool], by_loop: bool) -> list[Variable]:
    made = rule(node, inputs, batched)
    if made is None and by_loop:
        made = loop.required()(node, inputs, batched)
    if made is None:
        raise NoRuleError(f"{node} has no rule for many rows at once")
    if len(made) != len(node.outputs):
        raise ValueError(f"the batching rule of {node.op} returned {len(made)} outputs, not {len(node.outputs)}")
    found = []
    for v, row in zip(made, node.outputs, strict=True):
        if _ndim(v) not in (_ndim(row), _ndim(row) + 1):
            raise ValueError(
                f"the batching rule of {node.op} returned {v} of type {v.type} for many rows of type {row.type}, which "
                "has neither as many dimensions nor one more"
            )
        found.append(conform.answer(v, row) if conform.answer is not None and has_batch_axis(v, row) else v)
    return found


def of_expression(
    expand: Callable[[Sequence[Any]], Sequence[Variable]], node: Node, inputs: Sequence[Variable],
    batched: Sequence[bool],
) -> list[Variable] | None:
    """Return the outputs of a node that stands for an expression: that expression for all rows at once.

    None where something in it has no rule: one loop over the whole is better than one for each part.

    Parameters
    ----------
    expand : callable
        Returns the expression on given inputs, as a list.
    node, inputs, batched
        What a rule is given.
    """
    rows = [v.type() if many else new for v, new, many in zip(node.inputs, inputs, batched, strict=True)]
    replace = {row: new for row, new, many in zip(rows, inputs, batched, strict=True) if many}
    try:
        return batch(expand(rows), replace, by_loop=False)
    except NoRuleError:
        return None
