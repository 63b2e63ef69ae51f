"""Ops of PyTensor that run as they are, by their own ``perform``, in the midst of a compiled program."""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytensor.graph.basic as pb
from pytensor.graph.op import Op as PyTensorOp
from pytensor.graph.type import Type as PyTensorType
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.basic import as_tensor
from pytensor.tensor.type import lscalar

import theano.tensor as T
from theano.graph import Apply, Op
from theano.graph.canonical import NoCanonicalForm, register_form
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
        self.thunk_only = type(node.op).perform is PyTensorOp.perform

    def __str__(self) -> str:
        return f"Performed{{{self.op}}}"

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node for variables that stand for the inputs of PyTensor's."""
        return Apply(self, list(inputs), [type_of(v.type).make_variable() for v in self.node.outputs])

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the lengths of outputs as PyTensor infers them, so that shapes alone need no computation."""
        from theano_pytensor.convert import translate  # which makes nodes of this op

        known = dict(zip((*self.node.inputs, *self.node.outputs), (*node.inputs, *node.outputs), strict=True))
        asked: list[Any] = []
        for v, lengths in zip(self.node.inputs, shapes, strict=True):
            # A length of 1 that is not known as such may not be stretched.
            asked.append([lscalar() if n is None else as_tensor(n) for n in getattr(v.type, "shape", ())])
            known.update((n, x) for n, x in zip(asked[-1], lengths, strict=False) if n.owner is None)
        try:
            found = self.op.infer_shape(self.node, asked)
        except Exception as exc:  # noqa: BLE001  (it has no such method, or says in a way of its own that it cannot)
            log.debug("%s says nothing of shapes: %s", self.op, exc)
            return [None] * len(node.outputs)
        flat = [as_tensor(n) for k in self.arrays for n in found[k] or ()]
        made = iter(translate(flat, known))
        return [
            tuple(T.cast(next(made), "int64") for _ in lengths) if k in self.arrays and lengths is not None else None
            for k, lengths in enumerate(found)
        ]

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


def performed(node: Any, inputs: Sequence[Any], why: str, level: int = logging.INFO) -> list[Any]:
    """Return the outputs of a node that PyTensor computes, and log that it does."""
    log.log(level, "%s runs as PyTensor's own perform: %s", node.op, why)
    return list(Performed(node)(*inputs, return_list=True))


# -- the same node in another process ------------------------------------------------------------------------

#: Whose ops and types are known by their names and attributes, so that programs with them are kept in the cache.
PACKAGES = frozenset({"pytensor", "pymc", "pymc_extras"})


def _write(thing: Any) -> tuple[Any, ...]:
    """Return what an op or a type is: its class, of which version, and all attributes."""
    kind = type(thing)
    package = kind.__module__.partition(".")[0]
    if package not in PACKAGES or _class(kind.__module__, kind.__qualname__) is not kind:
        raise NoCanonicalForm(f"{kind.__module__}.{kind.__qualname__} is of no package that is known")
    attributes = {key: value for key, value in vars(thing).items() if key != "_tag"}
    return sys.modules[package].__version__, kind.__module__, kind.__qualname__, attributes


def _read(parts: tuple[Any, ...]) -> Any:
    _, module, name, attributes = parts
    made = object.__new__(_class(module, name))
    vars(made).update(attributes)
    return made


def _class(module: str, name: str) -> Any:
    found: Any = import_module(module) if module.partition(".")[0] in PACKAGES else None
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type) or not issubclass(found, (PyTensorOp, PyTensorType)):
        raise NoCanonicalForm(f"{module}.{name} is no op or type of PyTensor's")
    return found


def _write_node(thing: Performed) -> tuple[Any, ...]:
    node = thing.node
    given = [(v.type, v.data) if isinstance(v, pb.Constant) else (v.type,) for v in node.inputs]
    return node.op, given, [v.type for v in node.outputs]


def _read_node(parts: tuple[Any, ...]) -> Performed:
    op, given, made = parts
    inputs = [kind.make_constant(*value) if value else kind() for kind, *value in given]
    return Performed(pb.Apply(op, inputs, [kind() for kind in made]))


for _kind in (PyTensorOp, PyTensorType):
    register_form(_kind, f"pytensor.{_kind.__name__}", _write, _read, subclasses=True)
register_form(Performed, "theano_pytensor.Performed", _write_node, _read_node)
