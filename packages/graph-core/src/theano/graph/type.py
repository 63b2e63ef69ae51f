"""Types: which values a variable may hold."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self

from theano.extensions import lazy_names
from theano.graph.c_contract import CLinkerObject, CLinkerType, Sub
from theano.graph.documentation import document_calls
from theano.graph.props import Structural
from theano.graph.source import user_trace
from theano.graph.variable import Constant as _Constant
from theano.graph.variable import Variable as _Variable
from theano.records import NamedTuple

if TYPE_CHECKING:
    from theano.graph.annotations import Value


class BufferSpec(NamedTuple):
    """How the values of a type look to compiled code: a strided block of numbers.

    Attributes
    ----------
    dtype : str
        Name of the element type, as NumPy spells it.
    ndim : int
        Number of dimensions.
    broadcastable : tuple of bool
        Which dimensions are known to have length 1.
    scalar : bool
        The Python value is a NumPy scalar rather than an array; compiled code sees zero dimensions.
    device : str
        In whose memory they are: ``"cpu"``, or a name given to :func:`theano.loader.module.add_device`. What is
        not on the CPU is seen by compiled code alone.
    """

    dtype: str
    ndim: int
    broadcastable: tuple[bool, ...]
    scalar: bool = False
    device: str = "cpu"


_TAKES_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _with_all_arguments(own: FunctionType) -> Callable[..., Any]:
    """Return a ``filter`` that hands on to ``own`` those of its arguments that it takes."""
    code = own.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    takes = [name in names for name in ("strict", "allow_downcast")]
    if all(takes):
        return own

    @functools.wraps(own)
    def filter(self: Any, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        if takes[0]:
            return own(self, value, strict)
        return own(self, value, allow_downcast) if takes[1] else own(self, value)

    return filter


class Type(Structural, CLinkerType):
    """A set of constraints on values, and the way to bring a value under them.

    A new type says at least what :meth:`filter` accepts:

    >>> class Even(Type):
    ...     __props__ = ()
    ...     def filter(self, value, strict=False, allow_downcast=None):
    ...         if value % 2:
    ...             raise TypeError(f"{value} is odd")
    ...         return value
    >>> even = Even()
    >>> n = even("n")
    >>> n.type == Even(), even.is_valid_value(3), even.filter(4)
    (True, False, 4)
    """

    # The classes of this type's variables; the names are those that users override.
    Variable: type[_Variable[Any]] = _Variable
    Constant: type[_Constant[Any]] = _Constant

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Let a ``filter`` that takes only the value, or only ``strict`` besides it, be called as any other."""
        super().__init_subclass__(**kwargs)
        document_calls(cls, "__call__")
        own = vars(cls).get("filter")
        if isinstance(own, FunctionType) and own.__code__.co_argcount < 4 and not own.__code__.co_flags & _TAKES_MORE:
            cls.filter = _with_all_arguments(own)  # type: ignore[method-assign]

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Return ``value``, or its equivalent, as a valid value of this type.

        Parameters
        ----------
        value : object
        strict : bool
            Accept valid values only; convert nothing.
        allow_downcast : bool or None
            Whether a conversion may lose precision. None leaves the choice to the type.

        Raises
        ------
        TypeError
            The value cannot be brought under the constraints.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say which values it accepts: define filter")

    def filter_trusted(self, value: Value) -> Value:
        """Return a value that :meth:`filter` refuses, for functions with ``trust_input``; None: they refuse it, too."""
        return None

    def is_valid_value(self, value: Value, strict: bool = True) -> bool:
        """Return whether :meth:`filter` accepts ``value`` (as it is, unless ``strict`` is False)."""
        try:
            self.filter(value, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def values_eq(self, a: Value, b: Value) -> bool:
        """Return whether two values of this type are exactly the same."""
        return bool(a == b)

    def values_eq_approx(self, a: Value, b: Value) -> bool:
        """Return whether two values are the same within the rounding of this type's arithmetic."""
        return self.values_eq(a, b)

    def may_share_memory(self, a: Value, b: Value) -> bool:
        """Return whether writing to one of two values could change the other."""
        return False

    def value_copy(self, value: Value) -> Value:
        """Return a copy that shares no memory with ``value``."""
        import copy  # most types know how

        return copy.deepcopy(value)

    def make_variable(self, name: str | None = None) -> _Variable[Self]:
        """Return a new variable of this type."""
        return self.Variable(self, name=name)

    def make_constant(self, value: Value, name: str | None = None) -> _Constant[Self]:
        """Return a constant of this type."""
        return self.Constant(self, value, name=name)

    def __call__(self, name: str | None = None) -> _Variable[Self]:
        """Return a new variable of this type that remembers the user's line.

        Parameters
        ----------
        name : str, optional
            What graphs and messages call the variable.

        Returns
        -------
        Variable
            Of this type.

        Examples
        --------
        >>> from theano.graph import generic
        >>> generic("anything"), generic("anything").type
        (anything, Generic)
        """
        variable = self.make_variable(name)
        variable.tag.trace = user_trace()
        return variable

    def clone(self, *args: Any, **kwargs: Any) -> Self:
        """Return a type like this one; types with parameters take changes to them."""
        return self

    def convert_variable(self, variable: _Variable[Any]) -> _Variable[Self] | None:
        """Return ``variable`` as an expression of this type, or None where that is not possible."""
        return variable if variable.type == self else None

    def filter_variable(self, other: Any, allow_convert: bool = True) -> _Variable[Self]:
        """Return ``other``, a variable or a value, as a variable of this type.

        Raises
        ------
        TypeError
            ``other`` is a variable of another type that cannot be converted.
        """
        if not isinstance(other, _Variable):
            return self.make_constant(other)
        if other.type == self:
            return other
        converted = self.convert_variable(other) if allow_convert else None
        if converted is None or converted.type != self:
            raise TypeError(
                f"cannot use {other} of type {other.type} where {self} is needed. "
                f"Convert it by hand, for instance with a cast, or make it of type {self} from the start."
            )
        return converted

    #: In whose memory compiled code finds the values.
    device: str = "cpu"

    def buffer_spec(self) -> BufferSpec | None:
        """Return how compiled code sees the values, or None where only Python can handle them."""
        return None

    @property
    def casts_safely(self) -> bool:
        """Whether ``filter``, unless strict, does no more to a number or an array than to cast it where that is safe.

        Safe is what NumPy calls so, and any number that the dtype of `buffer_spec` holds exactly. The machine
        then casts arguments by itself.
        """
        return False

    def constant_signature(self, value: Value) -> Hashable:
        """Return a hashable stand-in for ``value``, equal for equal values."""
        signature: Hashable = value
        return signature

    def __repr__(self) -> str:
        return str(self)


class CType(Type):
    """A type whose values have a form in C.

    Each type may have one; the name says that this one does. A type says at least how its C variables are declared
    (`c_declare`), set (`c_init`, `c_extract`), put back into a Python object (`c_sync`) and cleaned up (`c_cleanup`).

    Examples
    --------
    >>> class Double(CType):
    ...     __props__ = ()
    ...     def filter(self, value, strict=False, allow_downcast=None):
    ...         return float(value)
    ...     def c_declare(self, name, sub, check_input=True):
    ...         return f"double {name};"
    >>> Double().c_declare("V1", {})
    'double V1;'
    """


class Generic(CType):
    """The type of any Python object. In C it is a ``PyObject *``.

    Examples
    --------
    >>> from theano.graph import generic
    >>> generic.filter({"any": "thing"})
    {'any': 'thing'}
    """

    __props__ = ()

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Return ``value`` untouched."""
        return value

    def is_valid_value(self, value: Value, strict: bool = True) -> bool:
        """Return True: every object is valid."""
        return True

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Declare the object."""
        return f"PyObject *{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        """Begin without one."""
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Take a reference."""
        return f"{name} = py_{name};\nPy_INCREF({name});"

    def c_sync(self, name: str, sub: Sub) -> str:
        """Hand the object over, or None for want of one."""
        return f"""\
Py_XDECREF(py_{name});
py_{name} = {name} ? {name} : Py_None;
Py_INCREF(py_{name});"""

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Give up the reference."""
        return f"Py_XDECREF({name});"

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return the version of these texts."""
        return (1,)


generic = Generic()

#: For those who look for it here.
__all__ = ["BufferSpec", "CLinkerObject", "CLinkerType", "CType", "Generic", "Type", "generic"]

#: Types that have modules of their own, which need this one.
_ELSEWHERE = {
    "CDataType": "cdata_type", "CEnumType": "enum_type", "EnumList": "enum_type", "EnumType": "enum_type",
    "Params": "params_type", "ParamsType": "params_type",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f"theano.graph.{_ELSEWHERE[name]}"), name)
    return lazy_names.required()(globals())[0](name)


def __dir__() -> list[str]:
    return sorted({*_ELSEWHERE, *lazy_names.required()(globals())[1]()})
