"""In place: a node writes its result over an input without a later use, or over the value that it replaces.

Decisions are made for the whole graph first, on the graph as it is, and then carried out together. A node takes over
memory that it alone reads, and through one input only, so that no two decisions are about the same memory;
what a decision relies on (who else reads, who else lives in the memory) does not change by other decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from theano.errors import InconsistencyError
from theano.graph import Apply, FunctionGraph, Op, Variable
from theano.graph.aliasing import DestroyHandler
from theano.graph.features import ReplaceValidate
from theano.graph.op import has_own_thunk
from theano.rewriting import Context, phases
from theano.runtime.updates import last_nodes
from theano.tensor.blas.routines import Gemm, Gemv, Ger
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.advanced import AdvancedBooleanIncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1
from theano.tensor.index.basic import IncSubtensor

MayTake = Callable[[int], bool]
Decision = tuple[Apply, Op]


def protected_inputs(fgraph: FunctionGraph) -> set[Variable]:
    """Return the inputs of the graph that must stay as they are: all of them by default."""
    supervisors = [f for f in fgraph.features if hasattr(f, "protected")]
    if not supervisors:
        return set(fgraph.inputs)
    return set().union(*(f.protected for f in supervisors))


def work_in_place(
    fgraph: FunctionGraph,
    context: Context,
    name: str,
    propose: Callable[[Apply, MayTake], Op | None],
    readers: bool = True,
) -> None:
    """Let nodes overwrite inputs, as far as that is safe.

    Parameters
    ----------
    fgraph : FunctionGraph
        With a DestroyHandler; without one nothing is done.
    context : Context
    name : str
        In whose name.
    propose : callable
        From a node and a function that tells whether its input i may be overwritten, to the op that should stand
        in its place, or None.
    readers : bool
        Whether only inputs without another use may be overwritten. Otherwise it is proposed, and the graph says whether
        an order exists in which all other uses come before: right for few nodes that follow each other.
    """
    handler = next((f for f in fgraph.features if isinstance(f, DestroyHandler)), None)
    if handler is None:
        return
    protected = protected_inputs(fgraph)
    decided: list[Decision] = []
    for node in fgraph.toposort():

        def may_take(i: int, node: Apply = node) -> bool:
            if not handler.roots_of(node.inputs[i]).isdisjoint(protected):
                return False
            return not readers or handler.would_allow(fgraph, node, i)

        op = propose(node, may_take)
        if op is not None:
            decided.append((node, op))
    _carry_out(fgraph, context, name, decided)


def _carry_out(fgraph: FunctionGraph, context: Context, name: str, decided: list[Decision]) -> None:
    """Make the replacements together; where the graph refuses the whole, make each half by itself."""
    keeper = next((f for f in fgraph.features if isinstance(f, ReplaceValidate)), None)
    if keeper is None:
        keeper = ReplaceValidate()
        fgraph.attach_feature(keeper)
    pending = [decided] if decided else []
    while pending:
        part = pending.pop()
        mark = context.provenance.mark()
        try:
            keeper.replace_all(fgraph, _one_by_one(part, context, name), reason=name)
        except InconsistencyError:
            context.provenance.forget(mark)
            if len(part) > 1:
                middle = len(part) // 2
                pending += [part[middle:], part[:middle]]
            else:
                context.report.refused[name] = context.report.refused.get(name, 0) + 1
            continue
        for _ in part:
            context.note(name, 0)


def _one_by_one(part: list[Decision], context: Context, name: str) -> Iterator[tuple[Variable, Variable]]:
    """Yield the replacements, each made when its turn comes: its inputs may be outputs of the one before."""
    for node, op in part:
        # Of the same types: where a device computes, they are not what the op makes of arrays of the host's.
        fresh = Apply(op, list(node.inputs), [v.type.make_variable() for v in node.outputs])
        for old, new in zip(node.outputs, fresh.outputs, strict=True):
            context.provenance.begin(name, context.report.name, old)
            yield old, new
            context.provenance.end()


# -- element-wise ---------------------------------------------------------------------------------------------------


def _elemwise(node: Apply, may_take: MayTake) -> Op | None:
    """Return the op with as many outputs as possible in the memory of inputs of the same type."""
    op = node.op
    if type(op) is not Elemwise or op.inplace_pattern:
        return None
    pattern: dict[int, int] = {}
    for o, out in enumerate(node.outputs):
        for i, v in enumerate(node.inputs):
            if i not in pattern.values() and v.type == out.type and may_take(i):
                pattern[o] = i
                break
    return Elemwise(op.scalar_op, pattern) if pattern else None


def inplace_elemwise(fgraph: FunctionGraph, context: Context) -> None:
    """Let element-wise nodes take over the memory of inputs."""
    work_in_place(fgraph, context, "inplace_elemwise_opt", _elemwise)


phases.register(
    "inplace_elemwise_opt", inplace_elemwise, 75,
    "fast_run", "inplace", "inplace_opt", "inplace_elemwise_optimizer", "InplaceElemwiseOptimizer",
)  # fmt: skip


# -- writing parts --------------------------------------------------------------------------------------------------


def _writer(kinds: tuple[type[Op], ...]) -> Callable[[Apply, MayTake], Op | None]:
    def written(node: Apply, may_take: MayTake) -> Op | None:
        """Return the op that writes into the tensor itself."""
        op = node.op
        if not isinstance(op, kinds) or getattr(op, "inplace", False) or not may_take(0):
            return None
        return _written_in_place(op)

    return written


def _written_in_place(op: Any) -> Op:
    if isinstance(op, IncSubtensor):
        return IncSubtensor(op.idx_list, inplace=True, set_instead_of_inc=op.set_instead_of_inc)
    return type(op)(inplace=True, set_instead_of_inc=op.set_instead_of_inc)


_BY_ARRAYS = (AdvancedIncSubtensor1, AdvancedIncSubtensor, AdvancedBooleanIncSubtensor)
_WRITERS = (IncSubtensor, *_BY_ARRAYS)


def inplace_set_subtensor(fgraph: FunctionGraph, context: Context) -> None:
    """Let parts be written into tensors that have no later use."""
    work_in_place(fgraph, context, "local_inplace_setsubtensor", _writer((IncSubtensor,)))


def inplace_inc_subtensor1(fgraph: FunctionGraph, context: Context) -> None:
    """Let values at indices be written into tensors that have no later use."""
    work_in_place(fgraph, context, "local_inplace_incsubtensor1", _writer(_BY_ARRAYS))


phases.register("local_inplace_setsubtensor", inplace_set_subtensor, 60, "fast_run", "inplace")
phases.register("local_inplace_incsubtensor1", inplace_inc_subtensor1, 60, "fast_run", "inplace")


# -- over shared variables ------------------------------------------------------------------------------------------


def _over(op: Op, node: Apply, output: int, index: int) -> Op | None:
    """Return the form of ``op`` that makes an output in the memory of an input, whatever it overwrote before."""
    if type(op) is Elemwise and node.inputs[index].type == node.outputs[output].type:
        return Elemwise(op.scalar_op, {**op.inplace_pattern, output: index})
    if index != 0:
        return None
    if isinstance(op, (Gemm, Gemv, Ger)):
        return op.in_place()
    return _written_in_place(op) if isinstance(op, _WRITERS) else None


def inplace_updates(fgraph: FunctionGraph, context: Context) -> None:
    """Let the new values of shared variables be written over the old ones, by nodes that can run last.

    What must hold for that, and why, is said in :mod:`theano.runtime.updates`.
    """
    handler = next((f for f in fgraph.features if isinstance(f, DestroyHandler)), None)
    replaced = set().union(*(getattr(f, "replaced", ()) for f in fgraph.features))
    order = fgraph.toposort()
    if handler is None or not replaced or any(has_own_thunk(node.op) for node in order):
        return
    mapping = fgraph.update_mapping or {}
    last = last_nodes(fgraph, order, min(mapping), lambda node: node.op.checked_inputs(node) is not None)
    taken: set[Variable] = set()
    decided: list[Decision] = []
    for node in order:
        if node not in last:
            continue
        op: Op = node.op
        for o, out in enumerate(node.outputs):
            own = {fgraph.inputs[mapping[k]] for client, k in out.clients if client == "output"}
            free = [i for i, v in enumerate(node.inputs) if v in replaced - taken and _is_free(handler, node, i)]
            for i in sorted(free, key=lambda i: node.inputs[i] not in own):
                over = _over(op, node, o, i)
                if over is not None:
                    op = over
                    taken.add(node.inputs[i])
                    break
        if op is not node.op:
            decided.append((node, op))
    _carry_out(fgraph, context, "inplace_updates", decided)


def _is_free(handler: DestroyHandler, node: Apply, i: int) -> bool:
    """Return whether nothing but the order speaks against ``node`` overwriting the graph's input ``node.inputs[i]``."""
    sharing = handler.sharing_with(node.inputs[i])
    if any(client == "output" for v in sharing for client, _ in v.clients) or handler.destroyers_of(node.inputs[i]):
        return False
    return all(j == i or v not in sharing for j, v in enumerate(node.inputs))


# After all others: what they overwrite in a node that comes last matters less than the shared variable.
phases.register("inplace_updates", inplace_updates, 77, "fast_run", "inplace")
