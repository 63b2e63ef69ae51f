"""How devices are started, by the flags or by a call, and what follows from that for functions and shared variables."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from theano.gpuarray.context import GpuContext, get_context, init_dev, is_started
from theano.gpuarray.errors import DeviceMemoryError, GpuUnavailableError
from theano.gpuarray.variables import gpuarray_shared_constructor
from theano.messages import logger
from theano.rewriting.phases import phases
from theano.settings import config

_PASSES = ("gpuarray_opt", "gpu_lifters", "gpu_names")
_DEFAULT = frozenset({"fast_run", "fast_compile"})

# Whether shared variables go to the default context.
_values_there = False


def use(
    device: str,
    force: bool = False,
    default_to_move_computation_to_gpu: bool = True,
    move_shared_to_gpu: bool = True,
    name: str | None = None,
    preallocate: float | None = None,
    print_active_device: bool | None = None,
) -> GpuContext | None:
    """Start a device, and let functions and shared variables use it.

    Parameters
    ----------
    device : str
        ``cuda``, ``cudaN``, ``opencl`` or ``openclN:M``.
    force : bool
        Raise if it cannot be used; otherwise the error is logged, and everything is computed on the CPU.
    default_to_move_computation_to_gpu : bool
        Functions compute on it what they can.
    move_shared_to_gpu : bool
        ``theano.shared`` keeps arrays on it.
    name : str, optional
        Of the context; the default one without.
    preallocate : float, optional
        Memory to take at the start, as the flag ``gpuarray.preallocate``: `GpuContext.preallocate`.
    print_active_device : bool, optional
        Say which device was started.

    Raises
    ------
    GpuUnavailableError
        With ``force``: it cannot be used.
    DeviceMemoryError
        With ``force``: there is less memory than is to be taken.
    """
    global _values_there
    try:
        known = is_started(name)
        context = get_context(name) if known else init_dev(device, name)
        if not known or preallocate is not None:
            context.preallocate(config.gpuarray.preallocate if preallocate is None else preallocate)
    except (GpuUnavailableError, DeviceMemoryError) as problem:
        if force:
            raise
        logger.error("theano: the device %s cannot be used: %s", device, problem)
        return None
    if print_active_device if print_active_device is not None else config.print_active_device:
        print(f"Mapped name {name} to device {device}: {context.devname}", file=sys.stderr)
    if default_to_move_computation_to_gpu:
        for each in _PASSES:
            if each not in phases:
                continue  # the rules for programs were not requested
            phases.set_tags(each, phases.tags(each) | _DEFAULT)
    _values_there |= move_shared_to_gpu
    return context


def start_by_flags() -> None:
    """Start the devices that the flags ``contexts``, ``device`` and ``init_gpu_device`` name.

    With ``contexts`` alone no context is the default: a node with an operand on a device is computed there, and
    everything else on the CPU.
    """
    force = config.force_device
    for part in filter(None, config.contexts.split(";")):
        name, _, device = part.partition("->")
        use(device, force, True, False, name)
    if config.device != "cpu":
        use(config.device, force)
    elif config.init_gpu_device:
        use(config.init_gpu_device, force, False, False)


def shared_by_flags(value: Any, options: dict[str, Any]) -> Any:
    """Return a shared variable on a device, for a value and options of `theano.shared` that are to be there.

    Raises
    ------
    TypeError
        They are not: another constructor is asked.
    """
    target = options.get("target", Ellipsis)
    wanted = _values_there if target is Ellipsis else is_started(target)
    if not wanted or not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        if type(value).__name__ == "GpuArray":
            return gpuarray_shared_constructor(value, **{"target": value.context_name, **options})
        raise TypeError("not for a device")
    return gpuarray_shared_constructor(value, **options)
