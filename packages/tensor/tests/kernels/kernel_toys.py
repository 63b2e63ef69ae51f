"""Nodes for kernels, without the modules that define tensor ops: kernels look only at attributes and types."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.type import BufferSpec, Generic, Type
from theano.graph.variable import Constant
from theano.lowering.table import lowerings

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
VIEW = {"view_map": {0: [0]}}


class Array(Type):
    """A tensor type with no behaviour."""

    __props__ = ("dtype", "broadcastable")

    def __init__(self, dtype: str, broadcastable: tuple[bool, ...]):
        self.dtype, self.broadcastable, self.ndim = dtype, tuple(broadcastable), len(broadcastable)

    def buffer_spec(self) -> BufferSpec:
        return BufferSpec(self.dtype, self.ndim, self.broadcastable)


class Toy(Op):
    """An op with whatever attributes a kernel asks for."""

    def __init__(self, label: str = "Toy", **attributes: Any):
        self.label = label
        self.__dict__.update(attributes)

    def __str__(self) -> str:
        return self.label


def like(array: np.ndarray, broadcastable: tuple[bool, ...] | None = None):
    """Return a variable for an array, by default with no dimension known to be 1."""
    return Array(array.dtype.name, broadcastable or (False,) * array.ndim)()


class Stretching(np.ndarray):
    """An array for a variable whose type says which of its lengths are 1."""


def stretching(array: np.ndarray) -> np.ndarray:
    """Return the same array, marked so that `node` makes a variable that may be repeated along its axes of length 1."""
    return array.view(Stretching)


def object_constant(value: Any) -> Constant:
    """Return a constant that is no array: None, a slice."""
    return Constant(Generic(), value)


def node(op: Op, inputs: list, outputs: list[tuple[str, int | tuple[bool, ...]]]) -> Apply:
    """Return a node from arrays or variables to outputs given as (dtype, ndim or pattern)."""
    variables = [
        like(i, tuple(n == 1 for n in i.shape) if isinstance(i, Stretching) else None) if isinstance(i, np.ndarray) else i
        for i in inputs
    ]
    patterns = [(d, (False,) * b if isinstance(b, int) else b) for d, b in outputs]
    return Apply(op, variables, [Array(d, b)() for d, b in patterns])


def is_accepted(kernel_of: Any, made: Apply) -> bool:
    """Return whether an entry of the lowering table whose nodes become ``kernel_of`` accepts a node's operands."""
    entries = [entry for entry in lowerings() if entry.becomes is kernel_of]
    assert entries, kernel_of
    return any(entry.accepts is None or entry.accepts.fits(made) for entry in entries)


def text_op(expression: str, support: tuple[str, ...] = (), **attributes: Any) -> Any:
    """Return a stand-in for a scalar operation: C with {0}, {1} for the inputs."""
    lines = expression if isinstance(expression, (list, tuple)) else [expression]

    def c_statements(in_names, in_dtypes, out_names, out_dtypes):
        text = [f"{o} = {line.format(*in_names)};" for o, line in zip(out_names, lines, strict=True)]
        return SimpleNamespace(lines=text, support=support)

    return SimpleNamespace(c_statements=c_statements, **{"identity": None, **attributes})
