"""User-defined node rewriters: classes and functions that say what may stand in place of a node's outputs.

They say what a :class:`~theano.rewriting.rule.Rule` says, and become one where they are registered
(:func:`theano.rewriting.userdefined.adapt.as_rule`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from theano.errors import MethodNotDefined
from theano.graph.aliasing import DestroyHandler
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.variable import Variable
from theano.rewriting.rule import Answer, Rule
from theano.rewriting.userdefined.adapt import as_rule

Transform = Callable[..., Answer]


class LocalOptimizer:
    """A node rewriter written as a class: it looks at one node and says what may stand in place of its outputs.

    Subclasses define :meth:`transform`, and :meth:`tracks` so that only nodes of some ops are shown to them.

    Parameters
    ----------
    name : str, optional

    Examples
    --------
    >>> from theano.graph import FunctionGraph, Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> class NotNot(LocalOptimizer):
    ...     def tracks(self):
    ...         return [Not]
    ...     def transform(self, node):
    ...         inner = node.inputs[0].owner
    ...         return [inner.inputs[0]] if inner is not None and inner.op == node.op else False
    >>> from theano.rewriting.userdefined.graph_rewriters import TopoOptimizer
    >>> x = generic("x")
    >>> fgraph = FunctionGraph([x], [Not()(Not()(x))])
    >>> _ = TopoOptimizer(NotNot()).optimize(fgraph)
    >>> fgraph
    [x]
    """

    name: str | None = None

    def __init__(self, name: str | None = None):
        if name is not None:
            self.name = name

    def tracks(self) -> Sequence[Any] | None:
        """Return the ops and classes of ops whose nodes are shown to the rule; None is all."""
        return None

    def transform(self, node: Apply) -> Answer:
        """Return what could stand in place of the outputs of ``node``.

        Returns
        -------
        False, list or dict
            Nothing to do; one variable for each output; or replacements by the variable replaced, where ``"remove"``
            may name variables that the graph must not hold afterwards.
        """
        raise MethodNotDefined("transform", type(self), type(self).__name__)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the features that the rule needs; called before it is used."""

    def __call__(self, *args: Any) -> Answer:
        """Return the same as :meth:`transform`."""
        return self.transform(*args)

    def __str__(self) -> str:
        return self.name or type(self).__name__

    def print_summary(self, stream: TextIO | None = None, level: int = 0, depth: int = -1) -> None:
        """Print what it is."""
        print(f"{' ' * level}{type(self).__name__} {self.name or ''} id={id(self)}", file=stream or sys.stdout)


class FromFunctionLocalOptimizer(LocalOptimizer):
    """A node rewriter written as a function; :func:`local_optimizer` makes it.

    Parameters
    ----------
    fn : callable
        Takes a node, or a graph and a node.
    tracks : list or None
    requirements : list of callable
        Each attaches to a graph what the rule needs.
    """

    def __init__(
        self,
        fn: Transform,
        tracks: Sequence[Any] | None = None,
        requirements: Iterable[Callable[[FunctionGraph], Any]] = (),
    ):
        super().__init__(fn.__name__)
        self.fn, self._tracks, self.requirements = fn, tracks, tuple(requirements)
        self.transform = fn  # type: ignore[method-assign]  # programs call it as they wrote it
        self.__name__, self.__doc__, self.__wrapped__ = fn.__name__, fn.__doc__, fn

    def tracks(self) -> Sequence[Any] | None:
        """Return what it was declared to track."""
        return self._tracks

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what was declared."""
        for require in self.requirements:
            require(fgraph)

    def __repr__(self) -> str:
        return f"<local_optimizer {self.name}>"


def require_destroy_handler(fgraph: FunctionGraph) -> None:
    """Let ``fgraph`` watch over memory: what rules that work in place need."""
    fgraph.attach_feature(DestroyHandler())


def local_optimizer(
    tracks: Sequence[Any] | None,
    inplace: bool = False,
    requirements: Iterable[Callable[[FunctionGraph], Any]] = (),
) -> Callable[[Transform], FromFunctionLocalOptimizer]:
    """Declare a node rewriter written as a function of a node.

    Parameters
    ----------
    tracks : list of Op or of subclasses of Op, or None
        The nodes it wants to see; None is all.
    inplace : bool
        It puts ops in that overwrite their inputs.
    requirements : list of callable
        Each attaches to a graph what the rule needs.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> @local_optimizer([Not])
    ... def not_not(node):
    ...     inner = node.inputs[0].owner
    ...     if inner is not None and inner.op == node.op:
    ...         return [inner.inputs[0]]
    >>> not_not.transform(Not()(Not()(generic("x"))).owner)
    [x]
    """
    if tracks is not None:
        if not isinstance(tracks, (list, tuple)):
            raise TypeError(f"tracks is a list of ops and of classes of ops, or None, not {tracks!r}")
        if not tracks:
            raise ValueError("tracks is empty, so the rule would never be used; None shows it every node")
        for thing in tracks:
            if not isinstance(thing, Op) and not (isinstance(thing, type) and issubclass(thing, Op)):
                raise TypeError(f"tracks holds ops and classes of ops; {thing!r} is neither")

    def declare(fn: Transform) -> FromFunctionLocalOptimizer:
        if not callable(fn):
            raise TypeError(f"local_optimizer decorates a function of a node, not {fn!r}")
        needed = (require_destroy_handler, *requirements) if inplace else tuple(requirements)
        return FromFunctionLocalOptimizer(fn, tracks, needed)

    return declare


# -- ready-made kinds ----------------------------------------------------------------------------------------


class OpSub(LocalOptimizer):
    """Puts one op in the place of another, on the same inputs.

    Parameters
    ----------
    op1, op2 : Op
        What goes, and what comes.
    transfer_tags : bool
        Let what comes inherit the tags of what goes.
    """

    def __init__(self, op1: Op, op2: Op, transfer_tags: bool = True):
        super().__init__(f"{op1}->{op2}")
        self.op1, self.op2, self.transfer_tags = op1, op2, transfer_tags

    def op_key(self) -> Op:
        """Return the op that goes."""
        return self.op1

    def tracks(self) -> list[Op]:
        """Return the op that goes."""
        return [self.op1]

    def transform(self, node: Apply) -> Answer:
        """Return the outputs of the other op."""
        if node.op != self.op1:
            return False
        new = self.op2.make_node(*node.inputs)
        if self.transfer_tags:
            new.tag.__update__(node.tag)
            for old, fresh in zip(node.outputs, new.outputs, strict=True):
                fresh.tag.__update__(old.tag)
        return new.outputs

    def __str__(self) -> str:
        return f"{self.op1} -> {self.op2}"


class OpRemove(LocalOptimizer):
    """Takes an op away that has as many outputs as inputs: each output becomes the input of its number.

    Parameters
    ----------
    op : Op
    """

    def __init__(self, op: Op):
        super().__init__(f"{op}->identity")
        self.op = op

    def op_key(self) -> Op:
        """Return the op that goes."""
        return self.op

    def tracks(self) -> list[Op]:
        """Return the op that goes."""
        return [self.op]

    def transform(self, node: Apply) -> Answer:
        """Return the inputs."""
        if node.op != self.op or len(node.inputs) != len(node.outputs):
            return False
        return list(node.inputs)

    def __str__(self) -> str:
        return f"{self.op}(x) -> x"


class LocalOptGroup(LocalOptimizer):
    """Several rules as one: the first that has something to say is heard.

    Parameters
    ----------
    *optimizers : LocalOptimizer or Rule
        A single list is taken, too.
    apply_all_opts : bool
        Show what one rule made to the others as well, before anything is replaced.
    """

    def __init__(self, *optimizers: Any, apply_all_opts: bool = False, profile: bool = False):
        if len(optimizers) == 1 and isinstance(optimizers[0], (list, tuple)):
            optimizers = tuple(optimizers[0])
        self.opts = list(optimizers)
        self.apply_all_opts, self.profile = apply_all_opts, profile
        self._rules = [as_rule(o) for o in self.opts]
        super().__init__(",".join(rule.name for rule in self._rules))

    def tracks(self) -> list[Any] | None:
        """Return what any of the rules tracks."""
        found: dict[type | Op, None] = {}
        for rule in self._rules:
            if rule.tracks is None:
                return None
            found.update(dict.fromkeys(rule.tracks))
        return list(found)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what the rules need."""
        for rule in self._rules:
            rule.add_requirements(fgraph)

    def transform(self, fgraph: Any, node: Apply | None = None) -> Answer:  # type: ignore[override]
        """Return what the first rule says that says something; takes the node alone as well."""
        at: Apply = fgraph if node is None else node
        graph = at.fgraph if node is None else fgraph
        last: Answer = False
        # A rule that undoes another's work would go on forever.
        for _ in range(max(100, len(self._rules))):
            answer = next((a for rule in self._rules if _wants(rule, at.op) and (a := rule.answer(graph, at))), False)
            if not answer:
                return last
            last = answer
            if not self.apply_all_opts or isinstance(answer, dict):
                return last
            made = answer[0] if isinstance(answer, (list, tuple)) else answer
            if not isinstance(made, Variable) or made.owner is None or made.owner is at:
                return last
            if len(made.owner.outputs) != len(node.outputs if node is not None else at.outputs):
                return last
            at = made.owner
        return last

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def print_summary(self, stream: TextIO | None = None, level: int = 0, depth: int = -1) -> None:
        """Print the rules."""
        super().print_summary(stream, level, depth)
        if depth != 0:
            for opt in self.opts:
                if hasattr(opt, "print_summary"):
                    opt.print_summary(stream, level + 2, depth - 1)


def _wants(rule: Rule, op: Op) -> bool:
    tracks = rule.tracks
    return tracks is None or any(key == op if isinstance(key, Op) else isinstance(op, key) for key in tracks)
