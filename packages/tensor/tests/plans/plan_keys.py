"""Keys of functions, without compiling them."""

from __future__ import annotations

from typing import Any

import theano
from theano.codegen.unit import current_toolchain
from theano.compile.closed_graph import close_graph
from theano.compile.environment import environment, source_digest
from theano.compile.key import GraphDescription, function_key
from theano.compile.mode import get_mode
from theano.rewriting import RewriteSettings


class NoNotes:
    """A cache that keeps nothing."""

    def notes(self, key: str) -> list[str]:
        return []

    def add_note(self, key: str, text: str) -> None:
        pass


def key_of(
    inputs: list[Any],
    outputs: Any,
    updates: Any = None,
    givens: Any = None,
    mode: Any = None,
    accept_inplace: bool = False,
    settings: RewriteSettings | None = None,
    allow_gc: bool | None = None,
    toolchain: str = "a compiler",
    **more: Any,
) -> str:
    """Return the key that ``theano.function`` would take."""
    closed = close_graph(inputs, outputs, updates, givens, **more)
    around = [source_digest(NoNotes()), *environment(toolchain)]
    gc = bool(theano.config.allow_gc) if allow_gc is None else allow_gc
    return function_key(
        GraphDescription(closed), get_mode(mode), settings or RewriteSettings(), accept_inplace, gc, around
    )


def identity() -> str:
    """Return the toolchain of this process."""
    return current_toolchain().identity
