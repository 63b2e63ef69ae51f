"""Copies where a function would hand out memory that is not the caller's to keep.

A value returned never shares memory with an argument, with the value of a shared variable, or with another
value returned, unless both sides say ``borrow=True``; and two shared variables never share memory after an update.
"""

from __future__ import annotations

from collections.abc import Sequence

from theano.compile.copy_ops import deep_copy_op
from theano.compile.inputs import SymbolicInput, SymbolicOutput
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Variable

Roots = frozenset[Variable]


def insert_deepcopy(
    fgraph: FunctionGraph, inputs: Sequence[SymbolicInput], outputs: Sequence[SymbolicOutput]
) -> int:
    """Insert the copies that a function needs.

    Parameters
    ----------
    fgraph : FunctionGraph
        Its outputs are ``outputs``, then the updates.
    inputs : list of SymbolicInput
        One for each input of ``fgraph``.
    outputs : list of SymbolicOutput

    Returns
    -------
    int
        How many.
    """
    roots = memory_roots(fgraph)
    claims = _Claims(fgraph, inputs, roots)
    copies = 0
    # Updates first: where an update and a value returned want the same memory, the value returned is copied.
    order = [*range(len(outputs), len(fgraph.outputs)), *range(len(outputs))]
    for i in order:
        borrow = i >= len(outputs) or outputs[i].borrow
        if claims.allows(i, i >= len(outputs), borrow):
            continue
        fgraph.change_input("output", i, _copied(fgraph.outputs[i]), reason="insert_deepcopy")
        copies += 1
    return copies


def _copied(v: Variable) -> Variable:
    """Return a copy of a variable.

    An input of an op that may copy a non-contiguous input gets a contiguous copy: this makes one copy, not two.
    """
    node = v.owner
    if node is not None and node.op.views_contiguous:
        again = node.clone_with_new_inputs([_copied(node.inputs[0]), *node.inputs[1:]])
        copy = again.outputs[node.outputs.index(v)]
    else:
        copy = deep_copy_op.make_node(v).outputs[0]
    copy.tag.trace = getattr(v.tag, "trace", ())
    return copy


def memory_roots(fgraph: FunctionGraph) -> dict[Variable, Roots]:
    """Return, for each variable, the variables whose memory it may live in.

    Unlike those of the destroy handler, these roots do not stop at an op that works in place: what counts here
    is the memory, not the value.
    """
    roots: dict[Variable, Roots] = {v: frozenset((v,)) for v in fgraph.inputs}

    def of(v: Variable) -> Roots:
        return roots.get(v) or frozenset((v,))

    for node in fgraph.toposort():
        shares = _shares(node)
        for o, v in enumerate(node.outputs):
            shared = shares.get(o)
            roots[v] = frozenset().union(*(of(node.inputs[k]) for k in shared)) if shared else frozenset((v,))
    for v in fgraph.outputs:
        roots.setdefault(v, frozenset((v,)))
    return roots


def _shares(node: Apply) -> dict[int, list[int]]:
    """Return the inputs whose memory each output may live in."""
    if not node.op.destroy_map:
        return node.op.view_map
    merged = {o: list(shared) for o, shared in node.op.view_map.items()}
    for o, shared in node.op.destroy_map.items():
        if o is not None:
            merged.setdefault(o, []).extend(shared)
    return merged


class _Claims:
    """The promises of memory to variables."""

    def __init__(self, fgraph: FunctionGraph, inputs: Sequence[SymbolicInput], roots: dict[Variable, Roots]):
        self.fgraph, self.roots = fgraph, roots
        self.spec_of = dict(zip(fgraph.inputs, inputs, strict=True))
        self.claimed: dict[Variable, bool] = {}  # whether the claiming output borrows it

    def allows(self, output: int, is_update: bool, borrow: bool) -> bool:
        """Return whether an output may stay where it is; if so, its memory is taken."""
        roots = self.roots[self.fgraph.outputs[output]]
        for root in roots:
            if root in self.claimed and not (borrow and self.claimed[root] and not is_update):
                return False
            if root.owner is None and not self._lends(root, is_update, borrow):
                return False
        for root in roots:
            # Two shared variables in one memory would be wrong whatever anybody says about borrowing.
            self.claimed[root] = borrow
        return True

    def _lends(self, root: Variable, is_update: bool, borrow: bool) -> bool:
        spec = self.spec_of.get(root)
        if spec is None:
            return False  # a constant
        if is_update:
            # What is updated gives its old value up: to itself, or (two variables that swap) to another one.
            return spec.update is not None and spec.implicit or spec.borrow and not spec.implicit
        return borrow and spec.borrow or spec.mutable and not spec.implicit and self._is_destroyed(root)

    def _is_destroyed(self, v: Variable) -> bool:
        destroyers = self.fgraph.destroyers
        return destroyers is not None and bool(destroyers(v))
