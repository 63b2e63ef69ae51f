"""Equality, hash and text of ops and types from a list of their parameters.

A class that names its parameters in ``__props__`` gets ``__eq__``, ``__hash__`` and ``__str__`` from them:
two instances of one class with equal parameters are the same operation, which is what lets the merge pass
compute it once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Interned(type):
    """The class of classes whose equal instances are one, if the arguments determine that.

    Such instances are never changed. A program makes few distinct types and thousands of calls that ask for them.

    Examples
    --------
    >>> class Unit(metaclass=Interned):
    ...     def __init__(self, name):
    ...         self.name = name
    ...     @classmethod
    ...     def instance_key(cls, name):
    ...         return name
    >>> Unit("m") is Unit("m"), Unit("m") is Unit("s")
    (True, False)
    """

    _instances: dict[Any, Any]
    instance_key: Callable[..., Any]  # a class method of the class

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]):
        super().__init__(name, bases, body)
        cls._instances = {}

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the instance for these arguments; ``instance_key`` of the class returns None to have a new one."""
        key = cls.instance_key(*args, **kwargs)
        if key is None:
            return super().__call__(*args, **kwargs)
        found = cls._instances.get(key)
        if found is None:
            found = cls._instances[key] = super().__call__(*args, **kwargs)
        return found


class Structural:
    """Base of the classes whose identity is their ``__props__``.

    Examples
    --------
    >>> class Scale(Structural):
    ...     __props__ = ("a", "b")
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> Scale(4, 5) == Scale(4, 5), str(Scale(4, 5))
    (True, 'Scale{a=4, b=5}')
    """

    __props__: tuple[str, ...]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        if "__props__" not in own:
            return
        if not isinstance(own["__props__"], tuple):
            raise TypeError(
                f"{cls.__name__}.__props__ must be a tuple of attribute names, not {own['__props__']!r}; "
                f"a tuple of one name is written ('name',)"
            )
        # A class may still say one of the three itself; Python sets __hash__ to None next to an own __eq__.
        for name, method in (("__eq__", _eq), ("__hash__", _hash)):
            if own.get(name) is None:
                setattr(cls, name, method)
        if "__str__" not in own and cls.__str__ in (object.__str__, Structural.__str__):
            setattr(cls, "__str__", _str)  # noqa: B010  (to mypy a method is nothing to assign to)

    def _props(self) -> tuple[Any, ...]:
        """Return the values of the parameters, in the order of ``__props__``."""
        return tuple([getattr(self, name) for name in self.__props__])

    def _props_dict(self) -> dict[str, object]:
        """Return the parameters as a dictionary: what it takes to build an equal instance."""
        return {name: getattr(self, name) for name in self.__props__}

    def __str__(self) -> str:
        return type(self).__name__


def _eq(self: Structural, other: object) -> bool:
    if self is other:
        return True
    if type(self) is not type(other):
        return False
    # One after the other, and what is the same object first: most answers need one look.
    for name in self.__props__:
        mine, others = getattr(self, name), getattr(other, name)
        if mine is not others and mine != others:
            return False
    return True


def _hash(self: Structural) -> int:
    return hash((type(self), self._props()))


def _str(self: Structural) -> str:
    if not self.__props__:
        return type(self).__name__
    inside = ", ".join(f"{name}={getattr(self, name)}" for name in self.__props__)
    return f"{type(self).__name__}{{{inside}}}"
