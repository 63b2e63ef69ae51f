"""Which dtype comes out: every pair of dtypes, every operation of two arguments, every policy that is documented.

What is expected is said here anew, from NumPy's own sums and from what the flags are documented to do.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import theano.scalar as ts
from theano.scalar.dtypes import all_dtypes
from theano.scalar.registry import OPS
from theano.settings import change_flags

BINARY = sorted(
    {op.op_name for op in OPS.values()
     if isinstance(op, ts.DefinedOp) and op.module == "theano.scalar" and op.nin in (-1, 2)}
)  # fmt: skip
PAIRS = list(product(all_dtypes, repeat=2))
SETTINGS = [("custom", "float64"), ("custom", "float32"), ("numpy+floatX", "float64"), ("numpy+floatX", "float32"),
            ("numpy+floatX", "float16")]  # fmt: skip
WIDTH = {"float16": 2, "float32": 4, "float64": 8}


def meet(a: str, b: str, policy: str, floatx: str) -> str:
    """Return the dtype of NumPy's sum of arrays; at most floatX where no input was a wider float ("numpy+floatX")."""
    found = (np.zeros(1, a) + np.zeros(1, b)).dtype.name
    asked = max(WIDTH.get(a, 0), WIDTH.get(b, 0))
    if policy == "numpy+floatX" and found in WIDTH and asked <= WIDTH[floatx] < WIDTH[found]:
        return floatx
    return found


def as_float(dtype: str) -> str:
    """Return the float in which functions of a dtype are computed: float32 holds integers of 16 bits."""
    if np.dtype(dtype).kind not in "biu":
        return dtype
    return "float32" if np.dtype(dtype).itemsize <= 2 else "float64"


def wanted(name: str, a: str, b: str, policy: str, floatx: str) -> str | None:
    """Return the dtype that an operation gives, or None where it refuses."""
    kinds = np.dtype(a).kind + np.dtype(b).kind
    both = meet(a, b, policy, floatx)
    whole = all(kind in "biu" for kind in kinds)
    if name in ("lt", "gt", "le", "ge", "eq", "neq"):
        return "bool"
    if name in ("and_", "or_", "xor"):
        return both if whole and np.dtype(both).kind in "biu" else None
    if name == "second":
        return b
    if name in ("complex", "complex_from_polar"):
        return None if "c" in kinds else (np.zeros(1, both) + np.zeros(1, "complex64")).dtype.name
    if name in ("add", "mul", "maximum", "minimum"):
        return both
    if name == "sub":
        return None if both == "bool" else both
    if name == "true_div":
        return floatx if whole else both
    if name in ("int_div", "mod"):
        return None if "c" in kinds else "int8" if both == "bool" else both
    if name == "pow":
        return "int8" if both == "bool" else both
    if name in ("fmax", "fmin"):
        return None if "c" in kinds else both
    # functions of real numbers
    return None if "c" in kinds else meet(as_float(a), as_float(b), policy, floatx)


def found(op: Any, a: str, b: str) -> str | None:
    try:
        return str(op(ts.get_scalar_type(a)("x"), ts.get_scalar_type(b)("y")).type.dtype)
    except TypeError:
        return None


@pytest.mark.parametrize("policy, floatx", SETTINGS)
@pytest.mark.parametrize("name", BINARY)
def test_every_pair(name: str, policy: str, floatx: str) -> None:
    with change_flags(cast_policy=policy, floatX=floatx):
        wrong = [(a, b, found(OPS[name], a, b), wanted(name, a, b, policy, floatx)) for a, b in PAIRS]
    assert [w for w in wrong if w[2] != w[3]] == []


DISCRETE = [d for d in all_dtypes if np.dtype(d).kind in "biu"]


@pytest.mark.parametrize("floatx", ["float64", "float32", "float16"])
@pytest.mark.parametrize("a, b", list(product(DISCRETE, repeat=2)))
def test_quotients_of_integers(a: str, b: str, floatx: str) -> None:
    x, y = ts.get_scalar_type(a)("x"), ts.get_scalar_type(b)("y")
    with change_flags(floatX=floatx, int_division="int"):
        both = (np.zeros(1, a) + np.zeros(1, b)).dtype.name
        assert ts.div_proxy(x, y).dtype == ("int8" if both == "bool" else both)
    with change_flags(floatX=floatx, int_division="floatX"):
        assert ts.div_proxy(x, y).dtype == floatx
    with change_flags(floatX=floatx, int_division="raise"), pytest.raises(ts.IntegerDivisionError, match="x // y"):
        ts.div_proxy(x, y)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("setting", ["int", "floatX", "raise"])
def test_quotients_of_floats_ask_no_flag(dtype: str, setting: str) -> None:
    with change_flags(int_division=setting, floatX="float32"):
        assert ts.div_proxy(ts.get_scalar_type(dtype)("x"), ts.int8("i")).dtype == dtype
        assert ts.div_proxy(ts.complex64("z"), ts.int8("i")).dtype == "complex64"


# What a Python number becomes: the first of the dtypes that holds it, or as autocast_float_as says.
NUMBERS = [(1, "int8"), (-128, "int8"), (128, "int16"), (40000, "int32"), (2**31, "int64"), (True, "int8")]


@pytest.mark.parametrize("value, dtype", NUMBERS)
def test_whole_numbers_take_the_least_dtype(value: Any, dtype: str) -> None:
    assert np.result_type(ts.constant(value).dtype, "int8").name == dtype


@pytest.mark.parametrize("floatx", ["float64", "float32"])
@pytest.mark.parametrize("variable", ["float16", "float32", "float64", "int8", "int64"])
def test_a_number_beside_a_variable(variable: str, floatx: str) -> None:
    x = ts.get_scalar_type(variable)("x")
    with change_flags(floatX=floatx):
        # 0.5 is exact in every float; 0.1 is not: it becomes a floatX.
        half, tenth = ts.constant(0.5).dtype, ts.constant(0.1).dtype
        assert tenth == floatx
        assert (x * 0.5).dtype == (np.zeros(1, variable) + np.zeros(1, half)).dtype.name
        assert (x * 0.1).dtype == (np.zeros(1, variable) + np.zeros(1, floatx)).dtype.name
    for dtype in ("float32", "float64"):
        with change_flags(floatX=floatx), ts.autocast_float_as(dtype):
            assert ts.constant(0.1).dtype == ts.constant(0.5).dtype == dtype
            assert (x + 0.1).dtype == (np.zeros(1, variable) + np.zeros(1, dtype)).dtype.name


def test_the_first_float_that_holds_a_number() -> None:
    numbers = (0.5, 2.0**-20 + 1, 2.0**-40 + 1)
    with ts.autocast_float_as("float16", "float32", "float64"):
        # float16 only for those who have asked for it.
        assert [ts.constant(v).dtype for v in numbers] == ["float32", "float32", "float64"]
        with change_flags(floatX="float16"):
            assert [ts.constant(v).dtype for v in numbers] == ["float16"] * 3
    with ts.autocast_float_as("float32"), change_flags(floatX="float64"):
        assert {ts.constant(v).dtype for v in numbers} == {"float32"}


def test_numpy_numbers_keep_their_dtype() -> None:
    for dtype in all_dtypes:
        assert ts.constant(np.dtype(dtype).type(1)).dtype == dtype
