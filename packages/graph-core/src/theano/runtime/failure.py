"""What the user reads when a call fails: what was computed, where it was written, what went in, what to do.

Ten lines at most; the rest is kept for ``theano.last_error.full()``.
"""

from __future__ import annotations

import math
import re
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from theano.errors import DeviceError, DeviceMemoryError, ShapeError
from theano.graph.apply import Apply
from theano.graph.signals import let_signals_through
from theano.graph.source import SourceLine, created_at
from theano.graph.text import printable, text_of
from theano.graph.traverse import ancestors
from theano.graph.variable import Constant, Variable
from theano.loader.abi import abi_constants
from theano.printing import debugprint, one_line

#: Lines for the inputs of the node that failed; with the others this makes ten.
MOST_INPUTS = 4
MOST_MESSAGE_LINES = 2
#: The number of values held by a call that an out-of-memory error lists.
MOST_HELD = 3

#: The loader marks the errors of kernels with their kind.
KERNEL_SHAPE_ERROR = abi_constants()["TH_ERR_SHAPE"]


#: What to do about a failure of some class, before one looks any further.
NEXT_STEPS: tuple[tuple[type[BaseException], str], ...] = (
    (ShapeError, "Give values whose shapes fit, or reshape or transpose one of them where it is used. "),
    (IndexError, "Indices and labels of classes count from 0, and are below the length: correct or clip them. "),
    (DeviceMemoryError, "Give smaller batches, or drop arrays that are on the device. "),
    (DeviceError, "If the driver says that the device is lost, start the program again. "),
    (MemoryError, "Give smaller values, or work on them in parts. "),
)


#: With "high", errors show the expression as a tree and all that the call held; a flag sets it.
verbosity = "low"


def set_verbosity(level: str) -> None:
    """Let errors be ``"low"`` or ``"high"`` from now on."""
    global verbosity
    verbosity = level


class LastError:
    """The last failure of a compiled function in this process, with all that is known about it.

    ``theano.last_error`` is the only instance.
    """

    def __init__(self) -> None:
        self._failure: tuple[str, str, str, Apply, list[str]] | None = None

    def remember(self, error: BaseException, function: str, node: Apply, inputs: list[str]) -> None:
        """Keep a failure in the place of the one before."""
        # Texts, not the exception: its traceback would keep alive all that the user's frames hold.
        way = "".join(traceback.format_tb(error.__traceback__)).rstrip()
        self._failure = (f"{type(error).__name__}: {text_of(error)}", way, function, node, inputs)

    def clear(self) -> None:
        """Forget it, and the graph that it keeps alive."""
        self._failure = None

    def full(self) -> str:
        """Return everything: the error, the whole expression, the inputs, the user's lines, the op's traceback."""
        if self._failure is None:
            return "no compiled function has failed so far"
        error, way, function, node, inputs = self._failure
        lines = [error, "", f"In {function}, while computing", ""]
        lines += [debugprint(node, file="str", print_type=True).rstrip(), "", "from"]
        lines += [f"    input {i}, {v}: {text}" for i, (v, text) in enumerate(zip(node.inputs, inputs, strict=False))]
        for v in (*node.outputs, *node.inputs):
            trace = getattr(v.tag, "trace", ())
            if trace:
                lines += ["", f"{v} was written at"]
                lines += [f"    {frame}, in {frame.function}: {frame.text}" for frame in trace]
        if way:
            lines += ["", "Traceback (most recent call last):", way]
        return printable("\n".join(lines))

    def __repr__(self) -> str:
        return "<no error>" if self._failure is None else f"<last error: {self._failure[0][:60]}>"


last_error = LastError()


class Explainer:
    """Turns the failure of an instruction into an exception that a user can act on.

    Parameters
    ----------
    function : str
        What to call the function.
    nodes : callable
        Returns the node of each instruction, in a list; asked when something has failed.
    variables : callable, optional
        Returns the variable of each slot of the machine.
    """

    def __init__(
        self,
        function: str,
        nodes: Callable[[], Sequence[Apply]],
        variables: Callable[[], Sequence[Variable]] | None = None,
    ):
        self.function, self.nodes, self._variables = function, nodes, variables

    def __call__(
        self, index: int, error: BaseException, inputs: Sequence[Any] = (), slots: Sequence[Any] = ()
    ) -> BaseException:
        """Return ``error``, of the class it is, with a text that says what happened.

        Parameters
        ----------
        index : int
            Of the instruction that failed.
        error : exception
        inputs : list
            What went in: shape, strides and dtype of each input, or None for what is no block of numbers.
        slots : list
            The same of all values that the call holds.
        """
        let_signals_through(error)
        try:
            return self._explained(index, error, inputs, slots)
        except Exception as problem:  # noqa: BLE001  (what failed is to arrive, whatever its class makes of texts)
            let_signals_through(problem)
            return error

    def _explained(
        self, index: int, error: BaseException, inputs: Sequence[Any], slots: Sequence[object]
    ) -> BaseException:
        nodes = self.nodes()
        if not 0 <= index < len(nodes):
            return error
        node = nodes[index]
        if getattr(error, "kind", None) == KERNEL_SHAPE_ERROR:
            error = ShapeError(text_of(error)).with_traceback(error.__traceback__)
        said = text_of(error)
        if hasattr(error, "left_empty"):
            said = _left_empty(node, *error.left_empty)
        if isinstance(error, MemoryError):
            said = "\n".join([*said.splitlines()[: MOST_MESSAGE_LINES - 1], *self._held(node, slots)])
        text = self.explain(node, index, said, [_from_loader(numbers) for numbers in inputs], type(error))
        if verbosity == "high":
            text += "\n\n" + "\n".join(self._all(node, slots))
        last_error.remember(error, self.function, node, [_from_loader(numbers, True) for numbers in inputs])
        return with_text(error, text)

    def _rows(self, slots: Sequence[Any]) -> list[tuple[int, Variable, str, tuple[int, ...]]]:
        """Return what the call holds, the largest first: bytes, variable, dtype and shape."""
        variables = self._variables() if self._variables is not None else ()
        held = [
            (math.prod(shape) * itemsize, v, dtype, shape)
            for v, found in zip(variables, slots, strict=False)
            if found is not None and (itemsize := _itemsize(v)) is not None
            for shape, _, dtype in [found]
        ]
        return sorted(held, key=lambda row: -row[0])

    def _held(self, node: Apply, slots: Sequence[Any]) -> list[str]:
        """Return a line of the largest values where there was no room: on the device of the node, or on the host."""
        device = _device_of(node)
        held = [row for row in self._rows(slots) if row[0] and _lies_on(row[1], device)]
        if not held:
            return []
        shown = ", ".join(f"{one_line(v, 30)} ({dtype}, shape {shape})" for _, v, dtype, shape in held[:MOST_HELD])
        rest = f" and {len(held) - MOST_HELD} more" if len(held) > MOST_HELD else ""
        return [f"  the call holds {sum(row[0] for row in held)} bytes on {device}: {shown}{rest}"]

    def _all(self, node: Apply, slots: Sequence[Any]) -> list[str]:
        """Return the expression as a tree, and what the call held, as lines."""
        lines = ["Debugprint of the apply node:", debugprint(node, file="str", print_type=True).rstrip()]
        held = self._rows(slots)
        lines += ["", "Storage map footprint:"]
        lines += [
            f" - {one_line(v, 60)}, {_kind_of(v)}, {dtype}, shape {shape}, ElemSize: {_itemsize(v)} Byte(s), "
            f"TotalSize: {total} Byte(s)"
            for total, v, dtype, shape in held
        ]
        return [*lines, f" TotalSize: {sum(row[0] for row in held)} Byte(s)"]

    def explain(
        self, node: Apply, index: int, message: str, inputs: Sequence[str], kind: type[BaseException] = Exception
    ) -> str:
        """Return the text."""
        said = message.splitlines()[:MOST_MESSAGE_LINES] or [f"{node.op} failed"]
        said = [_with_inputs(line, node) for line in said]
        lines = [*said, f"{_COMPUTING}{one_line(node.outputs[0], 60) if node.outputs else node.op}"]
        lines.append(f"  which is {node.op}, node {index} of {len(self.nodes())} of {self.function}"[:150])
        where = written_at(node)
        if where is not None:
            lines.append(f"{_WRITTEN}{where}" + (f": {where.text}" if where.text else ""))
        shown = list(zip(node.inputs, inputs, strict=False))
        for v, text in shown[:MOST_INPUTS]:
            made = created_at(v) if v.owner is None and not isinstance(v, Constant) else None
            lines.append(f"    {one_line(v, 30)} : {text}" + (f", created at {made}" if made else ""))
        if len(shown) > MOST_INPUTS:
            lines[-1] += f"  (and {len(shown) - MOST_INPUTS} more inputs)"
        advice = next((text for kinds, text in NEXT_STEPS if issubclass(kind, kinds)), "")
        lines.append(f"  {advice}For all that is known: print(theano.last_error.full())")
        return "\n".join(map(_on_one_line, lines))


_COMPUTING, _WRITTEN = "  while computing ", "  written at "


def in_two_lines(text: str) -> str:
    """Return a text of `Explainer` as part of another one: what went wrong, and of which expression."""
    said, *rest = text.splitlines() or [text]
    computing = [line for line in rest if line.startswith(_COMPUTING)][:1]
    written = [line for line in rest if line.startswith(_WRITTEN)][:1]
    found = ",".join([*computing, *(line.removeprefix(" ") for line in written)])
    return "\n".join([said, found] if found else [said, *rest])


def _left_empty(node: Apply, who: str, k: int) -> str:
    v = node.outputs[k]
    # The instruction may stand for several nodes in a row, some of whose outputs are its own.
    owner = v.owner if v.owner is not None else node
    advice = {
        "perform": f"It must store a value: output_storage[{v.index}][0] = ...",
        "the C code": f"It must store a new reference in the variable that c_code gets as outputs[{v.index}], "
        'or set an exception and end with sub["fail"].',
    }.get(who, f"It must store a value in storage_map[node.outputs[{v.index}]][0].")
    return f"{who} of {owner.op} left output {v.index} empty.\n  {advice}"


def _with_inputs(text: str, node: Apply) -> str:
    """Return a message in which ``<input 1>`` is that input of the node: kernels do not know what they are given."""

    def shown(found: re.Match[str]) -> str:
        k = int(found[1])
        return one_line(node.inputs[k], 30) if k < len(node.inputs) else found[0]

    return re.sub(r"<input (\d+)>", shown, text) if "<input " in text else text


def _on_one_line(text: str) -> str:
    """Return text with escapes for ends of lines and what moves a terminal: a name may hold anything."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _kind_of(v: Variable) -> str:
    return "Constant" if isinstance(v, Constant) else "Input" if v.owner is None else "Computed"


def _device_of(node: Apply) -> str:
    """Return in whose memory the results of a node are, or what it reads if these are on the host."""
    found = [str(getattr(v.type, "device", "cpu")) for v in (*node.outputs, *node.inputs)]
    return next((device for device in found if device != "cpu"), "cpu")


def _lies_on(v: Variable, device: str) -> bool:
    """Return whether the values of a variable have memory of their own on a device."""
    views = getattr(v.owner.op, "view_map", {}) if v.owner is not None else {}
    return getattr(v.type, "device", "cpu") == device and v.index not in views


def _itemsize(v: Variable) -> int | None:
    """Return the bytes of one element, as far as the type knows them."""
    spec = v.type.buffer_spec()
    return None if spec is None else _SIZES.get(spec.dtype)


#: Bytes by name of dtype: those that a name does not say itself.
_SIZES = (
    {"bool": 1}
    | {
        f"{kind}{bits}": bits // 8
        for kind, widths in (("int", (8, 16, 32, 64)), ("uint", (8, 16, 32, 64)), ("float", (16, 32, 64)))
        for bits in widths
    }
    | {"complex64": 8, "complex128": 16}
)


def written_at(node: Apply) -> SourceLine | None:
    """Return the user's line behind a node; if rewriting made the node and its origin is unknown, that of an input."""
    for v in node.outputs:
        line = created_at(v)
        if line is not None:
            return line
    for i, v in enumerate(ancestors(node.inputs)):
        line = created_at(v) if v.owner is not None else None
        if line is not None:
            return line
        if i > 100:
            break
    return None


def _from_loader(numbers: tuple[tuple[int, ...], tuple[int, ...], str] | None, full: bool = False) -> str:
    if numbers is None:
        return "a Python object"
    shape, strides, dtype = numbers
    return f"{dtype}, shape {shape}" + (f", strides {strides}" if full else "")


def describe(value: Any) -> str:
    """Return dtype and shape of a value, or what there is to say of one that has none.

    Examples
    --------
    >>> describe(3), describe([1, 2])
    ('int 3', 'list [1, 2]')
    """
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None and shape is not None:
        return f"{dtype}, shape {tuple(shape)}"
    text = text_of(value, repr).replace("\n", " ")
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def with_text(error: BaseException, text: str) -> BaseException:
    """Give ``error`` another text, without changing its class or losing what it carries."""
    plain = type(error).__str__ in (BaseException.__str__, Exception.__str__)
    if plain and len(error.args) <= 1 and all(isinstance(a, str) for a in error.args):
        error.args = (text,)
    else:
        # An exception with arguments of its own, which its handlers read, keeps them.
        error.add_note(text)
    return error


def name_of(variable: Variable) -> str:
    """Return what to call an argument in an error."""
    return str(variable.name) if variable.name is not None else f"<{variable.type}>"
