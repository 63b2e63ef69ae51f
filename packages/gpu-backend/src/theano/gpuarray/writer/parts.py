"""What the texts of element-wise loops and of reductions share: structs, functions, reads, walks along axes, packs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from theano.codegen.text import CText
from theano.gpuarray.dialect import device_blocks, is_foreign
from theano.records import NamedTuple
from theano.scalar.ctypes import c_type, compute_type, load, storage_support
from theano.scalar.dtypes import bits
from theano.tensor.kernels.body import Body
from theano.tensor.kernels.nest import Operand

WIDEST = 16  # bytes that a work-item reads or writes at once
MOST_IN_PACK = 8  # elements of a pack
MOST_LINES = 256  # statements that unrolling may make of a body


@dataclass(frozen=True)
class DeviceCode:
    """Device functions as text, without the prelude, and their constants.

    Attributes
    ----------
    text : str
    constants : bytes
        At the end of the struct that they are given, in eight bytes each.
    bytes : int
        Of the largest of these structs.
    width : int
        How many neighbours a work-item reads at once, where they are neighbours in memory.
    columns : bool
        Whether a reduction has a function of this name.
    """

    text: str
    constants: bytes
    bytes: int
    width: int = 1
    columns: bool = False


def blocks_of(dtypes: Sequence[str], body: Body, extra: Sequence[str] = ()) -> tuple[str, ...] | None:
    """Return the functions that a body, and numbers of some dtypes, need before them, if a device has them all."""
    if is_foreign(body.lines):
        return None
    found = device_blocks(dict.fromkeys((*storage_support(*dtypes), *body.support, *extra)))
    return None if found is None else tuple(f"{block}\n" for block in found)


class Inputs(NamedTuple):
    """Inputs by where they are: arrays there, and numbers of the host's."""

    there: list[Operand]
    numbers: list[Operand]


NONE = Inputs([], [])


def split(inputs: Sequence[Operand], hosts: Collection[int]) -> Inputs:
    """Return inputs by where they are; ``hosts`` are the places of the host's."""
    return Inputs([x for k, x in enumerate(inputs) if k not in hosts], [x for k, x in enumerate(inputs) if k in hosts])


def is_read(x: Operand, body: Body) -> bool:
    """Return whether a body wants an input."""
    return f"{x.name}_i" in body.words


def write_struct(
    c: CText, name: str, pointers: int, fields: Mapping[str, tuple[int, ...]], inputs: Inputs = NONE,
    body: Body | None = None,
) -> int:  # fmt: skip
    """Write the struct of a function, and return its bytes.

    It has offsets, its fields (numbers and tables, by their lengths), numbers of the host's, and constants; eight bytes
    for each.
    """
    fields = {"at": (pointers,), **fields}
    tables = {field: "".join(f"[{n}]" for n in lengths) for field, lengths in fields.items()}
    c("typedef struct {", *(f"    int64_t {field}{table};" for field, table in tables.items()))
    numbers = [(x.name, c_type(x.dtype), size_of(x.dtype)) for x in inputs.numbers]
    if body is not None:
        numbers += [
            (k, compute_type(constant.dtype), max(size_of(constant.dtype), 4 if constant.dtype == "float16" else 1))
            for k, constant in zip(body.names, body.constants, strict=True)
        ]
    for k, ctype, size in numbers:
        part, is_complex, _ = ctype.partition(" _Complex")
        if is_complex:  # in parts, since the struct has nothing that is aligned to more than eight bytes
            c(f"    {part} {k}[2];")
        else:
            c(f"    {ctype} {k};", *([f"    uint8_t {k}_rest[{8 - size}];"] if size < 8 else []))
    c(f"}} {name};", "")
    return 8 * (sum(map(prod, fields.values())) + len(inputs.numbers)) + (len(body.params) if body else 0)


def size_of(dtype: str) -> int:
    """Return the bytes of a number as it is stored."""
    return 1 if dtype == "bool" else bits(dtype) // 8


@contextmanager
def function(
    c: CText, name: str, pointers: int, inputs: Inputs = NONE, body: Body | None = None, struct: str = ""
) -> Iterator[None]:
    """Write a device function of operands and a struct, around what is written inside: first, names of its numbers."""
    operands = ", ".join(f"GLOBAL char *p{k}" for k in range(pointers))
    with c.block(f"KERNEL void {name}({operands}, ARGUMENTS {struct or f'{name}_args'} a)"):
        for x in inputs.numbers:
            if body is not None and is_read(x, body):
                c(f"const {compute_type(x.dtype)} {x.name}_i = {load(x.dtype, f'a.{x.name}')};")
        if body is not None:
            for k, constant in zip(body.names, body.constants, strict=True):
                make = {"complex64": "CMPLXF", "complex128": "CMPLX"}.get(constant.dtype)
                if k in body.words:
                    value = f"{make}(a.{k}[0], a.{k}[1])" if make else f"a.{k}"
                    c(f"const {compute_type(constant.dtype)} {k} = {value};")
        yield
    c("")


def at(dtype: str, address: str) -> str:
    """Return the number of a dtype at an address."""
    return f"*(GLOBAL const {c_type(dtype)} *)({address})"


def write_read(c: CText, x: Operand, place: str, body: Body) -> None:
    """Write the statement that takes an input from a place, if the body wants it."""
    if is_read(x, body):
        c(f"const {compute_type(x.dtype)} {x.name}_i = {load(x.dtype, place)};")


def write_walk(c: CText, lengths: str, axes: str, steps: Sequence[str], short: bool = False) -> None:
    """Write the walk from a number, in ``left``, to an index along each axis; the first axis has the remainder.

    ``short`` says that all of these have 32 bits: divisions of 64 make long code.
    """
    c("LOOP")
    with c.block(f"for (int d = (int){axes} - 1; d >= 0; --d)"):
        if short:
            c(f"const int length = (int){lengths}[d], rest = d ? left / length : 0, i = left - rest * length;")
        else:
            c(f"const int64_t rest = d ? th_quotient(left, {lengths}[d]) : 0, i = left - rest * {lengths}[d];")
        c(*steps, "left = rest;")


def pack_of(operands: Sequence[Operand], body: Body) -> int:
    """Return how many neighbours a work-item computes: as many as it reads at once, fewer where the body is long."""
    pack = max(1, min(MOST_IN_PACK, WIDEST // max(size_of(o.dtype) for o in operands)))
    while pack > 1 and pack * len(body.lines) > MOST_LINES:
        pack //= 2
    return pack


def pack_type(dtype: str) -> str:
    """Return the name of the type of a pack of neighbours."""
    return f"pack_{dtype}"


def write_pack_types(c: CText, operands: Sequence[Operand], pack: int) -> None:
    """Write the types of packs of this many neighbours, for the dtypes of some operands."""
    for dtype in dict.fromkeys(o.dtype for o in operands):
        alignment = min(WIDEST, pack * size_of(dtype))
        c(f"typedef struct ALIGNED({alignment}) {{", f"    {c_type(dtype)} v[{pack}];", f"}} {pack_type(dtype)};", "")
