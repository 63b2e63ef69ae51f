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
from theano.graph.op import Op

PureOp = Op

__all__ = [
    "Op", "PureOp", "TestValueError", "compute_test_value", "debug_assert", "debug_error_message", "get_debug_values",
    "get_test_value", "missing_test_message",
]  # fmt: skip
