"""Every documented method and operator of a tensor variable: value and dtype against NumPy, compiled."""

from __future__ import annotations

import math
import operator
import weakref

import numpy as np
import pytest

import theano
import theano.tensor as T

A = np.array([[0.5, -0.25, 0.75], [0.1, 0.9, -0.6]])
P = np.abs(A) + 0.5  # what logarithms and roots take
B = np.array([[1.5, 2.0, -0.5], [3.0, 0.75, 2.5]])
I, J = np.array([[5, -3, 7], [2, 9, -4]]), np.array([[2, 3, 1], [6, 4, 2]])
Z = A + 1j * B
K = np.array([2, 0])

#: Method or operator: what is done, what NumPy does, and with which values. Both get the values, variable and arrays.
CASES = {
    "T": [(lambda x: x.T, None, A)],
    "__abs__": [(abs, None, A), (abs, None, I), (abs, None, Z)],
    "__add__": [(operator.add, None, A, B), (operator.add, None, I, B), (lambda x: x + 1, None, A), (lambda x: x + 1.5, None, A)],
    "__radd__": [(lambda x: 1.5 + x, None, A), (lambda x: 2 + x, None, I)],
    "__sub__": [(operator.sub, None, A, B), (operator.sub, None, I, J)],
    "__rsub__": [(lambda x: 1.5 - x, None, A), (lambda x: 2 - x, None, I)],
    "__mul__": [(operator.mul, None, A, B), (operator.mul, None, Z, B)],
    "__rmul__": [(lambda x: 1.5 * x, None, A), (lambda x: 2 * x, None, I)],
    "__div__": [(lambda x, y: x / y, None, A, B)],
    "__truediv__": [(operator.truediv, None, A, B), (operator.truediv, None, I, J)],
    "__rtruediv__": [(lambda x: 1.5 / x, None, A), (lambda x: 2 / x, None, I)],
    "__rdiv__": [(lambda x: 3.0 / x, None, A)],
    "__floordiv__": [(operator.floordiv, None, A, B), (operator.floordiv, None, I, J)],
    "__rfloordiv__": [(lambda x: 7 // x, None, I), (lambda x: 7.5 // x, None, B)],
    "__mod__": [(operator.mod, None, A, B), (operator.mod, None, I, J)],
    "__rmod__": [(lambda x: 7 % x, None, I), (lambda x: 7.5 % x, None, B)],
    "__divmod__": [(lambda x, y: divmod(x, y)[0], None, I, J), (lambda x, y: divmod(x, y)[1], None, I, J)],
    "__rdivmod__": [(lambda x: divmod(7, x)[0], None, I), (lambda x: divmod(7, x)[1], None, I)],
    "__pow__": [(operator.pow, None, P, B), (lambda x: x**2, None, I), (lambda x: x**3, None, A)],
    "__rpow__": [(lambda x: 2.0**x, None, A), (lambda x: 2**x, None, J)],
    "__and__": [(operator.and_, None, I, J), (operator.and_, None, I > 0, J > 2)],
    "__rand__": [(lambda x: 5 & x, None, I)],
    "__or__": [(operator.or_, None, I, J), (operator.or_, None, I > 0, J > 2)],
    "__ror__": [(lambda x: 5 | x, None, I)],
    "__xor__": [(operator.xor, None, I, J), (operator.xor, None, I > 0, J > 2)],
    "__rxor__": [(lambda x: 5 ^ x, None, I)],
    "__invert__": [(operator.invert, None, I), (operator.invert, None, I > 0)],
    "__neg__": [(operator.neg, None, A), (operator.neg, None, I), (operator.neg, None, Z)],
    "__ceil__": [(math.ceil, np.ceil, A), (lambda x: x.__ceil__(), np.ceil, A)],
    "__floor__": [(math.floor, np.floor, A), (lambda x: x.__floor__(), np.floor, A)],
    "__trunc__": [(math.trunc, np.trunc, B)],
    "__dot__": [(lambda x, y: x.__dot__(y.T), lambda x, y: x @ y.T, A, B)],
    "__rdot__": [(lambda x: x.__rdot__(B.T), lambda x: B.T @ x, A)],
    "__getitem__": [
        (lambda x: x[1], None, A), (lambda x: x[:, ::-1], None, A), (lambda x: x[-1, 0], None, A),
        (lambda x: x[..., None, 1:], None, A), (lambda x, k: x[:, k], None, A, K), (lambda x, b: x[b], None, A, A > 0),
    ],
    "__iter__": [(lambda x: T.stack(list(x.shape)[::-1]), lambda x: np.array(x.shape[::-1]), A)],
    "all": [(lambda x: x.all(), None, I > 0), (lambda x: x.all(axis=0), None, I > 0)],
    "any": [(lambda x: x.any(), None, I > 0), (lambda x: x.any(axis=1), None, I > 0)],
    "argmax": [(lambda x: x.argmax(), None, A), (lambda x: x.argmax(axis=1), None, A)],
    "argmin": [(lambda x: x.argmin(), None, A), (lambda x: x.argmin(axis=0), None, A)],
    "argsort": [(lambda x: x.argsort(), None, A), (lambda x: x.argsort(axis=0), None, A)],
    "astype": [(lambda x: x.astype("float32"), None, A), (lambda x: x.astype("int8"), None, B)],
    "choose": [(lambda k, x: k.choose(x), lambda k, x: k.choose(x), np.array([1, 0, 1]), A)],
    "clip": [(lambda x: x.clip(-0.2, 0.5), None, A), (lambda x: x.clip(0, 5), None, I)],
    "compress": [(lambda b, x: b.compress(x, axis=0), lambda b, x: x.compress(b, axis=0), np.array([True, False]), A)],
    "conj": [(lambda x: x.conj(), None, Z)],
    "conjugate": [(lambda x: x.conjugate(), None, Z)],
    "copy": [(lambda x: x.copy(), None, A)],
    "cumprod": [(lambda x: x.cumprod(), None, A), (lambda x: x.cumprod(axis=1), None, I)],
    "cumsum": [(lambda x: x.cumsum(), None, A), (lambda x: x.cumsum(axis=0), None, I)],
    "diagonal": [(lambda x: x.diagonal(), None, A), (lambda x: x.diagonal(1), None, A)],
    "dimshuffle": [(lambda x: x.dimshuffle(1, "x", 0), lambda x: x.T[:, None, :], A)],
    "dot": [(lambda x, y: x.dot(y.T), None, A, B)],
    "fill": [(lambda x, y: x.fill(y[0, 0]), lambda x, y: np.full_like(x, y[0, 0]), A, B)],
    "flatten": [(lambda x: x.flatten(), None, A), (lambda x: x.flatten(ndim=1), np.ravel, A)],
    "imag": [(lambda x: x.imag, None, Z)],
    "max": [(lambda x: x.max(), None, A), (lambda x: x.max(axis=0, keepdims=True), None, I)],
    "mean": [(lambda x: x.mean(), None, A), (lambda x: x.mean(axis=1), None, I)],
    "min": [(lambda x: x.min(), None, A), (lambda x: x.min(axis=1), None, I)],
    "nonzero": [(lambda x: x.nonzero()[0], None, I * (I > 0)), (lambda x: x.nonzero()[1], None, I * (I > 0))],
    "nonzero_values": [(lambda x: x.nonzero_values(), lambda x: x[np.nonzero(x)], I * (I > 0))],
    "norm": [
        (lambda x: x.norm(2), lambda x: np.sqrt(np.sum(x**2)), A), (lambda x: x.norm(1, axis=0), lambda x: np.abs(x).sum(0), A),
    ],
    "ones_like": [(lambda x: x.ones_like(), np.ones_like, A), (lambda x: x.ones_like(dtype="int8"), lambda x: np.ones_like(x, "int8"), A)],
    "zeros_like": [(lambda x: x.zeros_like(), np.zeros_like, I), (lambda x: x.zeros_like(dtype="int8"), lambda x: np.zeros_like(x, "int8"), A)],
    "prod": [(lambda x: x.prod(), None, A), (lambda x: x.prod(axis=0), None, I)],
    "ptp": [(lambda x: x.ptp(), np.ptp, A), (lambda x: x.ptp(axis=1), lambda x: np.ptp(x, axis=1), A)],
    "ravel": [(lambda x: x.ravel(), None, A)],
    "real": [(lambda x: x.real, None, Z)],
    "repeat": [(lambda x: x.repeat(2, axis=1), None, A), (lambda x: x.repeat(3), None, A)],
    "reshape": [(lambda x: x.reshape((3, 2)), None, A), (lambda x: x.reshape((-1,)), None, I)],
    "round": [(lambda x: x.round(mode="half_to_even"), np.round, B * 3)],
    "searchsorted": [(lambda x, y: x.searchsorted(y), None, np.sort(A.ravel()), B)],
    "shape": [(lambda x: x.shape, lambda x: np.array(x.shape), A)],
    "size": [(lambda x: x.size, lambda x: np.array(x.size), A)],
    "sort": [(lambda x: x.sort(), lambda x: np.sort(x), A), (lambda x: x.sort(axis=0), lambda x: np.sort(x, axis=0), I)],
    "squeeze": [(lambda x: x.dimshuffle(0, "x", 1).squeeze(), lambda x: x, A)],
    "std": [(lambda x: x.std(), None, A), (lambda x: x.std(axis=0), None, A)],
    "sum": [(lambda x: x.sum(), None, A), (lambda x: x.sum(axis=1, keepdims=True), None, I), (lambda x: x.sum(dtype="float32"), None, A)],
    "swapaxes": [(lambda x: x.swapaxes(0, 1), None, A)],
    "take": [(lambda x, k: x.take(k), None, A, K), (lambda x, k: x.take(k, axis=1), None, A, K)],
    "trace": [(lambda x: x.trace(), None, A[:, :2])],
    "transfer": [(lambda x: x.transfer("cpu"), lambda x: x, A)],
    "transpose": [(lambda x: x.transpose(), None, A), (lambda x: x.transpose(1, 0), None, A), (lambda x: x.transpose((1, 0)), None, A)],
    "var": [(lambda x: x.var(), None, A), (lambda x: x.var(axis=1, ddof=1), None, A)],
    **{
        name: [(operator.methodcaller(name), getattr(np, name), value)]
        for names, value in [
            ("arccos arcsin arctan arctanh arcsinh ceil cos cosh deg2rad exp exp2 expm1 floor rad2deg sin sinh tan tanh trunc", A),
            ("log log10 log1p log2 sqrt", P), ("arccosh", P + 1),
        ] for name in names.split()
    },
}  # fmt: skip

#: What is no expression: facts, and what Python asks of an object; in tests of their own below.
FACTS = {
    "__array_priority__", "__bool__", "__dict__", "__module__", "__nonzero__", "__weakref__", "broadcastable", "dtype",
    "get_scalar_constant_value", "ndim",
}  # fmt: skip

DOCUMENTED = set("""
    T __abs__ __add__ __and__ __array_priority__ __bool__ __ceil__ __dict__ __div__ __divmod__ __dot__ __floor__
    __floordiv__ __getitem__ __invert__ __iter__ __mod__ __module__ __mul__ __neg__ __nonzero__ __or__ __pow__ __radd__
    __rand__ __rdiv__ __rdivmod__ __rdot__ __rfloordiv__ __rmod__ __rmul__ __ror__ __rpow__ __rsub__ __rtruediv__
    __rxor__ __sub__ __truediv__ __trunc__ __weakref__ __xor__ all any arccos arccosh arcsin arcsinh arctan arctanh
    argmax argmin argsort astype broadcastable ceil choose clip compress conj conjugate copy cos cosh cumprod cumsum
    deg2rad diagonal dimshuffle dot dtype exp exp2 expm1 fill flatten floor get_scalar_constant_value imag log log10
    log1p log2 max mean min ndim nonzero nonzero_values norm ones_like prod ptp rad2deg ravel real repeat reshape round
    searchsorted shape sin sinh size sort sqrt squeeze std sum swapaxes take tan tanh trace transfer transpose trunc var
    zeros_like
""".split())


def test_every_documented_name_has_a_case_and_is_there():
    assert len(DOCUMENTED) == 118 and set(CASES) | FACTS == DOCUMENTED
    assert [name for name in sorted(DOCUMENTED) if not hasattr(T.dmatrix(), name)] == []


@pytest.mark.parametrize(
    ("ours", "numpys", "values"),
    [pytest.param(f, g or f, values, id=f"{name}-{k}") for name, cases in CASES.items() for k, (f, g, *values) in enumerate(cases)],
)
def test_value_and_dtype(ours, numpys, values):
    variables = [T.TensorType(str(x.dtype), (False,) * x.ndim)() for x in values]
    output = ours(*variables)
    f = theano.function(variables, output, on_unused_input="ignore")
    wanted = np.asarray(numpys(*values))
    found = f(*values)
    assert output.dtype == str(found.dtype) == str(wanted.dtype) and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, 1e-6 if wanted.dtype == "float32" else 1e-12, 1e-14)


@pytest.mark.parametrize("sign", ["+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^="])
def test_in_place_forms_rebind(sign):
    x, y = T.lmatrices("x", "y")
    names = {"x": x, "y": y}
    exec(f"x {sign} y", {}, names)
    assert names["x"] is not x and x.owner is None
    values = {"x": I.astype("float64") if sign == "/=" else abs(I), "y": J}
    given = abs(I) if sign != "/=" else I
    exec(f"x {sign} y", {}, values)
    found = theano.function([x, y], names["x"])(given, J)
    np.testing.assert_array_equal(found, values["x"] if sign != "/=" else I / J)
    assert found.dtype == ("float64" if sign == "/=" else "int64")


def test_facts():
    x = T.TensorType("float32", (True, False))("x")
    assert (x.ndim, x.dtype, x.broadcastable) == (2, "float32", (True, False))
    assert type(x).__module__ == "theano.tensor.var" and "name" in x.__dict__
    assert T.constant(3).get_scalar_constant_value() == 3
    with pytest.raises(theano.tensor.NotScalarConstantError):
        x.get_scalar_constant_value()
    assert isinstance(np.ones(3) + T.dvector(), T.TensorVariable)  # the priority of arrays
    assert weakref.ref(x)() is x


def test_truth_length_and_iteration_are_refused_as_documented():
    x = T.dvector("x")
    for asked in (bool, lambda v: v.__nonzero__(), lambda v: v and 1, lambda v: not v):
        for v in (x > 0, T.eq(x, 1), (x > 0) & (x < 1)):
            with pytest.raises(TypeError, match="boolean operations"):
                asked(v)
    with pytest.raises(TypeError, match="len"):
        len(x)
    with pytest.raises(TypeError, match="does not support iteration"):
        iter(x)


def test_a_symbol_is_there():
    for v in (T.dvector("x"), T.TensorType("bool", (False,))("mask"), theano.shared(np.zeros(2)), T.constant(0)):
        assert bool(v) is True
    with pytest.warns(UserWarning, match="is not None"):
        assert bool(T.bmatrix().sum()) is True
