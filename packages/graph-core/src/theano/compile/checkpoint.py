"""Checkpoints: parts of an expression whose inner values the gradient recomputes instead of keeping them.

The gradient of a chain of n layers reads the values of all of them, backwards, and so all are in memory at the end of
the forward pass. Where the chain is cut into sections, each wrapped by :func:`checkpoint`, only what goes into one
is kept; the values inside are computed a second time when the gradient arrives there. With sections of about sqrt(n)
layers, memory grows as sqrt(n), at the price of one more forward pass.

Two things would undo this, and a control dependency (`ControlDependency`) stands against either. A section that is
computed again is the same expression as before, and would be merged with it: therefore it reads its inputs as they are
*after the gradient of its outputs has arrived*. And a gradient that goes on to the section before it could go first,
while what a section has computed again waits for those of its weights: therefore it goes on *after all gradients of its
section are there*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from theano.compile.copy_ops import view_kernel
from theano.compile.expression import ExpressionOp, InnerGraph
from theano.gradient.absent import disconnected_type, is_disconnected, is_null
from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.traverse import ancestors, explicit_inputs, independent_of
from theano.graph.variable import Constant, Variable
from theano.lowering.table import Lowering, register
from theano.rewriting import families, local_rule

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Values


class ControlDependency(Op):
    """The first input, in the same memory, once the others are there.

    Rewriting takes it for a value that it knows nothing of, and so computes what depends on it a second time even where
    it has the same from the input itself.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, y = T.dscalars("x", "y")
    >>> theano.function([x, y], ControlDependency()(x, y))(1, 2)
    array(1.)
    """

    __props__ = ()
    view_map = {0: [0]}
    moves_only = True
    shapes = "A->A"

    def make_node(self, x: Variable, *others: Variable) -> Apply:
        return Apply(self, [x, *others], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Hand the value on."""
        output_storage[0][0] = inputs[0]

    def batch(self, node: Apply, inputs: Operands, batched: Sequence[bool]) -> Sequence[Any]:
        """Return the same for all rows."""
        return [self(*inputs)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Say that the other inputs do not influence the value."""
        return [[i == 0] for i in range(len(node.inputs))]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Hand the gradient on."""
        return [*output_grads, *(disconnected_type() for _ in inputs[1:])]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Hand the direction on."""
        return [eval_points[0]]


def _are_buffers(op: ControlDependency, node: Apply) -> bool:
    """Tell whether compiled code sees all the values."""
    return all(v.type.buffer_spec() is not None for v in node.inputs)


register(Lowering(ControlDependency, view_kernel, when=_are_buffers))


class Checkpoint(ExpressionOp):
    """An expression whose inner values are computed again in its gradient.

    Parameters
    ----------
    inputs, outputs : list of Variable
        The expression, which depends on nothing else; it is copied.
    again : bool
        Compute its inner values again. Otherwise they are kept, and only its gradients are there all together.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dscalar("x")
    >>> y = Checkpoint([x], [T.exp(T.sin(x))])(x)
    >>> theano.function([x], [y, T.grad(y, x)])(0)
    [array(1.), array(1.)]
    """

    __props__ = ("inner", "again")
    is_inline = True
    inner: InnerGraph

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Variable], again: bool = True):
        self.inner, self.again = InnerGraph("checkpoint", inputs, outputs), again

    def __str__(self) -> str:
        return type(self).__name__

    def L_op(self, inputs: Operands, outputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradients of the expression on inputs that are there when those of the outputs are."""
        if self.again:
            arrived = [g for g in output_grads if _is_value(g)]
            inputs = [v if isinstance(v, Constant) else _after(v, arrived) for v in inputs]
        gradients = super().L_op(inputs, outputs, output_grads)
        # Those of weights wait, too: what updates them in place runs last, and would keep all that they are made of.
        complete = [g for g in gradients if _is_value(g)]
        return [_after(g, complete) if _is_value(g) else g for g in gradients]


def _is_value(gradient: Variable) -> bool:
    return not is_disconnected(gradient) and not is_null(gradient)


def _after(v: Variable, others: Sequence[Variable]) -> Variable:
    """Return a variable as it is when some others are there."""
    made: Variable = ControlDependency()(v, *(other for other in others if other is not v))
    return made


# -- what users call ---------------------------------------------------------------------------------------------


def checkpoint(fn: Callable[..., Any], *, again: bool = True) -> Callable[..., Any]:
    """Return a function like ``fn`` whose inner values are not kept for the gradient, but computed again.

    Wrap sections of a deep expression with it, one after the other: of each, only what goes in is kept in memory.

    Parameters
    ----------
    fn : callable
        From variables to a variable, or to a list, tuple or dictionary of variables. What its arguments, lists, tuples
        and dictionaries among them, do not influence, such as shared variables or expressions of them alone, is
        computed once, outside. Checkpoints may be inside, too.
    again : bool
        False: keep the inner values all the same, but no longer than until the gradients of the section are there. For
        the last of many sections, whose gradient comes at once.

    Returns
    -------
    callable
        Takes and returns what ``fn`` does. It can be used as a decorator. Values, and derivatives of any order, are
        those of ``fn``; random numbers are drawn once.

    Raises
    ------
    TypeError
        ``fn`` returns something else than variables.

    See Also
    --------
    checkpoint_sequential : for layers that are in a list.
    theano.scan_checkpoints : for loops.

    Examples
    --------
    >>> import numpy as np, theano, theano.tensor as T
    >>> W = theano.shared(np.eye(2), "W")
    >>> @checkpoint
    ... def section(h):
    ...     for _ in range(3):
    ...         h = T.tanh(T.dot(h, W))
    ...     return h
    >>> x = T.dmatrix("x")
    >>> cost = section(section(x)).sum()
    >>> step = theano.function([x], cost, updates=[(W, W - 0.1 * T.grad(cost, W))])
    >>> bool(abs(step(np.zeros((1, 2)))) < 1e-12)
    True
    """

    @wraps(fn)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        made = fn(*args, **kwargs)
        outputs = list(_variables((made,), fn))
        used = set(ancestors(outputs))
        inside = [v for v in dict.fromkeys(_variables((args, kwargs))) if v in used and not isinstance(v, Constant)]
        if not inside:
            return made
        # An expression of constants alone is no input: inside, it can be computed while compiling.
        outside = [v for v in independent_of(inside, outputs) if explicit_inputs([v])]
        inputs = [*inside, *outside]
        results = Checkpoint(inputs, outputs, again)(*inputs, return_list=True)
        return _in_the_place_of(made, iter(results))

    return recomputed


def checkpoint_sequential(functions: Sequence[Callable[[Any], Any]], segments: int, x: Variable) -> Variable:
    """Return what functions make of a value, one after the other, in sections that are checkpoints.

    Parameters
    ----------
    functions : list of callable
        Each takes what the one before it returns.
    segments : int
        How many sections there are, of about as many functions each: about the square root of their number takes the
        least memory. The inner values of the last one are kept, since its gradient comes at once.
    x : object
        What the first function takes.

    Returns
    -------
    object
        What the last function returns.

    Raises
    ------
    ValueError
        ``segments`` is below 1, or there are more of them than functions.

    See Also
    --------
    theano.checkpoint

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dscalar("x")
    >>> y = checkpoint_sequential([T.sin, T.exp, T.tanh, T.sqrt], 2, x)
    >>> theano.function([x], [y, T.grad(y, x)])(1)
    [array(0.99038422), array(0.0239897)]
    """
    functions = list(functions)
    if not 1 <= segments <= len(functions):
        raise ValueError(
            f"checkpoint_sequential: segments is {segments}; it must be from 1 to the number of functions, "
            f"{len(functions)}"
        )
    ends = [len(functions) * i // segments for i in range(segments + 1)]
    for i, (begin, end) in enumerate(pairwise(ends)):
        x = checkpoint(_one_after_the_other(functions[begin:end]), again=i + 1 < segments)(x)
    return x


def _one_after_the_other(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def all_of_them(x: Variable) -> Variable:
        for fn in functions:
            x = fn(x)
        return x

    return all_of_them


def _variables(given: Any, returned_by: Callable[..., Any] | None = None) -> Iterator[Variable]:
    """Yield the variables in nested lists, tuples and dictionaries; in what a function returns, nothing else may be."""
    if isinstance(given, (list, tuple)):
        for part in given:
            yield from _variables(part, returned_by)
    elif isinstance(given, dict):
        yield from _variables(list(given.values()), returned_by)
    elif isinstance(given, Variable):
        yield given
    elif returned_by is not None and given is not None:
        name = getattr(returned_by, "__name__", repr(returned_by))
        raise TypeError(
            f"checkpoint: {name} must return variables (lists, tuples, dictionaries of them), not {given!r}"
        )


def _in_the_place_of(made: Any, results: Iterator[Variable]) -> Any:
    """Return what a function returned, with the outputs of a node in the place of its variables."""
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return type(made)(*(_in_the_place_of(part, results) for part in made))
    if isinstance(made, (list, tuple)):
        return type(made)(_in_the_place_of(part, results) for part in made)
    if isinstance(made, dict):
        return type(made)((key, _in_the_place_of(part, results)) for key, part in made.items())
    return made if made is None else next(results)


# -- rules -------------------------------------------------------------------------------------------------------

families.in_order(__name__)
_EVERY_MODE = ("fast_run", "fast_compile")


@local_rule([Checkpoint], "local_inline_checkpoint", tags=_EVERY_MODE, phases=("canonicalize",))
def inline_checkpoint(node: Apply[Checkpoint]) -> Any:
    """The expression in place of a checkpoint: gradients are taken when functions are compiled."""
    return node.op.inlined(node)


@local_rule([ControlDependency], "local_useless_control_dependency", tags=_EVERY_MODE, phases=("canonicalize",))
def drop_unused(node: Apply[ControlDependency]) -> Any:
    """Drop dependencies on values that are not computed otherwise, such as gradients that were not asked for."""
    needed = [v for v in node.inputs[1:] if v is node.inputs[0] or any(map(_reads, v.clients))]
    if len(needed) + 1 == len(node.inputs):
        return None
    return [ControlDependency()(node.inputs[0], *needed)] if needed else [node.inputs[0]]


def _reads(client: tuple[Any, int]) -> bool:
    """Return whether who uses a value wants to know what it is worth."""
    node, i = client
    return not isinstance(node, Apply) or not isinstance(node.op, ControlDependency) or i == 0


__all__ = ["Checkpoint", "ControlDependency", "checkpoint", "checkpoint_sequential"]
