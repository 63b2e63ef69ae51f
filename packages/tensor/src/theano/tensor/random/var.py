"""Shared variables that hold a ``RandomState``."""

from __future__ import annotations

import numpy as np

from theano.compile.shared import SharedVariable
from theano.tensor.random.type import copy_of, random_state_type


class RandomStateSharedVariable(SharedVariable):
    """A shared variable whose value is a ``numpy.random.RandomState``.

    Examples
    --------
    >>> import theano
    >>> type(theano.shared(np.random.RandomState(1))).__name__
    'RandomStateSharedVariable'
    """


def randomstate_constructor(
    value: object,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
) -> RandomStateSharedVariable:
    """Return a shared variable for a ``RandomState``: a copy of it, or with ``borrow`` the object itself.

    Raises
    ------
    TypeError
        The value is something else.

    Examples
    --------
    >>> state = np.random.RandomState(1)
    >>> randomstate_constructor(state, borrow=True).get_value(borrow=True) is state
    True
    """
    if not isinstance(value, np.random.RandomState):
        raise TypeError(f"randomstate_constructor takes a numpy.random.RandomState, not a {type(value).__name__}")
    return RandomStateSharedVariable(
        type=random_state_type, value=value if borrow else copy_of(value), name=name, strict=strict,
        allow_downcast=allow_downcast,
    )  # fmt: skip
