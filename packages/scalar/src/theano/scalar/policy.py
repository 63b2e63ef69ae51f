"""The settings that building scalar expressions depends on.

They are read here, when a user's expression is built, and handed down as plain values:
nothing else in this layer looks at ``theano.config``.
"""

from __future__ import annotations

from theano.settings import config


def floatx() -> str:
    """Return ``theano.config.floatX``.

    Examples
    --------
    >>> floatx()
    'float64'
    """
    return str(config.floatX)


def cast_policy() -> str:
    """Return ``theano.config.cast_policy``.

    Examples
    --------
    >>> cast_policy()
    'custom'
    """
    return str(config.cast_policy)


def int_division() -> str:
    """Return ``theano.config.int_division``: what ``div_proxy`` makes of two integers.

    Examples
    --------
    >>> int_division()
    'int'
    """
    return str(config.int_division)
