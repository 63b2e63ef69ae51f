"""Types of scalars: values, names, promotion."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import theano.scalar as ts
from theano.errors import NumberRangeError
from theano.graph import BufferSpec
from theano.scalar import dtypes
from theano.settings import change_flags

THIRTEEN = [d for d in dtypes.all_dtypes if d != "float16"]
PAIRS = list(itertools.product(dtypes.all_dtypes, repeat=2))


@pytest.mark.parametrize("dtype", dtypes.all_dtypes)
def test_type_has_a_name_a_code_and_values(dtype: str) -> None:
    scalar = getattr(ts, dtype)
    assert scalar is ts.get_scalar_type(dtype) and scalar == ts.Scalar(dtype) and hash(scalar) == hash(ts.Scalar(dtype))
    assert str(scalar) == dtype and scalar.buffer_spec() == BufferSpec(dtype, 0, (), True)
    assert pickle.loads(pickle.dumps(scalar)) == scalar
    x = scalar("x")
    assert x.type == scalar and x.name == "x" and x.dtype == dtype and x.ndim == 0
    value = scalar.filter(1)
    assert type(value) is np.dtype(dtype).type and scalar.filter(value, strict=True) is value
    assert scalar.is_valid_value(value) and not scalar.is_valid_value("one")
    assert scalar.get_size(scalar.get_shape_info(value)) == np.dtype(dtype).itemsize


def test_filter() -> None:
    with pytest.raises(TypeError, match="float32"):
        ts.float32.filter(np.float64(1), strict=True)
    with pytest.raises(TypeError, match="allow_downcast=True"):
        ts.float32.filter(0.1)
    assert ts.float32.filter(0.1, allow_downcast=True) == np.float32(0.1)
    assert ts.float64.filter(0.1) == 0.1 and np.isnan(ts.float32.filter(float("nan")))
    with pytest.raises(TypeError):
        ts.int8.filter(300)
    assert ts.int8.filter(300, allow_downcast=True) == 44
    with pytest.raises(TypeError, match="complex"):
        ts.float64.filter(1j)
    with pytest.raises(TypeError):
        ts.float64.filter(np.zeros(1))
    assert ts.int64.filter(np.array(3)) == 3
    with change_flags(floatX="float32"):
        assert ts.float32.filter(0.1) == np.float32(0.1)
        with pytest.raises(TypeError):
            ts.float32.filter(0.1, allow_downcast=False)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_promotion_is_numpys(a: str, b: str) -> None:
    wanted = np.promote_types(a, b).name
    assert ts.upcast(a, b) == wanted
    x, y = ts.get_scalar_type(a)("x"), ts.get_scalar_type(b)("y")
    assert ts.add(x, y).dtype == ts.mul(x, y).dtype == wanted
    assert ts.lt(x, y).dtype == "bool"
    numpy_forms = [(ts.sub, np.subtract), (ts.int_div, np.floor_divide), (ts.mod, np.remainder), (ts.pow, np.power),
                   (ts.and_, np.bitwise_and), (ts.maximum, np.maximum)]  # fmt: skip
    for op, function in numpy_forms:
        try:
            expected = function(np.ones((), a), np.ones((), b)).dtype.name
        except TypeError:
            with pytest.raises(TypeError):
                op(x, y)
            continue
        if op is ts.maximum and "complex" in a + b:
            continue  # NumPy orders complex numbers by their real parts; Theano refuses
        assert op(x, y).dtype == expected, op
    # Of integers a floatX, as documented; NumPy would make a float16 of two int8.
    both_discrete = a in dtypes.discrete_dtypes and b in dtypes.discrete_dtypes
    assert ts.true_div(x, y).dtype == ("float64" if both_discrete else wanted)


def test_policy_numpy_floatx() -> None:
    with change_flags(cast_policy="numpy+floatX", floatX="float32"):
        assert ts.upcast("int32", "float32") == "float32"
        assert ts.upcast("int64", "float64") == "float64"
        assert ts.upcast("uint64", "int64") == "float32"
        assert ts.constant(1).dtype == "int64" and ts.constant(1.5).dtype == "float32"
        assert (ts.int8("i") + 1).dtype == "int64"
        ends = (-(2**63), 2**63 - 1, 2**63, 2**64 - 1)
        assert [ts.constant(v).dtype for v in ends] == ["int64", "int64", "uint64", "uint64"]
    assert ts.upcast("int32", "float32") == "float64"


def test_autocast_of_python_numbers() -> None:
    found = [
        ts.constant(v).dtype for v in (1, -200, 40000, 2**40, 2**63, True, 0.5, 0.1, 1j, np.float16(1), np.uint8(3))
    ]
    assert found == [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint64",
        "bool",
        "float32",
        "float64",
        "complex128",
        "float16",
        "uint8",
    ]
    assert (ts.float32("x") + 1).dtype == "float32" and (ts.int8("i") + 1).dtype == "int8"
    with change_flags(floatX="float32"):
        assert ts.constant(0.1).dtype == "float32" and (ts.float32("x") * 0.1).dtype == "float32"
    with ts.autocast_float_as("float32"):
        assert ts.constant(0.1).dtype == "float32"
    assert ts.constant(0.1).dtype == "float64"


@pytest.mark.parametrize(
    ("value", "dtype", "shown"),
    [
        (2**70, None, "1180591620717411303424 does not fit in int64 or uint64. "),
        (-(2**63) - 1, None, "-9223372036854775809 does not fit in int64 or uint64. "),
        (-(10**60), None, "a whole number of 200 bits does not fit in int64 or uint64. "),
        ([2**70] * 3, "int8", f"{[2**70] * 3} does not fit in int8. "),
        ([2**70] * 4, "int8", f"{str([2**70] * 4)[:76]} ... does not fit in int8. "),
    ],
)
def test_numbers_that_no_dtype_holds(value: Any, dtype: str | None, shown: str) -> None:
    with pytest.raises(NumberRangeError) as caught:
        ts.convert(value, dtype)
    assert str(caught.value).startswith(shown) and isinstance(caught.value, OverflowError)


@pytest.mark.parametrize("dtype", dtypes.all_dtypes)
def test_numbers_that_differ_by_rounding_only(dtype: str) -> None:
    """Against NumPy: relative and absolute tolerance are added up; what is not finite must be equal."""
    numbers = [0, 1, 2, 100, 101] if dtype == "bool" or dtype[0] in "iu" else [
        0.0, 1e-9, 1e-4, 1.0, 1.000002, 1.001, 2.0, 1000.0, 1000.001, 1000.2, 1100.0, np.inf, -np.inf, np.nan]  # fmt: skip
    scalar = getattr(ts, dtype)
    relative, absolute = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "complex64": (1e-4, 1e-5)}.get(dtype, (1e-5, 1e-8))
    for a, b in itertools.product(np.array(numbers).astype(dtype), repeat=2):
        exact = dtype in dtypes.discrete_dtypes
        for tolerance in (None, 0.01):
            within = (relative, absolute) if tolerance is None else (tolerance, tolerance)
            wanted = a == b if exact else np.isclose(a, b, *within, equal_nan=True)
            assert scalar.values_eq_approx(a, b, tolerance=tolerance) == wanted, (a, b, tolerance)


def test_constants_are_told_apart_by_their_bits() -> None:
    nan = ts.constant(float("nan"))
    assert nan.equals(ts.constant(float("nan")))
    assert not ts.constant(0.0).equals(ts.constant(-0.0))
    assert not ts.constant(1, dtype="int8").equals(ts.constant(1, dtype="int16"))


def test_as_scalar() -> None:
    x = ts.float64("x")
    assert ts.as_scalar(x) is x and ts.as_scalar(ts.exp(x).owner).owner.op == ts.exp
    for wrong in ("x", None, [1, 2], object()):
        with pytest.raises(TypeError):
            ts.as_scalar(wrong)


def test_groups_of_types() -> None:
    assert [t.dtype for t in ts.int_types] == list(ts.int_dtypes) and ts.bool in ts.discrete_types
    assert set(ts.all_types) == set(ts.discrete_types) | set(ts.continuous_types) and len(ts.all_types) == 14
    assert len(THIRTEEN) == 13


def test_truth_value_is_an_error() -> None:
    with pytest.raises(TypeError, match="switch"):
        bool(ts.float64("x") < 1)


def test_operators_of_variables() -> None:
    x, i = ts.float64("x"), ts.int64("i")
    ops = [x + 1, 1 - x, x * x, x / 2, x // 2, x % 2, 2**x, -x, abs(x), x < 1, x >= 1, i & 3, i | 3, i ^ 3, ~i, 1 / x]
    names = ["add", "sub", "mul", "true_div", "int_div", "mod", "pow", "neg", "abs_", "lt", "ge", "and_", "or_", "xor",
             "invert", "true_div"]  # fmt: skip
    assert [v.owner.op.name for v in ops] == names
    assert x.zeros_like("int8").dtype == "int8" and x.astype("float32").dtype == "float32" and x.astype("float64") is x


@pytest.mark.parametrize("rule", [ts.same_out_nobool, ts.upcast_out_nobool])
def test_rules_that_refuse_booleans(rule) -> None:
    with pytest.raises(TypeError):
        rule(ts.bool)
    assert rule(ts.int8) == (ts.int8,)
