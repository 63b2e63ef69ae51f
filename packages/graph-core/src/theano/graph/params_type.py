"""Parameters of an op as one value: attributes in Python, a struct in C.

An op with a `ParamsType` as ``params_type`` has one text of C for all values of its parameters, which it reads from
``sub['params']``: ``params->alpha``. `perform` is given them as a fourth argument.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from theano.graph.c_contract import Sub
from theano.graph.enum_type import EnumType
from theano.graph.type import CType, Type
from theano.graph.variable import Constant

if TYPE_CHECKING:
    from theano.graph.annotations import Value

_C_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_CXX_WORDS = frozenset(
    "alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default delete do "
    "double else enum explicit export extern false float for friend goto if inline int long mutable namespace new not "
    "operator or private protected public register return short signed sizeof static struct switch template this throw "
    "true try typedef typeid typename union unsigned using virtual void volatile while xor".split()
)


class Params(Mapping[str, Any]):
    """The values of parameters, as attributes. They are never changed.

    Parameters
    ----------
    params_type : ParamsType
    **values : object
        One for each field.

    Examples
    --------
    >>> from theano.graph.type import Generic
    >>> kind = ParamsType(a=Generic(), b=Generic())
    >>> p = Params(kind, a=1, b="two")
    >>> p.a, p["b"], p == Params(kind, a=1, b="two")
    (1, 'two', True)
    """

    __slots__ = ("__dict__",)

    def __init__(self, params_type: ParamsType, **values: Value):
        if not isinstance(params_type, ParamsType):
            raise TypeError(f"Params needs a ParamsType first, not {params_type!r}")
        missing = [name for name in params_type.fields if name not in values]
        unknown = sorted(set(values) - set(params_type.fields))
        if missing or unknown:
            raise TypeError(f"{params_type} has the fields {params_type.fields}: missing {missing}, unknown {unknown}")
        self.__dict__.update(_type=params_type, _values=values)

    @property
    def params_type(self) -> ParamsType:
        """The type of these values."""
        kind: ParamsType = self.__dict__["_type"]
        return kind

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"unknown parameter {name!r}; the parameters are {sorted(values)}")
        return values[name]

    def __setattr__(self, name: str, value: Value) -> None:
        raise AttributeError("parameters are not changed: make a new Params")

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["_values"][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.params_type.fields)

    def __len__(self) -> int:
        return self.params_type.length

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Params):
            return NotImplemented
        return self.params_type == other.params_type and self.params_type.values_eq(self, other)

    def __hash__(self) -> int:
        kind = self.params_type
        return hash((kind, *(_hashable(t, self[name]) for name, t in zip(kind.fields, kind.types, strict=True))))

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.params_type, dict(self.__dict__["_values"]))

    def __repr__(self) -> str:
        return f"Params({', '.join(f'{name}={value!r}' for name, value in self.items())})"


def _restored(kind: ParamsType, values: dict[str, Any]) -> Params:
    return Params(kind, **values)


def _hashable(kind: Type, value: Value) -> Any:
    signature = kind.constant_signature(value)
    try:
        hash(signature)
    except TypeError:
        return repr(type(signature))
    return signature


class ParamsType(CType):
    """The type of the parameters of an op: a name and a type for each.

    Parameters
    ----------
    **fields : Type
        Names that C++ accepts, and types that have a form in C (where the op has one).

    Attributes
    ----------
    fields, types : tuple
        In the order of the names.
    length : int
    name : str
        Of the struct in C; equal types have equal names.

    Examples
    --------
    >>> from theano.graph.type import EnumList, Generic
    >>> kind = ParamsType(scale=Generic(), mode=EnumList("SAME", "FULL"))
    >>> kind.fields, kind.FULL
    (('mode', 'scale'), 1)
    >>> class HasThem:
    ...     scale, mode = 2.5, "FULL"
    >>> kind.get_params(HasThem())
    Params(mode=1, scale=2.5)
    """

    def __init__(self, **fields: Type):
        if not fields:
            raise ValueError("a ParamsType needs at least one field")
        for name, kind in fields.items():
            if not _C_NAME.match(name) or name in _CXX_WORDS:
                raise AttributeError(f"{name!r} cannot be the name of a field: C++ does not accept it")
            if not isinstance(kind, Type):
                raise TypeError(f"the field {name} must be a Type, not {kind!r}")
        self.fields = tuple(sorted(fields))
        self.types = tuple(fields[name] for name in self.fields)
        self.length = len(self.fields)
        described = repr([(name, type(fields[name]).__qualname__, str(fields[name])) for name in self.fields])
        self.name = "_Params_" + hashlib.sha256(described.encode()).hexdigest()[:24]
        self._enums = {kind: None for kind in self.types if isinstance(kind, EnumType)}
        seen: dict[str, EnumType] = {}
        for enum in self._enums:
            for constant in (*enum.constants, *enum.aliases):
                if constant in seen:
                    raise AttributeError(f"{constant} is a constant of two enumerations: {seen[constant]}, {enum}")
                seen[constant] = enum

    def __getattr__(self, name: str) -> Any:
        for enum in self.__dict__.get("_enums", ()):
            if name in enum.constants:
                return enum.constants[name]
        raise AttributeError(f"{type(self).__name__} has neither an attribute nor a constant {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.fields, self.types) == (other.fields, other.types)

    def __hash__(self) -> int:
        return hash((type(self), self.fields, self.types))

    def __str__(self) -> str:
        return f"ParamsType<{', '.join(f'{n}:{t}' for n, t in zip(self.fields, self.types, strict=True))}>"

    def has_type(self, kind: Type) -> bool:
        """Return whether a field is of this type."""
        return kind in self.types

    def get_type(self, field_name: str) -> Type:
        """Return the type of a field."""
        return self.types[self.fields.index(field_name)]

    def get_field(self, kind: Type) -> str:
        """Return the name of the first field of a type."""
        return self.fields[self.types.index(kind)]

    def get_enum(self, key: str) -> Any:
        """Return the value of a constant of one of the enumerations."""
        return getattr(self, key)

    def enum_from_alias(self, alias: str) -> Any:
        """Return the value of a constant by its alias or name."""
        for enum in self._enums:
            if alias in enum.aliases:
                return enum.fromalias(alias)
        return getattr(self, alias)

    def get_params(self, *objects: Any, **values: Value) -> Params:
        """Return the parameters, as the attributes of some objects or by keyword.

        Parameters
        ----------
        *objects : object
            The first one that has an attribute of a field's name gives its value.
        **values : object
        """
        found = dict(values)
        for name in self.fields:
            source = next((o for o in objects if hasattr(o, name)), None)
            if name not in found and source is not None:
                found[name] = getattr(source, name)
            if name not in found:
                raise TypeError(f"nothing gives a value to the parameter {name} of {self}")
            value = found[name].data if isinstance(found[name], Constant) else found[name]
            found[name] = self.get_type(name).filter(value, strict=False, allow_downcast=True)
        return Params(self, **{name: found[name] for name in self.fields})

    def extended(self, **fields: Type) -> ParamsType:
        """Return a type with more fields, or others."""
        return type(self)(**{**dict(zip(self.fields, self.types, strict=True)), **fields})

    # -- values ------------------------------------------------------------------------------------------

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Params:
        """Return values that are each of its field's type."""
        if not isinstance(value, Params):
            if strict:
                raise TypeError(f"{self} takes a Params, not {value!r}")
            value = Params(self, **{name: getattr(value, name) for name in self.fields})
        filtered = {
            name: kind.filter(getattr(value, name), strict=strict, allow_downcast=allow_downcast)
            for name, kind in zip(self.fields, self.types, strict=True)
        }
        same = value.params_type == self and all(filtered[name] is value[name] for name in self.fields)
        return value if same else Params(self, **filtered)

    def values_eq(self, a: object, b: object) -> bool:
        """Return whether all values are the same."""
        return all(t.values_eq(getattr(a, n), getattr(b, n)) for n, t in zip(self.fields, self.types, strict=True))

    def values_eq_approx(self, a: Value, b: Value) -> bool:
        """Return whether all values are the same within rounding."""
        pairs = zip(self.fields, self.types, strict=True)
        return all(t.values_eq_approx(getattr(a, n), getattr(b, n)) for n, t in pairs)

    # -- in C --------------------------------------------------------------------------------------------

    def _gathered(self, method: str, **kwargs: object) -> list[str]:
        found: dict[str, None] = {}
        for kind in self.types:
            answer = getattr(kind, method)(**kwargs) or []
            found.update(dict.fromkeys([answer] if isinstance(answer, str) else answer))
        return list(found)

    def c_headers(self, **kwargs: object) -> Sequence[str]:
        """Return those of the fields' types, as do the methods that follow."""
        return self._gathered("c_headers", **kwargs)

    def c_header_dirs(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self._gathered("c_header_dirs", **kwargs)

    def c_libraries(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self._gathered("c_libraries", **kwargs)

    def c_lib_dirs(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self._gathered("c_lib_dirs", **kwargs)

    def c_compile_args(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self._gathered("c_compile_args", **kwargs)

    def c_no_compile_args(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self._gathered("c_no_compile_args", **kwargs)

    def c_init_code(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self._gathered("c_init_code", **kwargs)

    def c_support_code(self, **kwargs: object) -> Sequence[str]:
        """Return those of the fields' types, then the struct."""
        return [*self._gathered("c_support_code", **kwargs), self._struct()]

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return the versions of all fields' types; () if one has none."""
        versions = [kind.c_code_cache_version() for kind in self.types]
        return (1, *zip(self.fields, versions, strict=True)) if all(versions) else ()

    def _struct(self) -> str:
        fail = '{ if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a parameter is wrong"); return false; }'
        sub = {"fail": fail, "failure_var": "failing", "id": 0}
        members, takes, gives = [], [], []
        for k, (name, kind) in enumerate(zip(self.fields, self.types, strict=True)):
            members += [f"PyObject *py_{name};", kind.c_declare(name, sub)]
            takes.append(
                f"""
    bool take_{name}(PyObject *values) {{
        py_{name} = PyObject_GetAttrString(values, "{name}");
        if (!py_{name}) return false;
        {kind.c_init(name, sub)}
        begun = {k + 1};
        {kind.c_extract(name, sub)}
        return true;
    }}"""
            )
            gives.append(f"if (begun > {k}) {{ {kind.c_cleanup(name, sub)} }}\n        Py_XDECREF(py_{name});")
        tests = " && ".join(f"take_{name}(values)" for name in self.fields)
        give = "\n        ".join(reversed(gives)).replace(fail, "{ }")
        return f"""\
#ifndef THEANO{self.name}
#define THEANO{self.name}
struct {self.name} {{
    int begun;
    {chr(10).join(members)}
    {"".join(takes)}
    bool extract(PyObject *values) {{ return {tests}; }}
    ~{self.name}() {{
        {give}
    }}
}};
#endif"""

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Declare a pointer to the struct."""
        return f"{self.name} *{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        """Begin without one."""
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Make one of the values."""
        return f"{name} = new {self.name}();\nif (!{name}->extract(py_{name})) {{\n    {sub['fail']}\n}}"

    def c_sync(self, name: str, sub: Sub) -> str:
        """Nothing: parameters are no results."""
        return ""

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Give it up."""
        return f"delete {name};\n{name} = NULL;"
