"""Loops over numbers as one C function: sequences, states and carried values of no dimensions, and arithmetic alone.

The rewritten step is one scalar expression. States and carried values are local variables, so that a step costs what
its arithmetic takes; a state further back moves from variable to variable. What else a step may be runs in the machine
(:mod:`theano.scan.run`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from theano import scalar as scal
from theano.codegen.text import CText
from theano.compile.mode import get_mode
from theano.graph import Apply, Constant, FunctionGraph
from theano.graph.kernel import Kernel
from theano.lowering.accepts import KNOWN, Accepts, dtype_of
from theano.lowering.table import Lowering, register
from theano.rewriting import rewrite
from theano.scalar.ctypes import c_type, compute_type, load, storage_support, store
from theano.scan.op import Scan
from theano.scan.run import NEGATIVE, first_rows, too_short
from theano.scan.spec import InnerInputs, InnerOutputs, LoopSpec
from theano.tensor.convert import is_tensor
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.rules.joining import scalar_expression
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.common import title
from theano.tensor.kernels.parameters import Constants

# Nanoseconds for an operation and for a call of a function, one step after the other.
_LINE_NS, _SUPPORT_NS = 1.0, 8.0


class _Value(NamedTuple):
    """A number that a step reads or makes."""

    name: str
    dtype: str

    def declared(self, at: str) -> str:
        """Return the declaration of a local variable, as elements lie in memory, with what it begins with."""
        return f"{c_type(self.dtype)} {self.name} = {at};"


def scalar_loop(op: Any, node: Apply) -> Kernel | None:
    """Return a loop over numbers as one function, where a step is arithmetic alone."""
    if op.mode is not None or not _can_store(op.spec):
        return None
    if not all(map(_is_number, (*op.inner.inputs, *op.inner.outputs))):
        return None
    expression = op.inner.derived("scalar expression", lambda: _expression(op))
    if expression is None:
        return None
    spec: LoopSpec = op.spec
    inputs, outputs = [dtype_of(v) for v in op.inner.inputs], [dtype_of(v) for v in op.inner.outputs]
    own = spec.inner_inputs([_Value(f"x{i}", dtype) for i, dtype in enumerate(inputs)])
    made = spec.inner_outputs([_Value(f"y{i}", dtype) for i, dtype in enumerate(outputs)])
    names = [[f"{v.name}_i" for v in values] for values in (own.flat(), made.flat())]
    body = body_of(expression, names[0], inputs, names[1], outputs)
    if body is None:
        return None
    source = str(_Writer(spec, own, made, body).write())
    support = tuple(dict.fromkeys((*storage_support(*inputs, *outputs), *body.support)))
    work = 1.0 + _LINE_NS * len(body.lines) + _SUPPORT_NS * len(body.support)
    return Kernel(title(op, node), source, support, Constants(numbers=body.params), work)


def _is_number(v: Any) -> bool:
    return is_tensor(v) and v.type.ndim == 0 and v.type.dtype in KNOWN.names


def _can_store(spec: LoopSpec) -> bool:
    """Return whether what is kept is all rows, or so few that they are local variables at the end."""
    most = [*spec.depths, *(1 for _ in range(spec.mapped))]
    return all(k is None or k <= m for k, m in zip(spec.keep, most, strict=True)) and not (
        spec.until and any(k is not None for k in spec.keep)
    )


def _expression(op: Scan) -> Any:
    """Return the rewritten step as one scalar operation, or None where it is more than arithmetic."""
    graph = FunctionGraph(op.inner.inputs, op.inner.outputs)
    if not all(_is_number(v) for n in graph.apply_nodes for v in n.outputs):
        return None
    rewrite(graph, get_mode(None).excluding("inplace").optimizer)
    nodes = graph.toposort()
    # In the place of results that are constants, or inputs as they are, stand themselves.
    if not all(isinstance(n.op, Elemwise) for n in nodes):
        return None
    outside, known = scalar_expression(nodes, [*graph.inputs, *graph.outputs])
    if any(v not in graph.inputs and not isinstance(v, Constant) for v in outside):
        return None
    return scal.Composite([outside[v] for v in graph.inputs], [known[v] for v in graph.outputs])


class _Writer:
    """Writes the function of one loop."""

    def __init__(self, spec: LoopSpec, own: InnerInputs, made: InnerOutputs, body: Body):
        self.spec, self.own, self.made, self.body, self.c = spec, own, made, body, CText()
        given = 1 + len(spec.sequences) + len(spec.states) + spec.carried + spec.fixed
        self.given = spec.outer_inputs([f"ctx->in[{k}]" for k in range(given)])
        self.results = spec.outer_outputs([f"ctx->out[{k}]" for k in range(spec.stacked + spec.carried)])
        #: For each state, the local variables of its last rows, the oldest first.
        self.past = [
            [_Value(f"h{i}_{back}", group[0].dtype) for back in range(depth, 0, -1)]
            for i, (depth, group) in enumerate(zip(spec.depths, own.states, strict=True))
        ]

    def write(self) -> CText:
        """Return the text."""
        c = self.c
        c("int KERNEL(th_ctx *ctx)")
        with c.block():
            self._checks()
            c.extend(self.body.declarations("(const char *)ctx->params"))
            self._before()
            c("int64_t t = 0;")
            with c.block("for (; t < n; ++t)"):
                self._step()
            self._after()
            c("return 0;")
        return c

    def _checks(self) -> None:
        c, spec = self.c, self.spec
        c(f"const int64_t n = *(const int64_t *){self.given.n_steps}->data;")
        c(f'if (n < 0) return ctx->rt->fail(ctx, TH_ERR_INDEX, "{NEGATIVE.format("%lld")}", (long long)n);')
        for i, (place, reach, taps) in enumerate(zip(self.given.sequences, spec.reach, spec.sequences, strict=True)):
            if taps:
                text = too_short(i, "%lld", "%lld", reach, "%lld")
                needed = f"n + {reach - 1}" if reach > 1 else "n"
                c(f"if (n && {place}->shape[0] < {needed})",
                  f'    return ctx->rt->fail(ctx, TH_ERR_VALUE, "{text}", (long long){place}->shape[0], (long long)n, '
                  f"(long long)({needed}));")  # fmt: skip
        for i, (place, depth) in enumerate(zip(self.given.states, spec.depths, strict=True)):
            text = first_rows(i, "%lld", depth)
            c(f"if ({place}->shape[0] != {depth})",
              f'    return ctx->rt->fail(ctx, TH_ERR_VALUE, "{text}", (long long){place}->shape[0]);')  # fmt: skip

    def _stacks(self) -> Iterator[tuple[str, _Value, int, int | None]]:
        """Yield for each stacked result its place, what a step makes, the rows before, and how many are kept."""
        places = (*self.results.states, *self.results.mapped)
        before = (*self.spec.depths, *(0 for _ in self.results.mapped))
        yield from zip(places, (*self.made.states, *self.made.mapped), before, self.spec.keep, strict=True)

    def _before(self) -> None:
        """Write what is read once, and memory for results."""
        c, spec = self.c, self.spec
        for i, (place, taps) in enumerate(zip(self.given.sequences, self.own.sequences, strict=True)):
            if taps:
                c(f"const char *const s{i} = {place}->data;", f"const int64_t step{i} = {place}->strides[0];")
        for place, past in zip(self.given.states, self.past, strict=True):
            for k, value in enumerate(past):
                c(value.declared(f"*(const {c_type(value.dtype)} *)({place}->data + {k} * {place}->strides[0])"))
        given, own = (*self.given.carried, *self.given.fixed), (*self.own.carried, *self.own.fixed)
        for place, value in zip(given, own, strict=True):
            c(value.declared(f"*(const {c_type(value.dtype)} *){place}->data"))
        for k, (place, value, before, keep) in enumerate(self._stacks()):
            kind = c_type(value.dtype)
            if keep is not None:
                if not before:  # the last one is a local variable
                    c(f"{kind} r{k} = 0;")
                continue
            rows = f"n + {before}" if before else "n"
            if spec.until:
                c(f"{kind} *const r{k} = ctx->rt->scratch(ctx, (size_t)({rows}) * sizeof({kind}) + 1);")
                c(f"if (!r{k}) return -1;")
            else:
                self._ensure(k, place, rows)
                c(f"{kind} *const r{k} = ({kind} *){place}->data;")
            for j in range(before):
                c(f"r{k}[{j}] = {self.past[k][j].name};")

    def _ensure(self, k: int, place: str, rows: str) -> None:
        self.c(f"const int64_t rows{k}[1] = {{{rows}}};", f"if (ctx->rt->ensure(ctx, {place}, rows{k})) return -1;")

    def _step(self) -> None:
        c, spec, words = self.c, self.spec, self.body.words
        for i, (group, taps) in enumerate(zip(self.own.sequences, spec.sequences, strict=True)):
            for value, k in zip(group, taps, strict=True):
                at = f"*(const {c_type(value.dtype)} *)(s{i} + (t + {k}) * step{i})"
                self._local(value, at, words)
        for past, group, taps in zip(self.past, self.own.states, spec.states, strict=True):
            for value, k in zip(group, taps, strict=True):
                self._local(value, past[k].name, words)
        for value in (*self.own.carried, *self.own.fixed):
            self._local(value, value.name, words)
        for value in self.made.flat():
            c(f"{compute_type(value.dtype)} {value.name}_i;")
        c.extend(self.body.lines)
        for value in self.made.flat():
            c(f"{c_type(value.dtype)} {value.name};", store(value.dtype, value.name, f"{value.name}_i"))
        for k, (_, value, before, keep) in enumerate(self._stacks()):
            if keep is None:
                c(f"r{k}[t + {before}] = {value.name};" if before else f"r{k}[t] = {value.name};")
            elif not before:
                c(f"r{k} = {value.name};")
        for past, value in zip(self.past, self.made.states, strict=True):
            for older, newer in pairwise(past):
                c(f"{older.name} = {newer.name};")
            c(f"{past[-1].name} = {value.name};")
        for value, new in zip(self.own.carried, self.made.carried, strict=True):
            c(f"{value.name} = {new.name};")
        if self.made.until is not None:
            with c.block(f"if ({self.made.until.name})"):
                c("++t;", "break;")

    def _local(self, value: _Value, at: str, words: frozenset[str]) -> None:
        if f"{value.name}_i" in words:
            self.c(f"const {compute_type(value.dtype)} {value.name}_i = {load(value.dtype, at)};")

    def _after(self) -> None:
        """Write what is known only now."""
        c, spec = self.c, self.spec
        for k, (place, value, before, keep) in enumerate(self._stacks()):
            kind = c_type(value.dtype)
            if keep is None and spec.until:
                self._ensure(k, place, f"t + {before}")
                c(f"memcpy({place}->data, r{k}, (size_t)(t + {before}) * sizeof({kind}));")
            elif keep is not None:
                self._ensure(k, place, str(keep) if before else f"t < {keep} ? t : {keep}")
                if before:
                    for j, last in enumerate(self.past[k][before - keep :]):
                        c(f"(({kind} *){place}->data)[{j}] = {last.name};")
                else:
                    c(f"if (t) *({kind} *){place}->data = r{k};")
        for place, value in zip(self.results.carried, self.own.carried, strict=True):
            c(f"if (ctx->rt->ensure(ctx, {place}, NULL)) return -1;")
            c(f"*({c_type(value.dtype)} *){place}->data = {value.name};")


register(Lowering(Scan, scalar_loop, Accepts("*inputs -> *outputs")))
