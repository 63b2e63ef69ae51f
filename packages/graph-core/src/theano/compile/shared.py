"""Shared variables: values that live between calls and belong to all functions that use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano import layers
from theano.extensions import Chain
from theano.graph.source import user_trace
from theano.graph.text import text_of
from theano.graph.type import Type, generic
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Value

Store = Callable[[list[Any], Any], None]


def _put(cell: list[Any], value: Value) -> None:
    cell[0] = value


_store: Store = _put
"""How a value is put into a cell."""


def store_with(store: Store) -> None:
    """Let values be stored by ``store(cell, value)``: the machine's way waits for calls that update the cell."""
    global _store
    _store = store


class Container:
    """One value, kept under the constraints of a type.

    Parameters
    ----------
    r : Variable or Type
        What the value is for; its type filters what is stored.
    storage : list of one element
        The cell of the value. Compiled functions hold this same list.
    readonly : bool
        Refuse changes.
    strict, allow_downcast
        Handed to ``type.filter``.
    name : str or None
        What errors call it; the variable's name by default.

    Examples
    --------
    >>> from theano.graph import generic
    >>> c = Container(generic("x"), [None])
    >>> c.value = 3
    >>> c.value, c.storage
    (3, [3])
    """

    __slots__ = ("allow_downcast", "name", "readonly", "storage", "strict", "type")

    def __init__(
        self,
        r: Variable | Type,
        storage: list[Any],
        readonly: bool = False,
        strict: bool = False,
        allow_downcast: bool | None = None,
        name: str | None = None,
    ):
        if not isinstance(storage, list) or len(storage) != 1:
            raise TypeError(f"the storage of a container is a list of one element, not {storage!r}")
        self.type: Type = r if isinstance(r, Type) else r.type
        self.name = name if name is not None or isinstance(r, Type) else r.name
        self.storage = storage
        self.readonly = readonly
        self.strict = strict
        self.allow_downcast = allow_downcast

    @property
    def data(self) -> Any:
        """The value as it is stored; setting it filters."""
        return self.storage[0]

    @data.setter
    def data(self, value: Value) -> None:
        if self.readonly:
            raise TypeError(f"the value of {self.name or 'this container'} is read-only")
        _store(self.storage, None if value is None else self.filter(value))

    value = data

    def filter(self, value: Value) -> Value:
        """Return ``value`` as it may be stored.

        Raises
        ------
        TypeError
            It is no value of the type, nor can it become one.
        """
        try:
            return self.type.filter(value, strict=self.strict, allow_downcast=self.allow_downcast)
        except (TypeError, ValueError) as problem:
            kind = TypeError if isinstance(problem, TypeError) else ValueError
            where = f"{self.name or 'a container'} of type {self.type}"
            raise kind(f"cannot store this value in {where}: {text_of(problem)}") from None

    def __repr__(self) -> str:
        return f"<{self.data!r}>"

    # No slots of Python's own pickling: subclasses and old pickles agree on a plain dictionary.
    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in Container.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in Container.__slots__:  # pickles of other versions hold more, or less
            setattr(self, name, state.get(name))


class SharedVariable(Variable):
    """A variable with a value of its own, which functions read and update.

    Make one with :func:`shared`.

    Parameters
    ----------
    name : str or None
    type : Type
    value : object
        The first value; it is filtered, not copied.
    strict : bool
        Store values that are of the type already, and nothing else.
    allow_downcast : bool or None
        Whether storing may lose precision.
    container : Container, optional
        Share the value of another shared variable, in place of ``value``.

    Attributes
    ----------
    container : Container
    default_update : Variable or absent
        What the variable becomes after each call of a function that uses it, unless the function says otherwise.
    """

    default_update: Variable

    def __init__(
        self,
        name: str | None,
        type: Type,
        value: Any,
        strict: bool,
        allow_downcast: bool | None = None,
        container: Container | None = None,
    ):
        super().__init__(type, None, None, name)
        if container is not None:
            if value is not None or strict:
                raise TypeError("give a shared variable a container or a value, not both")
            self.container = container
        else:
            filtered = type.filter(value, strict=strict, allow_downcast=allow_downcast)
            self.container = Container(self, [filtered], strict=strict, allow_downcast=allow_downcast)

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Value:
        """Return the value.

        Parameters
        ----------
        borrow : bool
            Return the stored object itself; changing it may or may not change the variable. Otherwise a copy.
        return_internal_type : bool
            Return the value as it is stored, also where a type keeps it in a form that users rarely want.
        """
        value = self.container.value
        return value if borrow else self.type.value_copy(value)

    def set_value(self, new_value: Value, borrow: bool = False) -> None:
        """Let ``new_value`` be the value from now on, in all functions that use this variable.

        A call in another thread that updates the variable is waited for.

        Parameters
        ----------
        new_value : object
            Anything that the type accepts.
        borrow : bool
            Store the object itself where that is possible. Otherwise a copy.
        """
        filtered = self.container.filter(new_value)
        if not borrow and (filtered is new_value or self.type.may_share_memory(filtered, new_value)):
            filtered = self.type.value_copy(filtered)
        _store(self.container.storage, filtered)

    def zero(self, borrow: bool = False) -> None:
        """Let the value be zero, in the shape it has."""
        self.set_value(0 * self.get_value(borrow=True), borrow=True)

    def get_test_value(self) -> Value:
        """Return the value, which serves as the test value too."""
        return self.get_value(borrow=True, return_internal_type=True)

    def clone(self) -> SharedVariable:
        """Return a shared variable of the same value: what is stored in one is stored in the other."""
        copy = self.__class__(name=self.name, type=self.type, value=None, strict=False, container=self.container)
        copy.tag.__update__(self.tag)
        return copy

    @property
    def value(self) -> Any:
        """Refused: ``get_value`` and ``set_value`` say whether the value is copied."""
        raise AttributeError(f"{self} has no attribute value: get_value() and set_value() say whether to copy")

    @value.setter
    def value(self, new_value: Value) -> None:
        raise AttributeError(f"the value of {self} is set with set_value(new_value, borrow=...)")

    def __getitem__(self, *args: Any) -> Any:
        # A type that can be indexed brings its own method, in a subclass that stands before this one.
        raise TypeError(
            f"{self} of type {self.type} cannot be indexed. "
            "If its value is a sequence of numbers, make it an array first: theano.shared(numpy.asarray(value))."
        )


Constructor = Callable[..., SharedVariable]

#: What makes shared variables; the last one registered is asked first.
constructors: Chain[Constructor] = Chain("compile.shared.constructors", "who makes a shared variable of a value")


def shared_constructor(ctor: Constructor, remove: bool = False) -> Constructor:
    """Let ``ctor`` make shared variables; the last one registered is asked first.

    Parameters
    ----------
    ctor : callable
        Takes ``value, name, strict, allow_downcast`` and options of its own; raises TypeError for a value that
        is not its business.
    remove : bool
        Take it off the list instead.
    """
    if remove:
        constructors.remove(ctor)
        return ctor
    return constructors.register(ctor)


@shared_constructor
def generic_constructor(
    value: Value, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None
) -> SharedVariable:
    """Make a shared variable of any Python object: the last resort."""
    return SharedVariable(type=generic, value=value, name=name, strict=strict, allow_downcast=allow_downcast)


def shared(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None, **kwargs: Any
) -> Any:
    """Return a variable that keeps its value between calls: weights, counters, data.

    Functions use it without taking it as an argument, and change it by their ``updates``.

    Parameters
    ----------
    value : array_like, sparse matrix, RandomState or other object
        The first value. It decides the type: an array of float32 with two dimensions makes a matrix of float32, a
        Python float a scalar of float64. Each dimension may change its length later.
    name : str, optional
        What graphs and messages call it.
    strict : bool
        Refuse, later, values that would have to be converted.
    allow_downcast : bool or None
        Whether storing a value may lose precision.
    **kwargs
        Options of the constructors of upper layers: ``borrow=True`` keeps ``value`` itself instead of a copy,
        ``broadcastable`` says which dimensions stay of length 1.

    Returns
    -------
    SharedVariable
        ``get_value()`` returns a copy of its value, ``set_value(new)`` replaces it.

    Raises
    ------
    TypeError
        ``value`` is symbolic, or no constructor takes it with these options.

    See Also
    --------
    function : Its ``updates`` say what shared variables become after a call.

    Examples
    --------
    Weights, and a step that makes a loss smaller:

    >>> import numpy as np
    >>> import theano
    >>> w = theano.shared(np.array([1.0, 3.0]), name="w")
    >>> step = theano.function([], (w**2).sum(), updates={w: w - 0.25 * theano.grad((w**2).sum(), w)})
    >>> step(), w.get_value()
    (array(10.), array([0.5, 1.5]))
    >>> w.set_value([0.0, 0.0])
    """
    if isinstance(value, Variable):
        raise TypeError(
            f"theano.shared needs a value, and {value} is symbolic. "
            "Compute it first (value.eval()), or use the expression itself."
        )
    layers.load_for_value(value)
    reasons: list[str] = []
    for ctor in reversed(constructors):
        try:
            made = ctor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
        except TypeError as problem:
            reason = text_of(problem).partition("\n")[0]
            reasons.append(f"    {getattr(ctor, '__name__', ctor)}: {reason}")
            continue
        made.tag.trace = user_trace()
        return made
    options = ", ".join(sorted(kwargs)) or "none"
    raise TypeError(
        f"no constructor makes a shared variable of a {type(value).__name__} (options given: {options}):\n"
        + "\n".join(reasons[:6])
    )


vars(shared).update(constructors=constructors)
