"""Functions by which older programs write rules and kernels for devices."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theano import gpuarray
from theano.gpuarray.array import GpuArray
from theano.gpuarray.lifting import gpu_optimizer, op_lifter
from theano.gpuarray.programs import SIZE, SSIZE
from theano.gpuarray.variables import as_gpuarray_variable
from theano.rewriting.userdefined import TopoOptimizer, optdb
from theano.tensor.type import TensorType


def safe_to_gpu(x: Any, ctx_name: str | None) -> Any:
    """Return a tensor moved to a device; anything else as it is.

    Examples
    --------
    >>> import theano.tensor as T
    >>> safe_to_gpu(T.fvector("x"), "dev0").type, safe_to_gpu(3, "dev0")
    (GpuArrayType<dev0>(float32, vector), 3)
    """
    return as_gpuarray_variable(x, ctx_name) if type(getattr(x, "type", None)) is TensorType else x


def register_opt2(tracks: Sequence[Any], *tags: str, **kwargs: Any) -> Callable[[Any], Any]:
    """Return a decorator that registers a function such as `op_lifter` takes, or a rule, and returns it as it is.

    Parameters
    ----------
    tracks : list of Op or of classes of ops
    *tags : str
    name : str, optional

    Examples
    --------
    >>> import theano.tensor as T
    >>> def of_dot(op, context_name, inputs, outputs):
    ...     return None
    >>> register_opt2([T.Dot])(of_dot) is of_dot
    True
    >>> gpu_optimizer.remove("of_dot_graph")
    """

    def register(maker: Any) -> Any:
        name = kwargs.get("name") or f"{getattr(maker, 'name', None) or maker.__name__}_graph"
        rule = maker if hasattr(maker, "transform") else op_lifter(tracks)(maker)
        gpu_optimizer.register(name, rule, "fast_run", "gpuarray", *tags)
        return maker

    return register


def register_inplace(*tags: str, **kwargs: Any) -> Callable[[Any], Any]:
    """Return a decorator that registers a rule which lets an op on a device overwrite an input.

    Parameters
    ----------
    *tags : str
    name : str, optional

    Examples
    --------
    >>> from theano.rewriting.userdefined import local_optimizer
    >>> rule = local_optimizer(None)(lambda node: False)
    >>> register_inplace(name="never_in_place")(rule) is rule
    True
    >>> optdb.remove("never_in_place")
    """

    def register(rule: Any) -> Any:
        name = kwargs.get("name") or getattr(rule, "name", None) or rule.__name__
        optdb.register(name, TopoOptimizer(rule, "in_to_out"), 60, "fast_run", "inplace", "gpuarray", *tags)
        return rule

    return register


def get_ctype(dtype: Any) -> str:
    """Return what a kernel's host calls the type of an argument.

    Examples
    --------
    >>> get_ctype("*"), get_ctype("size"), get_ctype("float32")
    ('gpudata *', 'size_t', 'npy_float32')
    """
    if dtype is GpuArray or dtype == "*":
        return "gpudata *"
    return {SIZE: "size_t", SSIZE: "ssize_t"}.get(dtype) or f"npy_{np.dtype(dtype).name}"


def gpuarray_helper_inc_dir() -> str:
    """Return the folder of the words that kernels are written with.

    Examples
    --------
    >>> "users.h" in os.listdir(gpuarray_helper_inc_dir())
    True
    """
    return os.path.join(os.path.dirname(str(gpuarray.__file__)), "dialect")
