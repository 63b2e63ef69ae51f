"""The key of a function: 128 bits that two requests share only if compiling them gives the same program.

This is a hard file. A kernel's key is taken over its C text, and whatever led to that text does not matter. The key
here is taken *before* rewriting, so that rewriting can be left out, and everything that rewriting, linking and laying
out look at has to be in it. What is forgotten here makes a later process run the wrong program without a word. So
the rule is not "put in what matters" but "put in everything, leave out what was proved not to matter, and do without
a key where something cannot be described". Concretely:

*The graph* is the closed one that packing made: givens are replaced, updates and default updates are in, each input
has its specification. It is written as its table (:mod:`theano.graph.table`), its nodes in the order in which they
were copied, which follows from the program alone. Ops, types and whatever hangs on them are written by
:mod:`theano.graph.canonical`: it tells 0 from False, leaves no attribute out, knows only our classes, and refuses
the rest. Two equal constants are not one constant here, and x + y is not y + x: what the rewriting would find out costs
a miss, never a wrong hit.

*Constants* go in whole: dtype, shape, order in memory, bytes. *Shared variables* go in as types; their values are the
call's business. An input goes in with its class and every option, and with the other inputs whose values share the
same memory.

*What is done with it*: the query and the linker of the mode, field by field; a subclass of either may do anything,
so it has no key. The limits of rewriting, the permission to work in place, whether memory is given back.

*The environment* (:mod:`theano.compile.environment`): the content of our own sources, the versions of Python, NumPy
and SciPy (which compute folded constants), the compiler's identity with its options and the CPU, all flags that
were set and that are not known to be without effect, and the names of all rules in force; a rule from outside
ends it.

The key leaves out, with reasons: lines of the user's program (``tag.trace``), for they only show in messages, which
are made from the rewritten graph when they are needed; the function's name and profile; addresses, ids and hashes,
which never enter. What can be done behind our back, and is not seen: a method of one of our classes exchanged at run
time. ``theano.config.cache.plans = False`` is for those who do that.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from json import dumps
from typing import TYPE_CHECKING, Any

from theano.compile.closed_graph import ClosedGraph
from theano.compile.inputs import In, Param, SymbolicInput
from theano.compile.mode import Mode
from theano.compile.shared import Container, SharedVariable
from theano.graph.apply import Apply
from theano.graph.canonical import NoCanonicalForm, bytes_of, derived_tags, form_of, text_of
from theano.graph.table import GraphTable, table_of
from theano.graph.traverse import toposort
from theano.graph.variable import Constant, Variable
from theano.rewriting import RewriteSettings
from theano.runtime.link import plain_linkers

if TYPE_CHECKING:
    from theano.graph.op import Op
    from theano.graph.type import Type

FORMAT = "function 1"
MAX_CONSTANT_BYTES = 1 << 26
"""A graph with more than this in its constants takes as long to describe as to rewrite."""

#: The tag of the passes that show the graph while it is rewritten. A function that is compiled with one of them is
#: always rewritten, never found in the cache.
PRINTING = "PrintCurrentFunctionGraph"

#: What a query must include for one of them to run.
PRINTING_TAGS = frozenset((PRINTING, "Print1.21", "Print1.51"))

_INPUTS = (SymbolicInput, In, Param)


def function_key(
    graph: GraphDescription,
    mode: Mode,
    settings: RewriteSettings,
    accept_inplace: bool,
    allow_gc: bool,
    environment: list[Any],
) -> str:
    """Return the key of a function.

    Parameters
    ----------
    graph : GraphDescription
        Its closed graph, as it was before anything was done to it.
    mode, settings, accept_inplace, allow_gc
        What is done with it.
    environment : list
        What else that depends on, as plain data.

    Raises
    ------
    NoCanonicalForm
        Something in it means nothing to other processes.
    """
    state = hashlib.sha256()
    head = [FORMAT, environment, _describe_mode(mode), form_of(vars(settings)), accept_inplace, allow_gc]
    _add(state, dumps(head).encode())
    for part in graph.parts():
        _add(state, part)
    return state.hexdigest()[:32]


def _add(state: Any, part: bytes) -> None:
    state.update(b"%d:" % len(part))
    state.update(part)


def _describe_mode(mode: Mode) -> list[Any]:
    known = type(mode) is Mode and type(mode.linker) in plain_linkers and not mode.linker.inspects_nodes
    if not known or mode.linker.schedule is not None:
        raise NoCanonicalForm(f"the effect of {mode!r} on the program is unknown")
    query, linker = mode.optimizer, mode.linker
    if not query.include.isdisjoint(PRINTING_TAGS):
        raise NoCanonicalForm("the mode prints the graph while it is rewritten")
    if query.subquery or query.extra_optimizations:
        raise NoCanonicalForm("the query speaks of optimizers of its own")
    return [
        [sorted(query.include), sorted(query.exclude), sorted(query.require), repr(query.position_cutoff)],
        [linker.name, linker.compiled, linker.allow_gc, linker.one_block],
    ]


class GraphDescription:
    """A closed graph as numbers and texts: its table, and what the function makes of it.

    Attributes
    ----------
    constants : list
        The values of its constants, in the order of the table's leaves.
    """

    def __init__(self, closed: ClosedGraph):
        self.constants: list[Any] = []
        self._words: list[int] = []
        # By identity: two things that are equal for Python may differ in what they do. The things are kept, so
        # that no other one gets their ids meanwhile.
        self._texts: dict[int, tuple[Any, int]] = {}
        self._numbers: dict[str, int] = {}
        self._plain: dict[Any, int] = {None: 0}
        self._looks: dict[tuple[Any, ...], tuple[int, ...]] = {}
        wanted = [o.variable for o in closed.outputs] + [i.update for i in closed.inputs if i.update is not None]
        given = [i.variable for i in closed.inputs]
        nodes = toposort(wanted, given) if closed.nodes is None else closed.nodes
        for node in nodes:
            if type(node) is not Apply or node.tag.__dict__:
                _check_node(node)
        try:
            table = table_of(given, wanted, self._look, nodes)
        except ValueError as problem:
            raise NoCanonicalForm(str(problem)) from problem
        self._data = _bytes_of(self.constants)
        self._describe(table)
        self._specify(closed)

    def parts(self) -> list[bytes]:
        """Return it all as blocks of bytes."""
        names = [repr(name) for name in self._plain]
        texts = [dumps([*self._numbers, names]).encode(), array("q", self._words).tobytes()]
        return [*texts, *self._data]

    def _describe(self, table: GraphTable) -> None:
        words = self._words
        words += (table.n_inputs, len(table.leaves), len(table.nodes), len(table.outputs))
        for look, _ in table.leaves:
            words += look
        for op, operands, looks in table.nodes:
            words += (self._entry(op), len(operands), *operands, len(looks))
            for look in looks:
                words += look
        words += table.outputs

    def _look(self, v: Variable) -> tuple[int, ...]:
        """Return the description of a variable beside its number; note its value if it is a constant."""
        tags, said = v.tag.__dict__, None
        if tags and (len(tags) > 1 or "trace" not in tags):
            # One from the cache lacks the tags that are derived: with these alone a variable is the same.
            told = {key: value for key, value in tags.items() if key not in derived_tags}
            said = text_of(told) if told else None
        kind = v.type
        short = type(v), id(kind), v.name, said
        known = self._looks.get(short)
        if known is None:
            called = self._plain.setdefault(v.name, len(self._plain))
            known = self._entry(type(v)), self._entry(kind), called, -1 if said is None else self._text(said)
            self._looks[short] = known
        if isinstance(v, Constant):
            self.constants.append(v.data)
        return known

    def _specify(self, closed: ClosedGraph) -> None:
        # Two inputs may have their values in one place, and a program then knows it by one name.
        places: dict[int, int] = {}
        for i, spec in enumerate(closed.inputs):
            place = _place(spec)
            shared = -1 if place is None else places.setdefault(id(place), i)
            self._words += (self._text(dumps(_options(spec))), shared, spec.update is not None)
        self._words += (bool(out.borrow) for out in closed.outputs)
        self._text(dumps([closed.returns, closed.keys]))

    def _entry(self, thing: type | Op | Type) -> int:
        """Return the number of an op, type or class in the table of texts."""
        known = self._texts.get(id(thing))
        if known is None:
            known = self._texts[id(thing)] = (thing, self._text(text_of(thing)))
        return known[1]

    def _text(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))


def _check_node(node: Apply) -> None:
    if type(node) is not Apply:
        raise NoCanonicalForm(f"a node of class {type(node).__qualname__}")
    # What rewriting notes about a node that works in place is noted anew for the copy.
    if node.tag.__dict__.keys() - {"destroyed_roots"}:
        raise NoCanonicalForm(f"a node of {node.op} carries something in its tag")


def _bytes_of(values: Sequence[Any]) -> list[bytes]:
    found, size = [], 0
    for value in values:
        found.append(bytes_of(value))
        size += len(found[-1])
        if size > MAX_CONSTANT_BYTES:
            raise NoCanonicalForm("the constants of the graph are very large")
    return found


def _place(spec: SymbolicInput) -> list[Any] | None:
    """Return the cell that an input shares with others, if it does."""
    value = spec.value.container if isinstance(spec.value, SharedVariable) else spec.value
    return value.storage if isinstance(value, Container) else None


def _options(spec: SymbolicInput) -> list[Any]:
    """Return the options of an input beside its variable; the value itself is the call's business."""
    if type(spec) not in _INPUTS:
        raise NoCanonicalForm(f"an input of class {type(spec).__qualname__}")
    value = spec.value
    kind = (
        "shared" if isinstance(value, SharedVariable)
        else "container" if isinstance(value, Container)
        else "none" if value is None else "value"
    )  # fmt: skip
    told = {k: v for k, v in vars(spec).items() if k not in ("variable", "update", "value", "default")}
    return [type(spec).__name__, kind, form_of(told)]
