"""Expressions of scalar operations as data: steps in order, without variables.

Two expressions that are written alike are equal, whatever their variables were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph.traverse import toposort
from theano.records import NamedTuple
from theano.scalar.base import ScalarOp
from theano.scalar.dtypes import is_complex, is_discrete
from theano.scalar.variable import ScalarConstant

if TYPE_CHECKING:
    from theano.graph.op import Op
    from theano.scalar.annotations import Number

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
    def value(self) -> np.generic:
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

    def constant(self, value: np.generic, dtype: str) -> Ref:
        bits = np.asarray(value, dtype).tobytes()
        return Ref("constant", self.constants.setdefault(Literal(dtype, bits), len(self.constants)))

    def step(self, op: Op, arguments: Sequence[Ref], dtype: str) -> Ref:
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


def compile_program(inputs: Sequence[Number], outputs: Sequence[Number]) -> Program:
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
        own = getattr(node.op, "program", None)
        if isinstance(own, Program):
            results = writer.inline(own, arguments)
        elif isinstance(node.op, ScalarOp) and len(node.outputs) == 1:
            results = [writer.step(node.op, arguments, node.outputs[0].type.dtype)]
        else:
            raise TypeError(f"a Composite is made of scalar operations of one output, not of {node.op}")
        place.update(zip(node.outputs, results, strict=True))
    return in_order_of_use(writer.finish([find(v) for v in outputs]))


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
            found = in_computed_dtype(program, step, position) if ref.source == "constant" else None
            if found is not None and is_discrete(step.dtype) and getattr(step.op, "op_name", "") in _FASTER_KNOWN:
                arguments.append(writer.constant(found.value, found.dtype))
            else:
                arguments.append(place(ref, found))
        made.append(writer.step(step.op, arguments, step.dtype))
    outputs = [place(ref, None) for ref in program.outputs]
    inputs = (*program.inputs, *(found.dtype for found in lifted))
    return Program(inputs, tuple(writer.constants), tuple(writer.steps), tuple(outputs)), tuple(lifted)


def in_computed_dtype(program: Program, step: Step, position: int) -> Literal:
    """Return a constant argument of a step in the dtype in which the step computes, as users would write it."""
    found = program.constants[step.arguments[position].place]
    dtype = type(step.op).compute_rule(tuple(program.dtype_of(a) for a in step.arguments), step.dtype)
    taken_as_it_is = not dtype or step.op.ignored_inputs or position in step.op.conditions
    if taken_as_it_is or is_complex(dtype) or dtype == "float16":
        return found
    return Literal(dtype, found.value.astype(dtype).tobytes())
