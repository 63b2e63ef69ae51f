"""Element-wise kernels for the CPU: the C of one loop for any scalar operation over any broadcast inputs.

The generated C is the arithmetic only: a loop over contiguous elements, and a table of what the
types say. Everything else is the same for all of them, and compiled with the loader (``elementwise.cpp``): the check of
the shapes, the loop nest, threads, operands whose elements are not neighbours. Inputs of one element are read before
the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property

import numpy as np

from theano.codegen.text import CText
from theano.graph.apply import Apply
from theano.graph.kernel import Builtin, Kernel
from theano.graph.parameters import Parameters
from theano.lowering.accepts import Accepts
from theano.lowering.table import Lowering, register
from theano.lowering.targets import ANY
from theano.records import record
from theano.scalar.ctypes import c_type, load, storage_support, store
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.numbers import ElemwiseOfNumbers
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.single import single_kernel
from theano.tensor.kernels.body import Body, body_of
from theano.tensor.kernels.chunks import elements, is_narrow, type_in_loop, wide_type
from theano.tensor.kernels.common import VIEW_NS, c_text, is_view, ndim_of, ready, title
from theano.tensor.kernels.nest import Map, Operand, map_of
from theano.tensor.kernels.parameters import Constants, DimshuffleParams
from theano.tensor.kernels.vectors import Vectors, in_vectors

# Operations on one vector register, and calls of functions, in nanoseconds per element: enough to choose
# between one thread and several.
_LINE_NS = 0.1
_SUPPORT_NS = 0.8
_MARGIN = 100
_KINDS = {"some": "TH_SOME", "none": "TH_INVARIANT", "all": "TH_FULL"}
_SHORT = 4
"""A loop of so few statements that a second one for the remainder costs the compiler nothing."""
_MASK_BITS = 64
"""The bits of ``th_loop.still``, one per operand."""
_BY_ROW = 12
"""A loop of so few statements, and without functions, takes less time than to fill a buffer with what is stretched."""


@record(frozen=True)
class LoopPlan:
    """A loop, and what it does with each element in C."""

    nest: Map
    body: Body

    @property
    def comment(self) -> str:
        """What is computed, in one line."""
        outputs, inputs = (", ".join(o.name for o in operands) for operands in (self.nest.outputs, self.nest.inputs))
        return f"{outputs} = {self.body.op}({', '.join([inputs, *self.body.names])})"

    @property
    def work(self) -> float:
        """Estimated nanoseconds per element."""
        return 0.2 + _LINE_NS * len(self.body.lines) + _SUPPORT_NS * min(len(self.body.support), 12) * 0.5

    @property
    def support(self) -> tuple[str, ...]:
        """The blocks of C that the text needs."""
        dtypes = tuple(o.dtype for o in self.nest.operands)
        needed = self.vectors.support if self.vectors else self.body.support
        return (c_text("loops.h"), *dict.fromkeys((*storage_support(*dtypes), *needed)))

    @property
    def by_row(self) -> bool:
        """Whether there is a loop over rows, which keeps what is stretched along them in registers."""
        return (
            len(self.body.lines) <= _BY_ROW and len(self.nest.operands) <= _MASK_BITS and not self.body.support
            and any(self.nest.moves(x) == "some" for x in self.nest.inputs)
        )  # fmt: skip

    @property
    def strided(self) -> bool:
        """Whether to write a loop for any strides: it takes less time than to fill buffers with strided elements."""
        return len(self.body.lines) <= _SHORT and not self.body.support

    @cached_property
    def wide(self) -> str:
        """The C type that stands for operands of bytes in the loop over neighbours; "" where they stay bytes."""
        return wide_type(self.body, (o.dtype for o in self.nest.operands))

    @cached_property
    def vectors(self) -> Vectors | None:
        """The body for several vectors at a time; None where the compiler makes vectors of the plain loop."""
        if self.lanes == 1 or not self.nest.ndim:
            return None
        names: dict[bool, list[str]] = {False: [], True: []}
        for k, x in enumerate(self.nest.inputs):
            names[_is_one_element(self, k)].append(f"{x.name}_i")
        return in_vectors(self.body, names[False], names[True], {o.dtype for o in self.nest.operands})

    @property
    def lanes(self) -> int:
        """How many elements the loop takes at a time.

        With whole vectors only, the compiler need not write (and compile) the loop a second time for the remainder,
        and the remainder runs as fast. Not worth it where the second loop is short, nor where a function of
        the C library makes every element expensive.
        """
        if self.strided or self.body.sequential:
            return 1
        wide = (o.dtype for o in self.nest.operands if not is_narrow(o.dtype, self.wide))
        size = min(np.dtype("float32" if dtype == "float16" else dtype).itemsize for dtype in wide)
        return max(min(64 // size, 16), 4)


def elemwise_kernel(op: Elemwise, node: Apply) -> Kernel | Builtin | None:
    """Return the loop over the elements of all inputs, where the scalar op has a C form for their dtypes.

    Parameters
    ----------
    op : Elemwise
        ``scalar_op`` and ``inplace_pattern`` (output to input) are read.
    node : Apply
        All inputs have the dimensions of the outputs.

    Returns
    -------
    Kernel, Builtin or None
        What was compiled with the layer, where it is a single operation; None where the scalar operation has no C form
        for these dtypes.
    """
    plan = plan_of(node)
    if plan is None:
        return None
    found = single_kernel(plan.nest, plan.work) if plan.nest.ndim else None
    if found is not None:
        return found
    c = CText()
    c.comment(plan.comment)
    if plan.nest.ndim:
        write_loop(c, plan, "KERNEL", any_strides=True)
        c("int KERNEL(th_ctx *ctx)")
        with c.block():
            c("return ctx->rt->elementwise(ctx, &KERNEL_loop);")
    else:
        _write_single(c, plan)
    params = Constants(numbers=plan.body.params)
    return Kernel(title(op, node), str(c), plan.support, params, plan.work, plain_loops=not plan.body.sequential)


def plan_of(node: Apply) -> LoopPlan | None:
    """Return the loop of an element-wise node, or None where its scalar operation has no C form for these dtypes."""
    nest = map_of(node)
    names = [f"{x.name}_i" for x in nest.inputs], [f"{y.name}_i" for y in nest.outputs]
    dtypes = [x.dtype for x in nest.inputs], [y.dtype for y in nest.outputs]
    body = body_of(nest.function, names[0], dtypes[0], names[1], dtypes[1])
    return None if body is None else LoopPlan(nest, body.calling())


def write_loop(c: CText, plan: LoopPlan, name: str, any_strides: bool = False) -> None:
    """Write the loop over n neighbours, perhaps those for other strides, and what its types say: ``NAME_loop``."""
    _write_run(c, plan, name)
    if any_strides and plan.by_row:
        _write_rows(c, plan, name)
    if any_strides and plan.strided:
        _write_strided(c, plan, name)
    _write_table(c, plan, name, any_strides)


def _write_run(c: CText, plan: LoopPlan, name: str) -> None:
    c(f"static void {name}_run(int64_t n, char *const *data, const char *params)")
    with c.block():
        _write_operands(c, plan)
        moving = [x for x in plan.nest.inputs if plan.nest.moves(x) != "none"]
        if plan.vectors:
            c("#if TH_WIDE")
            _write_vectors(c, plan, plan.vectors, [x for x in moving if _is_read(plan, x)])
            c("#else")
        _write_elements(c, plan, plan.lanes, moving)
        if plan.vectors:
            c("#endif")
    c("")


def _write_vectors(c: CText, plan: LoopPlan, vectors: Vectors, read: Sequence[Operand]) -> None:
    """Write the loop over several vectors at a time; past the last one, the last one is computed again."""
    ctype, lanes, numbers = vectors.ctype, plan.lanes, range(vectors.together)
    c(f"const int64_t last = (n & -{lanes}) - {lanes};")
    with c.block(f"for (int64_t i0 = 0; i0 <= last; i0 += {lanes * vectors.together})"):
        for u in numbers[1:]:
            c(f"const int64_t i{u} = i0 + {lanes * u} < last ? i0 + {lanes * u} : last;")
        for x in read:
            c.extend(f"const {ctype} {x.name}_i_{u} = *(const {ctype}_near *)({x.name} + i{u});" for u in numbers)
        for y in plan.nest.outputs:
            c(f"{ctype} {', '.join(f'{y.name}_i_{u}' for u in numbers)};")
        c.extend(vectors.lines)
        for y in plan.nest.outputs:
            c.extend(f"*({ctype}_near *)({y.name} + i{u}) = {y.name}_i_{u};" for u in numbers)


def _write_rows(c: CText, plan: LoopPlan, name: str) -> None:
    nest = plan.nest
    c(f"static void {name}_rows(int64_t rows, int64_t n, char *const *data, const int64_t *step, const char *params)")
    with c.block():
        _write_operands(c, plan)
        with c.block("for (int64_t r = 0; r < rows; ++r)"):
            moving = [x for x in nest.inputs if nest.moves(x) != "none"]
            for x in moving:
                if nest.stands_still(x):
                    _write_load(c, plan, x, f"*{x.name}")
            _write_elements(c, plan, 1, [x for x in moving if not nest.stands_still(x)])
            for k, o in _moving(plan):
                _write_step(c, plan, o, f"step[{k}]")
    c("")


def _write_strided(c: CText, plan: LoopPlan, name: str) -> None:
    c(f"static void {name}_strided(int64_t n, char *const *data, const int64_t *step, const char *params)")
    with c.block():
        _write_operands(c, plan)
        moving = list(_moving(plan))
        for k, o in moving:
            c(f"const int64_t {o.name}_step = step[{k}];")
        with c.block("for (int64_t i = 0; i < n; ++i)"):
            c("TH_PLAIN_LOOP;")
            _write_body(c, plan, "[0]", [x for x in plan.nest.inputs if plan.nest.moves(x) != "none"])
            for _, o in moving:
                _write_step(c, plan, o, f"{o.name}_step")
    c("")


def _write_operands(c: CText, plan: LoopPlan) -> None:
    """Write constants, pointers, and what is one element for the whole loop."""
    c.extend(plan.body.declarations("params") or ["(void)params;"])
    for k, o in enumerate(plan.nest.operands):
        if not _is_read(plan, o):
            continue  # it lends only its shape
        if _is_one_element(plan, k):
            _write_load(c, plan, o, f"*({_pointer(plan, o)})data[{k}]")
        else:
            c(f"{_pointer(plan, o)}{o.name} = ({_pointer(plan, o)})data[{k}];")


def _write_elements(c: CText, plan: LoopPlan, vector: int, moving: Sequence[Operand]) -> None:
    read = [x.name for x in moving if is_narrow(x.dtype, plan.wide) and _is_read(plan, x)]
    written = [y.name for y in plan.nest.outputs if is_narrow(y.dtype, plan.wide)]
    with elements(c, "i", "n", vector, read, written, plan.wide) as index:
        _write_body(c, plan, f"[{index}]", moving, {*read, *written})


def _write_body(
    c: CText, plan: LoopPlan, index: str, moving: Sequence[Operand], buffered: Set[str] = frozenset()
) -> None:
    """Write what happens to one element; of the inputs, those that move are read for it, some from chunks."""

    def place(o: Operand) -> str:
        return f"{o.name}_wide[i]" if o.name in buffered else f"{o.name}{index}"

    for o in moving:
        _write_load(c, plan, o, place(o))
    for o in plan.nest.outputs:
        c(f"{type_in_loop(o.dtype, plan.wide)} {o.name}_i;")
    c.extend(plan.vectors.plain if plan.vectors else plan.body.lines)
    for o in plan.nest.outputs:
        c(store(o.dtype, place(o), f"{o.name}_i"))


def _pointer(plan: LoopPlan, o: Operand) -> str:
    return f"{'' if o in plan.nest.outputs else 'const '}{c_type(o.dtype)} *"


def _moving(plan: LoopPlan) -> Iterator[tuple[int, Operand]]:
    """Yield number and operand of what is a pointer in the loops."""
    for k, o in enumerate(plan.nest.operands):
        if _is_read(plan, o) and not _is_one_element(plan, k):
            yield k, o


def _write_step(c: CText, plan: LoopPlan, o: Operand, step: str) -> None:
    """Write that a pointer advances by this many bytes."""
    c(f"{o.name} = ({_pointer(plan, o)})((const char *){o.name} + {step});")


def _is_read(plan: LoopPlan, o: Operand) -> bool:
    return f"{o.name}_i" in plan.body.words


def _is_one_element(plan: LoopPlan, k: int) -> bool:
    """Whether operand number k is an input that is one element for the whole loop."""
    inputs = plan.nest.inputs
    return k < len(inputs) and plan.nest.moves(inputs[k]) == "none"


def _write_load(c: CText, plan: LoopPlan, o: Operand, place: str) -> None:
    if _is_read(plan, o):
        c(f"const {type_in_loop(o.dtype, plan.wide)} {o.name}_i = {load(o.dtype, place)};")


def _write_table(c: CText, plan: LoopPlan, name: str, any_strides: bool) -> None:
    """Write what the types say."""
    nest, by_row, strided = plan.nest, any_strides and plan.by_row, any_strides and plan.strided
    c(*_list(f"static const uint64_t {name}_ones[] = {{", [f"{x.ones:#x}" for x in nest.inputs], "};"))
    c(*_list(f"static const uint8_t {name}_kind[] = {{", [_KINDS[nest.moves(x)] for x in nest.inputs], "};"))
    c(*_list(f"static const int32_t {name}_over[] = {{", [str(i) for i in nest.over], "};"))
    numbers = [f"{plan.work:.2f}", *map(str, (len(nest.inputs), len(nest.outputs), nest.ndim, plan.lanes))]
    names = [f"{name}_{part}" for part in ("run", "ones", "kind", "over")]
    still = _bits(nest.stands_still(x) for x in nest.inputs) if by_row else 0
    order = [*names, *numbers, f"{name}_rows" if by_row else "NULL", f"{still:#x}"]
    order.append(f"{name}_strided" if strided else "NULL")
    c(*_list(f"static const th_loop {name}_loop = {{", order, "};"), "")


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << k for k, flag in enumerate(flags) if flag)


def _write_single(c: CText, plan: LoopPlan) -> None:
    """Write the kernel of numbers, which needs no loop."""
    nest = plan.nest
    c("int KERNEL(th_ctx *ctx)")
    with c.block():
        for k, i in enumerate(nest.over):
            taken = f"ctx->rt->view(ctx, ctx->out[{k}], ctx->in[{i}], ctx->in[{i}]->data, 0, NULL, NULL)"
            c(f"if ({taken if i >= 0 else f'ctx->rt->ensure(ctx, ctx->out[{k}], NULL)'})")
            c("    return -1;")
        c.extend(plan.body.declarations("(const char *)ctx->params"))
        for side, operands in (("in", nest.inputs), ("out", nest.outputs)):
            for k, o in enumerate(operands):
                if _is_read(plan, o):
                    c(f"{_pointer(plan, o)}{o.name} = ({_pointer(plan, o)})ctx->{side}[{k}]->data;")
        _write_body(c, plan, "[0]", nest.inputs)
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


@ready("th_kernel_dimshuffle", work=lambda op: VIEW_NS if is_view(op) else 0.5)
def dimshuffle_kernel(op: DimShuffle, node: Apply) -> Parameters:
    """Return the view (or a copy) of a tensor with its axes reordered, dropped and added.

    Reads ``op.new_order`` (axes and "x") and whether output 0 is declared a view.
    """
    order = [-1 if axis == "x" else int(axis) for axis in op.new_order]
    dropped = sum(1 << axis for axis in range(ndim_of(node.inputs[0])) if axis not in order)
    return DimshuffleParams(copies=not is_view(op), dropped=dropped, axes=order)


register(
    Lowering(Elemwise, elemwise_kernel, Accepts("*inputs -> *outputs", ndim={"inputs": "outputs"}), by_types=True),
    Lowering(ElemwiseOfNumbers, elemwise_kernel, Accepts("*inputs -> *outputs"), by_types=True),
    Lowering(DimShuffle, dimshuffle_kernel, Accepts("x -> y"), target=ANY, by_types=True),
)
