"""Small functions and classes that older programs import from modules of theano.gpuarray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theano import scalar as scal
from theano.gpuarray.array import GpuArray
from theano.gpuarray.array import _from_host as unpickled
from theano.gpuarray.calls import context_name_for
from theano.gpuarray.kernels.parameters import OPERANDS
from theano.gpuarray.ops import GpuAllocEmpty, GpuCAReduceCuda
from theano.gpuarray.variables import GpuArrayType
from theano.graph import Apply
from theano.lowering.targets import CPU


class GpuCAReduceCPY(GpuCAReduceCuda):  # type: ignore[misc]  # a class that is made when asked for
    """A reduction on a device, which there is one way to compute.

    Parameters
    ----------
    scalar_op : ScalarOp
    axis : int, sequence of int or None
    dtype, acc_dtype : str, optional

    Examples
    --------
    >>> GpuCAReduceCPY(scal.add, 0, "float64")(GpuArrayType("float32", (False,))("x")).type
    GpuArrayType<None>(float64, scalar)
    """

    def __init__(self, scalar_op: Any, axis: Any = None, dtype: str | None = None, acc_dtype: str | None = None):
        super().__init__(scalar_op, axis, None, dtype, acc_dtype)


gpu_ca_reduce_cuda = GpuCAReduceCuda


class SupportCodeError(Exception):
    """Operations on numbers have no form on a device."""


class GpuArraySignature(tuple[Any, ...]):
    """What tells the constants of devices apart: the type and the array.

    Examples
    --------
    >>> GpuArraySignature(("type", np.ones(2))) == GpuArraySignature(("type", np.ones(2)))
    True
    """

    def _key(self) -> tuple[Any, ...]:
        kind, data = self
        host = np.asarray(data)
        return kind, host.dtype.str, host.shape, host.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GpuArraySignature) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())


def gpu_supported(data: Any) -> bool:
    """Return whether numbers of a type or of an array can be on a device and be computed with.

    Examples
    --------
    >>> gpu_supported(np.zeros(2)), gpu_supported(np.zeros(2, "complex64")), gpu_supported(np.array("text"))
    (True, True, False)
    """
    return np.dtype(data.dtype).kind in "biufc"


def move_to_gpu(data: Any) -> bool:
    """Return whether it is worth while to move an array to a device: floating-point numbers, and more than one.

    Examples
    --------
    >>> move_to_gpu(np.zeros(2)), move_to_gpu(np.zeros(2, int)), move_to_gpu(np.zeros(()))
    (True, False, False)
    """
    return bool(np.dtype(data.dtype).kind == "f" and data.ndim > 0)


def values_eq_approx(
    a: Any, b: Any, allow_remove_inf: bool = False, allow_remove_nan: bool = False, rtol: float | None = None,
    atol: float | None = None,
) -> bool:  # fmt: skip
    """Return whether two arrays are nearly the same (`TensorType.values_eq_approx`).

    Examples
    --------
    >>> values_eq_approx(np.ones(2), np.ones(2) + 1e-12)
    True
    """
    return GpuArrayType.values_eq_approx(a, b, allow_remove_inf, allow_remove_nan, rtol, atol)


def values_eq_approx_remove_inf(a: Any, b: Any) -> bool:
    """Return whether two arrays are nearly the same but where they are infinite.

    Examples
    --------
    >>> values_eq_approx_remove_inf(np.array([1, np.inf]), np.array([1.0, 2.0]))
    True
    """
    return values_eq_approx(a, b, True)


def values_eq_approx_remove_nan(a: Any, b: Any) -> bool:
    """Return whether two arrays are nearly the same but where they are no numbers.

    Examples
    --------
    >>> values_eq_approx_remove_nan(np.array([1, np.nan]), np.array([1.0, 2.0]))
    True
    """
    return values_eq_approx(a, b, False, True)


def values_eq_approx_remove_inf_nan(a: Any, b: Any) -> bool:
    """Return whether two arrays are nearly the same but where they are infinite or no numbers.

    Examples
    --------
    >>> values_eq_approx_remove_inf_nan(np.array([np.inf, np.nan]), np.array([1.0, 2.0]))
    True
    """
    return values_eq_approx(a, b, True, True)


def GpuArray_unpickler(npa: np.ndarray, ctx_name: str | None) -> Any:
    """Return an array of a pickle: on its device, or on the host where a flag allows that.

    Examples
    --------
    >>> GpuArray_unpickler(np.ones(2), "moon")
    Traceback (most recent call last):
     ...
    ValueError: unknown device 'gpu:moon'
    """
    return unpickled(npa, ctx_name)


def GpuArray_pickler(cnda: GpuArray) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return what makes an array of a device again, and of what: the numbers and the name of the context.

    Examples
    --------
    >>> GpuArray_pickler.__name__
    'GpuArray_pickler'
    """
    return GpuArray_unpickler, (np.asarray(cnda), cnda.context_name)


def pygpu_parse_version(version_string: str) -> Any:
    """Return the parts of a version, as numbers where they are some.

    Examples
    --------
    >>> pygpu_parse_version("0.7.6")
    (0, 7, 6)
    """
    parts = version_string.replace("+", ".").split(".")
    return tuple(int(part) if part.isdigit() else part for part in parts)


def empty_like(var: Any) -> Any:
    """Return memory on a device as large as a variable's.

    Examples
    --------
    >>> empty_like(GpuArrayType("float32", (False,))("x")).type
    GpuArrayType<None>(float32, vector)
    """
    return GpuAllocEmpty(var.type.dtype, context_name_for(var))(*(var.shape[k] for k in range(var.type.ndim)))


def get_scal(dt: str) -> Any:
    """Return the type of numbers that a device computes with for a dtype.

    Examples
    --------
    >>> get_scal("float16")
    float32
    """
    return scal.get_scalar_type("float32" if dt == "float16" else dt)


def as_C_string_const(s: str) -> str:
    r"""Return a text as a constant of C, a line each.

    Examples
    --------
    >>> print(as_C_string_const('a "b"'))
    "a \"b\"\n"
    """
    return "\n".join('"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in s.split("\n"))


def max_inputs_to_GpuElemwise(node_or_outputs: Any) -> int:
    """Return how many inputs an element-wise op on a device may have, with as many outputs as a node has.

    Examples
    --------
    >>> max_inputs_to_GpuElemwise([None]) > 30
    True
    """
    outputs = node_or_outputs.outputs if isinstance(node_or_outputs, Apply) else node_or_outputs
    return OPERANDS - len(outputs)


def split_inputs(inputs: Sequence[Any], max_nb_inputs: int, op: Callable[..., Any]) -> Any:
    """Return an associative op of many inputs as a tree of ops with fewer.

    Examples
    --------
    >>> split_inputs([1, 2, 3, 4, 5], 2, lambda *x: sum(x))
    15
    """
    level: list[Any] = list(inputs)
    while len(level) > max_nb_inputs:
        parts = [level[k : k + max_nb_inputs] for k in range(0, len(level), max_nb_inputs)]
        level = [op(*part) if len(part) > 1 else part[0] for part in parts]
    return op(*level)


def tensor_to_gpu(x: Any, context_name: str | None) -> Any:
    """Return a variable of the type on a device that a tensor's has, with its name; anything else as it is.

    Examples
    --------
    >>> import theano.tensor as T
    >>> tensor_to_gpu(T.fvector("x"), None).type
    GpuArrayType<None>(float32, vector)
    """
    if getattr(getattr(x, "type", None), "device", None) != CPU.device:
        return x
    return GpuArrayType(x.type.dtype, x.type.broadcastable, context_name)(x.name)


def gpu_safe_new(x: Any, tag: str = "") -> Any:
    """Return a new variable of the type of another one, whose name ends in ``tag``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> gpu_safe_new(T.fvector("x"), "_copy").name
    'x_copy'
    """
    made = x.type()
    made.name = None if x.name is None else f"{x.name}{tag}"
    return made


def gpu_reconstruct_graph(
    inputs: Sequence[Any], outputs: Sequence[Any], tag: str | None = None
) -> tuple[list[Any], list[Any]]:
    """Return a copy of a graph from new inputs, and these.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.fvector("x")
    >>> [[v.name for v in new] for new in gpu_reconstruct_graph([x], [x], "_2")]
    [['x_2'], ['x_2']]
    """
    from theano.graph.clone import clone_replace  # only who rebuilds graphs

    fresh = [gpu_safe_new(x, tag or "") for x in inputs]
    copies = clone_replace(list(outputs), replace=dict(zip(inputs, fresh, strict=True)))
    return fresh, list(copies)


def gpu_print_wrapper(op: Any, cnda: Any) -> None:
    """Do what a `Print` does, with the value of an array on a device.

    Examples
    --------
    >>> from theano.printing import Print
    >>> gpu_print_wrapper(Print("x", global_fn=lambda op, value: print(op.message, value)), np.ones(2))
    x [1. 1.]
    """
    op.global_fn(op, np.asarray(cnda))
