"""Docstrings of instances that programs call, such as ``T.exp`` and ``T.dmatrix``: written on first access."""

from __future__ import annotations

import importlib
import inspect


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


class SharedSections:
    """A base of classes that state only a sentence of their own: the sections of their base's docstring follow.

    Examples
    --------
    >>> class Shift(SharedSections):
    ...     '''A base.
    ...
    ...     Returns
    ...     -------
    ...     int
    ...     '''
    >>> class Left(Shift):
    ...     '''A shift to the left.'''
    >>> Left.__doc__.split()
    ['A', 'shift', 'to', 'the', 'left.', 'Returns', '-------', 'int']
    """

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        own, base = vars(cls).get("__doc__"), cls.__mro__[1]
        sections = inspect.cleandoc(base.__doc__ or "").partition("\n\n")[2]
        if own and "\n\n" not in own and base is not SharedSections and sections:
            cls.__doc__ = f"{own}\n\n{sections}"
