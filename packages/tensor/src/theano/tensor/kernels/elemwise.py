"""Element-wise kernels: one loop for any scalar operation over any broadcast inputs.

The generated C is the arithmetic only: a loop over elements that lie one after the other, and a table of what the
types say. Everything else is the same for all of them, and compiled with the loader (``elementwise.cpp``): the check of
the shapes, the loop nest, threads, operands whose elements are not neighbours. Inputs of one element are read before
the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from theano.codegen.text import CText
from theano.graph.apply import Apply
from theano.graph.kernel import Kernel
from theano.lowering.accepts import Accepts
from theano.lowering.table import Lowering, register
from theano.scalar.cbody import calls_c_library
from theano.scalar.ctypes import c_type, compute_type, load, storage_support, store
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.common import c_text, dtype_of, ndim_of, pattern_of, title
from theano.tensor.kernels.parameters import Constants

# Operations on one vector register, and calls of functions, in nanoseconds per element: enough to choose
# between one thread and several.
_LINE_NS = 0.1
_SUPPORT_NS = 0.8
_MARGIN = 100
_SHORT = 4
"""A loop of so few statements that a second one for what is left over costs the compiler nothing."""


@dataclass(frozen=True)
class _Operand:
    """One input or output of the loop."""

    name: str
    dtype: str
    broadcastable: tuple[bool, ...]
    is_output: bool
    kind: str  # of TH_SOME, TH_STILL, TH_FULL

    @property
    def ctype(self) -> str:
        return f"{'' if self.is_output else 'const '}{c_type(self.dtype)}"

    @property
    def still(self) -> bool:
        return self.kind == "TH_STILL"


@dataclass(frozen=True)
class _Plan:
    """What the types of a node say about its loop."""

    ndim: int
    inputs: tuple[_Operand, ...]
    outputs: tuple[_Operand, ...]
    over: tuple[int, ...]  # per output: the input whose memory it takes, or -1
    body: Body
    comment: str

    @property
    def operands(self) -> tuple[_Operand, ...]:
        return self.inputs + self.outputs

    @property
    def work(self) -> float:
        """Estimated nanoseconds per element."""
        return 0.2 + _LINE_NS * len(self.body.lines) + _SUPPORT_NS * min(len(self.body.support), 12) * 0.5

    @property
    def lanes(self) -> int:
        """How many elements the loop takes at a time.

        With whole vectors only, the compiler need not write (and compile) the loop a second time for what is left
        over, and what is left over runs as fast. Not worth it where the second loop is short, nor where a function of
        the C library makes every element expensive.
        """
        text = "\n".join(self.body.lines)
        if len(self.body.lines) <= _SHORT and not self.body.support or calls_c_library(text):
            return 1
        size = min(np.dtype("float32" if o.dtype == "float16" else o.dtype).itemsize for o in self.operands)
        return max(min(64 // size, 16), 4)


def elemwise_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the loop over the elements of all inputs, where the scalar op has a C form for their dtypes.

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
    if plan.ndim:
        _write_loop(c, plan)
        _write_table(c, plan)
    else:
        _write_single(c, plan)
    dtypes = tuple(o.dtype for o in plan.operands)
    support = (c_text("loops.h"), *dict.fromkeys((*storage_support(*dtypes), *plan.body.support)))
    return Kernel(title(op, node), str(c), support, Constants(numbers=plan.body.params), plan.work, plain_loops=True)


def _plan(op: Any, node: Apply) -> _Plan | None:
    in_dtypes, out_dtypes = [dtype_of(v) for v in node.inputs], [dtype_of(v) for v in node.outputs]
    ndim = ndim_of(node.outputs[0])
    patterns = [pattern_of(v) for v in node.inputs]
    in_names = [f"x{i}" for i in range(len(in_dtypes))]
    out_names = [f"y{i}" for i in range(len(out_dtypes))]
    body = body_of(op.scalar_op, [f"{n}_i" for n in in_names], in_dtypes, [f"{n}_i" for n in out_names], out_dtypes)
    if body is None:
        return None
    # Axes that are 1 long in every input are 1 long, whatever else happens.
    wide = [d for d in range(ndim) if not all(p[d] for p in patterns)]
    inputs = [
        _Operand(n, t, p, False, _kind([p[d] for d in wide]))
        for n, t, p in zip(in_names, in_dtypes, patterns, strict=True)
    ]
    pattern = tuple(d not in wide for d in range(ndim))
    outputs = [_Operand(n, t, pattern, True, "TH_FULL") for n, t in zip(out_names, out_dtypes, strict=True)]
    in_place = {int(o): int(i) for o, i in dict(getattr(op, "inplace_pattern", None) or {}).items()}
    over = tuple(in_place.get(i, -1) for i in range(len(outputs)))
    comment = f"{', '.join(out_names)} = {body.op}({', '.join([*in_names, *body.names])})"
    return _Plan(ndim, tuple(inputs), tuple(outputs), over, body, comment)


def _kind(ones: list[bool]) -> str:
    return "TH_STILL" if all(ones) else "TH_SOME" if any(ones) else "TH_FULL"


def _write_loop(c: CText, plan: _Plan) -> None:
    """Write the loop over n elements."""
    c("static void KERNEL_run(int64_t n, char *const *data, const char *params)")
    with c.block():
        c.extend(plan.body.declarations("params") or ["(void)params;"])
        for k, o in enumerate(plan.operands):
            if not _is_read(plan, o):
                continue  # it lends only its shape
            if o.still:
                _write_load(c, plan, o, f"*({o.ctype} *)data[{k}]")
            else:
                c(f"{o.ctype} *{o.name} = ({o.ctype} *)data[{k}];")
        c("TH_INDEPENDENT")
        bound = "n" if plan.lanes == 1 else f"(n & -{plan.lanes})"
        with c.block(f"for (int64_t i = 0; i < {bound}; ++i)"):
            _write_body(c, plan, "[i]")
    c("")


def _write_body(c: CText, plan: _Plan, index: str) -> None:
    """Write what happens to one element."""
    for o in plan.inputs:
        if not o.still:
            _write_load(c, plan, o, f"{o.name}{index}")
    for o in plan.outputs:
        c(f"{compute_type(o.dtype)} {o.name}_i;")
    c.extend(plan.body.lines)
    for o in plan.outputs:
        c(store(o.dtype, f"{o.name}{index}", f"{o.name}_i"))


def _is_read(plan: _Plan, o: _Operand) -> bool:
    return f"{o.name}_i" in plan.body.words


def _write_load(c: CText, plan: _Plan, o: _Operand, place: str) -> None:
    if _is_read(plan, o):
        c(f"const {compute_type(o.dtype)} {o.name}_i = {load(o.dtype, place)};")


def _write_table(c: CText, plan: _Plan) -> None:
    """Write what the loader needs to know, and the kernel itself."""
    ones = [f"{sum(1 << d for d, one in enumerate(o.broadcastable) if one):#x}" for o in plan.inputs]
    c(*_list("static const uint64_t KERNEL_ones[] = {", ones, "};"))
    c(*_list("static const uint8_t KERNEL_kind[] = {", [o.kind for o in plan.inputs], "};"))
    c(*_list("static const int32_t KERNEL_over[] = {", [str(i) for i in plan.over], "};"))
    numbers = [f"{plan.work:.2f}", *map(str, (len(plan.inputs), len(plan.outputs), plan.ndim, plan.lanes))]
    names = [f"KERNEL_{part}" for part in ("run", "ones", "kind", "over")]
    c(*_list("static const th_loop KERNEL_loop = {", [*names, *numbers], "};"), "")
    c("int KERNEL(th_ctx *ctx)")
    with c.block():
        c("return ctx->rt->elementwise(ctx, &KERNEL_loop);")


def _write_single(c: CText, plan: _Plan) -> None:
    """Write the kernel of numbers, which needs no loop."""
    c("int KERNEL(th_ctx *ctx)")
    with c.block():
        for k, i in enumerate(plan.over):
            taken = f"ctx->rt->view(ctx, ctx->out[{k}], ctx->in[{i}], ctx->in[{i}]->data, 0, NULL, NULL)"
            c(f"if ({taken if i >= 0 else f'ctx->rt->ensure(ctx, ctx->out[{k}], NULL)'})")
            c("    return -1;")
        c.extend(plan.body.declarations("(const char *)ctx->params"))
        for side, operands in (("in", plan.inputs), ("out", plan.outputs)):
            for k, o in enumerate(operands):
                if _is_read(plan, o):
                    c(f"{o.ctype} *{o.name} = ({o.ctype} *)ctx->{side}[{k}]->data;")
        _write_body(c, replace(plan, inputs=tuple(replace(o, kind="TH_FULL") for o in plan.inputs)), "[0]")
        c("return 0;")


def _list(head: str, items: list[str], tail: str) -> list[str]:
    """Return the lines of a list, broken before the margin and aligned under its first item."""
    lines, line = [], head
    for i, item in enumerate(items):
        piece = item + ("," if i < len(items) - 1 else tail)
        if len(line) + len(piece) > _MARGIN and line.strip() and i > 0:
            lines.append(line.rstrip())
            line = " " * min(len(head), 8)
        line += piece + " " * (i < len(items) - 1)
    return [*lines, line]


register(Lowering(Elemwise, elemwise_kernel, Accepts("*inputs -> *outputs", ndim={"inputs": "outputs"})))
