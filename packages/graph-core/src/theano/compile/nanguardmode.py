"""``NanGuardMode``: the first number that is NaN, infinite or huge stops the call, with the node that made it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from theano.compile.mode import Mode
from theano.errors import NanGuardError
from theano.graph.apply import Apply
from theano.graph.source import created_at
from theano.graph.text import printable
from theano.graph.variable import Variable
from theano.layers import lazily
from theano.printing import one_line
from theano.rewriting import Query
from theano.runtime.failure import describe, written_at
from theano.runtime.inspection import inspection_of
from theano.runtime.interpreter import NodeThunk, WrapLinker
from theano.runtime.link import Linker
from theano.settings import config

if TYPE_CHECKING:
    from theano.graph.annotations import Value

#: Finite numbers beyond this are called big.
BIG = 1e10


def is_exempt(v: Variable) -> bool:
    """Return whether the values of a variable are not inspected."""
    return not getattr(v.tag, "nan_guard_mode_check", True)


class NanGuardMode(Mode):
    """Looks at each value: arguments, and what each node computes.

    A variable whose tag says ``variable.tag.nan_guard_mode_check = False`` is not looked at, nor what rewriting puts in
    its place.

    Parameters
    ----------
    nan_is_error, inf_is_error, big_is_error : bool, optional
        What is not wanted: NaN; infinity; absolute values above 1e10. By default as ``config.NanGuardMode`` says, as
        does ``config.NanGuardMode.action`` (raise, warn, pdb) what happens then.
    optimizer : Query or str
        Which rewrites; as for `Mode`.
    linker : Linker or str, optional
        How nodes are computed.

    Raises
    ------
    NanGuardError
        By calls: an AssertionError that names the value, the node, the line that wrote it, and the node's inputs.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> f = theano.function([x], T.log(x) * 2, mode=theano.compile.NanGuardMode())
    >>> f([1.0, -1.0])
    Traceback (most recent call last):
     ...
    theano.errors.NanGuardError: NaN detected (1 of 2 numbers) in ...
    """

    def __init__(
        self,
        nan_is_error: bool | None = None,
        inf_is_error: bool | None = None,
        big_is_error: bool | None = None,
        optimizer: Query | str | None = "default",
        linker: Linker | str | None = None,
    ):
        self.nan_is_error = config.NanGuardMode.nan_is_error if nan_is_error is None else bool(nan_is_error)
        self.inf_is_error = config.NanGuardMode.inf_is_error if inf_is_error is None else bool(inf_is_error)
        self.big_is_error = config.NanGuardMode.big_is_error if big_is_error is None else bool(big_is_error)
        if not (self.nan_is_error or self.inf_is_error or self.big_is_error):
            raise ValueError("NanGuardMode has nothing to look for: nan_is_error, inf_is_error, big_is_error")
        plain = Mode(linker, optimizer)
        super().__init__(_Guard(plain.linker, self), plain.optimizer)
        self.provided_linker, self.provided_optimizer = plain.provided_linker, plain.provided_optimizer

    def clone(self, link_kwargs: dict[str, Any] | None = None, optimizer: Query | str = "", **kwargs: Any) -> Mode:
        """Return a mode like this one."""
        assert isinstance(self.linker, WrapLinker)
        inner = self.linker.linkers[0]
        flags = {name: getattr(self, name) for name in ("nan_is_error", "inf_is_error", "big_is_error")}
        return type(self)(
            **{**flags, **kwargs},
            optimizer=optimizer or self.optimizer,
            linker=inner.clone(**link_kwargs) if link_kwargs else inner,
        )

    def trouble(self, v: Variable, value: Value) -> str:
        """Return what is wrong with a value, or ""."""
        if is_exempt(v) or value is None:
            return ""
        found = inspection_of(v.type).extremes(value)
        if found is None:
            return ""
        size = getattr(value, "size", 1)
        said = []
        if found.nan and self.nan_is_error:
            said.append(f"NaN detected ({found.nan} of {size} numbers)")
        if found.inf and self.inf_is_error:
            said.append(f"Inf detected ({found.inf} of {size} numbers)")
        if found.largest > BIG and self.big_is_error:
            said.append(f"Big value detected ({found.largest:g})")
        return ", ".join(said)

    def look_at_node(self, i: int, node: Apply, fn: NodeThunk) -> None:
        """Compute a node and look at its outputs."""
        # What is overwritten could not be shown afterwards.
        before = [_shown(v, cell[0]) for v, cell in zip(node.inputs, fn.inputs, strict=True)]
        fn()
        for k, (v, cell) in enumerate(zip(node.outputs, fn.outputs, strict=True)):
            wrong = self.trouble(v, cell[0])
            if wrong:
                self._act(_message(wrong, k, i, node, before, cell[0]))

    def look_at_input(self, v: Variable, value: Value) -> None:
        """Look at an argument or a shared variable."""
        wrong = self.trouble(v, value)
        if wrong:
            where = created_at(v)
            made = f", created at {where}" if where else ""
            self._act(
                f"{wrong} in the input {v} of the function{made}: {_shown(v, value)}\n"
                "  If that is meant: variable.tag.nan_guard_mode_check = False"
            )

    def _act(self, message: str) -> None:
        action, message = config.NanGuardMode.action, printable(message)
        if action == "warn":
            warnings.warn(message, NanGuardWarning, stacklevel=2)
        elif action == "pdb":
            print(message)
            breakpoint()  # noqa: T100  (the flag asks for it)
        else:
            raise NanGuardError(message)


class NanGuardWarning(UserWarning):
    """What `NanGuardMode` says where it is to warn only."""


class _Guard(WrapLinker):
    """The linker of a `NanGuardMode`: looks at inputs too."""

    mode: NanGuardMode

    def __init__(self, linker: Linker, mode: NanGuardMode):
        super().__init__([linker], mode.look_at_node)
        self.mode = mode

    def clone(self, allow_gc: bool | None = None) -> Linker:
        """Return a linker like this one, with another ``allow_gc``."""
        return _Guard(self.linkers[0].clone(allow_gc), self.mode)

    def on_input(self, variable: Variable, value: Value) -> None:
        """Look at an input."""
        self.mode.look_at_input(variable, value)


def _message(wrong: str, k: int, i: int, node: Apply, inputs: list[str], value: Value) -> str:
    return "\n".join(_lines(wrong, k, i, node, inputs, value))


def _lines(wrong: str, k: int, i: int, node: Apply, inputs: list[str], value: Value) -> Iterator[str]:
    yield f"{wrong} in output {k} of {node.op}, node {i}"
    yield f"  computed as {one_line(node.outputs[k], 80)}"
    where = written_at(node)
    if where is not None:
        yield f"  written at {where}" + (f": {where.text}" if where.text else "")
    yield f"  value: {_shown(node.outputs[k], value)}"
    yield "  from"
    for v, text in zip(node.inputs, inputs, strict=True):
        yield f"    {one_line(v, 30)} : {text}"
    yield "  If that is meant: variable.tag.nan_guard_mode_check = False"


def _shown(v: Variable, value: Value) -> str:
    """Return a value in a few words: what it is, its range, its first numbers."""
    text = describe(value)
    found = inspection_of(v.type).extremes(value)
    if found is None:
        return text
    counts = "".join(f", {n} {what}" for n, what in ((found.nan, "NaN"), (found.inf, "infinite")) if n)
    start = " ".join(repr(value).split())
    return f"{text}{counts}, largest {found.largest:g}: {start if len(start) <= 70 else start[:67] + '...'}"


__all__ = ["NanGuardError", "NanGuardMode", "NanGuardWarning"]


__getattr__, __dir__ = lazily(globals())
