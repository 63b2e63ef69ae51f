"""Ops of PyTensor that run as they are, by their own ``perform``, in the midst of a compiled program."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.scalar.basic import ScalarType

import theano.tensor as T
from theano.graph import Apply, Op
from theano_pytensor.types import type_of

log = logging.getLogger("theano_pytensor")


class Performed(Op):
    """One node of PyTensor, computed by PyTensor.

    Parameters
    ----------
    node : pytensor Apply
        Says what is computed, and of which types.

    Notes
    -----
    Inputs that the op would overwrite are copied for it, and so are outputs that may be views of inputs: our machine
    decides for itself what is overwritten.
    """

    __props__ = ("node",)

    def __init__(self, node: Any):
        self.node = node
        self.op = node.op
        self.overwritten = {i for places in (node.op.destroy_map or {}).values() for i in places}
        self.views = set(node.op.view_map or {})
        self.scalars = [i for i, v in enumerate(node.inputs) if isinstance(v.type, ScalarType)]
        self.arrays = [k for k, v in enumerate(node.outputs) if type(type_of(v.type)) is T.TensorType]
        self.thunk_only = type(node.op).perform is _NO_PERFORM

    def __str__(self) -> str:
        return f"Performed{{{self.op}}}"

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node for variables that stand for the inputs of PyTensor's."""
        return Apply(self, list(inputs), [type_of(v.type).make_variable() for v in self.node.outputs])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Let PyTensor compute."""
        given = list(inputs)
        for i in self.overwritten:
            given[i] = copy.deepcopy(given[i])
        for i in self.scalars:
            given[i] = given[i][()]
        cells: list[list[Any]] = [[None] for _ in output_storage]
        if self.thunk_only:
            self._by_thunk(given, cells)
        else:
            self.op.perform(self.node, given, cells)
        for k in self.views:
            cells[k][0] = copy.copy(cells[k][0])
        for k in self.arrays:
            cells[k][0] = np.asarray(cells[k][0], dtype=self.node.outputs[k].type.dtype)
        for cell, made in zip(output_storage, cells, strict=True):
            cell[0] = made[0]

    def _by_thunk(self, inputs: Sequence[Any], cells: Sequence[list[Any]]) -> None:
        """Compute with what the op makes of its own to be called: C, or something lazy."""
        node = self.node
        storage = {v: [value] for v, value in zip(node.inputs, inputs, strict=True)}
        storage.update(zip(node.outputs, cells, strict=True))
        computed = {v: [v in set(node.inputs)] for v in storage}
        self.op.make_thunk(node, storage, computed, [])()


def _no_perform() -> Any:
    from pytensor.graph.op import Op as PyTensorOp

    return PyTensorOp.perform


_NO_PERFORM = _no_perform()


def performed(node: Any, inputs: Sequence[Any], why: str, level: int = logging.INFO) -> list[Any]:
    """Return the outputs of a node that PyTensor computes, and log that it does."""
    log.log(level, "%s runs as PyTensor's own perform: %s", node.op, why)
    return list(Performed(node)(*inputs, return_list=True))
