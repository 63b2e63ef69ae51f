"""A graph computed with suspicion: what its ops do, against what they say they do.

Each node runs by itself, in each form it has, on copies of its inputs. What it must not touch is compared byte by byte,
what it may share is looked up in its maps, what it returns is compared between the forms, with a second run, and with
runs into memory of every shape and layout that a mode may offer. This is an evaluator of its own: nothing of the
machine's planning is in it, so that at the end the machine's results can be compared, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theano.errors import BadDestroyMap, BadThunkOutput, BadViewMap, InvalidValueError
from theano.graph.apply import Apply
from theano.graph.signals import let_signals_through
from theano.graph.text import printable, text_of
from theano.graph.variable import Variable
from theano.printing import one_line
from theano.runtime.failure import describe, written_at
from theano.runtime.inspection import inspection_of
from theano.runtime.interpreter import NodeFunction

if TYPE_CHECKING:
    from theano.graph.annotations import Value

logger = logging.getLogger("theano")

#: Kinds of memory that outputs may be offered.
FORMS = ("initial", "previous", "c_contiguous", "f_contiguous", "strided", "wrong_size")


@dataclass(frozen=True)
class Checks:
    """What is checked.

    Attributes
    ----------
    finite : bool
        Results must be finite.
    preallocated : tuple of str
        The kinds of memory to offer to outputs, among `FORMS`.
    preallocated_ndim : int
        On how many dimensions ``strided`` tries its strides.
    strides : {0, 1, 2}
        Where two forms of an op lay out a result differently: nothing, a warning, an error.
    warn_input_not_reused : bool
        Warn of an op that says that it works in place, and does not.
    """

    finite: bool = True
    preallocated: tuple[str, ...] = ()
    preallocated_ndim: int = 4
    strides: int = 0
    warn_input_not_reused: bool = True


class CheckedNode:
    """One node, all its forms, and the checks that it passed.

    Parameters
    ----------
    node : Apply
    forms : list of NodeFunction
        The first one's results are the reference.
    checks : Checks
    failed : callable
        Turns an exception of the op into one that says where it happened, given the inputs.
    """

    def __init__(
        self,
        node: Apply,
        forms: Sequence[NodeFunction],
        checks: Checks,
        failed: Callable[[Apply, BaseException, Sequence[Any]], BaseException],
    ):
        self.node, self.forms, self.checks, self._failed = node, list(forms), checks, failed
        #: What each form left in its output storage at its last call.
        self._left: dict[str, list[Any]] = {}
        self._warned: set[tuple[str, int, int]] = set()

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Return the outputs for some inputs, which stay untouched.

        Raises
        ------
        DebugModeError
            The op does something else than it says.
        """
        reference: list[Any] | None = None
        for form in self.forms:
            found = self.run(form, values)
            if reference is None:
                reference, first = found, form
            else:
                self._agree(first.name, reference, form.name, found, values)
                self._same_layout(first.name, reference, form.name, found, values)
            again = self.run(form, values, note=", run a second time on the same inputs")
            self._agree(form.name, found, f"{form.name}, run a second time on the same inputs", again, values)
            self._offer_memory(form, found, values)
        assert reference is not None
        return reference

    # -- one run ------------------------------------------------------------------------------------------

    def run(
        self, form: NodeFunction, values: Sequence[object], offered: Sequence[Any] | None = None, note: str = ""
    ) -> list[Any]:
        """Run one form on copies of the inputs, check what it left behind, and return its outputs."""
        node, name = self.node, form.name + note
        copies: dict[Variable, Any] = {}
        for v, value in zip(node.inputs, values, strict=True):
            if v not in copies:
                copies[v] = inspection_of(v.type).copy_as_laid_out(value)
        given = [copies[v] for v in node.inputs]
        inputs = [[value] for value in given]
        outputs = [[memory] for memory in (offered or [None] * len(node.outputs))]
        cells: list[list[Any]] = list(outputs)
        try:
            form(inputs, cells)
        except Exception as error:
            let_signals_through(error)
            if note:
                raise self._fails_only_now(form.name, name, error, values) from error
            raise self._failed(node, error, values) from error.__cause__
        self._check_storage(cells, outputs, name, values)
        found = [cell[0] for cell in outputs]
        for k, value in enumerate(found):
            self._check_value(k, value, name)
        self._check_destroyed(values, given, name)
        self._check_shared(found, given, name)
        return found

    def _fails_only_now(self, first: str, name: str, error: Exception, values: Sequence[Any]) -> BadThunkOutput:
        return BadThunkOutput(
            self.node.outputs[0], first, "a result", name, error, values,
            text=self._text(f"{name} of {self.node.op} fails, where {first} by itself does not",
                            [f"{type(error).__name__}: {text_of(error).partition(chr(10))[0]}"]),
        )  # fmt: skip

    def _check_storage(self, cells: list[Any], outputs: list[list[Any]], name: str, values: Sequence[object]) -> None:
        """The lists that an op gets for its outputs must stay as long as they are."""
        lengths = [len(cell) for cell in outputs]
        if len(cells) == len(outputs) and all(a is b for a, b in zip(cells, outputs)) and set(lengths) <= {1}:
            return
        k = next((k for k, n in enumerate(lengths) if n != 1), 0)
        what = f"the storage of output {k} has {lengths[k]} elements afterwards, not 1"
        if len(cells) != len(outputs) or all(n == 1 for n in lengths):
            what = "the list of output storages is not the one that was given"
        raise BadThunkOutput(
            self.node.outputs[k], name, cells, "output_storage as given", None, values,
            text=self._text(
                f"{name} of {self.node.op} changed the output storage itself: {what}",
                ["An op writes output_storage[k][0] = value; it must not resize or replace the lists."],
            ),
        )  # fmt: skip

    def _check_value(self, k: int, value: Value, name: str) -> None:
        v = self.node.outputs[k]
        op = self.node.op
        if value is None and not v.type.is_valid_value(None):
            raise InvalidValueError(
                v, value, hint="no value",
                text=self._text(f"{name} of {op} computed no value for output {k}", ["output_storage[k][0] is None."]),
            )  # fmt: skip
        if not v.type.is_valid_value(value):
            why = _reason(v, value)
            raise InvalidValueError(
                v, value, hint="not of the type", specific_hint=why,
                text=self._text(
                    f"{name} of {op} computed a wrong kind of value for output {k}: {describe(value)}, "
                    f"where make_node promises {v.type}",
                    [why, "Let perform or the C code return what make_node promises, or make_node promise that."],
                ),
            )  # fmt: skip
        if self.checks.finite:
            check_finite(v, value, f"{name} of {op} computed for output {k}", self._text)

    def _check_destroyed(self, values: Sequence[object], given: Sequence[object], name: str) -> None:
        node = self.node
        declared = {node.inputs[i] for many in node.op.destroy_map.values() for i in many}
        for i, (v, before, after) in enumerate(zip(node.inputs, values, given, strict=True)):
            if v in declared or inspection_of(v.type).same_bytes(before, after):
                continue
            # Objects that are never equal to their copies cannot be watched.
            if not inspection_of(v.type).same_bytes(before, inspection_of(v.type).copy_as_laid_out(before)):
                continue
            raise BadDestroyMap(
                node, i, before, after, name,
                text=self._text(
                    f"{name} of {node.op} wrote into its input {i}, which destroy_map {node.op.destroy_map} does "
                    "not name",
                    [f"input {i}, {one_line(v, 40)}", f"  before: {short(before)}", f"  after:  {short(after)}",
                     f"Copy the input first, or declare destroy_map = {{output: [{i}]}}."],
                ),
            )  # fmt: skip

    def _check_shared(self, found: Sequence[object], given: Sequence[object], name: str) -> None:
        node = self.node
        maps = [{k: list(many) for k, many in m.items()} for m in (node.op.view_map, node.op.destroy_map)]
        allowed = [{i for m in maps for i in m.get(k, ())} for k in range(len(found))]
        for k, (out, value) in enumerate(zip(node.outputs, found, strict=True)):
            mine = {node.inputs[i] for i in allowed[k]}
            sharing = [i for i, v in enumerate(node.inputs) if out.type.may_share_memory(value, given[i])]
            bad = [i for i in sharing if node.inputs[i] not in mine]
            if bad:
                raise BadViewMap(
                    node, out, value, bad,
                    text=self._text(
                        f"output {k} of {name} of {node.op} shares memory with input {_listed(bad)}, which neither "
                        f"view_map {node.op.view_map} nor destroy_map {node.op.destroy_map} says",
                        [f"Return a copy, or declare view_map = {{{k}: {bad}}}."],
                    ),
                )  # fmt: skip
            self._check_reused(k, sorted(allowed[k] - set(sharing)), value, given, name)
            for j in range(k):
                self._check_pair(j, k, found, allowed, name)

    def _check_pair(self, j: int, k: int, found: Sequence[object], allowed: Sequence[set[int]], name: str) -> None:
        """Two outputs may share memory only if both declare that it is that of an input, or one is unused."""
        node = self.node
        a, b = node.outputs[j], node.outputs[k]
        if allowed[j] & allowed[k] or not (a.clients and b.clients) or not a.type.may_share_memory(found[j], found[k]):
            return
        raise BadViewMap(
            node, b, found[k], out_alias_idx=[j],
            text=self._text(
                f"outputs {j} and {k} of {name} of {node.op} share memory with each other",
                ["Nothing keeps one from being overwritten while the other is still needed. Return a copy of one."],
            ),
        )  # fmt: skip

    def _check_reused(self, k: int, missed: Sequence[int], value: Value, given: Sequence[object], name: str) -> None:
        if not self.checks.warn_input_not_reused:
            return
        destroyed = self.node.op.destroy_map.get(k, ())
        for i in missed:
            v = self.node.inputs[i]
            # A type whose values never share memory says nothing; an empty value has no memory.
            if i not in destroyed or not v.type.may_share_memory(given[i], given[i]) or (name, k, i) in self._warned:
                continue
            self._warned.add((name, k, i))
            logger.warning(
                "DebugMode: %s of %s says in its destroy_map that output %d is made in the memory of input %d, and "
                "returned other memory", name, self.node.op, k, i,
            )  # fmt: skip

    # -- two runs -----------------------------------------------------------------------------------------

    def _agree(
        self, name1: str, one: Sequence[object], name2: str, two: Sequence[object], values: Sequence[object]
    ) -> None:
        for k, (v, a, b) in enumerate(zip(self.node.outputs, one, two, strict=True)):
            if equal(v, a, b):
                continue
            raise BadThunkOutput(
                v, name1, a, name2, b, values,
                text=self._text(
                    f"output {k} of {self.node.op} is not the same from {name1} and from {name2}",
                    [f"{name1}: {short(a)}", f"{name2}: {short(b)}", *difference(a, b), "from",
                     *(f"  {one_line(u, 30)} : {short(x)}" for u, x in zip(self.node.inputs, values, strict=True))],
                ),
            )  # fmt: skip

    def _same_layout(
        self, name1: str, one: Sequence[object], name2: str, two: Sequence[object], values: Sequence[object]
    ) -> None:
        if not self.checks.strides:
            return
        for k, (v, a, b) in enumerate(zip(self.node.outputs, one, two, strict=True)):
            if inspection_of(v.type).same_layout(a, b):
                continue
            text = self._text(
                f"{name1} and {name2} of {self.node.op} lay output {k} out differently",
                [f"{x}: strides {getattr(y, 'strides', None)}" for x, y in ((name1, a), (name2, b))],
            )
            if self.checks.strides > 1:
                raise BadThunkOutput(v, name1, a, name2, b, values, text=text)
            logger.warning("DebugMode: %s", text)

    # -- memory for the outputs -------------------------------------------------------------------------------

    def _offer_memory(self, form: NodeFunction, found: Sequence[object], values: Sequence[object]) -> None:
        """Run with every kind of memory in the output storage; the result must be the same."""
        if form.name == "compiled":
            self._offer_rubbish(form, found, values)
            return
        for kind in self.checks.preallocated:
            for name, memory in self._memories(kind, found, form.name):
                note = f" with output memory {name}"
                result = self.run(form, values, memory, note)
                self._agree(form.name, found, form.name + note, result, values)
        self._left[form.name] = list(found)

    def _offer_rubbish(self, form: NodeFunction, found: Sequence[object], values: Sequence[object]) -> None:
        """Run a kernel into memory with rubbish in it.

        A kernel asks the machine for memory, which is always in C order and of the right size, and gives what a call
        has left behind to the next one after the last other reference.
        """
        if not self.checks.preallocated:
            return
        left = self.run(form, values)
        for k, value in enumerate(left):
            shares = k in self.node.op.view_map or k in self.node.op.destroy_map
            if not shares and hasattr(value, "fill"):
                value.fill(77)
        del left, value
        note = " into memory with rubbish in it"
        self._agree(form.name, found, form.name + note, self.run(form, values, note=note), values)

    def _memories(self, kind: str, found: Sequence[object], form: str) -> Iterator[tuple[str, list[Any]]]:
        node, ndim = self.node, self.checks.preallocated_ndim
        # What views or overwrites an input has its memory already.
        free = [k for k in range(len(found)) if not (k in node.op.view_map or k in node.op.destroy_map)]
        if not free:
            return
        if kind == "initial":
            left = self._left.get(form)
            if left is not None:
                # Copies: the earlier results may still be referenced.
                asked = [inspection_of(v.type) for v in node.outputs]
                yield kind, [asked[k].copy_as_laid_out(left[k]) if k in free else None for k in range(len(found))]
            return
        sources = {k: list(inspection_of(node.outputs[k].type).spare_memory(found[k], kind, ndim)) for k in free}
        for i in range(max(map(len, sources.values()))):
            memory: list[Any] = [None] * len(found)
            names = []
            for k, offers in sources.items():
                if offers:
                    name, memory[k] = offers[i % len(offers)]
                    names.append(name)
            yield " and ".join(dict.fromkeys(names)), memory

    # -- words ----------------------------------------------------------------------------------------------

    def _text(self, first: str, more: Iterable[str]) -> str:
        return text_about(self.node, first, more)


def text_about(node: Apply, first: str, more: Iterable[str]) -> str:
    """Return a message about a node: what is wrong, where it was written, and more."""
    lines = [first]
    if node.outputs:
        lines.append(f"  node: {one_line(node.outputs[0], 100)}")
    where = written_at(node)
    if where is not None:
        lines.append(f"  written at {where}" + (f": {where.text}" if where.text else ""))
    return printable("\n".join([*lines, *(f"  {line}" for line in more if line)]))


def equal(v: Variable, a: Any, b: Any) -> bool:
    """Return whether two values of a variable are the same within rounding, as its tag or its type compares."""
    compare = getattr(v.tag, "values_eq_approx", None) or v.type.values_eq_approx
    try:
        # An object that does not even equal its own copy cannot be compared.
        return bool(compare(a, b)) or not compare(a, v.type.value_copy(a))
    except (TypeError, ValueError):
        return False


def check_finite(v: Variable, value: Value, what: str, text: Callable[[str, Iterable[str]], str]) -> None:
    """Raise InvalidValueError where a value is not finite."""
    found = inspection_of(v.type).extremes(value)
    if found is None or not (found.nan or found.inf):
        return
    counts = " and ".join(f"{n} {name}" for n, name in ((found.nan, "NaN"), (found.inf, "infinite")) if n)
    raise InvalidValueError(
        v, value, hint="not finite", specific_hint=counts,
        text=text(
            f"{what} values that are not finite: {counts} among {describe(value)}",
            [short(value), "If that is right: DebugMode(check_isfinite=False), or the flag DebugMode.check_finite."],
        ),
    )  # fmt: skip


def difference(a: Any, b: Any) -> list[str]:
    """Return lines that say how two values differ, as far as they are arrays of one shape."""
    if getattr(a, "shape", None) != getattr(b, "shape", ()) or getattr(a, "dtype", None) != getattr(b, "dtype", ""):
        return [f"{describe(a)} against {describe(b)}"]
    if getattr(a, "size", 0) == 0 or a.dtype.kind not in "biufc":
        return []
    unequal = (a != b) & ~((a != a) & (b != b))
    return [f"they differ in {int(unequal.sum())} of {a.size} elements"]


def short(value: Value, most: int = 160) -> str:
    """Return a value on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _reason(v: Variable, value: Value) -> str:
    """Return what the type says against a value."""
    try:
        v.type.filter(value, strict=True)
    except (TypeError, ValueError) as problem:
        return text_of(problem).partition("\n")[0]
    return ""


__all__ = ["FORMS", "CheckedNode", "Checks", "check_finite", "equal", "short", "text_about"]
