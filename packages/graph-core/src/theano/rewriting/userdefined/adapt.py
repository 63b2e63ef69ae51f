"""What user-defined rewriters become where they meet the core: a node rewriter a rule, a graph rewriter a pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from theano.errors import RewriteError
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.signals import let_signals_through
from theano.rewriting.context import Context, Pass, current
from theano.rewriting.rule import Answer, Rule


def name_of(rewriter: object) -> str:
    """Return the name of a rewriter: its own, that of its function, or that of its class."""
    return getattr(rewriter, "name", None) or getattr(rewriter, "__name__", None) or type(rewriter).__name__


class NodeRewriterRule(Rule):
    """A user-defined node rewriter as a rule: it asks an object with ``transform``."""

    def __init__(self, rewriter: Any, name: str | None = None, tags: Sequence[str] = ()):
        super().__init__(name or name_of(rewriter), tags=tags, doc=rewriter.__doc__)
        self.rewriter = rewriter
        tracks = getattr(rewriter, "tracks", None)
        wanted = tracks() if callable(tracks) else tracks
        # The documentation's first rewriter tracks an empty list, and is shown all nodes.
        self._tracks = tuple(wanted or ()) or None
        parameters = inspect.signature(rewriter.transform).parameters.values()
        by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        # A second argument that may be left out is the node, too: there the first may be a graph.
        self._wants_graph = len(by_position) == 2 and (by_position[1].name == "node" or self._needs(by_position))

    @staticmethod
    def _needs(parameters: Sequence[inspect.Parameter]) -> bool:
        return all(p.default is p.empty for p in parameters)

    def answer(self, fgraph: FunctionGraph, node: Apply) -> Answer:
        """Ask it."""
        transform: Callable[..., Answer] = self.rewriter.transform
        return transform(fgraph, node) if self._wants_graph else transform(node)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what it needs."""
        require = getattr(self.rewriter, "add_requirements", None)
        if require is not None:
            require(fgraph)


def as_rule(thing: object, name: str | None = None, tags: Sequence[str] = ()) -> Rule:
    """Return ``thing`` as a rule, under ``name`` if one is given.

    Parameters
    ----------
    thing : Rule, LocalOptimizer or any object with ``transform``
    name : str, optional
    tags : list of str

    Raises
    ------
    TypeError
        It is none of these.
    """
    if isinstance(thing, Rule) and (name is None or name == thing.name) and not tags:
        return thing
    if callable(getattr(thing, "transform", None)):
        return NodeRewriterRule(thing, name, tags)
    raise TypeError(
        f"{thing!r} is no rule for nodes: it has no method transform. Declare a function with local_optimizer([ops])."
    )


class GraphRewriterPass:
    """A user-defined graph rewriter as a pass: any object with ``optimize``.

    If it fails, what it did is undone and the context says what happens.
    """

    def __init__(self, rewriter: Any):
        self.rewriter = rewriter

    def __call__(self, fgraph: FunctionGraph, context: Context, /) -> None:
        """Let it change ``fgraph``, in ``context``."""
        around = current.get()
        try:
            current.set(context)
            with fgraph.attempt():
                self.rewriter.optimize(fgraph)
                fgraph.validate()
        except RewriteError:
            raise  # a rule inside failed, and failures are to stop everything
        except Exception as error:  # noqa: BLE001  (the boundary to code that anybody may have written)
            let_signals_through(error)
            context.pass_failed(str(self.rewriter), error)
        finally:
            current.set(around)

    def __str__(self) -> str:
        return str(self.rewriter)


def as_pass(thing: Any) -> Pass:
    """Return ``thing`` as a pass: a graph rewriter is adapted, anything else is one."""
    return GraphRewriterPass(thing) if hasattr(thing, "optimize") else thing
