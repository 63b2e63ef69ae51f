"""Composite: an expression of scalar operations as one operation.

Fusion makes them of chains of element-wise operations, so that one loop computes what
would be several. The expression is kept as a list of steps in a canonical order, without
variables: two Composites of the same expression are equal, whatever their variables were.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from theano.gradient import DisconnectedType, ViewOp, disconnected_type
from theano.gradient import grad as gradient_of
from theano.graph.apply import Apply
from theano.graph.clone import clone_replace
from theano.graph.fgraph import FunctionGraph
from theano.graph.traverse import toposort
from theano.scalar.base import ScalarOp, at_output
from theano.scalar.broadcasting import broadcast_shape
from theano.scalar.c import support as support_of
from theano.scalar.c import symbol
from theano.scalar.cbody import CBody, names_of_blocks
from theano.scalar.convert import as_scalar
from theano.scalar.ctypes import compute_type, convert, literal
from theano.scalar.dtypes import is_complex, is_discrete
from theano.scalar.type import Scalar, ScalarApply, get_scalar_type
from theano.scalar.variable import ScalarConstant

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "true_div": "/", "int_div": "//", "mod": "%", "pow": "**", "and_": "&",
    "or_": "|", "xor": "^", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "eq": "==", "neq": "!=",
}  # fmt: skip
_PREFIX = {"neg": "-", "invert": "~"}
# Of whole numbers, a compiler turns these into multiplications and shifts, which fill vectors, if it knows the number.
_FASTER_KNOWN = frozenset(("int_div", "mod", "pow"))


class Ref(NamedTuple):
    """Where a value comes from: ``("input", i)``, ``("constant", i)`` or ``("step", i)``.

    Examples
    --------
    >>> Ref("input", 0)
    Ref(source='input', place=0)
    """

    source: str
    place: int


class Step(NamedTuple):
    """One operation of a Composite, its arguments and the dtype of its result.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> Step(ts.exp, (Ref("input", 0),), "float64").op
    exp
    """

    op: Any
    arguments: tuple[Ref, ...]
    dtype: str


class Literal(NamedTuple):
    r"""A constant by its bits, so that nan equals itself and 0.0 is not -0.0.

    Examples
    --------
    >>> Literal("int8", b"\x02").value
    np.int8(2)
    """

    dtype: str
    bits: bytes

    @property
    def value(self) -> Any:
        """The number."""
        return np.frombuffer(self.bits, self.dtype)[0]


class Program(NamedTuple):
    """An expression as data: dtypes of the inputs, constants, steps in order, and what is returned.

    Examples
    --------
    >>> Program(("int8",), (), (), (Ref("input", 0),)).dtype_of(Ref("input", 0))
    'int8'
    """

    inputs: tuple[str, ...]
    constants: tuple[Literal, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Ref, ...]

    def dtype_of(self, ref: Ref) -> str:
        """Return the dtype of a value."""
        if ref.source == "input":
            return self.inputs[ref.place]
        return self.constants[ref.place].dtype if ref.source == "constant" else self.steps[ref.place].dtype

    def uses(self) -> Counter[Ref]:
        """Return how often each value is used, as an argument or as an output."""
        return Counter([a for step in self.steps for a in step.arguments] + list(self.outputs))


class _Writer:
    """Collects the steps of a program, each distinct one once."""

    def __init__(self, inputs: Sequence[str]):
        self.inputs = tuple(inputs)
        self.constants: dict[Literal, int] = {}
        self.steps: dict[Step, int] = {}

    def constant(self, value: Any, dtype: str) -> Ref:
        bits = np.asarray(value, dtype).tobytes()
        return Ref("constant", self.constants.setdefault(Literal(dtype, bits), len(self.constants)))

    def step(self, op: Any, arguments: Sequence[Ref], dtype: str) -> Ref:
        made = Step(op, tuple(arguments), dtype)
        return Ref("step", self.steps.setdefault(made, len(self.steps)))

    def inline(self, program: Program, arguments: Sequence[Ref]) -> list[Ref]:
        """Append the steps of another program and return its outputs."""
        constants = [self.constant(c.value, c.dtype) for c in program.constants]
        made: list[Ref] = []

        def place(ref: Ref) -> Ref:
            return {"input": arguments, "constant": constants, "step": made}[ref.source][ref.place]

        for step in program.steps:
            made.append(self.step(step.op, [place(a) for a in step.arguments], step.dtype))
        return [place(o) for o in program.outputs]

    def finish(self, outputs: Sequence[Ref]) -> Program:
        return Program(self.inputs, tuple(self.constants), tuple(self.steps), tuple(outputs))


def compile_program(inputs: Sequence[Any], outputs: Sequence[Any]) -> Program:
    """Return the program that computes scalar variables from others.

    Parameters
    ----------
    inputs, outputs : list of scalar variables

    Examples
    --------
    >>> import theano.scalar as ts
    >>> x = ts.float64("x")
    >>> [step.op for step in compile_program([x], [ts.exp(x) * ts.exp(x)]).steps]
    [exp, mul]
    """
    writer = _Writer([v.type.dtype for v in inputs])
    place: dict[Any, Ref] = {v: Ref("input", i) for i, v in enumerate(inputs)}

    def find(variable: Any) -> Ref:
        if variable not in place:
            if not isinstance(variable, ScalarConstant):
                raise ValueError(f"a Composite is made with {variable}, which is not among its inputs {list(inputs)}")
            place[variable] = writer.constant(variable.data, variable.type.dtype)
        return place[variable]

    for node in toposort(outputs, inputs):
        arguments = [find(v) for v in node.inputs]
        if isinstance(node.op, Composite):
            results = writer.inline(node.op.program, arguments)
        elif isinstance(node.op, ScalarOp) and len(node.outputs) == 1:
            results = [writer.step(node.op, arguments, node.outputs[0].type.dtype)]
        else:
            raise TypeError(f"a Composite is made of scalar operations of one output, not of {node.op}")
        place.update(zip(node.outputs, results, strict=True))
    return in_order_of_use(writer.finish([find(v) for v in outputs]))


#: Two operations of one argument, the outer and the inner, that are one function in C, where it has a block.
_TOGETHER = {("inv", "sqrt"): "rsqrt"}


def _joined_steps(program: Program) -> dict[int, tuple[str, str]]:
    """Return the steps that are computed together with the only one that uses them: the function and its block."""
    uses = program.uses()
    found: dict[int, tuple[str, str]] = {}
    for step in program.steps:
        ref = step.arguments[0] if len(step.arguments) == 1 else None
        if ref is None or ref.source != "step" or uses[ref] != 1:
            continue
        inner = program.steps[ref.place]
        names = (getattr(step.op, "op_name", ""), getattr(inner.op, "op_name", ""))
        called = symbol(_TOGETHER[names], step.dtype) if names in _TOGETHER else None
        same = {step.dtype, inner.dtype, program.dtype_of(inner.arguments[0])} == {step.dtype}
        if called is not None and called[1] is not None and same:
            found[ref.place] = (called[0], called[1])
    return found


def in_order_of_use(program: Program) -> Program:
    """Return the same program with the steps that the outputs need, in the order in which they need them.

    The order in which variables were found depends on how the expression was built; this one does not.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> exp, log = (Step(op, (Ref("input", 0),), "float64") for op in (ts.exp, ts.log))
    >>> in_order_of_use(Program(("float64",), (), (exp, log), (Ref("step", 1),))).steps[0].op
    log
    """
    writer = _Writer(program.inputs)
    place: dict[Ref, Ref] = {}
    pending = list(reversed(program.outputs))
    while pending:
        ref = pending[-1]
        if ref in place:
            pending.pop()
        elif ref.source == "input":
            place[ref] = ref
        elif ref.source == "constant":
            found = program.constants[ref.place]
            place[ref] = writer.constant(found.value, found.dtype)
        else:
            step = program.steps[ref.place]
            missing = [a for a in step.arguments if a not in place]
            if missing:
                pending.extend(reversed(missing))
            else:
                place[ref] = writer.step(step.op, [place[a] for a in step.arguments], step.dtype)
    return writer.finish([place[o] for o in program.outputs])


def lift_constants(program: Program) -> tuple[Program, tuple[Literal, ...]]:
    """Return a program that takes its constants as further inputs, and what they are worth.

    Each is in the dtype in which it is computed with, so nothing is converted in a loop. Whole numbers stay where
    they are if code that knows them is faster: divisors, exponents.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> x, i = ts.float32("x"), ts.int64("i")
    >>> program, constants = lift_constants(compile_program([x, i], [ts.exp(x) * 3, i // 10]))
    >>> program.inputs, [c.value for c in constants], [c.value for c in program.constants]
    (('float32', 'int64', 'float32'), [np.float32(3.0)], [np.int64(10)])
    """
    writer = _Writer(program.inputs)
    lifted: dict[Literal, Ref] = {}
    made: list[Ref] = []

    def place(ref: Ref, found: Literal | None) -> Ref:
        if ref.source != "constant":
            return ref if ref.source == "input" else made[ref.place]
        found = found or program.constants[ref.place]
        return lifted.setdefault(found, Ref("input", len(program.inputs) + len(lifted)))

    for step in program.steps:
        arguments = []
        for position, ref in enumerate(step.arguments):
            found = _in_computed_dtype(program, step, position) if ref.source == "constant" else None
            if found is not None and is_discrete(step.dtype) and getattr(step.op, "op_name", "") in _FASTER_KNOWN:
                arguments.append(writer.constant(found.value, found.dtype))
            else:
                arguments.append(place(ref, found))
        made.append(writer.step(step.op, arguments, step.dtype))
    outputs = [place(ref, None) for ref in program.outputs]
    inputs = (*program.inputs, *(found.dtype for found in lifted))
    return Program(inputs, tuple(writer.constants), tuple(writer.steps), tuple(outputs)), tuple(lifted)


def _in_computed_dtype(program: Program, step: Step, position: int) -> Literal:
    """Return a constant argument of a step in the dtype in which the step computes, as users would write it."""
    found = program.constants[step.arguments[position].place]
    if type(step.op).compute_rule is not at_output or step.op.ignored_inputs or position in step.op.conditions:
        return found
    if is_complex(step.dtype) or step.dtype == "float16":
        return found
    return Literal(step.dtype, found.value.astype(step.dtype).tobytes())


class Composite(ScalarOp):
    r"""An expression of scalar operations as one operation, with any number of outputs.

    Parameters
    ----------
    inputs : list of scalar variables
    outputs : list of scalar variables
        Computed from ``inputs`` and constants. Composites among the operations are taken apart.

    Attributes
    ----------
    program : Program
        The expression.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> x, y = ts.floats("x", "y")
    >>> both = Composite([x, y], [x + y, ts.exp(x + y) * 2])
    >>> both
    Composite{t0, (exp(t0) * 2) where t0 = (i0 + i1)}
    >>> both.impl(0.5, 0.5)
    (np.float64(1.0), np.float64(5.43656365691809))
    >>> print("\n".join(both.c_statements(["a", "b"], ["float64"] * 2, ["c", "d"], ["float64"] * 2).lines))
    const double add_0 = a + b;
    const double exp_1 = th_exp_f64(add_0);
    const double mul_2 = exp_1 * 2.0;
    c = add_0;
    d = mul_2;
    """

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]):
        super().__init__()
        self._set_program(compile_program(inputs, outputs))

    @classmethod
    def from_program(cls, program: Program) -> Composite:
        """Return the operation that a program describes."""
        self = cls.__new__(cls)
        ScalarOp.__init__(self)
        self._set_program(program)
        return self

    def _set_program(self, program: Program) -> None:
        self.program = program
        self.nin, self.nout = len(program.inputs), len(program.outputs)
        self._hash = hash((type(self), program))

    def __reduce__(self) -> Any:
        return type(self).from_program, (self.program,)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.program == other.program)

    def __hash__(self) -> int:
        return self._hash

    # -- the expression as variables ------------------------------------------------------------------

    def unfold(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the outputs as an expression of other inputs; their dtypes may differ from the declared ones."""
        values: dict[str, list[Any]] = {"input": list(inputs), "step": []}
        values["constant"] = [get_scalar_type(c.dtype).make_constant(c.value) for c in self.program.constants]
        for step in self.program.steps:
            values["step"].append(step.op(*[values[a.source][a.place] for a in step.arguments]))
        return [values[o.source][o.place] for o in self.program.outputs]

    @property
    def fgraph(self) -> FunctionGraph:
        """The expression as a new graph."""
        inputs = [get_scalar_type(d)(f"i{i}") for i, d in enumerate(self.program.inputs)]
        return FunctionGraph(inputs, self.unfold(inputs), clone=False)

    @property
    def inputs(self) -> list[Any]:
        """Variables that stand for the inputs."""
        return list(self.fgraph.inputs)

    @property
    def outputs(self) -> list[Any]:
        """The outputs, as an expression of new variables."""
        return list(self.fgraph.outputs)

    # -- types ----------------------------------------------------------------------------------------

    def _for_types(self, types: Sequence[Scalar]) -> Composite:
        """Return this operation with inputs of other dtypes."""
        if tuple(t.dtype for t in types) == self.program.inputs:
            return self
        inputs = [t() for t in types]
        return Composite(inputs, self.unfold(inputs))

    def output_types(self, types: Sequence[Scalar]) -> list[Scalar]:
        """Return the types of the outputs for inputs of given types."""
        program = self._for_types(types).program
        return [get_scalar_type(program.dtype_of(o)) for o in program.outputs]

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node; for inputs of other dtypes, that of the Composite for those."""
        if len(inputs) != self.nin:
            raise TypeError(f"{self} takes {self.nin} inputs, got {len(inputs)}: {list(inputs)}")
        scalars = [as_scalar(x) for x in inputs]
        op = self._for_types([s.type for s in scalars])
        return Apply(op, scalars, [get_scalar_type(op.program.dtype_of(o))() for o in op.program.outputs])

    def _for_dtypes(self, dtypes: Sequence[str]) -> Composite:
        return self._for_types([get_scalar_type(d) for d in dtypes])

    # -- Python ---------------------------------------------------------------------------------------

    def numpy_form(self, out_dtypes: Sequence[str]) -> Callable[..., Any]:
        """Return the expression as a function of NumPy arrays that broadcast."""
        wanted = [np.dtype(d) for d in out_dtypes]

        def form(*arrays: Any) -> Any:
            given = [np.asarray(a) for a in arrays]
            program = self._for_dtypes([a.dtype.name for a in given]).program
            values: dict[str, list[Any]] = {"input": given, "step": []}
            values["constant"] = [np.asarray(c.value) for c in program.constants]
            for step in program.steps:
                arguments = [values[a.source][a.place] for a in step.arguments]
                values["step"].append(step.op.numpy_form([step.dtype])(*arguments))
            shape = broadcast_shape(*[a.shape for a in given])
            results = []
            for ref, dtype in zip(program.outputs, wanted, strict=True):
                value = np.asarray(values[ref.source][ref.place])
                fresh = ref.source == "step" and value.shape == shape and program.outputs.count(ref) == 1
                whole = value.astype(dtype, copy=False) if fresh else np.array(np.broadcast_to(value, shape), dtype)
                results.append(whole)
            return results[0] if len(results) == 1 else tuple(results)

        return form

    def perform(self, node: ScalarApply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compute in Python."""
        results = self.numpy_form([v.type.dtype for v in node.outputs])(*inputs)
        for cell, value in zip(output_storage, [results] if self.nout == 1 else results, strict=True):
            cell[0] = value[()]

    # -- C --------------------------------------------------------------------------------------------

    def c_statements(
        self,
        in_names: Sequence[str],
        in_dtypes: Sequence[str],
        out_names: Sequence[str],
        out_dtypes: Sequence[str],
    ) -> CBody | None:
        """Return the expression in C, one local for each step, or None if a step has no C form."""
        program = self._for_dtypes(in_dtypes).program
        taken = {*in_names, *out_names}
        texts: dict[str, list[str]] = {"input": list(in_names), "step": []}
        texts["constant"] = [literal(c.value, c.dtype) for c in program.constants]
        lines: list[str] = []
        support: dict[str, None] = {}
        joined = _joined_steps(program)
        for i, step in enumerate(program.steps):
            if i in joined:  # part of the only step that uses it
                texts["step"].append("")
                continue
            local = re.sub(r"\W", "", getattr(step.op, "op_name", type(step.op).__name__).strip("_")) + f"_{i}"
            while local in taken:
                local += "_"
            names, dtypes = zip(
                *[self._argument(program, step, i, texts) for i in range(len(step.arguments))], strict=True
            )
            body = step.op.c_statements(names, dtypes, [local], [step.dtype])
            inner = step.arguments[0].place if step.arguments and step.arguments[0].source == "step" else None
            if inner in joined:
                call, block = joined[inner]
                argument, _ = self._argument(program, program.steps[inner], 0, texts)
                body = CBody([f"{local} = {call}({argument});"], (*support_of([block]),))
            if body is None:
                return None
            if len(body.lines) == 1:
                lines.append(f"const {compute_type(step.dtype)} {body.lines[0]}")
            else:
                lines += [f"{compute_type(step.dtype)} {local};", *body.lines]
            support.update(dict.fromkeys(body.support))
            texts["step"].append(local)
        for name, dtype, ref in zip(out_names, out_dtypes, program.outputs, strict=True):
            line = f"{name} = {convert(texts[ref.source][ref.place], program.dtype_of(ref), dtype)};"
            lines.append(line)
            support.update(dict.fromkeys(support_of(names_of_blocks(line))))
        return CBody(lines, tuple(support))

    @staticmethod
    def _argument(program: Program, step: Step, position: int, texts: dict[str, list[str]]) -> tuple[str, str]:
        """Return the C text and dtype of an argument; constants in the dtype computed with, as users write them."""
        ref = step.arguments[position]
        if ref.source == "constant":
            found = _in_computed_dtype(program, step, position)
            return literal(found.value, found.dtype), found.dtype
        return texts[ref.source][ref.place], program.dtype_of(ref)

    # -- gradient ---------------------------------------------------------------------------------------

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the gradient with respect to each input."""
        return self.L_op(inputs, [], output_gradients)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the gradient with respect to each input, by going back through the steps."""
        # New inputs: those given may depend on each other, which is not this operation's affair.
        fresh = [x.type() for x in inputs]
        known: dict[Any, Any] = {}
        for out, g in zip(self.unfold(fresh), output_gradients, strict=True):
            if not isinstance(g.type, DisconnectedType) and not is_discrete(out.type.dtype):
                # A view of its own for each: what is known of a variable replaces what comes from its other uses.
                known[ViewOp()(out)] = g
        if not known:
            return [x.zeros_like("floatX" if is_discrete(x.type.dtype) else None) for x in inputs]
        slopes = gradient_of(
            None, fresh, known_grads=known, disconnected_inputs="ignore", return_disconnected="disconnected"
        )
        found = clone_replace(list(slopes), dict(zip(fresh, inputs, strict=True)))
        return [disconnected_type() if isinstance(s.type, DisconnectedType) else s for s in found]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return, for each input, whether each output depends on it."""
        reach: list[set[int]] = []

        def inputs_of(ref: Ref) -> set[int]:
            return {ref.place} if ref.source == "input" else reach[ref.place] if ref.source == "step" else set()

        for step in self.program.steps:
            ignored = step.op.ignored_inputs
            reach.append(set().union(*[inputs_of(a) for i, a in enumerate(step.arguments) if i not in ignored]))
        found = [inputs_of(o) for o in self.program.outputs]
        return [[i in each for each in found] for i in range(self.nin)]

    # -- text -------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        program, uses = self.program, self.program.uses()
        shared: dict[Ref, str] = {}
        for i in range(len(program.steps)):
            if uses[Ref("step", i)] > 1:
                shared[Ref("step", i)] = f"t{len(shared)}"
        inline: list[str] = []

        def text(ref: Ref) -> str:
            if ref.source == "input":
                return f"i{ref.place}"
            if ref.source == "constant":
                return str(program.constants[ref.place].value)
            return shared.get(ref) or inline[ref.place]

        for step in program.steps:
            inline.append(_application(step.op, [text(a) for a in step.arguments]))
        where = ", ".join(f"{name} = {inline[ref.place]}" for ref, name in shared.items())
        return f"Composite{{{', '.join(text(o) for o in program.outputs)}{' where ' * bool(where)}{where}}}"


def _application(op: Any, arguments: Sequence[str]) -> str:
    name = getattr(op, "op_name", "")
    if name in _INFIX and len(arguments) > 1:
        return f"({f' {_INFIX[name]} '.join(arguments)})"
    if name in _PREFIX:
        return f"({_PREFIX[name]}{arguments[0]})"
    return f"{op}({', '.join(arguments)})"
