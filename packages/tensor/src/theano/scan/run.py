"""How a loop runs: step after step in the machine, without a Python object for each step.

What a loop reads and writes is checked and laid out here, and then handed to the loader (``Function.loop``): views of
sequences, one buffer for each state with its first values in it, and as many rows of each result as are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile import In, Out
from theano.compile.mode import get_mode
from theano.graph.signals import let_signals_through
from theano.graph.text import text_of
from theano.loader.module import DeviceArray, empty
from theano.records import NamedTuple
from theano.runtime.failure import in_two_lines, with_text
from theano.runtime.profile import ProfileStats
from theano.scan.spec import OuterInputs
from theano.tensor.convert import is_tensor
from theano.tensor.device.inner import stacked_type
from theano.tensor.shape.basic import Shape_i

if TYPE_CHECKING:
    from theano.scan.op import Scan
    from theano.tensor.type import Tensor


_LONG = 1 << 20  # bytes


class _Layout(NamedTuple):
    """The static description of a loop, computed once; outer inputs are identified by index."""

    step: Any  # the function of one step, which may write over the carried values
    taps: list[tuple[int, int]]  # for each of the first inner inputs its sequence, and its tap
    needed: list[tuple[int, int]]  # of each sequence that is seen, and how many rows more than there are steps
    states: list[tuple[int, int, tuple[int, ...], int | None]]  # its first rows, their number, its taps, what is kept
    mapped: list[int | None]  # of each of these results, how many rows are kept
    carried: slice
    copies: list[Any] | None  # for each carried value that is no array, how to copy it
    fixed: slice
    until: bool


def layout_of(op: Scan) -> _Layout:
    """Return the static description of a loop, before it has values."""
    found: _Layout = op.inner.derived("layout", lambda: _layout(op))
    return found


def _layout(op: Scan) -> _Layout:
    spec, own = op.spec, op.spec.inner_inputs(op.inner.inputs)
    inputs = [*(v for taps in (*own.sequences, *own.states) for v in taps),
              *(In(v, mutable=True, borrow=True) for v in own.carried), *own.fixed]  # fmt: skip
    outputs = [Out(v, borrow=True) for v in op.inner.outputs]
    step = op.inner.compiled("loop", outputs, inputs=inputs, mode=_mode(op), name=str(op), profile=_profile(op))
    taps = [(i, k) for i, group in enumerate(spec.sequences, 1) for k in group]
    needed = [(i, rows - 1) for i, (rows, group) in enumerate(zip(spec.reach, spec.sequences, strict=True), 1) if group]
    first = 1 + len(spec.sequences)
    keep = spec.keep[: len(spec.states)]
    states = list(zip(range(first, first + len(spec.states)), spec.depths, spec.states, keep, strict=True))
    first += len(spec.states)
    copies = [None if is_tensor(v) else v.type.value_copy for v in own.carried]
    return _Layout(
        step, taps, needed, states, list(spec.keep[len(spec.states) :]), slice(first, first + spec.carried),
        copies if any(copies) else None, slice(first + spec.carried, None), spec.until,
    )  # fmt: skip


def _mode(op: Scan) -> Any:
    """Return the mode of a step."""
    mode = op.mode if not op.including else get_mode(op.mode).including(*op.including)
    return mode if op.allow_gc is None else get_mode(mode).clone({"allow_gc": op.allow_gc})


def _profile(op: Scan) -> ProfileStats | None:
    """Return what measures the steps, to be printed at the end; None: as the flags say."""
    if not op.profile:
        return None
    return ProfileStats(message=op.profile if isinstance(op.profile, str) else op.name or "scan_fn")


def run(op: Scan, inputs: Sequence[Any]) -> list[Any]:
    """Return the values of a loop's outputs.

    Raises
    ------
    Exception
        What a step raises, with its number in the text.
    """
    layout = layout_of(op)
    n = _checked_steps(op, layout, inputs)
    if n == 0:
        return _without_steps(op, op.spec.outer_inputs(inputs))
    buffers = [_buffer(inputs[i], m, n, k) for i, m, _, k in layout.states]
    carried = tuple(inputs[layout.carried])
    if layout.copies is not None:
        carried = tuple([v if copy is None else copy(v) for v, copy in zip(carried, layout.copies, strict=True)])
    try:
        steps, results, last = layout.step.loop(
            n,
            tuple([(_readable(inputs[i]), k) for i, k in layout.taps]),
            tuple([(v, m, taps) for v, (_, m, taps, _) in zip(buffers, layout.states, strict=True)]),
            carried,
            tuple(inputs[layout.fixed]),
            tuple([n if k is None or k > n else k for k in layout.mapped]),
            layout.until,
        )
    except Exception as error:  # noqa: BLE001  (the boundary to code that anybody may have written)
        let_signals_through(error)
        step = getattr(error, "step", None)
        raise (error if step is None else _in_step(error, step, op)) from error.__cause__
    states = [
        v if k is None and steps == n else _last_rows(v, m + steps, k)
        for v, (_, m, _, k) in zip(buffers, layout.states, strict=True)
    ]
    if steps < n or layout.mapped.count(None) < len(results):
        results = [_last_rows(v, steps, None) for v in results]
    return [*states, *results, *last]


def _readable(rows: Any) -> Any:
    return rows if isinstance(rows, DeviceArray) or rows.flags.aligned else rows.copy()


def _buffer(first: Any, depth: int, n: int, keep: int | None) -> Any:
    """Return memory for a state, with its first rows in it."""
    # A step writes a row while it reads the ``depth`` before.
    rows = depth + n if keep is None else min(depth + n, max(depth + 1, keep))
    shape = (rows, *first.shape[1:])
    if isinstance(first, DeviceArray):
        buffer: Any = type(first).empty(first.device, first.dtype_name, shape)
        rows_of(buffer, 0, depth).assign(first)
        return buffer
    # What is long enough to be mapped for each call had better be used again.
    buffer = np.empty(shape, first.dtype) if rows * first.nbytes < _LONG * depth else empty(shape, first.dtype)
    buffer[:depth] = first
    return buffer


def _last_rows(ring: Any, end: int, keep: int | None) -> Any:
    """Return the last rows of a ring into which ``end`` rows were written, in order."""
    length = ring.shape[0]
    wanted = min(end, length if keep is None else keep)
    start = (end - wanted) % length if length else 0
    if isinstance(ring, DeviceArray):
        return _unrolled(ring, start, wanted)
    if start + wanted > len(ring):
        return np.take(ring, range(start, start + wanted), axis=0, mode="wrap")
    rows = ring[start : start + wanted]
    # A loop that ended early does not hold on to what it might have needed.
    return rows if 2 * wanted >= len(ring) else rows.copy()


def rows_of(array: Any, start: int, stop: int) -> Any:
    """Return some rows of a device's array, on the same memory."""
    offset = start * array.strides[0] if stop > start else 0
    return array.window(offset, (stop - start, *array.shape[1:]), array.strides)


def _unrolled(ring: Any, start: int, wanted: int) -> Any:
    """Return rows of a ring on a device, in order."""
    length = ring.shape[0]
    if start + wanted <= length:
        rows = rows_of(ring, start, start + wanted)
        return rows if 2 * wanted >= length else rows.packed()
    made = type(ring).empty(ring.device, ring.dtype_name, (wanted, *ring.shape[1:]))
    rows_of(made, 0, length - start).assign(rows_of(ring, start, length))
    rows_of(made, length - start, wanted).assign(rows_of(ring, 0, start + wanted - length))
    return made


def _checked_steps(op: Scan, layout: _Layout, inputs: Sequence[Any]) -> int:
    """Return the number of steps, if there are that many rows of all sequences, and of all states those before."""
    n = int(inputs[0])
    if n < 0:
        for i, more in layout.needed:
            if inputs[i].shape[0] < more:
                raise IndexError(f"{op}: {too_few_for_taps(i - 1, inputs[i].shape[0], more)}")
        raise IndexError(f"{op}: {NEGATIVE.format(n)}")
    for i, more in layout.needed:
        if inputs[i].shape[0] < n + more and n:
            raise ValueError(f"{op}: {too_short(i - 1, inputs[i].shape[0], n, more + 1, n + more)}")
    for i, depth, _, _ in layout.states:
        if inputs[i].shape[0] != depth:
            raise ValueError(f"{op}: {first_rows(i - 1 - len(op.spec.sequences), i, inputs[i].shape[0], depth)}")
    return n


# What C says in the same words, with a format in the place of each number.

# The loop's node is asked what ``<input 1>`` is (:mod:`theano.runtime.failure`).

NEGATIVE = "the number of steps (n_steps) is {}, and cannot be negative"


def too_few_for_taps(i: int, length: object, more: int) -> str:
    """Return in words that a sequence has not even the rows that taps see beside those of the steps."""
    return f"sequence {i} (<input {i + 1}>) has {length} rows, shorter than its taps reach: that takes {more + 1}"


def too_short(i: int, length: object, n: object, reach: int, needed: object) -> str:
    """Return in words that a sequence has fewer rows than the steps see."""
    ahead = f"that look {reach - 1} rows ahead " if reach > 1 else ""
    return (
        f"sequence {i} (<input {i + 1}>) has {length} rows, but {n} steps {ahead}need {needed}. "
        "Give a longer sequence or a smaller n_steps"
    )


def first_rows(i: int, k: int, length: object, depth: int) -> str:
    """Return in words that state ``i``, input ``k``, does not begin with as many rows as a step looks back."""
    first = f"the initial value of output {i} (outputs_info: <input {k}>)"
    return f"{first} has {length} rows, but a step looks {depth} back"


def _in_step(error: Exception, step: int, op: Scan) -> BaseException:
    return with_text(error, f"in step {step} of {op}: {in_two_lines(text_of(error))}")


def _copied(variables: Sequence[Tensor], values: Sequence[np.ndarray]) -> list[np.ndarray]:
    # What no step has replaced is still the memory of an input.
    return [v.type.value_copy(value) for v, value in zip(variables, values, strict=True)]


def _without_steps(op: Scan, given: OuterInputs) -> list[Any]:
    """Return what a loop makes that does nothing."""
    spec, own = op.spec, op.spec.inner_inputs(op.inner.inputs)
    mapped = [_no_rows(op, len(spec.states) + i, given) for i in range(spec.mapped)]
    states = [
        kind.type.value_copy(_last_rows(v, v.shape[0], k))
        for v, k, kind in zip(given.states, spec.keep, op.inner.outputs, strict=False)
    ]
    return [*states, *mapped, *_copied(own.carried, given.carried)]


def _no_rows(op: Scan, i: int, given: OuterInputs) -> np.ndarray:
    """Return a result without rows; how long one would be follows from the lengths of the inputs, where it does."""
    kind: Any = op.inner.outputs[i].type
    own = op.spec.inner_inputs(op.inner.inputs)
    taps = (*zip(given.sequences, own.sequences, strict=True), *zip(given.states, own.states, strict=True))
    seen = [w.type.value_zeros(v.shape[1:]) for v, variables in taps for w in variables]
    known = lengths_of_row(op, i) if kind.ndim else lambda *values: []
    return stacked_type(op.inner.outputs[i]).value_zeros((0, *map(int, known(*seen, *given.carried, *given.fixed))))


def lengths_of_row(op: Scan, i: int) -> Any:
    """Return the function of a step's inputs that says how long a row of result ``i`` is, if that has dimensions."""
    row: Any = op.inner.outputs[i]
    lengths = [Out(Shape_i(k)(row), borrow=True) for k in range(row.type.ndim)]
    return op.inner.compiled(f"lengths of {i}", lengths, mode=_mode(op), name=str(op))
