"""``theano.scan``: a loop, written as a function that describes one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.graph.variable import Variable
from theano.scan.arguments import as_list, as_output, as_sequence, as_steps, steps_of
from theano.scan.build import WrittenStep
from theano.scan.messages import call, naming
from theano.tensor.convert import as_tensor_variable
from theano.updates import OrderedUpdates


def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: bool | str = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
) -> tuple[Any, OrderedUpdates]:
    """Return the results of all steps of a loop.

    ``fn`` describes a step. It gets a row of each sequence and the results of the step before, and returns new results.

    Parameters
    ----------
    fn : callable
        Describes one step. It is called once, with variables: the rows that the step sees of each sequence, in the
        order of its taps; what it sees of the past of each result, likewise; then the non-sequences. It may use other
        variables as well. It returns the results; with them, in any order, updates of shared variables (a dictionary
        or pairs), and :class:`until`.
    sequences : list, optional
        Tensors along whose first axis the steps go, or dictionaries ``{"input": tensor, "taps": [...]}``: at step t the
        step sees row t + k for each tap k. The shortest sequence says how many steps there are.
    outputs_info : list, optional
        For each result what it begins with: None for one that does not depend on its past; the value before the first
        step; or a dictionary ``{"initial": tensor, "taps": [...]}``, with taps below 0 and a tensor of as many rows as
        they look back, the oldest first.
    non_sequences : list, optional
        Further arguments of ``fn``, the same in each step.
    n_steps : int or scalar, optional
        The number of steps; needed without sequences. With :class:`until` it is the maximum.
    truncate_gradient : int
        Through how many of the last steps a gradient goes; -1: all.
    go_backwards : bool
        Begin at the end of the sequences.
    mode : Mode or str, optional
        How a step is compiled, where it needs a program of its own.
    name : str, optional
        What errors, profiles and printed graphs call the loop.
    profile : bool or str
        Whether the steps are measured, and under which name. The times of their nodes are printed when the program
        ends, and with the profile of the function; the steps run in the machine for that, also those of a loop that
        would be one C function.
    allow_gc : bool, optional
        Whether a step gives memory back that it does not need any more; by default as ``config.allow_gc`` says.
    strict : bool
        Refuse a step that uses a shared variable which is not among its arguments and has no update. Other variables
        it may use in any case.
    return_list : bool
        Return a list even of one result.

    Returns
    -------
    tuple
        The results, stacked along a new first axis: a variable, a list of several, or None without results. And
        the updates of shared variables, which are for ``theano.function``.

    Raises
    ------
    ValueError
        ``fn`` returns another number of results than ``outputs_info`` has, the dtype or the number of dimensions of a
        result is not that of its initial value, taps are wrong, nothing says how many steps there are, or a step draws
        random numbers from a state that nothing updates.
    TypeError
        ``fn`` takes another number of arguments than it is given.
    IndexError
        ``n_steps`` is negative.
    MissingInputError
        With ``strict``, a step uses a shared variable that is not among its arguments.

    See Also
    --------
    map : A loop whose steps do not depend on each other.
    reduce : A loop of which only the last result counts.
    scan_checkpoints : A long loop whose gradient needs less memory.
    until : The condition that ends a loop.

    Examples
    --------
    A moving average, which starts with the first element:

    >>> import theano
    >>> import theano.tensor as T
    >>> x, a = T.dvector("x"), T.dscalar("a")
    >>> def step(x_t, y_before):
    ...     return a * y_before + (1 - a) * x_t
    >>> smooth, updates = theano.scan(step, sequences=x, outputs_info=x[0])
    >>> theano.function([x, a], smooth, updates=updates)([1, 2, 3], 0.5)
    array([1.  , 1.5 , 2.25])

    Powers of a vector, with a number of steps:

    >>> powers, updates = theano.scan(lambda p: p * x, outputs_info=T.ones_like(x), n_steps=3)
    >>> theano.function([x], powers, updates=updates)([2, 3])
    array([[ 2.,  3.],
           [ 4.,  9.],
           [ 8., 27.]])
    """
    with naming(fn):
        rows = [as_sequence(given, go_backwards, i) for i, given in enumerate(as_list(sequences))]
        along = [s for s in rows if s is not None]
        past = [as_output(given, i) for i, given in enumerate(as_list(outputs_info))]
        others = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in as_list(non_sequences)]
        n = as_steps(n_steps)
        steps = steps_of(n, along)
        step = WrittenStep(along, past, others)
    returned = call(fn, step.arguments)  # what it raises itself is left as it is
    with naming(fn):
        step.returned(returned, strict and n != 1)  # without a loop, shared variables have no receiver
        options = {"mode": mode, "profile": profile, "allow_gc": allow_gc}
        op, given = step.loop(steps, name=name, truncate=truncate_gradient, **options)
    made = op.once(given) if n == 1 else op.results(given)
    outputs, updates = step.in_order(made), OrderedUpdates(zip(step.shared, made.carried, strict=True))
    if return_list or len(outputs) > 1:
        return outputs, updates
    return (outputs[0] if outputs else None), updates
