"""What shows itself in a notebook, as modules above this one draw it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.extensions import Slot

#: From a thing to its picture as SVG, or None where text is better.
as_svg: Slot[Callable[[Any], str | None]] = Slot("graph.notebook.as_svg", "what a variable, node or graph looks like")


class NotebookDisplay:
    """Base of what a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return as_svg.answer(self) if as_svg.answer is not None else None
