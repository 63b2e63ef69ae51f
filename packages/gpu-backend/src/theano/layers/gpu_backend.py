"""What the GPU layer says of itself before it is imported."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from theano.compile.shared import constructors
from theano.extensions import extension
from theano.graph.pointers import PointerFamily, pointer_families
from theano.layers import CHECKS, LOWERINGS, RULES, Layer, describe

_GPU = "theano.gpuarray"


def _of(module: str, name: str, *args: Any) -> Any:
    """Call a function of a module, which is loaded for it."""
    return getattr(importlib.import_module(f"{_GPU}.{module}"), name)(*args)


def _knows(value: object) -> bool:
    """Return whether a value is an array on a device; before the import of this layer, it is not."""
    array: Any = sys.modules.get(f"{_GPU}.array")
    return array is not None and isinstance(value, array.GpuArray)


def _find_pointer(name: str) -> int:
    """Return the address of a device function."""
    found: int = _of("context", "find_pointer", name)
    return found


def _start() -> None:
    """Start the devices that the flags name."""
    _of("start", "start_by_flags")


LAYER = describe(
    Layer(
        "theano-gpu-backend",
        _GPU,
        names={"theano.gpuarray": _GPU},
        knows=_knows,
        start=_start,
        extensions=(
            pointer_families.extension("gpu", PointerFamily(_find_pointer, lambda: str(_of("context", "identity")))),
            extension(LOWERINGS, "theano.tensor", ("theano.gpuarray.lowering",)),
            constructors.extension(lambda value, **options: _of("start", "shared_by_flags", value, options)),
            extension(CHECKS, "devices", lambda: _of("checks", "doctor")),
            extension(RULES, "theano.gpuarray.rules", None),
        ),
    )
)
