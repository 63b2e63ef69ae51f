"""Enumerations: names for numbers that an op is parametrised with, the same in Python and in C."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Number
from typing import TYPE_CHECKING, Any

from theano.graph.c_contract import Sub
from theano.graph.type import CType

if TYPE_CHECKING:
    from theano.graph.annotations import Value

_CONSTANT = re.compile(r"[A-Z]\w*\Z")
_CTYPE = re.compile(r"[A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*\Z")


class EnumType(CType):
    """Named numbers; attributes in Python, macros in C.

    Parameters
    ----------
    ctype : str
        The C type of the numbers.
    cname : str, optional
        What the enumeration is called in C.
    **constants : number, or pair of an alias and a number
        Names begin with a capital letter. A value that is given as an alias stands for the number.

    Examples
    --------
    >>> enum = EnumType(SAME=("same size", 1), FULL=2, ctype="int")
    >>> enum.SAME, enum.filter("same size"), enum.fromalias("FULL")
    (1, 1, 2)
    >>> enum.filter(3)
    Traceback (most recent call last):
        ...
    ValueError: 3 is none of the constants of EnumType(FULL=2, SAME=1), nor an alias.
    """

    def __init__(self, *, ctype: str = "double", cname: str | None = None, **constants: object):
        if not _CTYPE.match(ctype):
            raise ValueError(f"{ctype!r} is no C type of a number")
        self.ctype = ctype
        self.aliases: dict[str, str] = {}
        found: dict[str, Any] = {}
        for name, value in constants.items():
            if not _CONSTANT.match(name):
                raise AttributeError(f"{name!r} cannot be a constant: names begin with a capital letter")
            if isinstance(value, (tuple, list)):
                if len(value) != 2:
                    raise TypeError(f"the constant {name} is a number, or an alias and a number, not {value!r}")
                alias, value = value
                if not isinstance(alias, str) or alias in self.aliases:
                    raise TypeError(f"the alias {alias!r} of {name} must be a text that no other constant has")
                self.aliases[alias] = name
            if not isinstance(value, Number):
                raise TypeError(f"the constant {name} must be a number, not {value!r}")
            found[name] = int(value) if isinstance(value, bool) else value
        clash = sorted(set(self.aliases) & set(found))
        if clash:
            raise TypeError(f"an alias cannot be the name of a constant: {clash}")
        self.constants = dict(sorted(found.items()))
        self.cname = cname or "theano_enum_" + "_".join(self.constants)

    def __getattr__(self, name: str) -> Any:
        constants: Mapping[str, Any] = self.__dict__.get("constants", {})
        if name in constants:
            return constants[name]
        raise AttributeError(f"{type(self).__name__} has neither an attribute nor a constant {name!r}")

    def _identity(self) -> tuple[Any, ...]:
        return (self.ctype, tuple(self.constants.items()), tuple(sorted(self.aliases.items())))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self), self._identity()))

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.constants.items())})"

    def fromalias(self, alias: str) -> Any:
        """Return the value of a constant by its alias; by its name if nothing has that alias."""
        name = self.aliases.get(alias, alias)
        if name not in self.constants:
            raise KeyError(f"{alias!r} is neither an alias nor a constant of {self}")
        return self.constants[name]

    def has_alias(self, alias: str) -> bool:
        """Return whether a constant has this alias."""
        return alias in self.aliases

    def get_aliases(self) -> tuple[str, ...]:
        """Return all aliases."""
        return tuple(self.aliases)

    # -- values --------------------------------------------------------------------------------------------

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Return the number of a constant, given as such, or, unless strict, by alias or name."""
        if isinstance(value, str) and not strict:
            if value in self.aliases or value in self.constants:
                return self.fromalias(value)
            raise ValueError(f"{value!r} is none of the constants of {self}, nor an alias.")
        if not isinstance(value, Number):
            raise TypeError(f"{self} takes a number, not {value!r}")
        if value not in self.constants.values():
            raise ValueError(f"{value} is none of the constants of {self}, nor an alias.")
        return value

    # -- in C ----------------------------------------------------------------------------------------------

    def c_support_code(self, **kwargs: object) -> str:
        """Define the constants."""
        return "\n".join(
            f"#ifndef {name}\n#define {name} ({value!r})\n#endif" for name, value in self.constants.items()
        )

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Declare a number."""
        return f"{self.ctype} {name};"

    def c_init(self, name: str, sub: Sub) -> str:
        """Begin with zero."""
        return f"{name} = 0;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Read a whole number exactly, any other as a double."""
        return f"""\
if (PyIndex_Check(py_{name})) {{
    PyObject *whole = PyNumber_Index(py_{name});
    if (whole) {{
        int over = 0;
        long long number = PyLong_AsLongLongAndOverflow(whole, &over);
        {name} = over > 0 ? ({self.ctype})PyLong_AsUnsignedLongLong(whole) : ({self.ctype})number;
        Py_DECREF(whole);
    }}
}} else {{
    {name} = ({self.ctype})PyFloat_AsDouble(py_{name});
}}
if (PyErr_Occurred()) {{
    {sub["fail"]}
}}"""

    def c_sync(self, name: str, sub: Sub) -> str:
        """Nothing: parameters are no results."""
        return ""

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return the version of these texts."""
        return (1, self.ctype, self.cname, tuple(self.constants.items()))


class EnumList(EnumType):
    """Constants numbered from 0 on, in the order in which they are named.

    Parameters
    ----------
    *names : str, or pair of a name and an alias
        The constants.
    ctype, cname : str
        As for `EnumType`.

    Examples
    --------
    >>> enum = EnumList("ADD", ("SUB", "-"), ctype="int")
    >>> enum.ADD, enum.SUB, enum.fromalias("-")
    (0, 1, 1)
    """

    def __init__(self, *names: Any, ctype: str = "int", cname: str | None = None):
        constants: dict[str, Any] = {}
        for number, given in enumerate(names):
            name, alias = given if isinstance(given, (tuple, list)) else (given, None)
            if not isinstance(name, str) or name in constants:
                raise TypeError(f"{name!r} must be a text that is named once")
            constants[name] = number if alias is None else (alias, number)
        super().__init__(ctype=ctype, cname=cname, **constants)


class CEnumType(EnumList):
    """Constants whose values C knows: macros or members of an enumeration of some header. Python numbers them.

    Examples
    --------
    >>> enum = CEnumType("EINTR", "EAGAIN", ctype="int")
    >>> enum.EAGAIN
    1
    """

    def c_support_code(self, **kwargs: object) -> str:
        """Define nothing."""
        return ""

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Put C's value for the number in Python."""
        cases = "\n".join(f"    case {value}: {name} = {text}; break;" for text, value in self.constants.items())
        return f"""\
switch (PyLong_AsLong(py_{name})) {{
{cases}
    default:
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "this is no constant of the enumeration");
        {{{sub["fail"]}}}
}}"""
