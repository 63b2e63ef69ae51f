"""Nodes whose ops say in C what they do: their units as thunks of the machine.

A node becomes an instruction of its own, or a run of nodes becomes one (`CLinker`): then the values between them never
are Python objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.codegen.blocks import Block, has_c_code, write_block
from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.variable import Constant, Variable
from theano.lowering.table import lower

if TYPE_CHECKING:
    from theano.codegen.block_unit import LoadedBlock

Cells = Sequence[list[Any]]
CompileBlocks = Callable[[Sequence[Block]], Sequence["LoadedBlock"]]


class BlockOp(Op):
    """What a run of nodes computes together: the op of the one instruction that they become.

    Parameters
    ----------
    nodes : list of Apply
    """

    def __init__(self, nodes: Sequence[Apply]):
        self.nodes = list(nodes)

    def __str__(self) -> str:
        shown = ", ".join(str(node.op) for node in self.nodes[:4])
        return f"Block{{{shown}{', ...' if len(self.nodes) > 4 else ''}}}"


class BlockNode(Apply):
    """A run of nodes as one node. Its outputs keep the owners that they have in the graph.

    Parameters
    ----------
    nodes : list of Apply
        In the order in which they run.
    outputs : list of Variable
        Those of their outputs that other nodes use.
    """

    def __init__(self, nodes: Sequence[Apply], outputs: Sequence[Variable]):
        made = {v for node in nodes for v in node.outputs}
        read = dict.fromkeys(v for node in nodes for v in node.inputs if v not in made and not isinstance(v, Constant))
        super().__init__(BlockOp(nodes), list(read), [])
        self.outputs = list(outputs)
        self.op.view_map, self.op.destroy_map = _aliasing(self)


def _aliasing(whole: BlockNode) -> tuple[dict[int, list[int]], dict[int | None, list[int]]]:
    """Return the view map and the destroy map of a run of nodes."""
    number = {v: i for i, v in enumerate(whole.inputs)}
    seen: dict[Variable, set[int]] = {v: {i} for v, i in number.items()}
    destroyed: set[int] = set()
    assert isinstance(whole.op, BlockOp)
    for node in whole.op.nodes:
        for maps in (node.op.view_map, node.op.destroy_map):
            for k, many in maps.items():
                roots = set().union(*(seen.get(node.inputs[i], set()) for i in many))
                if k is not None:
                    seen.setdefault(node.outputs[k], set()).update(roots)
                if maps is node.op.destroy_map:
                    destroyed |= roots
    views = {k: sorted(seen[v] - destroyed) for k, v in enumerate(whole.outputs) if seen.get(v, set()) - destroyed}
    written: dict[int | None, list[int]] = {}
    for k, v in enumerate(whole.outputs):
        if seen.get(v, set()) & destroyed:
            written[k] = sorted(seen[v] & destroyed)
    rest = destroyed - {i for many in written.values() for i in many}
    if rest:
        written[None] = sorted(rest)
    return views, written


class BlockFactory:
    """Makes the thunk of a unit for some cells.

    Parameters
    ----------
    node : Apply or BlockNode
    block : Block
    loaded : LoadedBlock
    """

    def __init__(self, node: Apply, block: Block, loaded: LoadedBlock):
        self.node, self.block, self.loaded = node, block, loaded

    def __call__(self, storage_in: Cells, computed_in: Cells, storage_out: Cells, computed_out: Cells) -> Any:
        """Return the thunk; the machine itself notes what is computed."""
        cells = dict(zip([*self.node.inputs, *self.node.outputs], [*storage_in, *storage_out], strict=True))
        return self.thunk(cells, ())

    def thunk(self, cells: dict[Variable, list[Any]], computed: Sequence[list[Any]]) -> Any:
        """Return the thunk for the cells of variables, which sets some flags when it is done."""
        # The loader is a compiled module that brings in NumPy: `import theano` does without.
        from theano.loader.module import NativeThunk

        block, unit = self.block, self.loaded
        inside = [cells[v] for v in (*block.inputs, *block.outputs)] + [[value] for value in block.constants]
        thunk = NativeThunk(
            unit.new, unit.run, unit.failed, unit.delete, tuple(inside), tuple(computed), unit.library, names_of(block)
        )
        thunk.inputs = [cells[v] for v in self.node.inputs if v in cells]
        thunk.outputs = [cells[v] for v in self.node.outputs if v in cells]
        thunk.lazy = False
        return thunk


def names_of(block: Block) -> tuple[str, ...]:
    """Return what to call each block in an error; nothing where there is but one node."""
    if sum(isinstance(owner, Apply) for owner in block.owners) < 2:
        return ()
    return tuple(str(owner) for owner in block.owners)


def block_of(node: Apply, check_input: bool = True) -> Block:
    """Write the unit of one node, or of a run of nodes.

    Raises
    ------
    MethodNotDefined
        An op or a type has nothing to say in C.
    """
    nodes = node.op.nodes if isinstance(node.op, BlockOp) else [node]
    inputs = dict.fromkeys(v for v in node.inputs if not isinstance(v, Constant))
    return write_block(nodes, list(inputs), node.outputs, check_input=check_input)


def together(nodes: Sequence[Apply], fits: Callable[[Apply], bool], outputs: Sequence[Variable]) -> list[Apply]:
    """Return the nodes with each run of neighbours that fit as one.

    Parameters
    ----------
    nodes : list of Apply
        In the order in which they run.
    fits : callable
    outputs : list of Variable
        Of the graph.
    """
    runs: list[list[Apply]] = []
    fitting = False
    for node in nodes:
        fits_too = fits(node)
        if runs and fitting and fits_too:
            runs[-1].append(node)
        else:
            runs.append([node])
        fitting = fits_too
    return [run[0] if len(run) == 1 else _as_one(run, outputs) for run in runs]


def _as_one(run: Sequence[Apply], outputs: Sequence[Variable]) -> BlockNode:
    inside, given_away = set(run), set(outputs)

    def is_wanted(v: Variable) -> bool:
        return v in given_away or any(client not in inside for client, _ in v.clients)

    return BlockNode(run, [v for node in run for v in node.outputs if is_wanted(v)])


def is_classic(node: Apply) -> bool:
    """Return whether what a node computes in C is said by its op and its types, and not by a kernel."""
    return has_c_code(node) and lower(node) is None
