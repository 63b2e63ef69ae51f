"""How programs make and call ops on devices by their names: ``GpuPool(True)(x, (2, 2), (2, 2), (0, 0))``.

An op on a device is that of the CPU under another name (`theano.gpuarray.placement`). Called by a program, it gives the
expression of the CPU's op, with its operands seen from the host and its results on the device. Rules rewrite that as
any other one, the transfers fall away, and what computes it has the op's name there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gpuarray.variables import GpuArrayType, as_gpuarray_variable, host_from_gpu
from theano.graph import Op, Variable
from theano.settings import config
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor


def context_name_for(*variables: Any, default: str | None = None) -> str | None:
    """Return the context of the first variable that is on a device or came from one; else the default one's name.

    Examples
    --------
    >>> x = GpuArrayType("float32", (False,), "dev1")("x")
    >>> context_name_for(1.0, host_from_gpu(x)), context_name_for(1.0)
    ('dev1', None)
    """
    for v in variables:
        for w in (v, *(v.owner.inputs[:1] if getattr(v, "owner", None) is not None else ())):
            if isinstance(getattr(w, "type", None), GpuArrayType):
                name: str | None = w.type.context_name
                return name
    return default


def seen_from_host(x: TensorLike) -> Any:
    """Return an operand as ops of the CPU take it.

    Examples
    --------
    >>> seen_from_host(GpuArrayType("float32", (False,))("x")).type
    TensorType(float32, vector)
    >>> seen_from_host(2)
    2
    """
    return host_from_gpu(x) if isinstance(getattr(x, "type", None), GpuArrayType) else x


def there(x: Tensor, context_name: str | None) -> Tensor:
    """Return a result on the device; one that is no array stays as it is.

    Examples
    --------
    >>> import theano.tensor as T
    >>> there(T.fvector("x"), None).type
    GpuArrayType<None>(float32, vector)
    """
    return as_gpuarray_variable(x, context_name) if isinstance(getattr(x, "type", None), TensorType) else x


def called(op: Op, host_class: type[Op], inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what an op on a device gives for some inputs.

    Parameters
    ----------
    op : Op
    host_class : class
        Of the same op on the CPU.
    inputs, options
        What it is called with.
    """
    context_name = context_name_for(*inputs, default=getattr(op, "context_name", None))
    before = getattr(op, "pre_scalar_op", None)
    operands = [seen_from_host(x) for x in inputs]
    plain: Any = object.__new__(host_class)
    plain.__dict__.update({k: v for k, v in op.__dict__.items() if k not in _KEPT})
    if before is not None:
        operands[0] = Elemwise(before)(operands[0])
    found = plain(*operands, **options)
    if isinstance(found, Variable):
        return there(_converted(op, found), context_name)
    return [there(v, context_name) for v in found]


def _converted(op: Any, v: Any) -> Any:
    """Return the result of a reduction in the dtype that was wanted."""
    wanted = getattr(op, "dtype", None) if hasattr(op, "reduce_mask") else None
    return v if wanted in (None, v.type.dtype) else v.astype(wanted)


#: What says how a program made the op, and is nothing of the op itself.
_KEPT = frozenset({"context_name", "memset_0", "pre_scalar_op", "reduce_mask", "acc_dtype"})


def _alloc(op: Any, context_name: str | None = None, memset_0: bool = False) -> None:
    op.context_name, op.memset_0 = context_name, memset_0


def _alloc_empty(op: Any, dtype: str, context_name: str | None = None) -> None:
    op.dtype, op.context_name = str(np.dtype(dtype)), context_name


def _eye(op: Any, dtype: str | None = None, context_name: str | None = None) -> None:
    op.dtype, op.context_name = config.floatX if dtype is None else str(np.dtype(dtype)), context_name


def _ger(op: Any, inplace: bool = False) -> None:
    _base(op).__init__(op, inplace)


def _reduction(
    op: Any, scalar_op: Any, axis: Axis = None, reduce_mask: Any = None, dtype: str | None = None,
    acc_dtype: str | None = None, pre_scalar_op: Any = None,
) -> None:  # fmt: skip
    if axis is None and reduce_mask is not None:
        axis = [k for k, taken in enumerate(reduce_mask) if taken]
    _base(op).__init__(op, scalar_op, axis)
    op.reduce_mask, op.dtype, op.acc_dtype, op.pre_scalar_op = reduce_mask, dtype, acc_dtype, pre_scalar_op


def _gradient_of_pool(op: Any, ignore_border: bool, mode: str = "max", ndim: int = 2) -> None:
    _base(op).__init__(op, ignore_border=ignore_border, mode=mode, ndim=ndim)


def _base(op: Any) -> Any:
    return next(cls for cls in type(op).__mro__ if cls.__module__.startswith("theano.tensor"))


#: By the name of a class, how programs make it, where that differs from the CPU's.
CONSTRUCTORS: dict[str, Callable[..., None]] = {
    "GpuAlloc": _alloc,
    "GpuAllocEmpty": _alloc_empty,
    "GpuEye": _eye,
    "GpuTri": _eye,
    "GpuGer": _ger,
    "GpuCAReduceCuda": _reduction,
    "GpuMaxPoolGrad": _gradient_of_pool,
}
