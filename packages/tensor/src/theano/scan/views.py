"""Loops of common forms: a function of each element, and a result that goes from element to element."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.scan.basic import scan
from theano.updates import OrderedUpdates

if TYPE_CHECKING:
    from theano.tensor.type import Tensor


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
        called once, with variables that stand for the elements. It may use other variables as well, and update shared
        ones.
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
        What errors, profiles and graphs call the loop.

    Returns
    -------
    tuple
        The results, a variable or a list of several, and the updates of shared variables.

    See Also
    --------
    theano.scan, theano.reduce

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> X = T.dmatrix("X")
    >>> results, updates = map(lambda row: row / row.sum(), X)
    >>> theano.function([X], results)([[1, 3], [2, 2]])
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    return scan(
        fn, sequences, None, non_sequences, truncate_gradient=truncate_gradient, go_backwards=go_backwards, mode=mode,
        name=name or "map",
    )  # fmt: skip


def reduce(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
) -> tuple[Any, OrderedUpdates]:
    """Return the result of the last step: ``fn`` of the elements of some tensors and its own result before.

    Parameters
    ----------
    fn : callable
        Takes an element of each sequence, then its results of the step before, then the non-sequences.
    sequences : TensorVariable, or list of TensorVariable
        Along whose first axis the steps go.
    outputs_info : TensorVariable, or list of TensorVariable
        The results before the first step.
    non_sequences : Variable, or list of Variable, optional
        Further arguments, the same in each step.
    go_backwards : bool
        Begin with the last elements.
    mode : Mode or str, optional
        How a step is compiled, where it needs a program of its own.
    name : str, optional
        What errors, profiles and graphs call the loop.

    Returns
    -------
    tuple
        The last results, a variable or a list of several, and the updates of shared variables.

    See Also
    --------
    theano.scan, theano.map, theano.foldl, theano.foldr

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
) -> tuple[Tensor, OrderedUpdates]:
    """Return :func:`reduce` from the first element to the last.

    Parameters
    ----------
    fn : callable
        Takes an element of each sequence, then its results of the step before, then the non-sequences.
    sequences : TensorVariable, or list of TensorVariable
        Along whose first axis the steps go.
    outputs_info : TensorVariable, or list of TensorVariable
        The results before the first step.
    non_sequences : Variable, or list of Variable, optional
        Further arguments, the same in each step.
    mode : Mode or str, optional
        How a step is compiled, where it needs a program of its own.
    name : str, optional
        What errors, profiles and graphs call the loop.

    Returns
    -------
    tuple
        The last results, a variable or a list of several, and the updates of shared variables.

    See Also
    --------
    theano.reduce, theano.foldr

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
) -> tuple[Tensor, OrderedUpdates]:
    """Return :func:`reduce` from the last element to the first.

    Parameters
    ----------
    fn : callable
        Takes an element of each sequence, then its results of the step before, then the non-sequences.
    sequences : TensorVariable, or list of TensorVariable
        Along whose first axis the steps go.
    outputs_info : TensorVariable, or list of TensorVariable
        The results before the first step.
    non_sequences : Variable, or list of Variable, optional
        Further arguments, the same in each step.
    mode : Mode or str, optional
        How a step is compiled, where it needs a program of its own.
    name : str, optional
        What errors, profiles and graphs call the loop.

    Returns
    -------
    tuple
        The last results, a variable or a list of several, and the updates of shared variables.

    See Also
    --------
    theano.reduce, theano.foldl

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], foldr(lambda x_t, y: 10 * y + x_t, x, outputs_info=T.zeros(()))[0])([1, 2, 3])
    array(321.)
    """
    return reduce(fn, sequences, outputs_info, non_sequences, go_backwards=True, mode=mode, name=name or "foldr")
