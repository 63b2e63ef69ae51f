"""The options of a function's inputs and outputs beside their variable."""

from __future__ import annotations

from typing import Any

from theano.compile.shared import Container, SharedVariable
from theano.graph.variable import Constant, Variable


class SymbolicInput:
    """A variable as the input of a function.

    Parameters
    ----------
    variable : Variable
    name : str, optional
        The keyword of the argument; the variable's name by default.
    update : Variable, optional
        What the input's stored value becomes after each call.
    mutable : bool
        Whether the function may overwrite the memory of the argument. By default it may not, unless there
        is an update.
    strict : bool
        Refuse arguments that would have to be converted.
    allow_downcast : bool or None
        Whether conversion may lose precision. None: only where a Python float becomes ``floatX``.
    autoname : bool
        Take the variable's name if ``name`` is not given.
    implicit : bool
        The input is not an argument: it always has its stored value.
    """

    borrow = False
    shared = False
    value: Any = None

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        update: Variable | None = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool | None = False,
    ):
        if not isinstance(variable, Variable):
            raise TypeError(f"an input is made of a variable, not of {variable!r}")
        if implicit is None:
            raise TypeError("implicit is True or False")
        self.variable = variable
        self.name = variable.name if autoname and name is None else name
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"the name of an input is a string, not {self.name!r}")
        self.update = update
        if update is not None and update.type != variable.type:
            raise TypeError(
                f"the input {self.name or variable} of type {variable.type} cannot be updated to {update}, "
                f"which is of type {update.type}. Cast the update to the type of the input."
            )
        self.mutable = (update is not None) if mutable is None else mutable
        self.strict = strict
        self.allow_downcast = allow_downcast
        self.implicit: bool = implicit

    def __str__(self) -> str:
        update = f" -> {self.update}" if self.update is not None else ""
        return f"{type(self).__name__}({self.variable}{update})"

    def __repr__(self) -> str:
        return str(self)


class In(SymbolicInput):
    """A variable as the input of a function, with a default value and with permissions.

    Parameters
    ----------
    variable : Variable
    name : str, optional
        The keyword of the argument; the variable's name by default.
    value : object, optional
        The default. A ``Container`` or a shared variable shares its value with this input.
    update : Variable, optional
        What the stored value becomes after each call: the input then has a memory.
    mutable : bool, optional
        Whether the function may overwrite the memory of the argument; it implies ``borrow``. An argument that shares
        memory with another one, or with a value that the function keeps, is copied first where it would be overwritten.
    strict : bool
        Refuse arguments that would have to be converted.
    allow_downcast : bool or None
        Whether conversion may lose precision.
    autoname : bool
        Take the variable's name if ``name`` is not given.
    implicit : bool, optional
        The input is not an argument. By default true where ``value`` is a container or shared variable.
    borrow : bool, optional
        Whether outputs may share the memory of the argument. By default what ``mutable`` says.
    shared : bool
        The input stands for a shared variable.

    Examples
    --------
    >>> import theano
    >>> x, y = theano.generic("x"), theano.generic("y")
    >>> f = theano.function([x, theano.In(y, value=5)], [y, x], on_unused_input="ignore")
    >>> f(1), f(1, y=7)
    ([5, 1], [7, 1])
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: Any = None,
        update: Variable | None = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool | None = None,
        borrow: bool | None = None,
        shared: bool = False,
    ):
        if implicit is None:
            implicit = isinstance(value, (Container, SharedVariable))
        super().__init__(variable, name, update, mutable, strict, allow_downcast, autoname, implicit)
        if borrow is None:
            borrow = self.mutable
        elif self.mutable and not borrow:
            raise ValueError(
                f"the input {self.name or variable} is mutable with borrow=False: what the function may overwrite, "
                "it also borrows. Leave out borrow, or set mutable=False."
            )
        if implicit and value is None:
            raise TypeError(f"the input {self.name or variable} is implicit, so it needs a value")
        self.borrow = borrow
        self.shared = shared
        self.value = value


class Param(In):
    """Another spelling of :class:`In`: the default value is the second parameter."""

    def __init__(
        self,
        variable: Variable,
        default: Any = None,
        name: str | None = None,
        mutable: bool = False,
        strict: bool = False,
        allow_downcast: bool | None = None,
        implicit: bool | None = None,
        borrow: bool | None = None,
    ):
        super().__init__(
            variable,
            name=name,
            value=default,
            mutable=mutable,
            strict=strict,
            allow_downcast=allow_downcast,
            implicit=implicit,
            borrow=borrow,
        )
        self.default = default


class SymbolicOutput:
    """A variable as the output of a function.

    Parameters
    ----------
    variable : Variable
    borrow : bool
        Whether the value returned may share the memory of something that lives on: an input that is borrowed
        too, a shared variable's value, another such output. By default it is a value of its own.
    """

    def __init__(self, variable: Variable, borrow: bool = False):
        if not isinstance(variable, Variable):
            raise TypeError(f"an output is made of a variable, not of {variable!r}")
        self.variable = variable
        self.borrow = borrow

    def __repr__(self) -> str:
        return f"Out({self.variable}, borrow={self.borrow})"


Out = SymbolicOutput


def as_input(thing: Any) -> SymbolicInput:
    """Return ``thing``, whatever a list of inputs may hold, as an input.

    Parameters
    ----------
    thing : Variable, SymbolicInput, or a tuple or list
        ``(variable, value)``, ``(name, variable)``, ``(name, variable, value)``, and the same with
        ``(variable, update)`` in the place of ``variable``, are the oldest spellings.

    Raises
    ------
    TypeError
        It is none of these, or a constant or a shared variable.
    """
    if isinstance(thing, SymbolicInput):
        checked = thing
    elif isinstance(thing, Variable):
        checked = In(thing)
    elif isinstance(thing, (list, tuple)):
        checked = _from_tuple(thing)
    else:
        raise TypeError(
            "the inputs of a function are variables, In(...) or Param(...), "
            f"not {thing!r} of type {type(thing).__name__}"
        )
    _refuse_known_values(checked)
    return checked


def _from_tuple(thing: list[Any] | tuple[Any, ...]) -> In:
    parts = list(thing)
    original = thing
    if not parts:
        raise TypeError("an empty list or tuple is no input")
    name = parts.pop(0) if isinstance(parts[0], str) else None
    if not parts or len(parts) > 2:
        raise TypeError(f"an input is written (variable, value) or (name, variable, value), not {original!r}")
    variable, update = parts[0], None
    if isinstance(variable, (list, tuple)) and len(variable) == 2:
        variable, update = variable
    if isinstance(variable, SymbolicInput):
        raise TypeError(f"{original!r} wraps an In once more; give the In its value itself")
    return In(variable, name=name, value=parts[1] if len(parts) == 2 else None, update=update)


def _refuse_known_values(thing: SymbolicInput) -> None:
    variable = thing.variable
    if isinstance(variable, Constant):
        raise TypeError(f"the constant {variable} cannot be an input: its value is known. Leave it out of the inputs.")
    if isinstance(variable, SharedVariable) and not thing.implicit:
        raise TypeError(
            f"Cannot use a shared variable ({variable}) as explicit input: it has a value of its own. "
            "Leave it out of the inputs; to call with other values, replace it: givens={shared: variable}."
        )


def as_output(thing: Any) -> SymbolicOutput:
    """Return ``thing``, a variable or an ``Out``, as an output."""
    if isinstance(thing, SymbolicOutput):
        return thing
    if isinstance(thing, Variable):
        return SymbolicOutput(thing)
    raise TypeError(
        f"the outputs of a function are variables or Out(...), not {thing!r} of type {type(thing).__name__}. "
        "A number or an array becomes a variable with as_tensor_variable."
    )
