"""The scalar operations by name.

Variables look their operators up here, because the operations are defined in terms of
variables and so come later.
"""

from __future__ import annotations

from typing import Any

OPS: dict[str, Any] = {}


def op(name: str) -> Any:
    """Return the scalar operation of that name.

    Examples
    --------
    >>> import theano.scalar
    >>> op("true_div") is theano.scalar.true_div
    True
    """
    return OPS[name]
