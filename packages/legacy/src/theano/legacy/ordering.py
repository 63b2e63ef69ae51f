"""Orders of anything: by dependence, by several comparisons at once, and walks from a start."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, TypeVar

from theano.graph import traverse
from theano.graph.apply import Apply
from theano.graph.traverse import applys_between
from theano.graph.variable import Variable

T = TypeVar("T", bound=Hashable)
Cmp = Callable[[Any, Any], float]


def reverse_dict(d: Mapping[Any, Iterable[T]]) -> dict[T, tuple[Any, ...]]:
    """Return for each value the keys that have it.

    Examples
    --------
    >>> reverse_dict({"a": (1, 2), "b": (2, 3), "c": ()})
    {1: ('a',), 2: ('a', 'b'), 3: ('b',)}
    """
    found: dict[T, tuple[Any, ...]] = {}
    for key, values in d.items():
        for value in values:
            found[value] = (*found.get(value, ()), key)
    return found


def _toposort(edges: Mapping[T, Collection[T]]) -> list[T]:
    """Return an order in which each key is before its values; ValueError if the graph has a cycle.

    Examples
    --------
    >>> _toposort({1: {2, 3}, 2: (3,)})
    [1, 2, 3]
    """
    waiting = {value: len(keys) for value, keys in reverse_dict(edges).items()}
    order = [thing for thing in edges if thing not in waiting]
    for thing in order:  # grows as it is read
        for after in edges.get(thing, ()):
            waiting[after] -= 1
            if not waiting[after]:
                order.append(after)
    if any(waiting.values()):
        raise ValueError("the dependences have a cycle")
    return order


def toposort(prereqs_d: Mapping[T, Collection[T]]) -> list[T]:
    """Return the keys in an order in which each is after its values; ValueError if the graph has a cycle.

    Examples
    --------
    >>> toposort({"roof": ["walls"], "walls": ["ground"], "ground": []})
    ['ground', 'walls', 'roof']
    """
    after: dict[T, list[T]] = {key: [] for key in prereqs_d}
    for key, needs in prereqs_d.items():
        for need in needs:
            after.setdefault(need, []).append(key)
    return [thing for thing in _toposort(after) if thing in prereqs_d]


def posort(l: Iterable[T], *cmps: Cmp) -> list[T]:
    """Return things in an order that agrees with comparisons, earlier ones first where they contradict each other.

    Examples
    --------
    >>> posort(range(6), lambda a, b: a % 2 - b % 2, lambda a, b: b - a)
    [4, 2, 0, 5, 3, 1]
    """
    things = list(l)
    before: dict[T, set[T]] = {a: set() for a in things}
    after: dict[T, set[T]] = {a: set() for a in things}
    for compare in cmps:
        for a in things:
            for b in things:
                if a not in after[b] and b not in after[a] and compare(a, b) < 0:
                    for early in {a, *before[a]}:
                        after[early] |= {b, *after[b]}
                    for late in {b, *after[b]}:
                        before[late] |= {a, *before[a]}
    return _toposort(after)


def ancestors(variable_list: Iterable[Variable], blockers: Collection[Variable] | None = None) -> list[Variable]:
    """Return the variables that some graphs depend on, themselves included: those of the last graph first.

    `theano.graph.traverse.ancestors` begins with the first.

    Examples
    --------
    >>> from theano.graph import generic
    >>> ancestors([generic("x"), generic("y")])
    [y, x]
    """
    return list(traverse.ancestors(list(variable_list)[::-1], blockers))


def inputs(variable_list: Iterable[Variable], blockers: Collection[Variable] | None = None) -> list[Variable]:
    """Return the variables without owner that some graphs depend on: of several graphs, those of the last one first.

    Programs number their parameters by this order, as PyMC3 does; `theano.graph.traverse.inputs` begins with the first.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x, y = generic("x"), generic("y")
    >>> inputs([x, y])
    [y, x]
    """
    return [v for v in ancestors(variable_list, blockers) if v.owner is None]


def variables_and_orphans(i: Collection[Variable], o: Iterable[Variable]) -> tuple[list[Variable], list[Variable]]:
    """Return the variables between ``i`` and ``o``, and those of them that nothing in ``i`` or between gives.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x = generic("x")
    >>> variables_and_orphans([], [x])
    ([x], [x])
    """
    stop = set(i)

    def beside(v: Variable) -> list[Variable] | None:
        return None if v.owner is None or v in stop else [*v.owner.inputs, *v.owner.outputs][::-1]

    found = stack_search(deque(o), beside, "dfs")
    return found, [v for v in found if v.owner is None and v not in stop]


def variables(i: Collection[Variable], o: Iterable[Variable]) -> list[Variable]:
    """Return the variables between ``i`` and ``o``, and those beside them.

    Examples
    --------
    >>> from theano.graph import generic
    >>> variables([], [generic("x")])
    [x]
    """
    return variables_and_orphans(i, o)[0]


def orphans(i: Collection[Variable], o: Iterable[Variable]) -> list[Variable]:
    """Return the variables between ``i`` and ``o`` that nothing in ``i`` or between gives.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x, y = generic("x"), generic("y")
    >>> orphans([x], [x, y])
    [y]
    """
    return variables_and_orphans(i, o)[1]


def ops(i: Collection[Variable], o: Iterable[Variable]) -> set[Apply]:
    """Return the nodes between ``i`` and ``o``.

    Examples
    --------
    >>> from theano.graph import generic
    >>> ops([], [generic("x")])
    set()
    """
    return {v.owner for v in variables(i, o) if v.owner is not None and v not in i}


def list_of_nodes(inputs: Iterable[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """Return the nodes between inputs and outputs, breadth first from the outputs.

    Examples
    --------
    >>> list_of_nodes([], [])
    []
    """
    given = set(inputs)

    def below(node: Apply) -> list[Apply]:
        made_by = [v.owner for v in node.inputs if v.owner is not None]
        return [n for n in made_by if given.isdisjoint(n.outputs)]

    found: list[Apply] = stack_search(deque(v.owner for v in outputs if v.owner is not None), below)
    return found


def is_in_ancestors(l_node: Apply, f_node: Apply) -> bool:
    """Return whether the node ``f_node`` is ``l_node``, or one that this needs.

    Examples
    --------
    >>> add, mul = Apply("add", [], []), Apply("mul", [], [])
    >>> is_in_ancestors(add, add), is_in_ancestors(add, mul)
    (True, False)
    """
    return f_node in traverse.toposort_nodes([l_node])


def io_toposort(
    inputs: Collection[Variable],
    outputs: Iterable[Variable],
    orderings: Mapping[Apply, Iterable[Apply]] | None = None,
    clients: MutableMapping[Any, list[Any]] | None = None,
) -> list[Apply]:
    """Return the nodes between inputs and outputs, each after those that it needs, in the order of Theano 1.0.

    Of the inputs of a node the last is computed first. With ``orderings`` or ``clients`` the order is that of
    :func:`general_toposort`.

    Parameters
    ----------
    inputs, outputs : list of Variable
    orderings : dict from Apply to list of Apply, optional
        Further nodes that must come before a node.
    clients : dict, optional
        Filled: from a variable or node to those that need it.

    Examples
    --------
    >>> io_toposort([], [])
    []
    """
    given = set(inputs)
    if not orderings and clients is None:
        return _last_input_first(given, outputs)
    before = orderings or {}

    def needs(thing: Any) -> list[Any]:
        own = thing.inputs if isinstance(thing, Apply) else [] if thing.owner is None else [thing.owner]
        return [] if thing in given else [*own, *before.get(thing, ())]

    order = general_toposort(list[Any](outputs), needs, clients=clients)
    return [thing for thing in order if isinstance(thing, Apply)]


def _last_input_first(given: set[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """Return nodes in order; one whose first output is given is computed only if another one is wanted."""
    roots = [v for v in outputs if v.owner is not None]
    computed, order, stack, met = set(given), list[Apply](), roots[::-1], set[Apply]()
    while stack:
        wanted = stack[-1]
        node: Any = wanted.owner
        if wanted not in computed or node.outputs[0] not in computed:
            if any(v.owner is not None and v not in computed for v in node.inputs):
                if node in met:
                    return traverse.toposort(roots, given)  # which says what the cycle is
                met.add(node)
                stack.extend(v for v in node.inputs if v.owner is not None)
                continue
            computed.update(node.outputs)
            order.append(node)
        stack.pop()
    return order


def walk(
    nodes: Iterable[T],
    expand: Callable[[T], Iterable[T] | None],
    bfs: bool = True,
    return_children: bool = False,
    hash_fn: Callable[[T], Hashable] = id,
) -> Iterator[Any]:
    """Yield all that can be reached, each thing once.

    Parameters
    ----------
    nodes : iterable
        Where to begin.
    expand : callable
        The neighbours of a thing; None or nothing ends the walk there.
    bfs : bool
        Breadth first; or depth first, the last neighbour first.
    return_children : bool
        Whether to yield pairs of a thing and what ``expand`` returned for it.
    hash_fn : callable
        What two things have in common that count as one.

    Examples
    --------
    >>> tree = {"a": "bc", "b": "d"}
    >>> list(walk("a", tree.get)), list(walk("a", tree.get, bfs=False))
    (['a', 'b', 'c', 'd'], ['a', 'c', 'b', 'd'])
    >>> list(walk("a", tree.get, return_children=True))
    [('a', 'bc'), ('b', 'd'), ('c', None), ('d', None)]
    """
    waiting = deque(nodes)
    met: set[Hashable] = set()
    while waiting:
        thing = waiting.popleft() if bfs else waiting.pop()
        same = hash_fn(thing)
        if same in met:
            continue
        met.add(same)
        neighbours = expand(thing)
        yield (thing, neighbours) if return_children else thing
        waiting.extend(neighbours or ())


def stack_search(
    start: deque[T], expand: Callable[[T], Iterable[T] | None], mode: str = "bfs", build_inv: bool = False
) -> Any:
    """Return all that can be reached, in the order in which it is met.

    Parameters
    ----------
    start : deque
        Where to begin; it is used up.
    expand : callable
        The neighbours of a thing.
    mode : {"bfs", "dfs"}
        Breadth first or depth first.
    build_inv : bool
        Whether to return also a dictionary from a thing to those that led to it.

    Raises
    ------
    ValueError
        For another mode.

    Examples
    --------
    >>> tree = {"a": "bc", "b": "d"}
    >>> stack_search(deque("a"), tree.get), stack_search(deque("a"), tree.get, "dfs", True)
    (['a', 'b', 'c', 'd'], (['a', 'c', 'b', 'd'], {'b': ['a'], 'c': ['a'], 'd': ['b']}))
    """
    if mode not in ("bfs", "dfs"):
        raise ValueError(f"mode should be 'bfs' or 'dfs', not {mode!r}")
    take = start.popleft if mode == "bfs" else start.pop
    met: dict[T, None] = {}
    led: dict[T, list[T]] = {}
    while start:
        thing = take()
        if thing in met:
            continue
        met[thing] = None
        neighbours = list(expand(thing) or ())
        for neighbour in neighbours:
            led.setdefault(neighbour, []).append(thing)
        start.extend(neighbours)
    return (list(met), led) if build_inv else list(met)


def general_toposort(
    outputs: Iterable[T],
    deps: Callable[[T], Iterable[T] | None],
    debug_print: bool = False,
    compute_deps_cache: Callable[[T], Iterable[T] | None] | None = None,
    deps_cache: MutableMapping[T, list[T]] | None = None,
    clients: MutableMapping[T, list[T]] | None = None,
) -> list[T]:
    """Return what ``outputs`` need, each thing after those that it depends on; ValueError where there is a cycle.

    Parameters
    ----------
    outputs : list
    deps : callable
        What a thing depends on.
    debug_print : bool
        Whether to print what is in a cycle.
    compute_deps_cache : callable, optional
        Used in place of ``deps``, with ``deps_cache`` for what it has told.
    deps_cache, clients : dict, optional
        Filled: what a thing depends on, and what depends on it.

    Examples
    --------
    >>> general_toposort(["roof"], {"roof": ["walls"], "walls": ["ground", "bricks"]}.get)
    ['bricks', 'ground', 'walls', 'roof']
    """
    cache: MutableMapping[T, list[T]] = {} if deps_cache is None else deps_cache
    ask = compute_deps_cache or deps

    def needs(thing: T) -> list[T]:
        if thing not in cache:
            cache[thing] = list(ask(thing) or ())
        return cache[thing]

    met, led = stack_search(deque(outputs), needs, "dfs", True)
    if clients is not None:
        clients.update(led)
    waiting = {thing: len(set(needs(thing))) for thing in met}
    order = [thing for thing in met if not waiting[thing]]
    for thing in order:  # grows as it is read
        for client in dict.fromkeys(led.get(thing, ())):
            waiting[client] -= 1
            if not waiting[client]:
                order.append(client)
    if len(order) != len(met):
        left = [thing for thing in met if waiting[thing]]
        if debug_print:
            print(left)
        raise ValueError(f"the graph has a cycle through {', '.join(str(thing) for thing in left[:4])}")
    return order


def make_depends() -> Callable[[tuple[Any, Any]], bool]:
    """Return a function of a pair of variables or nodes: whether the first needs the second.

    Examples
    --------
    >>> depends = make_depends()
    >>> from theano.graph import generic
    >>> depends((generic("x"), generic("y")))
    False
    """
    known: dict[Any, frozenset[Any]] = {}

    def inputs_of(thing: Any) -> list[Any]:
        return list(thing.inputs) if isinstance(thing, Apply) else [thing.owner] if thing.owner is not None else []

    def depends(pair: tuple[Any, Any]) -> bool:
        thing, need = pair
        if thing not in known:
            known[thing] = frozenset(stack_search(deque(inputs_of(thing)), inputs_of))
        return need in known[thing]

    return depends


def make_dependence_cmp() -> Cmp:
    """Return a comparison of variables or nodes: 1 where the first needs the second, -1 the other way, else 0.

    Examples
    --------
    >>> from theano.graph import generic
    >>> make_dependence_cmp()(generic("x"), generic("y"))
    0
    """
    depends = make_depends()
    return lambda a, b: int(depends((a, b))) - int(depends((b, a)))


def sort_apply_nodes(inputs: Collection[Variable], outputs: Sequence[Variable], cmps: Iterable[Cmp]) -> list[Apply]:
    """Return the nodes between inputs and outputs in an order that agrees with ``cmps`` and with what they need.

    Examples
    --------
    >>> sort_apply_nodes([], [], [])
    []
    """
    return posort(applys_between(inputs, outputs), make_dependence_cmp(), *cmps)


def sort_schedule_fn(*cmps: Cmp) -> Callable[[Any], list[Apply]]:
    """Return a function from a closed graph to its nodes in the order of ``cmps``: a linker's ``schedule``.

    Examples
    --------
    >>> from theano.graph import FunctionGraph
    >>> sort_schedule_fn(lambda a, b: len(str(a)) - len(str(b)))(FunctionGraph([], []))
    []
    """
    return lambda fgraph: sort_apply_nodes(fgraph.inputs, fgraph.outputs, cmps)
