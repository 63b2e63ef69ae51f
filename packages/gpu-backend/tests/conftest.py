"""Tests of the GPU layer run on the device that GPU_TEST_DEVICE names: ``opencl0:0`` without it, `nox -s "tests(gpu-backend)"` chooses PoCL."""

from __future__ import annotations

import os

import pytest

from theano import gpuarray


@pytest.fixture(scope="session", autouse=True)
def context():
    """Start the default context, once."""
    name = None
    return gpuarray.get_context(name) if name in list(gpuarray.list_contexts()) else gpuarray.init_dev(os.environ.get("GPU_TEST_DEVICE", "opencl0:0"))
