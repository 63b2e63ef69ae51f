"""The graph of an expression: variables, the nodes that compute them, and ways to walk and change both.

Nothing in here knows arrays, dtypes or generated code. A :class:`~theano.graph.type.Type` says which values
a variable may hold, an :class:`~theano.graph.op.Op` says what is computed, an
:class:`~theano.graph.apply.Apply` joins an op to its inputs and outputs.
"""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.type import BufferSpec, Generic, Type, generic
from theano.graph.variable import Constant, Variable

# `from theano.graph import *` also brings these modules.
_MODULES = ["basic", "fg", "op", "opt", "optdb", "toolbox", "type", "utils"]

__all__ = [
    "Apply", "BufferSpec", "Constant", "FunctionGraph", "Generic", "Op", "Type", "Variable", "generic",
    *_MODULES,
]  # fmt: skip
