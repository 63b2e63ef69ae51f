"""What all fusion needs: which nodes can be joined, how many, and the scalar expression that several make together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano import scalar as scal
from theano.graph import Constant, Variable
from theano.scalar.cbody import estimate
from theano.tensor.rules.predicates import scalar_of
from theano.tensor.type import TensorApply

#: More operands than this and the pointers no longer fit in registers; more steps and the compiler takes long.
MAX_OPERANDS = 24
MAX_STEPS = 64
#: Numbers are no loop: each pointer is used once.
MAX_NUMBERS = 64


def is_fusible(node: TensorApply) -> bool:
    """Return whether ``node`` is an element-wise node that C can compute, writing over nothing."""
    op = scalar_of(node)
    if op is None or not node.inputs:
        return False
    if len(node.outputs) != 1 and not isinstance(op, scal.Composite):
        return False
    return _in_c(node) is not None


def work(node: TensorApply) -> float:
    """Return about how many nanoseconds a fusible node takes for each element."""
    return _in_c(node) or 0.0


_known_work: dict[Any, float | None] = {}


def _in_c(node: TensorApply) -> float | None:
    """Return the work of an element-wise node, or None where its scalar op has no form in C."""
    op = scalar_of(node)
    dtypes = [v.type.dtype for v in node.inputs], [v.type.dtype for v in node.outputs]
    key = (op, *map(tuple, dtypes))
    if key not in _known_work:
        names = [f"x{i}" for i in range(len(dtypes[0]))], [f"y{i}" for i in range(len(dtypes[1]))]
        body = op.c_statements(names[0], dtypes[0], names[1], dtypes[1])
        _known_work[key] = None if body is None else estimate(body)
    return _known_work[key]


def loop_pattern(node: TensorApply) -> tuple[bool, ...]:
    """Return which dimensions of an element-wise node's outputs are known to be 1 long."""
    return node.outputs[0].type.broadcastable


class Sets:
    """Disjoint sets of nodes."""

    def __init__(self, nodes: Sequence[TensorApply]):
        self.parent = {node: node for node in nodes}

    def find(self, node: TensorApply) -> TensorApply:
        """Return the node that stands for the set of ``node``."""
        root = node
        while self.parent[root] is not root:
            root = self.parent[root]
        while self.parent[node] is not root:
            self.parent[node], node = root, self.parent[node]
        return root

    def join(self, a: TensorApply, b: TensorApply) -> None:
        """Make one set of two."""
        self.parent[self.find(b)] = self.find(a)


def step_count(node: TensorApply) -> int:
    """Return how many operations an element-wise node does for each element."""
    op = scalar_of(node)
    return len(op.program.steps) if isinstance(op, scal.Composite) else max(len(node.inputs) - 1, 1)


def inlined(v: Any) -> bool:
    """Return whether ``v`` is a number that can stand in the code."""
    return isinstance(v, Constant) and v.data.size == 1


def scalar_expression(nodes: Sequence[TensorApply], more: Sequence[Variable]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return element-wise nodes as an expression of scalars.

    Parameters
    ----------
    nodes : sequence of Apply
        In order of computation.
    more : sequence of Variable
        Variables to be found in the expression even if no node uses them.

    Returns
    -------
    tuple of (dict, dict)
        The scalar that stands for each tensor taken from outside; for each tensor that is taken or computed.
    """
    outside: dict[Any, Any] = {}
    known: dict[Any, Any] = {}

    def scalar(v: Any) -> Any:
        if v not in known:
            stand_in = scal.get_scalar_type(v.type.dtype)
            if inlined(v):
                known[v] = stand_in.make_constant(v.data.reshape(-1)[0])
            else:
                known[v] = outside[v] = stand_in.make_variable()
        return known[v]

    for node in nodes:
        made = scalar_of(node).make_node(*map(scalar, node.inputs))
        known.update(zip(node.outputs, made.outputs, strict=True))
    for v in more:
        scalar(v)
    return outside, known
