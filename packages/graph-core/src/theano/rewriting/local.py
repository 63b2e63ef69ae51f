"""Rules as people write them: objects with ``tracks`` and ``transform``, and the ready-made kinds of them.

They are another way to say what a :class:`~theano.rewriting.rule.Rule` says, and become one (:func:`as_rule`) as soon
as a driver meets them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

from theano.errors import MethodNotDefined
from theano.graph.aliasing import DestroyHandler
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.source import copy_stack_trace
from theano.graph.variable import Variable
from theano.rewriting.pattern import Bindings, Hole, Literal, P, Pattern, Special, match, same
from theano.rewriting.rule import Answer, PatternRule, Rule

Transform = Callable[..., Answer]


class LocalOptimizer:
    """A rule written as a class: it looks at one node and says what may stand in place of its outputs.

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
    >>> from theano.rewriting.whole import TopoOptimizer
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
    """A rule written as a function; :func:`local_optimizer` makes it.

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
        self.transform = fn  # type: ignore[method-assign]
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
    """Declare a rule written as a function of a node.

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


# -- as rules of our drivers ---------------------------------------------------------------------------------


class LocalRule(Rule):
    """A rule that asks an object with ``transform``."""

    def __init__(self, local: Any, name: str | None = None, tags: Sequence[str] = ()):
        found = name or getattr(local, "name", None) or getattr(local, "__name__", None) or type(local).__name__
        super().__init__(found, tags=tags, doc=local.__doc__)
        self.local = local
        tracks = getattr(local, "tracks", None)
        wanted = tracks() if callable(tracks) else tracks
        self._tracks = None if wanted is None else tuple(wanted)
        parameters = inspect.signature(local.transform).parameters.values()
        by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        # A second argument that may be left out is the node, too: there the first may be a graph.
        self._wants_graph = len(by_position) == 2 and (by_position[1].name == "node" or self._needs(by_position))

    @staticmethod
    def _needs(parameters: Sequence[inspect.Parameter]) -> bool:
        return all(p.default is p.empty for p in parameters)

    def answer(self, fgraph: FunctionGraph, node: Apply) -> Answer:
        """Ask it."""
        transform: Transform = self.local.transform
        return transform(fgraph, node) if self._wants_graph else transform(node)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what it needs."""
        require = getattr(self.local, "add_requirements", None)
        if require is not None:
            require(fgraph)


def as_rule(thing: Any, name: str | None = None, tags: Sequence[str] = ()) -> Rule:
    """Return ``thing`` as a rule, under ``name`` if one is given.

    Parameters
    ----------
    thing : Rule, LocalOptimizer or any object with ``transform``

    Raises
    ------
    TypeError
        It is none of these.
    """
    if isinstance(thing, Rule) and (name is None or name == thing.name) and not tags:
        return thing
    if isinstance(thing, (Rule, LocalOptimizer)) or callable(getattr(thing, "transform", None)):
        return LocalRule(thing, name, tags)
    raise TypeError(
        f"{thing!r} is no rule for nodes: it has no method transform. Declare a function with local_optimizer([ops])."
    )


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


class _Where(Special):
    """Matches what another pattern does, if a condition on the variable holds."""

    def __init__(self, inner: Pattern, condition: Callable[[Variable], bool]):
        super().__init__(inner)
        self.condition = condition

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        for found in match(self.inner, variable, bindings):
            if self.condition(variable):
                yield found

    def __repr__(self) -> str:
        return f"{self.inner} subject to {getattr(self.condition, '__name__', self.condition)}"


class _Through(Special):
    """Matches what another pattern does, there or behind what is as good as the variable."""

    def __init__(self, inner: Pattern, behind: Callable[[Variable], Variable | None]):
        super().__init__(inner)
        self.behind = behind

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        here: Variable | None = variable
        while here is not None:
            found = list(match(self.inner, here, bindings))
            if found:
                yield from found
                return
            here = self.behind(here)


class _Exactly(Special):
    """Matches one variable, or a constant equal to it."""

    def __init__(self, variable: Variable):
        super().__init__(Hole("_"))
        self.variable = variable

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        if same(self.variable, variable):
            yield bindings

    def holes(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        return str(self.variable)


class PatternSub(LocalOptimizer):
    """Puts one expression in the place of another; both are written as tuples.

    A tuple is an op followed by its inputs, a string a hole that anything fills (the same thing wherever it stands), a
    number a constant of that value, and ``{"pattern": p, "constraint": f}`` what matches ``p`` and for which
    ``f(variable)`` is true.

    Parameters
    ----------
    in_pattern : tuple or dict
    out_pattern : tuple, str or number
    allow_multiple_clients : bool
        Match also where an inner part is used elsewhere.
    skip_identities_fn : callable, optional
        Takes a variable, and returns one that it is as good as, or None.
    name : str, optional
    pdb : bool
        Open the debugger before a replacement is made.
    tracks : list, optional
        Nodes to be shown instead of those of the pattern's own op; needs ``get_nodes``.
    get_nodes : callable, optional
        Takes such a node, and returns the nodes at which the pattern may stand.
    values_eq_approx : callable, optional
        How values of the replacement are compared with those of what was there; becomes its tag.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> from theano.rewriting.whole import TopoOptimizer
    >>> rule = PatternSub((Not(), (Not(), "x")), "x", name="not_not")
    >>> x = generic("x")
    >>> fgraph = FunctionGraph([x], [Not()(Not()(x))])
    >>> _ = TopoOptimizer(rule).optimize(fgraph)
    >>> rule, fgraph
    (<PatternSub (Not, (Not, x)) -> x>, [x])
    """

    def __init__(
        self,
        in_pattern: Any,
        out_pattern: Any,
        allow_multiple_clients: bool = False,
        skip_identities_fn: Callable[[Variable], Variable | None] | None = None,
        name: str | None = None,
        pdb: bool = False,
        tracks: Sequence[Any] = (),
        get_nodes: Callable[[Apply], Any] | None = None,
        values_eq_approx: Callable[[Any, Any], bool] | None = None,
    ):
        super().__init__(name)
        self.in_pattern, self.out_pattern = in_pattern, out_pattern
        self.pdb, self.get_nodes, self._given = pdb, get_nodes, list(tracks)
        self.values_eq_approx = values_eq_approx
        root, self._condition = in_pattern, None
        if isinstance(root, dict):
            root, self._condition = root["pattern"], root["constraint"]
        if not isinstance(root, (list, tuple)):
            raise TypeError(
                f"the pattern to search for must be a tuple that begins with an op, or a dictionary with such a "
                f"pattern in it, not {in_pattern!r}"
            )
        if tracks and get_nodes is None:
            raise ValueError("a PatternSub that tracks other nodes needs get_nodes, to go from them to the pattern")
        self.op: Any = root[0]
        made = _from_tuples(root, skip_identities_fn, True)
        result = _from_tuples(out_pattern, None, False)
        self._rule = PatternRule(str(self), made, result, allow_multiple_clients=allow_multiple_clients)

    def op_key(self) -> Any:
        """Return the op at the root of the pattern."""
        return self.op

    def tracks(self) -> list[Any]:
        """Return what to show: nodes of the op at the root, unless others were named."""
        return self._given or [self.op]

    def transform(self, fgraph: FunctionGraph, node: Apply | None = None) -> Answer:  # type: ignore[override]
        """Return the expression of the second pattern, where the first one matches; takes the node alone as well."""
        at: Apply = fgraph if node is None else node  # type: ignore[assignment]
        graph = at.fgraph if node is None else fgraph
        if self.get_nodes is None or not self._given or at.op == self.op:
            return self._at(graph, at)
        for other in self.get_nodes(at):
            answer = self._at(graph, other) if isinstance(other, Apply) else False
            if answer:
                return answer if isinstance(answer, dict) else dict(zip(other.outputs, answer, strict=True))  # type: ignore[arg-type]
        return False

    def _at(self, fgraph: FunctionGraph, node: Apply) -> Answer:
        answer = self._rule.answer(fgraph, node)
        if not answer:
            return False
        ((old, new),) = answer.items()  # type: ignore[union-attr]
        if self._condition is not None and not self._condition(old):
            return False
        if self.values_eq_approx is not None:
            new.tag.__dict__["values_eq_approx"] = self.values_eq_approx
        if new.owner is not None:
            copy_stack_trace(old, new)
        if self.pdb:
            # Loaded for those who ask for it: it brings in much.
            import pdb  # noqa: T100

            pdb.set_trace()  # noqa: T100
        return [new] if len(node.outputs) == 1 else {old: new}

    def __str__(self) -> str:
        return self.name or f"{_text(self.in_pattern)} -> {_text(self.out_pattern)}"

    def __repr__(self) -> str:
        return f"<PatternSub {_text(self.in_pattern)} -> {_text(self.out_pattern)}>"


def _from_tuples(pattern: Any, behind: Callable[[Variable], Variable | None] | None, root: bool) -> Pattern:
    """Return a pattern of ours for one of tuples, strings and numbers."""
    if isinstance(pattern, Pattern):
        return pattern
    if isinstance(pattern, (list, tuple)):
        # Written in an order, and meant in it: rules of this kind never tried others.
        op = P(pattern[0], commutative=False)
        made: Pattern = op(*(_from_tuples(part, behind, False) for part in pattern[1:]))
        return made if root or behind is None else _Through(made, behind)
    if isinstance(pattern, dict):
        return _Where(_from_tuples(pattern["pattern"], behind, False), pattern["constraint"])
    if isinstance(pattern, str):
        return Hole(pattern)
    return _Exactly(pattern) if isinstance(pattern, Variable) else Literal(pattern)


def _text(pattern: Any) -> str:
    if isinstance(pattern, (list, tuple)):
        return "(" + ", ".join(_text(part) for part in pattern) + ")"
    if isinstance(pattern, dict):
        return f"{_text(pattern['pattern'])} subject to {pattern.get('constraint')}"
    return str(pattern)


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
        found: dict[Any, None] = {}
        for rule in self._rules:
            if rule.tracks is None:
                return None
            found.update(dict.fromkeys(rule.tracks))
        return list(found)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach what the rules need."""
        for rule in self._rules:
            rule.add_requirements(fgraph)

    def transform(self, fgraph: FunctionGraph, node: Apply | None = None) -> Answer:  # type: ignore[override]
        """Return what the first rule says that says something; takes the node alone as well."""
        at: Apply = fgraph if node is None else node  # type: ignore[assignment]
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
