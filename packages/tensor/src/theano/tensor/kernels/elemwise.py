"""Element-wise kernels: one loop nest for any scalar operation over any broadcast inputs.

The generated C has two innermost loops, ``_dense`` (every operand either runs contiguously or stands still)
and ``_strided`` (anything else), and one driver that checks shapes, sizes the outputs, makes the loop nest as
short as it can be and chooses between the two. Which operands stand still in the dense loop is known from the
types, so they are loaded once, before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from theano.codegen.kernel import Kernel
from theano.codegen.text import CText
from theano.graph.apply import Apply
from theano.scalar.ctypes import c_type, compute_type, load, storage_support, store
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.common import c_text, dtypes_of, ndim_of, pattern_of, title

# Operations on one vector register, and calls of functions, in nanoseconds per element: enough to choose
# between one thread and several.
_LINE_NS = 0.1
_SUPPORT_NS = 0.8
_MARGIN = 100


@dataclass(frozen=True)
class _Operand:
    """One input or output of the loop."""

    name: str
    dtype: str
    broadcastable: tuple[bool, ...]
    index: int  # among the inputs or among the outputs
    is_output: bool
    still: bool  # does not move in the innermost loop, by its type

    @property
    def pointer(self) -> str:
        return f"{'' if self.is_output else 'const '}{c_type(self.dtype)} *{self.name}"


@dataclass(frozen=True)
class _Plan:
    """What the types of a node say about its loop."""

    ndim: int
    operands: tuple[_Operand, ...]  # inputs, then outputs
    in_place: dict[int, int]  # output -> input whose memory it takes
    flat: bool  # every input has either the output's shape or one element
    body: Body
    comment: str

    @property
    def inputs(self) -> tuple[_Operand, ...]:
        return tuple(o for o in self.operands if not o.is_output)

    @property
    def outputs(self) -> tuple[_Operand, ...]:
        return tuple(o for o in self.operands if o.is_output)

    @property
    def work(self) -> float:
        """Estimated nanoseconds per element."""
        return 0.2 + _LINE_NS * len(self.body.lines) + _SUPPORT_NS * min(len(self.body.support), 12) * 0.5


def elemwise_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the C form of an element-wise node.

    Parameters
    ----------
    op : Elemwise
        ``scalar_op`` and ``inplace_pattern`` (output to input) are read.
    node : Apply
        All inputs have the dimensions of the outputs.

    Returns
    -------
    Kernel or None
        None where the scalar operation has no C form for these dtypes.
    """
    plan = _plan(op, node)
    if plan is None:
        return None
    c = CText()
    c.comment(plan.comment)
    _write_inner(c, plan, "dense")
    if plan.ndim:
        _write_inner(c, plan, "strided")
        _write_range(c, plan)
    _write_driver(c, plan)
    dtypes = tuple(o.dtype for o in plan.operands)
    support = (c_text("loops.h"), *dict.fromkeys((*storage_support(*dtypes), *plan.body.support)))
    return Kernel(title(op, node), str(c), support, plan.body.params, plan.work)


def _plan(op: Any, node: Apply) -> _Plan | None:
    in_dtypes, out_dtypes = dtypes_of(node.inputs), dtypes_of(node.outputs)
    if in_dtypes is None or out_dtypes is None:
        return None
    ndim = ndim_of(node.outputs[0])
    patterns = [pattern_of(v) for v in node.inputs]
    if any(len(p) != ndim for p in patterns):
        return None
    in_names = [f"x{i}" for i in range(len(in_dtypes))]
    out_names = [f"y{i}" for i in range(len(out_dtypes))]
    body = body_of(op.scalar_op, [f"{n}_i" for n in in_names], in_dtypes, [f"{n}_i" for n in out_names], out_dtypes)
    if body is None:
        return None
    # Axes that are 1 long in every input are 1 long, whatever else happens.
    wide = [d for d in range(ndim) if not all(p[d] for p in patterns)]
    inner = wide[-1] if wide else None
    operands = [
        _Operand(n, t, p, i, False, inner is not None and p[inner])
        for i, (n, t, p) in enumerate(zip(in_names, in_dtypes, patterns, strict=True))
    ]
    flat = all(len({p[d] for d in wide}) <= 1 for p in patterns)
    operands += [
        _Operand(n, t, tuple(d not in wide for d in range(ndim)), i, True, False)
        for i, (n, t) in enumerate(zip(out_names, out_dtypes, strict=True))
    ]
    in_place = {int(o): int(i) for o, i in dict(getattr(op, "inplace_pattern", None) or {}).items()}
    comment = f"{', '.join(out_names)} = {body.op}({', '.join([*in_names, *body.names])})"
    return _Plan(ndim, tuple(operands), in_place, flat, body, comment)


def _write_inner(c: CText, plan: _Plan, kind: str) -> None:
    """Write the innermost loop over n elements."""
    dense = kind == "dense"
    parameters = ["int64_t n", "const char *constants"]
    for o in plan.operands:
        parameters.append(o.pointer if dense else f"{'' if o.is_output else 'const '}char *{o.name}")
    if not dense:
        parameters.append("const int64_t *step")
    # Out of line: it is called from two places, and vectorising a loop twice costs the compiler twice the time.
    c("static TH_LOOP void", *_list(f"KERNEL_{kind}(", parameters, ")"))
    with c.block():
        c.extend(plan.body.declarations("constants"))
        still = [o for o in plan.inputs if dense and o.still]
        for o in still:
            _write_load(c, plan, o, f"*{o.name}")
        if not dense:
            names = ", ".join(f"{o.name}_step = step[{k}]" for k, o in enumerate(plan.operands))
            c(f"const int64_t {names};")
        c("TH_INDEPENDENT")
        with c.block("for (int64_t i = 0; i < n; ++i)"):
            for o in plan.inputs:
                if o in still:
                    continue
                place = f"{o.name}[i]" if dense else f"*(const {c_type(o.dtype)} *)({o.name} + i * {o.name}_step)"
                _write_load(c, plan, o, place)
            for o in plan.outputs:
                c(f"{compute_type(o.dtype)} {o.name}_i;")
            c.extend(plan.body.lines)
            for o in plan.outputs:
                place = f"{o.name}[i]" if dense else f"*({c_type(o.dtype)} *)({o.name} + i * {o.name}_step)"
                c(store(o.dtype, place, f"{o.name}_i"))
    c("")


def _write_load(c: CText, plan: _Plan, o: _Operand, place: str) -> None:
    c(f"const {compute_type(o.dtype)} {o.name}_i = {load(o.dtype, place)};")
    if not any(re.search(rf"\b{o.name}_i\b", line) for line in plan.body.lines):
        c(f"(void){o.name}_i; /* lends only its shape */")


def _write_range(c: CText, plan: _Plan) -> None:
    """Write the loop nest and the function that walks a part of it."""
    nop, room = len(plan.operands), max(plan.ndim, 1)
    c("typedef struct {", "    const char *constants;")
    c(f"    char *data[{nop}];", f"    int64_t shape[{room}], strides[{room * nop}];", "    int nd, dense;")
    c("} KERNEL_loop;", "")
    c("static TH_GLUE void KERNEL_range(void *arg, int64_t lo, int64_t hi)")
    with c.block():
        c("const KERNEL_loop *loop = arg;")
        c("const int outer = loop->nd - 1;")
        c("const int64_t n = loop->shape[outer];")
        c(f"const int64_t *step = loop->strides + outer * {nop};")
        c(f"char *p[{nop}];", f"int64_t index[{room}], skip = lo % n;")
        c("memcpy(p, loop->data, sizeof p);")
        c(f"th_seek({nop}, outer, loop->shape, loop->strides, lo / n, index, p);")
        with c.block("while (lo < hi)"):
            c("const int64_t count = n - skip < hi - lo ? n - skip : hi - lo;")
            with c.block("if (loop->dense)"):
                arguments = []
                for k, o in enumerate(plan.operands):
                    offset = "" if o.still else " + skip"
                    arguments.append(f"({'' if o.is_output else 'const '}{c_type(o.dtype)} *)p[{k}]{offset}")
                c(*_list("KERNEL_dense(", ["count", "loop->constants", *arguments], ");"))
            with c.block("else"):
                arguments = [f"p[{k}] + skip * step[{k}]" for k in range(nop)]
                c(*_list("KERNEL_strided(", ["count", "loop->constants", *arguments, "step"], ");"))
            c("lo += count;", "skip = 0;")
            c(f"th_advance({nop}, outer, loop->shape, loop->strides, index, p);")
    c("")


def _write_driver(c: CText, plan: _Plan) -> None:
    """Write the kernel itself."""
    c("int KERNEL(th_ctx *ctx)")
    with c.block():
        for o in plan.operands:
            side = "out" if o.is_output else "in"
            c(f"{'' if o.is_output else 'const '}th_buffer *{o.name} = ctx->{side}[{o.index}];")
        _write_shapes(c, plan)
        _write_outputs(c, plan)
        if plan.ndim == 0:
            arguments = [f"({'' if o.is_output else 'const '}{c_type(o.dtype)} *){o.name}->data" for o in plan.operands]
            c(*_list("KERNEL_dense(", ["1", "ctx->params", *arguments], ");"), "return 0;")
        else:
            c(f"const int64_t n = th_size({plan.ndim}, shape);")
            c("if (n == 0)", "    return 0;")
            c(f"const double work = {plan.work:.2f} * (double)n;")
            c("KERNEL_loop loop;", "loop.constants = ctx->params;")
            if plan.flat:
                _write_flat_case(c, plan)
            else:
                _write_general_case(c, plan)
            c("if (work < TH_SERIAL_NS)")
            c("    KERNEL_range(&loop, 0, n);")
            c(f"else if (ctx->rt->parallel_for(ctx, n, th_grain({plan.work:.2f}), KERNEL_range, &loop))")
            c("    return -1;")
            c("return 0;")


def _write_shapes(c: CText, plan: _Plan) -> None:
    """Write the check of the inputs' shapes and the shape of the outputs."""
    if plan.ndim == 0:
        c("const int64_t *shape = NULL;")
        return
    firsts: list[_Operand | None] = []
    for d in range(plan.ndim):
        moving = [o for o in plan.inputs if not o.broadcastable[d]]
        firsts.append(moving[0] if moving else None)
    lengths = [f"{o.name}->shape[{d}]" if o else "1" for d, o in enumerate(firsts)]
    c(f"const int64_t shape[{plan.ndim}] = {{{', '.join(lengths)}}};")
    for d, first in enumerate(firsts):
        for o in plan.inputs:
            if first is None or o is first or o.broadcastable[d]:
                continue
            c(f"if ({o.name}->shape[{d}] != shape[{d}])")
            c(f"    return th_mismatch(ctx, {d}, {first.index}, shape[{d}], {o.index}, {o.name}->shape[{d}]);")


def _write_outputs(c: CText, plan: _Plan) -> None:
    for o in plan.outputs:
        if o.index in plan.in_place:
            source = f"x{plan.in_place[o.index]}"
            fields = [f"{source}->{field}" for field in ("data", "ndim", "shape", "strides")]
            c(*_list("if (ctx->rt->view(", ["ctx", o.name, source, *fields], "))"))
        else:
            c(f"if (ctx->rt->ensure(ctx, {o.name}, shape))")
        c("    return -1;")


def _stride(o: _Operand, d: int) -> str:
    return "0" if o.broadcastable[d] else f"{o.name}->strides[{d}]"


def _write_flat_case(c: CText, plan: _Plan) -> None:
    """Write the common case: one loop over everything, if each operand is packed (or one element)."""
    moving = [o for o in plan.operands if not o.still and not (o.is_output and o.index not in plan.in_place)]
    tests = [f"th_packed({o.name}, {plan.ndim})" for o in moving] or ["1"]
    c(*_list("const int packed = ", tests, ";", " && "))
    with c.block("if (packed)"):
        arguments = [f"({'' if o.is_output else 'const '}{c_type(o.dtype)} *){o.name}->data" for o in plan.operands]
        with c.block("if (work < TH_SERIAL_NS)"):
            c(*_list("KERNEL_dense(", ["n", "ctx->params", *arguments], ");"), "return 0;")
        c("loop.nd = 1;", "loop.dense = 1;", "loop.shape[0] = n;")
        for k, o in enumerate(plan.operands):
            c(f"loop.data[{k}] = {o.name}->data;")
            c(f"loop.strides[{k}] = {0 if o.still else f'sizeof({c_type(o.dtype)})'};")
    with c.block("else"):
        _write_general_case(c, plan)


def _write_general_case(c: CText, plan: _Plan) -> None:
    """Write the setting up of a loop nest over any strides."""
    nop = len(plan.operands)
    for k, o in enumerate(plan.operands):
        c(f"loop.data[{k}] = {o.name}->data;")
    for d in range(plan.ndim):
        c(f"loop.shape[{d}] = shape[{d}];")
        for k, o in enumerate(plan.operands):
            c(f"loop.strides[{d * nop + k}] = {_stride(o, d)};")
    c(f"loop.nd = th_collapse({nop}, {plan.ndim}, loop.shape, loop.strides);")
    c(f"const int64_t *step = loop.strides + (loop.nd - 1) * {nop};")
    wanted = ["0" if o.still else f"(int64_t)sizeof({c_type(o.dtype)})" for o in plan.operands]
    steps = [f"step[{k}] == {step}" for k, step in enumerate(wanted)]
    c(*_list("loop.dense = ", steps, ";", " && "))


def _list(head: str, items: list[str], tail: str, separator: str = ", ") -> list[str]:
    """Return the lines of a list, broken before the margin and aligned under its first item."""
    lines, line = [], head
    for i, item in enumerate(items):
        piece = item + (separator.rstrip() if i < len(items) - 1 else tail)
        if len(line) + len(piece) > _MARGIN and line.strip() and i > 0:
            lines.append(line.rstrip())
            line = " " * min(len(head), 8)
        line += piece + " " * (i < len(items) - 1)
    return [*lines, line]
