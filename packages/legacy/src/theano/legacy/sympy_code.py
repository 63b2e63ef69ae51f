"""What ``theano.scalar.basic_sympy`` has: an expression of SymPy's as an operation on numbers.

SymPy is needed for it, and for nothing else: ``pip install sympy``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import sympy

from theano.graph.apply import Apply
from theano.graph.variable import Constant
from theano.scalar.arithmetic import second
from theano.scalar.base import ScalarOp
from theano.scalar.output_types import upgrade_to_float

if TYPE_CHECKING:
    import numpy as np

    from theano.graph.variable import Variable
    from theano.scalar.annotations import Number

__all__ = ["SymPyCCode", "include_line", "sympy_dtype", "theano_dtype"]


class SymPyCCode(ScalarOp):
    """What an expression of SymPy's says, in the C that SymPy writes; its derivatives are those that SymPy finds.

    Parameters
    ----------
    inputs : sequence of sympy.Symbol
        In the order of the operation's inputs.
    expr : sympy.Expr
        Of these symbols alone; ValueError if there are others.
    name : str, optional
        What graphs call it.

    Examples
    --------
    >>> import sympy, theano.scalar as ts
    >>> x, y = sympy.symbols("x y")
    >>> op = SymPyCCode([x, y], x**2 + sympy.sin(y))
    >>> float(op.impl(3.0, 0.0))
    9.0
    >>> op(ts.float64("a"), ts.float64("b")).type
    float64
    """

    __props__ = ("inputs", "expr")
    output_types_preference = staticmethod(upgrade_to_float)

    def __init__(self, inputs: Sequence[object], expr: object, name: str | None = None):
        self.inputs, self.expr = tuple(inputs), sympy.sympify(expr)
        unknown = self.expr.free_symbols - set(self.inputs)
        if unknown:
            raise ValueError(f"{self.expr} has symbols that are no inputs: {', '.join(sorted(map(str, unknown)))}")
        self.nin, self.nout = len(self.inputs), 1
        super().__init__(name=name)

    def impl(self, *values: Any) -> np.generic:
        """Compute the expression with NumPy."""
        value: np.generic = _function(self.inputs, self.expr)(*values)
        return value

    def c_code(
        self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        """Return the assignment of the expression to the output, as SymPy writes it in C."""
        names = {symbol: sympy.Symbol(variable) for symbol, variable in zip(self.inputs, inputs, strict=True)}
        return f"{outputs[0]} = {sympy.ccode(self.expr.xreplace(names))};"

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        """Return nothing: the functions of ``math.h`` are all that SymPy calls."""
        return ""

    def grad(self, inputs: Sequence[Number], output_gradients: Sequence[Number]) -> list[Variable]:
        """Return the derivatives that SymPy finds, times the gradient."""
        (g,) = output_gradients
        slopes = [SymPyCCode(self.inputs, self.expr.diff(symbol))(*inputs) for symbol in self.inputs]
        return slopes if _is_one(g) else [slope * g for slope in slopes]


@cache
def _function(inputs: tuple[Any, ...], expr: object) -> Callable[..., Any]:
    """Return an expression as a function of NumPy's. Operations do not hold it, since they are pickled."""
    function: Callable[..., Any] = sympy.lambdify(inputs, expr, "numpy")
    return function


def _is_one(g: Number) -> bool:
    """Return whether a gradient is that of the cost itself."""
    value = g.owner.inputs[1] if g.owner is not None and g.owner.op == second else g
    return isinstance(value, Constant) and bool(value.data == 1)


def sympy_dtype(expr: Any) -> str:
    """Return the kind of number that an expression is, as C has it.

    Examples
    --------
    >>> x, n = sympy.Symbol("x"), sympy.Symbol("n", integer=True)
    >>> sympy_dtype(x), sympy_dtype(n + 1)
    ('double', 'int')
    """
    return "int" if expr.is_integer else "double"


def theano_dtype(expr: Any) -> str:
    """Return the dtype of an expression.

    Examples
    --------
    >>> theano_dtype(sympy.Symbol("x"))
    'float64'
    """
    return "int64" if expr.is_integer else "float64"


def include_line(line: str) -> bool:
    """Return whether a line of C includes a header.

    Examples
    --------
    >>> include_line("#include <math.h>"), include_line("x = 1;")
    (True, False)
    """
    return line.strip().startswith("#include")
