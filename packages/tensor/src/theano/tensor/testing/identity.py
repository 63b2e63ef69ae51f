"""An op as an object: the nodes it makes, what it refuses, when it is equal to another."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile import function
from theano.graph import Apply, Op
from theano.graph.signals import let_signals_through
from theano.runtime.checked import short
from theano.tensor.testing.examples import Example, Fault, make_example, node_of
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.variable import Variable

#: What ops raise to refuse an input.
REFUSALS = (TypeError, ValueError, NotImplementedError, IndexError, AssertionError)


# -- nodes ---------------------------------------------------------------------------------------------------------


def check_make_node(op: Op, example: Example) -> None:
    """The node is that of the op, on the variables given, and of the same types each time."""
    node = example.node
    if not isinstance(node, Apply) or node.op != op:
        raise Fault(f"make_node returned {node!r}, which does not apply {op}: return Apply(self, inputs, outputs)")
    again = node_of(op, example.variables)
    kinds, others = ([v.type for v in n.outputs] for n in (node, again))
    if kinds != others:
        raise Fault(f"make_node promises types {kinds} at first and {others} the second time, for the same inputs")
    shared = [v for v in node.outputs if v in again.outputs]
    if shared:
        raise Fault(f"make_node used the output {shared[0]} for two nodes; make new ones: x.type()")
    if any(v in example.variables for v in node.outputs):
        raise Fault("make_node returned an input as its output; make a new variable: x.type()")


def check_refusals(op: Op, example: Example, error_inputs: Sequence[Sequence[Any]]) -> None:
    """Too few inputs, too many, and what is no array are refused with an error that says so."""
    variables = example.variables
    _refused(op, [*variables, *variables[:1]], "one input too many") if variables else None
    if variables:
        _refused(op, variables[:-1], "one input too few")
    for i in example.arrays:
        for what in (object(), "a word"):
            wrong = [*variables[:i], what, *variables[i + 1 :]]
            _refused(op, wrong, f"{'an object' if type(what) is object else 'a text'} as input {i}")
    for values in error_inputs:
        try:
            bad = make_example(op, values)
            found = function(bad.variables, bad.outputs, on_unused_input="ignore")(*bad.values)
        except REFUSALS:
            continue
        raise Fault(f"the inputs {short(list(values))} should be refused, and gave {short(found)}")


def _refused(op: Op, inputs: Sequence[Variable | object | str], what: str) -> None:
    try:
        made = op.make_node(*inputs)
    except REFUSALS:
        return
    except Exception as error:
        let_signals_through(error)
        raise Fault(
            f"make_node meets {what} with {type(error).__name__}: {error}. Check inputs first, and raise TypeError"
        ) from error
    # An op of any number of inputs may take more, or fewer.
    if what.startswith("one input") and len(made.inputs) == len(inputs):
        return
    raise Fault(f"make_node takes {what}, and makes {made}. Convert inputs: as_tensor_variable(x) raises TypeError")


# -- identity ----------------------------------------------------------------------------------------------------------


def check_identity(op: Op) -> None:
    """A copy is equal, with the same hash; a text is there; the op can be pickled."""
    try:
        hash(op)
    except TypeError as error:
        raise Fault(f"the op has no hash ({error}): what __props__ {_props(op)} name must be hashable") from error
    copies = [("itself", op), ("a copy of it", copy.copy(op))]
    ways: list[tuple[str, Callable[[Any], Any]]] = [("a deep copy of it", copy.deepcopy)]
    if _can_be_imported(type(op)):  # what is defined inside a function cannot be pickled, whatever it is
        ways.append(("its unpickled pickle", _unpickled))
    for name, make in ways:
        try:
            copies.append((name, make(op)))
        except Exception as error:
            let_signals_through(error)
            raise Fault(
                f"the op cannot be copied or pickled: {type(error).__name__}: {error}. Functions that hold it cannot "
                "be saved. Keep what cannot be pickled out of its attributes"
            ) from error
    for name, other in copies:
        if not (op == other and not op != other):
            raise Fault(
                f"the op is not equal to {name}: equal nodes are computed twice. Let __props__ name its parameters, or "
                "compare type and parameters in __eq__"
            )
        if hash(op) != hash(other):
            raise Fault(f"the op and {name} are equal, and have different hashes: define __hash__ by what __eq__ reads")
    if op == object() or op == type("Another", (Op,), {"__props__": ()})():
        raise Fault("the op is equal to anything: rewriting would merge it with other ops")
    if not str(op):
        raise Fault("the text of the op is empty: define __str__, or __props__")


def _can_be_imported(cls: type) -> bool:
    try:
        return pickle.loads(pickle.dumps(cls)) is cls
    except (pickle.PicklingError, AttributeError, ImportError):
        return False


def _unpickled(op: Op) -> Op:
    return pickle.loads(pickle.dumps(op))


def _props(op: Op) -> tuple[str, ...]:
    return getattr(op, "__props__", ())


def parameters(op: Op) -> tuple[int, dict[str, str]] | None:
    """Return what tells an op from others, to see whether running changes it."""
    try:
        return hash(op), {name: repr(value) for name, value in vars(op).items() if name in _props(op)}
    except TypeError:
        return None


def check_parameters(op: Op, example: Example, before: object) -> str | None:
    """Running an op does not change it, and what changes its results is among its properties."""
    after = parameters(op)
    if before != after:
        raise Fault(
            f"the op was changed by running it: {_changes(before, after)}. An op must be the same before and after: "
            "keep what calls remember elsewhere"
        )
    hidden = [n for n in vars(op) if n not in _props(op) and not n.startswith("_") and n not in ("itypes", "otypes")]
    checked = False
    for name in hidden:
        other = _with_other_value(op, name)
        if other is None:
            continue
        checked = True
        if other == op and _differ(op, other, example):
            raise Fault(
                f"the attribute {name} changes the result, and is not among __props__ {_props(op)}: ops that differ "
                "in it are equal, and rewriting puts one in the place of the other. Name it in __props__"
            )
    return None if checked or not hidden else f"no other values were tried for {', '.join(hidden)}"


def _changes(before: Any, after: Any) -> str:
    if not before or not after:
        return "it lost its hash"
    changed = [f"{k} from {v} to {after[1].get(k)}" for k, v in before[1].items() if after[1].get(k) != v]
    return ", ".join(changed) or "its hash"


def _with_other_value(op: Op, name: str) -> Op | None:
    value = getattr(op, name)
    if isinstance(value, bool):
        changed: Any = not value
    elif isinstance(value, (int, float)):
        changed = value + 1
    else:
        return None
    other = copy.copy(op)
    try:
        setattr(other, name, changed)
    except AttributeError:
        return None
    return other


def _differ(one: Op, two: Op, example: Example) -> bool:
    """Return whether two ops compute different values."""
    results = []
    for op in (one, two):
        node = node_of(op, example.variables)
        outputs: list[list[Any]] = [[None] for _ in node.outputs]
        try:
            op.perform(node, [np.copy(x) if isinstance(x, np.ndarray) else x for x in example.values], outputs)
        except Exception as error:  # noqa: BLE001  (another value may be one that the op does not take)
            let_signals_through(error)
            return False
        results.append([cell[0] for cell in outputs])
    kinds = [v.type for v in example.outputs]
    pairs = zip(kinds, *results, strict=True)
    return any(isinstance(kind, TensorType) and not kind.values_eq_approx(a, b) for kind, a, b in pairs)
