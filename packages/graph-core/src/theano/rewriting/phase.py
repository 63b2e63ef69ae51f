"""A phase: a pass made of rules that are used together, each under its name and with its tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from theano.graph.canonical import NoCanonicalForm
from theano.graph.fgraph import FunctionGraph
from theano.rewriting import families
from theano.rewriting.context import Context, Pass
from theano.rewriting.drive import fixpoint, walk
from theano.rewriting.query import Query
from theano.rewriting.registration import ChangeCount, Registrar, importing, is_left_over
from theano.rewriting.rule import Rule

#: Several rules that take part as one: the rule that is made of those which a query picks.
RuleGroup = Callable[[Query], Rule]


class Phase:
    """Rules that are used together.

    Parameters
    ----------
    name : str
    order : "fixpoint", "in_to_out" or "out_to_in"
        Until nothing changes, or once, from the inputs or from the outputs.
    """

    def __init__(self, name: str = "", order: str = "fixpoint"):
        if order not in ("fixpoint", "in_to_out", "out_to_in"):
            raise ValueError(f"the order of the phase {name} is {order!r}; it must be fixpoint, in_to_out or out_to_in")
        self.name = name
        self.order = order
        self._rules: dict[str, tuple[Rule, frozenset[str]]] = {}
        self._passes: dict[str, tuple[Pass, frozenset[str]]] = {}
        self._groups: dict[str, tuple[RuleGroup, frozenset[str]]] = {}
        #: The names that code outside our own modules has added.
        self._foreign: set[str] = set()
        #: The names of those modules, by what they have added.
        self._modules: dict[str, Registrar] = {}
        #: Whether other code has removed or changed what our own modules added.
        self._altered = False

    def _changed(self, name: str, module: Registrar) -> None:
        ChangeCount.count += 1
        self._altered |= module is None and name in self._modules
        if module is None:
            self._foreign.add(name)
            self._modules.pop(name, None)
        else:
            self._foreign.discard(name)
            self._modules[name] = module

    def _check_free(self, name: str) -> None:
        if name in self and not is_left_over(self._modules.get(name)):
            raise ValueError(f"the phase {self.name} has a rule named {name} already")

    def add(self, rule: Rule, *tags: str, before: str | None = None) -> Rule:
        """Add ``rule`` under its own tags and ``tags``; one of the same name must not be there.

        It goes after the rules of its own family and of earlier ones (`theano.rewriting.families`), and comes last if
        it is of none. ``before`` names a rule that comes later than this one where both want the same node.
        """
        self._check_free(rule.name)
        module = importing()
        self._changed(rule.name, module)
        entry = (rule, frozenset((rule.name, self.name, *rule.tags, *tags)))
        names = [name for name in self._rules if name != rule.name]
        if before is None:
            at, place = len(names), self._place(rule.name)
            while at and self._place(names[at - 1]) > place:
                at -= 1
        else:
            at = names.index(before) if before in names else len(names)
        known = {**self._rules, rule.name: entry}
        self._rules = {name: known[name] for name in (*names[:at], rule.name, *names[at:])}
        return rule

    def _place(self, name: str) -> float:
        """Return where the family of a rule stands among all families."""
        module = self._modules.get(name)
        return families.LAST if module is None else families.place(module["__name__"])

    def add_pass(self, name: str, run: Pass, *tags: str) -> None:
        """Add a pass over the whole graph, to be run before each sweep of the rules."""
        self._check_free(name)
        self._changed(name, importing())
        self._passes[name] = (run, frozenset((name, self.name, *tags)))

    def add_group(self, name: str, group: RuleGroup, *tags: str) -> None:
        """Add a collection of rules that take part as one rule."""
        self._check_free(name)
        self._changed(name, importing())
        self._groups[name] = (group, frozenset((name, self.name, *tags)))

    def remove(self, name: str) -> None:
        """Remove the rule or pass ``name``."""
        ChangeCount.count += 1
        self._altered |= importing() is None and name in self._modules
        self._modules.pop(name, None)
        self._foreign.discard(name)
        del self._entries_with(name)[name]

    def _entries_with(self, name: str) -> dict[str, Any]:
        entries: dict[str, Any]
        for entries in (self._rules, self._passes, self._groups):
            if name in entries:
                return entries
        raise KeyError(name)

    def rules(self, query: Query | None = None) -> list[Rule]:
        """Return the rules that ``query`` picks, or all."""
        found = [rule for rule, tags in self._rules.values() if query is None or query.picks(tags)]
        for name, (group, tags) in self._groups.items():
            if query is not None and query.picks(tags):
                found.append(group(query.inside(name)))
        return found

    def passes(self, query: Query) -> list[tuple[str, Pass]]:
        """Return the passes that ``query`` picks, with their names."""
        return [(name, run) for name, (run, tags) in self._passes.items() if query.picks(tags)]

    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of a rule or pass."""
        tags: frozenset[str] = self._entries_with(name)[name][1]
        return tags

    def set_tags(self, name: str, tags: frozenset[str]) -> None:
        """Give a rule or pass other tags."""
        self._changed(name, importing())
        entries = self._entries_with(name)
        entries[name] = (entries[name][0], tags)

    def members(self) -> list[str]:
        """Return the names of all rules and passes, in order."""
        return [*self._passes, *self._rules, *self._groups]

    def __getitem__(self, name: str) -> Any:
        return self._entries_with(name)[name][0]

    def __contains__(self, name: str) -> bool:
        return name in self._rules or name in self._passes or name in self._groups

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules())

    def __len__(self) -> int:
        return len(self._rules)

    def as_declared(self) -> bool:
        """Return whether it holds what our own modules have added while they were imported, and nothing else."""
        return not (self._altered or self._foreign)

    def contents(self) -> list[Any]:
        """Return what is in the phase, in order, as names and tags; as a sequence does."""
        if self._foreign:
            raise NoCanonicalForm(f"rules were added from outside: {', '.join(sorted(self._foreign))}")
        entries = [*self._rules.items(), *self._passes.items()]
        return [self.name, self.order, *([name, sorted(tags)] for name, (_, tags) in entries)]

    def __call__(self, fgraph: FunctionGraph, context: Context, /) -> None:
        """Use the rules and passes that the context's query picks."""
        rules, passes = self.rules(context.query), self.passes(context.query)
        if self.order == "fixpoint":
            fixpoint(fgraph, rules, context, passes)
            return
        for _, run in passes:
            run(fgraph, context)
        walk(fgraph, rules, context, self.order)

    def __repr__(self) -> str:
        return f"<phase {self.name}: {len(self._rules)} rules>"
