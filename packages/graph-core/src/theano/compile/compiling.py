"""From kernels and blocks to machine code, as the flags say: what the packages below are handed to compile with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.environment import read_meanwhile
from theano.graph.apply import Apply
from theano.graph.external_op import OpenMPOp
from theano.graph.kernel import Kernel
from theano.graph.variable import Variable
from theano.lowering.table import lower
from theano.messages import logger
from theano.runtime.blocks import BlockFactory, block_of
from theano.runtime.link import CLinker, link
from theano.settings import config

if TYPE_CHECKING:
    from theano.codegen.block_unit import LoadedBlock
    from theano.codegen.blocks import Block



def compile_kernels(kernels: Sequence[Kernel]) -> Sequence[int]:
    """Return the addresses of kernels."""
    # All that speaks to a compiler and to the disk: `import theano` does without.
    from theano.cache.store import CacheSettings
    from theano.codegen.unit import compile_kernels
    from theano.toolchain.description import ToolchainSettings

    read_meanwhile()
    return compile_kernels(kernels, ToolchainSettings.from_config(config), CacheSettings.from_config(config))


def compile_blocks(blocks: Sequence[Block]) -> Sequence[LoadedBlock]:
    """Return the machine code of what ops say in C."""
    # As above.
    from theano.cache.store import CacheSettings
    from theano.codegen.block_unit import compile_blocks
    from theano.toolchain.description import ToolchainSettings

    if config.cmodule.warn_no_version:
        for block in blocks:
            if not block.version:
                logger.warning(
                    "theano: the C code of %s is compiled in each process anew: an op or a type in it has no "
                    "c_code_cache_version", block.name,
                )  # fmt: skip
    return compile_blocks(blocks, ToolchainSettings.from_config(config), CacheSettings.from_config(config))


def make_c_thunk(
    node: Apply, storage_map: dict[Variable, list[Any]], compute_map: dict[Variable, list[Any]], no_recycling: Any = ()
) -> Callable[[], Any]:
    """Return the thunk of what an op says in C, for one node and its cells.

    Raises
    ------
    MethodNotDefined
        The op or a type has nothing to say in C.
    """
    node.op.prepare_node(node, storage_map, compute_map, "c")
    if lower(node) is not None:
        return _kernel_thunk(node, storage_map, compute_map)
    block = block_of(node, config.check_input)
    (unit,) = compile_blocks([block])
    computed = [compute_map[v] for v in node.outputs]
    thunk: Callable[[], Any] = BlockFactory(node, block, unit).thunk(storage_map, computed)
    return thunk


def _kernel_thunk(
    node: Apply, storage_map: dict[Variable, list[Any]], compute_map: dict[Variable, list[Any]]
) -> Callable[[], Any]:
    # The loader is a compiled module that brings in NumPy, and what runs nodes alone is seldom wanted.
    from theano.runtime.interpreter import NodeFunction

    alone = NodeFunction(node, link([node], CLinker(), compile_kernels).how[0])
    inputs, outputs = [storage_map[v] for v in node.inputs], [storage_map[v] for v in node.outputs]
    computed = [compute_map[v] for v in node.outputs]

    def thunk() -> None:
        alone(inputs, outputs)
        for flag in computed:
            flag[0] = True

    vars(thunk).update(inputs=inputs, outputs=outputs, lazy=False)
    return thunk


def _let_openmp(value: bool) -> None:
    OpenMPOp.default_openmp = bool(value)


config.watch("openmp", _let_openmp)
