"""What annotations call the variables that stand for single numbers, and what becomes one.

For type checkers alone: no module loads it when a program runs.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from theano.graph.apply import Apply
from theano.graph.variable import Variable
from theano.scalar.variable import ScalarOperators

#: A variable of a scalar type, with the operators of numbers.
Number: TypeAlias = ScalarOperators
#: What `as_scalar` makes a variable of.
NumberLike: TypeAlias = Variable | Apply | complex | np.generic | np.ndarray
