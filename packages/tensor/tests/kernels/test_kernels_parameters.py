"""What Python packs for the kernels is what C reads: tests made from the declarations themselves."""

from __future__ import annotations

import ctypes
import re

import pytest
from kernel_harness import C_SOURCES, compile_text

from theano.graph.kernel import Pointer
from theano.graph.parameters import (
    Address,
    Array,
    Choice,
    Enumeration,
    Field,
    Flag,
    Float,
    Int,
    List,
    Mask,
    Numbers,
    Parameters,
    Record,
    Text,
    header,
)
from theano.tensor.kernels import parameters, reduction
from theano.tensor.kernels.common import DTYPE_CODES, c_text

DECLARED = [found for module in (parameters, reduction) for found in vars(module).values() if isinstance(found, type)]
STRUCTS = [c for c in DECLARED if issubclass(c, Parameters) and c.c_name and c.fields]
ENUMS = [c for c in DECLARED if issubclass(c, Enumeration) and c is not Enumeration]
FIELDS = [(struct, name) for struct in STRUCTS for name in struct.fields]
FLEXIBLE = (List, Text, Numbers)


class Everything(Parameters):
    """One field of each kind."""

    number = Int()
    real = Float()
    truth = Flag()
    axes = Mask()
    which = Choice(parameters.End)
    place = Address()
    inner = Record(parameters.Diagonal)
    several = Array(Record(parameters.Bound), 3)
    rest = List(Record(parameters.IndexEntry), "at last")


ALL = [*STRUCTS, Everything]


def values(field: Field) -> tuple[object, object]:
    """Return a value of zeros only, and one without."""
    if isinstance(field, Record):
        return tuple(field.of(**{n: values(f)[k] for n, f in field.of.fields.items()}) for k in (0, 1))
    if isinstance(field, Array):
        return [], [values(field.of)[1]] * field.length
    if isinstance(field, List):
        return [], [values(field.of)[1]] * 3
    if isinstance(field, Choice):
        return next(m for m in field.of if m == 0), max(field.of)
    kinds = {
        Int: (0, -1), Mask: (0, 2**64 - 1), Flag: (False, True), Float: (0.0, -1.1), Text: ("", "text"),
        Numbers: (b"", b"\xff" * 8), Address: (0, Pointer(2**64 - 1, "toys:one")),
    }  # fmt: skip
    return kinds[type(field)]


def only(struct: type[Parameters], name: str) -> Parameters:
    """Return a struct of zeros but for one field."""
    return struct(**{n: values(f)[n == name] for n, f in struct.fields.items()})


@pytest.fixture(scope="module")
def in_c():
    """Return a function from an expression in C to its value, for all that the tests below ask."""
    asked = [e for c in ENUMS for e in (f"{c.prefix()}{m.name}" for m in c)]
    for struct in ALL:
        asked.append(f"sizeof({struct.c_name})")
        asked += [f"offsetof({struct.c_name}, {member})" for member in members(struct)]
    text = "\n".join([
        "#include <stddef.h>\n#include <stdint.h>", "typedef void (*th_reducer)(void);",
        *(header(vars(module), "").replace("#pragma once\n", "") for module in (parameters, reduction)),
        Everything.c_struct(), f"const int64_t found[] = {{{', '.join(f'(int64_t){e}' for e in asked)}}};",
        *(f"int64_t get_{s.c_name}_{n}(const {s.c_name} *p) {{ return (int64_t)p->{n}; }}"
          for s in ALL for n, f in s.fields.items() if f.c_type in WORDS and not isinstance(f, (*FLEXIBLE, Array))),
    ])  # fmt: skip
    library = compile_text(text, ("-Wall", "-Werror"))
    found = dict(zip(asked, (ctypes.c_int64 * len(asked)).in_dll(library, "found"), strict=True))

    def get(struct: type[Parameters], name: str, data: bytes) -> int:
        reader = getattr(library, f"get_{struct.c_name}_{name}")
        reader.restype, reader.argtypes = ctypes.c_int64, [ctypes.c_char_p]
        return reader(data)

    return found.__getitem__, get


WORDS = ("int64_t", "uint64_t", "void *", "th_reducer")


def members(struct: type[Parameters]) -> list[str]:
    return [re.search(r"(\w+)(\[\d*\])?;", m)[1] for n, f in struct.fields.items() for m in f.members(n)]


@pytest.mark.parametrize(("struct", "name"), [(s, n) for s in ALL for n in s.fields], ids=lambda x: getattr(x, "c_name", x))
def test_a_field_stands_where_c_looks_for_it(struct, name, in_c):
    c, _ = in_c
    zeros = struct(**{n: values(f)[0] for n, f in struct.fields.items()}).packed()
    assert not any(zeros)
    data = only(struct, name).packed()
    first = next(i for i, byte in enumerate(data) if byte) // 8 * 8
    last = len(data.rstrip(b"\0"))
    names = members(struct)
    member = next(n for n in names if n in (name, f"count_{name}"))
    assert first == c(f"offsetof({struct.c_name}, {member})")
    if struct.size is not None:
        following = names[names.index(member) + 1 :]
        end = c(f"offsetof({struct.c_name}, {following[0]})") if following else c(f"sizeof({struct.c_name})")
        assert end - 8 < last <= end
        assert len(data) == c(f"sizeof({struct.c_name})") == struct.size
    elif name == list(struct.fields)[-1] and isinstance(struct.fields[name], List):
        element = struct.fields[name].of.size
        assert c(f"offsetof({struct.c_name}, {name})") == first + 8 and len(data) == first + 8 + 3 * element


@pytest.mark.parametrize(("struct", "name"), [
    (s, n) for s in ALL for n, f in s.fields.items() if f.c_type in WORDS and not isinstance(f, (*FLEXIBLE, Array))
], ids=lambda x: getattr(x, "c_name", x))  # fmt: skip
def test_c_reads_what_python_wrote(struct, name, in_c):
    _, get = in_c
    field = struct.fields[name]
    extremes = {
        Int: (-(2**63), 2**63 - 1, 0, -1), Mask: (0, 1, 2**63, 2**64 - 1), Flag: (False, True),
        Address: (0, Pointer(1, "a:b"), Pointer(2**64 - 8, "a:b")),
    }  # fmt: skip
    for value in extremes.get(type(field)) or list(field.of):
        told = struct(**{n: value if n == name else values(f)[1] for n, f in struct.fields.items()})
        got = get(struct, name, told.packed())
        assert got == (int(value) + 2**63) % 2**64 - 2**63 and getattr(told, name) == value


@pytest.mark.parametrize("declared", ENUMS, ids=lambda c: c.__name__)
def test_c_knows_the_numbers(declared, in_c):
    assert {m: in_c[0](f"{declared.prefix()}{m.name}") for m in declared} == {m: m.value for m in declared}


def test_the_accumulators_of_each_result_start_where_vectors_do():
    """C has an array of them, and vectors of 64 bytes; one of the widest numbers for a row has room, too."""
    limit = reduction.ReductionLimit
    assert limit.LANE_BYTES % 64 == 0 and limit.LANE_BYTES >= limit.ROW_VECTOR * 16


@pytest.mark.parametrize("struct", [s for s in ALL if s._addresses], ids=lambda s: s.c_name)
def test_pointers_are_where_the_addresses_are(struct):
    told = struct(**{n: values(f)[1] if isinstance(f, Address) else values(f)[0] for n, f in struct.fields.items()})
    data = told.packed()
    assert len(told.pointers()) == sum(isinstance(f, Address) for f in struct.fields.values())
    clean = bytearray(data)
    for place, name in told.pointers():
        assert name == "toys:one" and data[place : place + 8] == b"\xff" * 8
        clean[place : place + 8] = bytes(8)
    assert not any(clean)


def test_generated_kernels_are_told_the_same_as_the_library():
    assert reduction.ReductionParams.c_struct() in c_text("reduce.h") and "#include" not in c_text("reduce.h")


@pytest.mark.parametrize("path", C_SOURCES, ids=lambda p: p.name)
def test_no_kernel_reads_its_parameters_by_position(path):
    text = path.read_text()
    assert not re.search(r"int64_t \*\)? ?(\w+ = )?ctx->params", text)


@pytest.mark.parametrize(("field", "value", "message"), [
    (Int(), 2**63, "does not fit"), (Int(), -(2**63) - 1, "does not fit"), (Int(), 1.0, "integer"), (Int(), "1", "integer"),
    (Mask(), 2**64, "no mask"), (Mask(), -1, "no mask"), (Flag(), 1, "True or False"), (Flag(), None, "True or False"),
    (Choice(parameters.End), 1, "a member of End"), (Choice(parameters.End), parameters.Labels.ALL, "a member of End"),
    (Address(), 4096, "a Pointer"), (Address(), None, "a Pointer"), (Float(), "x", "float"),
    (Record(parameters.Bound), parameters.AxisParams(axis=0), "a Bound"),
    (Array(Int(), 2), [1, 2, 3], "space for 2"), (Array(Mask(), 2), [-1], "no mask"), (List(Flag()), [True, 2], "True or False"),
    (Text(), "a\0b", "first zero"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(field, value, message):
    class Small(Parameters):
        first = Int()
        field_of_the_test = field

    with pytest.raises(ValueError, match=rf"^Small.field_of_the_test: .*{message}"):
        Small(first=0, field_of_the_test=value)


def test_missing_and_unknown_fields_are_refused():
    with pytest.raises(TypeError, match="has the fields axis, not axes"):
        parameters.AxisParams(axes=1)
    with pytest.raises(TypeError, match="has the fields how, value, not how"):
        parameters.Bound(how=parameters.End.KNOWN)


def test_declarations_that_c_cannot_hold_are_refused():
    with pytest.raises(TypeError, match="only the last field"):

        class Wrong(Parameters):
            first = List(Int())
            second = Int()

    with pytest.raises(TypeError, match="no fixed size"):
        Record(parameters.SplitParams)


def test_parameters_do_not_change():
    told = parameters.AxisParams(axis=3)
    with pytest.raises(AttributeError, match="cannot be set"):
        told.axis = 4
    assert told == parameters.AxisParams(axis=3) != parameters.AxisParams(axis=4) and repr(told) == "AxisParams(axis=3)"
    assert len({told, parameters.AxisParams(axis=3), parameters.ExpmParams(threads=3)}) == 2


def test_dtypes_are_numbered_as_in_the_header(tmp_path):
    names = [f"TH_{name.upper()}" for name in DTYPE_CODES]
    library = compile_text(f'#include "abi.h"\nconst int codes[] = {{{", ".join(names)}, TH_NDTYPES}};')
    assert list((ctypes.c_int * (len(names) + 1)).in_dll(library, "codes")) == [*DTYPE_CODES.values(), len(names)]
