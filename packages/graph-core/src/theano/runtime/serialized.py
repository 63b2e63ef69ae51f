"""Programs as text, so that another process can run them without the graph that they were made from.

In a serialized program each thing that lives in one process is replaced by the name by which another process
finds its own: a cell or a filter by the number of the input it belongs to, a constant by its number in the user's
graph or by its value, a kernel by its key or by library and symbol, the address of a routine by its name. All else
(slots, order, memory) is numbers, and is written as it is. Entries, records and fields are those that
:mod:`theano.loader.schema` declares: :func:`serialize` goes on working when they get new ones, and what it cannot name,
it refuses.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from json import dumps, loads
from types import MethodType
from typing import Any

from theano.codegen.unit import KernelAddress
from theano.graph.apply import Apply
from theano.graph.canonical import NoCanonicalForm, form_of, object_of
from theano.graph.op import Op
from theano.graph.parameters import Places
from theano.graph.pointers import pointer_families
from theano.graph.signals import let_signals_through
from theano.graph.type import BufferSpec
from theano.graph.variable import Constant, Variable
from theano.loader.schema import RECORDS, MachineProgram, PerformInstruction
from theano.lowering.targets import CPU
from theano.records import field, record
from theano.runtime.link import BuiltinAddress, Compiled, Linked, builtin_address
from theano.runtime.program import Argument

FORMAT = "program 1"
LIVE = ("name",)
"""Entries of a program that every process fills in by itself."""


class BadProgram(Exception):
    """A text is no serialized program, or what it speaks of is not here."""


@record
class SerializedProgram:
    """The contents of a serialized program, with all addresses found.

    Attributes
    ----------
    keepalive : list
        The addresses; while they live, the code is loaded.
    pointers : dict from str to int
        What was found under the names of pointers.
    kinds : dict from str to int
        How many instructions there are of each kind.
    text : str
        The serialized program itself.
    """

    fields: dict[str, Any]
    nodes: list[Any]
    keepalive: list[Any]
    kinds: dict[str, int]
    text: str
    pointers: dict[str, int] = field(default_factory=dict)
    _addresses: dict[str, Any] = field(default_factory=dict)

    def program(
        self,
        name: str | None,
        arguments: Sequence[Argument],
        constants: Sequence[Variable],
        careful: Callable[[int, Op], Any] | None = None,
    ) -> MachineProgram:
        """Return the program for some arguments.

        Parameters
        ----------
        name : str or None
            What the function is called.
        arguments : list of Argument
            One for each input of the graph.
        constants : list
            The values of those of the user's graph.
        careful : callable, optional
            From the number of a node and its op to what computes it in Python, in the place of ``op.perform``.
        """
        read = _Deserializer(self, arguments, constants, careful)
        fields = {key: read(value) for key, value in self.fields.items()}
        return MachineProgram(**fields, name=name)


# -- from program to text ----------------------------------------------------------------------------------


def serialize(
    program: MachineProgram, linked: Linked, arguments: Sequence[Argument], constants: Sequence[Variable]
) -> str:
    """Return a program as text.

    Parameters
    ----------
    program : MachineProgram
        As it was laid out for ``arguments``.
    linked : Linked
        What computes its nodes.
    arguments : list of Argument
    constants : list
        The values of those of the user's graph.

    Raises
    ------
    NoCanonicalForm
        Something in it has no name that another process would understand.
    """
    serializer = _Serializer(linked, arguments, constants)
    fields = {key: serializer(value) for key, value in vars(program).items() if key not in LIVE}
    units = sorted({a.unit.name.file for a in serializer.kernels.values() if a.unit is not None})
    head = {
        "format": FORMAT, "needs": serializer.needs, "pointers": sorted(serializer.pointers), "units": units,
        "kernels": list(serializer.kernels), "builtins": list(serializer.builtins), "nodes": serializer.nodes,
        "kinds": _kinds(linked),
    }  # fmt: skip
    text = dumps({**head, "fields": fields}, separators=(",", ":"), ensure_ascii=False)
    _check(text, program, serializer, arguments, constants)
    return text


def same_program(one: str, other: str) -> bool:
    """Return whether two texts describe the same program: in which units its kernels were found does not matter.

    Examples
    --------
    >>> same_program('{"fields": 1, "units": ["a"]}', '{"fields": 1, "units": []}')
    True
    """
    return one == other or {**loads(one), "units": None} == {**loads(other), "units": None}


def _kinds(linked: Linked) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for how in linked.how:
        kinds[type(how).__name__] = kinds.get(type(how).__name__, 0) + 1
    return kinds


class _Serializer:
    """Replaces what lives by names."""

    def __init__(self, linked: Linked, arguments: Sequence[Argument], constants: Sequence[Any]):
        self.kernels: dict[str, KernelAddress] = {}
        self.builtins: dict[str, BuiltinAddress] = {}
        self.needs: dict[str, str] = {}
        self.pointers: dict[str, int] = {}
        self.nodes: list[Any] = []
        self._node: dict[Apply, int] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._kept = list(constants)
        for k, value in enumerate(constants):
            self._names.setdefault(id(value), {"constant": k})
        for i, argument in enumerate(arguments):
            if argument.cell is not None:
                self._names.setdefault(id(argument.cell), {"cell": i})
            if argument.filter is not None:
                self._names[id(argument.filter)] = {"filter": i}
        self._places: dict[int, Places | None] = {}
        for how in linked.how:
            if isinstance(how, Compiled):
                # Two kernels may have been given one object, of which only one says what it holds.
                known = self._places.setdefault(id(how.params), how.pointers)
                self._places[id(how.params)] = how.pointers if known == how.pointers else None

    def __call__(self, thing: Any) -> Any:
        cls = type(thing)
        if thing is None or cls in (bool, int, str, float):
            return thing
        if id(thing) in self._names:
            return self._names[id(thing)]
        if cls is list:
            if all(type(x) is int for x in thing):
                return {"i": thing}
            return ["[", *map(self, thing)]
        if cls is tuple:
            return ["(", *map(self, thing)]
        if RECORDS.get(cls.__name__) is cls:
            return [cls.__name__, *map(self, thing)]
        if cls is BufferSpec:
            return {"spec": [thing.dtype, thing.ndim, list(thing.broadcastable), *thing[3:]]}
        if cls is KernelAddress:
            self.kernels[thing.key] = thing
            return {"kernel": thing.key}
        if cls is BuiltinAddress:
            name = f"{_inside(thing.library)}:{thing.symbol}"
            self.builtins[name] = thing
            return {"builtin": name}
        if cls is bytes:
            return self._parameters(thing)
        if isinstance(thing, Apply):
            return {"node": self._node_number(thing)}
        if cls is MethodType and isinstance(thing.__self__, Op) and thing.__func__ is type(thing.__self__).perform:
            # The node is in the same instruction; the two are put together again in reading.
            return {"perform": None}
        return {"form": form_of(thing)}

    def _parameters(self, params: bytes) -> Any:
        pointers = self._places.get(id(params)) if params else ()
        if pointers is None:
            raise NoCanonicalForm("a kernel has raw bytes as parameters, and nothing says where addresses are in them")
        clean = bytearray(params)
        for offset, name in pointers:
            (self.pointers[name],) = struct.unpack_from("=q", params, offset)
            clean[offset : offset + 8] = bytes(8)
            family = name.partition(":")[0]
            self.needs[family] = pointer_families[family].identity()
        return (
            {"b": clean.decode("latin-1"), "pointers": [list(p) for p in pointers]}
            if pointers
            else {"b": params.decode("latin-1")}
        )

    def _node_number(self, node: Apply) -> int:
        if node not in self._node:
            self._node[node] = len(self.nodes)
            self.nodes.append(
                [form_of(node.op), [self._operand(v) for v in node.inputs], [form_of(v.type) for v in node.outputs]]
            )
        return self._node[node]

    def _operand(self, v: Variable) -> list[Any]:
        if not isinstance(v, Constant):
            return [form_of(v.type)]
        return [form_of(v.type), self._names.get(id(v.data)) or {"form": form_of(v.data)}]


def _inside(library: str) -> str:
    """Return the path of a layer's library inside the package."""
    for root in sys.modules["theano"].__path__:
        if library.startswith(root + os.sep):
            return os.path.relpath(library, root).replace(os.sep, "/")
    raise NoCanonicalForm(f"{library} does not belong to an installed layer")


def _check(
    text: str, program: MachineProgram, serializer: _Serializer, arguments: Sequence[Argument],
    constants: Sequence[Variable],
) -> None:
    """Read a text back and compare: whatever a program has become, nothing is kept that would not give the same."""
    serialized = _parse(text)
    serialized._addresses, serialized.pointers = {**serializer.kernels, **serializer.builtins}, serializer.pointers
    again = serialized.program(program.name, arguments, constants)
    for key, value in vars(program).items():
        if not _same(value, getattr(again, key)):
            raise NoCanonicalForm(f"the {key} of a program cannot be read back")


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, (KernelAddress, BuiltinAddress)):
        return int(a) == int(b)
    if isinstance(a, Apply) and isinstance(b, Apply):
        return form_of(a.op) == form_of(b.op) and len(a.inputs) == len(b.inputs) and len(a.outputs) == len(b.outputs)
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, MethodType):
        return a.__func__ is b.__func__ and bool(form_of(a.__self__) == form_of(b.__self__))
    return bool(form_of(a) == form_of(b))


# -- from text to program ----------------------------------------------------------------------------------


def deserialize(text: str, find: Callable[[Sequence[str], Sequence[str]], Sequence[Any] | None]) -> SerializedProgram:
    """Return a serialized program with the addresses of this process.

    Parameters
    ----------
    text : str
    find : callable
        From keys of kernels and names of units that probably hold them to addresses; None if one is missing.

    Raises
    ------
    BadProgram
        It is none, or it needs something that is not here.
    """
    try:
        serialized = _parse(text)
        head = serialized._addresses
        for family, identity in head["needs"].items():
            if pointer_families[family].identity() != identity:
                raise BadProgram(f"another {family} was found when it was made")
        for name in head["pointers"]:
            family, _, rest = name.partition(":")
            serialized.pointers[name] = pointer_families[family].find(rest)
            if not serialized.pointers[name]:
                raise BadProgram(f"pointer {name} is missing in this process")
        keys = head["kernels"]
        addresses = find(keys, head["units"]) if keys else ()
        if addresses is None:
            raise BadProgram("a kernel is missing")
        found: dict[str, KernelAddress | BuiltinAddress] = dict(zip(keys, addresses, strict=True))
        for name in head["builtins"]:
            library, _, symbol = name.rpartition(":")
            found[name] = builtin_address(_outside(library), symbol)
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as problem:
        let_signals_through(problem)
        raise BadProgram(str(problem)) from problem
    serialized._addresses = found
    serialized.keepalive = [*found.values(), *serialized.pointers.values()]
    return serialized


def _parse(text: str) -> SerializedProgram:
    whole = loads(text)
    if whole["format"] != FORMAT:
        raise ValueError(f"it is of the format {whole['format']}")
    return SerializedProgram(whole["fields"], whole["nodes"], [], whole["kinds"], text, {}, whole)


def _outside(library: str) -> str:
    for root in sys.modules["theano"].__path__:
        path = os.path.join(root, *library.split("/"))
        if os.path.isfile(path) and ".." not in library:
            return path
    raise LookupError(f"library {library} not found")


class _Deserializer:
    """Puts what lives in this process in the place of names."""

    def __init__(
        self,
        serialized: SerializedProgram,
        arguments: Sequence[Argument],
        constants: Sequence[Any],
        careful: Callable[[int, Op], Any] | None,
    ):
        self._serialized, self._arguments, self._constants, self._careful = serialized, arguments, constants, careful
        self._nodes: dict[int, Apply] = {}

    def __call__(self, written: Any) -> Any:
        cls = type(written)
        if cls is list:
            if written[0] == "[":
                return [self(x) if type(x) in (list, dict) else x for x in written[1:]]
            items = [self(x) if type(x) in (list, dict) else x for x in written[1:]]
            if written[0] == "(":
                return tuple(items)
            record = RECORDS[written[0]]._make(items)
            return record._replace(perform=self._perform(record.node)) if type(record) is PerformInstruction else record
        if cls is not dict:
            return written
        ((kind, value),) = written.items() if len(written) == 1 else (("params", written),)
        return _READERS[kind](self, value)

    def params(self, value: Mapping[str, Any]) -> bytes:
        data = bytearray(value["b"].encode("latin-1"))
        for offset, name in value["pointers"]:
            struct.pack_into("=q", data, offset, self._serialized.pointers[name])
        return bytes(data)

    def node(self, number: int) -> Apply:
        if number not in self._nodes:
            op, operands, results = self._serialized.nodes[number]
            made = Apply(object_of(op), [self._operand(o) for o in operands], [object_of(t)() for t in results])
            made.op.prepare_node(made, None, None, "py")
            self._nodes[number] = made
        return self._nodes[number]

    def _operand(self, parts: list[Any]) -> Variable:
        kind = object_of(parts[0])
        made: Variable = kind.make_variable() if len(parts) == 1 else kind.make_constant(self(parts[1]))
        return made

    def _perform(self, node: Apply) -> Any:
        if self._careful is None:
            return node.op.perform
        number = next(n for n, made in self._nodes.items() if made is node)
        return self._careful(number, node.op)

    def spec(self, fields: list[Any]) -> BufferSpec:
        spec = BufferSpec(fields[0], fields[1], tuple(fields[2]), *fields[3:])
        if spec.device != CPU.device:
            # The loader is a compiled module that brings in NumPy: `import theano` does without.
            from theano.loader.module import has_device

            if not has_device(spec.device):
                raise BadProgram(f"device {spec.device} is missing in this process")
        return spec

    def constant(self, k: int) -> Any:
        return self._constants[k]

    def cell(self, i: int) -> Any:
        return self._arguments[i].cell

    def filter(self, i: int) -> Any:
        return self._arguments[i].filter

    def address(self, name: str) -> Any:
        return self._serialized._addresses[name]


_READERS: dict[str, Callable[[Any, Any], Any]] = {
    "i": lambda reader, value: value,
    "b": lambda reader, value: value.encode("latin-1"),
    "spec": _Deserializer.spec,
    "params": _Deserializer.params,
    "constant": _Deserializer.constant,
    "cell": _Deserializer.cell,
    "filter": _Deserializer.filter,
    "kernel": _Deserializer.address,
    "builtin": _Deserializer.address,
    "node": _Deserializer.node,
    "perform": lambda reader, value: None,
    "form": lambda reader, value: object_of(value),
}
