"""``theano.compile.ops``: see ``plumbing_ops``, ``from_function`` and, with the layer of arrays, its shape ops."""

from __future__ import annotations

from typing import Any

from theano import layers
from theano.compile.from_function import FromFunctionOp, as_op
from theano.compile.plumbing_ops import (
    DeepCopyOp,
    OutputGuard,
    ViewOp,
    deep_copy_op,
    register_deep_copy_op_c_code,
    register_view_op_c_code,
    view_op,
)

_FROM_TENSOR = {
    "Rebroadcast", "Shape", "Shape_i", "SpecifyShape", "register_rebroadcast_c_code", "register_shape_c_code",
    "register_shape_i_c_code", "register_specify_shape_c_code", "shape", "shape_i", "specify_shape",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _FROM_TENSOR:
        return getattr(layers.load("tensor"), name)
    raise AttributeError(f"theano.compile.ops has no attribute {name!r}")


__all__ = [
    "DeepCopyOp",
    "FromFunctionOp",
    "OutputGuard",
    "ViewOp",
    "as_op",
    "deep_copy_op",
    "register_deep_copy_op_c_code",
    "register_view_op_c_code",
    "view_op",
]
