"""Docstrings of instances that programs call as functions: what the class is, and what a call takes and returns."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import cast

#: The order of sections, as NumPy's documentation has it.
ORDER = ("Parameters", "Returns", "Raises", "See Also", "Notes", "Examples")
_HEADING = re.compile(r"(?m)^(\w[\w ]*)\n-{4,}\n")


def sections(text: str) -> dict[str, str]:
    r"""Return the sections of a docstring by their headings; what is before the first one has the heading ``""``.

    Examples
    --------
    >>> sections("A sum.\n\nReturns\n-------\nint\n    The sum.\n")
    {'': 'A sum.', 'Returns': 'int\n    The sum.'}
    """
    parts = _HEADING.split(inspect.cleandoc(text))
    return {heading: body.strip("\n") for heading, body in zip(["", *parts[1::2]], parts[::2], strict=True)}


def name_of(called: object) -> str:
    """Return the name that an instance has in the module of its class; nothing if it has none there.

    Examples
    --------
    >>> from theano.graph import generic
    >>> name_of(generic)
    'generic'
    """
    module = sys.modules.get(type(called).__module__)
    return next((name for name, value in vars(module).items() if value is called and name[0] != "_"), "")


def document(called: object) -> str:
    """Return the docstring of an instance: that of its class, with the sections of the method that a call runs.

    Parameters
    ----------
    called : Op, Type or callable
        An instance of a class whose docstring has the parameters of the constructor.

    Returns
    -------
    str
        The parameters are those of ``make_node`` of an op, else of ``__call__``.

    Examples
    --------
    >>> from theano.graph import generic
    >>> print(document(generic).partition("Returns")[0].rstrip())
    generic(name=None)
    <BLANKLINE>
    The type of any Python object. In C it is a ``PyObject *``.
    <BLANKLINE>
    Parameters
    ----------
    name : str, optional
        What graphs and messages call the variable.
    """
    kind = type(called)
    method = getattr(kind, "make_node", kind.__call__)
    found, of_call = sections(kind.__doc__ or ""), sections(method.__doc__ or "")
    found = {**of_call, **found, "Parameters": of_call["Parameters"]}  # not those of the constructor
    ordered = sorted((heading for heading in found if heading in ORDER), key=ORDER.index)
    texts = [f"{heading}\n{'-' * len(heading)}\n{found[heading]}" for heading in ordered]
    name = name_of(called)
    begin = [f"{name}{_arguments(called)}"] if name else []
    return "\n\n".join([*begin, found[""], *texts]) + "\n"


def _arguments(called: object) -> inspect.Signature:
    """Return how an instance is called, without annotations, which the sections repeat."""
    signature = inspect.signature(cast(Callable[..., object], called))
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)
