"""Test values: each expression is computed on example values while it is being written.

With ``theano.config.compute_test_value`` other than ``"off"``, calling an op computes its outputs from the values in
``variable.tag.test_value`` of its inputs, so that a wrong shape raises at the line that wrote it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from theano.errors import MethodNotDefined, TestValueError
from theano.graph.apply import Apply
from theano.graph.op import call_observers
from theano.graph.source import set_compile_trace_limit, set_trace_limit
from theano.graph.variable import Scratchpad, Variable, get_test_value
from theano.settings import config


def get_debug_values(*args: Any) -> list[Any]:
    """Return the test values of some variables as one tuple in a list, for checks within ``make_node``.

    The value of a single variable is in the list as it is. The list is empty if test values are off, or where one is
    missing (which the flag may forbid): code in a loop over the list runs once or never.

    Examples
    --------
    >>> import theano
    >>> for x, y in get_debug_values(theano.generic("x"), theano.generic("y")):
    ...     assert len(x) == len(y)
    """
    if config.compute_test_value == "off":
        return []
    found = []
    for i, arg in enumerate(args):
        try:
            found.append(get_test_value(arg))
        except AttributeError as missing:
            _missing(f"argument {i}: {missing}", missing)
            return []
    return found if len(found) == 1 else [tuple(found)]


def inherit_test_value(new: Variable, old: Variable, part: Callable[[Any], Any] | None = None) -> Variable:
    """Let a variable that stands for another one, or for a part of it, have its test value, if it has one.

    Parameters
    ----------
    new, old : Variable
    part : callable, optional
        From the value of ``old`` to that of ``new``.

    Returns
    -------
    Variable
        ``new``.
    """
    if config.compute_test_value != "off":
        for value in get_debug_values(old):
            new.tag.test_value = value if part is None else part(value)
    return new


def missing_test_message(msg: str) -> None:
    """Do with a message about a missing test value what the flag says.

    Raises
    ------
    AttributeError
        The flag says ``"raise"``.
    """
    _missing(msg, None)


def _missing(message: str, cause: BaseException | None) -> None:
    action = config.compute_test_value
    if action == "raise":
        raise TestValueError(message) from cause
    if action == "warn":
        warnings.warn(message, stacklevel=4)
    elif action == "pdb":
        breakpoint()  # noqa: T100  (the flag asks for it)


def debug_error_message(msg: str) -> None:
    """Report what test values show to be wrong, as the flag ``compute_test_value`` says.

    Raises
    ------
    ValueError
        The flag says ``"raise"``, ``"pdb"`` or ``"ignore"``, which ignores values that are missing, not wrong ones.
    """
    action = config.compute_test_value
    if action in ("raise", "pdb", "ignore"):
        raise ValueError(msg)
    if action == "warn":
        warnings.warn(msg, stacklevel=2)


def debug_assert(condition: object, msg: str | None = None) -> None:
    """Report a condition on test values that does not hold, as :func:`debug_error_message` does."""
    if not condition:
        debug_error_message(msg or "a condition on test values does not hold")


def compute_test_value(node: Apply) -> None:
    """Compute the test values of a node's outputs from those of its inputs, as the flag says.

    Raises
    ------
    TestValueError
        One is missing, and the flag says ``"raise"``.
    TypeError
        One is not of the type of its variable.
    """
    from theano.rewriting.merge import evaluate  # with the compiler, for who turns the flag on

    values = []
    for i, v in enumerate(node.inputs):
        try:
            values.append(get_test_value(v))
        except AttributeError as missing:
            _missing(f"the test value of {node.op} cannot be computed. Input {i}: {missing}", missing)
            return
        except TypeError as wrong:
            raise TypeError(
                "For compute_test_value, one input test value does not have the requested type: "
                f"input {i} of {node.op}, {wrong}"
            ) from wrong
    written = {i for places in node.op.destroy_map.values() for i in places}
    import copy  # most programs ask for no test values

    own = [copy.deepcopy(value) if i in written else value for i, value in enumerate(values)]
    try:
        values = evaluate(node, own)
    except MethodNotDefined as lacking:
        if lacking.method != "perform":
            raise
        values = _evaluate_in_c(node, own)
    for v, value in zip(node.outputs, values, strict=True):
        v.tag.test_value = value


def _evaluate_in_c(node: Apply, values: list[Any]) -> list[Any]:
    from theano.graph.fgraph import FunctionGraph  # as above
    from theano.runtime.link import OpWiseCLinker  # as above

    inputs = [v.type() for v in node.inputs]
    alone = FunctionGraph(inputs, node.clone_with_new_inputs(inputs).outputs, clone=False)
    computed: list[Any] = OpWiseCLinker().accept(alone).make_function(unpack_single=False)(*values)
    return computed


# -- what the flags say to the packages below, which do not read them --------------------------------------------------


def _switch(action: str) -> None:
    if action != "off":
        call_observers.register(compute_test_value)
    elif compute_test_value in call_observers:
        call_observers.remove(compute_test_value)


def _show(wanted: bool) -> None:
    Variable.shows_test_value = wanted


def _keep(wanted: bool) -> None:
    Scratchpad._left_out = () if wanted else ("test_value",)


config.watch("compute_test_value", _switch)
config.watch("print_test_value", _show)
config.watch("pickle_test_value", _keep)
config.watch("traceback.limit", set_trace_limit)
config.watch("traceback.compile_limit", set_compile_trace_limit)
