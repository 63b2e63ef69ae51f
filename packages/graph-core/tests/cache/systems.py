"""Other systems than the one that the tests run on, as a module sees them through ``os``."""

from __future__ import annotations

import os
from typing import Any


class System:
    """``os``, with other answers to some questions.

    Parameters
    ----------
    without : iterable of str
        Names that this system does not have.
    **answers
        Names that it has, and what stands there.
    """

    def __init__(self, without: tuple[str, ...] = (), **answers: Any):
        self._without, self._answers = without, answers

    def __getattr__(self, name: str) -> Any:
        if name in self._without:
            raise AttributeError(name)
        return self._answers[name] if name in self._answers else getattr(os, name)
