"""Loops as one C function: those over numbers, and those over vectors whose elements know nothing of each other.

The rewritten step is one scalar expression, and a step does nothing but its arithmetic (:mod:`theano.scan.writer`).
A product and what is added to it are rounded once where the CPU can, as in products of matrices. What else a step may
be runs in the machine (:mod:`theano.scan.run`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.compile.mode import get_mode
from theano.graph import Apply, Constant, FunctionGraph
from theano.graph.kernel import Kernel
from theano.lowering.accepts import KNOWN, Accepts, dtype_of
from theano.lowering.table import Lowering, register
from theano.rewriting import rewrite
from theano.scalar.base import at_output
from theano.scalar.c import support
from theano.scalar.cbody import CBody
from theano.scalar.ctypes import storage_support
from theano.scalar.program import Program, Ref, Step, in_order_of_use
from theano.scan.op import Scan
from theano.scan.spec import LoopSpec
from theano.scan.writer import NumbersWriter, Value, VectorsWriter
from theano.tensor.convert import is_tensor
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels.body import body_of
from theano.tensor.kernels.common import c_text, title
from theano.tensor.kernels.parameters import Constants
from theano.tensor.rules.joining import scalar_expression

if TYPE_CHECKING:
    from theano.graph.variable import Variable

# Nanoseconds for an operation and for a call of a function, one step after the other.
_LINE_NS, _SUPPORT_NS = 1.0, 8.0


class _MultiplyAdd:
    """``a b + c``, rounded once where the CPU can: half the time of two operations that wait for each other."""

    op_name = "multiply_add"
    compute_rule, ignored_inputs, conditions = at_output, (), ()

    def c_statements(
        self, names: Sequence[str], dtypes: Sequence[str], out_names: Sequence[str], out_dtypes: Sequence[str]
    ) -> CBody:
        """Return the operation in C."""
        call = "TH_FMA" if out_dtypes[0] == "float64" else "TH_FMAF"
        return CBody([f"{out_names[0]} = {call}({', '.join(names)});"], support(["fma"]))


_MULTIPLY_ADD = _MultiplyAdd()


def loop_function(op: Scan, node: Apply) -> Kernel | None:
    """Return a loop as one function, where a step is arithmetic alone, on numbers or element by element."""
    # A step that is profiled runs node by node.
    if op.mode is not None or op.profile or op.including or not _can_store(op.spec):
        return None
    found = op.inner.derived("scalar expression", lambda: _expression(op))
    if found is None:
        return None
    expression, single = found
    spec: LoopSpec = op.spec
    inputs, outputs = [dtype_of(v) for v in op.inner.inputs], [dtype_of(v) for v in op.inner.outputs]
    values = [Value(f"x{i}", dtype) for i, dtype in enumerate(inputs)]
    own = spec.inner_inputs(values)
    made = spec.inner_outputs([Value(f"y{i}", dtype) for i, dtype in enumerate(outputs)])
    names = [[f"{v.name}_i" for v in group] for group in (own.flat(), made.flat())]
    body = body_of(expression, names[0], inputs, names[1], outputs)
    if body is None:
        return None
    blocks = [*storage_support(*inputs, *outputs), *body.support]
    if all(single):
        source = str(NumbersWriter(spec, own, made, body).write())
    else:
        numbers = {v.name for v, is_number in zip(values, single, strict=True) if is_number}
        source = str(VectorsWriter(spec, own, made, body, numbers).write())
        blocks += [c_text("loops.h"), *VectorsWriter.support]
    work = 1.0 + _LINE_NS * len(body.lines) + _SUPPORT_NS * len(body.support)
    return Kernel(title(op, node), source, tuple(dict.fromkeys(blocks)), Constants(numbers=body.params), work)


def _has(ndim: int, v: Variable, *, stretched: bool = False) -> bool:
    return is_tensor(v) and v.type.broadcastable == (stretched,) * ndim and v.type.dtype in KNOWN.names


def _can_store(spec: LoopSpec) -> bool:
    """Return whether what is kept is all rows, or so few that they are local variables at the end."""
    most = [*(depth + 1 for depth in spec.depths), *(1 for _ in range(spec.mapped))]
    return all(k is None or k <= m for k, m in zip(spec.keep, most, strict=True)) and not (
        spec.until and any(k is not None for k in spec.keep)
    )


def _expression(op: Scan) -> tuple[Any, list[bool]] | None:
    """Return the rewritten step as one scalar operation, and which of its inputs are numbers.

    None where a step is more than arithmetic, or vectors may differ in length.
    """
    spec: LoopSpec = op.spec
    graph: Any = FunctionGraph(op.inner.inputs, op.inner.outputs)
    ndim = 0 if all(_has(0, v) for v in graph.outputs) else 1
    # What no step changes may be a number for all elements: one that a step stretches, or one stretched outside.
    read = spec.inner_inputs(graph.inputs)
    unchanged = [*read.fixed, *(v for taps in read.sequences for v in taps)]
    numbers = {v for v in unchanged if _has(0, v) or (ndim and _has(1, v, stretched=True))}
    vectors = [v for v in graph.inputs if v not in numbers]
    if not all(_has(ndim, v) for v in (*vectors, *graph.outputs)) or (ndim and (spec.until or not vectors)):
        return None
    if not all(is_tensor(v) and v.type.ndim <= ndim for n in graph.apply_nodes for v in n.outputs):
        return None
    rewrite(graph, get_mode(None).excluding("inplace", "placement", "read_numbers").optimizer)
    nodes: list[Any] = graph.toposort()
    lifted = (n for n in nodes if isinstance(n.op, DimShuffle) and n.inputs[0] in graph.inputs)
    stretched = {n.outputs[0]: n.inputs[0] for n in lifted if n.inputs[0].type.ndim == 0}
    nodes = [n for n in nodes if n.outputs[0] not in stretched]
    # In the place of results that are constants, or inputs as they are, stand themselves.
    if not all(isinstance(n.op, Elemwise) and n.outputs[0].type.ndim == ndim for n in nodes):
        return None
    if ndim and not _of_one_length(graph, nodes):
        return None
    outside, known = scalar_expression(nodes, [*graph.inputs, *graph.outputs])
    given = {v for v in outside if v in graph.inputs or v in stretched}
    if any(v not in given and not isinstance(x, Constant) for v, x in outside.items()):  # vectors of their own, too
        return None
    read_as = {number: outside[v] for v, number in stretched.items() if v in outside}
    composite = scal.Composite([read_as.get(v, outside[v]) for v in graph.inputs], [known[v] for v in graph.outputs])
    single = [not ndim or v in numbers for v in graph.inputs]
    return scal.Composite.from_program(_rounded_once(composite.program)), single


def _of_one_length(graph: Any, nodes: Sequence[Any]) -> bool:
    """Return whether all vectors of a step are in expressions with each other, which holds their lengths together."""
    vectors = [v for v in (*graph.inputs, *graph.outputs) if v.type.broadcastable == (False,)]
    if any(isinstance(v, Constant) for v in graph.outputs):
        return False
    groups: list[set[Any]] = [{v} for v in dict.fromkeys(vectors)]
    for node in nodes:
        joined = {v for v in (*node.inputs, *node.outputs) if v.type.broadcastable == (False,)}
        if joined:
            apart = [g for g in groups if not g & joined]
            groups = [*apart, joined.union(*(g for g in groups if g & joined))]
    return len(groups) == 1


def _rounded_once(program: Program) -> Program:
    """Return a program in which a product that is added to something, and nothing else, is one step with the sum.

    Which of two products that would be is ambiguous: their sum stays as it is.
    """
    uses, steps = program.uses(), list(program.steps)

    def is_product(ref: Ref, dtype: str) -> bool:
        made = program.steps[ref.place] if ref.source == "step" else None
        return made is not None and made.op == scal.mul and len(made.arguments) == 2 and made.dtype == dtype

    for k, step in enumerate(program.steps):
        if step.op != scal.add or len(step.arguments) != 2 or step.dtype not in ("float32", "float64"):
            continue
        products = [ref for ref in step.arguments if is_product(ref, step.dtype)]
        if len(products) != 1 or uses[products[0]] != 1:
            continue
        (rest,) = (ref for ref in step.arguments if ref != products[0])
        terms = (*program.steps[products[0].place].arguments, rest)
        if all(program.dtype_of(ref) == step.dtype for ref in terms):
            steps[k] = Step(_MULTIPLY_ADD, terms, step.dtype)
    return in_order_of_use(program._replace(steps=tuple(steps)))


register(Lowering(Scan, loop_function, Accepts("*inputs -> *outputs")))
