"""From compiled functions to the tables of a model: programs, stored values, kernels.

The rewritten graph of a function is linked once more, for a process without Python: kernels are asked for as text
rather than as addresses, and nothing that only this process has (its BLAS) is taken for granted. The rest, the order of
the instructions, slots and memory, is laid out as for the machine (`theano.runtime.program`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.aot.exports import Exports, FunctionCall, Loop, SourceTree, answers, lowered_apart
from theano.codegen.key import kernel_key, symbol_of
from theano.compile.builders import OpFromGraph
from theano.compile.expression import ExpressionOp
from theano.errors import ExportError
from theano.graph.apply import Apply
from theano.graph.kernel import Kernel
from theano.graph.source import created_at
from theano.loader.abi import abi_text
from theano.loader.schema import KernelInstruction, MachineProgram, PerformInstruction, ThunkInstruction
from theano.records import field, record
from theano.runtime.link import BuiltinAddress, Compiled, Linker, Performed, link
from theano.runtime.program import in_slots

if TYPE_CHECKING:
    from theano.compile.executable import Function
    from theano.compile.maker import FunctionMaker
    from theano.graph.annotations import Value
    from theano.graph.type import BufferSpec
    from theano.graph.variable import Variable
    from theano.loader.schema import Input

_BY_EXPRESSION = (ExpressionOp.perform, OpFromGraph.perform)
MOST_NAMED = 5
"""Ops that a refusal names."""


class KernelText(int):
    """A kernel in the place of its address."""

    kernel: Kernel

    def __new__(cls, kernel: Kernel) -> KernelText:
        """Make the number; `int` is immutable, so not in ``__init__``."""
        self = super().__new__(cls, 0)
        self.kernel = kernel
        return self


@record
class Cell:
    """A value that comes with the model.

    Attributes
    ----------
    name : str or None
        That of a shared variable or a default; None: a constant.
    file : str
        Below the model's folder.
    value : object
        Something with the buffer interface.
    dtype : str
    ones : tuple of bool
        Which dimensions are 1 long by the type; as many as there are.
    """

    name: str | None
    file: str
    value: Any
    dtype: str
    ones: tuple[bool, ...]


@record
class PlannedStep:
    """An instruction: the symbol of a kernel, or a loop or the number of a program, and its parameters."""

    inputs: list[int]
    outputs: list[int]
    names: list[str]
    what: str
    symbol: str = ""
    params: bytes = b""
    pointers: tuple[tuple[int, str], ...] = ()
    lazy: bool = False
    loop: Loop | None = None
    call: int = -1
    step: int = -1
    lengths: list[int] = field(default_factory=list)


@record
class Planned:
    """A program with its instructions, and the numbers of the cells of its slots."""

    name: str
    program: MachineProgram
    steps: list[PlannedStep]
    cells: dict[int, int]
    input_names: list[str]
    input_cells: list[int]
    output_names: list[str]
    update_cells: list[int]


@record
class Plan:
    """All that a model is.

    Attributes
    ----------
    programs : list of Planned
    functions : dict from str to int
        The programs that callers call.
    cells : list of Cell
    kernels : dict from str to Kernel
        By symbol, those that are generated.
    builtins : dict from str to SourceTree
        By symbol, those that come with layers.
    symbols : dict from str to str
        By name of a pointer, what it is called in C.
    numbers : dict from str to tuple of int
        By what they are called in C, numbers of this process that kernels read.
    """

    programs: list[Planned] = field(default_factory=list)
    functions: dict[str, int] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    kernels: dict[str, Kernel] = field(default_factory=dict)
    builtins: dict[str, SourceTree] = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)


def plan(functions: dict[str, Function], blas: bool) -> Plan:
    """Return the model of some functions.

    Parameters
    ----------
    functions : dict from str to Function
    blas : bool
        Whether a BLAS library is linked where the model runs.

    Raises
    ------
    ExportError
        Something in them needs Python.
    """
    planner = _Planner(answers(), blas)
    for name, function in functions.items():
        planner.plan.functions[name] = planner.add(function, name)
    planner.refuse()
    return planner.plan


class _Planner:
    def __init__(self, layers: Sequence[Exports], blas: bool):
        self.layers, self.blas = layers, blas
        self.plan = Plan()
        self._known: dict[int, int] = {}
        self._cells: dict[int, int] = {}
        self._names: set[str] = set()
        self._trees: dict[str, SourceTree | None] = {}
        self._kept: list[Any] = []
        self._refused: dict[str, None] = {}

    # -- programs ------------------------------------------------------------------------------------------

    def add(self, function: Function, name: str) -> int:
        """Plan a function, and those that it runs, and return its number."""
        if id(function) in self._known:
            return self._known[id(function)]
        maker = function.maker
        nodes = maker.mode.linker.order(maker.fgraph)
        # Nothing else is compiled meanwhile: what this process keeps is for itself.
        with lowered_apart(self.blas):
            linked = link(nodes, Linker("export"), _as_text, maker.fgraph.outputs, quiet=True)
        program = maker.lay_out_linked(linked, function.input_storage)
        variables = in_slots([spec.variable for spec in maker.inputs], linked.nodes, maker.fgraph.outputs)
        self._check_values(program, variables, name)
        users = [maker.originals.get(spec.variable, spec.variable) for spec in maker.inputs]
        owners = {id(c.storage): v.name or c.name for v, c in zip(users, function.input_storage, strict=True)}
        steps = [
            self._step(instruction, node, how)
            for instruction, node, how in zip(program.instructions, linked.nodes, linked.how, strict=True)
        ]
        planned = Planned(
            name, program, steps,
            cells=self._slot_cells(program, variables, owners),
            input_names=[_input_name(i, k) for k, i in enumerate(program.inputs)],
            input_cells=[self._default(i, variables, owners) for i in program.inputs],
            output_names=_output_names(maker),
            update_cells=[self._cell(u.cell, variables[u.slot].type, owners.get(id(u.cell))) for u in program.updates],
        )  # fmt: skip
        self.plan.programs.append(planned)
        self._known[id(function)] = len(self.plan.programs) - 1
        self._kept.append(function)
        return self._known[id(function)]

    def refuse(self) -> None:
        """Raise ExportError if something cannot come along."""
        if not self._refused:
            return
        listed = list(self._refused)
        more = f"\n  and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
        raise ExportError(
            "what these compute needs Python, which an exported model does without:\n  "
            + "\n  ".join(listed[:MOST_NAMED]) + more
            + "\nPut ops with C code in their place, or let the caller compute it and give it as an input."
        )  # fmt: skip

    def _check_values(self, program: MachineProgram, variables: Sequence[Variable], name: str) -> None:
        """See that all values are numbers in the host's memory, but for constants that are objects of no content."""
        for slot, v in zip(program.slots, variables, strict=True):
            if slot.spec is None and slot.kind != "constant":
                self._refused[f"{v}, of type {v.type}, which is no array of numbers (in {name})"] = None
            elif slot.spec is not None and slot.spec.device != "cpu":
                self._refused[f"{v}, of type {v.type}, which is in the memory of a device (in {name})"] = None

    # -- values -----------------------------------------------------------------------------------------------

    def _cell(self, storage: list[Any], kind: Any, name: str | None) -> int:
        if id(storage) not in self._cells:
            spec = kind.buffer_spec()
            if spec is None:
                return -1
            unique = _unique(name or "value", self._names)
            self._cells[id(storage)] = len(self.plan.cells)
            self.plan.cells.append(
                Cell(unique, f"values/{unique}.npy", storage[0], spec.dtype, tuple(spec.broadcastable))
            )
        return self._cells[id(storage)]

    def _constant(self, value: Value, spec: BufferSpec) -> int:
        if id(value) not in self._cells:
            self._cells[id(value)] = number = len(self.plan.cells)
            self._kept.append(value)
            self.plan.cells.append(
                Cell(None, f"values/constant.{number}.npy", value, spec.dtype, tuple(spec.broadcastable))
            )
        return self._cells[id(value)]

    def _slot_cells(
        self, program: MachineProgram, variables: Sequence[Any], owners: dict[int, str | None]
    ) -> dict[int, int]:
        found = {}
        for k, slot in enumerate(program.slots):
            if slot.kind == "shared":
                found[k] = self._cell(slot.value, variables[k].type, owners.get(id(slot.value)))
            elif slot.kind == "constant" and slot.spec is not None:
                found[k] = self._constant(slot.value, slot.spec)
        return found

    def _default(self, given: Any, variables: Sequence[Any], owners: dict[int, str | None]) -> int:
        if given.required or given.default_cell is None or given.default_cell[0] is None:
            return -1
        return self._cell(given.default_cell, variables[given.slot].type, owners.get(id(given.default_cell)))

    # -- instructions ----------------------------------------------------------------------------------------

    def _step(self, instruction: Any, node: Apply, how: object) -> PlannedStep:
        made = PlannedStep(instruction.inputs, instruction.outputs, [_short(v) for v in node.inputs], _what(node))
        if isinstance(instruction, KernelInstruction) and isinstance(how, Compiled):
            made.params, made.lazy = how.params, how.lazy
            made.pointers = self._pointers(how, node)
            made.symbol = self._symbol(how.address, node)
            return made
        nested = self._nested(node) if isinstance(instruction, PerformInstruction) else None
        if nested is None:
            self._refuse_node(node, "only Python code" if isinstance(how, Performed) else "code that is run by Python")
        elif isinstance(nested, Loop):
            made.loop, made.step = nested, self.add(nested.step, nested.name)
            made.lengths = [-1 if f is None else self.add(f, f"{nested.name} lengths") for f in nested.lengths]
        else:
            made.call = self.add(nested.function, str(node.op))
        assert isinstance(instruction, (PerformInstruction, ThunkInstruction))
        return made

    def _nested(self, node: Apply) -> Loop | FunctionCall | None:
        for layer in self.layers:
            found = layer.nested(node)
            if found is not None:
                return found
        op = node.op
        # An op that stands for an expression, and is computed by that.
        if isinstance(op, ExpressionOp) and not op.repeats and type(op).perform in _BY_EXPRESSION:
            inner = op.inner_of(node)
            return FunctionCall(inner.compiled("export", inner.outputs))
        return None

    def _symbol(self, address: object, node: Apply) -> str:
        if isinstance(address, KernelText):
            symbol = symbol_of(kernel_key(address.kernel, abi_text(), "export"))
            self.plan.kernels[symbol] = address.kernel
            return symbol
        assert isinstance(address, BuiltinAddress)
        tree = self._tree(address.library)
        if tree is None:
            self._refuse_node(node, f"the library {os.path.basename(address.library)}, whose sources are not here")
        else:
            self.plan.builtins[address.symbol] = tree
        return address.symbol

    def _tree(self, library: str) -> SourceTree | None:
        if library not in self._trees:
            package = _package_of(library)
            found = [layer.trees[package] for layer in self.layers if package in layer.trees]
            self._trees[library] = found[0](library) if found else None
        return self._trees[library]

    def _pointers(self, how: Compiled, node: Apply) -> tuple[tuple[int, str], ...]:
        if how.pointers is None:
            self._refuse_node(node, "a kernel whose parameters do not declare the positions of their addresses")
        for _, name in how.pointers or ():
            family, _, rest = name.partition(":")
            found = [layer.symbols[family](rest) for layer in self.layers if family in layer.symbols]
            numbers = [layer.numbers[family](rest) for layer in self.layers if family in layer.numbers]
            if found and found[0]:
                self.plan.symbols[name] = found[0]
            elif numbers:
                self.plan.symbols[name] = called = f"numbers_{family}_{rest}".rstrip("_")
                self.plan.numbers[called] = tuple(numbers[0])
            else:
                self._refuse_node(node, f"a routine that is only in this process ({name})")
        return how.pointers or ()

    def _refuse_node(self, node: Apply, why: str) -> None:
        self._refused[f"{_what(node)}: {why}"] = None


def _as_text(kernels: Sequence[Kernel]) -> list[KernelText]:
    return [KernelText(kernel) for kernel in kernels]


# -- names -------------------------------------------------------------------------------------------------------


def _what(node: Apply) -> str:
    where = next((line for v in node.outputs if (line := created_at(v)) is not None), None)
    # A rule has made it: the lines are those of what it is made of.
    where = where or next((line for v in node.inputs if (line := created_at(v)) is not None), None)
    text = f"{node.op}({', '.join(map(_short, node.inputs))})"
    return f"{text}, written at {where}" if where is not None else text


def _short(v: Variable) -> str:
    text = str(v)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _input_name(given: Input, number: int) -> str:
    return given.name or f"input_{number}"


def _output_names(maker: FunctionMaker) -> list[str]:
    if maker.output_keys is not None:
        return [str(key) for key in maker.output_keys]
    return [getattr(out.variable, "name", None) or f"output_{k}" for k, out in enumerate(maker.outputs)]


def _unique(name: str, taken: set[str]) -> str:
    """Return a name that no other value has, and that is a file's everywhere; it is then taken."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "_-.") else "_" for c in name[:200]).lstrip(".") or "value"
    # A case-insensitive file system treats names that differ only in case as one.
    lower, made, k = {t.lower() for t in taken}, stem, 1
    while made.lower() in lower:
        made, k = f"{stem}.{k}", k + 1
    taken.add(made)
    return made


def _package_of(library: str) -> str:
    folder = os.path.dirname(library)
    for root in sys.modules["theano"].__path__:
        if folder.startswith(root + os.sep):
            return "theano." + os.path.relpath(folder, root).replace(os.sep, ".")
    return folder
