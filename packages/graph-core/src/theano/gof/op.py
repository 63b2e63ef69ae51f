"""``theano.gof.op``: see :mod:`theano.graph.op`."""

from __future__ import annotations

from theano.compile.test_values import (
    compute_test_value,
    debug_assert,
    debug_error_message,
    get_debug_values,
    get_test_value,
    missing_test_message,
)
from theano.errors import TestValueError
from theano.graph.c_contract import CLinkerOp
from theano.graph.external_op import ExternalCOp, OpenMPOp, get_io_macros, get_sub_macros
from theano.graph.op import Op

PureOp = Op
COp = ExternalCOp  # here the one with files; `theano.graph.op.COp` is the one without

__all__ = [
    "CLinkerOp",
    "COp",
    "ExternalCOp",
    "Op",
    "OpenMPOp",
    "PureOp",
    "TestValueError",
    "compute_test_value",
    "debug_assert",
    "debug_error_message",
    "get_debug_values",
    "get_io_macros",
    "get_sub_macros",
    "get_test_value",
    "missing_test_message",
]  # fmt: skip
