"""Reductions as text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from theano.codegen.text import CText
from theano.gpuarray.dialect import in_dialect, is_foreign
from theano.gpuarray.writer.parts import (
    MOST_LINES,
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
from theano.scalar.c import support
from theano.scalar.cbody import names_of_blocks
from theano.scalar.ctypes import c_type, compute_type, convert, literal, store
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.nest import Reduction, Result

#: The functions in the program of a reduction, which may have one more.
REDUCTION_FUNCTIONS = ("terms", "finish")
COLUMNS = "columns"

_MOST_IN_FLIGHT = 8  # terms that a work-item reads before it adds one


def reduction_code(nest: Reduction, hosts: Collection[int] = ()) -> DeviceCode | None:
    """Return a reduction: of terms, all or in parts, and of what the parts left; ``hosts`` as for `map_code`."""
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
    found = blocks_of(dtypes, body, extra)
    if found is None or is_foreign(blocks):
        return None
    c, operands = CText(), split(nest.inputs, hosts)
    many = _in_flight(operands, body)
    width = min(pack_of(operands.there, body), many) if operands.there else 1
    _write_accumulators(c, nest)
    write_pack_types(c, operands.there, width)
    packs = _packs_in_flight(nest, operands, body, width)
    size = _write_terms(c, nest, operands, body, many, width)
    if packs:
        _write_columns(c, nest, operands, body, packs, width)
    _write_finish(c, nest)
    return DeviceCode(in_dialect("".join(found) + str(combines) + str(c)), body.params, size, width, packs > 0)


def accumulator_bytes(nest: Reduction) -> int:
    """Return the bytes of the accumulators of one element; each has as many as the widest, so that all are aligned."""
    return _slot(nest) * len(nest.results)


def _slot(nest: Reduction) -> int:
    return max(8, *(size_of(r.accumulator) for r in nest.results))


def _step(result: Result) -> Any:
    """Return the statements that take the term v into the accumulator a, or None if they have no form in C."""
    if not result.needs_terms and result.neutral is None:
        return None
    acc = result.accumulator
    return result.combine.c_statements(["a", "v"], [acc, acc], ["a"], [acc])


def _write_accumulators(c: CText, nest: Reduction) -> None:
    """Write the struct of what one work-item has taken together, and how two of them become one.

    `combined` is of two that have begun, `joined` of any two: choices between values, since branches would keep the
    loads of other terms waiting.
    """
    c("typedef struct {")
    for k, r in enumerate(nest.results):
        c(f"    {compute_type(r.accumulator)} a{k};")
    c("    int begun;", "} state;", "")
    with c.block("TH_INLINE state combined(const state x, const state y)"):
        c("state z = x;")
        for k in range(len(nest.results)):
            c(f"z.a{k} = combine{k}(x.a{k}, y.a{k});")
        c("return z;")
    with c.block("TH_INLINE state joined(const state x, const state y)"):
        c("const state both = combined(x, y);", "state z;")
        for k in range(len(nest.results)):
            c(f"z.a{k} = !y.begun ? x.a{k} : !x.begun ? y.a{k} : both.a{k};")
        c("z.begun = x.begun || y.begun;", "return z;")
    c("")


def _in_flight(inputs: Inputs, body: Body) -> int:
    """Return how many terms a work-item reads before it takes them together: loads of memory take long."""
    terms = _MOST_IN_FLIGHT
    while terms > 1 and (terms * len(inputs.there) > 2 * _MOST_IN_FLIGHT or terms * len(body.lines) > MOST_LINES):
        terms //= 2
    return terms


def _packs_in_flight(nest: Reduction, inputs: Inputs, body: Body, width: int) -> int:
    """Return how many packs of neighbouring elements' terms a work-item reads before it takes them; 0: none at all."""
    packs = _MOST_IN_FLIGHT // 2
    while packs > 1 and (
        packs * len(inputs.there) > _MOST_IN_FLIGHT or packs * width > 2 * _MOST_IN_FLIGHT
        or packs * width * len(body.lines) > MOST_LINES
    ):  # fmt: skip
        packs //= 2
    return packs if packs > 1 and width > 1 and len(nest.axes) < nest.ndim else 0


def _write_terms(c: CText, nest: Reduction, inputs: Inputs, body: Body, many: int, width: int) -> int:
    """Write the function that takes terms together: all of an element, into the results, or some into accumulators.

    Returns the bytes of its struct.
    """
    nin, nout, ndim = len(inputs.there), len(nest.results), max(nest.ndim, 1)
    count = nin + nout + 1
    numbers = ("n", "count", "lane_bits", "part_bits", "neighbours", "packed", "nkept", "nterms")
    fields: dict[str, tuple[int, ...]] = {**dict.fromkeys(numbers, ()), "kept": (ndim,), "terms": (max(ndim, 2),)}
    fields |= {"in": (nin, 2, max(ndim, 2))} if nin else {}  # C has no empty arrays
    size = write_struct(c, "terms_args", count, {**fields, "out": (nout, ndim)}, inputs, body)
    with function(c, "terms", count, inputs, body):
        _write_place(c, nin)
        c("state mine;", "mine.begun = 0;")
        with c.block("if (element < a.n && first < a.count)"):
            _write_first_term(c, nin, short=False)
            if width > 1:
                with c.block("if (a.packed)"):
                    _write_packed_loop(c, nest, inputs, body, many, width)
                c("else")
            with c.block("if (a.nterms < 3 && a.count <= 1 << 30)"):
                _write_fast_loop(c, nest, inputs, body, many)
            with c.block("else"):
                _write_plain_loop(c, nest, inputs, body)
        _write_tree(c, "a.neighbours ? 1 : per_group")
        with c.block("if (lane == 0 && element < a.n)"):
            _write_what_was_taken(c, nest, nin)
    return size


def _write_columns(c: CText, nest: Reduction, inputs: Inputs, body: Body, packs: int, width: int) -> None:
    """Write the function for results whose terms are neighbours in memory: `terms`, of packs of results.

    It is a function of its own, since it needs more registers.
    """
    nin = len(inputs.there)
    with function(c, COLUMNS, nin + len(nest.results) + 1, inputs, body, "terms_args"):
        _write_place(c, nin)
        c(f"state taken[{width}];", "UNROLL", f"for (int v = 0; v < {width}; ++v)", "    taken[v].begun = 0;")
        with c.block("if (element < a.n && first < a.count)"):
            _write_first_term(c, nin, short=True)
            c(*(f"const int apart{k} = a.in[{k}][0][a.nkept - 1] != 0;" for k in _wanted(inputs, body)))
            _write_fast_loop(c, nest, inputs, body, packs, width)
        c("LOOP")
        with c.block(f"for (int v = 0; v < {width}; ++v)"):
            c("state mine = taken[0];", "UNROLL", f"for (int u = 1; u < {width}; ++u)")
            c("    mine = u == v ? taken[u] : mine;")  # registers have no index
            _write_tree(c, "per_group")
            with c.block("if (lane == 0 && element < a.n)"):
                _write_what_was_taken(c, nest, nin, width)
            c("BARRIER();")  # before others of the group write into what the first lanes read


def _write_place(c: CText, nin: int) -> None:
    """Write which terms of which element a work-item takes."""
    c("LOCAL state shared[256];")
    c("const int lane_bits = (int)a.lane_bits, lanes = 1 << lane_bits, which_bits = 8 - lane_bits;")
    c("const int per_group = 1 << which_bits, me = LOCAL_ID();")
    c("const int lane = a.neighbours ? me & (lanes - 1) : me >> which_bits;")
    c("const int which = a.neighbours ? me >> lane_bits : me & (per_group - 1);")
    c("const int parts = 1 << (int)a.part_bits, group = (int)GROUP_ID() >> (int)a.part_bits;")
    c("const int part = (int)GROUP_ID() & (parts - 1), first = part << lane_bits | lane;")
    c("const int step_bits = lane_bits + (int)a.part_bits, step = 1 << step_bits;")
    c("const int64_t element = ((int64_t)group << which_bits) + which;")
    c(*(f"int64_t in{k} = a.at[{k}];" for k in range(nin)))


def _write_first_term(c: CText, nin: int, short: bool) -> None:
    """Write where the terms of the element begin, and how many a work-item takes; ``short`` as for `write_walk`."""
    c("int left = (int)element;" if short else "int64_t left = element;")
    write_walk(c, "a.kept", "a.nkept", [f"in{k} += i * a.in[{k}][0][d];" for k in range(nin)], short)
    c("const int few = (int)((a.count - first + step - 1) >> step_bits);")


def _write_what_was_taken(c: CText, nest: Reduction, nin: int, width: int = 1) -> None:
    """Write what a group took together: into the results, or, where it is a part, into accumulators.

    Where ``width`` is more than 1, it is of element ``v`` in a pack of this width.
    """
    last, place = nin + len(nest.results), "part * a.n + element"
    place = f"({place}) * {width} + v" if width > 1 else place
    with c.block("if (parts == 1)"):
        _write_results(c, nest, "mine", "element", nin, width)
    with c.block("else"):
        c(f"GLOBAL char *to = p{last} + a.at[{last}] + ({place}) * {accumulator_bytes(nest)};")
        for k, r in enumerate(nest.results):
            c(f"*(GLOBAL {compute_type(r.accumulator)} *)(to + {_slot(nest) * k}) = mine.a{k};")


def _wanted(inputs: Inputs, body: Body) -> list[int]:
    return [k for k, x in enumerate(inputs.there) if is_read(x, body)]


def _write_packed_loop(c: CText, nest: Reduction, inputs: Inputs, body: Body, many: int, width: int) -> None:
    """Write the loop over terms that are neighbours, or stand still, in all inputs: packs of them are counted."""
    read, packs = _wanted(inputs, body), many // width
    for k in read:
        c(f"int64_t at{k} = in{k} + first * {width} * a.in[{k}][1][0];")
        c(f"const int64_t next{k} = step * {width} * a.in[{k}][1][0], apart{k} = a.in[{k}][1][0];")
    with c.block(f"for (int left_of = few; left_of > 0; left_of -= {packs})"):
        c(*(f"{pack_type(inputs.there[k].dtype)} read{k}[{packs}];" for k in read))
        c("UNROLL")
        with c.block(f"for (int e = 0; e < {packs}; ++e)"):
            for k in read:
                _write_pack_read(c, inputs, k, width)
                c(f"at{k} += next{k};")
        places = [f"read{k}[e / {width}].v[e % {width}]" for k in range(len(inputs.there))]
        _write_some(c, nest, inputs, body, many, places, f"e / {width} < left_of")


def _write_pack_read(c: CText, inputs: Inputs, k: int, width: int) -> None:
    """Write how an input's pack is read: at once, or, if its elements are not ``apart``, from one place.

    Those of a sole input are apart.
    """
    dtype, place = inputs.there[k].dtype, f"p{k} + (e < left_of ? at{k} : in{k})"
    at_once = f"read{k}[e] = *(GLOBAL const {pack_type(dtype)} *)({place});"
    if len(inputs.there) == 1:
        c(at_once)
        return
    with c.block(f"if (apart{k})"):
        c(at_once)
    with c.block("else"):
        c("UNROLL", f"for (int v = 0; v < {width}; ++v)", f"    read{k}[e].v[v] = {at(dtype, place)};")


def _write_fast_loop(c: CText, nest: Reduction, inputs: Inputs, body: Body, many: int, width: int = 1) -> None:
    """Write the loop over terms along two axes at most: several are read, then they are taken together.

    From one term to the next there are additions only: ``by`` elements along the last axis, and where that ends, back
    to its start and one along the first. Past the last term the first one of the element is read again, and not taken.
    Where ``width`` is more than 1, it reads packs of the terms of as many elements.
    """
    there, read = range(len(inputs.there)), _wanted(inputs, body)
    c("const int last = a.nterms > 1, length = (int)a.terms[last];")
    c("const int outer = last ? (int)first / length : 0, ahead = last ? (int)step / length : 0;")
    c("const int by = (int)step - ahead * length;", "int inner = (int)first - outer * length;")
    for k in read:
        c(f"const int64_t first{k} = last ? a.in[{k}][1][0] : 0, last{k} = a.in[{k}][1][last];")
        c(f"const int64_t next{k} = ahead * first{k} + by * last{k}, wrap{k} = next{k} + first{k} - length * last{k};")
        c(f"int64_t at{k} = in{k} + outer * first{k} + inner * last{k};")
    with c.block(f"for (int left_of = few; left_of > 0; left_of -= {many})"):
        kind = c_type if width == 1 else pack_type
        c(*(f"{kind(inputs.there[k].dtype)} read{k}[{many}];" for k in read))
        c("UNROLL")
        with c.block(f"for (int e = 0; e < {many}; ++e)"):
            for k in read:
                dtype = inputs.there[k].dtype
                if width > 1:
                    _write_pack_read(c, inputs, k, width)
                else:
                    c(f"read{k}[e] = {at(dtype, f'p{k} + (e < left_of ? at{k} : in{k})')};")
            c("inner += by;", "const int ends = inner >= length;", "inner -= ends ? length : 0;")
            c(*(f"at{k} += ends ? wrap{k} : next{k};" for k in read))
        if width == 1:
            _write_some(c, nest, inputs, body, many, [f"read{k}[e]" for k in there], "e < left_of")
            return
        c("UNROLL")
        with c.block(f"for (int v = 0; v < {width}; ++v)"):
            _write_some(c, nest, inputs, body, many, [f"read{k}[e].v[v]" for k in there], "e < left_of", "taken[v]")


def _write_plain_loop(c: CText, nest: Reduction, inputs: Inputs, body: Body) -> None:
    """Write the loop over terms along any number of axes."""
    there = range(len(inputs.there))
    with c.block("for (int64_t t = first; t < a.count; t += step)"):
        c("left = t;", *(f"int64_t at{k} = in{k};" for k in there))
        write_walk(c, "a.terms", "a.nterms", [f"at{k} += i * a.in[{k}][1][d];" for k in there])
        _write_term(c, nest, inputs, body, [at(inputs.there[k].dtype, f"p{k} + at{k}") for k in there])
        c("next.begun = 1;", "mine = joined(mine, next);")


def _write_some(
    c: CText, nest: Reduction, inputs: Inputs, body: Body, many: int, places: Sequence[str], is_there: str,
    before: str = "mine",
) -> None:  # fmt: skip
    """Write how terms that were read are taken together, and with those before; ``is_there`` says which there are."""
    c("state some;", "UNROLL")
    with c.block(f"for (int e = 0; e < {many}; ++e)"):
        _write_term(c, nest, inputs, body, places)
        c(f"next.begun = {is_there};", "some = e == 0 ? next : joined(some, next);")
    c(f"{before} = joined({before}, some);")


def _write_term(c: CText, nest: Reduction, inputs: Inputs, body: Body, places: Sequence[str]) -> None:
    """Write how a term is made of inputs at some places, into ``next``."""
    for x, place in zip(inputs.there, places, strict=True):
        write_read(c, x, place, body)
    for k, r in enumerate(nest.results):
        c(f"{compute_type(r.term)} t{k}_i;")
    c.extend(body.lines)
    c("state next;")
    for k, r in enumerate(nest.results):
        c(f"next.a{k} = {convert(f't{k}_i', r.term, r.accumulator)};")


def _write_tree(c: CText, apart: str) -> None:
    """Write how the lanes of each element are taken together; the first one has the result."""
    c("shared[me] = mine;", f"const int apart = {apart};")
    with c.block("for (int half_of = lanes / 2; half_of > 0; half_of /= 2)"):
        c("BARRIER();")
        with c.block("if (lane < half_of)"):
            c("shared[me] = mine = joined(mine, shared[me + half_of * apart]);")


def _write_results(c: CText, nest: Reduction, state: str, element: str, first: int, width: int = 1) -> None:
    """Write the accumulators of an element into the results; those that no term was taken into have the identity.

    Where ``width`` is more than 1, it is element ``v`` in a pack of this width.
    """
    for k, r in enumerate(nest.results):
        if not r.needs_terms:
            c(f"{state}.a{k} = {state}.begun ? {state}.a{k} : {literal(r.neutral, r.accumulator)};")
    nout = len(nest.results)
    for k in range(nout):
        beyond = f" + v * (a.out[{k}][a.nkept - 1] / {width})" if width > 1 else ""
        c(f"int64_t to{k} = a.at[{first + k}]{beyond};")
    c(f"int left = (int){element};" if width > 1 else f"int64_t left = {element};")
    write_walk(c, "a.kept", "a.nkept", [f"to{k} += i * a.out[{k}][d];" for k in range(nout)], short=width > 1)
    for k, r in enumerate(nest.results):
        given = convert(f"{state}.a{k}", r.accumulator, r.dtype)
        c(store(r.dtype, f"*(GLOBAL {c_type(r.dtype)} *)(p{first + k} + to{k})", given))


def _write_finish(c: CText, nest: Reduction) -> None:
    """Write the function that takes the accumulators of all parts of an element together."""
    nout, ndim = len(nest.results), max(nest.ndim, 1)
    fields = {"n": (), "lane_bits": (), "parts": (), "nkept": (), "kept": (ndim,), "out": (nout, ndim)}
    write_struct(c, "finish_args", 1 + nout, fields)
    with function(c, "finish", 1 + nout):
        c("LOCAL state shared[256];")
        c("const int lanes = 1 << (int)a.lane_bits, which_bits = 8 - (int)a.lane_bits, per_group = 1 << which_bits;")
        c("const int me = LOCAL_ID(), lane = me >> which_bits, which = me & (per_group - 1);")
        c("const int64_t element = (GROUP_ID() << which_bits) + which;")
        c("state mine;", "mine.begun = 0;")
        with c.block("for (int64_t part = lane; element < a.n && part < a.parts; part += lanes)"):
            c(f"GLOBAL const char *from = p0 + a.at[0] + (part * a.n + element) * {accumulator_bytes(nest)};")
            c("state next;", "next.begun = 1;")
            for k, r in enumerate(nest.results):
                c(f"next.a{k} = *(GLOBAL const {compute_type(r.accumulator)} *)(from + {_slot(nest) * k});")
            c("mine = joined(mine, next);")
        _write_tree(c, "per_group")
        with c.block("if (lane == 0 && element < a.n)"):
            _write_results(c, nest, "mine", "element", 1)
