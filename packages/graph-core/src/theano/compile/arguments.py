"""Arguments of a call: brought under the types of the inputs, or refused in words that name everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.inputs import SymbolicInput
from theano.graph.source import created_at
from theano.graph.text import printable, text_of
from theano.graph.type import Type
from theano.graph.variable import Variable
from theano.runtime.failure import describe

if TYPE_CHECKING:
    from theano.graph.annotations import Value


class ArgumentFilter:
    """Takes an argument that is not exactly what the machine expects, and converts it or says what is wrong.

    Parameters
    ----------
    spec : SymbolicInput
    index : int
        Its place among the arguments.
    function : str
        What to call the function.
    original : Variable, optional
        The user's own variable.
    """

    def __init__(self, spec: SymbolicInput, index: int, function: str, original: Variable | None = None):
        self.type = spec.variable.type
        self.strict, self.allow_downcast = spec.strict, spec.allow_downcast
        # Read by the machine, which then asks only about what may lose something.
        self.casts_safely = not spec.strict and self.type.casts_safely
        self.index, self.function = index, printable(function)
        self.name = spec.name
        self.variable = spec.variable if original is None else original
        self.trusted = False  # the function's ``trust_input``

    def __call__(self, value: Any) -> Any:
        """Return ``value`` as a value of the input's type.

        Raises
        ------
        TypeError, ValueError
            As the type's filter does, with the argument, the function, what was expected and what came.
        """
        if isinstance(value, Variable):
            raise TypeError(self._explain(value, TypeError()))
        try:
            return self.type.filter(value, strict=self.strict, allow_downcast=self.allow_downcast)
        except (TypeError, ValueError) as problem:
            if self.trusted:
                taken = self.type.filter_trusted(value)
                if taken is not None:
                    return taken
            kind = TypeError if isinstance(problem, TypeError) else ValueError
            raise kind(self._explain(value, problem)) from None

    def _explain(self, value: Value, problem: Exception) -> str:
        name = f"{self.name!r}" if self.name is not None else "without a name"
        where = created_at(self.variable)
        reason = "\n  ".join(text_of(problem).splitlines()[:3])
        if isinstance(value, Variable):
            reason = f"{value} is a symbolic variable: a function is called with values. " + (
                "To compute with the expression, leave the function out; to replace a variable, use givens."
            )
        return (
            f"Bad input argument {name} (index {self.index}) of {self.function}.\n"
            f"    expected: {self.type}" + (f", the variable created at {where}" if where else "") + "\n"
            f"    got:      {_describe(value)}\n"
            f"  {reason}"
        )


def _describe(value: Value) -> str:
    kind = type(value).__name__
    text = describe(value)
    if value is None:
        return "None"
    return text if text.startswith(kind) else f"{kind}, {text}"


class Separator:
    """Copies an argument that a call overwrites, if it shares memory with anything else that the function knows.

    The machine asks only about what may share memory by its addresses, and about values that are no arrays.

    Parameters
    ----------
    types : list of Type
        Those of all inputs of the graph, in order; those of implicit ones, too.

    Examples
    --------
    >>> from theano.graph import generic
    >>> separate = Separator([generic, generic])
    >>> mine = [1]
    >>> separate(0, mine, [(1, [1])]), separate(0, mine, [(1, mine)]) is mine
    (None, False)
    """

    def __init__(self, types: Sequence[Type]):
        self.types = list(types)

    def __call__(self, number: int, value: Any, others: Sequence[tuple[int, Any]]) -> Any:
        """Return a copy of the value of an input, or None where it may be overwritten.

        Parameters
        ----------
        number : int
            Of the input.
        value : object
        others : list of (int, object)
            What it may share memory with. A number that is no input's is that of a constant.
        """
        mine = self.types[number]
        for k, other in others:
            its = self.types[k] if k < len(self.types) else mine
            if value is other or mine.may_share_memory(value, other) or its.may_share_memory(other, value):
                return mine.value_copy(value)
        return None


class CallExplainer:
    """Says what is wrong with a call whose arguments do not match the inputs one by one.

    Parameters
    ----------
    function : str
        What to call the function.
    inputs : list of SymbolicInput
        Those that are arguments.
    """

    def __init__(self, function: str, inputs: Sequence[SymbolicInput]):
        self.function, self.inputs = printable(function), list(inputs)

    def __call__(self, kind: str, detail: Any) -> TypeError:
        """Return the exception to raise.

        Parameters
        ----------
        kind : {'missing', 'duplicate', 'unknown', 'too_many'}
        detail : int or str
            The position of the input, the keyword, or the number of arguments.
        """
        if kind == "missing":
            text = f"{self.function} was called without its input {self._name(detail)}."
        elif kind == "duplicate":
            text = f"{self.function} was given its input {self._name(detail)} twice, by position and by keyword."
        elif kind == "unknown":
            text = f"{self.function} has no input called {detail!r}."
        else:
            text = f"{self.function} takes at most {len(self.inputs)} arguments, and was called with {detail}."
        return TypeError(f"{text}\n  {self._signature()}")

    def _name(self, index: int) -> str:
        spec = self.inputs[index]
        name = f"{spec.name!r}" if spec.name is not None else "without a name"
        return f"{name} (index {index}, of type {spec.variable.type})"

    def _signature(self) -> str:
        shown = []
        for spec in self.inputs[:8]:
            text = spec.name or f"<{spec.variable.type}>"
            shown.append(text if spec.value is None else f"{text}=...")
        if len(self.inputs) > len(shown):
            shown.append("...")
        optional = any(spec.value is not None for spec in self.inputs)
        return f"Its inputs are ({', '.join(shown)})" + ("; those with =... may be left out." if optional else ".")
