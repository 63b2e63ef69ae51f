"""Arguments of a call: brought under the types of the inputs, or refused in words that name everything."""

from __future__ import annotations

from typing import Any

from theano.compile.inputs import SymbolicInput
from theano.graph.source import created_at
from theano.graph.variable import Variable
from theano.runtime.failure import describe


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
        self.index, self.function = index, function
        self.name = spec.name
        self.variable = spec.variable if original is None else original

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
            kind = TypeError if isinstance(problem, TypeError) else ValueError
            raise kind(self._explain(value, problem)) from None

    def _explain(self, value: Any, problem: Exception) -> str:
        name = f"{self.name!r}" if self.name is not None else "without a name"
        where = created_at(self.variable)
        reason = "\n  ".join(str(problem).splitlines()[:3])
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


def _describe(value: Any) -> str:
    kind = type(value).__name__
    text = describe(value)
    if value is None:
        return "None"
    return text if text.startswith(kind) else f"{kind}, {text}"
