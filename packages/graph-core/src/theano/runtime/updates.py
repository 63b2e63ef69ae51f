"""How shared variables get their new values: in place where that is safe, into another array where it is not.

Three promises are kept. A call that fails leaves every shared variable as it was. An array that a
shared variable gave out (``get_value(borrow=True)``, a view, a call in another thread) does not change. Nothing is
allocated from the second call on, and nothing copied that need not be. There are two ways.

*Another array.* An instruction computes the new value into a second array; when everything has succeeded, the two
change places, and the next call writes the old one (unless another reference holds it). This is right for any op; it
takes twice the memory and, for dense results, the traffic of a copy.

*In place.* Some nodes fail, if at all, before they write anything (:meth:`theano.graph.op.Op.checked_inputs`):
element-wise ones and products added to a matrix look at shapes, writes of rows and parts at shapes and indices. Such
nodes are put last, after everything that may fail, and first all of them check, then all of them write: the loader
does that without giving the GIL away. A step of gradient descent then reads and writes each parameter once, and a
sparse update touches just its rows. Scratch memory, which products ask for half-way, is reserved before the first one
writes; how much is known from the call before, so that a first call, and one with new shapes, works on copies.
Whether the array belongs to the variable alone is asked at each call, just before; where it does not, a copy takes its
place.

The rule ``inplace_updates`` of the tensor layer chooses the nodes, on the whole graph. Here they are put last, and
whatever overwrites a shared variable in any other way gets a copy to work on: the rule decides on speed, never on
what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Variable
from theano.runtime.link import Compiled, Linked

#: What the loader calls them.
BY_THE_LAST, BY_ANY = 1, 2


def last_nodes(
    fgraph: FunctionGraph, order: Sequence[Apply], n_outputs: int, may_be_last: Callable[[Apply], bool]
) -> set[Apply]:
    """Return the nodes that can run after all others, each checked before any of them writes.

    Parameters
    ----------
    fgraph : FunctionGraph
        Its outputs from number ``n_outputs`` on are updates.
    order : list of Apply
        An order in which they may run.
    n_outputs : int
    may_be_last : callable
        Whether a node is fit for it by itself.
    """
    chosen: set[Apply] = set()
    destroyers = fgraph.destroyers

    def lets(node: Apply) -> bool:
        for v in node.outputs:
            for client, i in v.clients:
                if not isinstance(client, Apply):
                    if i < n_outputs:
                        return False  # returned, and so wanted before
                elif client not in chosen or i in (client.op.checked_inputs(client) or ()):
                    return False
        # What it reads must still be there at the end.
        return destroyers is None or all(d is node or d in chosen for v in node.inputs for d in destroyers(v))

    for node in reversed(order):
        if may_be_last(node) and lets(node):
            chosen.add(node)
    return chosen


def put_last(fgraph: FunctionGraph, linked: Linked, n_outputs: int) -> int:
    """Put the nodes that write over inputs of the graph behind all others, and return where they begin.

    Parameters
    ----------
    fgraph : FunctionGraph
    linked : Linked
        Its nodes change their order.
    n_outputs : int
        The outputs of ``fgraph`` from this one on are updates.
    """
    nodes = linked.nodes
    writers = [node for node in nodes if any(node.inputs[i] in fgraph.inputs for i in destroyed_inputs(node))]
    if not writers or linked.lazy:
        return len(nodes)
    how = dict(zip(nodes, linked.how, strict=True))
    fit = last_nodes(
        fgraph,
        nodes,
        n_outputs,
        lambda node: isinstance(how[node], Compiled) and node.op.checked_inputs(node) is not None,
    )
    last = _with_followers(fgraph, [node for node in writers if node in fit])
    linked.nodes = [n for n in nodes if n not in last] + [n for n in nodes if n in last]
    linked.how = [how[n] for n in linked.nodes]
    return len(nodes) - len(last)


def _with_followers(fgraph: FunctionGraph, nodes: Sequence[Apply]) -> set[Apply]:
    """Return ``nodes``, what uses their results, and what may overwrite an input only after they have read it."""
    found: set[Apply] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        found.add(node)
        waiting += [client for v in node.outputs for client, _ in v.clients if isinstance(client, Apply)]
        if fgraph.destroyers is not None:
            waiting += [d for v in node.inputs for d in fgraph.destroyers(v)]
    return found


def overwritten(
    fgraph: FunctionGraph, linked: Linked, commit_start: int, shared: Iterable[Variable]
) -> list[tuple[Variable, int]]:
    """Return the variables among ``shared`` that some node overwrites, each with who does: BY_THE_LAST or BY_ANY."""
    directly: dict[Variable, bool] = {}
    for i, node in enumerate(linked.nodes):
        for k in destroyed_inputs(node):
            directly[node.inputs[k]] = i >= commit_start
    destroyers = fgraph.destroyers
    if destroyers is None:
        return []
    return [(v, BY_THE_LAST if directly.get(v) else BY_ANY) for v in shared if destroyers(v)]


def result_bases(outputs: Iterable[Variable], linked: Linked) -> list[tuple[Variable, Variable]]:
    """Return, for each output that shares memory with a value computed before, that value and the output."""
    compiled = {node for node, how in zip(linked.nodes, linked.how, strict=True) if isinstance(how, Compiled)}
    found: list[tuple[Variable, Variable]] = []
    for output in outputs:
        v = output
        while v.owner is not None and v.index is not None:
            shared = v.owner.op.destroy_map.get(v.index) or v.owner.op.view_map.get(v.index)
            if not shared:
                break
            v = v.owner.inputs[shared[0]]
        if v is not output and v.owner in compiled:
            found.append((v, output))
    return found


def destroyed_inputs(node: Apply) -> set[int]:
    """Return the inputs that a node overwrites."""
    return {i for many in node.op.destroy_map.values() for i in many}
