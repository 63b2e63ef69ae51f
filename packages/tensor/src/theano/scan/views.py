"""Loops of common forms: a function of each element, and a result that goes from element to element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from theano.gradient import zero_grad
from theano.graph import Variable
from theano.graph.traverse import inputs as inputs_of
from theano.scan.basic import scan
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.join import join
from theano.tensor.rows import map_rows
from theano.updates import OrderedUpdates


def map(
    fn: Callable[..., Any],
    sequences: Any,
    non_sequences: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
) -> tuple[Any, OrderedUpdates]:
    """Return ``fn`` of each element along the first axis of some tensors, stacked.

    Parameters
    ----------
    fn : callable
        Takes an element of each sequence, then the non-sequences; returns a variable or a list of variables. It is
        called once, with variables that stand for the elements. It may use other variables as well.
    sequences : TensorVariable, or list of TensorVariable
        The shortest one says how many steps there are.
    non_sequences : Variable, or list of Variable, optional
        Further arguments, the same in each step.
    truncate_gradient : int
        How many of the last steps let a gradient through; -1: all.
    go_backwards : bool
        Begin with the last elements; the first result is that of the last ones then.
    mode : Mode or str, optional
        How a step is compiled, where it needs a program of its own.
    name : str, optional

    Returns
    -------
    tuple
        The results, a variable or a list as ``fn`` returned it, and the updates of shared variables: none.

    Raises
    ------
    NotImplementedError
        The steps depend on each other, since they update a shared variable.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> X = T.dmatrix("X")
    >>> results, updates = map(lambda row: row / row.sum(), X)
    >>> theano.function([X], results)([[1, 3], [2, 2]])
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    given = [as_tensor_variable(_input_of(s)) for s in _as_list(sequences)]
    if not given:
        raise ValueError("map: there is no sequence to map over")
    for s in given:
        if s.type.ndim == 0:
            raise TypeError(f"map: the sequence {s} has no dimensions: there is nothing to go along")
    given = [s[::-1] for s in given] if go_backwards else given
    rows = [_element(s) for s in given]
    fixed = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in _as_list(non_sequences)]
    outputs, many = _results(fn(*rows, *fixed))
    _without_state(outputs)
    results = map_rows(rows, given, outputs, name=name or "map", mode=mode)
    if truncate_gradient != -1:
        results = [join(0, zero_grad(r[:-truncate_gradient]), r[-truncate_gradient:]) for r in results]
    return results if many else results[0], OrderedUpdates()


def _as_list(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _input_of(sequence: Any) -> Any:
    """Return the tensor of a sequence, which may be given as a dictionary."""
    if not isinstance(sequence, Mapping):
        return sequence
    taps = sequence.get("taps", [0])
    if taps not in (None, 0, [0], (0,)):
        raise NotImplementedError(f"map: a step sees one element of each sequence, not those at taps {taps}")
    return sequence["input"]


def _element(sequence: Any) -> Any:
    kind = sequence.type
    row = kind.clone(broadcastable=kind.broadcastable[1:])()
    row.name = f"{sequence.name}[t]" if sequence.name else None
    return row


def _results(returned: Any) -> tuple[list[Any], bool]:
    """Return the outputs of a step, and whether they were given as several."""
    pair = isinstance(returned, tuple) and len(returned) == 2
    if pair and isinstance(returned[1], Mapping):
        returned, updates = returned
    elif pair and isinstance(returned[0], Mapping):
        updates, returned = returned
    elif isinstance(returned, Mapping):
        returned, updates = [], returned
    else:
        updates = {}
    if updates:
        raise NotImplementedError(
            f"map: the function updates {', '.join(str(v) for v in updates)}, so that its steps depend on each other"
        )
    many = isinstance(returned, (list, tuple))
    outputs = list(returned) if many else [returned]
    if not outputs:
        raise ValueError("map: the function returned nothing to compute")
    outputs = [v if is_tensor(v) else as_tensor_variable(v) for v in outputs]
    return outputs, len(outputs) > 1


def _without_state(outputs: Sequence[Variable]) -> None:
    for v in inputs_of(outputs):
        if getattr(v, "default_update", None) is not None:
            raise NotImplementedError(
                f"map: the function uses {v}, which each step would update (a random stream does so), so that its "
                "steps depend on each other. Draw all random numbers before, as a sequence of their own."
            )


def reduce(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
) -> tuple[Any, OrderedUpdates]:
    """Return what is left after the last step: ``fn`` of the elements of some tensors and its own result before.

    Parameters
    ----------
    fn : callable
        Takes an element of each sequence, then its results of the step before, then the non-sequences.
    sequences : TensorVariable, or list of TensorVariable
    outputs_info : TensorVariable, or list of TensorVariable
        The results before the first step.
    non_sequences : Variable, or list of Variable, optional
    go_backwards : bool
        Begin with the last elements.
    mode : Mode or str, optional
    name : str, optional

    Returns
    -------
    tuple
        The last results, a variable or a list of several, and the updates of shared variables.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> total, updates = reduce(lambda x_t, so_far: so_far + x_t, x, outputs_info=T.constant(0.0, dtype="float64"))
    >>> theano.function([x], total)([1, 2, 3])
    array(6.)
    """
    results, updates = scan(
        fn, sequences, outputs_info, non_sequences, go_backwards=go_backwards, truncate_gradient=-1, mode=mode,
        name=name or "reduce",
    )  # fmt: skip
    if isinstance(results, (list, tuple)):
        return [v[-1] for v in results], updates
    return results[-1], updates


def foldl(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
) -> tuple[Any, OrderedUpdates]:
    """Return :func:`reduce` from the first element to the last.

    The parameters are those of :func:`reduce`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], foldl(lambda x_t, y: 10 * y + x_t, x, outputs_info=T.zeros(()))[0])([1, 2, 3])
    array(123.)
    """
    return reduce(fn, sequences, outputs_info, non_sequences, go_backwards=False, mode=mode, name=name or "foldl")


def foldr(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
) -> tuple[Any, OrderedUpdates]:
    """Return :func:`reduce` from the last element to the first.

    The parameters are those of :func:`reduce`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], foldr(lambda x_t, y: 10 * y + x_t, x, outputs_info=T.zeros(()))[0])([1, 2, 3])
    array(321.)
    """
    return reduce(fn, sequences, outputs_info, non_sequences, go_backwards=True, mode=mode, name=name or "foldr")
