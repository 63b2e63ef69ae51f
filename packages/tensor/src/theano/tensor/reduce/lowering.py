"""Reductions: sum, product, maximum, ... of what is computed from the elements of arrays, over any axes.

The walking is done by a driver that was compiled with the layer (``c/reduce.c``): it knows shapes and strides, keeps
the partial results and hands neighbours to one or two loops. For plain reductions of the common dtypes these loops
were compiled with the layer as well (``c/reduce_plain.c``); for everything else they are written here, and they are
all that is compiled:

block
    one long run, with as many partial results as four vector registers hold;
rows
    rows of neighbouring results, one after the other. Where a term costs much more than reading and writing a partial
    result, there is only this one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from theano.codegen.text import CText
from theano.graph.apply import Apply
from theano.graph.kernel import Builtin, Kernel
from theano.lowering.accepts import SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.records import record, replace
from theano.scalar.arithmetic import identity
from theano.scalar.c import support
from theano.scalar.c_values import literal
from theano.scalar.cbody import LIGHT_SUPPORT, names_of_blocks
from theano.scalar.ctypes import c_type, compute_type, convert, load, storage_support
from theano.scalar.define import DefinedOp
from theano.tensor.kernels import tuning
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.chunks import elements, is_narrow, type_in_loop, wide_type
from theano.tensor.kernels.common import (
    DTYPE_CODES,
    c_text,
    driver,
    dtype_of,
    library_path,
    normal_axes,
    pattern_of,
    title,
)
from theano.tensor.kernels.nest import Operand, Reduction, Result, reduction_of
from theano.tensor.kernels.reduction import ReductionLimit, ReductionOp, ReductionParams, ReductionResult
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.reduce.map_reduce import MAX_RESULTS, MAX_TERMS, MapReduce, MapReduceOfNumbers

if TYPE_CHECKING:
    from theano.graph.op import Op

__all__ = [
    "MAX_RESULTS", "MAX_TERMS", "careduce_kernel", "log_sum_exp_kernel", "map_reduce_kernel",
    "normal_axes",
]  # fmt: skip

_OPS = {
    "add": ReductionOp.ADD, "mul": ReductionOp.MUL, "mul_without_zeros": ReductionOp.MUL_NONZERO,
    "maximum": ReductionOp.MAX, "minimum": ReductionOp.MIN, "log_sum_exp": ReductionOp.LOG_SUM_EXP,
    "and_": ReductionOp.AND, "or_": ReductionOp.OR, "xor": ReductionOp.XOR, "own": ReductionOp.OWN,
}  # fmt: skip
_STEPS = {
    "add": "a = a + v;", "mul": "a = a * v;", "maximum": "a = v > a ? v : a;", "minimum": "a = v < a ? v : a;",
    "and_": "a = a & v;", "or_": "a = a | v;", "xor": "a = a ^ v;",
    "mul_without_zeros": "a = a == 0 ? v : v == 0 ? a : a * v;",
}  # fmt: skip
# As in reduce_plain.c: operation -> pairs of dtypes, of the elements and of the accumulator.
_SUMS = {
    ("float64", "float64"), ("float32", "float64"), ("float32", "float32"), ("int64", "int64"), ("uint64", "uint64"),
    ("int32", "int64"), ("bool", "int64"), ("uint8", "uint64"),
}  # fmt: skip
_ORDERS = {(d, d) for d in ("float64", "float32", "int64", "int32", "bool")}
_BUILT = {"add": _SUMS, "mul": _SUMS, "maximum": _ORDERS, "minimum": _ORDERS}
_BUILT["and_"] = _BUILT["or_"] = {("bool", "bool")}
_REAL = frozenset(
    ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
)
_MOST_AXES = 62


@record(frozen=True)
class _Own:
    """An operation that the driver does not know: what its statement in the scalar layer says of it."""

    step: str
    support: tuple[str, ...]
    neutral: str
    refused: str


@record(frozen=True)
class _Result:
    """One result: the operation, and the dtypes of its terms, of the accumulator and of the result."""

    name: str
    term: str
    acc: str
    own: _Own | None = None
    needs_terms: bool = False

    @property
    def step(self) -> str:
        """The statements that take the term v into the accumulator a."""
        if self.own is not None:
            return self.own.step
        # A nan loses every comparison: a is kept where it is one, v is taken where it is one.
        nan_wins = self.name in ("maximum", "minimum") and self.acc.startswith("float")
        return _STEPS[self.name] + (" a = v != v ? v : a;" if nan_wins else "")


@record(frozen=True)
class _Plan:
    """A reduction, and how its results are taken in C."""

    nest: Reduction
    results: tuple[_Result, ...]

    @property
    def dtypes(self) -> tuple[str, ...]:
        return tuple(x.dtype for x in self.nest.inputs)

    @property
    def lanes(self) -> int:
        return ReductionLimit.LANE_BYTES // max(np.dtype(r.acc).itemsize for r in self.results)

    @property
    def keeps_axes(self) -> bool:
        """Whether a result has more than one element, as far as the types say."""
        return len(self.nest.axes) < self.nest.ndim

    def once(self, k: int) -> bool:
        """Whether operand k is one number, which the loops read before they start."""
        return len(self.nest.inputs) > 1 and all(self.nest.inputs[k].broadcastable)

    def still(self, k: int) -> bool:
        """Whether operand k is one number for each result, which a block reads before it starts."""
        return len(self.nest.inputs) > 1 and all(self.nest.inputs[k].broadcastable[d] for d in self.nest.axes)

    def vector(self, body: Body) -> int:
        """Return how many neighbours the loop over rows takes at a time where terms are long.

        With whole vectors only, the compiler need not write (and compile) the loop a second time for the
        remainder. Not worth it where a function of the C library makes every term expensive.
        """
        if body.sequential:
            return 1
        wide = self.wide(body)
        dtypes = [*self.dtypes, *(r.term for r in self.results), *(r.acc for r in self.results)]
        sizes = [np.dtype("float32" if dtype == "float16" else dtype).itemsize for dtype in dtypes]
        size = min(size for size in sizes if not wide or size > 1)
        return max(min(64 // size, ReductionLimit.ROW_VECTOR), 4)

    def wide(self, body: Body) -> str:
        """Return the C type that stands for bytes in the loop over rows; "" where they stay bytes."""
        accumulators = [r.acc for r in self.results]
        if any(np.dtype(acc).itemsize == 1 for acc in accumulators):
            return ""
        return wide_type(body, [*self.dtypes, *(r.term for r in self.results), *accumulators])

    def params(
        self, work: float, run: int = 0, tuned: int = 0, constants: bytes = b"", vector: int = 1
    ) -> ReductionParams:
        """Return the driver's parameters; ``run`` is the driver, where generated code calls it."""
        return ReductionParams(
            run=run, tuning=tuned, nin=len(self.dtypes), nout=len(self.results), ndim=self.nest.ndim,
            gone=sum(1 << axis for axis in self.nest.axes),
            lanes=self.lanes, vector=vector, work=int(1000 * work), constants=constants,
            stretched=[
                2**64 - 1 if self.once(k) else x.ones
                for k, x in enumerate(self.nest.inputs)
            ],
            still=sum(1 << k for k in range(len(self.dtypes)) if self.still(k)),
            result=[
                ReductionResult(op=_OPS[r.name], dtype=DTYPE_CODES[r.acc], needs_terms=r.needs_terms)
                for r in self.results
            ],
        )  # fmt: skip


def careduce_kernel(op: Op, node: Apply) -> Kernel | Builtin | None:
    """Return the reduction: one of the library's for the usual dtypes, else loops for this operation and these dtypes.

    Parameters
    ----------
    op : CAReduce
        ``scalar_op``, ``axis`` and, if there is one, ``acc_dtype`` are read.
    node : Apply

    Returns
    -------
    Kernel, Builtin or None
        None where the scalar operation has no C form for these dtypes.
    """
    path, plan = library_path(), _plan(reduction_of(node))
    if path is None or plan is None:
        return None
    (result,) = plan.results
    if (result.term, result.acc) in _BUILT.get(result.name, ()):
        return Builtin(path, "th_kernel_reduce", plan.params(0.15, tuned=tuning.pointer()), 0.15)
    return _generated(op, node, plan)


def map_reduce_kernel(op: MapReduce, node: Apply) -> Kernel | None:
    """Return the reductions of what a scalar operation makes of the elements.

    Parameters
    ----------
    op : MapReduce
        ``scalar_op`` and ``reductions``, one for each of its outputs, are read.
    node : Apply
        All inputs have the dimensions of the loop.

    Returns
    -------
    Kernel or None
        None where the scalar operation has no C form for these dtypes.
    """
    if library_path() is None or len(node.inputs) > MAX_TERMS or len(op.reductions) > MAX_RESULTS:
        return None
    plan = _plan(reduction_of(node))
    return None if plan is None else _generated(op, node, plan)


def log_sum_exp_kernel(op: LogSumExp, node: Apply) -> Builtin | None:
    """Return the logarithm of a sum of exponentials.

    Parameters
    ----------
    op : LogSumExp
        ``axis`` is read.
    node : Apply
    """
    dtype, path = dtype_of(node.inputs[0]), library_path()
    if path is None:
        return None
    # An accumulator is a pair, the largest element and a sum: as large as a complex number.
    result = _Result("log_sum_exp", dtype, "complex64" if dtype == "float32" else "complex128")
    pattern = pattern_of(node.inputs[0])
    axes = tuple(normal_axes(op.axis, len(pattern)))
    plan = _Plan(Reduction(identity, (Operand("x0", dtype, pattern),), axes, ()), (result,))
    return Builtin(path, "th_kernel_reduce", plan.params(0.7, tuned=tuning.pointer()), 0.7)


def _plan(nest: Reduction | None) -> _Plan | None:
    """Return a reduction with how each result is taken in C; None if C cannot do it."""
    if nest is None or nest.ndim > _MOST_AXES:
        return None
    results = [_taken(result) for result in nest.results]
    if any(result is None for result in results):
        return None
    return _Plan(nest, tuple(_as_wide_as(result, nest) for result in results if result is not None))


def _taken(result: Result) -> _Result | None:
    """Return how terms are taken into one result, or None if C cannot do it."""
    name, term, acc, out = str(result.combine), result.term, result.accumulator, result.dtype
    if name not in _OPS:
        return _own_result(result, term, acc)
    if acc not in DTYPE_CODES or term not in DTYPE_CODES:
        return None
    if acc.startswith("complex") < term.startswith("complex") and acc != "bool":
        return None
    if out.startswith("complex") < acc.startswith("complex") and out != "bool":
        return None
    if acc.startswith("complex") and name not in ("add", "mul", "mul_without_zeros"):
        return None
    if acc.startswith(("float", "complex")) and name in ("and_", "or_", "xor"):
        return None
    if acc == "bool":
        # Truth values are added and multiplied as NumPy does it.
        name = {"add": "or_", "mul": "and_", "mul_without_zeros": "or_"}.get(name, name)
    return _Result(name, term, acc, needs_terms=result.needs_terms)


def _own_result(result: Result, term: str, acc: str) -> _Result | None:
    """Return how terms are taken in by any operation that is associative and has a neutral value and a form in C."""
    scalar_op = result.combine
    if not isinstance(scalar_op, DefinedOp) or scalar_op.identity is None or acc not in _REAL or term not in _REAL:
        return None
    if term.startswith("float") > acc.startswith("float"):
        return None
    body = scalar_op.c_statements(["a", "v"], [acc, acc], ["a"], [acc])
    if body is None or not (acc.startswith("float") or float(scalar_op.identity).is_integer()):
        return None
    neutral = literal(scalar_op.identity, acc).replace(f"npy_{acc}", c_type(acc))
    refused = f'"{scalar_op}"' if result.needs_terms else "NULL"
    return _Result("own", term, acc, _Own(" ".join(body.lines), body.support, neutral, refused))


def _as_wide_as(result: _Result, nest: Reduction) -> _Result:
    """Return ``result`` with truth values kept in whole numbers as wide as what they are computed from.

    A comparison of vectors gives lanes of their width; to narrow them for each term costs more than the comparison.
    """
    widest = max(np.dtype(x.dtype).itemsize for x in nest.inputs)
    if (result.term, result.acc) != ("bool", "bool") or result.name not in ("and_", "or_") or widest not in (4, 8):
        return result
    return replace(result, acc=f"int{8 * widest}")


# -- writing the loops ------------------------------------------------------------------------------------------------


def _generated(op: Op, node: Apply, plan: _Plan) -> Kernel | None:
    names, terms = [f"x{k}_i" for k in range(len(plan.dtypes))], [r.term for r in plan.nest.results]
    body = body_of(plan.nest.function, names, list(plan.dtypes), [f"t{k}_i" for k in range(len(terms))], terms)
    path = library_path()
    if body is None or path is None:
        return None
    light = len(body.lines) <= 12 and len("".join(body.support)) < LIGHT_SUPPORT
    c = CText()
    what = ", ".join(f"{r.name} in {r.acc}" for r in plan.results)
    c.comment(f"{what} of {body.op}({', '.join([*(f'x{k}' for k in range(len(plan.dtypes))), *body.names])})")
    _write_joins(c, plan)
    if light:
        _write_block(c, plan, body)
    vector = 1 if light else plan.vector(body)
    if not light or plan.keeps_axes:
        _write_rows(c, plan, body, vector)
    with c.block("int KERNEL(th_ctx *ctx)"):
        c("const th_reduction *r = ctx->params;")
        rows = "KERNEL_rows" if not light or plan.keeps_axes else "NULL"
        c(f"return r->run(ctx, r, {'KERNEL_block' if light else 'NULL'}, {rows}, {_write_own(c, plan)});")
    conversions = " ".join(_take(plan, k) for k in range(len(plan.results)))
    owned = [block for r in plan.results if r.own for block in r.own.support]
    blocks = dict.fromkeys(
        (*storage_support(*plan.dtypes), *body.support, *support(names_of_blocks(conversions)), *owned)
    )
    work = 0.2 + 0.1 * len(body.lines) + 0.4 * min(len(body.support), 12)
    params = plan.params(work, driver(path, "th_reduce"), constants=body.params, vector=vector)
    # Lanes of bytes are packed from wider vectors: without all passes, their loops take twice as long.
    plain = all(np.dtype(r.acc).itemsize > 1 for r in plan.results) and not body.sequential
    text = (c_text("reduce.h"), *blocks)
    return Kernel(title(op, node), str(c), text, params, work, plain_loops=plain)


def _write_joins(c: CText, plan: _Plan) -> None:
    """Write how accumulators of operations that the driver does not know are joined."""
    for k, r in enumerate(plan.results):
        if r.own is None:
            continue
        ctype = compute_type(r.acc)
        c(f"static TH_LOOP void KERNEL_join{k}(int64_t n, void *to, const void *from)")
        with c.block():
            c(f"{ctype} *x = to;", f"const {ctype} *y = from;", "TH_INDEPENDENT")
            with c.block("for (int64_t i = 0; i < n; ++i)"):
                c(f"const {ctype} v = y[i];", f"{ctype} a = x[i];", r.step, "x[i] = a;")
        c("")


def _write_own(c: CText, plan: _Plan) -> str:
    """Write the driver's description of operations that it does not know, and return its name."""
    if all(r.own is None for r in plan.results):
        return "NULL"
    entries = []
    for k, r in enumerate(plan.results):
        if r.own is None:
            entries.append("{NULL, NULL, NULL}")
            continue
        c(f"static const {compute_type(r.acc)} neutral{k} = {r.own.neutral};")
        entries.append(f"{{KERNEL_join{k}, &neutral{k}, {r.own.refused}}}")
    c(f"static const th_own own[] = {{{', '.join(entries)}}};")
    return "own"


def _take(plan: _Plan, k: int) -> str:
    """Return the term of result k in the dtype of its accumulator."""
    result = plan.results[k]
    return convert(f"t{k}_i", result.term, result.acc)


def _write_head(c: CText, plan: _Plan, body: Body, held: Callable[[int], bool], wide: str = "") -> None:
    """Write the values that are read before a loop: constants, operands `held` in registers, accumulators."""
    c("(void)constants;")
    c.extend(body.declarations("constants"))
    for k, dtype in enumerate(plan.dtypes):
        if held(k):
            place = load(dtype, f"*(const {c_type(dtype)} *)p[{k}]")
            c(f"const {type_in_loop(dtype, wide)} x{k}_i = {place};", f"(void)x{k}_i;")
    for k, r in enumerate(plan.results):
        c(f"{compute_type(r.acc)} *a{k} = acc[{k}];")


def _write_terms(
    c: CText, plan: _Plan, body: Body, held: Callable[[int], bool], index: str, target: str, wide: str = ""
) -> None:
    """Write the taking in of one element of each operand; ``target`` names accumulator k, with ``{k}``."""
    for k, dtype in enumerate(plan.dtypes):
        if not held(k):
            place = f"x{k}_wide[j]" if is_narrow(dtype, wide) else f"x{k}[{index}]"
            c(f"const {type_in_loop(dtype, wide)} x{k}_i = {load(dtype, place)};")
            if f"x{k}_i" not in body.words:
                c(f"(void)x{k}_i; /* lends only its shape */")
    for k, r in enumerate(plan.results):
        c(f"{type_in_loop(r.term, wide)} t{k}_i;")
    c.extend(body.lines)
    for k, r in enumerate(plan.results):
        place, ctype = target.format(k=k), compute_type(r.acc)
        with c.block():
            c(f"const {ctype} v = {_take(plan, k)};", f"{ctype} a = {place};", r.step, f"{place} = a;")


def _write_block(c: CText, plan: _Plan, body: Body) -> None:
    moving = [k for k in range(len(plan.dtypes)) if not plan.still(k)]
    c("static TH_LOOP void", "KERNEL_block(int64_t n, char *const *p, void *const *acc, const void *constants)")
    with c.block():
        c(f"enum {{ LANES = {plan.lanes} }};")
        _write_head(c, plan, body, plan.still)
        for k in moving:
            c(f"const {c_type(plan.dtypes[k])} *x{k} = (const {c_type(plan.dtypes[k])} *)p[{k}];")
        for k, r in enumerate(plan.results):
            c(f"{compute_type(r.acc)} lane{k}[LANES];", f"for (int l = 0; l < LANES; ++l) lane{k}[l] = a{k}[l];")
        advance = "".join(f", x{k} += LANES" for k in moving)
        with c.block(f"for (; n >= LANES; n -= LANES{advance})"), c.block("for (int l = 0; l < LANES; ++l)"):
            _write_terms(c, plan, body, plan.still, "l", "lane{k}[l]")
        for k in range(len(plan.results)):
            c(f"for (int l = 0; l < LANES; ++l) a{k}[l] = lane{k}[l];")
        with c.block("for (int64_t i = 0; i < n; ++i)"):
            c("TH_PLAIN_LOOP;")
            _write_terms(c, plan, body, plan.still, "i", "a{k}[i]")
    c("")


def _write_rows(c: CText, plan: _Plan, body: Body, vector: int) -> None:
    wide = plan.wide(body)
    c("static TH_LOOP void", "KERNEL_rows(int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc,")
    c("            const void *constants)")
    with c.block():
        _write_head(c, plan, body, plan.once, wide)
        with c.block("for (int64_t i = 0; i < n; ++i)"):
            for k, dtype in enumerate(plan.dtypes):
                if not plan.once(k):
                    c(f"const {c_type(dtype)} *x{k} = (const {c_type(dtype)} *)(p[{k}] + i * row[{k}]);")
            narrow = [f"x{k}" for k, dtype in enumerate(plan.dtypes) if not plan.once(k) and is_narrow(dtype, wide)]
            with elements(c, "j", "w", vector, narrow, (), wide) as index:
                _write_terms(c, plan, body, plan.once, index, f"a{{k}}[{index}]", wide)
    c("")


register(
    Lowering(CAReduce, careduce_kernel, Accepts("x -> y"), by_types=True),
    Lowering(MapReduce, map_reduce_kernel, Accepts("*inputs -> *results"), by_types=True),
    Lowering(MapReduceOfNumbers, map_reduce_kernel, Accepts("*inputs -> *results"), by_types=True),
    Lowering(LogSumExp, log_sum_exp_kernel, Accepts("x -> y", dtypes={"x": SINGLE_OR_DOUBLE}, same=("x y",))),
)
