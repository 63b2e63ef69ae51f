"""Functions of NumPy: the same values, shapes and dtypes, by either name, and derivatives by differences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy_cases import FAMILIES, Case

import theano
import theano.tensor as T
from theano.tensor.composed import COUNTERPARTS, FUNCTIONS, OF_MATRICES


def _expected(case: Case) -> np.ndarray:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(case.compute(np, *case.arrays))


@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_those_of_numpy(family):
    inputs, values, outputs, wanted = [], [], [], []
    for case in FAMILIES[family]:
        variables = [T.TensorType(a.dtype, [False] * a.ndim)() for a in map(np.asarray, case.arrays)]
        if case.name == "a row":
            variables[0] = T.row()
        inputs += variables
        values += case.arrays
        for namespace in (T, np):
            outputs.append(T.as_tensor_variable(case.compute(namespace, *variables)))
            wanted.append((case.name, namespace.__name__, _expected(case)))
    results = theano.function(inputs, outputs, on_unused_input="ignore", mode="FAST_COMPILE")(*values)
    for (name, namespace, want), found in zip(wanted, results, strict=True):
        where = f"{namespace}: {name}"
        assert (found.shape, found.dtype) == (want.shape, want.dtype), where
        close = {"rtol": 1e-5, "atol": 1e-6} if want.dtype == "float32" else {"rtol": 1e-10, "atol": 1e-12}
        np.testing.assert_allclose(found, want, err_msg=where, **close)


def test_every_function_has_a_case():
    asked = " ".join(case.name for cases in FAMILIES.values() for case in cases)
    code = " ".join(" ".join(map(str, c.compute.__code__.co_names)) for cases in FAMILIES.values() for c in cases)
    own = {"atleast_1d", "put_along_axis", "digamma"}  # below
    again = {"cross", "diagonal", "matmul", "outer", "tensordot", "tensorsolve", "trace", "vecdot"}  # those of theano.tensor
    assert [n for n in (*FUNCTIONS, *OF_MATRICES) if n not in asked + code and n not in own | again] == []
    assert "numpy.linalg.inv" in COUNTERPARTS and "numpy.put_along_axis" not in COUNTERPARTS


def test_functions_that_numpy_has_otherwise():
    x, at = T.dmatrix(), np.array([[1], [0]])
    scalar = T.dscalar()
    put = T.put_along_axis(x, at, 9.0, 1)
    flat = T.put_along_axis(x, np.array([5, 1]), [7.0, 8.0], None)
    f = theano.function([x, scalar], [put, flat, T.atleast_1d(scalar), T.digamma(scalar)], mode="FAST_COMPILE")
    value = np.arange(6.0).reshape(2, 3)
    found = f(value, 1.0)
    np.testing.assert_array_equal(found[0], [[0, 9, 2], [9, 4, 5]])
    np.testing.assert_array_equal(found[1], [[0, 8, 2], [3, 4, 7]])
    np.testing.assert_array_equal(found[2], [1.0])
    np.testing.assert_allclose(found[3], -np.euler_gamma)


def test_lengths_may_be_expressions():
    x, n = T.dmatrix(), T.iscalar()
    around = ((n, 1), (0, n))
    outputs = [T.pad(x, around, mode="wrap"), T.linspace(0.0, 1.0, n), T.pad(x, n), T.quantile(x, T.true_div(n, 10))]
    value = np.arange(6.0).reshape(2, 3)
    found = theano.function([x, n], outputs)(value, 3)
    wanted = np.pad(value, ((3, 1), (0, 3)), mode="wrap"), np.linspace(0, 1, 3), np.pad(value, 3), np.quantile(value, 0.3)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want)


_AT = np.array([[0, 0], [1, 2], [3, 3], [4, 0]])
_OF_MATRIX = {
    **{mode: lambda x, m=mode: T.pad(x, 3, mode=m) for mode in (
        "constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap",
    )},
    "odd": lambda x: T.pad(x, 6, mode="reflect", reflect_type="odd"),
    "linspace": lambda x: T.linspace(x, 2 * x, 5), "geomspace": lambda x: T.geomspace(abs(x), 2 * abs(x) + 1, 5),
    "quantile": lambda x: T.quantile(x, [0.1, 0.6], axis=1), "median": T.median,
    "logaddexp": lambda x: T.logaddexp(x, 2 * x - 1), "where equal": lambda x: T.logaddexp(x, x), "sinc": T.sinc,
    "nan_to_num": lambda x: T.nan_to_num(x) * x, "nanvar": lambda x: T.nanvar(x, axis=0),
    "take": lambda x: T.take_along_axis(x, _AT, 1), "put": lambda x: T.put_along_axis(x, _AT[:, :1], x[:, :1] ** 2, 1),
    "interp": lambda x: T.interp(x, np.arange(-4.0, 5.0), np.arange(-4.0, 5.0) ** 2),
    "its values": lambda x: T.interp(np.array([0.3, 1.7]), np.arange(5.0), x[0]),
    "average": lambda x: T.average(x, 0, abs(x)), "corrcoef": T.corrcoef, "trapezoid": lambda x: T.trapezoid(x, x[0]),
    "einsum": lambda x: T.einsum("ij,kj,kl->il", x, x, x), "kron": lambda x: T.kron(x, x),
    "vecdot": lambda x: T.vecdot(x, x * x), "norm": lambda x: T.linalg.norm(x, 3, axis=1),
}  # fmt: skip
_OF_STACK = {
    **{name: getattr(T.linalg, name) for name in ("cholesky", "inv", "det", "eigvalsh", "svdvals", "cond", "pinv")},
    "slogdet": lambda x: T.linalg.slogdet(x)[1], "solve": lambda x: T.linalg.solve(x, x[:, ::-1] ** 2),
    "qr": lambda x: T.linalg.qr(x).R, "nuc": lambda x: T.linalg.matrix_norm(x, ord="nuc"),
    "power": lambda x: T.linalg.matrix_power(x, -2), "eigh": lambda x: T.linalg.eigh(x).eigenvectors ** 2,
    "stacks": lambda x: T.einsum("bij,bjk,bki->b", x, x, x), "diagonals": lambda x: T.einsum("bii->b", x),
    "cross": lambda x: T.cross(x, x[:, ::-1]),
}  # fmt: skip


@pytest.mark.parametrize("expressions, ndim", [(_OF_MATRIX, 2), (_OF_STACK, 3)])
def test_derivatives_are_those_of_differences(expressions, ndim):
    rng = np.random.default_rng(3)
    value = rng.normal(size=(4, 5)) if ndim == 2 else rng.normal(size=(2, 3, 3))
    if ndim == 3:
        value = value @ value.transpose(0, 2, 1) + np.eye(3)
    direction, step = rng.normal(size=value.shape), 1e-6
    x = T.TensorType("float64", [False] * ndim)()
    costs = [(f(x).flatten() * T.cos(T.arange(f(x).size))).sum() for f in expressions.values()]
    slopes = [(T.grad(cost, x) * direction).sum() for cost in costs]
    f = theano.function([x], [T.stack(costs), T.stack(slopes)], mode="FAST_COMPILE")
    wanted = (f(value + step * direction)[0] - f(value - step * direction)[0]) / (2 * step)
    for name, want, found in zip(expressions, wanted, f(value)[1], strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("call, said", [
    (lambda x, v: T.pad(x, 2, mode="around"), "mode is 'around'"),
    (lambda x, v: T.pad(x, (1, 2, 3)), "a pair for each of 2 axes"),
    (lambda x, v: T.pad(x, -1), "must not be negative"),
    (lambda x, v: T.pad(x, 1, mode="edge", end_values=2), "does not take end_values"),
    (lambda x, v: T.einsum("ij,j", x), "2 operands, and 1 operands"),
    (lambda x, v: T.einsum("ijk", x), "do not fit operand 0, of 2 dimensions"),
    (lambda x, v: T.einsum("ij->ik", x), "names 'k', which no operand has"),
    (lambda x, v: T.einsum("i$", x), "other than letters"),
    (lambda x, v: T.quantile(x, 0.5, method="mode"), "method is 'mode'"),
    (lambda x, v: T.take_along_axis(x, v, 0), "must be whole numbers"),
    (lambda x, v: T.linspace(0, 1, -1), "must not be negative"),
    (lambda x, v: T.linalg.inv(v), "give 2 or more"),
    (lambda x, v: T.meshgrid(v, v, indexing="yx"), "indexing is 'yx'"),
    (lambda x, v: T.flip(x, 2), "axis 2 is out of range"),
    (lambda x, v: T.expand_dims(x, 4), "the result has 3 dimensions"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises((ValueError, IndexError), match=said):
        call(T.dmatrix("x"), T.dvector("v"))


def test_what_values_show_is_refused_when_it_runs():
    x = T.dmatrix("x")
    for expression, error, said in (
        (T.quantile(x, 1.5), AssertionError, "between 0 and 1"),
        (T.cross(x, x), theano.errors.ShapeError, "3 components"),
        (T.einsum("ii", x), theano.errors.ShapeError, "the letter 'i'"),
    ):
        with pytest.raises(error, match=said):
            theano.function([x], expression, mode="FAST_COMPILE")(np.ones((2, 4)))


def test_a_star_import_leaves_numpys_names_alone():
    names: dict[str, object] = {}
    exec("from numpy import *\nfrom theano.tensor import *", names)
    assert names["linspace"] is np.linspace and names["pad"] is np.pad
