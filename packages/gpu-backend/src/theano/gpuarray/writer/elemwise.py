"""Element-wise loops as text."""

from __future__ import annotations

from collections.abc import Collection

from theano.codegen.text import CText
from theano.gpuarray.dialect import in_dialect
from theano.gpuarray.writer.parts import (
    DeviceCode,
    Inputs,
    at,
    blocks_of,
    function,
    is_read,
    pack_of,
    pack_type,
    size_of,
    split,
    write_pack_types,
    write_read,
    write_struct,
    write_walk,
)
from theano.scalar.ctypes import c_type, compute_type, store
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.nest import Map

#: The functions in the program of an element-wise loop.
MAP_FUNCTIONS = ("rows", "strided")

_TILING = 2  # axes more than the loop has, where elements are walked in tiles: TH_GPU_TILING of gpu.h


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
    blocks = None if body is None else blocks_of([o.dtype for o in nest.operands], body)
    if body is None or blocks is None:
        return None
    inputs = split(nest.inputs, hosts)
    c, operands, ndim = CText(), [*inputs.there, *nest.outputs], nest.ndim + _TILING if nest.ndim > 1 else 1
    count, pack = len(operands), pack_of(operands, body)
    fields: dict[str, tuple[int, ...]] = {**dict.fromkeys(("n", "axes", "last", "packs"), ()), "shape": (ndim,)}
    fields |= {"stride": (count, ndim), "along": (count,)}
    size = write_struct(c, "map_args", count, fields, inputs, body)
    write_pack_types(c, operands, pack)
    with function(c, "rows", count, inputs, body, "map_args"):
        _start(c, count)
        _write_packs(c, nest, inputs, body, pack)
    with function(c, "strided", count, inputs, body, "map_args"):
        _start(c, count)
        for k, x in enumerate(inputs.there):
            write_read(c, x, at(x.dtype, f"p{k} + at{k}"), body)
        _compute(c, nest, body)
        for k, y in enumerate(nest.outputs, start=len(inputs.there)):
            c(store(y.dtype, f"*(GLOBAL {c_type(y.dtype)} *)(p{k} + at{k})", f"{y.name}_i"))
    return DeviceCode(in_dialect("".join(blocks) + str(c)), body.params, size, pack)


def _start(c: CText, count: int) -> None:
    """Write the start of a function of an element-wise loop: where the operands of a work-item are."""
    c("int64_t left = GLOBAL_ID();", "if (left >= a.n)", "    return;")
    c(*(f"int64_t at{k} = a.at[{k}];" for k in range(count)))
    write_walk(c, "a.shape", "a.axes", [f"at{k} += i * a.stride[{k}][d];" for k in range(count)])


def _compute(c: CText, nest: Map, body: Body) -> None:
    for y in nest.outputs:
        c(f"{compute_type(y.dtype)} {y.name}_i;")
    c.extend(body.lines)


def _write_packs(c: CText, nest: Map, inputs: Inputs, body: Body, pack: int) -> None:
    """Write what reads packs, computes their elements and writes packs.

    ``a.last`` is how many the last pack has, the mask ``a.packs`` says which inputs are packed. The elements of
    others are read one by one, ``a.along`` apart.
    """
    first = len(inputs.there)
    c(f"const int many = GLOBAL_ID() + 1 < a.n ? {pack} : (int)a.last;")
    for k, x in enumerate(inputs.there):
        if not is_read(x, body):
            continue
        kind = pack_type(x.dtype)
        c(f"{kind} pack{k};")
        with c.block(f"if (a.packs >> {k} & 1 && many == {pack})"):
            c(f"pack{k} = *(GLOBAL const {kind} *)(p{k} + at{k});")
        with c.block("else"):  # its own elements only; past the last one, that again
            c("UNROLL", f"for (int e = 0; e < {pack}; ++e)")
            place = f"p{k} + at{k} + (e < many ? e : many - 1) * a.along[{k}]"
            c(f"    pack{k}.v[e] = {at(x.dtype, place)};")
    for k, y in enumerate(nest.outputs, start=first):
        c(f"{pack_type(y.dtype)} pack{k};")
    c("UNROLL")
    with c.block(f"for (int e = 0; e < {pack}; ++e)"):
        for k, x in enumerate(inputs.there):
            write_read(c, x, f"pack{k}.v[e]", body)
        _compute(c, nest, body)
        for k, y in enumerate(nest.outputs, start=first):
            c(store(y.dtype, f"pack{k}.v[e]", f"{y.name}_i"))
    for k, y in enumerate(nest.outputs, start=first):
        kind, step = pack_type(y.dtype), size_of(y.dtype)
        with c.block(f"if (many == {pack})"):
            c(f"*(GLOBAL {kind} *)(p{k} + at{k}) = pack{k};")
        with c.block("else"):
            c("UNROLL", f"for (int e = 0; e < {pack}; ++e)", "    if (e < many)")
            c(f"        *(GLOBAL {c_type(y.dtype)} *)(p{k} + at{k} + e * {step}) = pack{k}.v[e];")
