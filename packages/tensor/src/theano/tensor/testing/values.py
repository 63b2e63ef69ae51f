"""What an op computes: in every form, for every layout, into every memory; and what its C leaves behind."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from theano.codegen.blocks import has_c_code
from theano.compile import Mode, function
from theano.compile.compiling import compile_blocks, compile_kernels
from theano.compile.debugmode import DebugMode
from theano.compile.inputs import In
from theano.errors import DebugModeError
from theano.graph import Op, Variable
from theano.graph.signals import let_signals_through
from theano.lowering.table import lower
from theano.runtime.checked import difference, short
from theano.runtime.interpreter import NodeFunction
from theano.runtime.link import Linker, Performed, link
from theano.tensor.memory import laid_out_copy
from theano.tensor.testing.examples import Example, Fault, make_example

#: How often C code runs to see what it leaves behind.
CALLS = 50


def debugged(example: Example) -> Callable[..., Any]:
    """Return the example as a function that checks its op in every way."""
    mode = DebugMode(
        optimizer=None, stability_patience=1, check_isfinite=False, check_preallocated_output="ALL", check_c_code=True,
        check_py_code=True,
    )  # fmt: skip
    return compiled(example, list(example.outputs), mode)


def compiled(example: Example, outputs: Any, mode: Mode, more: Sequence[Variable] = ()) -> Callable[..., Any]:
    """Return a function of the example's variables, and more, in which the op may overwrite what it says."""
    written = {example.node.inputs[i] for i in _written(example)}
    inputs = [In(v, mutable=v in written) for v in example.variables]
    made: Callable[..., Any] = function(
        [*inputs, *more], outputs, mode=mode, on_unused_input="ignore", accept_inplace=True, name="check_op"
    )
    return made


def fresh(example: Example) -> list[Any]:
    """Return the inputs, in memory of their own."""
    return [laid_out_copy(x) if isinstance(x, np.ndarray) else x for x in example.values]


# -- values --------------------------------------------------------------------------------------------------------


def check_values(example: Example, reference: Callable[..., Any] | None) -> str | None:
    """Every form computes the same, alters and shares nothing that it does not say, and it is what is expected."""
    found = debugged(example)(*fresh(example))
    if reference is None:
        return None
    wanted = reference(*fresh(example))
    wanted = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    for k, (v, one, two) in enumerate(zip(example.outputs, wanted, found, strict=True)):
        same = np.shape(one) == np.shape(two) and v.type.values_eq_approx(np.asarray(one, np.asarray(two).dtype), two)
        if not same:
            raise Fault(
                f"output {k} is not what is expected\n  expected: {short(one)}\n  computed: {short(two)}\n"
                + "\n".join(f"  {line}" for line in difference(np.asarray(one), two))
            )
    return None


def layouts(value: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield an array's value in other layouts: transposed, backwards, with gaps, repeated, in the middle of others.

    Examples
    --------
    >>> [(name, array.strides) for name, array in layouts(np.zeros((2, 3)))][:2]
    [('in Fortran order', (8, 16)), ('backwards', (-24, -8))]
    """
    if value.ndim > 1:
        yield "in Fortran order", np.asfortranarray(value)
    if value.ndim:
        turned = value[tuple(slice(None, None, -1) for _ in value.shape)].copy()
        yield "backwards", turned[tuple(slice(None, None, -1) for _ in value.shape)]
        wide = np.full([2 * n + 1 for n in value.shape], 77, value.dtype)
        inside = wide[tuple(slice(1, None, 2) for _ in value.shape)]
        inside[...] = value
        yield "with gaps, in the middle of another array", inside
    whole = np.full((2, *value.shape), 77, value.dtype)
    whole[1] = value
    yield "behind another array", whole[1]


def check_layouts(example: Example) -> str | None:
    """The layout of the inputs does not change the result, and a length of 0 is no reason to crash."""
    f = debugged(example)
    wanted = f(*fresh(example))
    kinds = {i: list(layouts(example.values[i])) for i in example.arrays}
    if not kinds:
        return "no input is an array"
    for i, variants in kinds.items():
        for name, array in variants:
            given = fresh(example)
            given[i] = array
            _same_result(example, f, wanted, given, f"input {i} {name}")
        if i in example.fixed:
            continue
        given = fresh(example)
        repeated = example.values[i][:1] if example.values[i].ndim else example.values[i]
        given[i] = np.broadcast_to(repeated, example.values[i].shape).copy()
        expected = _try(f, given)
        given[i] = np.broadcast_to(repeated, example.values[i].shape)
        if expected is not None and i not in _written(example):
            _same_result(example, f, expected, given, f"input {i} with strides of 0")
    return None


def _written(example: Example) -> set[int]:
    return {i for many in example.node.op.destroy_map.values() for i in many}


def _try(f: Callable[..., Any], given: list[Any]) -> Any:
    try:
        return f(*given)
    except DebugModeError:
        raise
    except Exception as error:  # noqa: BLE001  (other values than the example's may be none that the op takes)
        let_signals_through(error)
        return None


def _same_result(example: Example, f: Callable[..., Any], wanted: Any, given: list[Any], what: str) -> None:
    try:
        found = f(*given)
    except DebugModeError:
        raise
    except Exception as error:
        let_signals_through(error)
        raise Fault(f"with {what}, the op fails: {type(error).__name__}: {str(error).splitlines()[0]}") from error
    for k, (v, one, two) in enumerate(zip(example.outputs, wanted, found, strict=True)):
        if not v.type.values_eq_approx(one, two):
            raise Fault(
                f"with {what}, output {k} is another than in C order; use strides, or copy: np.ascontiguousarray(x)\n"
                f"  in C order: {short(one)}\n  now:        {short(two)}"
            )


def check_dtype(op: Op, example: Example, dtype: str) -> str | None:
    """What make_node takes, the op computes, in the dtype that make_node promises."""
    if all(example.variables[i].type.dtype == dtype for i in example.floating):
        return "that of the example" if example.floating else "no input is of floating point"
    cast = [np.asarray(x).astype(dtype) if i in example.floating else x for i, x in enumerate(example.values)]
    try:
        other = make_example(op, cast)
    except Exception as error:  # noqa: BLE001  (an op that refuses a dtype may say so as it likes)
        let_signals_through(error)
        return f"make_node refuses it: {str(error).splitlines()[0][:100]}"
    if [v.type for v in other.variables] == [v.type for v in example.variables]:
        return "the op wants that of the example"
    debugged(other)(*fresh(other))
    return None


# -- C code ------------------------------------------------------------------------------------------------------------


def _c_form(example: Example) -> NodeFunction | None:
    if not has_c_code(example.node) or lower(example.node) is not None:
        return None
    linked = link(
        [example.node], Linker("c|py"), compile_kernels, example.outputs, True, compile_blocks, check_input=True
    )
    return None if isinstance(linked.how[0], Performed) else NodeFunction(example.node, linked.how[0])


def check_c_cache(example: Example) -> str | None:
    """C code says its version, so that it is compiled once."""
    if not has_c_code(example.node) or lower(example.node) is not None:
        return "the op has no c_code"
    if not example.node.op.c_code_cache_version_apply(example.node):
        raise Fault(
            "c_code_cache_version returns (): the C code is not kept in the cache, and is compiled again in each "
            "process. Return a version, (1,), and another one with each change of the code"
        )
    return None


#: What has fewer references than it should have: to let go of the last one would free it twice.
_spoiled: list[Any] = []


def check_c_code(example: Example) -> str | None:
    """C code leaves reference counts as they were, and lets go of all that it made."""
    form = _c_form(example)
    if form is None:
        return "the op has no c_code"
    # Enough references that a few missing ones free nothing during the check; where some are missing, they stay.
    held = [[laid_out_copy(x) if isinstance(x, np.ndarray) else x] * (CALLS * 8) for x in example.values]
    place = [example.variables.index(v) for v in example.node.inputs]

    def call(outputs: list[list[Any]]) -> list[list[Any]]:
        try:
            form([[held[i][0]] for i in place], outputs)
        except Exception as error:
            let_signals_through(error)
            raise Fault(f"c_code fails on the inputs given: {type(error).__name__}: {error}") from error
        return outputs

    for reuse in (False, True):
        before = [sys.getrefcount(x[0]) for x in held]
        outputs: list[list[Any]] = [[None] for _ in example.outputs]
        for _ in range(3):
            outputs = call(outputs if reuse else [[None] for _ in example.outputs])
        _check_outputs(outputs, held)
        outputs.clear()
        gc.collect()
        changes = [sys.getrefcount(x[0]) - count for x, count in zip(held, before, strict=True)]
        if min(changes, default=0) < 0:
            _spoiled.append(held)
        for i, change in enumerate(changes):
            _check_count(change, 3, f"input {i}")
    _check_memory(lambda: call([[None] for _ in example.outputs]))
    return None


def _check_outputs(outputs: list[list[Any]], held: list[list[Any]]) -> None:
    """Check that the cell of an output of C code has the only reference to it."""
    known = {id(x[0]) for x in held} | {id(None), id(True), id(False)}
    for k, cell in enumerate(outputs):
        # One of the two is the argument of getrefcount. Small numbers belong to Python.
        if id(cell[0]) not in known and isinstance(cell[0], np.ndarray):
            _check_count(sys.getrefcount(cell[0]) - 2, 1, f"output {k}")


def _check_count(change: int, calls: int, what: str) -> None:
    if change == 0:
        return
    times = f"{abs(change)} in {calls} call{'s' * (calls > 1)}"
    if change < 0:
        raise Fault(
            f"the C code took references from {what} that it does not own ({times}): a Py_INCREF is missing, or a "
            "Py_DECREF is too many. Memory would be freed while it is in use"
        )
    raise Fault(
        f"the C code left references to {what} behind ({times}): a Py_DECREF is missing, or a Py_INCREF is too many. "
        "Memory would never be freed"
    )


def _check_memory(call: Callable[[], Any]) -> None:
    """Objects that each call leaves behind add up."""
    for _ in range(CALLS):
        call()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(CALLS):
        call()
    gc.collect()
    grown = sys.getallocatedblocks() - before
    if grown >= CALLS:
        raise Fault(
            f"each call of the C code leaves {grown / CALLS:.1f} objects behind: a Py_DECREF of something that it made "
            "is missing, perhaps where it fails"
        )
