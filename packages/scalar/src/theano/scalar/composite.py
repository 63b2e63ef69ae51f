"""Composite: an expression of scalar operations as one operation.

Fusion makes them of chains of element-wise operations, so that one loop computes what
would be several. The expression is kept as a list of steps in a canonical order, without
variables: two Composites of the same expression are equal, whatever their variables were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType, IdentityOp, disconnected_type
from theano.gradient import grad as gradient_of
from theano.graph.apply import Apply
from theano.graph.clone import clone_replace
from theano.graph.fgraph import FunctionGraph
from theano.scalar.base import ScalarOp
from theano.scalar.broadcasting import broadcast_shape
from theano.scalar.c import support as support_of
from theano.scalar.cbody import CBody, names_of_blocks
from theano.scalar.convert import as_scalar
from theano.scalar.ctypes import compute_type, convert, literal
from theano.scalar.dtypes import is_discrete
from theano.scalar.joined import joined_steps
from theano.scalar.program import Program, Ref, Step, compile_program, in_computed_dtype
from theano.scalar.type import Scalar, ScalarApply, get_scalar_type

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.op import Op
    from theano.graph.variable import Variable
    from theano.scalar.annotations import Number

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "true_div": "/", "int_div": "//", "mod": "%", "pow": "**", "and_": "&",
    "or_": "|", "xor": "^", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "eq": "==", "neq": "!=",
}  # fmt: skip
_PREFIX = {"neg": "-", "invert": "~"}


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

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).from_program, (self.program,)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.program == other.program)

    def __hash__(self) -> int:
        return self._hash

    # -- the expression as variables ------------------------------------------------------------------

    def unfold(self, inputs: Sequence[Any]) -> list[Number]:
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

        def form(*arrays: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
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

    def perform(self, node: ScalarApply, inputs: Values, output_storage: Storage) -> None:
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
        joined = joined_steps(program)
        parts = {place for whole in joined.values() for place in whole.inner}
        for i, step in enumerate(program.steps):
            if i in parts:  # of the only step that uses it
                texts["step"].append("")
                continue
            local = re.sub(r"\W", "", getattr(step.op, "op_name", type(step.op).__name__).strip("_")) + f"_{i}"
            while local in taken:
                local += "_"
            body: CBody | None
            if i in joined:
                whole = joined[i]
                given = [self._argument(program, program.steps[s], k, texts)[0] for s, k in whole.arguments]
                body = CBody([f"{local} = {whole.text.format(*given)};"], (*support_of([whole.block]),))
            else:
                arguments = [self._argument(program, step, k, texts) for k in range(len(step.arguments))]
                names, dtypes = zip(*arguments, strict=True)
                body = step.op.c_statements(names, dtypes, [local], [step.dtype])
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
    def _argument(
        program: Program, step: Step, position: int, texts: dict[str, list[str]]
    ) -> tuple[str, str]:
        """Return the C text and dtype of an argument; constants in the dtype computed with, as users write them."""
        ref = step.arguments[position]
        if ref.source == "constant":
            found = in_computed_dtype(program, step, position)
            return literal(found.value, found.dtype), found.dtype
        return texts[ref.source][ref.place], program.dtype_of(ref)

    # -- gradient ---------------------------------------------------------------------------------------

    def grad(self, inputs: Sequence[Number], output_gradients: Sequence[Number]) -> list[Any]:
        return self.L_op(inputs, [], output_gradients)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return the gradient with respect to each input, by going back through the steps."""
        # New inputs: those given may depend on each other, which is not this operation's affair.
        fresh = [x.type() for x in inputs]
        known: dict[Any, Any] = {}
        for out, g in zip(self.unfold(fresh), output_gradients, strict=True):
            if not isinstance(g.type, DisconnectedType) and not is_discrete(out.type.dtype):
                # A separate view for each: a known gradient replaces those from a variable's other uses.
                known[IdentityOp()(out)] = g
        if not known:
            return [x.zeros_like("floatX" if is_discrete(x.type.dtype) else None) for x in inputs]
        slopes = gradient_of(
            None, fresh, known_grads=known, disconnected_inputs="ignore", return_disconnected="disconnected"
        )
        found = clone_replace(list(slopes), dict(zip(fresh, inputs, strict=True)))
        return [disconnected_type() if isinstance(s.type, DisconnectedType) else s for s in found]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
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


def _application(op: Op, arguments: Sequence[str]) -> str:
    name = getattr(op, "op_name", "")
    if name in _INFIX and len(arguments) > 1:
        return f"({f' {_INFIX[name]} '.join(arguments)})"
    if name in _PREFIX:
        return f"({_PREFIX[name]}{arguments[0]})"
    return f"{op}({', '.join(arguments)})"
