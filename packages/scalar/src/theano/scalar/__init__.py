"""Numbers: their types, symbolic variables, and the operations on them.

Each operation is one statement (see :func:`scalar_op`) in the file of its family; it has a
NumPy form, mostly a C form, and a gradient. The tensor layer applies them to arrays.

Examples
--------
>>> import theano.scalar as ts
>>> x = ts.float64("x")
>>> y = ts.exp(x) + 1
>>> y.owner, y.type
(add(exp.0, ScalarConstant{1}), float64)
>>> ts.exp.impl(0.0)
np.float64(1.0)
"""
# ruff: noqa: F401 (this file is the public module: what it imports is what it offers)

from __future__ import annotations

from builtins import type as _class_of
from collections.abc import Callable
from types import ModuleType as _Module
from typing import Any

from theano.gradient import DisconnectedType, grad_not_implemented, grad_undefined
from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.type import Type
from theano.graph.variable import Constant, Variable
from theano.layers import enter as _enter
from theano.layers import lazily
from theano.layers.scalar import LAYER as _LAYER
from theano.scalar import canonical, complex_parts, exponential, probability, rounding, special, trigonometric
from theano.scalar.arithmetic import (
    ComplexError,
    IntegerDivisionError,
    div_proxy,
    int_or_true_div,
    mod_check,
)
from theano.scalar.base import BinaryScalarOp, ScalarOp, UnaryScalarOp
from theano.scalar.bitwise import and_, invert, or_, xor
from theano.scalar.casting import Cast, cast
from theano.scalar.cbody import CBody
from theano.scalar.comparison import InRange
from theano.scalar.composite import Composite
from theano.scalar.convert import (
    NumpyAutocaster,
    as_common_dtype,
    as_scalar,
    autocast_float,
    autocast_float_as,
    autocast_int,
    constant,
    convert,
    upcast,
)
from theano.scalar.define import DefinedOp, scalar_op
from theano.scalar.define import arguments as example_arguments
from theano.scalar.dtypes import (
    all_dtypes,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
)
from theano.scalar.output_types import (
    float_out,
    float_out_nocomplex,
    int_out,
    int_out_nocomplex,
    real_out,
    same_out,
    same_out_float_only,
    same_out_min8,
    same_out_nobool,
    same_out_nocomplex,
    specific_out,
    transfer_type,
    unary_out_lookup,
    upcast_out,
    upcast_out_min8,
    upcast_out_no_complex,
    upcast_out_nobool,
    upgrade_to_float,
    upgrade_to_float64,
    upgrade_to_float_no_complex,
)
from theano.scalar.registry import OPS
from theano.scalar.rounding import round_half_away_from_zero_, round_half_away_from_zero_vec
from theano.scalar.type import (
    Scalar,
    all_types,
    complex_types,
    continuous_types,
    discrete_types,
    float_types,
    get_scalar_type,
    int_types,
    integer_types,
    uint_types,
)
from theano.scalar.variable import ScalarConstant, ScalarOperators, ScalarVariable
from theano.settings import config

# The types by name, as NumPy has them: these hide Python's own `bool`, and, with the operations below,
# `complex`, `pow` and others. Modules of this package import what they need from its files instead.
bool = get_scalar_type("bool")
int8, int16, int32, int64 = int_types
uint8, uint16, uint32, uint64 = uint_types
float16, float32, float64 = float_types
complex64, complex128 = complex_types

LogicalComparison = FixedLogicalComparison = DefinedOp
UnaryBitOp = _class_of(invert)
BinaryBitOp = DefinedOp
_scalar_py_operators = ScalarOperators

# Every operation under its name and its aliases, and its class. The files of the families are the list.
for _name, _op in OPS.items():
    globals()[_name] = _op
    if isinstance(_op, DefinedOp):
        globals()[_class_of(_op).__name__] = _class_of(_op)
ScalarMaximum = Maximum = _class_of(OPS["maximum"])
ScalarMinimum = Minimum = _class_of(OPS["minimum"])
inv, reciprocal = OPS["inv"], OPS["inv"]
Inv = _class_of(inv)


def _plural(scalar_type: Scalar) -> Callable[..., Any]:
    def variables(*names: str) -> Any:
        made = [scalar_type(name) for name in (names[0] if len(names) == 1 else names)]
        return made[0] if len(made) == 1 else made

    variables.__doc__ = f"""Return one {scalar_type} variable for each name, or for each letter of a single one.

    Parameters
    ----------
    *names : str

    Examples
    --------
    >>> import theano.scalar as ts
    >>> ts.floats("x", "y"), ts.floats("xy")
    ([x, y], [x, y])
    """
    return variables


ints, floats, complexs = _plural(int64), _plural(float64), _plural(complex128)
complexes = complexs

imported_scipy_special = True


__getattr__, __dir__ = lazily(globals(), {"sharedvar": "theano.scalar.sharedvar"})

_enter(_LAYER)

# `from theano.scalar import *` must not put our modules in the place of Python's names.
__all__ = [name for name, value in globals().items() if not name.startswith("_") and not isinstance(value, _Module)]
