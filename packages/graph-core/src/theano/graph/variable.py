"""Variables: the values of an expression before they exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, Self

from theano.errors import MissingInputError, TestValueError
from theano.extensions import Single
from theano.graph.notebook import FormulaDisplay
from theano.graph.pickling import flattened_state, restored_state
from theano.graph.text import printable

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # with defaults, which Python's own has from 3.13 on

    from theano.graph.annotations import Value
    from theano.graph.apply import Apply
    from theano.graph.clients import Clients
    from theano.graph.type import Type

    T = TypeVar("T", bound=Type, covariant=True, default=Type)
else:
    from typing import TypeVar

    T = TypeVar("T", covariant=True)


class Scratchpad:
    """A bag of attributes that travels with a variable, an Apply node or an op (its ``tag``)."""

    _left_out: tuple[str, ...] = ()  # of pickles: set by a flag

    derived_from: Any  # of a derivative: the inputs of the expression (theano.gradient.reverse)
    destroyed_roots: Any  # of an Apply that overwrites (theano.graph.aliasing)
    nan_guard_mode_check: Any  # whether NanGuardMode looks at a variable
    test_value: Any  # an example (theano.compile.test_values)
    trace: Any  # the user's lines that made the variable, innermost first (theano.graph.source)
    values_eq_approx: Any  # how values of a variable are compared, where not as its type says

    def clear(self) -> None:
        """Forget everything."""
        self.__dict__.clear()

    def __getstate__(self) -> dict[str, object]:
        kept = {name: value for name, value in self.__dict__.items() if name not in self._left_out}
        if len(kept.get("trace", ())) > 1:
            kept["trace"] = kept["trace"][:1]  # the frames around the line were those of this process
        return kept

    def __setstate__(self, state: dict[str, object]) -> None:
        if isinstance(state.get("trace"), list):  # pickles may have lists of frames of another process
            state = {name: value for name, value in state.items() if name != "trace"}
        self.__dict__.update(state)

    def __update__(self, other: Scratchpad) -> Scratchpad:
        self.__dict__.update(other.__dict__)
        return self

    def __str__(self) -> str:
        return "scratchpad" + str(self.__dict__)

    def __repr__(self) -> str:
        return str(self)

    def info(self) -> None:
        """Print the attributes and their values."""
        print(self)


#: From the inputs and the output of an expression to a function that computes it.
compiler: Single[Callable[[list[Variable], Variable], Callable[..., Any]]] = Single(
    "graph.variable.compiler", "how Variable.eval compiles an expression"
)


class Variable(FormulaDisplay, Generic[T]):
    """A value of an expression, known by its type and by the node that computes it.

    Type checkers know it by the class of its type: ``Variable[TensorType]`` has a ``dtype``, ``Variable`` any type.

    Parameters
    ----------
    type : Type
        Which values the variable may hold.
    owner : Apply or None
        The node that computes it; None for an input.
    index : int or None
        Its place among the outputs of ``owner``.
    name : str or None
        What to call it in printed graphs and errors.

    Attributes
    ----------
    tag : Scratchpad
        Free space; ``tag.trace`` holds the user's lines that made the variable.
    clients : Clients
        A list of (Apply or "output", int): the users of the variable, once it belongs to a FunctionGraph; empty before.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x = generic("x")
    >>> x, x.owner, x.type
    (x, None, Generic)
    """

    __count__ = count()
    shows_test_value = False  # in its repr: set by a flag

    owner: Apply[Any, Any] | None  # of any op: the reading code knows which
    fgraph: Any = None
    clients: Clients = ()  # type: ignore[assignment]  # a list in a graph, nothing outside of one

    def __init__(self, type: T, owner: Apply | None = None, index: int | None = None, name: str | None = None):
        if owner is not None and index is None:
            raise ValueError("a variable with an owner needs its index among the owner's outputs")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a variable must be a string or None, not {name!r}")
        self.type: T = type
        self.owner = owner
        self.index = index
        self.name = name
        self.tag = Scratchpad()
        self._serial = next(Variable.__count__)

    @property
    def auto_name(self) -> str:
        """A name that is the same in each run of a program, for users who look variables up in printed graphs."""
        own: str | None = self.__dict__.get("_auto_name")
        return f"auto_{self._serial}" if own is None else own

    @auto_name.setter
    def auto_name(self, name: str) -> None:
        self._auto_name = name

    def __str__(self) -> str:
        if self.name is not None:
            return printable(self.name)
        if self.owner is not None:
            op = self.owner.op
            if self.index == op.default_output:
                return printable(f"{op}.out")
            return f"{op}.{self.index}"
        return f"<{self.type}>"

    def __repr__(self) -> str:
        if self.shows_test_value and hasattr(self.tag, "test_value"):
            return f"{self}\n{self.tag.test_value!r}"
        return str(self)

    def clone(self) -> Self:
        """Return a new variable of this type and name that no node computes, with a copy of the tag."""
        copy = self.__class__(self.type, None, None, self.name)
        copy.tag.__update__(self.tag)
        return copy

    def get_parents(self) -> list[Any]:
        """Return the nodes one step towards the inputs: the owner, if there is one."""
        return [] if self.owner is None else [self.owner]

    def eval(self, inputs_to_values: Mapping[Variable | str, Any] | None = None) -> Value:
        """Compute the value of this variable.

        Parameters
        ----------
        inputs_to_values : dict from Variable (or its name) to value, optional
            What the inputs are worth. The function compiled for a set of inputs is kept for the next call.

        Returns
        -------
        object
            The value, as a compiled function returns it.

        Raises
        ------
        MissingInputError
            The expression needs an input that the dictionary does not give.
        """
        given = dict(inputs_to_values or {})
        by_name = {v.name: v for v in _graph_inputs(self) if v.name is not None}
        inputs: dict[Variable, Any] = {}
        for key, value in given.items():
            if isinstance(key, str):
                if key not in by_name:
                    raise MissingInputError(f"{self} has no input named {key!r}; it has {sorted(by_name)}")
                key = by_name[key]
            inputs[key] = value
        variables = tuple(sorted(inputs, key=id))
        cache: dict[Any, Callable[..., Any]] = self.__dict__.setdefault("_fn_cache", {})
        if variables not in cache:
            cache[variables] = compiler.required()(list(variables), self)
        return cache[variables](*(inputs[v] for v in variables))

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)
        state.pop("_fn_cache", None)
        return flattened_state(state, self.owner)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.owner, self.index = None, None  # pickles may lack them of constants
        self.__dict__.update(restored_state(state))


def _graph_inputs(variable: Variable) -> list[Variable]:
    """Return the variables without owner that ``variable`` depends on; the public one is above, in traverse.py."""
    found: list[Variable] = []
    seen = {variable}
    stack = [variable]
    while stack:
        v = stack.pop()
        if v.owner is None:
            found.append(v)
            continue
        fresh = [i for i in v.owner.inputs if i not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return found


class Constant(Variable[T]):
    """A variable whose value is known while the graph is built.

    Parameters
    ----------
    type : Type
    data : object
        The value. It passes through ``type.filter`` and cannot be set again.
    name : str or None
    """

    #: Whether several expressions share it. A FunctionGraph takes a copy, for it notes in a variable who uses it.
    cached = False

    def __init__(self, type: T, data: Any, name: str | None = None):
        super().__init__(type, None, None, name)
        self._data = type.filter(data)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.pop("cached", None)  # it was in the process that wrote it
        if "data" in self.__dict__:  # as pickles may have it
            self._data = self.__dict__.pop("data")

    @property
    def data(self) -> Any:
        """The value; settable once, when the constant is made."""
        return self._data

    @data.setter
    def data(self, value: Value) -> None:
        raise AttributeError(
            f"the data of {self} is set once, when the constant is made: other nodes already count on it. "
            "Make a new constant, or use theano.shared for a value that changes."
        )

    @property
    def value(self) -> Any:
        """The same as ``data``."""
        return self._data

    def signature(self) -> Any:
        """Return a hashable object, equal for two constants that are worth the same."""
        return (self.type, self._data)

    def equals(self, other: object) -> bool:
        """Return whether ``other`` is a constant of the same signature."""
        return isinstance(other, Constant) and self.signature() == other.signature()

    def clone(self) -> Self:
        """Return an equal constant, with a copy of the tag."""
        copy = self.__class__(self.type, self._data, self.name)
        copy.tag.__update__(self.tag)
        return copy

    def __str__(self) -> str:
        if self.name is not None:
            return printable(self.name)
        text = str(self._data).replace("\n", "")
        if len(text) > 20:
            text = text[:10].rstrip() + "..." + text[-10:].strip()
        return f"{type(self).__name__}{{{text}}}"


def get_test_value(v: Variable) -> Value:
    """Return the test value of a variable: what its tag says, or the value that it holds anyway.

    Parameters
    ----------
    v : Variable
        Or a list or tuple of such, or anything that has a value of its own, which is returned.

    Raises
    ------
    AttributeError
        It does not exist.
    TypeError
        It is not of the variable's type.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> x.tag.test_value = [1, 2]
    >>> get_test_value(x)
    [1, 2]
    """
    if isinstance(v, (list, tuple)):
        return type(v)(map(get_test_value, v))
    if not isinstance(v, Variable):
        return v
    if isinstance(v, Constant):
        return v.data
    own = getattr(v, "get_test_value", None)
    if own is not None:
        return own()
    if not hasattr(v.tag, "test_value"):
        where = f", made at {v.tag.trace[0]}" if getattr(v.tag, "trace", None) else ""
        raise TestValueError(f"{v} of type {v.type}{where} has no test value. Give it one: x.tag.test_value = ...")
    return v.type.filter(v.tag.test_value)
