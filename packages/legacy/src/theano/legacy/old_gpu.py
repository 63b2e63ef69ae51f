"""Whether the GPU backend of Theano before 1.0 can be used: programs ask, and it is not there.

Examples
--------
>>> from theano.sandbox.cuda import cuda_available, dnn
>>> cuda_available, dnn.dnn_available()
(False, False)
"""

from __future__ import annotations

cuda_available = cuda_enabled = False


def dnn_available() -> bool:
    """Return False: nothing here calls cuDNN."""
    return False
