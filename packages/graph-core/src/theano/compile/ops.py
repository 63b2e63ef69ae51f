"""``theano.compile.ops``: see :mod:`theano.compile.plumbing_ops` and :mod:`theano.compile.from_function`."""

from __future__ import annotations

from theano.compile.from_function import FromFunctionOp, as_op
from theano.compile.plumbing_ops import DeepCopyOp, OutputGuard, ViewOp, deep_copy_op, view_op

__all__ = ["DeepCopyOp", "FromFunctionOp", "OutputGuard", "ViewOp", "as_op", "deep_copy_op", "view_op"]
