"""The parameters of kernels: one declaration gives the C struct, the bytes and the positions of pointers in them.

A subclass of `Parameters` lists the fields of a C struct in order. ``setup.py`` of a layer writes a header from its
declarations (`header`), so that C reads by name what Python packs by name. Each field takes a multiple of eight bytes:
no compiler puts anything between them. Only the last field may be of a length that differs from node to node.

This module needs nothing but the standard library: it is also loaded where a layer is built and nothing is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from operator import index
from struct import pack
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from theano.graph.annotations import Value

Places = tuple[tuple[int, str], ...]
"""Where addresses stand, in bytes from the start, and what each is called."""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Pointer(int):
    """The address of something that this process has found, and its name.

    Parameters
    ----------
    address : int
    name : str
        ``family:rest``; the family is one of `theano.graph.pointers.pointer_families`.
    holder : object, optional
        What must stay, for something to be at the address: programs keep it as long as they run.

    Examples
    --------
    >>> Pointer(4096, "blas:gemm:float64") + 0, Pointer(4096, "blas:gemm:float64").name
    (4096, 'blas:gemm:float64')
    """

    name: str
    holder: object

    def __new__(cls, address: int, name: str, holder: object = None) -> Pointer:
        """Make the number; `int` is immutable, so not in ``__init__``."""
        self = super().__new__(cls, address)
        self.name, self.holder = name, holder
        return self


class Enumeration(IntEnum):
    """Numbers with names that C knows too: ``TH_``, the name of the class, and that of the member.

    Examples
    --------
    >>> class Side(Enumeration):
    ...     "On which side of equals."
    ...
    ...     LEFT = 0
    ...     RIGHT = 1
    >>> print(c_enum(Side))
    /* On which side of equals. */
    enum { TH_SIDE_LEFT = 0, TH_SIDE_RIGHT = 1 };
    """

    @classmethod
    def prefix(cls) -> str:
        """Return what the names in C start with."""
        return f"TH_{_snake(cls.__name__).upper()}_"


# -- kinds of fields ---------------------------------------------------------------------------------------


class Field:
    """A field of a struct; ``doc`` becomes its comment in C."""

    size: int | None = 8
    """Its bytes, or None where the values decide."""
    c_type = "int64_t"

    def __init__(self, doc: str = ""):
        self.doc = doc

    def pack(self, value: Value) -> bytes:
        """Return a value's bytes; TypeError or ValueError for one that does not fit."""
        number = index(value)
        if not -(1 << 63) <= number < 1 << 63:
            raise ValueError(f"{number} does not fit in 64 bits with a sign")
        return pack("=q", number)

    def places(self, value: Value) -> Places:
        """Return where addresses stand in a value."""
        return ()

    def members(self, name: str) -> list[str]:
        """Return its declarations in C."""
        space = "" if self.c_type.endswith("*") else " "
        return [f"{self.c_type}{space}{name};"]


class Int(Field):
    """A whole number of 64 bits with a sign."""


class Flag(Field):
    """True or false: 1 or 0 in an ``int64_t``."""

    def pack(self, value: Value) -> bytes:
        """Return it as a number."""
        if value is not True and value is not False:
            raise TypeError(f"True or False is wanted, not {value!r}")
        return _TRUE if value else _FALSE


_FALSE, _TRUE = pack("=q", 0), pack("=q", 1)


class Mask(Field):
    """A set of at most 64 axes (or other small numbers), as bits of a ``uint64_t``."""

    c_type = "uint64_t"

    def pack(self, value: Value) -> bytes:
        """Return the bits."""
        number = index(value)
        if not 0 <= number < 1 << 64:
            raise ValueError(f"{number} is no mask of 64 bits")
        return pack("=Q", number)


class Float(Field):
    """A ``double``."""

    c_type = "double"

    def pack(self, value: Value) -> bytes:
        """Return the number."""
        return pack("=d", float(value))


class Choice(Field):
    """A member of an `Enumeration`, in an ``int64_t``."""

    def __init__(self, of: type[Enumeration], doc: str = ""):
        super().__init__(doc or c_comment(of))
        self.of = of

    def pack(self, value: Value) -> bytes:
        """Return the member's number."""
        if not isinstance(value, self.of):
            raise TypeError(f"a member of {self.of.__name__} is wanted, not {value!r}")
        return pack("=q", value)


class Address(Field):
    """The place of something in the memory of this process: a `Pointer`, or 0 for nothing."""

    def __init__(self, doc: str = "", c_type: str = "void *"):
        super().__init__(doc)
        self.c_type = c_type

    def pack(self, value: Value) -> bytes:
        """Return the address."""
        if not isinstance(value, Pointer) and value != 0:
            raise TypeError(f"a Pointer, which has a name, or 0 is wanted, not {value!r}")
        return pack("=Q", value)

    def places(self, value: Value) -> Places:
        """Return its place, if there is an address."""
        return ((0, value.name),) if value else ()


class Record(Field):
    """Another struct within this one."""

    def __init__(self, of: type[Parameters], doc: str = ""):
        super().__init__(doc)
        if of.size is None:
            raise TypeError(f"{of.__name__} is of no fixed size, so it is no field of another")
        self.of, self.size, self.c_type = of, of.size, of.c_name

    def pack(self, value: Value) -> bytes:
        """Return the struct's bytes."""
        if not isinstance(value, self.of):
            raise TypeError(f"a {self.of.__name__} is wanted, not {value!r}")
        return value.packed()

    def places(self, value: Value) -> Places:
        """Return those of the struct."""
        return tuple(value.pointers())


class Array(Field):
    """As many values as ``length``; what is not given is 0."""

    def __init__(self, of: Field, length: int, doc: str = ""):
        super().__init__(doc)
        assert of.size is not None, "elements are of one size"
        self.of, self.length, self.size, self.c_type = of, length, of.size * length, of.c_type

    def pack(self, value: Sequence[object]) -> bytes:
        """Return them, and zeros."""
        if len(value) > self.length:
            raise ValueError(f"{len(value)} values are given, and there is space for {self.length}")
        assert self.size is not None
        return b"".join(map(self.of.pack, value)).ljust(self.size, b"\0")

    def places(self, value: Sequence[Any]) -> Places:
        """Return those of all elements."""
        return _shifted(self.of, value)

    def members(self, name: str) -> list[str]:
        """Return an array."""
        return [f"{self.c_type} {name}[{self.length}];"]


class List(Field):
    """Any number of values, and before them how many: ``count_NAME`` in C. The last field only."""

    size = None

    def __init__(self, of: Field, doc: str = ""):
        super().__init__(doc)
        assert of.size is not None, "elements are of one size"
        self.of, self.c_type = of, of.c_type

    def pack(self, value: Sequence[object]) -> bytes:
        """Return their number and them."""
        return pack("=q", len(value)) + b"".join(map(self.of.pack, value))

    def places(self, value: Sequence[Any]) -> Places:
        """Return those of all elements, which begin after their number."""
        return tuple((8 + place, name) for place, name in _shifted(self.of, value))

    def members(self, name: str) -> list[str]:
        """Return the number and a flexible array."""
        return [f"int64_t count_{name};", f"{self.c_type} {name}[];"]


class Text(Field):
    """A text in UTF-8, ended by 0; before it ``count_NAME``, its bytes without that. The last field only."""

    size = None

    def pack(self, value: str) -> bytes:
        """Return its length, the text, and zeros up to a multiple of eight."""
        data = value.encode()
        if b"\0" in data:
            raise ValueError(f"to C, {value!r} ends at its first zero")
        return pack("=q", len(data)) + _filled(data + b"\0")

    def members(self, name: str) -> list[str]:
        """Return the length and a flexible array."""
        return [f"int64_t count_{name};", f"char {name}[];"]


class Numbers(Field):
    """The bytes of numbers whose types only the kernel's own text knows; none is an address. The last field only."""

    size = None

    def pack(self, value: bytes) -> bytes:
        """Return them, and zeros up to a multiple of eight."""
        return _filled(bytes(value))

    def members(self, name: str) -> list[str]:
        """Return a flexible array, aligned for every number."""
        return [f"int64_t {name}[];"]


def _filled(data: bytes) -> bytes:
    return data.ljust(-(-len(data) // 8) * 8, b"\0")


def _shifted(of: Field, values: Iterable[int | Parameters]) -> Places:
    assert of.size is not None
    return tuple((k * of.size + place, name) for k, value in enumerate(values) for place, name in of.places(value))


def _holds_addresses(field: Field) -> bool:
    if isinstance(field, Record):
        return bool(field.of._addresses)
    return isinstance(field, Address) or (isinstance(field, (Array, List)) and _holds_addresses(field.of))


# -- declarations ------------------------------------------------------------------------------------------


class Parameters:
    """The base of declarations; an instance holds the values for one node.

    Parameters
    ----------
    **values
        One for each field, by name.

    Raises
    ------
    TypeError
        A field has no value, or a value no field.
    ValueError
        A value does not fit its field; the text says which.

    Examples
    --------
    >>> class ShiftedParams(Parameters):
    ...     "A tensor moved along some axes."
    ...
    ...     axes = Mask("along which")
    ...     steps = List(Int(), "how far")
    >>> print(ShiftedParams.c_struct())
    /* A tensor moved along some axes. */
    typedef struct th_shifted_params {
        uint64_t axes; /* along which */
        int64_t count_steps;
        int64_t steps[]; /* how far */
    } th_shifted_params;
    >>> moved = ShiftedParams(axes=0b101, steps=[3, -1])
    >>> moved.packed() == b"".join(n.to_bytes(8, "little", signed=True) for n in (5, 2, 3, -1))
    True
    >>> ShiftedParams(axes=-1, steps=[])
    Traceback (most recent call last):
    ...
    ValueError: ShiftedParams.axes: -1 is no mask of 64 bits
    """

    fields: ClassVar[Mapping[str, Field]] = {}
    c_name: ClassVar[str] = ""
    """What C calls the struct; empty for one that is in no header."""
    size: ClassVar[int | None] = 0
    """The bytes of all instances, or None where they differ."""

    def __init_subclass__(cls, c_name: str | None = None) -> None:
        """Read the fields of a declaration; ``c_name`` is what C calls it, if not by the class's name.

        An empty one keeps it out of headers.
        """
        cls.fields = {**cls.fields, **{name: f for name, f in vars(cls).items() if isinstance(f, Field)}}
        own = _snake(cls.__name__.removesuffix("Params"))
        cls.c_name = f"th_{own}_params" if c_name is None else c_name
        sizes = [field.size for field in cls.fields.values()]
        if None in sizes[:-1]:
            raise TypeError(f"{cls.__name__}: only the last field may be of any length")
        cls.size = sum(s or 0 for s in sizes) if None not in sizes else None
        cls._addresses = [name for name, f in cls.fields.items() if _holds_addresses(f)]

    _addresses: ClassVar[Sequence[str]] = ()
    _packed: bytes
    _places: Places

    def __init__(self, **values: Value):
        fields = self.fields
        if values.keys() != fields.keys():
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(fields)}, not {', '.join(values)}")
        parts = []
        for name, field in fields.items():
            try:
                parts.append(field.pack(values[name]))
            except (TypeError, ValueError) as problem:
                raise ValueError(f"{type(self).__name__}.{name}: {problem}") from None
        places = self._find(values, parts) if self._addresses else ()
        self.__dict__.update(values, _packed=b"".join(parts), _places=places)

    def _find(self, values: Mapping[str, Any], parts: Sequence[bytes]) -> Places:
        found, offset = [], 0
        for (name, field), part in zip(self.fields.items(), parts, strict=True):
            found += [(offset + place, called) for place, called in field.places(values[name])]
            offset += len(part)
        return tuple(found)

    def __setattr__(self, name: str, value: Value) -> None:
        raise AttributeError(f"{type(self).__name__} does not change: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (self._packed, self._places) == (other._packed, other._places)

    def __hash__(self) -> int:
        return hash((type(self), self._packed))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.fields)})"

    def packed(self) -> bytes:
        """Return the bytes of the struct."""
        return self._packed

    def pointers(self) -> Places:
        """Return where in these bytes addresses stand, and what each is called."""
        return self._places

    @classmethod
    def c_struct(cls) -> str:
        """Return the struct in C."""
        lines = []
        for name, field in cls.fields.items():
            lines += field.members(name)
            lines[-1] += f" /* {field.doc} */" if field.doc else ""
        text = "\n".join(f"    {line}" for line in lines)
        return f"/* {c_comment(cls)} */\ntypedef struct {cls.c_name} {{\n{text}\n}} {cls.c_name};"


class Nothing(Parameters):
    """The parameters of kernels that need none.

    Examples
    --------
    >>> Nothing().packed()
    b''
    """


# -- in C --------------------------------------------------------------------------------------------------


def c_comment(declared: type) -> str:
    """Return the first paragraph of a declaration's docstring, for a comment."""
    return " ".join((declared.__doc__ or declared.__name__).strip().partition("\n\n")[0].split())


def c_enum(declared: type[Enumeration]) -> str:
    """Return the constants of an enumeration in C."""
    members = ", ".join(f"{declared.prefix()}{member.name} = {member.value}" for member in declared)
    return f"/* {c_comment(declared)} */\nenum {{ {members} }};"


def header(declarations: Mapping[str, Any], where: str) -> str:
    """Return a C header.

    Parameters
    ----------
    declarations : dict
        A module's names; enumerations and structs among them that were declared there are written, in order.
    where : str
        That module's file, for a comment.

    Examples
    --------
    >>> class Axis(Parameters):
    ...     axis = Int()
    >>> "} th_axis_params;" in header({"Axis": Axis, "__name__": Axis.__module__}, "axis.py")
    True
    """
    own = [
        found for found in declarations.values()
        if isinstance(found, type) and found.__module__ == declarations["__name__"]
    ]  # fmt: skip
    texts = []
    for found in own:
        if issubclass(found, Enumeration):
            texts.append(c_enum(found))
        elif issubclass(found, Parameters) and found.c_name:
            texts.append(found.c_struct())
    first = f"/* Written from the declarations in {where}: change those. */"
    return "\n\n".join([first, "#pragma once\n#include <stdint.h>", *texts]) + "\n"
