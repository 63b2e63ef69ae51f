"""``debugprint``: a graph as an indented tree, one line for each use of a variable."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, TextIO

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.text import printable
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Node

#: Indentation is printed in full up to the first depth; deeper lines show their last 20 levels. A chain of 50,000
#: nodes would otherwise be gigabytes of blanks.
MOST_LEVELS, LAST_LEVELS = 100, 20
#: As many users of a variable are printed.
MOST_USERS = 50

Ids = Literal["CHAR", "int", "id", ""]


def letters(number: int) -> str:
    """Return ``number`` written in the digits A to Z.

    Examples
    --------
    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'BA')
    """
    text = chr(ord("A") + number % 26)
    while number := number // 26:
        text = chr(ord("A") + number % 26) + text
    return text


def debugprint(
    obj: Any,
    depth: int = -1,
    print_type: bool = False,
    file: TextIO | Literal["str"] | None = None,
    ids: Ids = "CHAR",
    stop_on_name: bool = False,
    done: MutableMapping[Any, str] | None = None,
    print_storage: bool = False,
    print_clients: bool = False,
    used_ids: MutableMapping[Any, str] | None = None,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
) -> Any:
    """Print a graph as a tree.

    Each line shows the op that computes a variable (or the variable itself, where nothing computes it), a mark
    that is the same wherever the same node appears, and the variable's name. What has been printed once is not
    expanded again. The lines of a compiled function end with the position at which the node is run. From the 101st
    level on a line begins with how many levels its indentation leaves out, as ``[+81]``. The graphs that ops hold, such
    as those of ``OpFromGraph``, follow, each once. An arrow leads from what a step of a loop sees to what that is a
    part of.

    Parameters
    ----------
    obj : Variable, Apply, FunctionGraph, compiled function, or a list of these
        The graph, by its results.
    depth : int
        How many levels to print; all for -1.
    print_type : bool
        Print the type of each variable.
    file : open file, ``'str'`` or None
        Where to print; ``'str'`` returns the text. None is the standard output.
    ids : {'CHAR', 'int', 'id', ''}
        What marks nodes: letters, numbers, Python's ``id``, or nothing.
    stop_on_name : bool
        Do not expand variables that have a name.
    done : dict, optional
        The nodes printed already, with their marks; filled. Hand the same one to several calls to have each
        node expanded once.
    print_storage : bool
        Print the values that a compiled function keeps.
    print_clients : bool
        Print who uses a variable, where there are several.
    used_ids : dict, optional
        The marks given so far; like ``done``, but nodes are expanded again.
    print_destroy_map, print_view_map : bool
        Print what the op says about overwriting and sharing memory.

    Returns
    -------
    str or file or None
        The text for ``file='str'``, else the ``file`` argument.

    Examples
    --------
    >>> import theano
    >>> from theano.graph import Op, generic
    >>> class Add(Op):
    ...     __props__ = ()
    ...     itypes, otypes = [generic, generic], [generic]
    >>> x = generic("x")
    >>> y = Add()(x, x)
    >>> print(debugprint(Add()(y, x), file="str").replace("   ", ""))
    Add [id A] ''
     |Add [id B] ''
     | |x [id C]
     | |x [id C]
     |x [id C]
    <BLANKLINE>
    """
    if not isinstance(depth, int):
        raise TypeError(f"depth is a number of levels, not {depth!r}")
    if ids not in ("CHAR", "int", "id", ""):
        raise ValueError(f"ids is 'CHAR', 'int', 'id' or '', not {ids!r}")
    target: Any = StringIO() if file == "str" else sys.stdout if file is None else file
    done = {} if done is None else done
    printer = _TreePrinter(target, depth, ids, done, done if used_ids is None else used_ids)
    printer.types, printer.stop_on_name, printer.clients = print_type, stop_on_name, print_clients
    printer.destroy_maps, printer.view_maps = print_destroy_map, print_view_map
    for variable, order, storage in roots_of(obj):
        printer.order = order
        printer.storage = storage if print_storage else None
        printer.tree(variable)
    printer.order = printer.storage = None
    printer.inner_graphs()
    return target.getvalue() if file == "str" else file  # None at a prompt, which would show the stream otherwise


def roots_of(obj: Any) -> Iterator[tuple[Variable, Mapping[Apply, int] | None, Mapping[Variable, Any] | None]]:
    """Yield what there is to print of ``obj``: variables, the positions of nodes, the values kept.

    Raises
    ------
    TypeError
        ``obj`` is no graph.
    """
    if isinstance(obj, (list, tuple, set)):
        for thing in obj:
            yield from roots_of(thing)
    elif isinstance(obj, Variable):
        yield obj, None, None
    elif isinstance(obj, Apply):
        for variable in obj.outputs:
            yield variable, None, None
    elif isinstance(obj, FunctionGraph):
        order = _positions(obj)
        for variable in obj.outputs:
            yield variable, order, None
    elif isinstance(getattr(getattr(obj, "maker", None), "fgraph", None), FunctionGraph):
        fgraph = obj.maker.fgraph
        order, kept = _positions(fgraph), _kept_values(obj)
        for variable in fgraph.outputs:
            yield variable, order, kept
    elif isinstance(getattr(obj, "variable", None), Variable):  # In and Out
        yield obj.variable, None, None
    else:
        raise TypeError(
            f"debugprint takes a variable, a node, a graph, a compiled function or a list of these, "
            f"not a {type(obj).__name__}"
        )


def _positions(fgraph: FunctionGraph) -> dict[Apply, int]:
    return {node: i for i, node in enumerate(fgraph.toposort())}


def _kept_values(function: Any) -> dict[Variable, Any]:
    specs = function.maker.inputs
    return {spec.variable: cell.storage for spec, cell in zip(specs, function.input_storage, strict=True)}


class _TreePrinter:
    """Prints trees into one file, with marks that stay the same from tree to tree."""

    order: Mapping[Apply, int] | None = None
    storage: Mapping[Variable, Any] | None = None
    types = stop_on_name = clients = destroy_maps = view_maps = False

    def __init__(
        self, file: TextIO, depth: int, ids: Ids, done: MutableMapping[Any, str], used: MutableMapping[Any, str]
    ):
        self.file, self.depth, self.ids, self.done, self.used = file, depth, ids, done, used
        #: Of the ops that hold a graph and were printed, the first node.
        self.holders: dict[int, Node] = {}
        #: What the inputs of the inner graph that is being printed are outside of a loop.
        self.outside: dict[Variable, Variable] = {}

    def inner_graphs(self) -> None:
        """Print the graphs that printed ops hold, those that only show up inside one of these included."""
        printed = 0
        while printed < len(self.holders):
            node: Node = list(self.holders.values())[printed]
            if not printed:
                loops = any(hasattr(n.op, "seen_inside") for n in self.holders.values())
                self.file.write(f"\nInner graphs{' of the scan ops' if loops else ''}:\n")
            self.file.write("\n")
            self._line(node.outputs[0], node, "")
            graph = node.op.inner_graph
            if hasattr(node.op, "seen_inside"):
                self.outside = dict(zip(graph.inputs, node.op.seen_inside(node), strict=True))
            for variable in graph.outputs:
                self.tree(variable, " >")
            self.outside = {}
            printed += 1

    def tree(self, root: Variable, margin: str = "") -> None:
        """Print ``root`` and what it depends on. Iterative: a chain of ten thousand nodes is an ordinary graph."""
        stack: list[tuple[Variable, str, str, int, int]] = [(root, margin, margin, self.depth, 0)]
        while stack:
            v, prefix, child_prefix, depth, level = stack.pop()
            if depth == 0:
                continue
            node = v.owner
            thing: Any = v if node is None else node
            expanded = thing in self.done
            left_out = f"[+{level - LAST_LEVELS}]" if level > MOST_LEVELS else ""
            self._line(v, thing, left_out + prefix)
            if node is None or expanded or (self.stop_on_name and v.name is not None):
                continue
            last = len(node.inputs) - 1
            if level >= MOST_LEVELS:
                child_prefix = child_prefix[2 - 2 * LAST_LEVELS :]
            for i in range(last, -1, -1):
                below = child_prefix + ("  " if i == last else " |")
                stack.append((node.inputs[i], child_prefix + " |", below, depth - 1, level + 1))

    def _line(self, v: Variable, thing: Any, prefix: str) -> None:
        mark = self._mark(thing)
        kind = f" <{v.type}>" if self.types else ""
        kept = ""
        if self.storage is not None and v in self.storage:
            kept = f" {self.storage[v]}"
        node = v.owner
        if node is None:
            outer = self.outside.get(v)
            seen = None if outer is None else self.used.get(outer if outer.owner is None else outer.owner)
            self.file.write(printable(f"{prefix}{v} {mark}{kind}{kept}{f' -> {seen}' if seen else ''}\n"))
            return
        if id(node.op) not in self.holders and getattr(node.op, "inner_graph", None) is not None:
            self.holders[id(node.op)] = node
        op = str(node.op) if len(node.outputs) == 1 else f"{node.op}.{v.index}"
        place = "" if self.order is None else str(self.order.get(node, ""))
        destroys = f"d={node.op.destroy_map}" if self.destroy_maps and node.op.destroy_map else ""
        views = f"v={node.op.view_map}" if self.view_maps and node.op.view_map else ""
        notes = f"{destroys} {views} {place}{kept}{self._users(v)}"
        self.file.write(printable(f"{prefix}{op} {mark}{kind} '{v.name or ''}' {notes}\n"))

    def _mark(self, thing: Any) -> str:
        if thing in self.used:
            mark = self.used[thing]
        elif self.ids == "CHAR":
            mark = f"[id {letters(len(self.used))}]"
        elif self.ids == "int":
            mark = f"[id {len(self.used)}]"
        elif self.ids == "id":
            mark = f"[id {id(thing)}]"
        else:
            mark = ""
        self.used[thing] = mark
        self.done[thing] = mark
        return mark

    def _users(self, v: Variable) -> str:
        users: Sequence[tuple[Any, int]] = v.clients
        if not self.clients or len(users) < 2:
            return ""
        order = self.order or {}
        shown = [(order.get(user, "?") if isinstance(user, Apply) else user, i) for user, i in users[:MOST_USERS]]
        return f" clients:{shown}" + (f" and {len(users) - MOST_USERS} more" if len(users) > MOST_USERS else "")
