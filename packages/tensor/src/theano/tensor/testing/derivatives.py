"""What an op says without computing: the shapes of its outputs, its gradient, its R-operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.mode import Mode
from theano.errors import DisconnectedInputError, GradientError, MethodNotDefined, NullTypeGradError
from theano.gradient import Rop, grad
from theano.gradient.absent import is_disconnected, is_null
from theano.graph import Op, Variable
from theano.graph.op_contract import answers
from theano.tensor.convert import as_tensor_variable
from theano.tensor.reduce.functions import sum as tensor_sum
from theano.tensor.testing.examples import Example, Fault, is_floating
from theano.tensor.testing.values import compiled, fresh
from theano.tensor.testing.verify import verify_grad
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.type import Tensor

#: Nothing is rewritten: what is checked is the op.
PLAIN = Mode(optimizer=None)

#: What an op raises that has no derivative, or says that it has none.
NO_DERIVATIVE = (MethodNotDefined, NullTypeGradError, DisconnectedInputError)


IN_PLACE = "the op works in place, where only rewriting puts it: derivatives are those of the op whose place it takes"


# -- shapes --------------------------------------------------------------------------------------------------------


def check_shapes(example: Example) -> str | None:
    """``infer_shape`` says the shapes that the outputs have, and does not ask for the outputs."""
    node = example.node
    if not answers(node.op, "infer_shape"):
        return "the op has no infer_shape: shapes of its outputs cost as much as the outputs"
    asked, lengths = _symbolic_shapes(example)
    said = node.op.infer_shape(node, asked)
    if len(said) != len(node.outputs):
        raise Fault(f"infer_shape returns {len(said)} shapes, and there are {len(node.outputs)} outputs")
    results = compiled(example, list(example.outputs), PLAIN)(*fresh(example))
    for k, (v, shape, value) in enumerate(zip(node.outputs, said, results, strict=True)):
        if shape is None or not isinstance(v.type, TensorType):
            continue
        if len(shape) != v.type.ndim:
            raise Fault(f"infer_shape returns {len(shape)} lengths for output {k}, which has {v.type.ndim} dimensions")
        numbers = _lengths(shape, example, lengths)
        if numbers != value.shape:
            raise Fault(
                f"infer_shape says {numbers} for output {k}, whose shape is {value.shape}; the inputs have shapes "
                f"{[np.shape(example.values[i]) for i in example.arrays]}"
            )
    free = [n for i in example.arrays for n in set(np.shape(example.values[i]))]
    if any(len(set(np.shape(example.values[i]))) < np.ndim(example.values[i]) for i in example.arrays) and free:
        return "right for the inputs given, whose equal lengths cannot tell axes apart: give others"
    return None


def _symbolic_shapes(example: Example) -> tuple[list[tuple[Tensor, ...]], dict[Variable, int]]:
    """Return a variable for each length of each input, as `infer_shape` gets them, and the lengths."""
    of: dict[Variable, int] = {}
    asked: list[tuple[Tensor, ...]] = []
    inputs: list[Any] = example.node.inputs
    for v in inputs:
        if not isinstance(v.type, TensorType):
            asked.append(())
            continue
        value = example.values[example.variables.index(v)] if v in example.variables else v.data
        lengths = [TensorType("int64", ())(f"length of {v}") for _ in range(v.type.ndim)]
        of.update(zip(lengths, np.shape(value), strict=True))
        asked.append(tuple(lengths))
    return asked, of


def _lengths(shape: Sequence[Tensor], example: Example, lengths: dict[Variable, int]) -> tuple[int, ...]:
    symbols = [as_tensor_variable(n) for n in shape]
    f = compiled(example, symbols, PLAIN, list(lengths))
    return tuple(int(n) for n in f(*fresh(example), *lengths.values()))


# -- gradients -------------------------------------------------------------------------------------------------------


def _function_of(op: Op, example: Example, wrt: Sequence[int], output: int) -> Any:
    """Return an output as a function of some inputs; the others are what they are in the example."""

    def fun(*some: Tensor) -> Tensor:
        chosen = dict(zip(wrt, some, strict=True))
        inputs = [
            chosen[i] if i in chosen else v.type.make_constant(value)
            for i, (v, value) in enumerate(zip(example.variables, example.values, strict=True))
        ]
        # Variables of the types that the op wants, whatever the values say of lengths of 1.
        typed = [v.type.filter_variable(x) for v, x in zip(example.variables, inputs, strict=True)]
        return op(*typed, return_list=True)[output]

    return fun


def _floating_outputs(example: Example) -> list[int]:
    return [k for k, v in enumerate(example.outputs) if is_floating(v)]


def _gradient(op: Op, example: Example, wrt: Sequence[int], output: int) -> list[Tensor] | None:
    """Return the gradients of the sum of an output, or None where the op has no gradient."""
    variables = [example.variables[i] for i in wrt]
    try:
        # What is null comes back as such, and says why.
        return list(
            grad(
                tensor_sum(example.outputs[output]), variables, disconnected_inputs="ignore",
                null_gradients="return", return_disconnected="disconnected",
            )
        )  # fmt: skip
    except MethodNotDefined:
        return None


def _connected(gradients: Sequence[Tensor], wrt: Sequence[int]) -> list[int]:
    return [i for i, g in zip(wrt, gradients, strict=True) if not is_null(g)]


def check_gradient(op: Op, example: Example, wrt: Sequence[int], rng: object) -> str | None:
    """The gradient is that of finite differences, for each output of floating point."""
    outputs = _floating_outputs(example)
    if example.node.op.destroy_map:
        return IN_PLACE
    if not outputs or not wrt:
        return "no output or no input is of floating point"
    missing = []
    for k in outputs:
        gradients = _gradient(op, example, wrt, k)
        chosen = _connected(gradients, wrt) if gradients is not None else []
        missing += [i for i in wrt if i not in chosen]
        if chosen:
            _verify(_function_of(op, example, chosen, k), example, chosen, k, rng)
    if len(missing) == len(wrt) * len(outputs):
        return "the op has no gradient"
    return None


def _verify(
    fun: Callable[..., object], example: Example, chosen: Sequence[int], output: int, rng: object, what: str = ""
) -> None:
    try:
        verify_grad(fun, [example.values[i] for i in chosen], 2, rng, mode=PLAIN)
    except GradientError as error:
        # Not as the error says it: it counts the inputs that are differentiated.
        error.arg = chosen[error.arg]
        raise Fault(f"{what}of output {output}: {error}") from error


def check_second_gradient(op: Op, example: Example, wrt: Sequence[int], rng: object) -> str | None:
    """The gradient of the gradient is that of finite differences."""
    exact = [i for i in wrt if example.variables[i].type.dtype == "float64"]
    outputs = _floating_outputs(example)
    if example.node.op.destroy_map:
        return IN_PLACE
    if not outputs or not exact:
        return "no output or no input of float64"
    tried = False
    for k in outputs:
        gradients = _gradient(op, example, exact, k)
        chosen = _connected(gradients, exact) if gradients is not None else []
        for i in chosen:
            fun = _gradient_function(op, example, chosen, k, chosen.index(i))
            try:
                _verify(fun, example, chosen, k, rng, f"the gradient of the gradient with respect to input {i}, ")
                tried = True
            except NO_DERIVATIVE:
                continue
    return None if tried else "the gradient has no gradient"


def _gradient_function(
    op: Op, example: Example, chosen: Sequence[int], output: int, which: int
) -> Callable[..., object]:
    first = _function_of(op, example, chosen, output)

    def fun(*some: Any) -> Variable:
        value = first(*some)
        # Not all alike, so that what is mixed up shows.
        weights = np.asarray(np.random.RandomState(7).uniform(0.5, 1.5, size=_shape_of(example, output)))
        found = grad(tensor_sum(value * weights), some[which], disconnected_inputs="ignore")
        return found if not is_disconnected(found) else some[which] * 0

    return fun


def _shape_of(example: Example, output: int) -> tuple[int, ...]:
    return tuple(np.shape(compiled(example, example.outputs[output], PLAIN)(*fresh(example))))


# -- directions --------------------------------------------------------------------------------------------------------


def check_rop(op: Op, example: Example, wrt: Sequence[int], rng: object) -> str | None:
    """The R-operator is the difference quotient along a direction, also where some inputs stand still."""
    if not answers(op, "R_op"):
        return "the op has no R_op"
    outputs = _floating_outputs(example)
    if example.node.op.destroy_map:
        return IN_PLACE
    if not outputs or not wrt:
        return "no output or no input is of floating point"
    moves = [list(wrt)] if len(wrt) == 1 else [list(wrt), *([i] for i in wrt)]
    said = None
    for moving in moves:
        for k in outputs:
            said = _check_direction(example, moving, k, rng)
    return said


def _check_direction(example: Example, moving: Sequence[int], output: int, rng: Any) -> str | None:
    variables = [example.variables[i] for i in moving]
    points = [v.type.make_variable(f"direction of {v}") for v in variables]
    try:
        along = Rop(example.outputs[output], variables, points, disconnected_outputs="ignore")
    except MethodNotDefined as error:
        return str(error)
    except ValueError:
        # Rop refuses what R_op says it cannot give (None).
        return "the op says that it has no R-operator (R_op returned None)"
    directions = [np.asarray(rng.uniform(0.5, 1.5, size=np.shape(example.values[i])), v.type.dtype)
                  for i, v in zip(moving, variables, strict=True)]  # fmt: skip
    found = compiled(example, along, PLAIN, points)(*fresh(example), *directions)
    value = compiled(example, example.outputs[output], PLAIN)
    step = 1e-6 if all(d.dtype == "float64" for d in directions) else 1e-2
    ends = []
    for sign in (+1, -1):
        given = fresh(example)
        for i, d in zip(moving, directions, strict=True):
            given[i] = np.asarray(given[i] + sign * step * d, given[i].dtype)
        ends.append(np.asarray(value(*given), "float64"))
    wanted = (ends[0] - ends[1]) / (2 * step)
    if np.shape(found) != wanted.shape:
        raise Fault(f"R_op returns shape {np.shape(found)} for output {output}, whose shape is {wanted.shape}")
    if not np.allclose(found, wanted, rtol=1e-4 if step < 1e-3 else 5e-2, atol=1e-5 if step < 1e-3 else 5e-2):
        raise Fault(
            f"R_op along input {', '.join(map(str, moving))} differs from finite differences, for output {output}\n"
            f"  R_op:        {np.ravel(found)[:4]}\n  differences: {np.ravel(wanted)[:4]}"
        )
    return None
