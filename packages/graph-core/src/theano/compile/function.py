"""``theano.function``: from expressions to something that can be called."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from theano.compile.shared import SharedVariable
from theano.graph.gc_pause import gc_restorer
from theano.graph.source import user_trace
from theano.graph.text import printable
from theano.graph.variable import Variable, compiler
from theano.settings import config

if TYPE_CHECKING:
    from theano.compile.mode import Mode
    from theano.runtime.profile import ProfileStats

#: Spellings of modules below this one are found only where there is a path.
__path__: list[str] = []

Pairs = Mapping[Any, Any] | Iterable[tuple[Any, Any]]


def function(
    inputs: Sequence[Any],
    outputs: Any = None,
    mode: Mode | str | None = None,
    updates: Pairs | None = None,
    givens: Pairs | None = None,
    no_default_updates: bool | Sequence[SharedVariable] = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: bool | str | ProfileStats | None = None,
    on_unused_input: str | None = None,
) -> Any:
    """Compile expressions into a function of arrays.

    The expressions are rewritten, become C and are loaded; the cache keeps them for later programs.

    Parameters
    ----------
    inputs : list of Variable or In
        The arguments, in order: ``[x, y]``. Their names are keywords. An :class:`~theano.In` gives a default value.
    outputs : Variable, Out, list of these, dict of these, or None
        What a call returns: one array, a list, a dictionary, or nothing.
    mode : Mode or str, optional
        How to rewrite and compile; by default as ``theano.config`` says.
    updates : dict or list of (SharedVariable, Variable)
        What shared variables become after a call. Every expression sees the values from before. A call that
        fails changes none. Calls that update the same variable run one after the other, in whatever threads.
    givens : dict or list of (Variable, Variable or value)
        What stands in place of a variable, in the outputs and the updates. All at once.
    no_default_updates : bool or list of SharedVariable
        Leave out the ``default_update`` of all (or of these) shared variables.
    accept_inplace : bool
        Allow ops in the expressions that overwrite their inputs. Arguments that they overwrite are given away;
        shared variables without an update get the result as their new value; defaults and constants are protected.
    name : str, optional
        What errors and profiles call the function; by default the line of this call.
    rebuild_strict : bool
        Require that what ``givens`` put in is of the type of what it replaces.
    allow_input_downcast : bool, optional
        Whether arguments may lose precision: never (False), always (True), or only Python floats that
        become ``floatX`` (None).
    profile : bool, str or ProfileStats, optional
        Count and time the calls; a text heads the summary. By default as ``config.profile`` says.
    on_unused_input : {'raise', 'warn', 'ignore'}, optional
        What to do about an argument that nothing depends on; by default as ``config.on_unused_input`` says.

    Returns
    -------
    Function
        Call it with arrays, numbers or lists; it converts them to the dtypes of the variables where that loses nothing.

    Raises
    ------
    UnusedInputError
        Nothing depends on an input, or one is there twice.
    MissingInputError
        The outputs depend on a variable that is neither an input nor shared nor constant.
    TypeError
        An input, output, update or given is of the wrong kind or type.
    ValueError
        A shared variable is updated twice.

    See Also
    --------
    shared : A variable that keeps its value between calls.
    grad : The gradient of an expression, which is an expression.
    In : An argument with a default value.
    theano.tensor.dmatrix : A variable that stands for an array.

    Notes
    -----
    A function may be called from several threads. No update is lost: calls with updates of the same shared
    variables, and ``set_value`` of these, wait for each other (without the GIL, and until Ctrl-C). A reader sees
    all new values of a call or none of them. Calls without updates never wait.

    Examples
    --------
    A function of two arrays:

    >>> import theano
    >>> import theano.tensor as T
    >>> x, y = T.dvectors("x", "y")
    >>> distance = theano.function([x, y], T.sqrt(((x - y) ** 2).sum()))
    >>> distance([1, 2], [4, 6])
    array(5.)

    A function with a memory, which each call updates:

    >>> total = theano.shared(0.0)
    >>> add = theano.function([x], total, updates={total: total + x.sum()})
    >>> add([1, 2]), add(x=[3]), total.get_value()
    (array(0.), array(3.), array(6.))
    """
    start = perf_counter()
    called = name if name is not None else _default_name()
    shown = printable(f"the function {called}")
    # Nearly all that is made here stays as long as the function: the garbage collector would look through it in vain.
    release = gc_restorer()
    try:
        gc.disable()
        # The first call loads the compiler; programs that only build expressions do without it.
        from theano.compile.closed_graph import check_forgotten, check_unused, close_graph
        from theano.compile.executable import make_function
        from theano.compile.maker import FunctionMaker
        from theano.compile.profiling import wanted_profile
        from theano.runtime.profile import CompileTimes

        closed = close_graph(
            inputs, outputs, updates, givens, no_default_updates, rebuild_strict, allow_input_downcast, shown
        )
        check_unused(closed, config.on_unused_input if on_unused_input is None else on_unused_input, shown, _warn)
        check_forgotten(closed, no_default_updates, shown, _warn)
        times = CompileTimes(packing=perf_counter() - start)
        maker = FunctionMaker(closed, mode, accept_inplace, wanted_profile(profile), called, times=times)
        return make_function(maker)
    finally:
        release()


def function_dump(
    filename: str,
    inputs: Sequence[Variable],
    outputs: Any = None,
    mode: Mode | str | None = None,
    updates: Pairs | None = None,
    givens: Pairs | None = None,
    no_default_updates: bool | Sequence[SharedVariable] = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: bool | str | ProfileStats | None = None,
    on_unused_input: str | None = None,
    extra_tag_to_remove: str | Sequence[str] | None = None,
) -> None:
    """Write the arguments of a call of :func:`function` to a file, so that the compilation can be repeated elsewhere.

    ``theano.function(**pickle.load(open(filename, "rb")))`` repeats the call.

    Parameters
    ----------
    filename : str
        Where they are written.
    inputs : object
        As for :func:`function`.
    outputs : object
        As for :func:`function`.
    mode : object
        As for :func:`function`.
    updates : object
        As for :func:`function`.
    givens : object
        As for :func:`function`.
    no_default_updates : object
        As for :func:`function`.
    accept_inplace : object
        As for :func:`function`.
    name : object
        As for :func:`function`.
    rebuild_strict : object
        As for :func:`function`.
    allow_input_downcast : object
        As for :func:`function`.
    profile : object
        As for :func:`function`.
    on_unused_input : object
        As for :func:`function`.
    extra_tag_to_remove : str or list of str, optional
        Tags of the variables that are left out, apart from test values and traces: what cannot be pickled.

    See Also
    --------
    theano.function

    Examples
    --------
    >>> import pickle, tempfile, theano
    >>> x = theano.generic("x")
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     function_dump(file.name, [x], x)
    ...     theano.function(**pickle.load(file))(3)
    3
    """
    from theano.compile.pickling import StripPickler  # as in `function`

    call = {
        "inputs": inputs, "outputs": outputs, "mode": mode, "updates": updates, "givens": givens,
        "no_default_updates": no_default_updates, "accept_inplace": accept_inplace, "name": name,
        "rebuild_strict": rebuild_strict, "allow_input_downcast": allow_input_downcast, "profile": profile,
        "on_unused_input": on_unused_input,
    }  # fmt: skip
    with open(filename, "wb") as file:
        StripPickler(file, extra_tag_to_remove=extra_tag_to_remove).dump(call)


def _default_name() -> str:
    trace = user_trace(limit=1)
    return str(trace[0]) if trace else "without a name"


def _warn(message: str) -> None:
    # Three frames down from the user: _warn, check_unused, function.
    warnings.warn(message, stacklevel=4)


@compiler.register
def _evaluate(inputs: list[Variable], output: Variable) -> Any:
    return function(inputs, output, on_unused_input="ignore")
