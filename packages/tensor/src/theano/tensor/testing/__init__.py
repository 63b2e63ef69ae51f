"""For users who write ops: `check_op` tries all that an op promises, and says what does not hold."""

from __future__ import annotations

from theano.tensor.testing.check import check_op
from theano.tensor.testing.report import Finding, OpFault, OpReport

__all__ = ["Finding", "OpFault", "OpReport", "check_op"]
