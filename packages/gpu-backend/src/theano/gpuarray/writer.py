"""The writer for devices: loops that are described as data (`theano.tensor.kernels.nest`), as device functions.

What it writes has the form that ``kernels/c/map.c`` and ``kernels/c/reduce.c`` launch: a pointer for each operand, and
a struct of numbers. The text says nothing of lengths, of strides or of constants, so it serves all of them. Reductions
are written by `theano.gpuarray.reduction_writer`, of parts that are here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from theano.codegen.text import CText
from theano.gpuarray.dialect import device_blocks, in_dialect, is_foreign
from theano.records import NamedTuple
from theano.scalar.ctypes import c_type, compute_type, load, storage_support, store
from theano.scalar.dtypes import bits
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.nest import Map, Operand

#: Of an element-wise loop, the functions in its program.
MAP_FUNCTIONS = ("rows", "strided")

_WIDEST = 16  # bytes that a work-item reads or writes at once
_MOST_IN_PACK = 8  # elements of a pack
_TILING = 2  # axes more than the loop has, where elements are walked in tiles: TH_GPU_TILING of gpu.h
_MOST_LINES = 256  # statements that unrolling may make of a body


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


def map_code(nest: Map, hosts: Collection[int] = ()) -> DeviceCode | None:
    """Return an element-wise loop, in a form for rows of packs of neighbours and in one for any strides.

    Parameters
    ----------
    nest : Map
    hosts : collection of int
        The inputs that are single numbers of the host's, and come in the struct.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.tensor.kernels.nest import map_of
    >>> text = map_code(map_of(T.exp(T.fvector("x")).owner)).text
    >>> print(text[text.index("KERNEL void strided") :].rstrip())
    KERNEL void strided(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS map_args a) {
        int64_t left = GLOBAL_ID();
        if (left >= a.n)
            return;
        int64_t at0 = a.at[0];
        int64_t at1 = a.at[1];
        LOOP
        for (int d = (int)a.axes - 1; d >= 0; --d) {
            const int64_t rest = d ? th_quotient(left, a.shape[d]) : 0, i = left - rest * a.shape[d];
            at0 += i * a.stride[0][d];
            at1 += i * a.stride[1][d];
            left = rest;
        }
        const float x0_i = *(GLOBAL const float *)(p0 + at0);
        float y0_i;
        y0_i = th_exp_f32(x0_i);
        *(GLOBAL float *)(p1 + at1) = y0_i;
    }
    """
    names = [f"{x.name}_i" for x in nest.inputs], [f"{y.name}_i" for y in nest.outputs]
    body = body_of(nest.function, names[0], [x.dtype for x in nest.inputs], names[1], [y.dtype for y in nest.outputs])
    blocks = None if body is None else _blocks([o.dtype for o in nest.operands], body)
    if body is None or blocks is None:
        return None
    inputs = _split(nest.inputs, hosts)
    c, operands, ndim = CText(), [*inputs.there, *nest.outputs], nest.ndim + _TILING if nest.ndim > 1 else 1
    count, pack = len(operands), _pack_of(operands, body)
    fields: dict[str, tuple[int, ...]] = {**dict.fromkeys(("n", "axes", "last", "packs"), ()), "shape": (ndim,)}
    fields |= {"stride": (count, ndim), "along": (count,)}
    size = _struct(c, "map_args", count, fields, inputs, body)
    _write_pack_types(c, operands, pack)
    with _function(c, "rows", count, inputs, body, "map_args"):
        _start(c, count)
        _write_packs(c, nest, inputs, body, pack)
    with _function(c, "strided", count, inputs, body, "map_args"):
        _start(c, count)
        for k, x in enumerate(inputs.there):
            _read(c, x, _at(x.dtype, f"p{k} + at{k}"), body)
        _compute(c, nest, body)
        for k, y in enumerate(nest.outputs, start=len(inputs.there)):
            c(store(y.dtype, f"*(GLOBAL {c_type(y.dtype)} *)(p{k} + at{k})", f"{y.name}_i"))
    return DeviceCode(in_dialect("".join(blocks) + str(c)), body.params, size, pack)


# -- parts of both ----------------------------------------------------------------------------------------------------


def _blocks(dtypes: Sequence[str], body: Body, extra: Sequence[str] = ()) -> tuple[str, ...] | None:
    if is_foreign(body.lines):
        return None
    found = device_blocks(dict.fromkeys((*storage_support(*dtypes), *body.support, *extra)))
    return None if found is None else tuple(f"{block}\n" for block in found)


class _Inputs(NamedTuple):
    """Inputs by where they are: arrays there, and numbers of the host's."""

    there: list[Operand]
    numbers: list[Operand]


_NONE = _Inputs([], [])


def _split(inputs: Sequence[Operand], hosts: Collection[int]) -> _Inputs:
    return _Inputs([x for k, x in enumerate(inputs) if k not in hosts], [x for k, x in enumerate(inputs) if k in hosts])


def _is_read(x: Operand, body: Body) -> bool:
    return f"{x.name}_i" in body.words


def _struct(
    c: CText, name: str, pointers: int, fields: Mapping[str, tuple[int, ...]], inputs: _Inputs = _NONE,
    body: Body | None = None,
) -> int:  # fmt: skip
    """Write the struct of a function, and return its bytes.

    It has offsets, its fields (numbers and tables, by their lengths), numbers of the host's, and constants; eight bytes
    for each.
    """
    fields = {"at": (pointers,), **fields}
    tables = {field: "".join(f"[{n}]" for n in lengths) for field, lengths in fields.items()}
    c("typedef struct {", *(f"    int64_t {field}{table};" for field, table in tables.items()))
    numbers = [(x.name, c_type(x.dtype), _size(x.dtype)) for x in inputs.numbers]
    if body is not None:
        numbers += [
            (k, compute_type(constant.dtype), max(_size(constant.dtype), 4 if constant.dtype == "float16" else 1))
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


def _size(dtype: str) -> int:
    return 1 if dtype == "bool" else bits(dtype) // 8


@contextmanager
def _function(
    c: CText, name: str, pointers: int, inputs: _Inputs = _NONE, body: Body | None = None, struct: str = ""
) -> Iterator[None]:
    operands = ", ".join(f"GLOBAL char *p{k}" for k in range(pointers))
    with c.block(f"KERNEL void {name}({operands}, ARGUMENTS {struct or f'{name}_args'} a)"):
        for x in inputs.numbers:
            if body is not None and _is_read(x, body):
                c(f"const {compute_type(x.dtype)} {x.name}_i = {load(x.dtype, f'a.{x.name}')};")
        if body is not None:
            for k, constant in zip(body.names, body.constants, strict=True):
                make = {"complex64": "CMPLXF", "complex128": "CMPLX"}.get(constant.dtype)
                if k in body.words:
                    value = f"{make}(a.{k}[0], a.{k}[1])" if make else f"a.{k}"
                    c(f"const {compute_type(constant.dtype)} {k} = {value};")
        yield
    c("")


def _at(dtype: str, address: str) -> str:
    return f"*(GLOBAL const {c_type(dtype)} *)({address})"


def _read(c: CText, x: Operand, place: str, body: Body) -> None:
    """Write the statement that takes an input from a place, if the body wants it."""
    if _is_read(x, body):
        c(f"const {compute_type(x.dtype)} {x.name}_i = {load(x.dtype, place)};")


def _walk(c: CText, lengths: str, axes: str, steps: Sequence[str], short: bool = False) -> None:
    """Write the walk from a number, in ``left``, to an index along each axis; the first axis has what is left.

    ``short`` says that all of these have 32 bits: divisions of 64 make long code.
    """
    c("LOOP")
    with c.block(f"for (int d = (int){axes} - 1; d >= 0; --d)"):
        if short:
            c(f"const int length = (int){lengths}[d], rest = d ? left / length : 0, i = left - rest * length;")
        else:
            c(f"const int64_t rest = d ? th_quotient(left, {lengths}[d]) : 0, i = left - rest * {lengths}[d];")
        c(*steps, "left = rest;")


# -- element-wise loops -----------------------------------------------------------------------------------------------


def _pack_of(operands: Sequence[Operand], body: Body) -> int:
    """Return how many neighbours a work-item computes: as many as it reads at once, fewer where the body is long."""
    pack = max(1, min(_MOST_IN_PACK, _WIDEST // max(_size(o.dtype) for o in operands)))
    while pack > 1 and pack * len(body.lines) > _MOST_LINES:
        pack //= 2
    return pack


def _pack_type(dtype: str) -> str:
    return f"pack_{dtype}"


def _write_pack_types(c: CText, operands: Sequence[Operand], pack: int) -> None:
    for dtype in dict.fromkeys(o.dtype for o in operands):
        alignment = min(_WIDEST, pack * _size(dtype))
        c(f"typedef struct ALIGNED({alignment}) {{", f"    {c_type(dtype)} v[{pack}];", f"}} {_pack_type(dtype)};", "")


def _start(c: CText, count: int) -> None:
    """Write the start of a function of an element-wise loop: where the operands of a work-item are."""
    c("int64_t left = GLOBAL_ID();", "if (left >= a.n)", "    return;")
    c(*(f"int64_t at{k} = a.at[{k}];" for k in range(count)))
    _walk(c, "a.shape", "a.axes", [f"at{k} += i * a.stride[{k}][d];" for k in range(count)])


def _compute(c: CText, nest: Map, body: Body) -> None:
    for y in nest.outputs:
        c(f"{compute_type(y.dtype)} {y.name}_i;")
    c.extend(body.lines)


def _write_packs(c: CText, nest: Map, inputs: _Inputs, body: Body, pack: int) -> None:
    """Write what reads packs, computes their elements and writes packs.

    ``a.last`` is how many the last pack has, the mask ``a.packs`` says which inputs lie in packs. The elements of
    others are read one by one, ``a.along`` apart.
    """
    first = len(inputs.there)
    c(f"const int many = GLOBAL_ID() + 1 < a.n ? {pack} : (int)a.last;")
    for k, x in enumerate(inputs.there):
        if not _is_read(x, body):
            continue
        kind = _pack_type(x.dtype)
        c(f"{kind} pack{k};")
        with c.block(f"if (a.packs >> {k} & 1 && many == {pack})"):
            c(f"pack{k} = *(GLOBAL const {kind} *)(p{k} + at{k});")
        with c.block("else"):  # its own elements only; past the last one, that again
            c("UNROLL", f"for (int e = 0; e < {pack}; ++e)")
            place = f"p{k} + at{k} + (e < many ? e : many - 1) * a.along[{k}]"
            c(f"    pack{k}.v[e] = {_at(x.dtype, place)};")
    for k, y in enumerate(nest.outputs, start=first):
        c(f"{_pack_type(y.dtype)} pack{k};")
    c("UNROLL")
    with c.block(f"for (int e = 0; e < {pack}; ++e)"):
        for k, x in enumerate(inputs.there):
            _read(c, x, f"pack{k}.v[e]", body)
        _compute(c, nest, body)
        for k, y in enumerate(nest.outputs, start=first):
            c(store(y.dtype, f"pack{k}.v[e]", f"{y.name}_i"))
    for k, y in enumerate(nest.outputs, start=first):
        kind, step = _pack_type(y.dtype), _size(y.dtype)
        with c.block(f"if (many == {pack})"):
            c(f"*(GLOBAL {kind} *)(p{k} + at{k}) = pack{k};")
        with c.block("else"):
            c("UNROLL", f"for (int e = 0; e < {pack}; ++e)", "    if (e < many)")
            c(f"        *(GLOBAL {c_type(y.dtype)} *)(p{k} + at{k} + e * {step}) = pack{k}.v[e];")
