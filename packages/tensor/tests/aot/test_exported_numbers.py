"""Whole numbers that wrap and complex numbers have the function's bits in exported C, as docs/library/export.md says."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import theano
import theano.tensor as T

WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]
DRAW = np.random.RandomState(5)


def whole(dtype):
    x, y, A = T.vector("x", dtype=dtype), T.vector("y", dtype=dtype), T.matrix("A", dtype=dtype)
    made = [
        x + y, x * y, x - y, -x, abs(x), x * x * y, x * y + x - y * 3, x**3, x // y, x % y, x.sum(dtype=dtype), x.prod(dtype=dtype),
        T.cumsum(x), T.dot(A, A), T.dot(A, x[:5]), T.dot(x, y), T.inc_subtensor(x[1:], y[1:]), T.cast(x, "int8") * T.cast(y, "int8"),
        theano.scan(lambda a, total: total * a + T.cast(3, dtype), x, T.ones((), dtype))[0],
    ]  # fmt: skip
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = np.array([low, high, low + 1, high - 1, 1, 2, 3, high // 2 + 1, high // 3] * 5, dtype)
    others = np.where(np.roll(values, 3) == 0, 7, np.roll(values, 3)).astype(dtype)
    return [x, y, A], made, (values, others, values[:25].reshape(5, 5))


def complex_numbers(dtype):
    x, y = T.vector("x", dtype=dtype), T.vector("y", dtype=dtype)
    made = [
        x * y, x / y, x * y * x + y, x.sum(), x.prod(), abs(x), T.sqr(x), T.conj(x) * y, T.exp(x), x * 2.5, T.real(x) * y,
        (x * y).sum(), (x * T.conj(x)).mean(), T.sqrt(x), T.log(x), T.sin(x) * T.tanh(y), T.cumsum(x), T.cumprod(x),
    ]  # fmt: skip
    values, others = ((DRAW.randn(33) + 1j * DRAW.randn(33)).astype(dtype) for _ in range(2))
    values[:4] = complex(1e30, 1e30), complex(-0.0, 0), complex(0, -0.0), 1e-30
    return [x, y], made, (values, others)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The functions by dtype, their arguments, and the model of all."""
    functions, given = {}, {}
    folder = tmp_path_factory.mktemp("numbers") / "numbers"
    # The same options for both, as is promised: complex sines and tangents depend on them in the last digit.
    with theano.change_flags({"gcc.cxxflags": "-O1"}):
        for dtype in WHOLE + COMPLEX:
            inputs, made, given[dtype] = (whole if dtype in WHOLE else complex_numbers)(dtype)
            functions[dtype] = theano.function(inputs, made, on_unused_input="ignore")
        theano.export(functions, folder)
    spec = importlib.util.spec_from_file_location("numbers_of_a_model", folder / "numbers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return functions, given, module.Model()


@pytest.mark.parametrize("dtype", WHOLE + COMPLEX)
def test_bits(exported, dtype):
    functions, given, model = exported
    wanted, got = functions[dtype](*given[dtype]), getattr(model, dtype)(*given[dtype])
    for k, (a, b) in enumerate(zip(wanted, got, strict=True)):
        a = np.asarray(a)
        same = a.tobytes() == b.tobytes()
        if not same and dtype in COMPLEX:  # which NaN it is, the processor decides
            same = all(np.array_equal(*parts, equal_nan=True) for parts in ((a.real, b.real), (a.imag, b.imag)))
        assert same and a.dtype == b.dtype, (k, a, b)
    if dtype in WHOLE:
        x, y, A = given[dtype]
        with np.errstate(over="ignore"):
            for b, numpy in zip(got, (x + y, x * y, x - y, -x, np.abs(x), x * x * y), strict=False):
                assert np.array_equal(b, numpy)
            assert np.array_equal(got[13], (A[:, :, None] * A[None]).sum(axis=1, dtype=dtype))
            total, steps = np.ones((), dtype), []
            for a in x:
                steps.append(total := total * a + np.array(3, dtype))
            assert np.array_equal(got[-1], steps)
