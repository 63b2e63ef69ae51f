"""Leaves the tests out, with a reason, where PyTensor is not installed or does not run."""

from __future__ import annotations

import sys

import pytest

if sys.version_info < (3, 12):
    collect_ignore_glob = ["test_*.py"]
else:
    try:
        import pytensor  # noqa: F401
    except ImportError:
        collect_ignore_glob = ["test_*.py"]


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say why nothing is collected."""
    return "theano-pytensor: needs Python 3.12 and PyTensor, no test of it runs" if "pytensor" not in sys.modules else None
