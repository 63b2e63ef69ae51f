"""Makes the helpers of this folder importable, whatever import mode the tests are run in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def small():
    """Let kernels be those of the library with small sizes."""
    from kernel_harness import kernels_of, small_library  # where it is wanted

    from theano.settings import config

    with kernels_of(small_library()), config.change_flags(blas__gemm="own"):
        yield
