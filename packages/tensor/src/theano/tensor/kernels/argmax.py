"""Where the largest or smallest element is: argmax over any axes, alone or with the maximum itself (``c/argmax.c``)."""

from __future__ import annotations

from typing import Any

from theano.codegen.kernel import Builtin
from theano.graph.apply import Apply
from theano.tensor.kernels.common import builtin, dtypes_of, ndim_of, normal_axes


def argmax_kernel(op: Any, node: Apply, smallest: bool = False) -> Builtin | None:
    """Return the C form of argmax or argmin (one output), or of max-and-argmax (two).

    Parameters
    ----------
    op : Op
        ``axis`` is read: None, an integer or several axes, which then count as one, in C order.
    node : Apply
        Places are int64.
    smallest : bool
        Whether the smallest element is searched, not the largest.

    Returns
    -------
    Builtin or None
        None for complex numbers and for objects.
    """
    dtypes = dtypes_of([node.inputs[0], *node.outputs])
    if dtypes is None or dtypes[-1] != "int64" or dtypes[0].startswith("complex"):
        return None
    if len(node.outputs) > 2 or (len(node.outputs) == 2 and dtypes[1] != dtypes[0]):
        return None
    ndim = ndim_of(node.inputs[0])
    axes = normal_axes(op.axis, ndim)
    if ndim_of(node.outputs[0]) != ndim - len(axes):
        return None
    return builtin("th_kernel_argmax", sum(1 << a for a in axes), int(smallest))
