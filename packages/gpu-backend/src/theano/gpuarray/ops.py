"""Ops on devices under the names that programs and documentation look for (`theano.gpuarray.placement`)."""

from __future__ import annotations

from typing import Any

from theano.gpuarray.placement import named_classes


def __getattr__(name: str) -> Any:
    found = next((cls for cls in named_classes().values() if cls.__name__ == name), None)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted(cls.__name__ for cls in named_classes().values())
