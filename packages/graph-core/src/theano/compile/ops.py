"""``theano.compile.ops``: see ``plumbing_ops``, ``from_function`` and, with a layer of arrays, its shape ops."""

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


def __getattr__(name: str) -> Any:
    return layers.attribute("theano.compile", name)


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
