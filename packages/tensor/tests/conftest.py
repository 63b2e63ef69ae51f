"""The helpers that tests of this layer share lie beside them: oracle, arrays, cases; tables of element-wise ops, in elemwise."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
# Others read the tables of test_elemwise.
sys.path[:0] = [str(HERE), str(HERE / "elemwise")]


def pytest_ignore_collect(collection_path, config):
    """Leave the tests of the fake target to runs that have it: ``-p fake_target.plugin``."""
    return True if collection_path.name == "fake_target" and not config.pluginmanager.has_plugin("fake_target.plugin") else None
