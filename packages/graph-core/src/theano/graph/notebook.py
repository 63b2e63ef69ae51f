"""What shows itself in a notebook, as modules above this one draw or write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.extensions import Single

#: From a thing to its picture as SVG, or None where text is better.
as_svg: Single[Callable[[Any], str | None]] = Single(
    "graph.notebook.as_svg", "what a variable, node or graph looks like"
)

#: From a variable to its formula as LaTeX, or None where that says nothing or is too long.
as_latex: Single[Callable[[Any], str | None]] = Single("graph.notebook.as_latex", "how a variable is written")


class NotebookDisplay:
    """Base of what a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return as_svg.answer(self) if as_svg.answer is not None else None


class FormulaDisplay(NotebookDisplay):
    """Base of what a notebook shows as a formula, or as a picture where that is too long."""

    __slots__ = ()

    def _repr_latex_(self) -> str | None:
        formula = as_latex.answer(self) if as_latex.answer is not None else None
        return None if formula is None else f"${formula}$"

    def _repr_svg_(self) -> str | None:
        # Notebooks that are offered both take the picture.
        return super()._repr_svg_() if self._repr_latex_() is None else None
