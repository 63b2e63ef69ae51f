"""The C of ops that work on many types, as the types bring it along.

Our own types have kernels; what is registered here is for those that users write. In the text, ``%(iname)s`` and
``%(oname)s`` are the C variables of the input and the output, ``%(fail)s`` is what to do when something is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano.errors import MethodNotDefined
from theano.graph.apply import Apply
from theano.graph.c_contract import Sub
from theano.graph.op import Op
from theano.records import NamedTuple


class Code(NamedTuple):
    """The C of an op for one class of types: the text, its version, what comes before it, and support code."""

    text: str
    version: tuple[Any, ...] = ()
    check: str = ""
    support: str | None = None


class CodeByType(Op):
    """Base of the ops whose C is registered by the class of their first input's type."""

    code_of: dict[type, Code] = {}

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "code_of" not in cls.__dict__ and cls.__mro__[1] is CodeByType:
            cls.code_of = {}

    def registered(self, node: Apply) -> Code | None:
        """Return what was registered for the type of a node's first input, or for the nearest of its bases."""
        for cls in type(node.inputs[0].type).__mro__:
            if cls in self.code_of:
                return self.code_of[cls]
        return None

    def c_code(self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Sub) -> str:
        """Return the text that was registered.

        Raises
        ------
        MethodNotDefined
            No code is registered.
        """
        found = self.registered(node)
        if found is None:
            kind = type(node.inputs[0].type).__name__
            raise MethodNotDefined("c_code", type(self), f"{self} on values of the type {kind}")
        return self.fill_in(found, {"iname": inputs[0], "oname": outputs[0], "fail": sub["fail"]}, inputs)

    def fill_in(self, code: Code, names: dict[str, Any], inputs: Sequence[str]) -> str:
        """Return the text with names in it."""
        return code.text % names

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        """Return the support code that was registered."""
        found = self.registered(node)
        return (found.support or "") if found is not None else ""

    def c_code_cache_version_apply(self, node: Apply) -> tuple[object, ...]:
        """Return the version that was registered for the type of the input."""
        found = self.registered(node)
        return _version(found) if found is not None else ()

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return all versions together; () if one of the texts has none."""
        versions = [_version(code) for code in self.code_of.values()]
        return tuple(sorted(map(str, versions))) if all(versions) else ()


def _version(code: Code) -> tuple[Any, ...]:
    return code.version if isinstance(code.version, tuple) else (code.version,)
