"""Rules of programs that move ops of their own to a device.

What this layer has kernels for goes to a device by the lowering table (`theano.gpuarray.placement`), and needs no rule.
An op that is not in the table, and whose form on a device is another op, is moved by a function that says which::

    @register_opt("fast_compile")
    @op_lifter([MyOp])
    def local_gpu_my_op(op, context_name, inputs, outputs):
        return GpuMyOp(op.axis)

The rules run before the placement, where that runs: with the tag ``gpuarray``, or once a device was started.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.gpuarray.calls import context_name_for, seen_from_host
from theano.gpuarray.context import get_context, is_started
from theano.gpuarray.variables import GpuArrayType, GpuFromHost
from theano.graph import Op, Variable
from theano.rewriting.phases import phases
from theano.rewriting.userdefined import EquilibriumDB, local_optimizer, optdb

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.annotations import TensorLike

Maker = Callable[[Any, Any, Sequence[Any], Sequence[Any]], Any]

gpu_optimizer = EquilibriumDB()
"""The rules of programs that move ops to a device."""

# It takes part where the placement does.
optdb.register("gpu_lifters", gpu_optimizer, 49.3, *(phases.tags("gpuarray_opt") - {"gpuarray_opt"}))


def safe_to_cpu(x: TensorLike) -> Any:
    """Return a variable brought to the host; anything else as it is.

    Examples
    --------
    >>> safe_to_cpu(GpuArrayType("float32", (False,))("x")).type, safe_to_cpu(3)
    (TensorType(float32, vector), 3)
    """
    return seen_from_host(x)


def op_lifter(OP: Sequence[type], cuda_only: bool = False) -> Callable[[Maker], Any]:
    """Return a decorator that makes a rule of a function which says what an op is on a device.

    Parameters
    ----------
    OP : list of Op or of classes of ops
        Those that are moved.
    cuda_only : bool
        Only to devices of CUDA.

    Returns
    -------
    callable
        From a function of the op, the name of a context, the inputs and the outputs. That returns an op, which is
        called with the inputs; a variable, or one for each output; or None or False: the node stays.

    Examples
    --------
    >>> import theano.tensor as T
    >>> rule = op_lifter([T.Dot])(lambda op, context_name, inputs, outputs: None)
    >>> rule.transform(T.dot(T.dvector(), T.dvector()).owner)
    False
    """

    def decorate(maker: Maker) -> Any:
        def lift(node: Node) -> Any:
            context_name = _wanted_at(node)
            if context_name is Ellipsis or (cuda_only and not _is_cuda(context_name)):
                return False
            found = maker(node.op, context_name, node.inputs, node.outputs)
            if found is None or found is False:
                return False
            if isinstance(found, Op) or (callable(found) and not isinstance(found, Variable)):
                found = found(*node.inputs, return_list=True) if isinstance(found, Op) else found(*node.inputs)
            outputs = [found] if isinstance(found, Variable) else list(found)
            return [safe_to_cpu(v) for v in outputs]

        lift.__name__, lift.__doc__ = getattr(maker, "__name__", "lift"), maker.__doc__
        return local_optimizer(OP)(lift)

    return decorate


def _is_cuda(context_name: str | None) -> bool:
    return is_started(context_name) and get_context(context_name).driver.language == "cuda"


def _wanted_at(node: Node) -> Any:
    """Return on which context's device a node is computed; ``...`` if on none."""
    if any(isinstance(v.type, GpuArrayType) for v in node.outputs):
        return Ellipsis
    for v in node.inputs:
        target = getattr(v.tag, "target", Ellipsis)
        if target is not Ellipsis:
            return Ellipsis if target == "cpu" else target
    known: Any = context_name_for(*node.inputs, default=...)  # type: ignore[arg-type]  # no context's name
    if known is not Ellipsis:
        return known
    clients = (client.op for v in node.outputs for client, _ in getattr(v, "clients", ()) if client != "output")
    moved = next((op.context_name for op in clients if isinstance(op, GpuFromHost)), Ellipsis)
    return moved if moved is not Ellipsis else None if is_started(None) else Ellipsis


def register_opt(*tags: str, **kwargs: Any) -> Callable[[Any], Any]:
    """Return a decorator that registers a rule which moves an op to a device.

    Parameters
    ----------
    *tags : str
        More tags than ``gpuarray``.
    name : str, optional

    Examples
    --------
    >>> import theano.tensor as T
    >>> rule = op_lifter([T.Dot])(lambda op, context_name, inputs, outputs: None)
    >>> register_opt("fast_compile", name="nothing_of_dot")(rule) is rule
    True
    >>> gpu_optimizer.remove("nothing_of_dot")
    """

    def register(rule: Any) -> Any:
        name = kwargs.get("name") or getattr(rule, "name", None) or rule.__name__
        gpu_optimizer.register(name, rule, "fast_run", "gpuarray", *tags)
        return rule

    return register
