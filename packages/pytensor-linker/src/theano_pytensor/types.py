"""Types: which of ours stands for one of PyTensor's, and how a variable is made to fit one."""

from __future__ import annotations

import sys
from functools import singledispatch
from importlib import import_module
from typing import Any

from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import TensorType
from pytensor.tensor.type_other import NoneTypeT, SliceType

import theano.tensor as T
from theano.graph import Generic, Type
from theano.tensor.type_other import none_type_t, slicetype

generic = Generic()

#: Entries for what a program may not have imported, by the module of the classes that they are about.
OPTIONAL = {
    "pytensor.sparse": "theano_pytensor.ops.sparse",
    "pytensor.xtensor": "theano_pytensor.ops.named_dimensions",
    "pymc.distributions": "theano_pytensor.ops.of_pymc",
    "pymc.math": "theano_pytensor.ops.of_pymc",
}


def now_registered(kind: type) -> bool:
    """Import the entries for a class of an optional module, if there are some; return whether that was done now.

    PyTensor imports its own sparse matrices for most models, which have none: ours would take 15 ms more.
    """
    for module, entries in OPTIONAL.items():
        if kind.__module__.startswith(module) and entries not in sys.modules:
            import_module(entries)
            return True
    return False


@singledispatch
def type_of(kind: Any) -> Any:
    """Return the type of ours that stands for one of PyTensor's; any value may be of the one for those not known.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> type_of(pt.tensor("float64", shape=(1, None)).type)
    TensorType(float64, row)
    """
    return type_of(kind) if now_registered(type(kind)) else generic


@type_of.register(TensorType)
def _(kind: TensorType) -> Type:
    if now_registered(type(kind)):  # a class derived from this one
        return type_of(kind)
    return T.TensorType(kind.dtype, [length == 1 for length in kind.shape])


@type_of.register(ScalarType)
def _(kind: ScalarType) -> Type:
    return T.TensorType(kind.dtype, ())


@type_of.register(SliceType)
def _(kind: SliceType) -> Type:
    return slicetype


@type_of.register(NoneTypeT)
def _(kind: NoneTypeT) -> Type:
    return none_type_t


def cast(x: Any, dtype: str) -> Any:
    """Return ``x`` with elements of another dtype; of complex numbers the real parts, where it is real."""
    if x.type.dtype == dtype:
        return x
    if x.type.dtype.startswith("complex") and not dtype.startswith("complex"):
        x = T.real(x)
    return T.cast(x, dtype)


def fitted(x: Any, kind: Any, exact: bool = False) -> Any:
    """Return a variable of ours with the dtype and the known lengths of 1 that a type of PyTensor declares.

    Parameters
    ----------
    x : Variable
    kind : pytensor Type
    exact : bool
        Whether lengths of 1 that only our type knows are forgotten.

    Raises
    ------
    NotImplementedError
        It has another number of dimensions, or is no tensor.
    """
    wanted = type_of(kind)
    if x.type == wanted:
        return x
    if type(wanted) is not T.TensorType or not isinstance(x.type, T.TensorType):
        raise NotImplementedError(f"{x} of type {x.type} cannot stand for a {kind}")
    if x.type.ndim != wanted.ndim:
        raise NotImplementedError(f"{x} has {x.type.ndim} dimensions in place of {wanted.ndim}")
    x = cast(x, wanted.dtype)
    flags = wanted.broadcastable
    if not exact:
        flags = tuple(a or b for a, b in zip(flags, x.type.broadcastable, strict=True))
    return T.patternbroadcast(x, flags)
