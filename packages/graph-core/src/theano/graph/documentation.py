"""Docstrings of instances that programs call, such as ``T.exp`` and ``T.dmatrix``: written on first access."""

from __future__ import annotations

import importlib


class Documentation:
    """The ``__doc__`` of a class whose instances have docstrings of their own.

    Parameters
    ----------
    text : str
        The docstring of the class.
    place : str
        The function that returns that of an instance, as ``module:name``; its module is imported when it is called.

    Examples
    --------
    >>> class Power:
    ...     __doc__ = Documentation("A power.", "json:dumps")
    >>> Power.__doc__
    'A power.'
    """

    def __init__(self, text: str, place: str):
        self.text = text
        self.place = place

    def __get__(self, instance: object, owner: type) -> str:
        if instance is None:
            return self.text
        module, _, name = self.place.partition(":")
        return str(getattr(importlib.import_module(module), name)(instance))
