"""The rules by which types of outputs follow from those of inputs, as they are documented."""

from __future__ import annotations

import numpy as np
import pytest

import theano.scalar as ts

B, I8, I16, I64, U8, F16, F32, F64, C64, C128 = (
    ts.bool, ts.int8, ts.int16, ts.int64, ts.uint8, ts.float16, ts.float32, ts.float64, ts.complex64, ts.complex128,
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "inputs", "wanted"),
    [
        (ts.upcast_out, (I8, F32), F32), (ts.upcast_out, (I64, F32), F64), (ts.upcast_out_min8, (B, B), I8),
        (ts.upcast_out_min8, (I16,), I16), (ts.upcast_out_no_complex, (U8, I8), I16), (ts.same_out, (C64,), C64),
        (ts.same_out_nobool, (I8,), I8), (ts.same_out_min8, (B,), I8), (ts.same_out_min8, (F16,), F16),
        (ts.same_out_nocomplex, (F32,), F32), (ts.same_out_float_only, (F16,), F16), (ts.upgrade_to_float, (I16,), F32),
        (ts.upgrade_to_float, (I64,), F64), (ts.upgrade_to_float, (C64,), C64), (ts.upgrade_to_float64, (I8,), F64),
        (ts.upgrade_to_float64, (F32,), F32), (ts.upgrade_to_float_no_complex, (F16,), F16), (ts.real_out, (C64,), F32),
        (ts.real_out, (I8,), I8), (ts.int_out, (F32, C64), I64), (ts.int_out_nocomplex, (F32,), I64),
        (ts.float_out, (I8,), F64), (ts.float_out_nocomplex, (I8,), F64), (ts.specific_out(I8), (C128,), I8),
        (ts.unary_out_lookup({I8: C64}), (I8,), C64), (ts.transfer_type(1), (I8, F32), F32),
    ],
)  # fmt: skip
def test_what_is_given(rule, inputs, wanted):
    assert rule(*inputs) == (wanted,)


@pytest.mark.parametrize(
    ("rule", "inputs", "words"),
    [
        (ts.upcast_out_no_complex, (F32, C64), "complex"), (ts.same_out_nocomplex, (C64,), "complex"),
        (ts.same_out_nobool, (B,), "booleans"), (ts.same_out_float_only, (I8,), "only floating inputs"),
        (ts.upgrade_to_float64, (C64,), "complex"), (ts.upgrade_to_float_no_complex, (C64,), "complex"),
        (ts.int_out_nocomplex, (C64,), "complex"), (ts.float_out_nocomplex, (C64,), "complex"),
        (ts.unary_out_lookup({I8: C64}), (F32,), "no output type is given for float32"),
    ],
)  # fmt: skip
def test_what_is_refused(rule, inputs, words):
    with pytest.raises(TypeError, match=words):
        rule(*inputs)


def test_rules_with_parameters_are_equal_by_them():
    for kind in (ts.specific_out, ts.transfer_type):
        assert kind(I8) == kind(I8) != kind(F32) and hash(kind(I8)) == hash(kind(I8))
    assert ts.unary_out_lookup({I8: F32}) == ts.unary_out_lookup({I8: F32}) != ts.unary_out_lookup({I8: F64})


def test_rounding_of_numbers_and_arrays():
    at = np.array([-2.5, -0.5, -0.4, 0.0, 0.49999999999999994, 0.5, 1.5, 2.5, np.inf])
    wanted = np.array([-3.0, -1.0, -0.0, 0.0, 0.0, 1.0, 2.0, 3.0, np.inf])
    np.testing.assert_array_equal(ts.round_half_away_from_zero_vec(at), wanted)
    assert [ts.round_half_away_from_zero_(x) for x in at] == wanted.tolist()


def test_dtypes_of_python_numbers():
    caster = ts.NumpyAutocaster(("int8", "int16"))
    assert [caster(n).dtype for n in (1, 127, 128, np.int64(1))] == ["int8", "int8", "int16", "int64"]
    assert ts.autocast_int(2**40).dtype == "int64" and ts.autocast_float(1.5).dtype in ("float16", "float32", "float64")
    assert issubclass(ts.IntegerDivisionError, Exception)
