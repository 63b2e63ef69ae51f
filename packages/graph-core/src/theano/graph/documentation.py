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


def document_calls(cls: type, method: str) -> None:
    """Give instances docstrings of their own, if the docstring of a method says what a call takes.

    Parameters
    ----------
    cls : type
        The docstring of a class has the parameters of its constructor.
    method : str
        The method with the parameters of a call.

    Examples
    --------
    >>> class Scale:
    ...     '''A multiple.'''
    ...     def __call__(self, x):
    ...         '''Return it.
    ...
    ...         Parameters
    ...         ----------
    ...         x : number
    ...         '''
    >>> document_calls(Scale, "__call__")
    >>> Scale.__doc__, Scale().__doc__.split()
    ('A multiple.', ['A', 'multiple.', 'Parameters', '----------', 'x', ':', 'number'])
    """
    text, of_method = vars(cls).get("__doc__"), getattr(getattr(cls, method), "__doc__", None)
    if isinstance(text, str) and isinstance(of_method, str) and "Parameters\n" in of_method:
        setattr(cls, "__doc__", Documentation(text, "theano.graph.call_documentation:document"))  # noqa: B010


class SharedSections:
    """A base of classes that state only a sentence, or examples, of their own: the sections of their base are between.

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
        own, base = vars(cls).get("__doc__"), cls.__mro__[1]
        sections = inspect.cleandoc(base.__doc__ or "").partition("\n\n")[2]
        sentence, _, rest = inspect.cleandoc(own or "").partition("\n\n")
        if own and (not rest or rest.startswith("Examples\n")) and base is not SharedSections and sections:
            cls.__doc__ = "\n\n".join([sentence, sections.rstrip(), rest]).rstrip() + "\n"
        super().__init_subclass__(**options)
