"""The writer for devices: loops that are described as data (`theano.tensor.kernels.nest`), as device functions.

What it writes has the form that ``kernels/c/map.c`` and ``kernels/c/reduce.c`` launch: a pointer for each operand, and
a struct of numbers. The text says nothing of lengths, of strides or of constants, so it serves all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from theano.codegen.text import CText
from theano.gpuarray.dialect import device_blocks, in_dialect, is_foreign
from theano.scalar.c import support
from theano.scalar.cbody import names_of_blocks
from theano.scalar.ctypes import c_type, compute_type, convert, literal, load, storage_support, store
from theano.scalar.dtypes import bits
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.nest import Map, Operand, Reduction, Result

#: Of an element-wise loop, and of a reduction, the functions in its program.
MAP_FUNCTIONS = ("flat", "strided")
REDUCTION_FUNCTIONS = ("whole", "parts", "finish")


@dataclass(frozen=True)
class DeviceCode:
    """Device functions as text, without the prelude, and their constants.

    Attributes
    ----------
    text : str
    constants : bytes
        At the end of the struct that they are given, in eight bytes each.
    """

    text: str
    constants: bytes


def map_code(nest: Map, hosts: Collection[int] = ()) -> DeviceCode | None:
    """Return an element-wise loop, in a form for operands in one piece and in one for any strides.

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
    >>> print(text[text.index("KERNEL void flat") : text.index("KERNEL void strided")].rstrip())
    KERNEL void flat(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS flat_args a) {
        const int64_t i = GLOBAL_ID();
        if (i >= a.n)
            return;
        const float x0_i = *(GLOBAL const float *)(p0 + a.at[0] + i * a.step[0]);
        float y0_i;
        y0_i = th_exp_f32(x0_i);
        *(GLOBAL float *)(p1 + a.at[1] + i * a.step[1]) = y0_i;
    }
    """
    names = [f"{x.name}_i" for x in nest.inputs], [f"{y.name}_i" for y in nest.outputs]
    body = body_of(nest.function, names[0], [x.dtype for x in nest.inputs], names[1], [y.dtype for y in nest.outputs])
    blocks = None if body is None else _blocks([o.dtype for o in nest.operands], body)
    if body is None or blocks is None:
        return None
    operands = _split(nest.inputs, hosts)
    c, count, ndim = CText(), len(operands.there) + len(nest.outputs), nest.ndim
    _struct(c, "flat_args", count, ["int64_t n", f"int64_t step[{count}]"], operands, body)
    tables = _tables(f"shape[{ndim}]", f"stride[{count}][{ndim}]", ndim=ndim)
    _struct(c, "strided_args", count, ["int64_t n", "int64_t axes", *tables], operands, body)
    with _function(c, "flat", count, operands, body):
        c("const int64_t i = GLOBAL_ID();", "if (i >= a.n)", "    return;")
        _elements(c, nest, operands, body, [f"p{k} + a.at[{k}] + i * a.step[{k}]" for k in range(count)])
    with _function(c, "strided", count, operands, body):
        c("int64_t left = GLOBAL_ID();", "if (left >= a.n)", "    return;")
        c(*(f"int64_t at{k} = a.at[{k}];" for k in range(count)))
        if ndim:
            with c.block("for (int d = (int)a.axes - 1; d >= 0; --d)"):
                c("const int64_t rest = left / a.shape[d], i = left - rest * a.shape[d];")
                c(*(f"at{k} += i * a.stride[{k}][d];" for k in range(count)), "left = rest;")
        _elements(c, nest, operands, body, [f"p{k} + at{k}" for k in range(count)])
    return DeviceCode(in_dialect("".join(blocks) + str(c)), body.params)


def reduction_code(nest: Reduction, hosts: Collection[int] = ()) -> DeviceCode | None:
    """Return a reduction: of all terms, of parts of them, and of what the parts left; ``hosts`` as for `map_code`."""
    terms = [r.term for r in nest.results]
    body = body_of(
        nest.function, [f"{x.name}_i" for x in nest.inputs], [x.dtype for x in nest.inputs],
        [f"t{k}_i" for k in range(len(terms))], terms,
    )  # fmt: skip
    steps = [_step(r) for r in nest.results]
    if body is None or any(step is None for step in steps):
        return None
    combines, blocks = CText(), []
    for k, (r, step) in enumerate(zip(nest.results, steps, strict=True)):
        ctype = compute_type(r.accumulator)
        with combines.block(f"TH_INLINE {ctype} combine{k}(const {ctype} x, const {ctype} v)"):
            combines(f"{ctype} a = x;")
            combines.extend(step.lines)
            combines("return a;")
        blocks += [*step.lines, convert(f"t{k}_i", r.term, r.accumulator), convert("a", r.accumulator, r.dtype)]
    dtypes = [*(x.dtype for x in nest.inputs), *(r.dtype for r in nest.results)]
    extra = (*support(names_of_blocks("\n".join(blocks))), *(text for step in steps if step for text in step.support))
    found = _blocks(dtypes, body, extra)
    if found is None or is_foreign(blocks):
        return None
    c, operands = CText(), _split(nest.inputs, hosts)
    _write_accumulators(c, nest)
    for name in ("whole", "parts"):
        _write_terms(c, nest, operands, body, name)
    _write_finish(c, nest)
    return DeviceCode(in_dialect("".join(found) + str(combines) + str(c)), body.params)


def accumulator_bytes(nest: Reduction) -> int:
    """Return the bytes of the accumulators of one element; each has as many as the widest, so that all are aligned."""
    return _slot(nest) * len(nest.results)


def _slot(nest: Reduction) -> int:
    return max(8, *(_size(r.accumulator) for r in nest.results))


# -- parts of both ----------------------------------------------------------------------------------------------------


def _blocks(dtypes: Sequence[str], body: Body, extra: Sequence[str] = ()) -> tuple[str, ...] | None:
    if is_foreign(body.lines):
        return None
    found = device_blocks(dict.fromkeys((*storage_support(*dtypes), *body.support, *extra)))
    return None if found is None else tuple(f"{block}\n" for block in found)


def _tables(*fields: str, ndim: int) -> list[str]:
    """Return the tables of a struct, which are left out where there is no axis: C has no empty arrays."""
    return [f"int64_t {field}" for field in fields] if ndim else []


class _Inputs(NamedTuple):
    """Inputs by where they are: arrays there, and numbers of the host's."""

    there: list[Operand]
    numbers: list[Operand]


_NONE = _Inputs([], [])


def _split(inputs: Sequence[Operand], hosts: Collection[int]) -> _Inputs:
    return _Inputs([x for k, x in enumerate(inputs) if k not in hosts], [x for k, x in enumerate(inputs) if k in hosts])


def _struct(
    c: CText, name: str, pointers: int, fields: Sequence[str], inputs: _Inputs = _NONE, body: Body | None = None
) -> None:
    """Write the struct of a function: offsets, its fields, numbers of the host's, constants; eight bytes for each."""
    c("typedef struct {", f"    int64_t at[{pointers}];", *(f"    {field};" for field in fields))
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


def _size(dtype: str) -> int:
    return 1 if dtype == "bool" else bits(dtype) // 8


@contextmanager
def _function(c: CText, name: str, pointers: int, inputs: _Inputs = _NONE, body: Body | None = None) -> Iterator[None]:
    operands = ", ".join(f"GLOBAL char *p{k}" for k in range(pointers))
    with c.block(f"KERNEL void {name}({operands}, ARGUMENTS {name}_args a)"):
        for x in inputs.numbers:
            if body is not None and f"{x.name}_i" in body.words:
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


def _read(c: CText, x: Operand, address: str, body: Body) -> None:
    if f"{x.name}_i" in body.words:
        c(f"const {compute_type(x.dtype)} {x.name}_i = {load(x.dtype, _at(x.dtype, address))};")


def _elements(c: CText, nest: Map, inputs: _Inputs, body: Body, addresses: Sequence[str]) -> None:
    for x, address in zip(inputs.there, addresses):
        _read(c, x, address, body)
    for y in nest.outputs:
        c(f"{compute_type(y.dtype)} {y.name}_i;")
    c.extend(body.lines)
    for y, address in zip(nest.outputs, addresses[len(inputs.there) :], strict=True):
        c(store(y.dtype, f"*(GLOBAL {c_type(y.dtype)} *)({address})", f"{y.name}_i"))


# -- reductions -------------------------------------------------------------------------------------------------------


def _step(result: Result) -> Any:
    """Return the statements that take the term v into the accumulator a, or None if they have no form in C."""
    if not result.needs_terms and result.combine.identity is None:
        return None
    acc = result.accumulator
    return result.combine.c_statements(["a", "v"], [acc, acc], ["a"], [acc])


def _write_accumulators(c: CText, nest: Reduction) -> None:
    """Write the struct of what one work-item has taken together, and how two of them become one."""
    c("typedef struct {")
    for k, r in enumerate(nest.results):
        c(f"    {compute_type(r.accumulator)} a{k};")
    c("    int begun;", "} state;", "")
    with c.block("TH_INLINE state joined(const state x, const state y)"):
        c("state z = x;")
        with c.block("if (!y.begun)"):
            c("return x;")
        with c.block("if (!x.begun)"):
            c("return y;")
        for k in range(len(nest.results)):
            c(f"z.a{k} = combine{k}(x.a{k}, y.a{k});")
        c("return z;")
    c("")


def _write_terms(c: CText, nest: Reduction, inputs: _Inputs, body: Body, name: str) -> None:
    """Write the function that takes terms together: all of an element, into the results, or some into accumulators."""
    nin, nout, ndim = len(inputs.there), len(nest.results), nest.ndim
    count = nin + (nout if name == "whole" else 1)
    fields = ["n", "count", "lanes", "parts", "neighbours", "nkept", "nterms"]
    tables = _tables(f"kept[{ndim}]", f"terms[{ndim}]", f"in[{nin}][2][{ndim}]", f"out[{nout}][{ndim}]", ndim=ndim)
    _struct(c, f"{name}_args", count, [*(f"int64_t {field}" for field in fields), *tables], inputs, body)
    with _function(c, name, count, inputs, body):
        c("LOCAL state shared[256];")
        c("const int lanes = (int)a.lanes, per_group = 256 / lanes, me = LOCAL_ID();")
        c("const int lane = a.neighbours ? me % lanes : me / per_group;")
        c("const int which = a.neighbours ? me / lanes : me % per_group;")
        c("const int64_t group = GROUP_ID() / a.parts, part = GROUP_ID() - group * a.parts;")
        c("const int64_t element = group * per_group + which;")
        c("state mine;", "mine.begun = 0;", *(f"int64_t in{k} = a.at[{k}];" for k in range(nin)))
        with c.block("if (element < a.n)"):
            c("int64_t left = element;")
            _walk(c, "kept", [f"in{k} += i * a.in[{k}][0][d];" for k in range(nin)], ndim)
            with c.block("for (int64_t t = part * lanes + lane; t < a.count; t += lanes * a.parts)"):
                c("left = t;", *(f"int64_t at{k} = in{k};" for k in range(nin)))
                _walk(c, "terms", [f"at{k} += i * a.in[{k}][1][d];" for k in range(nin)], ndim)
                _write_term(c, nest, inputs, body)
        c("shared[me] = mine;")
        c("const int apart = a.neighbours ? 1 : per_group;")
        with c.block("for (int half_of = lanes / 2; half_of > 0; half_of /= 2)"):
            c("BARRIER();")
            with c.block("if (lane < half_of)"):
                c("shared[me] = mine = joined(mine, shared[me + half_of * apart]);")
        with c.block("if (lane == 0 && element < a.n)"):
            if name == "whole":
                _write_results(c, nest, "mine", "element", nin)
            else:
                c(f"GLOBAL char *to = p{nin} + a.at[{nin}] + (part * a.n + element) * {accumulator_bytes(nest)};")
                for k, r in enumerate(nest.results):
                    c(f"*(GLOBAL {compute_type(r.accumulator)} *)(to + {_slot(nest) * k}) = mine.a{k};")


def _walk(c: CText, table: str, steps: Sequence[str], ndim: int) -> None:
    """Write the walk from a number to an index along each axis of a table; the number is in ``left``."""
    if not ndim:
        return
    with c.block(f"for (int d = (int)a.n{table} - 1; d >= 0; --d)"):
        c(f"const int64_t rest = d ? left / a.{table}[d] : 0, i = left - rest * a.{table}[d];", *steps, "left = rest;")


def _write_term(c: CText, nest: Reduction, inputs: _Inputs, body: Body) -> None:
    for k, x in enumerate(inputs.there):
        _read(c, x, f"p{k} + at{k}", body)
    for k, r in enumerate(nest.results):
        c(f"{compute_type(r.term)} t{k}_i;")
    c.extend(body.lines)
    c("state next;", "next.begun = 1;")
    for k, r in enumerate(nest.results):
        c(f"next.a{k} = {convert(f't{k}_i', r.term, r.accumulator)};")
    c("mine = joined(mine, next);")


def _write_results(c: CText, nest: Reduction, state: str, element: str, first: int) -> None:
    """Write the accumulators of an element into the results; those that no term was taken into have the identity."""
    for k, r in enumerate(nest.results):
        if not r.needs_terms:
            c(f"{state}.a{k} = {state}.begun ? {state}.a{k} : {literal(r.combine.identity, r.accumulator)};")
    nout = len(nest.results)
    c(*(f"int64_t to{k} = a.at[{first + k}];" for k in range(nout)), f"int64_t rest_of = {element};")
    if nest.ndim:
        with c.block("for (int d = (int)a.nkept - 1; d >= 0; --d)"):
            c("const int64_t rest = d ? rest_of / a.kept[d] : 0, i = rest_of - rest * a.kept[d];")
            c(*(f"to{k} += i * a.out[{k}][d];" for k in range(nout)), "rest_of = rest;")
    for k, r in enumerate(nest.results):
        given = convert(f"{state}.a{k}", r.accumulator, r.dtype)
        c(store(r.dtype, f"*(GLOBAL {c_type(r.dtype)} *)(p{first + k} + to{k})", given))


def _write_finish(c: CText, nest: Reduction) -> None:
    nout, ndim = len(nest.results), nest.ndim
    tables = _tables(f"kept[{ndim}]", f"out[{nout}][{ndim}]", ndim=ndim)
    _struct(c, "finish_args", 1 + nout, ["int64_t n", "int64_t parts", "int64_t nkept", *tables])
    with _function(c, "finish", 1 + nout):
        c("const int64_t element = GLOBAL_ID();", "if (element >= a.n)", "    return;")
        c("state mine;", "mine.begun = 0;")
        with c.block("for (int64_t part = 0; part < a.parts; ++part)"):
            c(f"GLOBAL const char *from = p0 + a.at[0] + (part * a.n + element) * {accumulator_bytes(nest)};")
            c("state next;", "next.begun = 1;")
            for k, r in enumerate(nest.results):
                c(f"next.a{k} = *(GLOBAL const {compute_type(r.accumulator)} *)(from + {_slot(nest) * k});")
            c("mine = joined(mine, next);")
        _write_results(c, nest, "mine", "element", 1)
