"""Elements that arrays on a device name, read and written there.

Where all indices are the host's, and where there are masks or parts of axes among them, the tensor layer's entries for
any device read them on the host (`theano.tensor.index.lowering`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.gpuarray.dialect import text_of
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import OPERANDS, DeviceSelection
from theano.gpuarray.lowering.common import functions, on_device
from theano.gpuarray.lowering.sort import sort_functions
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.graph.variable import Constant
from theano.lowering.accepts import INTEGERS
from theano.lowering.table import register
from theano.lowering.targets import CPU
from theano.tensor.device.ops import FromDevice, is_number_of_host
from theano.tensor.index.advanced import AdvancedSubtensor1, BaseAdvancedSubtensor, _AdvancedWrite
from theano.tensor.kernels.common import dtype_of, ones_of, works_in_place

if TYPE_CHECKING:
    from theano.graph.annotations import Node


def _is_array(v: Any) -> bool:
    return dtype_of(v) in INTEGERS


def _is_whole_axis(v: Any) -> bool:
    return isinstance(v, Constant) and isinstance(v.data, slice) and v.data == slice(None)


def _is_there(v: Any) -> bool:
    brought = v.owner is not None and isinstance(v.owner.op, FromDevice)
    return brought or bool(v.type.device != CPU.device)


def _named_there(index: Sequence[Any]) -> bool:
    if len(index) > OPERANDS or not all(_is_array(v) or _is_whole_axis(v) for v in index):
        return False
    return any(_is_array(v) and _is_there(v) for v in index)


def _taken_there(op: Any, node: Node) -> bool:
    """Tell whether some array of the index is on a device, and the index has only arrays and whole axes."""
    return _named_there(node.inputs[1:])


def _written_there(op: Any, node: Node) -> bool:
    """Tell whether some array of the index is on a device, and the index has only arrays and whole axes."""
    return _named_there(node.inputs[2:])


def _read_on_host(node: Node, first: int) -> tuple[int, ...]:
    """Return the entries of an index that are whole axes and single numbers of the host's."""
    index = enumerate(node.inputs[first:], first)
    return tuple(i for i, v in index if not _is_array(v) or is_number_of_host(v))


def _selection(node: Node, first: int, sets: bool, in_place: bool) -> Parameters:
    entries = [i if _is_array(v) else -1 for i, v in enumerate(node.inputs[first:], first)]
    locate, tables = functions(node, text_of("index_advanced.cl"), ("locate", "tables"))
    blocks, merge, put = sort_functions(node, 8)
    return DeviceSelection(
        locate=locate, tables=tables, blocks=blocks, merge=merge, put=put, count=len(entries), entries=entries,
        writes=first == 2, sets=sets, in_place=in_place, ones=ones_of(node.inputs[1]) if first == 2 else 0,
    )  # fmt: skip


@ready("th_kernel_gpu_advanced")
def take_kernel(op: Any, node: Apply) -> Parameters:
    """Return the elements of x that the further inputs name together."""
    return _selection(node, 1, sets=False, in_place=False)


@ready("th_kernel_gpu_advanced")
def write_kernel(op: Any, node: Apply) -> Parameters:
    """Return x with y set in, or added to, the elements that the further inputs name together, one after the other."""
    return _selection(node, 2, sets=bool(op.set_instead_of_inc), in_place=works_in_place(op))


register(
    *(
        on_device(cls, take_kernel, when=_taken_there, on_host=lambda node: _read_on_host(node, 1))
        for cls in (AdvancedSubtensor1, BaseAdvancedSubtensor)
    ),
    on_device(
        _AdvancedWrite, write_kernel, same=("x y new",), when=_written_there,
        on_host=lambda node: _read_on_host(node, 2),
    ),
)  # fmt: skip
