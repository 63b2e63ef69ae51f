"""Programs: what the machine is given to run.

Every variable of the graph gets a slot. A slot is filled by the caller, by a constant, by the cell of a shared
variable, or by an instruction. Which slots may use the same memory one after the other, and after which
instruction a value is needed no more, is planned here, once, in time linear in the size of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Constant, Variable
from theano.loader.schema import (
    Cell,
    Input,
    Instruction,
    KernelInstruction,
    MachineProgram,
    Overwritten,
    PerformInstruction,
    ResultBase,
    Slot,
    ThunkInstruction,
    Update,
)
from theano.records import record
from theano.runtime.link import Compiled, Linked, Performed
from theano.runtime.updates import overwritten, put_last, result_bases


@record
class Argument:
    """Where the value of an input of the graph comes from.

    Attributes
    ----------
    variable : Variable
    name : str or None
        The keyword of the argument.
    cell : list of one element, or None
        The default value, or the value of an implicit input.
    implicit : bool
        The value is always the cell's.
    required : bool
        The caller must give a value.
    filter : callable or None
        Brings an argument under the input's type, or raises.
    writable : bool
        The function may overwrite the argument.
    """

    variable: Variable
    name: str | None = None
    cell: Cell | None = None
    implicit: bool = False
    required: bool = True
    filter: Callable[[Any], Any] | None = None
    writable: bool = False


def build(
    fgraph: FunctionGraph,
    linked: Linked,
    arguments: Sequence[Argument],
    n_outputs: int,
    updates: Sequence[tuple[Cell, int]],
    returns: Literal["one", "list", "none"],
    keys: list[str] | None = None,
    name: str = "",
    allow_gc: bool = True,
) -> MachineProgram:
    """Lay a linked graph out as a program.

    Parameters
    ----------
    fgraph : FunctionGraph
        Its first ``n_outputs`` outputs are returned.
    linked : Linked
        Its nodes are put in the order in which they run.
    arguments : list of Argument
        One for each input of ``fgraph``, in order.
    n_outputs : int
    updates : list of (cell, output of fgraph)
        What is stored where after a call that succeeded.
    returns, keys, name
        What a call returns, and what the function is called.
    allow_gc : bool
        Give memory back during a call.
    """
    commit_start = put_last(fgraph, linked, n_outputs)
    shared = [a.variable for a in arguments if a.implicit]
    slots, slot_of = _lay_out(fgraph, linked, arguments)
    instructions = [instruction(node, how, slot_of) for node, how in zip(linked.nodes, linked.how, strict=True)]
    kept = {slot_of[v] for v in fgraph.outputs}
    temporary = {i for i, slot in enumerate(slots) if slot.kind == "temp"} - kept
    reuse = [-1] * len(slots)
    frees: list[list[int]] = [[] for _ in instructions]
    if allow_gc:
        frees = _plan_frees(linked, slot_of, temporary)
        # The call determines the order of a graph with lazy nodes, so its memory cannot be planned.
        if not linked.lazy:
            _plan_memory(linked, slots, slot_of, temporary, reuse)
    return MachineProgram(
        name=name,
        slots=slots,
        instructions=instructions,
        inputs=explicit_inputs(fgraph, arguments, slot_of, n_outputs),
        outputs=[slot_of[v] for v in fgraph.outputs[:n_outputs]],
        returns=returns if keys is None else "dict",
        keys=keys,
        updates=[Update(cell, slot_of[fgraph.outputs[i]]) for cell, i in updates],
        reuse=reuse,
        frees=frees,
        control_dependencies=_orderings(fgraph, linked, slot_of) if linked.lazy else [],
        commit_start=commit_start,
        overwritten=[Overwritten(slot_of[v], how) for v, how in overwritten(fgraph, linked, commit_start, shared)],
        result_bases=[ResultBase(slot_of[v], slot_of[out]) for v, out in result_bases(fgraph.outputs, linked)],
        lazy=linked.lazy,
    )


def explicit_inputs(
    fgraph: FunctionGraph, arguments: Sequence[Argument], slot_of: Mapping[Variable, int], n_outputs: int
) -> list[Input]:
    """Return the inputs that callers give.

    ``writable`` are those that must share memory with nothing else: where some node overwrites it, or an update stores
    it, since two shared variables never share memory.
    """
    destroyers = fgraph.destroyers
    stored = _memory_of(fgraph.outputs[n_outputs:])

    def writable(a: Argument) -> int:
        if a.writable and destroyers is not None and destroyers(a.variable):
            return 1
        return 2 if a.variable in stored else 0

    return [
        Input(slot_of[a.variable], a.name, a.required, a.cell, a.filter, writable(a))
        for a in arguments
        if not a.implicit
    ]


def _memory_of(variables: Sequence[Variable]) -> set[Variable]:
    """Return the variables whose memory some variables may live in, with those in between."""
    found: set[Variable] = set()
    waiting = list(variables)
    while waiting:
        v = waiting.pop()
        if v in found:
            continue
        found.add(v)
        if v.owner is not None and v.index is not None:
            op = v.owner.op
            shared = {*op.view_map.get(v.index, ()), *op.destroy_map.get(v.index, ())}
            waiting += [v.owner.inputs[i] for i in shared]
    return found


def _lay_out(
    fgraph: FunctionGraph, linked: Linked, arguments: Sequence[Argument]
) -> tuple[list[Slot], dict[Variable, int]]:
    given = {a.variable: a for a in arguments}
    slots: list[Slot] = []
    slot_of: dict[Variable, int] = {}
    for v in in_slots(list(given), linked.nodes, fgraph.outputs):
        slot_of[v] = len(slots)
        spec = v.type.buffer_spec()
        if v in given:
            slots.append(Slot("shared", spec, given[v].cell) if given[v].implicit else Slot("input", spec, None))
        elif v.owner is not None:
            slots.append(Slot("temp", spec, None))
        else:
            assert isinstance(v, Constant), f"{v} is neither computed nor an input nor a constant"
            slots.append(Slot("constant", spec, v.data))
    return slots, slot_of


def in_slots(inputs: Sequence[Variable], nodes: Sequence[Apply], outputs: Sequence[Variable]) -> list[Variable]:
    """Return the variables of a graph in the order of their slots.

    Parameters
    ----------
    inputs : list of Variable
    nodes : list of Apply
        In the order in which they run.
    outputs : list of Variable
    """
    found = dict.fromkeys(inputs)
    for node in nodes:
        found.update(dict.fromkeys(node.inputs))
        found.update(dict.fromkeys(node.outputs))
    found.update(dict.fromkeys(outputs))
    return list(found)


def instruction(node: Apply, how: Any, slot_of: dict[Variable, int]) -> Instruction:
    """Return the instruction that computes one node."""
    ins = [slot_of[v] for v in node.inputs]
    outs = [slot_of[v] for v in node.outputs]
    if isinstance(how, Compiled):
        return KernelInstruction("c", how.address, how.params, ins, outs, how.work, how.lazy)
    if isinstance(how, Performed):
        return PerformInstruction("perform", how.perform, node, ins, outs)
    return ThunkInstruction("thunk", how.factory, ins, outs, how.lazy)


def _orderings(fgraph: FunctionGraph, linked: Linked, slot_of: dict[Variable, int]) -> list[list[int]]:
    """Return, for each instruction, slots that must be computed before it although it does not read them.

    In a straight program the order of the instructions says as much.
    """
    before = fgraph.orderings()
    return [[slot_of[v] for other in before.get(node, ()) for v in other.outputs] for node in linked.nodes]


# -- memory ---------------------------------------------------------------------------------------------


def _plan_frees(linked: Linked, slot_of: dict[Variable, int], temporary: set[int]) -> list[list[int]]:
    """Return, for each instruction, the slots whose last use it is."""
    last: dict[int, int] = {}
    for i, node in enumerate(linked.nodes):
        for v in (*node.inputs, *node.outputs):
            last[slot_of[v]] = i
    frees: list[list[int]] = [[] for _ in linked.nodes]
    for slot, i in last.items():
        if slot in temporary:
            frees[i].append(slot)
    return frees


@record
class _Family:
    """Slots that may live in the same memory: from when to when it is needed, and whether only kernels use it."""

    last: int = -1
    native: bool = True


def _plan_memory(
    linked: Linked,
    slots: Sequence[Slot],
    slot_of: dict[Variable, int],
    temporary: set[int],
    reuse: list[int],
) -> None:
    """Let slots that are never needed at the same time share a buffer: ``reuse[slot]`` becomes its number."""
    family = _families(linked, slots, slot_of, temporary)
    expiring: list[list[int]] = [[] for _ in linked.nodes]
    free: dict[tuple[str, str, int], list[int]] = {}
    number = 0
    for i, node in enumerate(linked.nodes):
        for o, v in enumerate(node.outputs):
            slot = slot_of[v]
            spec = slots[slot].spec
            # Views allocate nothing; those that may turn out to be none get a buffer of their own.
            if spec is None or not family[slot].native or o in node.op.view_map or o in node.op.destroy_map:
                continue
            waiting = free.get((spec.device, spec.dtype, spec.ndim))
            if waiting:
                reuse[slot] = waiting.pop()
            else:
                reuse[slot] = number
                number += 1
            expiring[family[slot].last].append(slot)
        # Freed only now: an instruction's outputs must not alias its inputs.
        for slot in expiring[i]:
            spec = slots[slot].spec
            assert spec is not None
            free.setdefault((spec.device, spec.dtype, spec.ndim), []).append(reuse[slot])


def _families(
    linked: Linked,
    slots: Sequence[Slot],
    slot_of: dict[Variable, int],
    temporary: set[int],
) -> list[_Family]:
    """Return the family of each slot."""
    parent = list(range(len(slots)))

    def head(slot: int) -> int:
        while parent[slot] != slot:
            parent[slot] = slot = parent[parent[slot]]
        return slot

    for node in linked.nodes:
        for o, shared in (*node.op.view_map.items(), *node.op.destroy_map.items()):
            if o is not None:
                for k in shared:
                    parent[head(slot_of[node.outputs[o]])] = head(slot_of[node.inputs[k]])
    families = {slot: _Family() for slot in range(len(slots)) if parent[slot] == slot}
    members = [families[head(slot)] for slot in range(len(slots))]
    for number, slot in enumerate(slots):
        members[number].native &= number in temporary and slot.spec is not None
    for i, (node, how) in enumerate(zip(linked.nodes, linked.how, strict=True)):
        for v in (*node.inputs, *node.outputs):
            member = members[slot_of[v]]
            member.last = i
            member.native &= isinstance(how, Compiled)
    return members
