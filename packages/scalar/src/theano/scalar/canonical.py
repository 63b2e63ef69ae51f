"""NumPy's values and this layer's operations in the form that is the same in each process."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from theano.graph.canonical import NoCanonicalForm, fact_finders, is_ours, register_form
from theano.scalar.composite import Composite
from theano.scalar.define import DefinedOp
from theano.scalar.output_types import _Parametrised
from theano.scalar.registry import OPS

if TYPE_CHECKING:
    from theano.graph.op import Op
    from theano.scalar.type import Scalar

#: The memory order of the elements of an array.
Order: TypeAlias = Literal["C", "F"]


def _write_dtype(dtype: np.dtype[Any]) -> str:
    if dtype.kind not in "biufc" or not dtype.isnative or dtype.metadata:
        raise NoCanonicalForm(f"arrays of {dtype} have no canonical form")
    return dtype.str


def _write_array(array: np.ndarray) -> tuple[str, tuple[int, ...], Order, bytes]:
    # The order in memory is part of a value here: results may be laid out as their inputs are.
    if not array.flags.forc:
        raise NoCanonicalForm("a non-contiguous array has no canonical form")
    order: Order = "C" if array.flags.c_contiguous else "F"
    return _write_dtype(array.dtype), array.shape, order, array.tobytes(order)


def _read_array(parts: tuple[str, tuple[int, ...], Order, bytes]) -> np.ndarray:
    dtype, shape, order, data = parts
    # A copy: an array that views bytes is read-only, and not aligned for certain.
    return np.frombuffer(data, dtype).reshape(shape, order=order).copy(order=order)


def _write_op(op: DefinedOp) -> tuple[str, str, Any, Any]:
    """Name an operation that is a statement: its class has no name that Python could find it by."""
    cls, state = type(op), op.__dict__
    if not is_ours(cls.module) or type(OPS.get(cls.op_name)) is not cls:
        raise NoCanonicalForm(f"the operation {cls.op_name} of {cls.module} is not one of ours")
    if not state.keys() <= {"name", "output_types_preference"}:
        raise NoCanonicalForm(f"the operation {cls.op_name} has been given more attributes")
    return cls.module, cls.op_name, state.get("output_types_preference"), state.get("name")


def _read_op(parts: tuple[str, str, Any, Any]) -> Op:
    module, op_name, preference, name = parts
    if op_name not in OPS and module.startswith("theano."):
        importlib.import_module(module)
    defined = OPS[op_name]
    if preference is None and name == defined.name:
        return defined
    return type(defined)(preference, name)


def _read_rule(parts: tuple[type, dict[str, tuple[Scalar, ...]]]) -> Any:
    cls, state = parts
    if not issubclass(cls, _Parametrised):
        raise TypeError(f"{cls} is no rule of types")
    rule = cls.__new__(cls)
    rule.__dict__.update(state)
    return rule


register_form(np.dtype, "dtype", _write_dtype, np.dtype, subclasses=True)
register_form(np.ndarray, "array", _write_array, _read_array)
register_form(
    np.generic, "number", lambda x: (_write_dtype(x.dtype), x.tobytes()), lambda p: np.frombuffer(p[1], p[0])[0],
    subclasses=True,
)  # fmt: skip
register_form(DefinedOp, "scalar", _write_op, _read_op, subclasses=True)
register_form(Composite, "composite", lambda op: op.program, Composite.from_program)
register_form(
    _Parametrised, "types", lambda rule: (type(rule), rule.__dict__), _read_rule, subclasses=True
)


def _scipy() -> str:
    """Return what SciPy says about its version, without importing it: it computes some constants."""
    spec = importlib.util.find_spec("scipy")
    if spec is None or not spec.submodule_search_locations:
        return ""
    try:
        with open(os.path.join(spec.submodule_search_locations[0], "version.py"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return str(spec.origin)


fact_finders.register("numpy", lambda: np.__version__)
fact_finders.register("scipy", _scipy)
