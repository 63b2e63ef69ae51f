"""Expressions as formulas of LaTeX, as notebooks show them.

How an op looks is data, as for ``pp``: layers name the modules that assign printers to their ops in `latex_tables`. A
printer says how close what it has written binds, and its user puts parentheses around what binds less.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from theano.graph.op import Op
from theano.graph.traverse import ancestors
from theano.graph.variable import Constant, Variable
from theano.printing.formula import PPrinter, PrinterState, greek, latex_tables

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Value

#: How close things bind.
LOWEST, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(7)

#: What a notebook shows; a longer formula is no picture of anything.
MOST_CHARACTERS, MOST_VARIABLES = 2_000, 200

Writer = Callable[[Any, Callable[[int, int], str]], str]

_GREEK = {*greek, *"zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega".split()}
_GREEK |= {name.capitalize() for name in "gamma delta theta lambda xi pi sigma upsilon phi psi omega".split()}


class Latex:
    """Writes an op by a pattern or a function.

    Parameters
    ----------
    how : str or callable
        ``'@0 + @1'``, the numbers being those of the inputs; or a function of the node and of another one, which
        gives the text of an input of the node for its number and how close it must bind.
    binds : int
        How close the result binds.
    wants : int
        How close inputs must bind; `LOWEST` where the pattern encloses them.
    """

    def __init__(self, how: str | Writer, binds: int = ATOM, wants: int = LOWEST):
        self.how, self.binds, self.wants = how, binds, wants

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text, in parentheses if the caller needs a higher precedence."""
        node: Any = output.owner

        def text(i: int, wants: int) -> str:
            return pstate.pprinter.process(node.inputs[i], pstate.clone(precedence=wants))

        if isinstance(self.how, str):
            written = re.sub("@([0-9])", lambda place: text(int(place[1]), self.wants), self.how)
        else:
            written = self.how(node, text)
        return written if self.binds >= pstate.precedence else rf"\left({written}\right)"


class _Leaf:
    """Writes what nothing computes: its name, bold where it has axes, or its value."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text."""
        bold = getattr(output.type, "ndim", 0) > 0
        if not isinstance(output, Constant) or output.name is not None:
            return symbol(output.name or str(output), bold)
        lengths = getattr(output.data, "shape", ())
        if getattr(output.data, "size", 1) != 1:
            shape = r" \times ".join(map(str, lengths))
            return rf"\mathrm{{constant}}_{{{shape}}}"
        text = number(output.data)
        return rf"\left({text}\right)" if text.startswith("-") and pstate.precedence > SUM else text


def symbol(name: str, bold: bool = False) -> str:
    r"""Return a name as mathematicians write it.

    Examples
    --------
    >>> [symbol(name) for name in ("x", "w_1", "b0", "alpha", "loss", "W_out")]
    ['x', 'w_{1}', 'b_{0}', '\\alpha', '\\mathrm{loss}', 'W_{\\mathrm{out}}']
    >>> symbol("W", bold=True)
    '\\mathbf{W}'
    """
    parts = re.fullmatch(r"([A-Za-z]+?)_?([0-9]+)|([A-Za-z]+)_([A-Za-z0-9]+)|([A-Za-z]+)", name)
    if parts is None:
        return rf"\mathrm{{{plain(name)}}}"
    stem = parts[1] or parts[3] or parts[5]
    index = parts[2] or parts[4]
    if stem in _GREEK:
        written = f"\\{stem}"
    elif len(stem) > 1:
        written = rf"\mathrm{{{stem}}}"
    else:
        written = rf"\mathbf{{{stem}}}" if bold else stem
    if not index:
        return written
    shown = index if index.isdigit() or len(index) == 1 else rf"\mathrm{{{index}}}"
    return f"{written}_{{{shown}}}"


def number(value: Value) -> str:
    r"""Return a number without superfluous digits.

    Examples
    --------
    >>> import numpy as np
    >>> number(2), number(0.5), number(1e-7), number(np.float64(3.0)), number(float("inf"))
    ('2', '0.5', '10^{-7}', '3', '\\infty')
    """
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return rf"\mathrm{{{plain(str(value))}}}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    mantissa, mark, exponent = text.partition("e")
    if mark:
        power = f"10^{{{int(exponent)}}}"
        return power if mantissa == "1" else rf"{mantissa} \cdot {power}"
    return {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\mathrm{nan}"}.get(text, text)


def plain(text: str) -> str:
    r"""Return a text in which nothing means anything to LaTeX.

    Examples
    --------
    >>> plain("Elemwise{my_op}")
    'Elemwise\\{my\\_op\\}'
    """
    text = text.replace("\\", r"\backslash ")
    return re.sub(r"[{}_$%&#]", lambda found: "\\" + found[0], text).replace("^", r"\hat{}").replace("~", r"\sim ")


def called_as(name: str) -> str:
    """Return the name of a function that LaTeX has none for."""
    return rf"\operatorname{{{plain(name)}}}"


def called(name: str) -> Latex:
    """Return the printer that writes an op as a call of a function."""

    def write(node: Node, text: Callable[[int, int], str]) -> str:
        arguments = ", ".join(text(i, LOWEST) for i in range(len(node.inputs)))
        return rf"{name}\left({arguments}\right)"

    return Latex(write)


class _Call:
    """Writes an op without a printer."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text."""
        node: Any = output.owner
        name = re.sub(r"\{.*\}", "", str(node.op)) + (f".{output.index}" if len(node.outputs) > 1 else "")
        return called(called_as(name)).process(output, pstate)


formulas = PPrinter()
"""What is assigned to ops here is what `latex` writes."""

formulas.assign(lambda state, v: v.owner is None, _Leaf())
formulas.assign(Op, _Call())


def latex(v: Variable) -> str:
    r"""Return an expression as a formula of LaTeX, without the signs of dollar around it.

    Vectors and matrices are bold; a product of elements has a dot, one of matrices has none. Where a name says nothing
    to LaTeX, as for ops of a program's own, the op is written as a function.

    Parameters
    ----------
    v : Variable

    Returns
    -------
    str
        What is nested deeper than `theano.printing.formula.MAX_DEPTH` levels is ``...``.

    Examples
    --------
    >>> from theano.graph import generic
    >>> latex(generic("theta"))
    '\\theta'
    """
    for module in latex_tables:
        importlib.import_module(module)
    return formulas.process(v, PrinterState(pprinter=formulas, precedence=LOWEST))


def notebook_latex(v: Variable) -> str | None:
    """Return what a notebook shows of a variable, or None where its name says more, or a picture does."""
    if v.owner is None or len(list(islice(ancestors([v]), MOST_VARIABLES))) == MOST_VARIABLES:
        return None
    text = latex(v)
    return text if len(text) <= MOST_CHARACTERS else None
