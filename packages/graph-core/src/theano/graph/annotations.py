"""What annotations call the things that ops are handed, and what they answer.

For type checkers alone: no module loads it when a program runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from theano.graph.apply import Apply

#: What a variable holds when a function runs: any object that its type accepts.
Value: TypeAlias = Any
#: What some variables hold, in their order.
Values: TypeAlias = Sequence[Value]
#: Where the value of one variable lies: a list of one element, which is None before there is a value.
Cell: TypeAlias = list[Value]
#: The cells that an op fills, one for each output of its node.
Storage: TypeAlias = Sequence[Cell]

#: A node as whoever looks at all nodes is handed it, and an op. An op knows of which op and of which variables its own
#: nodes are, and says so where it overrides a method: ``Apply[Dot, Tensor]``.
Node: TypeAlias = Apply[Any, Any]
#: Variables of a node, of the classes that its op knows. An override says which: ``Sequence[Tensor]``.
Operands: TypeAlias = Sequence[Any]
