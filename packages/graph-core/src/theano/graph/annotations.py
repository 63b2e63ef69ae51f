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
#: The storage of one variable's value: a list of one element, which is None before the value exists.
Cell: TypeAlias = list[Value]
#: The cells that an op fills, one for each output of its node.
Storage: TypeAlias = Sequence[Cell]

#: A node of any op, for code that visits all nodes. An op knows the classes of its own nodes and of their variables,
#: and states them where it overrides a method: ``Apply[Dot, Tensor]``.
Node: TypeAlias = Apply[Any, Any]
#: Variables of a node, of the classes that its op knows. An override says which: ``Sequence[Tensor]``.
Operands: TypeAlias = Sequence[Any]
