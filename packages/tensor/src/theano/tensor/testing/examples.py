"""Examples of an op's inputs: values, the variables that stand for them, and the node that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theano.compile.shared import shared
from theano.graph import Apply, Op, Type, Variable, generic
from theano.tensor.type import TensorType


class Fault(Exception):
    """An op does not keep what it promises."""


@dataclass
class Example:
    """An op with inputs.

    Attributes
    ----------
    values : list
    variables : list of Variable
        One for each value, of its type.
    node : Apply
        What the op makes of the variables.
    fixed : frozenset of int
        The inputs of which no other values are tried.
    """

    values: list[Any]
    variables: list[Any]
    node: Apply
    fixed: frozenset[int] = frozenset()

    @property
    def outputs(self) -> list[Variable]:
        """The outputs of the node."""
        return self.node.outputs

    @property
    def floating(self) -> list[int]:
        """The inputs that are arrays of floating point."""
        return [i for i, v in enumerate(self.variables) if _kind(v.type) == "f"]

    @property
    def arrays(self) -> list[int]:
        """The inputs that are arrays."""
        return [i for i, v in enumerate(self.variables) if isinstance(v.type, TensorType)]


def _kind(kind: Type) -> str:
    return str(kind.numpy_dtype.kind) if isinstance(kind, TensorType) else ""


def is_floating(v: Variable) -> bool:
    """Return whether a variable is an array of floating point."""
    return _kind(v.type) == "f"


def make_example(op: Op, values: Sequence[object]) -> Example:
    """Return an example: arrays become variables of their dtype, other values what `theano.shared` makes of them.

    Examples
    --------
    >>> import theano.tensor as T
    >>> make_example(T.exp, [[1.0, 2.0]]).node
    Elemwise{exp,no_inplace}(x0)
    """
    wanted = list(getattr(op, "itypes", ()) or ())
    filtered: list[Any] = []
    variables: list[Variable] = []
    for i, value in enumerate(values):
        kind = wanted[i] if i < len(wanted) else _type_of(value)
        filtered.append(kind.filter(value, allow_downcast=True))
        variables.append(kind.make_variable(f"x{i}"))
    return Example(filtered, variables, node_of(op, variables))


def node_of(op: Op, variables: Sequence[Variable]) -> Apply:
    """Return the node of an op on some variables."""
    outputs = op(*variables, return_list=True)
    node = outputs[0].owner
    assert isinstance(node, Apply)
    return node


def _type_of(value: object) -> Type:
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex, list, tuple)):
        array = np.asarray(value)
        if array.dtype.kind in "biufc":
            return TensorType(array.dtype.name, (False,) * array.ndim)
    try:
        made: Type = shared(value, borrow=True).type  # of a layer above, which knows its values
    except TypeError:
        return generic
    return made


def sampled(op: Op, rng: np.random.RandomState) -> list[np.ndarray]:
    """Return random inputs for an op with ``itypes``: each axis of a tensor has a length of its own.

    Raises
    ------
    TypeError
        The op has none, or one of them is no tensor.
    """
    found = []
    for kind in getattr(op, "itypes", None) or ():
        if not isinstance(kind, TensorType):
            raise TypeError(f"check_op cannot make up a value of type {kind}; give inputs: check_op(op, [...])")
        shape = [1 if one else n for n, one in zip(range(2, 2 + kind.ndim), kind.broadcastable, strict=True)]
        numbers = rng.uniform(0.5, 1.5, size=shape)
        found.append(np.asarray(numbers if kind.numpy_dtype.kind in "fc" else numbers * 4, kind.numpy_dtype))
    if not found:
        raise TypeError("check_op needs to know what the op is applied to: check_op(op, [array, ...])")
    return found
