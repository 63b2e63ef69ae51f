"""A dictionary of updates that keeps its order, whatever is done to it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from theano.compile.shared import SharedVariable

if TYPE_CHECKING:
    from theano.graph.annotations import Value


class OrderedUpdates(OrderedDict[SharedVariable, Any]):
    """Updates of shared variables, as ``theano.function`` takes them and ``theano.scan`` returns them.

    Two such dictionaries can be added; they must agree where both update a variable.

    Examples
    --------
    >>> import theano
    >>> a, b = theano.shared([1], name="a"), theano.shared([2], name="b")
    >>> dict(OrderedUpdates([(a, b)]) + OrderedUpdates({b: a}))
    {a: b, b: a}
    """

    def __setitem__(self, key: SharedVariable, value: Value) -> None:
        _check_key(key)
        super().__setitem__(key, value)

    def update(self, other: Any = None, **kwargs: Any) -> None:
        """Take over the updates of ``other``, a mapping or pairs.

        Raises
        ------
        TypeError
            A key is no shared variable.
        """
        if other is None:
            return
        pairs: Iterable[tuple[SharedVariable, Any]] = other.items() if isinstance(other, Mapping) else other
        for key, value in pairs:
            self[key] = value

    def __add__(self, other: Mapping[SharedVariable, Any]) -> OrderedUpdates:
        result = OrderedUpdates(self)
        for key, value in other.items():
            if key in result and result[key] is not value:
                raise KeyError(f"{key} would be updated to two different expressions: {result[key]} and {value}")
            result[key] = value
        return result

    def __radd__(self, other: Mapping[SharedVariable, Any]) -> OrderedUpdates:
        return OrderedUpdates(other) + self


def _check_key(key: object) -> None:
    if not isinstance(key, SharedVariable):
        raise TypeError(f"only shared variables can be updated, and {key!r} is a {type(key).__name__}")
