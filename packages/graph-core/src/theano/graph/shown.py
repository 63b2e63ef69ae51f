"""What shows itself in a notebook: the floor of printing says how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Hooks:
    """What later floors put in.

    Attributes
    ----------
    svg : callable or None
        Takes a thing, returns its picture as SVG, or None where text is better.
    """

    svg: Callable[[Any], str | None] | None = None


class Shown:
    """Base of what a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return Hooks.svg(self) if Hooks.svg is not None else None
