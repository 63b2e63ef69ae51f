"""A loop that stores few of its results, and computes the others again when the gradient needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from theano.scan.arguments import as_list
from theano.scan.basic import scan
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc, zeros
from theano.tensor.elemwise import functions as F
from theano.tensor.index.functions import set_subtensor
from theano.tensor.join.op import join
from theano.tensor.shape.reshape import reshape
from theano.updates import OrderedUpdates

if TYPE_CHECKING:
    from theano.tensor.type import Tensor


def scan_checkpoints(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    name: str = "checkpointscan_fn",
    n_steps: Any = None,
    save_every_N: int = 10,
    padding: bool = True,
) -> tuple[Any, OrderedUpdates]:
    """Return every Nth result of a loop, whose gradient takes the memory of these and of N steps, not of all.

    The steps in between are computed a second time on the way back.

    Parameters
    ----------
    fn : callable
        As for :func:`theano.scan`.
    sequences : list, optional
        Tensors of equal lengths; taps are not allowed.
    outputs_info : list, optional
        The results before the first step; taps are not allowed.
    non_sequences : list, optional
        Further arguments of ``fn``, the same in each step.
    name : str
        What errors, profiles and graphs call the loop.
    n_steps : int or scalar of int, optional
        The number of steps; needed without sequences.
    save_every_N : int
        After how many steps results are stored.
    padding : bool
        Sequences may have any length, and are copied where it is no multiple of ``save_every_N``. Otherwise the caller
        sees to it that it is one.

    Returns
    -------
    tuple
        The results after each N steps, and after the last one; and the updates of shared variables.

    Raises
    ------
    RuntimeError
        An initial value has taps.

    See Also
    --------
    theano.scan, theano.checkpoint

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> sums, updates = scan_checkpoints(lambda x_t, s: s + x_t, x, T.zeros(()), save_every_N=2)
    >>> theano.function([x], sums)([1, 2, 3, 4, 5])
    array([ 3., 10., 15.])
    """
    along, past, others = as_list(sequences), as_list(outputs_info), as_list(non_sequences)
    if any(isinstance(given, Mapping) and "taps" in given for given in (*along, *past)):
        raise RuntimeError("scan_checkpoints: sequences and outputs_info have no taps here; theano.scan takes them")
    along = [as_tensor_variable(s) for s in along]
    if n_steps is None:
        if not along:
            raise ValueError("scan_checkpoints: nothing says how many steps there are: give n_steps or a sequence")
        n_steps = along[0].shape[0]
    size = int(save_every_N)
    n = F.cast(as_tensor_variable(n_steps), "int64")
    blocks = (n + size - 1) // size
    steps = alloc(as_tensor_variable(size).astype("int64"), blocks)
    steps = set_subtensor(steps[-1:], n - (blocks - 1) * size)
    missing = blocks * size - n
    rows = [_in_blocks(s, missing if padding else None, blocks, size) for s in along]
    # A single result needs no list, so the return value of fn determines the number of results.
    begins = [i for i, given in enumerate(past) if given is not None]

    def block(*arguments: Tensor) -> Any:
        count, parts = arguments[0], list(arguments[1 : 1 + len(rows)])
        before = list(arguments[1 + len(rows) : 1 + len(rows) + len(begins)])
        inner: list[Any] = [None] * len(past)
        for i, value in zip(begins, before, strict=True):
            inner[i] = value
        results, updates = scan(
            fn, parts, inner, arguments[1 + len(rows) + len(begins) :], n_steps=count, name=f"{name}_inner",
            return_list=True,
        )  # fmt: skip
        return [v[-1] for v in results], updates

    return scan(block, [steps, *rows], past, others, n_steps=blocks, name=f"{name}_outer")


def _in_blocks(s: Any, missing: Any, blocks: Any, size: int) -> Any:
    """Return a sequence cut into blocks of steps, filled up with zeros."""
    rest = [s.shape[i] for i in range(1, s.type.ndim)]
    if missing is not None:
        s = join(0, s, zeros((missing, *rest), dtype=s.type.dtype))
    return reshape(s, (blocks, size, *rest), ndim=s.type.ndim + 1)
