"""The fake target's writer: plain loop nests in C, from the same descriptions as the CPU's.

A kernel has two parts, as one for a real device has: what the host does (shapes, outputs) and a function that is
launched, which is given lengths, strides, addresses and constants and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from theano.codegen.text import CText
from theano.graph.kernel import Kernel
from theano.scalar.c import support
from theano.scalar.cbody import names_of_blocks
from theano.scalar.ctypes import c_type, compute_type, convert, literal, load, storage_support, store
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.common import c_text, title
from theano.tensor.kernels.nest import Map, Operand, Reduction, Result, map_of, reduction_of
from theano.tensor.kernels.parameters import Constants

_ADDRESSES = "#define TH_THERE(p) ((char *)((uintptr_t)(p) ^ ((uintptr_t)1 << 52)))\n"


def map_kernel(op: Any, node: Any) -> Kernel | None:
    """Return the elements of the outputs from those of the inputs at the same place."""
    nest = map_of(node)
    names = [f"{x.name}_i" for x in nest.inputs], [f"{y.name}_i" for y in nest.outputs]
    body = body_of(nest.function, names[0], [x.dtype for x in nest.inputs], names[1], [y.dtype for y in nest.outputs])
    if body is None:
        return None
    c = CText()
    with _launched(c, body), _loops(c, range(nest.ndim)):
        for k, x in enumerate(nest.inputs):
            _read(c, k, x, range(nest.ndim), body)
        for y in nest.outputs:
            c(f"{compute_type(y.dtype)} {y.name}_i;")
        c.extend(body.lines)
        for k, y in enumerate(nest.outputs, len(nest.inputs)):
            c(store(y.dtype, _place(k, y.dtype, range(nest.ndim)), f"{y.name}_i"))
    _write_host_of_map(c, nest)
    dtypes = [o.dtype for o in nest.operands]
    return Kernel(title(op, node), str(c), _support(dtypes, body), Constants(numbers=body.params), 1.0)


def reduction_kernel(op: Any, node: Any) -> Kernel | None:
    """Return what the terms along some axes give when they are combined, one after the other."""
    nest = reduction_of(node)
    if nest is None:
        return None
    terms = [r.term for r in nest.results]
    body = body_of(
        nest.function, [f"{x.name}_i" for x in nest.inputs], [x.dtype for x in nest.inputs],
        [f"t{k}_i" for k in range(len(terms))], terms,
    )  # fmt: skip
    steps = [_step(r) for r in nest.results]
    if body is None or any(step is None for step in steps):
        return None
    blocks: list[str] = []
    kept = [axis for axis in range(nest.ndim) if axis not in nest.axes]
    c = CText()
    with _launched(c, body), _loops(c, kept):
        for k, r in enumerate(nest.results):
            start = "0" if r.needs_terms else literal(r.neutral, r.accumulator)
            c(f"{compute_type(r.accumulator)} a{k} = {start};", f"int begun{k} = {int(not r.needs_terms)};")
        with _loops(c, nest.axes):
            for k, x in enumerate(nest.inputs):
                _read(c, k, x, range(nest.ndim), body)
            for k, r in enumerate(nest.results):
                c(f"{compute_type(r.term)} t{k}_i;")
            c.extend(body.lines)
            for k, (r, step) in enumerate(zip(nest.results, steps, strict=True)):
                ctype, taken = compute_type(r.accumulator), convert(f"t{k}_i", r.term, r.accumulator)
                blocks += [taken, *step.lines]
                with c.block():
                    c(f"const {ctype} v = {taken};", f"{ctype} a = a{k};")
                    with c.block(f"if (begun{k})"):
                        c.extend(step.lines)
                    with c.block("else"):
                        c("a = v;", f"begun{k} = 1;")
                    c(f"a{k} = a;")
        for k, r in enumerate(nest.results):
            given = convert(f"a{k}", r.accumulator, r.dtype)
            blocks.append(given)
            place = _place(len(nest.inputs) + k, r.dtype, range(len(kept)), [f"i{axis}" for axis in kept])
            c(store(r.dtype, place, given))
    _write_host_of_reduction(c, nest, kept)
    dtypes = [*(x.dtype for x in nest.inputs), *(r.dtype for r in nest.results)]
    extra = (*support(names_of_blocks("\n".join(blocks))), *(text for step in steps if step for text in step.support))
    return Kernel(title(op, node), str(c), (*_support(dtypes, body), *dict.fromkeys(extra)), Constants(numbers=body.params), 1.0)


def _step(result: Result) -> Any:
    """Return the statements that take the term v into the accumulator a, or None if they have no form in C."""
    if not result.needs_terms and result.combine.identity is None:
        return None
    acc = result.accumulator
    return result.combine.c_statements(["a", "v"], [acc, acc], ["a"], [acc])


def _support(dtypes: Sequence[str], body: Body) -> tuple[str, ...]:
    return (c_text("loops.h"), _ADDRESSES, *dict.fromkeys((*storage_support(*dtypes), *body.support)))


# -- what is launched -------------------------------------------------------------------------------------------------


@contextmanager
def _launched(c: CText, body: Body) -> Iterator[None]:
    c("static void KERNEL_launched(const int64_t *n, char *const *p, int64_t (*const step)[TH_MAX_NDIM], const char *params)")
    with c.block():
        c("(void)n, (void)step;")
        c.extend(body.declarations("params") or ["(void)params;"])
        yield
    c("")


@contextmanager
def _loops(c: CText, axes: Sequence[int]) -> Iterator[None]:
    with ExitStack() as open_loops:
        for d in axes:
            open_loops.enter_context(c.block(f"for (int64_t i{d} = 0; i{d} < n[{d}]; ++i{d})"))
        yield


def _place(k: int, dtype: str, axes: Sequence[int], index: Sequence[str] = ()) -> str:
    index = index or [f"i{d}" for d in axes]
    offset = "".join(f" + {i} * step[{k}][{d}]" for i, d in zip(index, axes, strict=True))
    return f"*({c_type(dtype)} *)(p[{k}]{offset})"


def _read(c: CText, k: int, x: Operand, axes: Sequence[int], body: Body) -> None:
    if f"{x.name}_i" in body.words:
        c(f"const {compute_type(x.dtype)} {x.name}_i = {load(x.dtype, _place(k, x.dtype, axes))};")


# -- what the host does -----------------------------------------------------------------------------------------------


def _write_host_of_map(c: CText, nest: Map) -> None:
    kinds = {"some": "TH_SOME", "none": "TH_INVARIANT", "all": "TH_FULL"}
    _write_loop_table(c, nest.inputs, [kinds[nest.moves(x)] for x in nest.inputs], nest.over, nest.ndim)
    with c.block("int KERNEL(th_ctx *ctx)"):
        c("if (ctx->rt->size_outputs(ctx, &KERNEL_loop))", "    return -1;")
        _write_launch(c, nest.inputs, len(nest.outputs), nest.ndim, "ctx->out[0]->shape")


def _write_host_of_reduction(c: CText, nest: Reduction, kept: Sequence[int]) -> None:
    _write_loop_table(c, nest.inputs, ["TH_SOME" for _ in nest.inputs], [], nest.ndim)
    with c.block("int KERNEL(th_ctx *ctx)"):
        c("if (ctx->rt->size_outputs(ctx, &KERNEL_loop))", "    return -1;")
        c(f"int64_t n[{nest.ndim} + 1] = {{0}}, kept[{len(kept)} + 1] = {{0}}, left = 1, terms = 1;")
        for d in range(nest.ndim):
            long = [k for k, x in enumerate(nest.inputs) if not x.broadcastable[d]]
            c(f"n[{d}] = {f'ctx->in[{long[0]}]->shape[{d}]' if long else 1};")
            c(f"terms *= n[{d}];" if d in nest.axes else f"left *= kept[{kept.index(d)}] = n[{d}];")
        for k, r in enumerate(nest.results):
            c(f"if (ctx->rt->ensure(ctx, ctx->out[{k}], kept))", "    return -1;")
            if r.needs_terms:
                c("if (terms == 0 && left > 0)")
                message = f"zero-size array to reduction operation {r.combine}, which has no identity"
                c(f'    return ctx->rt->fail(ctx, TH_ERR_VALUE, "{message}");')
        _write_launch(c, nest.inputs, len(nest.results), nest.ndim, "n")


def _write_loop_table(
    c: CText, inputs: Sequence[Operand], kinds: Sequence[str], over: Sequence[int], ndim: int
) -> None:
    c(f"static const uint64_t KERNEL_ones[] = {{{', '.join(f'{x.ones:#x}' for x in inputs)}}};")
    c(f"static const uint8_t KERNEL_kind[] = {{{', '.join(kinds)}}};")
    c(f"static const int32_t KERNEL_over[] = {{{', '.join(map(str, over)) or '-1'}}};")
    c(f"static const th_loop KERNEL_loop = {{NULL, KERNEL_ones, KERNEL_kind, KERNEL_over, 1.0, {len(inputs)}, {len(over)}, {ndim}, 1}};")


def _write_launch(c: CText, inputs: Sequence[Operand], nout: int, ndim: int, shape: str) -> None:
    count = len(inputs) + nout
    c(f"char *p[{count}];", f"int64_t step[{count}][TH_MAX_NDIM];")
    for k in range(count):
        side, i = ("in", k) if k < len(inputs) else ("out", k - len(inputs))
        c(f"p[{k}] = TH_THERE(ctx->{side}[{i}]->data);")
        with c.block(f"for (int d = 0; d < ctx->{side}[{i}]->ndim; ++d)"):
            ones = f"(KERNEL_ones[{k}] >> d & 1) ? 0 : " if k < len(inputs) else ""
            c(f"step[{k}][d] = {ones}ctx->{side}[{i}]->strides[d];")
    c(f"KERNEL_launched({shape}, p, step, ctx->params);", "return 0;")
