"""Run pytest on some tests of some files: a script in place of ``python -m pytest``, and the plugin that it adds.

Thousands of tests on a command line, each found by its id, take pytest longer than the tests. A test that a mutant has
made vanish does not count: in a run of all tests nobody would miss it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    parser.addoption("--chosen", metavar="FILE", help="the ids of the tests that run, one a line, in this order")
    parser.addoption("--collected", metavar="FILE", help="where to write the ids of the tests that run")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the chosen ones of what the options of conftest.py leave."""
    if file := config.getoption("chosen"):
        order = {name: k for k, name in enumerate(_read(file))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])
    if file := config.getoption("collected"):
        Path(file).write_text("\n".join(item.nodeid for item in items), encoding="utf-8")


def _read(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8").split("\n")


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as python -m pytest has it
    sys.exit(pytest.main(sys.argv[1:], plugins=[sys.modules[__name__]]))
