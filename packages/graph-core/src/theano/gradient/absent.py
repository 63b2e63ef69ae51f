"""Gradients that are not there: disconnected, undefined, not implemented; and what a type must offer to have one.

Three different things are called "no gradient", and have types of their own:

* *zero*: the cost depends on the variable, and the derivative is 0. An ordinary variable.
* *disconnected* (:class:`DisconnectedType`): the cost does not depend on the value of the variable at all.
* *null* (:class:`NullType`): a derivative was needed that does not exist, or is not implemented.

The type protocol. Differentiation asks little of variables and types, so that any layer can take part:

* ``variable.zeros_like()``, ``variable.ones_like()`` (with ``dtype="floatX"`` for discrete ones);
* ``a + b``, or ``a.plus(b)`` where + is something else than the sum, as it is for lists;
* ``type.ndim``, 0 where it is missing, for a cost must be a scalar;
* ``type.dtype``, a name; those that begin with ``bool``, ``int`` or ``uint`` are discrete, and a function with a
  discrete value has derivative 0 everywhere. ``variable.astype(dtype)`` is asked for where two differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.source import created_at
from theano.graph.type import Type
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Value


class DisconnectedType(Type):
    """The type of the gradient of a cost with respect to something that it does not depend on. It has no values.

    Examples
    --------
    >>> disconnected_type().type == DisconnectedType()
    True
    """

    __props__ = ()

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Refuse: a disconnected gradient is never computed."""
        raise AssertionError(
            "a disconnected gradient reached a place where a value is needed. An op's grad was given one and used it "
            "as a number: test isinstance(g.type, DisconnectedType) first."
        )

    def __str__(self) -> str:
        return "DisconnectedType"


class NullType(Type):
    """The type of a gradient that does not exist or is not implemented. It has no values.

    Parameters
    ----------
    why_null : str
        The reason, for the error message if the value is needed.
    """

    __props__ = ("why_null",)

    def __init__(self, why_null: str = "(no explanation given)"):
        self.why_null = why_null

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Refuse: a null gradient is never computed."""
        raise ValueError(f"a null gradient has no value: {self.why_null}")

    def __str__(self) -> str:
        return "NullType"


#: Call it for a new disconnected gradient.
disconnected_type = DisconnectedType()
null_type = NullType


def grad_undefined(op: Op, x_pos: int, x: Variable, comment: str = "") -> Variable:
    """Return the gradient of ``op`` with respect to an input for which it is undefined, mathematically.

    Parameters
    ----------
    op : Op
        The op whose ``grad`` returns this.
    x_pos : int
        Which input.
    x : Variable
        That input.
    comment : str
        Why, for the error that a user of the gradient gets.

    Returns
    -------
    Variable
        Its use in a gradient raises NullTypeGradError.

    See Also
    --------
    grad_not_implemented

    Examples
    --------
    >>> from theano.graph import generic
    >>> grad_undefined("argsort", 0, generic("x"), "order has no slope").type.why_null
    'the gradient of argsort with respect to its input 0 (x) is undefined: order has no slope'
    """
    return _null("undefined", op, x_pos, x, comment)


def grad_not_implemented(op: Op, x_pos: int, x: Variable, comment: str = "") -> Variable:
    """Return the gradient of ``op`` with respect to an input where it exists but has not been written down.

    Parameters
    ----------
    op : Op
        The op whose ``grad`` returns this.
    x_pos : int
        Which input.
    x : Variable
        That input.
    comment : str, optional
        Why, for the error that a user of the gradient gets.

    Returns
    -------
    Variable
        Its use in a gradient raises NullTypeGradError.

    See Also
    --------
    grad_undefined

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> grad_not_implemented(Op(), 0, generic("x")).type
    NullType
    """
    return _null("not implemented", op, x_pos, x, comment)


def _null(what: str, op: Op, x_pos: int, x: Variable, comment: str) -> Variable:
    why = f"the gradient of {op} with respect to its input {x_pos} ({x}) is {what}"
    return NullType(f"{why}: {comment}" if comment else why)()


def is_disconnected(variable: Variable | None) -> bool:
    """Return whether ``variable`` is a disconnected gradient."""
    return variable is not None and isinstance(variable.type, DisconnectedType)


def is_null(variable: Variable | None) -> TypeGuard[Variable[NullType]]:
    """Return whether ``variable`` is a null gradient."""
    return variable is not None and isinstance(variable.type, NullType)


def is_discrete(type: Type) -> bool:
    """Return whether the values of ``type`` are discrete, so that a function with such values has derivative 0."""
    return str(getattr(type, "dtype", "")).startswith(("bool", "int", "uint"))


def zeros_like(variable: Any) -> Variable:
    """Return the zero gradient with respect to ``variable``."""
    zero: Variable = variable.zeros_like(dtype="floatX") if is_discrete(variable.type) else variable.zeros_like()
    return zero


def still(variable: Variable) -> Variable | None:
    """Return the direction of a variable that does not move, None where its type has no zeros."""
    return variable.zeros_like() if hasattr(variable, "zeros_like") else None


def ones_like(variable: Any) -> Variable:
    """Return the gradient of ``variable`` with respect to itself."""
    one: Variable = variable.ones_like(dtype="floatX") if is_discrete(variable.type) else variable.ones_like()
    return one


def sum_of(a: Any, b: Any) -> Variable:
    """Return the sum of two gradients, or of two directions."""
    plus = getattr(a, "plus", None)
    total: Variable = a + b if plus is None else plus(b)
    return total


#: What may stand for a gradient that is disconnected.
STAND_INS = ("zero", "None", "Disconnected")


def stand_in(variable: Variable, how: str) -> Variable | None:
    """Return what a caller wants to see for a gradient that is disconnected: one of ``STAND_INS``, in any case."""
    if how.lower() == "zero":
        return zeros_like(variable)
    return None if how.lower() == "none" else disconnected_type()


def one_of(function: str, parameter: str, given: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless ``given`` is one of ``choices``, in capitals or not."""
    if str(given).lower() not in map(str.lower, choices):
        raise ValueError(f"{function}: {parameter} is {given!r}; it must be one of {', '.join(map(repr, choices))}")


def connection_pattern(node: Apply) -> Sequence[Sequence[bool]]:
    """Return, for each input and each output of ``node``, whether the one influences the other.

    Raises
    ------
    ValueError
        The op's own answer has the wrong size.
    """
    pattern = node.op.connection_pattern(node)
    if len(pattern) != len(node.inputs) or any(len(row) != len(node.outputs) for row in pattern):
        raise ValueError(
            f"{node.op}.connection_pattern must give a list of {len(node.outputs)} booleans "
            f"for each of the {len(node.inputs)} inputs, not {pattern!r}"
        )
    return pattern


def expression(variable: Variable, depth: int = 3) -> str:
    """Return the upper levels of an expression on one line, for errors."""
    if variable.owner is None or variable.name is not None:
        return str(variable)
    if depth == 0:
        return "..."
    shown = ", ".join(expression(v, depth - 1) for v in variable.owner.inputs[:5])
    more = ", ..." if len(variable.owner.inputs) > 5 else ""
    return f"{variable.owner.op}({shown}{more})"


def describe(variable: Variable) -> str:
    """Return expression, type and source line of ``variable``, for errors."""
    line = created_at(variable)
    return f"{expression(variable)} : {variable.type}" + (f", written at {line}" if line is not None else "")
