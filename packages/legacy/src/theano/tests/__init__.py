"""Tools for those who test their own ops; and ``python -m theano.tests``, which runs tests.

`unittest_tools` has test cases for shapes and gradients, `test_rop` one for directions, `breakpoint` starts the debugger
inside a function; `main` is the program ``theano-nose``, and ``theano.test()``.
"""

from __future__ import annotations

from theano.graph.source import user_packages
from theano.tests.main import test

# Nodes that these tools make are said to come from where they make them.
user_packages.extension("theano.tests").enter()

__all__ = ["test"]
