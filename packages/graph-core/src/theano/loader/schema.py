"""The program that the machine runs: the one declaration of its entries and of the fields of their records.

A `MachineProgram` is data: slots, which hold the values of one call, and instructions, which compute some of them from
others. `ProcessEntries` has what only a running process can add. The order of the fields below is the order in which
C++ reads a record (``schema_header.py`` writes ``program_schema.h`` from this file when the layer is built), and their
names are those by which Python makes, serializes and reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from theano.records import NamedTuple, field, record

if TYPE_CHECKING:
    from theano.graph.type import BufferSpec

Cell = list[Any]
"""A list of one element, in which something is stored."""

SlotNumber = int


class Slot(NamedTuple):
    """A value of one call.

    Attributes
    ----------
    kind : str
        ``'input'``, ``'constant'`` (``value`` is the object), ``'shared'`` (``value`` is the storage, a one-element
        list, read when a call starts) or ``'temp'`` (computed by exactly one instruction).
    spec : BufferSpec, or such a tuple, or None
        None for values that only Python instructions touch.
    value : object
    """

    kind: Literal["input", "constant", "shared", "temp"]
    spec: BufferSpec | None
    value: Any


class KernelInstruction(NamedTuple):
    """A compiled kernel (``abi.h``).

    Attributes
    ----------
    kind : 'c'
    address : int
    params : bytes or None
    inputs, outputs : list of int
        Slots.
    work : float
        The estimated ns per element of the largest buffer, which decides when the GIL is given away (0: never).
    lazy : bool
        It may ask for more of its inputs.
    """

    kind: Literal["c"]
    address: Any
    params: bytes | None
    inputs: list[SlotNumber]
    outputs: list[SlotNumber]
    work: float = 0.0
    lazy: bool = False


class PerformInstruction(NamedTuple):
    """Calls ``perform(node, inputs, output_storage)``; each storage cell is ``[None]`` before the call."""

    kind: Literal["perform"]
    perform: Callable[..., Any]
    node: Any
    inputs: list[SlotNumber]
    outputs: list[SlotNumber]


class ThunkInstruction(NamedTuple):
    """Calls what ``factory(storage_in, computed_in, storage_out, computed_out)`` returns, without arguments.

    The factory is called once for each call in flight, with lists of one-element lists. What it returns computes into
    ``storage_out`` and returns None; a lazy one may instead return a list of the numbers of those inputs it still
    wants (``computed_in[k][0]`` says which are there) and is called again.
    """

    kind: Literal["thunk"]
    factory: Callable[..., Any]
    inputs: list[SlotNumber]
    outputs: list[SlotNumber]
    lazy: bool = False


class Input(NamedTuple):
    """A value that the caller gives.

    One that is exactly what the spec says (ndarray itself, not a subclass; dtype, dimensions, aligned, native byte
    order) is used as it is. Any other goes through ``filter(value)`` first (None: it must then fit by itself); but if
    ``filter.casts_safely`` is there and true, a number that the dtype holds exactly and an array that NumPy
    casts safely to it are cast at once.

    Attributes
    ----------
    slot : int
    name : str or None
        The keyword.
    required : bool
    default_cell : list of one element, or None
        Read at each call that leaves the input out (``required`` false).
    filter : callable or None
    writable : int
        1 where the program writes into it, 2 where an update stores it as it comes. A read-only array is then copied;
        so is one that shares memory with another value of the call, or with what a default or an updated cell holds
        (``separate``).
    """

    slot: SlotNumber
    name: str | None
    required: bool
    default_cell: Cell | None
    filter: Callable[[Any], Any] | None
    writable: int = 0


class Update(NamedTuple):
    """What is stored into a one-element list when everything has succeeded.

    A failed call leaves each cell as it was. Calls that update the same cell run one after the other, in whatever
    threads and of whatever functions; :func:`theano.loader.module.store` waits for them, too.
    """

    cell: Cell
    slot: SlotNumber


class Overwritten(NamedTuple):
    """A shared slot whose array is written into.

    ``how`` is 1 where only the last instructions do (a copy is taken if anybody else holds the array), 2 where others
    do (a copy is taken at the start of each call).
    """

    slot: SlotNumber
    how: int


class ResultBase(NamedTuple):
    """A ``temp`` slot in whose memory a result is stored: an array that can be written again like any result."""

    slot: SlotNumber
    result: SlotNumber


Instruction = KernelInstruction | PerformInstruction | ThunkInstruction


@record
class MachineProgram:
    """What the machine runs; all but the values in it is the same in each process.

    Attributes
    ----------
    slots : list of Slot
        The values of one call.
    instructions : list of instructions
        In an order in which each value is computed before it is read. One lazy instruction makes the whole program
        demand-driven: what no result needs is not run.
    inputs : list of Input
    outputs : list of int
        Slots returned.
    returns : str
        ``'one'``, ``'list'``, ``'none'`` or ``'dict'`` (with one key per output).
    keys : list of str or None
    updates : list of Update
    reuse : list of int
        Per slot the number of a buffer shared with slots that live at other times, or -1. Only ``temp`` slots that no
        Python instruction touches and that are no results take part; a slot gives its buffer on when ``frees`` names
        it. A wrong plan costs memory, never a wrong result.
    frees : list of list of int
        Per instruction the slots whose values are dead after it (in demand-driven programs: after all their readers).
    control_dependencies : list of list of int
        Per instruction further slots that must be computed before it runs (demand-driven programs with
        in-place ops: everything that reads what the instruction overwrites).
    commit_start : int or None
        The instructions from this number on (None: none) are compiled kernels that write over arrays of shared
        variables. They run when everything else is done and the results are made; each first checks all that can go
        wrong, then asks for its outputs, and then cannot fail. What they compute is read by each other and stored by
        updates, and by no other instruction.
    overwritten : list of Overwritten
    result_bases : list of ResultBase
    lazy : bool
        Whether only what results need is computed although no instruction is lazy.
    name : str or None
        For messages.
    """

    slots: list[Slot]
    instructions: list[Instruction]
    inputs: list[Input]
    outputs: list[SlotNumber]
    returns: Literal["one", "list", "none", "dict"] = "list"
    keys: list[str] | None = None
    updates: list[Update] = field(default_factory=list)
    reuse: list[int] = field(default_factory=list)
    frees: list[list[SlotNumber]] = field(default_factory=list)
    control_dependencies: list[list[SlotNumber]] = field(default_factory=list)
    commit_start: int | None = None
    overwritten: list[Overwritten] = field(default_factory=list)
    result_bases: list[ResultBase] = field(default_factory=list)
    lazy: bool = False
    name: str | None = None

    def description(self) -> dict[str, Any]:
        """Return the entries as the loader reads them."""
        return dict(vars(self))


class ProcessEntries(TypedDict, total=False):
    """What a process adds to a program.

    Attributes
    ----------
    on_error : callable
        ``on_error(index, exception, inputs, slots)`` returns the exception to raise for a failed instruction; both
        list ``(shape, strides, dtype name)`` or None per input. Errors of compiled kernels carry their ``TH_ERR_*``
        number as ``exception.kind``. Not called for KeyboardInterrupt and its kin.
    on_bad_call : callable
        ``on_bad_call(kind, detail)`` may return the exception for a wrong call: kind ``'missing'`` or ``'duplicate'``
        (detail: the input's number), ``'unknown'`` (the keyword) or ``'too_many'`` (how many were given).
        Anything but an exception leaves it to a TypeError that names the input.
    separate : callable
        ``separate(slot, value, others)`` is asked about a ``writable`` input if the memory it spans meets
        that of an array among the values of the call, or there are values that are no arrays; ``others`` lists them as
        ``(slot, value)``. It returns a copy if ``value`` shares memory with one of them, else None. Without it, arrays
        whose spans meet are copied.
    keepalive : object
        Any object to keep (a list of :class:`~theano.loader.module.Library`).
    profile : bool or list of str
        Whether to count and time calls and each instruction (True), or calls and what of ``"nodes"``, ``"shapes"`` (the
        largest value of each) and ``"skip_first"`` (leave the first call out) it names.
    options : dict
        From a keyword to ``handler(function, args, kwargs)``. A call with such a keyword, which no input has for a
        name, is handed to it, and what it returns is the result: for arguments about the call itself.
    """

    on_error: Callable[[int, BaseException, list[Any], list[Any]], BaseException] | None
    on_bad_call: Callable[[str, Any], BaseException | None] | None
    separate: Callable[[int, Any, list[tuple[int, Any]]], Any] | None
    keepalive: Any
    profile: bool | Sequence[str] | None
    options: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] | None


RECORDS: dict[str, type[Any]] = {
    record.__name__: record
    for record in (
        *(Slot, KernelInstruction, PerformInstruction, ThunkInstruction),
        *(Input, Update, Overwritten, ResultBase),
    )
}
"""The records by their names, by which a serialized program knows them."""
